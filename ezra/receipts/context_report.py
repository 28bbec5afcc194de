"""How the last contexts of an agent followed one another: what they began alike with, and why not.

Contexts are rebuilt from their receipts, so that the report says what was sent, not what should
have been.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import takewhile

from tiers.lexical import estimate_tokens
from tiers.records import Scope, Turn

from ..runtime import Runtime
from .lookup import receipts_of
from .rebuilding import ReplayedContext, rebuild

REPORT_TURNS = 10
REPORT_TURNS_MAX = 50


@dataclass(frozen=True)
class ContextOfTurn:
    """One context, beside the one before it.

    Attributes:
        turn_id: Its turn.
        seq: The turn's number, of the agent.
        at: When it was said.
        tokens: Estimated tokens of the context.
        messages: How many messages it had.
        tail_turns: How many turns of the conversation it showed as they were said.
        epoch: The run of alike contexts that it belongs to; ``None`` where the model's window is
            not known.
        is_short: Whether the tail was kept short; ``None`` likewise.
        used_tokens: What the model read and wrote for the turn; ``None`` likewise.
        is_reported: Whether a model or the caller said so; else it is our estimate.
        window_tokens: What the model can hold; ``None`` likewise.
        prefix_chars: How much of its beginning is that of the context before; ``None`` for the
            first, and where one of the two cannot be rebuilt.
        prefix_tokens: The same, in estimated tokens.
        is_exact: Whether it was rebuilt byte for byte.
    """

    turn_id: str
    seq: int
    at: datetime
    tokens: int = 0
    messages: int = 0
    tail_turns: int = 0
    epoch: int | None = None
    is_short: bool | None = None
    used_tokens: int | None = None
    is_reported: bool = False
    window_tokens: int | None = None
    prefix_chars: int | None = None
    prefix_tokens: int | None = None
    is_exact: bool = False


@dataclass(frozen=True)
class ContextReport:
    """The last contexts of an agent, oldest first."""

    agent_id: str
    turns: tuple[ContextOfTurn, ...]

    @property
    def epochs(self) -> int:
        """How many runs of alike contexts there were among them."""
        return len({one.epoch for one in self.turns if one.epoch is not None})


async def context_report(
    runtime: Runtime, scope: Scope, agent_id: str, limit: int = REPORT_TURNS
) -> ContextReport:
    """Return how the last contexts of an agent followed one another.

    Args:
        runtime: The runtime.
        scope: The agent's own, or that of its whole graph.
        agent_id: The agent.
        limit: The most turns, 1 to 50.

    Raises:
        UsageError: The limit is out of range.
    """
    own = scope if scope.agent_id == agent_id else scope.for_agent(agent_id)
    turns = await runtime.turns.recent_turns(own, limit + 1)
    receipts = await receipts_of(runtime, scope.for_graph(), [one.id for one in turns])
    contexts = {
        turn_id: await rebuild(runtime, scope, receipt)
        for turn_id, receipt in receipts.items()
        if receipt.agent_id == agent_id
    }
    rows = _rows(turns, contexts)
    return ContextReport(agent_id, tuple(rows[-limit:]))


def common_prefix(before: Sequence[Mapping[str, str]], after: Sequence[Mapping[str, str]]) -> str:
    """Return what two lists of messages begin with alike, roles included.

    A provider reads a prompt as one text, so that a message which goes on longer than that of the
    other counts as far as they agree.
    """
    one, other = _as_text(before), _as_text(after)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    return other[:same]


def _as_text(messages: Sequence[Mapping[str, str]]) -> str:
    return "".join(f"{one['role']}\n{one['content']}\n" for one in messages)


def _rows(turns: Sequence[Turn], contexts: Mapping[str, ReplayedContext]) -> list[ContextOfTurn]:
    rows: list[ContextOfTurn] = []
    before: ReplayedContext | None = None
    for turn in turns:
        context = contexts.get(turn.id)
        rows.append(_row(turn, context, before))
        before = context
    return rows


def _row(
    turn: Turn, context: ReplayedContext | None, before: ReplayedContext | None
) -> ContextOfTurn:
    tail = turn.tail
    prefix: str | None = None
    if context is not None and before is not None and context.is_exact and before.is_exact:
        prefix = common_prefix(before.messages, context.messages)
    return ContextOfTurn(
        turn_id=turn.id,
        seq=turn.seq,
        at=turn.occurred_at,
        tokens=int(context.body.get("tokens", 0)) if context else 0,
        messages=len(context.messages) if context else 0,
        tail_turns=sum(slot.kind == "hot" for slot in context.slots) if context else 0,
        epoch=tail.epoch if tail else None,
        is_short=tail.is_short if tail else None,
        used_tokens=tail.used_tokens if tail else None,
        is_reported=tail.is_reported if tail else False,
        window_tokens=tail.window_tokens if tail else None,
        prefix_chars=None if prefix is None else len(prefix),
        prefix_tokens=None if prefix is None else estimate_tokens(prefix),
        is_exact=context.is_exact if context else False,
    )

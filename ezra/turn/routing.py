"""What the router's steps know of a turn, and what a receipt keeps of it."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import TypeAlias

from pydantic import JsonValue

from metaagents.learning.core import CoreBlock, CorePolicy, core_block
from tiers.lexical import estimate_tokens
from tiers.records import (
    AgentRecord,
    Commitment,
    Fact,
    Hit,
    HotState,
    MeshResult,
    Receipt,
    Rule,
    Scope,
    Standing,
    Tail,
    ToolOutput,
    Turn,
)
from tiers.turn_desk import Opening

from ..checks import checked
from ..mesh import MeshAsk
from ..ranking.choosing import in_asked_order
from ..ranking.cues import meant_by
from ..ranking.pool import SESSION_GAP
from ..recaller import Degradation, QuestionVector
from .assemble import Context, Slot, core_cost
from .context_budget import TailPlan, WindowPolicy
from .parse import Parsed
from .receipts import SALT_BYTES, context_body
from .shadowing import CoreFacts

NamesOf: TypeAlias = Callable[[Scope], Awaitable[Sequence[str]]]
"""Returns the names of a graph's speakers, which stay out of the dense query."""

Bring: TypeAlias = Callable[[Scope, Degradation], Awaitable[tuple[Hit, ...]]]
"""Returns what is known about a message: with the scope as it stands, noting what is lost."""

NO_CORE = CoreBlock()


@dataclass(frozen=True)
class Request:
    """What a turn starts from. ``topics`` of ``None`` are the agent's own."""

    input: str
    at: datetime
    speaker: str
    topics: Sequence[str] | None = None
    private: bool = False
    ref: str | None = None
    mesh: MeshAsk | None = None
    inject: Bring | None = None

    @cached_property
    def subject(self) -> str:
        """What the message is about."""
        return meant_by(self.input)


@dataclass
class TurnState:
    """What the steps know of one turn; each step adds its part.

    Attributes:
        tail: What of the conversation is shown, where the model's window is known.
        used_tokens: What the model read and wrote, where it or the caller said so.
        passed_over: What recall found and did not think to be about the message.
        opening: What the cold tier said at its beginning; ``None`` while that is away.
        is_rehearsal: Nothing may be written, charged, counted or asked of a connector for it.
    """

    scope: Scope
    agent: AgentRecord
    standing: Standing
    request: Request
    state: Degradation
    turn_id: str
    names: Sequence[str] = ()
    parsed: Parsed | None = None
    topics: tuple[str, ...] = ()
    opening: Opening | None = None
    beliefs: tuple[Commitment, ...] = ()
    vector: QuestionVector | None = None
    hot: HotState = field(default_factory=HotState)
    core: CoreBlock = NO_CORE
    shadowed: tuple[Fact, ...] = ()
    archival: tuple[Hit, ...] = ()
    warm: tuple[Hit, ...] = ()
    said: tuple[Hit, ...] = ()
    inherited_facts: tuple[Hit, ...] = ()
    inherited_episodes: tuple[Hit, ...] = ()
    rules: tuple[Rule, ...] = ()
    injected: tuple[Hit, ...] = ()
    tail: TailPlan | None = None
    used_tokens: int | None = None
    mesh: MeshResult | None = None
    context: Context = field(default_factory=Context)
    receipt_id: str | None = None
    step_ms: dict[str, float] = field(default_factory=dict)
    passed_over: tuple[Hit, ...] = ()
    is_rehearsal: bool = False

    @property
    def since(self) -> str:
        """The last erasure of its graph when it was opened."""
        return self.standing.graph.erasure_id


def after_opening(turn: TurnState) -> TurnState:
    """Return what is still needed of a turn whose context is made and whose receipt is kept.

    What was found for it is in its slots by then, and a turn may wait long for its reply.
    """
    tail = None if turn.tail is None else replace(turn.tail, turns=turn.tail.turns[:1])
    return replace(
        turn,
        names=(),
        beliefs=(),
        vector=None,
        hot=HotState(),
        archival=(),
        warm=(),
        said=(),
        inherited_facts=(),
        inherited_episodes=(),
        injected=(),
        passed_over=(),
        mesh=None,
        tail=tail,
        context=replace(turn.context, folded=()),
    )


@dataclass(frozen=True)
class Written:
    """What write-back did.

    Attributes:
        turn: The stored turn, with its ``seq``.
        was_new: Whether this call stored it, or its ``ref`` was there before.
        overflow: Turns that left the ring because of it; the lifecycle agent compresses them.
    """

    turn: Turn
    was_new: bool
    overflow: tuple[Turn, ...]


@dataclass(frozen=True)
class RouterLimits:
    """Sizes and deadlines of the router.

    Attributes:
        window_tokens: What the model can hold; ``None``: not known, and not minded.
        shrink_above: As ``WindowPolicy`` has it, like the next.
        grow_below: As there.
    """

    ring_capacity: int
    context_tokens: int
    step_timeout_seconds: float
    model_timeout_seconds: float
    core: CorePolicy
    window_tokens: int | None = None
    shrink_above: float = 0.8
    grow_below: float = 0.5

    def window_of(self, agent: AgentRecord) -> WindowPolicy | None:
        """Return how the window of an agent's model is minded; ``None`` where it is not known."""
        tokens = agent.model_window_tokens or self.window_tokens
        return None if tokens is None else WindowPolicy(tokens, self.shrink_above, self.grow_below)

    def core_block_of(self, core: CoreFacts, scope: Scope) -> CoreBlock:
        """Return the core block of a scope's context, without what nearer definitions hide."""
        return core_block(core.visible, self.core, self.context_tokens, core_cost(scope))


def shown_turns(turn: TurnState) -> tuple[Turn, ...]:
    """Return the turns that the context shows as they were said."""
    return turn.hot.turns if turn.tail is None else turn.tail.turns


def beyond_the_ring(turn: TurnState, limit: int) -> tuple[Hit, ...]:
    """Return the best turns that were found and are not shown anyway, as they were asked for."""
    at_hand = {one.id for one in shown_turns(turn)}
    best = [hit for hit in turn.said if hit.id not in at_hand][:limit]
    return in_asked_order(turn.request.input, best)


def injected_beside(turn: TurnState) -> tuple[Hit, ...]:
    """Return what is injected and is not among the turns that are shown."""
    at_hand = {one.id for one in shown_turns(turn)}
    return tuple(hit for hit in turn.injected if hit.id not in at_hand)


def facts_used(slots: Sequence[Slot]) -> list[str]:
    """Return the facts that were found for a context: each is used by it, injected or not."""
    found = ("archival", "injected")
    return [one.source_ids[0] for one in slots if one.kind in found and one.record == "fact"]


def begins_conversation(turn: TurnState) -> bool:
    """Whether nothing was said to the agent yet, or not for a long while."""
    turns = turn.hot.turns
    return not turns or turn.request.at - turns[-1].occurred_at > SESSION_GAP


def ring_has_gap(hot: HotState, capacity: int) -> bool:
    """Whether the ring holds fewer turns than cold may have for it: then it was lost in part."""
    seqs = [turn.seq for turn in hot.turns]
    if not seqs:
        return True
    return len(seqs) != seqs[-1] - seqs[0] + 1 or (len(seqs) < capacity and seqs[0] > 1)


def record_of(
    turn: TurnState, response: str, tool_outputs: Sequence[ToolOutput], now: datetime
) -> Turn:
    """Return a turn as it is stored; its own graph's playbooks tell how they did."""
    request = turn.request
    record = told(
        request.input,
        response,
        tool_outputs,
        speaker=request.speaker,
        topics=turn.topics,
        private=request.private,
        ref=request.ref,
        rules=rules_shown(turn),
        tail=_tail_of(turn, [response, *(output.output for output in tool_outputs)]),
        occurred_at=request.at,
    )
    return record.stamped(turn.scope, turn.turn_id, now)


def told(said: str, response: str, tool_outputs: Sequence[ToolOutput], **more: object) -> Turn:
    """Return a turn of nobody yet, with the tokens that its texts come to.

    Args:
        said: The message.
        response: What was answered.
        tool_outputs: What tools returned on the way.
        more: Other fields of ``Turn``.
    """
    texts = [said, response, *(output.output for output in tool_outputs)]
    return checked(
        Turn,
        input=said,
        response=response,
        tool_outputs=tuple(tool_outputs),
        tokens=sum(estimate_tokens(text) for text in texts if text),
        **more,
    )


def _tail_of(turn: TurnState, answered: Sequence[str]) -> Tail | None:
    """Return what the turn tells the next one of its window; ``None`` where that is unknown."""
    if turn.tail is None:
        return None
    estimated = turn.context.tokens + sum(estimate_tokens(text) for text in answered if text)
    is_reported = turn.used_tokens is not None
    return turn.tail.told(turn.used_tokens or estimated, is_reported=is_reported)


def rules_shown(turn: TurnState) -> tuple[str, ...]:
    """Return the own graph's playbooks in the context: what is said next tells how they did."""
    own = {rule.id for rule in turn.rules if rule.graph_id == turn.scope.graph_id}
    shown = (slot.source_ids[0] for slot in turn.context.slots if slot.kind == "rule")
    return tuple(one for one in shown if one in own)


def receipt_of(
    turn: TurnState, receipt_id: str, *, budget: int, answers: str, now: datetime
) -> Receipt:
    """Return the receipt of a turn's context.

    Args:
        turn: Whose context is ready.
        receipt_id: What it is called.
        budget: The tokens that the context had to fit in.
        answers: The configured language model.
        now: When it is kept.
    """
    salt = secrets.token_hex(SALT_BYTES)
    return Receipt(
        id=receipt_id,
        tenant=turn.scope.tenant,
        graph_id=turn.scope.graph_id,
        agent_id=turn.agent.id,
        kind="turn",
        query=turn.request.input,
        body=receipt_body(turn, budget=budget, answers=answers, salt=salt),
        recorded_at=now,
    )


def receipt_body(turn: TurnState, *, budget: int, answers: str, salt: str) -> dict[str, JsonValue]:
    """Return what a receipt keeps of a turn: ids, versions, scores, costs and hashes.

    Args:
        turn: Whose context is ready.
        budget: The tokens that it had to fit in.
        answers: The configured language model.
        salt: Hexadecimal digits that nobody can predict; of this receipt alone.
    """
    parsed, vector = turn.parsed, turn.vector
    return {
        **context_body(turn.context, salt),
        "turn_id": turn.turn_id,
        "input_at": turn.request.at.isoformat(),
        "intent": parsed.intent if parsed else None,
        "budget": budget,
        "tail": None if turn.tail is None else turn.tail.as_json(),
        "models": {"dense": vector.model_id if vector else None, "answers": answers},
        "passed_over": [{"id": hit.id, "score": hit.score} for hit in turn.passed_over],
        "shadowed": [fact.id for fact in turn.shadowed],
        "core_tokens": turn.core.tokens,
        "core_left_out": [{"id": one.id, "reason": why} for one, why in turn.core.left_out],
        "degraded": list(turn.state.lost),
        "skipped": list(turn.state.skipped),
    }

"""What the router's steps know of a turn, and what a receipt keeps of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from pydantic import JsonValue

from metaagents.learning.core import CoreBlock, CorePolicy
from tiers.records import (
    AgentRecord,
    Commitment,
    Fact,
    Hit,
    HotState,
    MeshResult,
    Rule,
    Scope,
    Standing,
    Turn,
)

from .assemble import Context
from .parse import Parsed
from .recall import Degradation, QuestionVector
from .receipts import context_body

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
    mesh: str | None = None


@dataclass
class TurnState:
    """What the steps know of one turn; each step adds its part.

    Attributes:
        passed_over: What recall found and did not think to be about the message.
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
    mesh: MeshResult | None = None
    context: Context = field(default_factory=Context)
    receipt_id: str | None = None
    step_ms: dict[str, float] = field(default_factory=dict)
    passed_over: tuple[Hit, ...] = ()
    is_rehearsal: bool = False


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
    """Sizes and deadlines of the router."""

    ring_capacity: int
    context_tokens: int
    step_timeout_seconds: float
    model_timeout_seconds: float
    core: CorePolicy


def rules_shown(turn: TurnState) -> tuple[str, ...]:
    """Return the own graph's playbooks in the context: what is said next tells how they did."""
    own = {rule.id for rule in turn.rules if rule.graph_id == turn.scope.graph_id}
    shown = (slot.source_ids[0] for slot in turn.context.slots if slot.kind == "rule")
    return tuple(one for one in shown if one in own)


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
        "models": {"dense": vector.model_id if vector else None, "answers": answers},
        "passed_over": [{"id": hit.id, "score": hit.score} for hit in turn.passed_over],
        "shadowed": [fact.id for fact in turn.shadowed],
        "core_tokens": turn.core.tokens,
        "core_left_out": [{"id": one.id, "reason": why} for one, why in turn.core.left_out],
        "degraded": list(turn.state.lost),
        "skipped": list(turn.state.skipped),
    }

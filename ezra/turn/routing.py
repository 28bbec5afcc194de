"""What the router's steps know of a turn, and what a receipt keeps of it."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import TypeAlias
from zoneinfo import ZoneInfo

from pydantic import JsonValue

from metaagents.learning.core import CoreBlock, CorePolicy, core_block
from tiers.lexical import estimate_tokens
from tiers.moments import UTC_ZONE
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
from tiers.turn_io import Opening

from ..checks import checked
from ..mesh import MeshAsk
from ..ranking.cues import meant_by
from ..recaller import Degradation, QuestionVector
from .assemble import Context, core_cost
from .context_budget import TailPlan, WindowPolicy
from .parse import Parsed
from .receipts import SALT_BYTES, context_body
from .shadowing import CoreFacts
from .slots import Slot

NamesOf: TypeAlias = Callable[[Scope], Awaitable[Sequence[str]]]
"""Returns the names of a graph's speakers, which stay out of the dense query."""

Bring: TypeAlias = Callable[[Scope, Degradation], Awaitable[tuple[Hit, ...]]]
"""Returns what is known about a message: with the scope as it stands, noting what is lost."""

Answering: TypeAlias = Callable[
    [Scope, Degradation, QuestionVector | None], Awaitable[tuple[Hit, ...]]
]
"""Returns the turns of a time that a message asks about; its vector is at hand, if it has one."""

NO_CORE = CoreBlock()


@dataclass(frozen=True)
class Request:
    """What a turn starts from.

    Attributes:
        topics: The agent's own, if ``None``.
        inject: Brings what is known about the message, to an agent that wants it unasked.
        of_time: Brings the turns of a time that it asks about; ``None`` where it asks nothing.
        is_completed: The context is for the configured model alone: without a call of it, and a
            write to keep the answer by, it is not wanted.
    """

    input: str
    at: datetime
    speaker: str
    topics: Sequence[str] | None = None
    private: bool = False
    ref: str | None = None
    mesh: MeshAsk | None = None
    inject: Bring | None = None
    of_time: Answering | None = None
    is_completed: bool = False

    @cached_property
    def subject(self) -> str:
        """What the message is about."""
        return meant_by(self.input)


@dataclass(frozen=True)
class Admission:
    """Who is spoken to and what may be touched, as step 2 finds it: the next steps rest on it.

    Attributes:
        request: The message.
        turn_id: What the turn is going to be called.
        agent: Who is spoken to, as it is stored now.
        scope: Of the agent, with those whom its graph inherits from now.
        standing: How the agent stands; as it last did, while the cold tier is away.
        degradation: Which tiers take part; whatever is left out is noted there.
        topics: Of the turn.
        opening: What the cold tier said at its beginning; ``None`` while that is away.
        names: Of the graph's speakers.
        repeats: The stored turn that this one says again under its ``ref``; ``None``: it is new,
            as far as is known.
        is_rehearsal: Nothing may be written, charged, counted or asked of a connector for it.
    """

    request: Request
    turn_id: str
    agent: AgentRecord
    scope: Scope
    standing: Standing
    degradation: Degradation
    topics: tuple[str, ...] = ()
    opening: Opening | None = None
    names: Sequence[str] = ()
    repeats: str | None = None
    is_rehearsal: bool = False

    @property
    def since(self) -> str:
        """The last erasure of its graph when it was opened."""
        return self.standing.graph.erasure_id


@dataclass(frozen=True)
class Meant:
    """What the question's vector and words find.

    Attributes:
        vector: Of the question; ``None`` where nothing makes one.
        archival: Archival facts that are about the message.
        personal: Others of who speaks, the nearest to it: who asks for a dessert does not say what
            they must not eat.
        passed_over: Archival facts that were found and are neither.
        warm: Summaries and episodes.
        of_time: Turns of a time that is asked about.
        turns: Those found by the message, whether or not they are about it.
        inherited: Episodes and archival facts of ancestors.
    """

    vector: QuestionVector | None
    archival: tuple[Hit, ...]
    personal: tuple[Hit, ...]
    passed_over: tuple[Hit, ...]
    warm: tuple[Hit, ...]
    of_time: tuple[Hit, ...]
    turns: tuple[Hit, ...]
    inherited: tuple[Hit, ...]


@dataclass(frozen=True)
class Conversation:
    """What was said last, and what is brought unasked.

    Attributes:
        hot: The ring, and what else the hot tier holds for the agent.
        tail: What of the conversation is shown, where the model's window is known.
        injected: What is known about the message.
    """

    hot: HotState
    tail: TailPlan | None
    injected: tuple[Hit, ...]

    @property
    def shown(self) -> tuple[Turn, ...]:
        """The turns that the context shows as they were said."""
        return self.hot.turns if self.tail is None else self.tail.turns


@dataclass(frozen=True)
class Hydrated:
    """What the tiers hold for a message: step 4's answer.

    Attributes:
        meant: What is found by meaning and words.
        conversation: What was said last.
        said: Turns of before that are told.
        warm: Summaries and episodes that tell more than those.
        core: Core facts.
        shadowed: Core facts of ancestors that a nearer definition hides.
        rules: Procedures whose trigger is met.
    """

    meant: Meant
    conversation: Conversation
    said: tuple[Hit, ...] = ()
    warm: tuple[Hit, ...] = ()
    core: CoreBlock = NO_CORE
    shadowed: tuple[Fact, ...] = ()
    rules: tuple[Rule, ...] = ()


@dataclass(frozen=True)
class Prepared:
    """What the first five steps have found for a context."""

    admission: Admission
    parsed: Parsed
    beliefs: tuple[Commitment, ...]
    found: Hydrated
    mesh: MeshResult | None


@dataclass
class TurnState:
    """A turn whose context is made and whose receipt is kept.

    It may wait long for its reply. What was found for it is in its slots by now.

    Attributes:
        admission: Who is spoken to, without what was read at the beginning.
        context: What the model is told.
        core: The core facts in it.
        shadowed: Core facts of ancestors that a nearer definition hides.
        playbooks: The own graph's rules in it: what is said next tells how they did.
        tail: What of the conversation is shown, where the model's window is known.
        receipt_id: Of its receipt, if one could be kept.
        step_ms: Milliseconds per step.
        used_tokens: What the model read and wrote, where it or the caller said so.
    """

    admission: Admission
    context: Context
    core: CoreBlock
    shadowed: tuple[Fact, ...]
    playbooks: tuple[str, ...]
    tail: TailPlan | None
    receipt_id: str | None
    step_ms: dict[str, float]
    used_tokens: int | None = None


def opened(
    prepared: Prepared, context: Context, receipt_id: str | None, step_ms: dict[str, float]
) -> TurnState:
    """Return what is still needed of a turn whose context is made and whose receipt is kept."""
    found, tail = prepared.found, prepared.found.conversation.tail
    return TurnState(
        admission=replace(prepared.admission, opening=None, names=()),
        context=replace(context, folded=()),
        core=found.core,
        shadowed=found.shadowed,
        playbooks=_playbooks_shown(prepared, context),
        tail=None if tail is None else replace(tail, turns=tail.turns[:1]),
        receipt_id=receipt_id,
        step_ms=step_ms,
    )


def _playbooks_shown(prepared: Prepared, context: Context) -> tuple[str, ...]:
    graph_id = prepared.admission.scope.graph_id
    own = {rule.id for rule in prepared.found.rules if rule.graph_id == graph_id}
    shown = (slot.source_ids[0] for slot in context.slots if slot.kind == "rule")
    return tuple(one for one in shown if one in own)


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
        zone: Where days begin.
    """

    ring_capacity: int
    context_tokens: int
    step_timeout_seconds: float
    model_timeout_seconds: float
    core: CorePolicy
    window_tokens: int | None = None
    shrink_above: float = 0.8
    grow_below: float = 0.5
    zone: ZoneInfo = UTC_ZONE

    def window_of(self, agent: AgentRecord) -> WindowPolicy | None:
        """Return how the window of an agent's model is minded; ``None`` where it is not known."""
        tokens = agent.model_window_tokens or self.window_tokens
        return None if tokens is None else WindowPolicy(tokens, self.shrink_above, self.grow_below)

    def core_block_of(self, core: CoreFacts, scope: Scope, now: datetime) -> CoreBlock:
        """Return the core block of a scope's context, without what nearer definitions hide."""
        cost = core_cost(scope, now, self.zone)
        return core_block(core.visible, self.core, self.context_tokens, cost)


def facts_used(slots: Sequence[Slot], personal: Sequence[Hit]) -> list[str]:
    """Return the facts that a context uses: those about the message, injected or not.

    What is only ``personal`` is shown, and not used by that: it was not asked for.
    """
    found, unasked = ("archival", "injected"), {hit.id for hit in personal}
    used = (one.source_ids[0] for one in slots if one.kind in found and one.record == "fact")
    return [fact_id for fact_id in used if fact_id not in unasked]


def record_of(
    turn: TurnState, response: str, tool_outputs: Sequence[ToolOutput], now: datetime
) -> Turn:
    """Return a turn as it is stored; its own graph's playbooks tell how they did."""
    admission = turn.admission
    request = admission.request
    record = new_turn(
        request.input,
        response,
        tool_outputs,
        speaker=request.speaker,
        topics=admission.topics,
        private=request.private,
        ref=request.ref,
        rules=turn.playbooks,
        tail=_tail_of(turn, [response, *(output.output for output in tool_outputs)]),
        occurred_at=request.at,
    )
    return record.stamped(admission.scope, admission.turn_id, now)


def new_turn(said: str, response: str, tool_outputs: Sequence[ToolOutput], **more: object) -> Turn:
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
    return turn.tail.tail_after(turn.used_tokens or estimated, is_reported=is_reported)


def receipt_of(
    prepared: Prepared,
    context: Context,
    receipt_id: str,
    *,
    budget: int,
    answers: str,
    now: datetime,
) -> Receipt:
    """Return the receipt of a turn's context.

    Args:
        prepared: What the context was made of.
        context: What the model is told.
        receipt_id: What the receipt is called.
        budget: The tokens that the context had to fit in.
        answers: The configured language model.
        now: When it is kept.
    """
    admission = prepared.admission
    salt = secrets.token_hex(SALT_BYTES)
    return Receipt(
        id=receipt_id,
        tenant=admission.scope.tenant,
        graph_id=admission.scope.graph_id,
        agent_id=admission.agent.id,
        kind="turn",
        query=admission.request.input,
        body=_receipt_body(prepared, context, budget=budget, answers=answers, salt=salt),
        recorded_at=now,
    )


def _receipt_body(
    prepared: Prepared, context: Context, *, budget: int, answers: str, salt: str
) -> dict[str, JsonValue]:
    """Return what a receipt keeps of a turn: ids, versions, scores, costs and hashes.

    Args:
        prepared: What the context was made of.
        context: What the model is told.
        budget: The tokens that it had to fit in.
        answers: The configured language model.
        salt: Hexadecimal digits that nobody can predict; of this receipt alone.
    """
    admission, found = prepared.admission, prepared.found
    vector, tail = found.meant.vector, found.conversation.tail
    shown = {slot.source_ids[0] for slot in context.slots if slot.record == "fact"}
    return {
        **context_body(context, salt),
        "turn_id": admission.turn_id,
        "input_at": admission.request.at.isoformat(),
        "intent": prepared.parsed.intent,
        "budget": budget,
        "tail": None if tail is None else tail.as_json(),
        "models": {"dense": vector.model_id if vector else None, "answers": answers},
        "passed_over": [{"id": hit.id, "score": hit.score} for hit in found.meant.passed_over],
        "unasked": [hit.id for hit in found.meant.personal if hit.id in shown],
        "shadowed": [fact.id for fact in found.shadowed],
        "core_tokens": found.core.tokens,
        "core_left_out": [{"id": one.id, "reason": why} for one, why in found.core.left_out],
        "degraded": list(admission.degradation.lost),
        "skipped": list(admission.degradation.skipped),
    }

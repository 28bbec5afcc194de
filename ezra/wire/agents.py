"""What one agent does: turns, memories, beliefs. The operations.

What people said or named travels in bodies. Addresses are for ids: proxies log them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, TypeAdapter

from metaagents.learning.core import CoreBlock
from tiers.records import (
    Commitment,
    Fact,
    HistoricBelief,
    Hit,
    Rule,
    Source,
    ToolOutput,
    Usage,
)
from tiers.upkeep import Page

from ..assemble import Slot
from ..mesh import MeshAsk
from ..output_checks import OUTPUTS_MAX
from ..recording import PastTurn, Recorded
from ..routing import Written
from ..tool_outputs import RANGE_CHARS, OutputRange
from .operation import Asked, Nothing, Operation
from .points import Count, Point, Time
from .recalling import (
    GRAPH,
    MEMORY_SEARCH,
    RECALL,
    FactsAsked,
    LatestFactsAsked,
    RecallAsked,
    SearchMemoryAsked,
)

RECORDED_MAX = 1_000
"""So many turns are recorded by one request."""

AGENT = f"{GRAPH}/agents/{{agent_id}}"

_RULE_FIELDS = ("trigger", "steps")


class TurnAsked(Asked):
    """What was said to an agent."""

    message: str
    at: Time | None = None
    speaker: str | None = None
    topics: tuple[str, ...] | None = None
    private: bool = False
    ref: str | None = None
    mesh: str | MeshAsk | None = None


class ReplyAsked(Asked):
    """What an agent answered, and what tools returned on the way."""

    response: str
    tool_outputs: tuple[ToolOutput, ...] = Field(default=(), max_length=OUTPUTS_MAX)
    usage_tokens: Count | None = None


class PastTurnAsked(PastTurn):
    """A turn that was had elsewhere."""

    at: Time | None = None


class RecordAsked(Asked):
    """Turns that were had elsewhere, in order."""

    turns: tuple[PastTurnAsked, ...] = Field(min_length=1, max_length=RECORDED_MAX)


class CompleteAsked(Asked):
    """What was said to an agent that the configured model answers for."""

    message: str
    at: Time | None = None
    speaker: str | None = None


def _form(what: object) -> str | None:
    """Return what is to be remembered, by what it looks like."""
    if isinstance(what, str):
        return "text"
    if isinstance(what, Rule) or (
        isinstance(what, dict) and any(name in what for name in _RULE_FIELDS)
    ):
        return "rule"
    return "fact" if isinstance(what, Fact | dict) else None


_What: TypeAlias = Annotated[
    Annotated[str, Tag("text")] | Annotated[Fact, Tag("fact")] | Annotated[Rule, Tag("rule")],
    Discriminator(
        _form,
        custom_error_type="no_memory",
        custom_error_message="text, a Fact or a Rule",
    ),
]


class ToolOutputAsked(Asked):
    """Which of a turn's outputs, and which range of it; ``length=all`` reads to the end.

    In the path stands a turn's id or ``ref``, or the key of an output, ``<turn id>/<index>``.
    """

    index: Count | None = None
    start: Count = 0
    length: Count | Literal["all"] = RANGE_CHARS


class RememberAsked(Asked):
    """What is to be remembered: text, the fields of a fact, or those of a rule."""

    what: _What
    topics: tuple[str, ...] | None = None
    private: bool = False
    shared: bool = False
    supersedes: str | None = None
    id: str | None = None
    source: Source = "user"


class ForgetAsked(Asked):
    """Why a fact is to be forgotten, and what takes its place."""

    reason: str
    superseded_by: str | None = None


class ForgetFactsAsked(FactsAsked):
    """Which facts are to be forgotten, and why."""

    reason: str


class RecallArchivalAsked(Asked):
    """A question to archival facts, and what narrows it."""

    query: str
    user_id: str | None = None
    scope_topics: tuple[str, ...] | None = None
    limit: Count = 10


class CommitAsked(Asked):
    """What an agent commits to."""

    claim: str
    topic: str | None = None
    key: tuple[str, str] | None = None
    value: str | None = None
    sources: tuple[str, ...] = ()
    private: bool = False
    ref: str | None = None
    source: Source = "agent"


class BeliefsAsked(Asked):
    """As of when."""

    as_of: Point | None = None


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True)


class Course(_Answer):
    """How a turn went so far.

    Attributes:
        degraded: Tiers and capabilities that did not take part.
        tiers_used: Tiers that answered.
        skipped: For each leg left out, why.
        step_ms: Milliseconds per router step.
    """

    degraded: tuple[str, ...]
    tiers_used: tuple[str, ...]
    skipped: tuple[str, ...]
    step_ms: dict[str, float]


class TurnAnswer(_Answer):
    """An open turn: the attributes of ``OpenTurn``."""

    id: str
    messages: list[dict[str, str]]
    slots: tuple[Slot, ...]
    dropped: tuple[Slot, ...]
    tokens: int
    shadowed: tuple[Fact, ...]
    core: CoreBlock
    receipt_id: str | None
    course: Course


class ReplyAnswer(_Answer):
    """What was remembered of a turn, and how it went."""

    written: Written
    course: Course


class ResponseAnswer(_Answer):
    """What the configured model said, not remembered yet, and how it went."""

    response: str
    course: Course


class CompletionAnswer(_Answer):
    """What the configured model said, which model it was, what it saw, and what was remembered."""

    response: str
    model: str
    turn: TurnAnswer
    written: Written


Believed: TypeAlias = HistoricBelief | Commitment
"""A belief: with what became of it, where it is active no longer."""

_BELIEF: TypeAdapter[Commitment] = TypeAdapter(Believed)
_BELIEFS: TypeAdapter[tuple[Commitment, ...]] = TypeAdapter(tuple[Believed, ...])

TURN = Operation(
    "agent.turn",
    "POST",
    f"{AGENT}/turns",
    TurnAsked,
    TypeAdapter(TurnAnswer),
    "act",
    "Make the context for a message; the caller's own model answers it.",
    repeats=False,
)
TURN_REPLY = Operation(
    "turn.reply",
    "POST",
    f"{AGENT}/turns/{{turn_id}}/reply",
    ReplyAsked,
    TypeAdapter(ReplyAnswer),
    "act",
    "Remember a turn with its answer. It is stored once.",
    repeats=False,
)
TURN_COMPLETE = Operation(
    "turn.complete",
    "POST",
    f"{AGENT}/turns/{{turn_id}}/complete",
    Nothing,
    TypeAdapter(ResponseAnswer),
    "act",
    "Ask the configured model without remembering its answer yet.",
    repeats=False,
)
RECORD = Operation(
    "agent.record",
    "POST",
    f"{AGENT}/record",
    RecordAsked,
    TypeAdapter(Recorded),
    "act",
    "Record turns that were had elsewhere, without contexts; one with a known ref is stored once.",
    repeats=False,
)
TOOL_OUTPUT = Operation(
    "agent.read_tool_output",
    "GET",
    f"{AGENT}/turns/{{key}}/tool-output",
    ToolOutputAsked,
    TypeAdapter(OutputRange),
    "see",
    "A range of what a tool returned during a turn.",
)
COMPLETE = Operation(
    "agent.complete",
    "POST",
    f"{AGENT}/complete",
    CompleteAsked,
    TypeAdapter(CompletionAnswer),
    "act",
    "Make the context, ask the configured model, remember the turn.",
    repeats=False,
)
REMEMBER = Operation(
    "agent.remember",
    "POST",
    f"{AGENT}/memories",
    RememberAsked,
    TypeAdapter(str),
    "act",
    "Remember a fact or a rule; answers its id.",
)
FORGET = Operation(
    "agent.forget",
    "POST",
    f"{AGENT}/facts/{{fact_id}}/forget",
    ForgetAsked,
    TypeAdapter(bool),
    "act",
    "Forget a fact on explicit request; false when it is forgotten or superseded already.",
    repeats=False,
)
FORGET_FACTS = Operation(
    "agent.forget_facts",
    "POST",
    f"{AGENT}/facts/forget",
    ForgetFactsAsked,
    TypeAdapter(tuple[str, ...]),
    "act",
    "Forget several facts in one step; answers the ids of those that lived until now.",
    repeats=False,
)
AGENT_FACTS = Operation(
    "agent.facts",
    "POST",
    f"{AGENT}/facts/lookup",
    FactsAsked,
    TypeAdapter(tuple[Fact, ...]),
    "see",
    "Facts that an agent sees, by id, in the order asked.",
)
AGENT_LATEST_FACTS = Operation(
    "agent.latest_facts",
    "GET",
    f"{AGENT}/facts",
    LatestFactsAsked,
    TypeAdapter(Page[Fact]),
    "see",
    "The live facts that an agent sees, the latest first, page by page.",
)
CORE = Operation(
    "agent.core",
    "GET",
    f"{AGENT}/core",
    Nothing,
    TypeAdapter(CoreBlock),
    "see",
    "The core facts of an agent's next context.",
)
AGENT_RECALL = Operation(
    "agent.recall",
    "POST",
    f"{AGENT}/recall",
    RecallAsked,
    RECALL,
    "see",
    "What an agent knows about a question, best first.",
)
AGENT_SEARCH_MEMORY = Operation(
    "agent.search_memory",
    "POST",
    f"{AGENT}/search-memory",
    SearchMemoryAsked,
    MEMORY_SEARCH,
    "see",
    "What happened in a window of days, as an agent sees it.",
)
RECALL_ARCHIVAL = Operation(
    "agent.recall_archival",
    "POST",
    f"{AGENT}/recall-archival",
    RecallArchivalAsked,
    TypeAdapter(tuple[Hit, ...]),
    "see",
    "What an agent knows about a question, of archival facts only.",
)
COMMIT = Operation(
    "agent.commit",
    "POST",
    f"{AGENT}/beliefs",
    CommitAsked,
    _BELIEF,
    "act",
    "Commit to a belief. What contradicts it is settled by the graph's merge strategy.",
    repeats=False,
)
BELIEFS = Operation(
    "agent.beliefs",
    "GET",
    f"{AGENT}/beliefs",
    BeliefsAsked,
    _BELIEFS,
    "see",
    "The active beliefs that an agent sees, in order of commitment.",
)
PIN = Operation(
    "agent.pin",
    "POST",
    f"{AGENT}/beliefs/{{belief_id}}/pin",
    Nothing,
    _BELIEF,
    "act",
    "Keep an active belief first in every context.",
    repeats=False,
)
USAGE = Operation(
    "agent.usage",
    "GET",
    f"{AGENT}/usage",
    Nothing,
    TypeAdapter(Usage),
    "see",
    "What an agent has used of its budget.",
)

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    TURN,
    TURN_REPLY,
    TURN_COMPLETE,
    RECORD,
    TOOL_OUTPUT,
    COMPLETE,
    REMEMBER,
    FORGET,
    FORGET_FACTS,
    AGENT_FACTS,
    AGENT_LATEST_FACTS,
    CORE,
    AGENT_RECALL,
    AGENT_SEARCH_MEMORY,
    RECALL_ARCHIVAL,
    COMMIT,
    BELIEFS,
    PIN,
    USAGE,
)

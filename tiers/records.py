"""The records every tier speaks of: frozen pydantic models with UTC datetimes.

Three clocks, never mixed: ``occurred_at`` or ``valid_from``/``valid_to`` say when something was
true, ``recorded_at`` says when ezra learnt it, ``last_used_at`` says when it was last used.

What people construct themselves (``Fact``, ``Rule``, ``ToolOutput``) has defaults for everything
the runtime fills in. Owner fields (tenant, graph, agent, user) are always overwritten from the
handle's scope by ``stamped``; giving them widens nothing.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    StringConstraints,
    model_validator,
)

UNRECORDED = datetime(1970, 1, 1, tzinfo=UTC)
"""``recorded_at`` of a record that no store has seen yet."""

ALL_TOPICS = "*"
"""The topic that stands for every topic; only an agent may hold it, no record may carry it."""

NAME_CHARS_MAX = 256
TEXT_CHARS_MAX = 200_000
TOPICS_MAX = 64

Kind: TypeAlias = Literal[
    "turn", "summary", "episode", "fact", "rule", "belief", "document", "tool_output"
]
FactTier: TypeAlias = Literal["archival", "core"]


def _utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC)


def _normal_topics(value: object) -> tuple[str, ...]:
    """Return topics trimmed, NFC, case-folded, unique and sorted; refuse what cannot be one."""
    if value is None:
        return ()
    if isinstance(value, str) or not isinstance(value, Iterable):
        message = "topics must be a set, list or tuple of strings"
        raise ValueError(message)
    topics: set[str] = set()
    for topic in value:
        if not isinstance(topic, str) or not topic.strip() or not topic.isprintable():
            message = f"topic {topic!r} must be a non-empty printable string"
            raise ValueError(message)
        topics.add(unicodedata.normalize("NFC", topic.strip().casefold()))
    if len(topics) > TOPICS_MAX or any(len(topic) > NAME_CHARS_MAX for topic in topics):
        message = f"at most {TOPICS_MAX} topics of at most {NAME_CHARS_MAX} characters"
        raise ValueError(message)
    return tuple(sorted(topics))


def _printable(name: str) -> str:
    if not name.isprintable():
        message = "must not contain control characters"
        raise ValueError(message)
    return name


Name: TypeAlias = Annotated[
    str,
    StringConstraints(min_length=1, max_length=NAME_CHARS_MAX, strip_whitespace=True),
    AfterValidator(_printable),
]
"""An identifier given by people: 1 to 256 printable characters, outer white space removed."""

Topics: TypeAlias = Annotated[tuple[str, ...], BeforeValidator(_normal_topics)]
Moment: TypeAlias = Annotated[AwareDatetime, AfterValidator(_utc)]
Text: TypeAlias = Annotated[str, StringConstraints(max_length=TEXT_CHARS_MAX)]


class Record(BaseModel):
    """Base of every record: frozen, and unknown fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Scope(Record):
    """Who asks, and therefore what may be seen. Made by the runtime, never by callers.

    Visible: same tenant; own graph, or for inheritable kinds a graph of ``lineage``; topics that
    meet ``topics``, or a record without topics; private records only to their writer.

    Attributes:
        tenant: The isolation boundary that nothing crosses.
        graph_id: The session graph of the handle.
        agent_id: The agent of the handle; ``None`` for the runtime acting on a whole graph.
        user_id: The person the agent works for, if any.
        topics: What the agent may see; ``("*",)`` is everything, ``()`` only untopiced records.
        lineage: Ancestor graphs, nearest definition first, without the own graph.
    """

    tenant: Name
    graph_id: Name
    agent_id: Name | None = None
    user_id: Name | None = None
    topics: Topics = ()
    lineage: tuple[Name, ...] = ()

    @property
    def sees_all_topics(self) -> bool:
        """Whether no topic restriction applies."""
        return ALL_TOPICS in self.topics

    def for_graph(self) -> Scope:
        """Return the scope of the runtime itself acting on this graph: every agent, every topic."""
        return Scope(tenant=self.tenant, graph_id=self.graph_id, topics=(ALL_TOPICS,))

    def for_agent(self, agent_id: str) -> Scope:
        """Return the scope of the runtime acting for one agent of this graph."""
        return self.model_copy(update={"agent_id": agent_id})


class GraphState(StrEnum):
    """Life of a session graph."""

    ACTIVE = "active"
    CLOSED = "closed"
    ARCHIVED = "archived"


class SessionGraph(Record):
    """N agents bound together; ``inherits_from`` is ordered and names existing graphs only."""

    tenant: Name
    id: Name
    state: GraphState = GraphState.ACTIVE
    inherits_from: tuple[Name, ...] = ()
    merge_strategy: Literal["last_write_wins", "highest_trust", "manual", "custom"] = (
        "last_write_wins"
    )
    created_at: Moment
    closed_at: Moment | None = None


class AgentRecord(Record):
    """A member of a session graph. ``left_at`` is ``None`` while it is present."""

    tenant: Name
    graph_id: Name
    id: Name
    role: Text = ""
    user_id: Name | None = None
    topics: Topics = ()
    sources: Topics = (ALL_TOPICS,)
    spawned_at: Moment
    left_at: Moment | None = None


class Owned(Record):
    """A record that belongs to a scope. ``stamped`` fills the owner in from the handle."""

    id: str = ""
    tenant: str = ""
    graph_id: str = ""
    agent_id: str = ""
    user_id: str | None = None
    topics: Topics = ()
    private: bool = False
    recorded_at: Moment = UNRECORDED

    def stamped(self, scope: Scope, record_id: str, now: datetime) -> Self:
        """Return a copy owned by ``scope``, with its id and record time."""
        return self.model_copy(
            update={
                "id": record_id,
                "tenant": scope.tenant,
                "graph_id": scope.graph_id,
                "agent_id": scope.agent_id or "",
                "user_id": scope.user_id,
                "recorded_at": _utc(now),
            }
        )


class ToolOutput(Record):
    """What a tool returned during a turn."""

    tool: Name
    output: Text


class Turn(Owned):
    """One exchange of one agent. ``seq`` counts from 1 per agent without gaps; 0 until stored.

    Attributes:
        ref: The caller's own name for the turn, unique in the graph; makes a repeat harmless.
        speaker: Who said ``input``; the agent's id when the caller names nobody.
        tokens: Estimated tokens of input, response and tool outputs together.
        occurred_at: When it was said, which is not when it was recorded.
    """

    seq: int = Field(default=0, ge=0)
    ref: Name | None = None
    speaker: Annotated[str, StringConstraints(max_length=NAME_CHARS_MAX)] = ""
    input: Text = ""
    response: Text = ""
    tool_outputs: tuple[ToolOutput, ...] = ()
    tokens: int = Field(default=0, ge=0)
    occurred_at: Moment = UNRECORDED


class Summary(Owned):
    """A compression of turns of one agent; ``covers`` names exactly the turns it stands for."""

    level: int = 0
    text: Text
    covers: tuple[str, ...] = Field(min_length=1)
    tokens: int = Field(default=0, ge=0)
    starts_at: Moment
    ends_at: Moment
    expires_at: Moment | None = None


class Episode(Owned):
    """What happened in one period, made of finer records named by ``children``."""

    grain: Literal["daily", "weekly", "monthly", "quarterly", "yearly"]
    text: Text
    children: tuple[str, ...]
    starts_at: Moment
    ends_at: Moment


class Fact(Owned):
    """A statement held to be true, as free text, as (subject, predicate, object), or both.

    ``text`` is made of the triple when absent. ``tier`` is ``archival`` (found by recall) or
    ``core`` (in every context, and inherited). ``uses`` counts the turns and recalls it served.
    """

    text: Text = ""
    subject: Text | None = None
    predicate: Text | None = None
    object: Text | None = None
    tier: FactTier = "archival"
    confidence: float = Field(default=1.0, ge=0.0, le=1.0)
    valid_from: Moment | None = None
    valid_to: Moment | None = None
    superseded_by: str | None = None
    source_ids: tuple[str, ...] = ()
    uses: int = Field(default=0, ge=0)
    last_used_at: Moment | None = None

    @model_validator(mode="before")
    @classmethod
    def _text_of_triple(cls, data: Any) -> Any:  # noqa: ANN401 - pydantic hands over raw input
        if not isinstance(data, dict) or str(data.get("text") or "").strip():
            return data
        parts = [str(data.get(name) or "").strip() for name in ("subject", "predicate", "object")]
        if not all(parts):
            message = "a fact needs text, or subject, predicate and object"
            raise ValueError(message)
        return {**data, "text": " ".join(parts)}

    @model_validator(mode="after")
    def _period_in_order(self) -> Self:
        if self.valid_from and self.valid_to and self.valid_to < self.valid_from:
            message = "valid_to must not be before valid_from"
            raise ValueError(message)
        return self


class Rule(Owned):
    """A procedure: when ``trigger`` matches what is asked, these are the steps."""

    trigger: Annotated[Text, StringConstraints(min_length=1)]
    steps: tuple[Text, ...] = Field(min_length=1)
    successes: int = Field(default=0, ge=0)
    failures: int = Field(default=0, ge=0)
    version: int = Field(default=1, ge=1)

    @property
    def text(self) -> str:
        """The rule as one readable line per step, below its trigger."""
        return "\n".join([f"When {self.trigger}:", *(f"- {step}" for step in self.steps)])


class Commitment(Owned):
    """An active belief: what its agent is committed to. ``key`` names what it is about."""

    claim: Text
    topic: str | None = None
    key: tuple[str, str] | None = None
    value: str | None = None
    trust: float = Field(default=1.0, ge=0.0, le=1.0)
    pinned: bool = False


class BeliefEvent(Record):
    """One immutable entry of a graph's belief log. ``seq`` counts from 1 without gaps.

    ``content_digest`` is the salted SHA-256 of the content, which is stored apart so that it can
    be destroyed while the chain still verifies. ``hash`` covers every other field and
    ``previous_hash``.
    """

    id: str
    tenant: str
    graph_id: str
    seq: int = Field(ge=1)
    kind: Literal["committed", "superseded", "pinned"]
    belief_id: str
    agent_id: str
    recorded_at: Moment
    content_digest: str
    previous_hash: str
    hash: str


WorkKind: TypeAlias = Literal["index", "compress", "learn"]


class WorkDraft(Record):
    """Follow-up work, queued in the same atomic write as what caused it.

    ``key`` makes it idempotent: while an item of the same kind and key waits, a second is not
    queued.
    """

    kind: WorkKind
    key: str
    agent_id: str | None = None
    payload: dict[str, JsonValue] = Field(default_factory=dict)


class Work(Record):
    """A queued item. ``token`` rises with each claim: only the latest claimant may complete it."""

    id: str
    tenant: str
    graph_id: str
    agent_id: str | None
    kind: WorkKind
    key: str
    payload: dict[str, JsonValue]
    attempts: int
    token: int
    queued_at: Moment
    problem: str | None = None

    @property
    def scope(self) -> Scope:
        """The scope of the runtime acting for the item's agent, or for its whole graph."""
        return Scope(
            tenant=self.tenant,
            graph_id=self.graph_id,
            agent_id=self.agent_id,
            topics=(ALL_TOPICS,),
        )


class Lease(Record):
    """The right to do something alone until ``expires_at``. ``token`` rises with each holder."""

    name: str
    owner: str
    token: int
    expires_at: Moment


class AuditEvent(Record):
    """One entry of the audit feed: ids and reasons, never content."""

    seq: int
    tenant: str
    graph_id: str
    agent_id: str | None
    kind: str
    record_ids: tuple[str, ...] = ()
    reason: str = ""
    recorded_at: Moment


class Receipt(Record):
    """What a turn or a recall saw: enough to say why the context was what it was.

    ``body`` holds JSON values. It is ezra's own and large, so it is not validated value by value.
    """

    id: str
    tenant: str
    graph_id: str
    agent_id: str
    kind: Literal["turn", "recall"]
    query: Text
    body: dict[str, Any]
    recorded_at: Moment


class MeshResult(Record):
    """What a connector returned, with where it came from."""

    source: Name
    text: Text
    queried_at: Moment
    synced_at: Moment | None = None
    confidence: float = Field(default=1.0, ge=0.0, le=1.0)
    time_travel_available: bool = False


class Hit(Record):
    """One answer of a recall.

    Attributes:
        score: Comparable inside one answer only; higher is better.
        tier: Where it was found: ``hot``, ``warm`` or ``cold``.
        source_ids: The records it rests on, itself included when it is a source.
        occurred_at: When what it tells happened, where known.
        inherited_from: The ancestor graph it was read from, if any.
        words_only: Not in the vector index, or not yet: it was found by its words.
    """

    id: str
    kind: Kind
    text: str
    score: float
    tier: Literal["hot", "warm", "cold"]
    source_ids: tuple[str, ...] = ()
    graph_id: str = ""
    agent_id: str = ""
    speaker: str = ""
    ref: str | None = None
    topics: tuple[str, ...] = ()
    occurred_at: Moment | None = None
    recorded_at: Moment
    valid_from: Moment | None = None
    valid_to: Moment | None = None
    inherited_from: str | None = None
    words_only: bool = False


class SearchQuery(Record):
    """A question to a store's search. ``vector`` is ``None`` when no embedding is to be had.

    Attributes:
        text: The words for the lexical leg.
        vector: Unit-length floats for the dense leg.
        model_id: The model that made the vector; ``None`` with a vector: the one that the index
            serves with. A vector is compared with those of its own model only.
        kinds: Kinds to find; empty finds nothing.
        tier: Restrict facts to one tier.
        user_id: Restrict to records of one user; ``None`` restricts nothing.
        limit: How many to return, 1 to 200.
        now: Records that expire at or before this moment are not found.
    """

    text: Text
    vector: tuple[float, ...] | None = None
    model_id: str | None = None
    kinds: tuple[Kind, ...]
    tier: FactTier | None = None
    user_id: str | None = None
    limit: int = Field(default=10, ge=1, le=200)
    now: Moment


class IndexEntry(Owned):
    """A searchable form of a record for the warm engine.

    ``vector`` may be absent: the entry is then found by its words only. ``agent_id`` is the
    writer; ``tier`` is set for facts.
    """

    kind: Kind
    text: Text
    vector: tuple[float, ...] | None = None
    tier: FactTier | None = None
    speaker: str = ""
    ref: str | None = None
    source_ids: tuple[str, ...] = ()
    occurred_at: Moment | None = None
    expires_at: Moment | None = None


class HotState(Record):
    """What the hot tier holds for one agent. ``turns`` are oldest first."""

    turns: tuple[Turn, ...] = ()
    pinned: tuple[Commitment, ...] = ()
    mesh: MeshResult | None = None

"""The records every tier speaks of: frozen pydantic models with UTC datetimes.

Three clocks, never mixed: ``occurred_at`` or ``valid_from``/``valid_to`` say when something was
true, ``recorded_at`` says when ezra learnt it, ``last_used_at`` says when it was last used.

What people construct themselves (``Fact``, ``Rule``, ``ToolOutput``) has defaults for everything
the runtime fills in. Owner fields (tenant, graph, agent, user) are always overwritten from the
handle's scope by ``stamped``; giving them widens nothing.
"""

# ruff: noqa: PLC0414 - one place to import every record from

from __future__ import annotations

from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import AfterValidator, Field, JsonValue, StringConstraints, model_validator
from pydantic.json_schema import SkipJsonSchema

from .beliefs import BeliefEvent as BeliefEvent
from .beliefs import BeliefKind as BeliefKind
from .beliefs import BeliefQuery as BeliefQuery
from .beliefs import BeliefSpan as BeliefSpan
from .beliefs import BeliefStatus as BeliefStatus
from .beliefs import BranchPoint as BranchPoint
from .beliefs import Changed as Changed
from .beliefs import Commitment as Commitment
from .beliefs import Committed as Committed
from .beliefs import HistoricBelief as HistoricBelief
from .beliefs import LoggedBelief as LoggedBelief
from .beliefs import ProjectedBelief as ProjectedBelief
from .beliefs import Rival as Rival
from .beliefs import Settlement as Settlement
from .beliefs import SignedHead as SignedHead
from .beliefs import TrustRow as TrustRow
from .documents import Citation as Citation
from .fields import ALL_TOPICS as ALL_TOPICS
from .fields import AUDIT_KINDS as AUDIT_KINDS
from .fields import NAME_CHARS_MAX as NAME_CHARS_MAX
from .fields import TEXT_CHARS_MAX as TEXT_CHARS_MAX
from .fields import TOPICS_MAX as TOPICS_MAX
from .fields import UNRECORDED as UNRECORDED
from .fields import AuditKind as AuditKind
from .fields import FactTier as FactTier
from .fields import FactType as FactType
from .fields import Grain as Grain
from .fields import Kind as Kind
from .fields import Moment as Moment
from .fields import Name as Name
from .fields import Number as Number
from .fields import Record as Record
from .fields import Source as Source
from .fields import Superseded as Superseded
from .fields import Text as Text
from .fields import Topics as Topics
from .fields import UnfitField as UnfitField
from .fields import Until as Until
from .fields import Whole as Whole
from .fields import Word as Word
from .fleet import AgentRecord as AgentRecord
from .fleet import Ancestor as Ancestor
from .fleet import Budget as Budget
from .fleet import Departure as Departure
from .fleet import GraphState as GraphState
from .fleet import Inject as Inject
from .fleet import MergeStrategy as MergeStrategy
from .fleet import Parent as Parent
from .fleet import Retention as Retention
from .fleet import Scope as Scope
from .fleet import SessionGraph as SessionGraph
from .fleet import Standing as Standing
from .fleet import Usage as Usage
from .mesh import MeshResult as MeshResult
from .mesh import Provenance as Provenance
from .owned import Owned as Owned
from .rules import FORMER_VERSIONS_MAX as FORMER_VERSIONS_MAX
from .rules import FormerSteps as FormerSteps
from .rules import Rule as Rule
from .turn_fields import Tail as Tail
from .turn_fields import ToolOutput as ToolOutput


class Turn(Owned):
    """One exchange of one agent. ``seq`` counts from 1 per agent without gaps; 0 until stored.

    Attributes:
        ref: The caller's own name for the turn, unique in the graph; makes a repeat harmless.
        speaker: Who said ``input``; the agent's id when the caller names nobody.
        tokens: Estimated tokens of input, response and tool outputs together.
        rules: Ids of the playbooks that were in its context: what comes next says how they did.
        occurred_at: When it was said, which is not when it was recorded.
        tail: What its context showed of the conversation, where the model's window is known.
        retired_at: When retention destroyed its content.
        mentions: Salted digests of the words that it held then, by which an erasure finds what was
            made of it.
    """

    seq: int = Field(default=0, ge=0)
    ref: Name | None = None
    speaker: Annotated[str, StringConstraints(max_length=NAME_CHARS_MAX)] = ""
    input: Text = ""
    response: Text = ""
    tool_outputs: tuple[ToolOutput, ...] = ()
    tokens: int = Field(default=0, ge=0)
    rules: tuple[str, ...] = ()
    tail: Tail | None = None
    occurred_at: Moment = UNRECORDED
    retired_at: Moment | None = None
    mentions: str = ""


EXTRACTED = "extract"
"""``made_by`` of what was put together from sentences of its sources, without a model."""


class Summary(Owned):
    """A compression of turns of one agent; ``covers`` names exactly the turns it stands for.

    Attributes:
        made_by: ``extract``, or the name of the model that wrote the text.
        lost: Statements of what it stands for that its text does not tell; above 0 it is flagged
            in the conservation report.
        answers: The sentences of its text that answer what somebody else asked, by their place:
            what is made of it cannot tell that from the text.
        retired_at: When retention destroyed its content; ``redacted_at`` says the same moment.
    """

    level: int = 0
    text: Text
    covers: tuple[str, ...] = Field(min_length=1)
    tokens: int = Field(default=0, ge=0)
    starts_at: Moment
    ends_at: Moment
    expires_at: Moment | None = None
    made_by: Name = EXTRACTED
    lost: int = Field(default=0, ge=0)
    answers: tuple[int, ...] = ()
    retired_at: Moment | None = None


class Episode(Owned):
    """What happened in one period, made of finer records named by ``children``.

    Attributes:
        period: Its calendar label in the installation's time zone: ``2026-11-20``, ``2026-W47``
            (ISO year and week), ``2026-11``, ``2026-Q4``, ``2026``.
        starts_at: When the first of what it tells happened, which is inside the period.
        ends_at: When the last did.
        made_by: As of a summary.
        lost: As of a summary, what its members had lost already included.
        answers: As of a summary.
        retired_at: As of a summary.
    """

    grain: Grain
    text: Text
    children: tuple[str, ...]
    starts_at: Moment
    ends_at: Moment
    period: str = ""
    made_by: Name = EXTRACTED
    lost: int = Field(default=0, ge=0)
    answers: tuple[int, ...] = ()
    retired_at: Moment | None = None


class Span(Record):
    """From when until when something held; ``until`` is ``None`` while it does."""

    since: Moment
    until: Moment | None = None


class Fact(Owned):
    """A statement held to be true, as free text, as (subject, predicate, object), or both.

    ``text`` is made of the triple when absent. ``tier`` is ``archival`` (found by recall) or
    ``core`` (in every context, and inherited). ``uses`` counts the turns whose context it reached;
    ``said_at``, ``said_seq`` and ``said_place`` tell when, in which turn and where in it it was
    said last. ``source`` is whose words it is: an agent's own become core by nobody's use.

    The store and the meta-agents keep the rest: when it was core, its uses when it was demoted last
    (``earned_from``), why it gave way (``denial``: it was never true), when it was compared with
    its neighbours, forgotten or retired, and ``mentions``: salted digests of the words it held.
    """

    text: Text = ""
    subject: Text | None = None
    predicate: Text | None = None
    object: Text | None = None
    tier: FactTier = "archival"
    fact_type: FactType = "world"
    confidence: Number = Field(default=1.0, ge=0.0, le=1.0)
    valid_from: Moment | None = None
    valid_to: Moment | None = None
    said_at: Moment | None = None
    said_seq: Whole = Field(default=0, ge=0)
    said_place: Whole = Field(default=0, ge=0)
    superseded_by: str | None = None
    superseded_at: Moment | None = None
    superseded_as: Superseded | None = None
    core_spans: tuple[Span, ...] = ()
    source_ids: tuple[str, ...] = ()
    source: Source | None = None
    uses: Whole = Field(default=0, ge=0)
    earned_from: Whole = Field(default=0, ge=0)
    last_used_at: Moment | None = None
    judged_at: Moment | None = None
    forgotten_at: Moment | None = None
    retired_at: Moment | None = None
    mentions: str = ""

    @model_validator(mode="before")
    @classmethod
    def _text_of_triple(cls, data: Any) -> Any:  # noqa: ANN401 - pydantic hands over raw input
        if not isinstance(data, dict) or str(data.get("text") or "").strip():
            return data
        names = ("subject", "predicate", "object")
        parts = [str(data.get(name) or "").strip() for name in names]
        if not all(parts):
            field = names[parts.index("")] if any(parts) else "text"
            accepted = "text, or subject, predicate and object"
            raise UnfitField(field, data.get(field), accepted)
        return {**data, "text": " ".join(parts)}

    @model_validator(mode="after")
    def _period_in_order(self) -> Self:
        if self.valid_from and self.valid_to and self.valid_to < self.valid_from:
            accepted = f"nothing before valid_from, {self.valid_from.isoformat()}"
            raise UnfitField("valid_to", self.valid_to, accepted)
        return self


WorkKind: TypeAlias = Literal[
    "index", "learn", "extract", "judge", "compress", "consolidate", "retain"
]
"""
===========  ===========================  ======================================================
kind         key                          what it does
===========  ===========================  ======================================================
index        id of the record             puts it into the warm index, or takes it out
learn        ``uses/`` and the receipt    counts uses, moves facts between archival and core
extract      agent                        reads new turns, stores facts and playbooks from them
judge        id of the fact               compares a new fact with its neighbours
compress     agent, or agent/everything   turns that left the ring become summaries, or all
consolidate  ``grains``                   summaries become episodes, coarser and coarser
retain       ``retention``                destroys what is past its retention
===========  ===========================  ======================================================
"""


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
    """A queued item. ``token`` rises with each claim: only the latest claimant may complete it.

    ``attempts`` counts how often it was begun alone. ``was_lost`` says that its former claim ended
    without an outcome, as when the process died that held it: it or another item may be to blame.
    """

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
    was_lost: bool = False

    @property
    def scope(self) -> Scope:
        """The scope of the runtime acting for the item's agent, or for its whole graph."""
        whole = Scope.of_graph(self.tenant, self.graph_id)
        return whole if self.agent_id is None else whole.for_agent(self.agent_id)


class AuditEvent(Record):
    """One entry of the audit feed: ids and reasons, never content.

    ``seq`` counts from 1 in its graph, ``position`` in its tenant, both without gaps and in the
    order of recording.
    """

    seq: int
    position: int = 0
    tenant: str
    graph_id: str
    agent_id: str | None
    kind: str
    record_ids: tuple[str, ...] = ()
    reason: str = ""
    recorded_at: Moment


def kind_of_event(kind: str) -> str:
    """Refuse a name that no event of the audit feed has."""
    if kind not in AUDIT_KINDS:
        message = f"a kind of event: {', '.join(AUDIT_KINDS)}"
        raise ValueError(message)
    return kind


class AuditFilter(Record):
    """Which events of an audit feed are wanted; ``None`` and the empty tuple restrict nothing.

    Attributes:
        kinds: Any of these kinds. One that no event has is refused: a name
            that is mistyped would else read as if nothing had happened.
        graph_id: Of this graph; for the feed of a tenant.
        agent_id: By this agent.
        record_id: About this record.
        since: Recorded at or after this moment.
        until: Recorded before this moment.
        before: Of a lower ``seq``, or in the feed of a tenant ``position``; and the last of them
            come first. Without it they come in order.
    """

    kinds: tuple[Annotated[str, AfterValidator(kind_of_event)], ...] = ()
    graph_id: Word | None = None
    agent_id: Word | None = None
    record_id: str | None = None
    since: Moment | None = None
    until: Until | None = None
    before: Annotated[Whole, Field(ge=1, le=2**53 - 1)] | None = None


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


class Hit(Record):
    """One answer of a recall.

    Attributes:
        score: Comparable inside one answer only; higher is better.
        tier: Where it was found: ``hot``, ``warm`` or ``cold``.
        source_ids: The records it rests on, itself included when it is a source.
        occurred_at: When what it tells happened, where known.
        inherited_from, path: The ancestor it was read from, and the graphs on the way, itself last.
        words_only: Not in the vector index, or not yet: it was found by its words.
        user_id: Whose it is; ``None`` for everybody's.
        fact_tier, grain: Of a fact, whether it is core or archival; of an episode, its period.
        uses, last_used_at: Of a fact, how many contexts it has reached, and when the last.
        successes, failures, version: Of a rule, how often it was confirmed and rejected, and how
            often its steps have changed, from 1; ``None`` where that is not known.
        folded: Other records that say the same, or cover it, and are left out for this one.
        citation: For a passage of a document, where it stands.
        cosine: To the question's vector, for who weighs it further; no caller is told.
        said_at: Of a fact, when it was said last, for who tells its day; no caller is told.
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
    path: tuple[str, ...] = ()
    words_only: bool = False
    user_id: str | None = None
    fact_tier: FactTier | None = None
    grain: Grain | None = None
    uses: int = 0
    last_used_at: Moment | None = None
    successes: int | None = None
    failures: int | None = None
    version: int | None = None
    folded: tuple[str, ...] = ()
    citation: Citation | None = None
    cosine: SkipJsonSchema[float | None] = Field(default=None, exclude=True, repr=False)
    said_at: SkipJsonSchema[Moment | None] = Field(default=None, exclude=True, repr=False)


IDS_MAX = 1_000
"""So many records a question may be kept to."""

ALL_TOPICS_MAX = 16
"""So many topics may be asked for together."""

SearchMode: TypeAlias = Literal["hybrid", "words", "dense"]
"""Both legs fused, words alone, or meaning alone."""


class SearchQuery(Record):
    """A question to a store's search. ``vector`` is ``None`` when no embedding is to be had.

    Attributes:
        text: The words for the lexical leg.
        vector: Unit-length floats for the dense leg.
        model_id: The model that made the vector; ``None`` with a vector: the one that the index
            serves with. A vector is compared with those of its own model only.
        kinds: Kinds to find; empty finds nothing. ``tool_output`` finds turns that have any, as
            turns.
        tier: Restrict facts to one tier.
        user_id: Restrict to records of one user; ``None`` restricts nothing.
        limit: How many to return, 1 to 200.
        now: Records that expire at or before this moment are not found.
        inherited: Search the ancestors of the scope instead of its own graph: of each the kinds
            that it carries, as of the moment at which it is read. Shared records only.
        mode: Which legs of a hybrid index answer. Of one leg, scores are its own: the cosine, or
            what the words weigh.
        as_of: Only records that had been recorded by this moment. The cold tier also finds those
            that have ended since, and leaves out those that had ended by then.
        since: Only what happened at or after this moment (``occurred_at``; a record without one
            happened when it was recorded).
        until: Only what happened before this moment.
        grains: Of episodes only these grains; empty restricts nothing. Other kinds are not
            concerned.
        topics: Only records with one of these topics; empty restricts nothing.
        all_topics: Only records with every one of these topics, 16 at most.
        writer_id: Only records written by this agent.
        ids: Only these records of the own graph; empty restricts nothing.
    """

    text: Text
    vector: tuple[float, ...] | None = None
    model_id: str | None = None
    kinds: tuple[Kind, ...]
    tier: FactTier | None = None
    user_id: str | None = None
    limit: int = Field(default=10, ge=1, le=200)
    now: Moment
    inherited: bool = False
    mode: SearchMode = "hybrid"
    as_of: Moment | None = None
    since: Moment | None = None
    until: Moment | None = None
    grains: tuple[Grain, ...] = ()
    topics: Topics = ()
    all_topics: Annotated[Topics, Field(max_length=ALL_TOPICS_MAX)] = ()
    writer_id: str | None = None
    ids: tuple[str, ...] = Field(default=(), max_length=IDS_MAX)


class IndexEntry(Owned):
    """A searchable form of a record for the warm engine.

    ``vector`` may be absent: the entry is then found by its words only. ``agent_id`` is the
    writer; ``tier`` is set for facts, ``grain`` for episodes. ``also`` names kinds as which it is
    found besides its own: a turn with tool outputs also as ``tool_output``.
    """

    kind: Kind
    text: Text
    vector: tuple[float, ...] | None = None
    tier: FactTier | None = None
    grain: Grain | None = None
    also: tuple[Kind, ...] = ()
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

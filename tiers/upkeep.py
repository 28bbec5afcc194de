"""Ports that serve the whole store instead of one agent: generations, upkeep, moving house.

What asks here is the runtime itself, for one tenant at a time. The rules of ``tiers.ports`` hold:
all or nothing, absence is a value, time is an argument.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Generic, Literal, NamedTuple, Protocol, TypeAlias, TypeVar, runtime_checkable

from pydantic import Field, JsonValue

from .board import Card
from .documents import Document, FormerDocument, Passage
from .evidence import ChainedAudit
from .ports import WarmStore
from .quarantine import Quarantined
from .records import (
    AgentRecord,
    Commitment,
    Episode,
    Fact,
    IndexEntry,
    LoggedBelief,
    Moment,
    Name,
    ProjectedBelief,
    Receipt,
    Record,
    Rule,
    Scope,
    SessionGraph,
    SignedHead,
    Summary,
    TrustRow,
    Turn,
    Usage,
    WorkDraft,
)

R = TypeVar("R", bound=Record)

PAGE_ROWS_MAX = 1_000


class Generation(Record):
    """A warm index made with one embedding model, as far as it has come for one tenant.

    Vectors of two models are never compared, so each model has an index of its own.

    Attributes:
        model_id: The embedder's; ``None`` for an index that has never held a vector.
        dimensions: Length of its vectors.
        state: ``building`` until every record of the tenant has been indexed once.
        cursor: Where building goes on: opaque, from ``ColdUpkeep.searchable_after``.
        done: Records indexed by building so far.
        total: Records there were when building began.
        marked_at: When this was last written.
    """

    model_id: str | None
    dimensions: int = Field(ge=1)
    state: Literal["building", "complete"] = "building"
    cursor: str = ""
    done: int = Field(default=0, ge=0)
    total: int = Field(default=0, ge=0)
    marked_at: Moment


class Retiring(NamedTuple):
    """Why records are retired, and when: what the audit feed says of it."""

    reason: str
    now: datetime


class WarmGenerations(Protocol):
    """The warm indexes of one engine, one per embedding model."""

    async def generations(self, tenant: str) -> tuple[Generation, ...]:
        """Return the tenant's generations, the one marked last first."""

    def opened(
        self, model_id: str | None, dimensions: int
    ) -> AbstractAsyncContextManager[WarmStore]:
        """Return the model's index, to be entered; made when new.

        Raises:
            ConfigError: It exists with vectors of another length, or is in use.
        """

    async def mark(self, tenant: str, generation: Generation) -> None:
        """Write down how far a generation has come. Survives a crash as the index does."""

    async def drop(self, tenant: str, model_id: str | None) -> None:
        """Remove the tenant's entries and mark from a generation; the index with its last tenant.

        It must not be open in this process. An unknown one is no error.
        """


class Page(Record, Generic[R]):
    """Some rows in a stable order, and where to go on; ``cursor`` is ``None`` after the last."""

    rows: tuple[R, ...]
    cursor: str | None = None


class WarmArchive(Protocol):
    """A warm index that can be read out, to be written into another by ``WarmStore.upsert``."""

    async def export_entries(self, tenant: str, cursor: str, limit: int) -> Page[IndexEntry]:
        """Return the tenant's entries of every graph, with their vectors; ``""`` begins.

        In a stable order; ``limit`` is 1 to ``PAGE_ROWS_MAX``. Vectors have unit length.
        """


@runtime_checkable
class RewritableFiles(Protocol):
    """A warm index that keeps files of its own, in which deleting leaves bytes behind."""

    async def rewrite_files(self) -> None:
        """Write every file anew, so that nothing is left of what was deleted.

        Searches go on meanwhile. A crash leaves the former files or the new ones.

        Raises:
            TierError: The disk or the engine failed; the former files serve on, or it must be
                opened again.
        """


class RecordRef(Record):
    """Where a searchable record is. ``agent_id`` is set when only that agent may see it."""

    graph_id: str
    id: str
    agent_id: str | None = None


@runtime_checkable
class ArchivalVectors(Protocol):
    """A ``SemanticStore`` that keeps the vectors of facts itself, for a search of its own."""

    @property
    def archival(self) -> str:
        """How archival facts are recalled as things stand, in words."""

    @property
    def vector_length(self) -> int | None:
        """Length of the vectors that the store's search takes; ``None`` while it has none."""

    async def ensure_vector_index(
        self,
        num_dimensions: int,
        *,
        timeout_seconds: float = 600.0,
        update: bool = False,
        progress: Callable[[str, str], None] | None = None,
    ) -> object:
        """Make or check the search indexes, wait until they answer, and use them from then on.

        Raises:
            ConfigError: An index is there that does not fit; says what to do.
            TierRejected: The server has no search; recall goes on as before.
            TierTimeout: They are still being built; asking again is harmless.
        """

    async def facts_without_vectors(
        self, tenant: str, model_id: str, limit: int
    ) -> tuple[RecordRef, ...]:
        """Return current facts of any graph that have not been through ``store_vectors``.

        With ``model_id``, that is; oldest first, at most ``limit``.
        """

    async def store_vectors(
        self, scope: Scope, entries: Sequence[IndexEntry], model_id: str
    ) -> None:
        """Keep the vectors of the facts among ``entries``, archival and core alike.

        Entries of other kinds are passed over, as are facts that are not there. A fact without a
        vector, because the model refuses its text, is not asked for again. Storing again replaces.
        What is superseded need not be taken out: it is not found.

        Args:
            scope: Whose graph.
            entries: With vectors of unit length.
            model_id: The model that made them: only its questions are compared with them.

        Raises:
            UsageError: An entry of another tenant or graph, or a vector of another length than
                the store's index takes. Nothing was written.
        """


class ColdUpkeep(Protocol):
    """What the runtime does when it opens, and what building an index needs."""

    async def take_over(self) -> None:
        """Free at once what owners that died had claimed, where only one owner can be.

        A store that several processes share does nothing: there, leases run out.
        """

    async def searchable_after(
        self, tenant: str, cursor: str, limit: int, now: datetime
    ) -> Page[RecordRef]:
        """Return searchable, unexpired, current records after a cursor; ``""`` begins."""

    async def count_searchable(self, tenant: str, now: datetime) -> int:
        """Return how many records ``searchable_after`` has to give."""


class Redacted(Record):
    """What a redaction reached, as ids by kind: ``turn``, ``summary``, ``fact``, ``receipt``, …"""

    ids: dict[str, tuple[str, ...]]

    @property
    def all_ids(self) -> tuple[str, ...]:
        """Every id, receipts aside, sorted: what must leave the warm index and the rings."""
        return tuple(
            sorted({one for kind, ids in self.ids.items() if kind != "receipt" for one in ids})
        )


class Redactor(Protocol):
    """Destroys content on request. Rows, ids, ``seq``, coverage and lengths of chains stay."""

    async def redact(
        self, scope: Scope, record_ids: Sequence[str], reason: str, now: datetime
    ) -> Redacted:
        """Destroy the content of records of the scope's graph, and of all that was made of them.

        Records are turns, summaries, episodes, facts, rules, beliefs, documents, passages,
        cards and quarantined texts, of any agent, user and topic. A belief's content and salts are
        destroyed in the log, which gains a ``redacted`` event for each, and what contradicted it no
        longer says why. A document goes with all of its revisions and passages, a passage with its
        document, a task with the actions that tell of its changes.

        What was made of a record: summaries that cover it, episodes that have it as a child, facts,
        beliefs and rules that name it as a source, and so on from these; and receipts that name any
        of them, whose question is blanked. Texts become ``[redacted]``, ``redacted_at`` is set,
        words leave the word index, and an ``index`` work item for each record is queued, by which
        it leaves the warm index. One audit event ``redacted`` names the asked records and the
        reason.

        All or nothing where the engine has transactions; otherwise repeating the call finishes
        what was begun. What is redacted already is passed over; if all is, nothing is written.
        A record that retention has emptied is passed over too, but what was made of it is not.

        Raises:
            NotFound: One of the ids is no such record of the graph.
            UsageError: ``reason`` is blank, or there are more than 1,000 ids.
        """

    async def holding(
        self,
        scope: Scope,
        *,
        subject: str | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
        cursor: str = "",
        limit: int = 1000,
    ) -> Page[RecordRef]:
        """Return records that speak of a subject, belong to a user, or an agent wrote; pages.

        What no agent wrote has the empty ``agent_id``.

        Of every kind that can be redacted, whoever could see them, that have their content. A
        record speaks of a subject when one of its texts (claim, key, value, speaker, tool output,
        subject and object included) holds it as whole words, whatever the case and the white
        space between its words; NFKC forms are compared. A name is found by its parts as well, in
        any order and the last alone, and a number however it is written (``tiers.cold.mentions``).
        So is what retention has emptied, by what it said then: what was made of it may say so
        still, and is reached by redacting it. A page may hold fewer rows than
        ``limit`` and still name a cursor: it has looked through a bounded number of records.

        Raises:
            UsageError: Not exactly one of the three is given, or a subject or user is blank.
        """

    async def blank_receipts(
        self,
        scope: Scope,
        *,
        subject: str | None = None,
        agent_ids: Sequence[str] = (),
        record_ids: Sequence[str] = (),
        before: datetime | None = None,
        since: datetime | None = None,
        retiring: Retiring | None = None,
    ) -> tuple[str, ...]:
        """Blank receipts that speak of a subject, agents were given, name records, or are old.

        Of the scope's graph; for what no record of it holds: a question that found nothing, a turn
        that was never replied to, a record of a graph that it inherits from. Returns the ids of
        those that were not blank before. May be repeated.

        Args:
            scope: Whose graph.
            subject: Those that speak of it.
            agent_ids: Those that one of these agents was given.
            record_ids: Those that name one of these records.
            before: Those that were recorded before this moment.
            since: With ``before``: what was recorded earlier than this is blank already and need
                not be looked at, as far as ids tell when they were made.
            retiring: Why, and when: the audit feed names them as ``retired`` in the same step.

        Raises:
            UsageError: None of them is given, or the subject is blank.
        """

    async def rewrite(
        self, scope: Scope, record: Summary | Episode, work: Sequence[WorkDraft] = ()
    ) -> bool:
        """Give a redacted summary or episode a new text, made of what is left of its sources.

        Clears ``redacted_at`` and makes the text findable. ``False``, writing nothing, when the
        record is not there, or not redacted as ``record.redacted_at`` says: what it was made of
        was redacted again meanwhile.
        """

    async def redacted(
        self, scope: Scope, record_ids: Sequence[str]
    ) -> tuple[
        Turn
        | Summary
        | Episode
        | Fact
        | Rule
        | Commitment
        | Document
        | Passage
        | Card
        | Quarantined,
        ...,
    ]:
        """Return the redacted records of the scope's graph among ids, whoever could see them.

        Not those that retention has emptied: their content is gone for another reason.
        """

    async def left_of(
        self, scope: Scope, record: Summary | Episode
    ) -> tuple[Turn | Summary | Episode, ...]:
        """Return what is not redacted of that which a record was made of, in order."""


class FactUse(Record):
    """One counted use of a fact."""

    graph_id: str
    fact_id: str
    cause: str
    used_at: Moment


class Watermark(Record):
    """How far a reader has read an agent's turns: up to this ``seq``, inclusive."""

    graph_id: str
    agent_id: str
    name: Name
    seq: int = Field(ge=0)
    moved_at: Moment


class RuleOutcome(Record):
    """One counted outcome of a rule."""

    graph_id: str
    rule_id: str
    cause: str
    is_success: bool
    recorded_at: Moment


class UsageRow(Record):
    """What an agent of a graph, or with an empty ``agent_id`` the graph itself, has used."""

    graph_id: str
    agent_id: str
    used: Usage


class QueuedWork(Record):
    """A work item as it waits. A claim does not move house: the item is due at once."""

    graph_id: str
    agent_id: str | None
    kind: str
    key: str
    payload: dict[str, JsonValue]
    attempts: int
    queued_at: Moment
    due_at: Moment
    parked: bool
    problem: str | None


Table: TypeAlias = Literal[
    "graphs",
    "agents",
    "usage",
    "turns",
    "summaries",
    "episodes",
    "facts",
    "fact_uses",
    "rules",
    "rule_outcomes",
    "watermarks",
    "documents",
    "document_revisions",
    "passages",
    "cards",
    "quarantined",
    "belief_events",
    "beliefs",
    "trust",
    "heads",
    "receipts",
    "audit",
    "work",
]

ARCHIVE_ROWS: dict[Table, type[Record]] = {
    "graphs": SessionGraph,
    "agents": AgentRecord,
    "usage": UsageRow,
    "turns": Turn,
    "summaries": Summary,
    "episodes": Episode,
    "facts": Fact,
    "fact_uses": FactUse,
    "rules": Rule,
    "rule_outcomes": RuleOutcome,
    "watermarks": Watermark,
    "documents": Document,
    "document_revisions": FormerDocument,
    "passages": Passage,
    "cards": Card,
    "quarantined": Quarantined,
    "belief_events": LoggedBelief,
    "beliefs": ProjectedBelief,
    "trust": TrustRow,
    "heads": SignedHead,
    "receipts": Receipt,
    "audit": ChainedAudit,
    "work": QueuedWork,
}
"""What a row of each table is, in the order in which tables are moved: causes before effects."""


class ColdArchive(Protocol):
    """Everything a cold tier holds, table by table, in records that no engine owns.

    What follows from the records (coverage, consolidation, word index) does not move: importing a
    row brings it about again.
    """

    async def tenants(self) -> tuple[str, ...]:
        """Return every tenant that has a graph, sorted."""

    async def export_rows(self, tenant: str, table: Table, cursor: str, limit: int) -> Page[Record]:
        """Return rows after a cursor in a stable order; ``""`` begins.

        Events come in the order of their numbers, and work in that of queueing. ``limit`` is
        1 to ``PAGE_ROWS_MAX``. Rows are of the type ``ARCHIVE_ROWS`` names.
        """

    async def import_rows(self, tenant: str, table: Table, rows: Sequence[Record]) -> int:
        """Store rows as they are, in order, and return how many are new.

        A row that is there already, equal, is passed over, so that repeating is harmless.

        Raises:
            Conflict: A row of the same identity is there and differs; nothing of the call stays.
        """

    async def count_rows(self, tenant: str, table: Table) -> int:
        """Return how many rows a table has for the tenant."""

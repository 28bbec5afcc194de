"""What serves a whole store instead of one agent: generations, upkeep, moving house.

What asks here is the runtime itself, for one tenant at a time. The rules of ``tiers.ports`` hold:
all or nothing, absence is a value, time is an argument.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import (
    Any,
    Generic,
    Literal,
    NamedTuple,
    Protocol,
    TypeAlias,
    TypeVar,
    runtime_checkable,
)

from pydantic import Field, JsonValue

from . import records
from .board import Card
from .documents import Document, FormerDocument, Passage
from .evidence import ChainedAudit
from .fields import AuditKind
from .ports import WarmStore
from .quarantine import Quarantined
from .records import IndexEntry, Moment, Name, Record, Scope

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
    """What keeps files of its own, in which deleting leaves bytes behind."""

    async def rewrite_files(self) -> None:
        """Write every file anew, so that nothing is left of what was deleted.

        Reading goes on meanwhile. A crash leaves the former files or the new ones.

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


ERASED: AuditKind = "erased"
"""How the audit feed tells of redacted records that nobody had named: a search found them."""


class Redacted(Record):
    """What a redaction reached, as ids by kind: ``turn``, ``summary``, ``fact``, ``receipt``, …"""

    ids: dict[str, tuple[str, ...]]

    @property
    def all_ids(self) -> tuple[str, ...]:
        """Every id, receipts aside, sorted: what must leave the warm index and the rings."""
        return tuple(
            sorted({one for kind, ids in self.ids.items() if kind != "receipt" for one in ids})
        )


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
    used: records.Usage


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
    "graphs": records.SessionGraph,
    "agents": records.AgentRecord,
    "usage": UsageRow,
    "turns": records.Turn,
    "summaries": records.Summary,
    "episodes": records.Episode,
    "facts": records.Fact,
    "fact_uses": FactUse,
    "rules": records.Rule,
    "rule_outcomes": RuleOutcome,
    "watermarks": Watermark,
    "documents": Document,
    "document_revisions": FormerDocument,
    "passages": Passage,
    "cards": Card,
    "quarantined": Quarantined,
    "belief_events": records.LoggedBelief,
    "beliefs": records.ProjectedBelief,
    "trust": records.TrustRow,
    "heads": records.SignedHead,
    "receipts": records.Receipt,
    "audit": ChainedAudit,
    "work": QueuedWork,
}
"""What a row of each table is, in the order in which tables are moved: causes before effects."""


class DiscardedRows(Record):
    """How far a graph's rows have been discarded.

    Attributes:
        rows: How many rows of each table have gone so far.
        ids: Of records that went in this step, which the warm index may have.
        is_all: Whether nothing is left.
    """

    rows: dict[Table, int] = Field(default_factory=dict)
    ids: tuple[str, ...] = ()
    is_all: bool = False


def core_of(row: Record) -> Any:  # noqa: ANN401 - of any table
    """Return the part of a row that carries its identity."""
    if isinstance(row, records.LoggedBelief):
        return row.event
    return row.belief if isinstance(row, records.ProjectedBelief) else row

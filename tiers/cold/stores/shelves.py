"""How the tables of an archive lie in collections, and how their rows are made of what is kept."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias, TypeVar

from ...documents import FormerDocument
from ...errors import UsageError
from ...fleet import CATALOG
from ...records import (
    AgentRecord,
    BeliefEvent,
    Episode,
    HistoricBelief,
    LoggedBelief,
    Owned,
    ProjectedBelief,
    Receipt,
    Record,
    Scope,
    SessionGraph,
    Summary,
    TrustRow,
    Turn,
)
from ...upkeep import ARCHIVE_ROWS, FactUse, QueuedWork, RuleOutcome, Table, UsageRow, Watermark
from ..conditions import Value
from ..cursors import place_of
from ..ownership import check_placed
from ..port import Collection, Steps
from .belief_log import EVENTS, entries_at
from .belief_projection import BELIEFS, TRUSTS, Trust
from .belief_spans import spans_of
from .board import CARDS
from .documents import DOCUMENTS, FORMERS, Followed
from .episodes import EPISODES, SUMMARIES, KeptEpisode, KeptSummary
from .evidence import HEADS
from .facts import USES, CountedUse
from .graphs import AGENTS, made_agent
from .known_graphs import GRAPHS, OLDEST_FIRST, made_graph
from .log import AUDIT, RECEIPTS
from .passages import PASSAGES
from .quarantine import QUARANTINED
from .rows import bare, kept
from .rules import OUTCOMES, RULES, CountedOutcome
from .statements import FACTS
from .turns import TURNS, KeptTurn
from .usage import USAGE, Counted
from .watermarks import WATERMARKS, Mark
from .work import WORK, Item, arrived

R = TypeVar("R", bound=Record)

Key: TypeAlias = tuple[str, str]
"""The graph and the id of what is kept; of what belongs to no graph, the catalog's name."""

_BY_ID = ("graph_id", "id")


def _as_it_is(record: Any) -> Any:  # noqa: ANN401 - of any table
    return record


@dataclass(frozen=True)
class Shelf:
    """Where one table lies.

    Attributes:
        collection: Its collection.
        keeps: Makes what is kept of a row of a tenant, as far as the row says it.
        shows: Makes the row of what is kept; where more belongs to it, ``rows_of`` does.
        by: The index by which it is walked.
        order: Fields in whose order it is walked, which tell any two of a tenant apart.
    """

    collection: Collection[Any]
    keeps: Callable[[str, Any], Any] = field(default=lambda _, row: row)
    shows: Callable[[Any], Any] = _as_it_is
    by: str = "id"
    order: tuple[str, ...] = _BY_ID

    def place(self, record: Any) -> list[Value]:  # noqa: ANN401 - of any collection
        """Return where a record is in the order of the walk."""
        values = self.collection.values(record)
        return [values[name] for name in self.order]


def _held(collection: Collection[Any], row: type[Record], holds: type[Record]) -> Shelf:
    """Return the shelf of what is kept with something that its rows do not say."""
    return Shelf(collection, lambda _, one: kept(holds, one), partial(bare, row))


def _of_tenant(collection: Collection[Any], row: type[Record], holds: type[Record]) -> Shelf:
    """Return the shelf of rows that do not say whose they are."""
    return Shelf(
        collection, lambda tenant, one: kept(holds, one, tenant=tenant), partial(bare, row)
    )


def _waiting(item: Item) -> QueuedWork:
    """Return an item as it waits. A claim ends with its process: it is due as it once was."""
    due_at = item.due_at if item.lease_owner is None else item.queued_at
    return bare(QueuedWork, item).model_copy(update={"due_at": due_at})


SHELVES: Mapping[Table, Shelf] = {
    "graphs": Shelf(
        GRAPHS, lambda _, row: made_graph(row), partial(bare, SessionGraph), "oldest", OLDEST_FIRST
    ),
    "agents": Shelf(
        AGENTS,
        lambda _, row: made_agent(row),
        partial(bare, AgentRecord),
        by="made",
        order=("made", "graph_id", "id"),
    ),
    "usage": _of_tenant(USAGE, UsageRow, Counted),
    "turns": _held(TURNS, Turn, KeptTurn),
    "summaries": _held(SUMMARIES, Summary, KeptSummary),
    "episodes": replace(  # what an episode is made of comes before it
        _held(EPISODES, Episode, KeptEpisode),
        by="coarseness",
        order=("graph_id", "coarseness", "id"),
    ),
    "facts": Shelf(FACTS),
    "fact_uses": _of_tenant(USES, FactUse, CountedUse),
    "rules": Shelf(RULES),
    "rule_outcomes": _of_tenant(OUTCOMES, RuleOutcome, CountedOutcome),
    "watermarks": _of_tenant(WATERMARKS, Watermark, Mark),
    "documents": Shelf(DOCUMENTS),
    "document_revisions": replace(
        _held(FORMERS, FormerDocument, Followed),
        by="revision",
        order=("graph_id", "document_id", "revision"),
    ),
    "passages": Shelf(
        PASSAGES, by="document", order=("graph_id", "document_id", "since", "number", "id")
    ),
    "cards": Shelf(CARDS),
    "quarantined": Shelf(QUARANTINED),
    "belief_events": Shelf(EVENTS, lambda _, row: row.event, by="seq", order=("graph_id", "seq")),
    "beliefs": Shelf(
        BELIEFS, lambda _, row: row.belief, by="committed", order=("graph_id", "committed_seq")
    ),
    "trust": _of_tenant(TRUSTS, TrustRow, Trust),
    "heads": Shelf(HEADS, by="size", order=("graph_id", "size", "signed_at", "public_key")),
    "receipts": Shelf(RECEIPTS),
    "audit": Shelf(AUDIT, by="seq", order=("graph_id", "seq")),
    "work": Shelf(WORK, arrived, _waiting, by="queued", order=("made", "graph_id", "id")),
}

NUMBERS = frozenset(
    (
        *("seq", "size", "signed_at", "created_at", "committed_seq"),
        *("revision", "coarseness", "since", "number"),
    )
)
"""The fields of all orders that are numbers; the others are texts."""


def shelf_of(table: Table) -> Shelf:
    """Return where a table lies.

    Raises:
        UsageError: There is no such table.
    """
    if table not in SHELVES:
        raise UsageError("table", table, ", ".join(SHELVES))
    return SHELVES[table]


def after_cursor(shelf: Shelf, cursor: str) -> tuple[str | int, ...] | None:
    """Return the place behind which a page begins; ``None``: at the beginning.

    Raises:
        UsageError: No page of the table gave the cursor.
    """
    kinds = [int if name in NUMBERS else str for name in shelf.order]
    return place_of(cursor, kinds, "the cursor of a page of the same table")


def rows_of(tenant: str, table: Table, found: Sequence[Any]) -> Steps[list[Record]]:
    """Return the rows of what was found, in its order, with what belongs to them."""
    if table == "belief_events":
        return (yield from _with_contents(tenant, found))
    if table == "beliefs":
        return (yield from _with_spans(tenant, found))
    return list(map(SHELVES[table].shows, found))


def graph_of(row: Record) -> str:
    """Return the graph of a row; of what belongs to none, the catalog's name."""
    graph_id: str = getattr(_core_of(row), "graph_id", CATALOG)
    return graph_id


def by_graph(records: Iterable[R]) -> dict[str, list[R]]:
    """Return rows or what is kept by their graphs, each in the order given."""
    found: dict[str, list[R]] = {}
    for one in records:
        found.setdefault(graph_of(one), []).append(one)
    return found


def _with_contents(tenant: str, events: Sequence[BeliefEvent]) -> Steps[list[Record]]:
    said: dict[Key, LoggedBelief] = {}
    for graph_id, some in by_graph(events).items():
        scope = Scope.of_graph(tenant, graph_id)
        entries = yield from entries_at(scope, [event.seq for event in some])
        said |= {(graph_id, entry.event.id): entry for entry in entries}
    return [said[event.graph_id, event.id] for event in events]


def _with_spans(tenant: str, beliefs: Sequence[HistoricBelief]) -> Steps[list[Record]]:
    rows: dict[Key, ProjectedBelief] = {}
    for graph_id, some in by_graph(beliefs).items():
        scope = Scope.of_graph(tenant, graph_id)
        spans = yield from spans_of(scope, [belief.id for belief in some])
        rows |= {
            (graph_id, one.id): ProjectedBelief(belief=one, spans=spans[one.id]) for one in some
        }
    return [rows[belief.graph_id, belief.id] for belief in beliefs]


_HEX = re.compile(r"(?:[0-9a-f]{2})*")


def _core_of(record: Record) -> Record:
    """Return the part of a row that carries its identity."""
    if isinstance(record, LoggedBelief):
        return record.event
    return record.belief if isinstance(record, ProjectedBelief) else record


def check_row(tenant: str, table: Table, record: Record) -> None:
    """Refuse a row that is no row of the tenant's table.

    Raises:
        UsageError: It is of another type or tenant, its salt is no salt, or its spans are not
            those of a belief with its status.
    """
    kind = ARCHIVE_ROWS[table]
    if not isinstance(record, kind):
        raise UsageError("rows", type(record).__name__, f"{kind.__name__} in table {table}")
    core = _core_of(record)
    owner = getattr(core, "tenant", tenant)
    if owner != tenant:
        raise UsageError("rows", owner, f"rows of tenant {tenant!r}")
    if isinstance(core, Owned | Receipt):
        check_placed(Scope(tenant=tenant, graph_id=core.graph_id), core)
    if isinstance(record, LoggedBelief) and not _is_salt(record):
        raise UsageError("salt", record.event.id, "hex digits, absent together with the content")
    if isinstance(record, ProjectedBelief) and not _are_spans(record):
        accepted = "spans that follow each other, the last one open while the belief is active"
        raise UsageError("spans", record.belief.id, accepted)


def _are_spans(projected: ProjectedBelief) -> bool:
    spans, is_active = projected.spans, projected.belief.status == "active"
    ends = [span.until_seq for span in spans]
    begins = [span.since_seq for span in spans]
    closed = [end for end in ends if end is not None]
    is_open = bool(ends) and ends[-1] is None
    return (
        is_open == is_active
        and len(closed) == len(ends) - is_open
        and all(begin < end for begin, end in zip(begins, closed, strict=False))
        and all(end <= begin for end, begin in zip(closed, begins[1:], strict=False))
    )


def _is_salt(logged: LoggedBelief) -> bool:
    if logged.salt is None or logged.content is None:
        return logged.salt is None and logged.content is None
    return _HEX.fullmatch(logged.salt) is not None

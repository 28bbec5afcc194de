"""How the tables of an archive lie in collections, and how their rows are made of what is kept."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ...beliefs import BeliefEvent, LoggedBelief, ProjectedBelief
from ...errors import UsageError
from ...fleet import CATALOG
from ...records import Owned, Receipt, Record, Scope
from ...upkeep import ARCHIVE_ROWS, Table, core_of
from ..ownership import check_placed
from ..port import Collection, R, Steps
from .belief_log import EVENTS, entries_at
from .belief_projection import BELIEFS, TRUSTS
from .belief_spans import with_spans
from .board import CARDS
from .documents import DOCUMENTS, FORMERS
from .episodes import EPISODES, SUMMARIES
from .evidence import HEADS
from .facts import USES
from .graphs import AGENTS
from .known_graphs import GRAPHS, OLDEST_FIRST
from .log import AUDIT, RECEIPTS
from .passages import PASSAGES
from .quarantine import QUARANTINED
from .rows import bare, kept, made
from .rules import OUTCOMES, RULES
from .statements import FACTS
from .turns import TURNS
from .usage import USAGE
from .watermarks import WATERMARKS
from .work import WORK, Item

Key: TypeAlias = tuple[str, str]
"""The graph and the id of what is kept; of what belongs to no graph, the catalog's name."""

_BY_ID = ("graph_id", "id")


@dataclass(frozen=True)
class Shelf:
    """Where one table lies.

    Attributes:
        collection: Its collection.
        by: The index by which it is walked.
        order: Fields in whose order it is walked, which tell any two of a tenant apart.
    """

    collection: Collection[Any]
    by: str = "id"
    order: tuple[str, ...] = _BY_ID


SHELVES: Mapping[Table, Shelf] = {
    "graphs": Shelf(GRAPHS, "oldest", OLDEST_FIRST),
    "agents": Shelf(AGENTS, "made", ("made", "graph_id", "id")),
    "usage": Shelf(USAGE),
    "turns": Shelf(TURNS),
    "summaries": Shelf(SUMMARIES),
    # What an episode is made of comes before it.
    "episodes": Shelf(EPISODES, "coarseness", ("graph_id", "coarseness", "id")),
    "facts": Shelf(FACTS),
    "fact_uses": Shelf(USES),
    "rules": Shelf(RULES),
    "rule_outcomes": Shelf(OUTCOMES),
    "watermarks": Shelf(WATERMARKS),
    "documents": Shelf(DOCUMENTS),
    "document_revisions": Shelf(FORMERS, "revision", ("graph_id", "document_id", "revision")),
    "passages": Shelf(PASSAGES, "document", ("graph_id", "document_id", "since", "number", "id")),
    "cards": Shelf(CARDS),
    "quarantined": Shelf(QUARANTINED),
    "belief_events": Shelf(EVENTS, "seq", ("graph_id", "seq")),
    "beliefs": Shelf(BELIEFS, "committed", ("graph_id", "committed_seq")),
    "trust": Shelf(TRUSTS),
    "heads": Shelf(HEADS, "size", ("graph_id", "size", "signed_at", "public_key")),
    "receipts": Shelf(RECEIPTS),
    "audit": Shelf(AUDIT, "seq", ("graph_id", "seq")),
    "work": Shelf(WORK, "queued", ("made", "graph_id", "id")),
}


def shelf_of(table: Table) -> Shelf:
    """Return where a table lies.

    Raises:
        UsageError: There is no such table.
    """
    if table not in SHELVES:
        raise UsageError("table", table, ", ".join(SHELVES))
    return SHELVES[table]


def rows_of(tenant: str, table: Table, found: Sequence[Any]) -> Steps[list[Record]]:
    """Return the rows of what was found, in its order, with what belongs to them."""
    if table not in _COMPLETED:
        return [_shown(ARCHIVE_ROWS[table], one) for one in found]
    rows: dict[Key, Record] = {}
    for graph_id, some in by_graph(found).items():
        whole = yield from _COMPLETED[table](Scope.of_graph(tenant, graph_id), some)
        rows |= {(graph_id, core_of(row).id): row for row in whole}
    return [rows[one.graph_id, one.id] for one in found]


def kept_of(tenant: str, table: Table, row: Record) -> Record:
    """Return what is kept of a row of a tenant, as far as the row says it."""
    core = core_of(row)
    holds: type[Record] = SHELVES[table].collection.record
    if isinstance(core, holds):
        return core
    whose = {} if "tenant" in type(core).model_fields else {"tenant": tenant}
    return (made if "made" in holds.model_fields else kept)(holds, core, **whose)


def _shown(model: type[Record], record: Record) -> Record:
    """Return what is kept as the row that shows it, where that says less."""
    if type(record) is model:
        return record
    row = bare(model, record)
    if isinstance(record, Item) and record.lease_owner is not None:
        # A claim ends with its process: it is due as it once was.
        return row.model_copy(update={"due_at": record.queued_at})
    return row


def graph_of(row: Record) -> str:
    """Return the graph of a row; of what belongs to none, the catalog's name."""
    graph_id: str = getattr(core_of(row), "graph_id", CATALOG)
    return graph_id


def by_graph(records: Iterable[R]) -> dict[str, list[R]]:
    """Return rows or what is kept by their graphs, each in the order given."""
    found: dict[str, list[R]] = {}
    for one in records:
        found.setdefault(graph_of(one), []).append(one)
    return found


def _with_contents(scope: Scope, events: Sequence[BeliefEvent]) -> Steps[list[LoggedBelief]]:
    return entries_at(scope, [event.seq for event in events])


_COMPLETED: Mapping[Table, Callable[[Scope, Any], Steps[Any]]] = {
    "belief_events": _with_contents,
    "beliefs": with_spans,
}
"""Returns the rows of what is kept of a graph, with what belongs to them."""

_HEX = re.compile(r"(?:[0-9a-f]{2})*")


def check_row(tenant: str, table: Table, record: Record) -> None:
    """Refuse a row that is no row of the tenant's table.

    Raises:
        UsageError: It is of another type or tenant, its salt is no salt, or its spans are not
            those of a belief with its status.
    """
    kind = ARCHIVE_ROWS[table]
    if not isinstance(record, kind):
        raise UsageError("rows", type(record).__name__, f"{kind.__name__} in table {table}")
    core = core_of(record)
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

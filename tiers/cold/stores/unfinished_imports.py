"""What an import that was cut off has left of a graph that never came to be.

Nobody sees these rows, and nothing that goes graph by graph reaches them. They go piece by piece:
each transaction looks for itself that the graph is not there. The audit feed goes last, in one step
with the event that tells of it, whose position is behind all that it had.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from ...drafts import index_work
from ...errors import Conflict
from ...fields import AuditKind
from ...fleet import CATALOG
from ...records import Scope
from ...upkeep import DiscardedRows, Table
from ..conditions import Other
from ..port import Collection, Delete, Find, Steps, asked, count, every, one
from .archive_tables import SHELVES
from .belief_log import CONTENTS
from .belief_spans import SPANS
from .known_graphs import GRAPHS, KeptGraph
from .log import AUDIT, MARKS, append_event
from .questions import MANY, among, numbers, own, whole
from .redactable_records import ASIDES, ROLL_BACKS
from .words import SEARCHABLE, TOTALS
from .work import WORK, queue_work

ROWS_PER_STEP = 1_000
"""Of each collection, in one transaction."""

_TOLD: AuditKind = "discarded"
_BESIDE: tuple[Collection[Any], ...] = (CONTENTS, SPANS, TOTALS, ROLL_BACKS, ASIDES)
"""What belongs to rows and is no row itself, besides words and the marks of the feed."""


def rows_left(scope: Scope) -> Steps[dict[Table, int]]:
    """Return how many rows each table has of a graph that is not there; none of one that is."""
    if (yield from one(_graph(scope))) is not None:
        return {}
    finds = dict(_rows(scope, MANY))
    counted = yield from numbers(*finds.values())
    return {table: rows for table, rows in zip(finds, counted, strict=True) if rows}


def discard(scope: Scope, before: DiscardedRows, now: datetime) -> Steps[DiscardedRows]:
    """Delete a bounded number of rows of a graph that is not there, its audit feed last.

    Raises:
        Conflict: The graph is there.
    """
    absent, limit = _graph(scope), ROWS_PER_STEP
    if (yield from one(absent)) is not None:
        raise Conflict(f"session graph {scope.graph_id!r}", "none of that id", "one that exists")
    filed = yield from every(whole(SEARCHABLE, scope, "id", limit=limit))
    ids = tuple(record.id for record in filed)
    finds = {table: find for table, find in _rows(scope, limit) if table != "audit"}
    beside = [whole(collection, scope, "id", limit=limit) for collection in _BESIDE]
    words = own(SEARCHABLE, scope, ids)
    gone = yield from asked(*(Delete(find, absent) for find in (*finds.values(), *beside, words)))
    yield from queue_work(scope, [index_work(one, None) for one in ids], now)
    rows = Counter(before.rows) + Counter(dict(zip(finds, gone, strict=False)))
    is_all = max(gone) < limit
    if is_all:
        rows += Counter(audit=(yield from _discard_feed(scope, rows, now)))
    return DiscardedRows(rows=dict(rows), ids=ids, is_all=is_all)


def _discard_feed(scope: Scope, before: Mapping[Table, int], now: datetime) -> Steps[int]:
    """Delete the audit feed of a graph that is not there; return how many events went.

    The feed of the catalog tells of it, if there is one: whoever follows the tenant's feed by its
    positions misses nothing that comes later.
    """
    absent, feed = _graph(scope), whole(AUDIT, scope, "id", limit=MANY)
    events = yield from count(feed)
    catalog = Scope.of_graph(scope.tenant, CATALOG)
    is_told = bool(events or before) and (yield from one(_graph(catalog))) is not None
    if is_told:
        rows = {**before, "audit": events}
        counts = ", ".join(f"{number} {table}" for table, number in rows.items() if number)
        reason = f"an import that was cut off: {counts}"
        yield from append_event(catalog, _TOLD, (scope.graph_id,), reason, now)
    yield from asked(Delete(feed, absent), Delete(whole(MARKS, scope, "id"), absent))
    return events


def _graph(scope: Scope) -> Find[KeptGraph]:
    return among(GRAPHS, Scope.of_graph(scope.tenant, CATALOG), (scope.graph_id,))


def _rows(scope: Scope, limit: int) -> Iterator[tuple[Table, Find[Any]]]:
    """Yield by which question rows of each table are found, of those that were put in."""
    for table, shelf in SHELVES.items():
        if table != "graphs":
            # Work of the index is queued here, and takes what is gone out of it.
            where = (Other("kind", "index"),) if shelf.collection is WORK else ()
            yield table, whole(shelf.collection, scope, "id", *where, limit=limit)

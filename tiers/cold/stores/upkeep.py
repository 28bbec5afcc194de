"""What the only owner of a store may do on opening it, and walks over all its records.

One is for building an index. The other reads everything out, table by table, and puts it into
another store: what follows from a record (coverage, consolidation, words and their totals) is not
read out; the rows that are put in bring it about, see ``arrival``.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ...errors import Conflict, NotFound
from ...fleet import CATALOG
from ...moments import microseconds
from ...records import Record, Scope
from ...upkeep import PAGE_ROWS_MAX, Page, RecordRef, Table
from ..conditions import Beyond, Condition
from ..cursors import cursor_of, cut, place_of
from ..ownership import SHARED, check_limit, check_tenant
from ..port import Find, Steps, count, counts, every
from .arrival import stored
from .known_graphs import GRAPHS
from .leases import free_leases
from .over_engine import OverEngine, reading
from .questions import MANY, not_by
from .shelves import after_cursor, check_row, rows_of, shelf_of
from .words import SEARCHABLE, Filed
from .work import free_claims

_ORDER = ("recorded_at", "graph_id", "id")
_PLACE = (int, str, str)


class ColdUpkeep(OverEngine):
    """What the runtime does when it opens, and what building an index needs."""

    async def take_over(self) -> None:
        """Free what an owner that died had claimed, so that it need not wait for its leases.

        Tokens stay, so that nothing the dead owner held could ever be completed.
        """

        def steps() -> Steps[None]:
            yield from free_claims()
            yield from free_leases()

        await self._store.change("take over", steps, is_brief=False)

    async def searchable_after(
        self, tenant: str, cursor: str, limit: int, now: datetime
    ) -> Page[RecordRef]:
        """Return searchable, unexpired, current records after a cursor, in order of recording.

        Args:
            tenant: Whose.
            cursor: Of the page before; ``""`` begins.
            limit: 1 to ``PAGE_ROWS_MAX``.
            now: Records that expire at or before this moment are passed over.

        Raises:
            UsageError: A limit out of range, or a cursor that no page gave.
        """
        check_limit(limit, PAGE_ROWS_MAX)
        place = place_of(cursor, _PLACE, "the cursor of a page, or an empty one to begin")
        behind = () if place is None else (Beyond(_ORDER, place),)
        where = (*_unexpired(now), *behind)
        whole = Scope.of_graph(tenant, tenant)
        find = Find(SEARCHABLE, whole, "current", where, _ORDER, limit + 1, reach="tenant")
        found = await self._all("searchable_after", find)
        rows, after = cut(found, limit, _cursor)
        return Page(rows=tuple(map(_ref, rows)), cursor=after)

    async def count_searchable(self, tenant: str, now: datetime) -> int:
        """Return how many records ``searchable_after`` has to give."""
        whole = Scope.of_graph(tenant, tenant)
        where = _unexpired(now)
        find = Find(SEARCHABLE, whole, "current", where, limit=MANY, reach="tenant")
        return await self._store.read("count_searchable", lambda: count(find))


def _unexpired(now: datetime) -> tuple[Condition, ...]:
    return (not_by("expires_at", microseconds(now)),)


def _cursor(last: Filed) -> str:
    return cursor_of((microseconds(last.recorded_at), last.graph_id, last.id))


def _ref(filed: Filed) -> RecordRef:
    owner = filed.agent_id if filed.private else SHARED
    return RecordRef(graph_id=filed.graph_id, id=filed.id, agent_id=owner or None)


class ColdArchive(OverEngine):
    """Everything a cold tier holds, table by table, in records that no engine owns.

    What follows from the records (coverage, consolidation, word index) does not move: importing a
    row brings it about again.
    """

    async def tenants(self) -> tuple[str, ...]:
        """Return every tenant that has a graph, sorted."""
        graphs = Find(GRAPHS, Scope.of_graph(CATALOG, CATALOG), limit=MANY, reach="store")
        found = await self._store.read("tenants", lambda: counts(graphs, "tenant"))
        return tuple(sorted(str(tenant) for (tenant,) in found))

    @reading
    def export_rows(
        self, tenant: str, table: Table, cursor: str, limit: int
    ) -> Steps[Page[Record]]:
        """Return rows after a cursor in a stable order; ``""`` begins.

        Graphs, agents and work come as they were made, oldest first; everything else graph by
        graph, events, beliefs and heads in the order of their numbers, episodes after those that
        they are made of, passages revision by revision, the rest in the order of ids.

        Raises:
            UsageError: An unknown table, a limit outside 1 to ``PAGE_ROWS_MAX``, or a cursor that
                no page of the table gave.
        """
        shelf = shelf_of(table)
        check_tenant(tenant)
        check_limit(limit, PAGE_ROWS_MAX)
        place = after_cursor(shelf, cursor)
        where = () if place is None else (Beyond(shelf.order, place),)
        whole = Scope.of_graph(tenant, CATALOG)
        find = Find(
            shelf.collection, whole, shelf.by, where, shelf.order, limit + 1, reach="tenant"
        )
        found = yield from every(find)
        shown, end = cut(found, limit, lambda last: cursor_of(shelf.place(last)))
        rows = yield from rows_of(tenant, table, shown)
        return Page[Record](rows=tuple(rows), cursor=end)

    async def import_rows(self, tenant: str, table: Table, rows: Sequence[Record]) -> int:
        """Store rows as they are, in order, with what follows from them; return how many are new.

        A row that is there already, equal, is passed over. An audit event without a place in the
        tenant's feed, or with one that is taken, is given the next.

        Raises:
            Conflict: A row of the same identity is there and differs, or a row contradicts what
                is there: nothing of the call stays.
            UsageError: A row is of another type or tenant.
        """
        shelf_of(table)
        check_tenant(tenant)
        for row in rows:
            check_row(tenant, table, row)
        if not rows:
            return 0
        try:
            return await self._store.change(
                "import_rows", lambda: stored(tenant, table, rows), is_brief=False
            )
        except NotFound as missing:
            raise Conflict(f"{table} row", "rows that it fits to", str(missing)) from missing

    async def count_rows(self, tenant: str, table: Table) -> int:
        """Return how many rows a table has for the tenant."""
        shelf = shelf_of(table)
        check_tenant(tenant)
        whole = Scope.of_graph(tenant, CATALOG)
        find = Find(shelf.collection, whole, shelf.by, limit=MANY, reach="tenant")
        return await self._store.read("count_rows", lambda: count(find))

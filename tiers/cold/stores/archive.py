"""Reading everything out of the cold tier, and putting it into another, table by table.

What follows from a record (coverage, consolidation, words and their totals) is not read out. The
rows that are put in bring it about: see ``arrival``.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import Conflict, NotFound
from ...fleet import CATALOG
from ...records import Record, Scope
from ...upkeep import PAGE_ROWS_MAX, Page, Table
from ..archive_rows import check_row, check_tenant
from ..conditions import Beyond
from ..cursors import cursor_of, cut
from ..ownership import check_limit
from ..port import Find, Steps, count, counts, every
from .arrival import stored
from .known_graphs import GRAPHS
from .over_engine import OverEngine, reading
from .questions import MANY
from .shelves import after_cursor, rows_of, shelf_of


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

"""Copying one table or index after the other, from where the ledger says."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial

from tiers.errors import Conflict
from tiers.records import IndexEntry, Record, Scope

from .hold import Course
from .ledger import Ledger, Place
from .parts import IndexPart, Part, TablePart, reader_of
from .side import Index, Side

Write = Callable[[Sequence[Record]], Awaitable[int]]
"""Writes rows and returns how many of them were not there."""


@dataclass(frozen=True)
class Copier:
    """Copies parts of one house into another.

    Attributes:
        source: Only read.
        target: Written page by page; a page that is written twice is there once.
        book: Told after each page.
        course: Told after each page.
        page_rows: Rows of a page.
    """

    source: Side
    target: Side
    book: Ledger
    course: Course
    page_rows: int

    async def copy(self, tenant: str, part: Part) -> int:
        """Copy what is left of a table or index; return how many rows that wrote."""
        place = await self._place(tenant, part)
        await self.course.step(tenant, part.name, place.rows)
        new = 0
        if place.cursor is not None:
            read = await reader_of(self.source, tenant, part)
            write = await self._writer(tenant, part)
            while place.cursor is not None:
                page = await read(place.cursor, self.page_rows)
                new += await write(page.rows)
                place = Place(cursor=page.cursor, rows=place.rows + len(page.rows))
                await self.book.note(tenant, part.name, place)
                await self.course.step(tenant, part.name, len(page.rows))
        if isinstance(part, IndexPart):
            # Its cursor spoke of the source's cold tier, and nothing is left to be built.
            mark = part.generation.model_copy(update={"cursor": ""})
            await self.target.house.generations.mark(tenant, mark)
        return new

    async def _place(self, tenant: str, part: Part) -> Place:
        """Return where to go on: at the beginning when the target lost what it had been given."""
        place = self.book.place(tenant, part.name)
        if place.rows == 0:
            return place
        if isinstance(part, IndexPart):
            graphs = await self.source.graphs(tenant)
            there = await self.target.count_entries(tenant, part.generation, graphs)
        else:
            _check_unchanged(tenant, part, place)
            there = await self.target.house.cold.count_rows(tenant, part.name)
        return place if there >= place.rows else Place()

    async def _writer(self, tenant: str, part: Part) -> Write:
        if isinstance(part, TablePart):
            return partial(self.target.house.cold.import_rows, tenant, part.name)
        return partial(_upsert, await self.target.index(part.generation), tenant)


def _check_unchanged(tenant: str, part: TablePart, place: Place) -> None:
    """Refuse to go on with a table that has grown after all of it was copied.

    Raises:
        Conflict: It has.
    """
    if place.rows > part.rows or (place.cursor is None and place.rows != part.rows):
        raise Conflict(
            f"{part.name} of tenant {tenant}, which may not change while it is moved",
            f"{place.rows} rows as when it was copied",
            f"{part.rows} rows; empty the target and move it with a new ledger",
        )


async def _upsert(index: Index, tenant: str, rows: Sequence[Record]) -> int:
    by_graph: defaultdict[str, list[IndexEntry]] = defaultdict(list)
    for row in rows:
        if isinstance(row, IndexEntry):
            by_graph[row.graph_id].append(row)
    for graph_id, entries in by_graph.items():
        await index.upsert(Scope(tenant=tenant, graph_id=graph_id), entries)
    return len(rows)

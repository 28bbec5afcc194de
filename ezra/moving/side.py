"""One end of a move: what a memory lives in, as far as it can be moved, and while it is.

Of each tenant that is tables and warm indexes, read and counted alike.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol, Self, cast

from tiers.paging import linked
from tiers.ports import WarmStore
from tiers.records import Record, Scope
from tiers.upkeep import (
    ARCHIVE_ROWS,
    PAGE_ROWS_MAX,
    Generation,
    Page,
    Table,
    WarmArchive,
    WarmGenerations,
)

if TYPE_CHECKING:
    from tiers.cold.stores import ColdArchive, LeaseStore, TaintStore


Read = Callable[[str, int], Awaitable[Page[Record]]]
"""Returns the page after a cursor, of at most so many rows."""


@dataclass(frozen=True)
class TablePart:
    """A table of the cold tier."""

    name: Table
    rows: int


@dataclass(frozen=True)
class IndexPart:
    """A complete warm index of one embedding model."""

    generation: Generation
    rows: int

    @property
    def name(self) -> str:
        """What it is called in reports and in the ledger."""
        return index_name(self.generation)


Part = TablePart | IndexPart


def index_name(generation: Generation) -> str:
    """Return what a warm index is called: by the model that its vectors are of."""
    return f"warm {generation.model_id or 'words only'}"


async def parts_to_move(source: Side, target: Side, tenant: str) -> tuple[Part, ...]:
    """Return what is to be moved, in order: tables first, causes before effects; then indexes.

    A tier that both houses share stays where it is. Indexes that are still being built stay too:
    the target builds its own. The index marked last comes last, so that it is so at the target.
    """
    ours, theirs = source.house, target.house
    parts: list[Part] = []
    if ours.cold_at != theirs.cold_at:
        counts = {table: await ours.cold.count_rows(tenant, table) for table in ARCHIVE_ROWS}
        parts += [TablePart(table, rows) for table, rows in counts.items()]
    if ours.warm_at != theirs.warm_at:
        graphs = await source.graphs(tenant)
        for generation in reversed(await ours.generations.generations(tenant)):
            if generation.state == "complete":
                rows = await source.count_entries(tenant, generation, graphs)
                parts.append(IndexPart(generation, rows))
    return tuple(parts)


async def reader_of(side: Side, tenant: str, part: Part) -> Read:
    """Return how the part is read on one side."""
    if isinstance(part, TablePart):
        return partial(side.house.cold.export_rows, tenant, part.name)
    index = await side.index(part.generation)

    async def read(cursor: str, limit: int) -> Page[Record]:
        page = await index.export_entries(tenant, cursor, limit)
        return Page[Record](rows=page.rows, cursor=page.cursor)

    return read


@dataclass(frozen=True)
class House:
    """The tiers of one end of a move. The hot tier is a cache, rebuilt from cold: it stays behind.

    Attributes:
        cold: Everything that is true.
        generations: The warm indexes, whose vectors move as they are.
        leases: Keep two moves from going into the same house at once.
        taint: Knows the roll-backs that are open: what they have set aside does not move.
        cold_at: Where the cold tier is. Shown and written down, so without any secret; two houses
            that say the same share the tier, which then stays where it is.
        warm_at: Where the warm tier is, likewise.
    """

    cold: ColdArchive
    generations: WarmGenerations
    leases: LeaseStore
    taint: TaintStore
    cold_at: str
    warm_at: str

    @property
    def place(self) -> str:
        """Where the whole house is, for people and for the ledger."""
        if self.cold_at == self.warm_at:
            return self.cold_at
        return f"cold {self.cold_at}, warm {self.warm_at}"


class Index(WarmStore, WarmArchive, Protocol):
    """A warm index that can be written and read out, as every ``WarmGenerations`` opens it."""


class Side:
    """A house, and its indexes, each opened once and kept open until the block ends.

    Opening and closing an index takes longer than reading thousands of its entries.
    """

    def __init__(self, house: House) -> None:
        self.house = house
        self._open: dict[str | None, Index] = {}
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self._stack.aclose()

    async def index(self, generation: Generation) -> Index:
        """Return the index of a generation; it is made when new."""
        model = generation.model_id
        if model not in self._open:
            opening = self.house.generations.opened(model, generation.dimensions)
            opened = await self._stack.enter_async_context(opening)
            # The port promises a WarmStore only; what all of them open is an archive as well.
            self._open[model] = cast("Index", opened)
        return self._open[model]

    async def count_entries(self, tenant: str, generation: Generation, graphs: list[str]) -> int:
        """Return how many entries of the tenant's graphs an index has."""
        index = await self.index(generation)
        counts = [await index.count(Scope(tenant=tenant, graph_id=graph)) for graph in graphs]
        return sum(counts)

    async def open_roll_backs(self, tenant: str) -> int:
        """Return how many roll-backs of the tenant can still be undone."""
        count = 0
        for graph_id in await self.graphs(tenant):
            made = await self.house.taint.roll_backs(Scope.of_graph(tenant, graph_id))
            count += sum(one.state == "open" for one in made)
        return count

    async def graphs(self, tenant: str) -> list[str]:
        """Return the ids of the tenant's graphs."""
        rows = self.house.cold.export_rows
        pages = linked(lambda cursor: rows(tenant, "graphs", cursor, PAGE_ROWS_MAX))
        return [str(getattr(graph, "id", "")) async for page in pages for graph in page.rows]

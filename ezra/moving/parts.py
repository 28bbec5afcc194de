"""What there is to move of a tenant: tables and warm indexes, each read and counted alike."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from tiers.records import Record
from tiers.upkeep import ARCHIVE_ROWS, Generation, Page, Table

from .side import Side

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


async def parts_of(source: Side, target: Side, tenant: str) -> tuple[Part, ...]:
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

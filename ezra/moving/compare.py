"""Whether two houses hold the same of a tenant: by counts, digests, and where they differ, rows."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from tiers.paging import linked

from .digest import RowPrint, Tally, bucket_of, prints_of, same_row
from .report import Difference, MovedPart, Vectors
from .side import IndexPart, Part, Read, Side, reader_of

COMPARE_ROWS = 500
ROWS_AT_ONCE = 20_000
"""Rows of each side that are held in memory while what differs is looked for."""

Count = Callable[[int], Awaitable[None]]


@dataclass(frozen=True)
class Compared:
    """A part as it is on both sides, and how the sides differ, if they do."""

    part: MovedPart
    difference: Difference | None


async def compare_part(
    source: Side, target: Side, tenant: str, part: Part, new: int, counted: Count
) -> Compared:
    """Compare one table or index, row by row.

    Args:
        source: One side; only read.
        target: The other; only read.
        tenant: Whose.
        part: What.
        new: How many rows this run wrote, for the report.
        counted: Told how many rows have been read.
    """
    if isinstance(part, IndexPart) and not await _is_complete(target, tenant, part):
        moved = MovedPart(part.name, part.rows, 0, new, "")
        problem = "the target has no complete index of this model"
        return Compared(moved, Difference(tenant, part.name, problem))
    ours, theirs = await reader_of(source, tenant, part), await reader_of(target, tenant, part)
    mine, other = await tally(ours, counted), await tally(theirs, counted)
    buckets = mine.differing(other)
    found = await _first_difference(ours, theirs, mine, other) if buckets else None
    vectors: Vectors | None = None
    if isinstance(part, IndexPart) and part.generation.model_id and found is None:
        vectors = "within 1e-6" if buckets else "bit for bit"
    moved = MovedPart(part.name, mine.count, other.count, new, mine.digest, vectors)
    return Compared(moved, None if found is None else Difference(tenant, part.name, *found))


async def tally(read: Read, counted: Count) -> Tally:
    """Return the number and digest of all rows."""
    total = Tally()
    async for page in linked(lambda cursor: read(cursor, COMPARE_ROWS)):
        # A page takes some tens of milliseconds, which the event loop must not wait for.
        await asyncio.to_thread(lambda rows: total.add(prints_of(rows)), page.rows)
        await counted(len(page.rows))
    return total


async def _is_complete(side: Side, tenant: str, part: IndexPart) -> bool:
    wanted = (part.generation.model_id, part.generation.dimensions, "complete")
    known = await side.house.generations.generations(tenant)
    return wanted in [(one.model_id, one.dimensions, one.state) for one in known]


async def _first_difference(
    ours: Read, theirs: Read, mine: Tally, other: Tally
) -> tuple[str, str] | None:
    """Return what differs, in words, and the first row's name; ``None`` if only last bits do.

    The rows of the buckets that differ are read again, a bounded number at once.
    """
    sizes = [max(pair) for pair in zip(mine.rows, other.rows, strict=True)]
    for group in _groups(mine.differing(other), sizes):
        one, another = await _rows_in(ours, group), await _rows_in(theirs, group)
        differing = sorted(
            name
            for name in one.keys() | another.keys()
            if not same_row(one.get(name), another.get(name))
        )
        if differing:
            missing = sum(name not in another for name in differing)
            extra = sum(name not in one for name in differing)
            changed = len(differing) - missing - extra
            words = f"{missing} rows are missing, {extra} are not the source's, {changed} differ"
            # Other buckets may hold more: they are not looked at once it is known that it fails.
            return f"at least {words}", differing[0]
    return None


async def _rows_in(read: Read, buckets: Sequence[int]) -> dict[str, RowPrint]:
    wanted = frozenset(buckets)
    rows: dict[str, RowPrint] = {}
    async for page in linked(lambda cursor: read(cursor, COMPARE_ROWS)):
        found = await asyncio.to_thread(prints_of, page.rows)
        rows |= {row.name: row for row in found if bucket_of(row) in wanted}
    return rows


def _groups(buckets: Sequence[int], sizes: Sequence[int]) -> list[list[int]]:
    """Cut buckets into groups of at most ``ROWS_AT_ONCE`` rows, each at least one bucket."""
    groups: list[list[int]] = []
    held = 0
    for bucket in buckets:
        held += sizes[bucket]
        if not groups or held > ROWS_AT_ONCE:
            groups.append([])
            held = sizes[bucket]
        groups[-1].append(bucket)
    return groups

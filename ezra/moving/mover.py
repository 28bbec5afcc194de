"""Moving everything a memory holds into another house, and proving that it arrived.

Per tenant: tables page by page, causes before effects; then each complete warm index, vectors as
they are, its mark last; then everything is compared. The source is only read. Whoever dies in
between goes on at the next call: the ledger says where, and a row that is written twice is there
once.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tiers.errors import Conflict, NotFound, UsageError
from tiers.ids import Clock, system_clock
from tiers.records import IndexEntry, Record, Scope
from tiers.upkeep import ARCHIVE_ROWS

from .compare import compare_part
from .ledger import Ledger, Place
from .report import (
    KEYS_STAY,
    Difference,
    MovedPart,
    MoveReport,
    Progress,
    Step,
    TenantMoved,
    TenantState,
    set_aside_stays,
)
from .side import (
    House,
    Index,
    IndexPart,
    Part,
    Side,
    TablePart,
    index_name,
    parts_to_move,
    reader_of,
)

if TYPE_CHECKING:
    from tiers.cold.stores import Lease, LeaseStore


PAGE_ROWS = 500
ROWS_COMPARED = 2
ROWS_MOVED = 1 + ROWS_COMPARED
"""How often each row is counted: copied once, and read once on each side to compare."""


async def move(
    source: House,
    target: House,
    tenants: Sequence[str],
    progress: Progress,
    *,
    ledger: Path,
    clock: Clock = system_clock,
    page_rows: int = PAGE_ROWS,
) -> MoveReport:
    """Move tenants from one house into another, or go on with a move that was interrupted.

    A tenant that was moved before is left as it is and compared again: either side may have changed
    since. One whose sides differ is reported with its differences.

    Args:
        source: Where from; only read, and not to be written by others meanwhile.
        target: Where to; without the tenants, except for what this very move has written.
        tenants: Which; empty for all.
        progress: Told of every page.
        ledger: The file that says how far the move has come; made when new.
        clock: Where the time comes from.
        page_rows: Rows that are moved at once, 1 to ``PAGE_ROWS_MAX``.

    Raises:
        Conflict: The target holds something else, or another move is going into it, or the source
            has changed since the move began.
        ConfigError: The ledger cannot be used, or is of another move.
        NotFound: The source has no such tenant.
        UsageError: The houses are the same.
    """
    started = time.monotonic()
    chosen = await _chosen(source, target, tenants)
    async with Ledger(ledger, source.place, target.place) as book:
        todo = [tenant for tenant in chosen if not book.is_finished(tenant)]
        before = [tenant for tenant in chosen if book.is_finished(tenant)]
        fresh = [tenant for tenant in todo if not book.has_begun(tenant)]
        await check_empty(source, target, fresh)
        done: dict[str, TenantMoved] = {}
        if todo:
            async with held(target.leases, book.id, clock) as keep:
                # Once more: until the lease was taken, another move could have come first.
                await check_empty(source, target, fresh)
                for tenant in fresh:
                    await forget_empty_indexes(source, target, tenant)
                async with Side(source) as one, Side(target) as other:
                    plan = {tenant: await parts_to_move(one, other, tenant) for tenant in todo}
                    course = Course(progress, _rows(plan) * ROWS_MOVED, keep)
                    copier = Copier(one, other, book, course, page_rows)
                    for tenant, parts in plan.items():
                        done[tenant] = await _move_tenant(copier, tenant, parts, clock)
    notes = list(await _notes(source, target, todo))
    if before:
        for again in (await verify(source, target, before, progress)).tenants:
            has_changed = bool(again.differences)
            done[again.tenant] = again if has_changed else replace(again, state="moved before")
            if has_changed:
                notes.append(
                    f"tenant {again.tenant}: was moved before, and a side has changed since; "
                    f"nothing was written. To move it again, delete {ledger} and name an empty "
                    "target"
                )
    moved = tuple(done[one] for one in chosen)
    return MoveReport(source.place, target.place, moved, tuple(notes), time.monotonic() - started)


async def verify(
    source: House, target: House, tenants: Sequence[str], progress: Progress
) -> MoveReport:
    """Compare two houses without writing anything.

    Raises:
        NotFound: The source has no such tenant.
        UsageError: The houses are the same.
    """
    started = time.monotonic()
    chosen = await _chosen(source, target, tenants)
    async with Side(source) as one, Side(target) as other:
        plan = {tenant: await parts_to_move(one, other, tenant) for tenant in chosen}
        course = Course(progress, _rows(plan) * ROWS_COMPARED)
        moved = [
            await _compared(one, other, tenant, parts, {}, course) for tenant, parts in plan.items()
        ]
    notes = await _notes(source, target, chosen)
    seconds = time.monotonic() - started
    return MoveReport(source.place, target.place, tuple(moved), notes, seconds)


async def _move_tenant(
    copier: Copier, tenant: str, parts: Sequence[Part], clock: Clock
) -> TenantMoved:
    """Copy and compare one tenant."""
    book = copier.book
    await book.begin(tenant)
    new = {part.name: await copier.copy(tenant, part) for part in parts}
    moved = await _compared(copier.source, copier.target, tenant, parts, new, copier.course)
    if moved.differences:
        return moved
    await book.finish(tenant, clock())
    return replace(moved, state="moved")


async def _compared(
    source: Side,
    target: Side,
    tenant: str,
    parts: Sequence[Part],
    new: Mapping[str, int],
    course: Course,
) -> TenantMoved:
    moved: list[MovedPart] = []
    differences: list[Difference] = []
    for part in parts:
        counted = partial(course.step, tenant, part.name)
        found = await compare_part(source, target, tenant, part, new.get(part.name, 0), counted)
        moved.append(found.part)
        differences += [found.difference] if found.difference else []
    state: TenantState = "differs" if differences else "equal"
    return TenantMoved(tenant, state, tuple(moved), tuple(differences))


async def _chosen(source: House, target: House, tenants: Sequence[str]) -> list[str]:
    """Return the tenants to move, sorted."""
    if (source.cold_at, source.warm_at) == (target.cold_at, target.warm_at):
        raise UsageError("target", target.place, "another place than the source's")
    known = await source.cold.tenants()
    for tenant in tenants:
        if tenant not in known:
            raise NotFound("tenant", tenant)
    return sorted(set(tenants or known))


async def _notes(source: House, target: House, tenants: Sequence[str]) -> tuple[str, ...]:
    notes = ["hot tier: not moved, it is a cache and is rebuilt from cold", KEYS_STAY]
    if source.cold_at == target.cold_at:
        notes.append(f"cold tier: stays in {source.cold_at}")
    else:
        notes += await _set_aside(source, tenants)
    if source.warm_at == target.warm_at:
        notes.append(f"warm tier: stays in {source.warm_at}")
        return tuple(notes)
    for tenant in tenants:
        for one in await source.generations.generations(tenant):
            if one.state != "complete":
                far = f"{one.done} of {one.total}"
                notes.append(
                    f"tenant {tenant}: {index_name(one)} was still being built ({far}); "
                    "the target builds its own"
                )
    return tuple(notes)


async def _set_aside(source: House, tenants: Sequence[str]) -> list[str]:
    async with Side(source) as side:
        counts = {tenant: await side.open_roll_backs(tenant) for tenant in tenants}
    return [f"tenant {name}: {set_aside_stays(count)}" for name, count in counts.items() if count]


def _rows(plan: Mapping[str, Sequence[Part]]) -> int:
    return sum(part.rows for parts in plan.values() for part in parts)


async def check_empty(source: House, target: House, tenants: Sequence[str]) -> None:
    """Refuse a target that holds something of a tenant of which this move has written nothing.

    Raises:
        Conflict: It does; names the tenant and what is there.
    """
    for tenant in tenants:
        found = [] if source.cold_at == target.cold_at else await _tables_in(target, tenant)
        if source.warm_at != target.warm_at:
            found += await _indexes_in(target, tenant)
        if found:
            raise Conflict(
                f"target of the move, tenant {tenant}", "nothing of it", ", ".join(found)
            )


async def forget_empty_indexes(source: House, target: House, tenant: str) -> None:
    """Drop indexes that say they are complete because the target was opened when it was empty."""
    if source.warm_at != target.warm_at:
        for one in await target.generations.generations(tenant):
            await target.generations.drop(tenant, one.model_id)


async def _tables_in(house: House, tenant: str) -> list[str]:
    counts = [(table, await house.cold.count_rows(tenant, table)) for table in ARCHIVE_ROWS]
    return [f"{rows} {table}" for table, rows in counts if rows]


async def _indexes_in(house: House, tenant: str) -> list[str]:
    """Return the indexes that hold an entry of the tenant."""
    found = []
    async with Side(house) as side:
        for one in await house.generations.generations(tenant):
            index = await side.index(one)
            if (await index.export_entries(tenant, "", 1)).rows:
                found.append(index_name(one))
    return found


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


LEASE_NAME = "move"
LEASE_SECONDS = 120.0


@dataclass(frozen=True)
class Course:
    """Tells of every page, and keeps the lease while there are pages."""

    progress: Progress
    total: int
    keep: Callable[[], Awaitable[None]] | None = None

    async def step(self, tenant: str, part: str, rows: int) -> None:
        """Note that a page of so many rows of a part is done."""
        self.progress(Step(tenant, part, rows, self.total))
        if self.keep is not None:
            await self.keep()


@asynccontextmanager
async def held(
    leases: LeaseStore, owner: str, clock: Clock
) -> AsyncIterator[Callable[[], Awaitable[None]]]:
    """Hold the target for this move; what is yielded keeps it, and is to be called now and then.

    Raises:
        Conflict: On entering or keeping: another move holds it.
    """

    async def taken() -> Lease:
        lease = await leases.acquire(LEASE_NAME, owner, LEASE_SECONDS, clock())
        if lease is None:
            raise Conflict("move into the target", "no other", "another move that has not ended")
        return lease

    held = await taken()

    async def keep() -> None:
        nonlocal held
        if clock() + timedelta(seconds=LEASE_SECONDS / 2) > held.expires_at:
            held = await taken()

    try:
        yield keep
    finally:
        await leases.release(held)

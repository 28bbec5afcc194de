"""Moving everything a memory holds into another house, and proving that it arrived.

Per tenant: tables page by page, causes before effects; then each complete warm index, vectors as
they are, its mark last; then everything is compared. The source is only read. Whoever dies in
between goes on at the next call: the ledger says where, and a row that is written twice is there
once.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from tiers.errors import NotFound, UsageError
from tiers.ids import Clock, system_clock

from .compare import compare_part
from .copying import Copier
from .hold import Course, held
from .house import House
from .ledger import Ledger
from .parts import Part, index_name, parts_of
from .report import (
    Difference,
    MovedPart,
    MoveReport,
    Progress,
    TenantMoved,
    TenantState,
)
from .side import Side
from .target import check_empty, forget_empty_indexes

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

    A tenant that was moved before is left as it is. One whose sides differ at the end is reported
    with its differences, and compared again the next time.

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
                    plan = {tenant: await parts_of(one, other, tenant) for tenant in todo}
                    course = Course(progress, _rows(plan) * ROWS_MOVED, keep)
                    copier = Copier(one, other, book, course, page_rows)
                    for tenant, parts in plan.items():
                        done[tenant] = await _moved(copier, tenant, parts, clock)
    moved = tuple(done.get(one) or TenantMoved(one, "moved before") for one in chosen)
    notes = await _notes(source, target, todo)
    return MoveReport(source.place, target.place, moved, notes, time.monotonic() - started)


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
        plan = {tenant: await parts_of(one, other, tenant) for tenant in chosen}
        course = Course(progress, _rows(plan) * ROWS_COMPARED)
        moved = [
            await _compared(one, other, tenant, parts, {}, course) for tenant, parts in plan.items()
        ]
    notes = await _notes(source, target, chosen)
    seconds = time.monotonic() - started
    return MoveReport(source.place, target.place, tuple(moved), notes, seconds)


async def _moved(copier: Copier, tenant: str, parts: Sequence[Part], clock: Clock) -> TenantMoved:
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
    notes = ["hot tier: not moved, it is a cache and is rebuilt from cold"]
    if source.cold_at == target.cold_at:
        notes.append(f"cold tier: stays in {source.cold_at}")
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


def _rows(plan: Mapping[str, Sequence[Part]]) -> int:
    return sum(part.rows for parts in plan.values() for part in parts)

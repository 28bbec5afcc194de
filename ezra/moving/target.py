"""What has to be true of a target before a move begins."""

from __future__ import annotations

from collections.abc import Sequence

from tiers.errors import Conflict
from tiers.upkeep import ARCHIVE_ROWS

from .house import House
from .parts import index_name
from .side import Side


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

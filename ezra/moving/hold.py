"""Keeping a house for one move while it runs, and telling how far it is."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from tiers.errors import Conflict
from tiers.ids import Clock

from .report import Progress, Step

if TYPE_CHECKING:
    from tiers.cold.stores import Lease, LeaseStore

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

"""The clock: APScheduler says when, a lease says who, a supervised task does the pass.

APScheduler 3 has no leader: two schedulers on one store both fire. So it only wakes our own
task here, and the task works only while it holds the named lease.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Self

from apscheduler.executors.debug import DebugExecutor
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.interval import IntervalTrigger

if TYPE_CHECKING:
    from tiers.cold.stores import Lease, LeaseStore


log = logging.getLogger(__name__)

LEASE_SECONDS = 60.0
REST_SECONDS = 0.1
"""Between two passes of one beat, so that a busy fleet's work is done in batches."""


@dataclass(frozen=True)
class Beat:
    """One recurring pass.

    Attributes:
        name: Also names the lease: two beats of one name and group never run at once.
        seconds: From one tick to the next.
        run: The pass. It bounds itself; what it raises is logged, and the next tick tries again.
        leased: Whether only one runtime at a time may run it; else each does, and the pass itself
            takes what it needs.
    """

    name: str
    seconds: float
    run: Callable[[], Awaitable[object]]
    leased: bool = True


class MetaAgentClock:
    """Runs beats in the background for as long as the context is open.

    Args:
        beats: What to run.
        leases: Where the right to run is taken.
        owner: Names this runtime in the leases.
        clock: Where the time comes from.
        group: Stands before the leases' names; runtimes of different groups never wait for each
            other.
    """

    def __init__(
        self,
        beats: Sequence[Beat],
        leases: LeaseStore,
        owner: str,
        clock: Callable[[], datetime],
        group: str = "",
    ) -> None:
        self._beats = {beat.name: beat for beat in beats}
        self._leases = leases
        self._owner = owner
        self._clock = clock
        self._group = group
        self._due = {beat.name: asyncio.Event() for beat in beats}
        self._held: dict[str, Lease] = {}
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        # A tick only sets a flag, so it is done on the spot: the default takes a thread for it, and
        # calls it an error when closing overtakes one.
        scheduler = AsyncIOScheduler(executors={"default": DebugExecutor()})
        for beat in self._beats.values():
            scheduler.add_job(
                self._due[beat.name].set,
                IntervalTrigger(seconds=beat.seconds),
                coalesce=True,
                misfire_grace_time=None,
            )
            task = asyncio.create_task(self._supervise(beat), name=f"ezra {beat.name}")
            self._stack.push_async_callback(_stop, task)
        scheduler.start()
        self._stack.callback(scheduler.shutdown, wait=False)
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._stack.aclose()
        for lease in self._held.values():
            await self._leases.release(lease)
        self._held.clear()

    def wake(self, name: str) -> None:
        """Let a beat run now instead of at its next tick."""
        self._due[name].set()

    async def _supervise(self, beat: Beat) -> None:
        due = self._due[beat.name]
        while True:
            await due.wait()
            due.clear()
            try:
                if not beat.leased or await self._may_run(beat.name):
                    await beat.run()
            except Exception:  # the supervisor: one bad pass must not stop all later ones
                log.exception("the %s pass failed and is tried again at its next tick", beat.name)
            await asyncio.sleep(REST_SECONDS)

    async def _may_run(self, name: str) -> bool:
        lease_name = f"{self._group}/{name}" if self._group else name
        lease = await self._leases.acquire(lease_name, self._owner, LEASE_SECONDS, self._clock())
        if lease is None:
            self._held.pop(name, None)
            return False
        self._held[name] = lease
        return True


async def _stop(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait([task])

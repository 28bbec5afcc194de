"""Durable work: claim a batch, hand it to its agent, complete, defer, retry or park each item.

At least once: an item whose process dies is claimed again when its lease runs out, so handlers
are idempotent. Who is to blame for the death is found out then: what was claimed with it runs
alone, and only what runs alone is charged an attempt. While a handler is at work its claims are
renewed, so that slow work (a language model) is not begun a second time elsewhere. Nothing here
knows what the work is.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Protocol

from tiers.concurrency import together
from tiers.errors import DiskFull, EzraError, TierError, TierTimeout
from tiers.records import Scope, Work, WorkDraft, WorkKind

if TYPE_CHECKING:
    from tiers.cold.stores import WorkQueue

log = logging.getLogger(__name__)

ATTEMPTS_MAX = 5
RETRY_SECONDS_FIRST = 2.0
RETRY_SECONDS_MAX = 300.0
LEASE_SECONDS = 120.0
RENEWALS_PER_LEASE = 3
HANDLER_SECONDS_MAX = 900.0
"""A handler that takes longer hangs: its stores and its model have deadlines of their own."""

BATCH_LIMIT = 64
PASSES_MAX = 100_000
GATHERING_SECONDS = 0.1
"""So long a worker that keeps up lets work gather between two passes."""
FULL_SECONDS = 15.0
"""So long work waits for room on a full disk before it is tried again."""
UNFENCED: frozenset[WorkKind] = frozenset({"index"})
"""Work on a store that knows no claims: it takes what comes late of one that has run out."""
GIVE_BACK_SECONDS_MAX = 2.0
"""A pass that is told to stop gives back what it holds for so long; leases end the rest."""


class WorkHandler(Protocol):
    """Carries out work of one kind."""

    async def handle(self, items: Sequence[Work], now: datetime) -> Mapping[str, datetime]:
        """Carry out ``items``, all or none of them; repeating must be harmless.

        Returns:
            For items that are not finished but have not failed either, by id: when to come back.
        """
        ...


@dataclass
class WorkReport:
    """What one pass did, by kind of work."""

    completed: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    deferred: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    failed: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    problems: list[str] = field(default_factory=list)

    @property
    def claimed(self) -> int:
        """How many items the pass touched."""
        return sum(sum(part.values()) for part in (self.completed, self.deferred, self.failed))

    def add(self, other: WorkReport) -> None:
        """Add another pass to this one."""
        for mine, theirs in (
            (self.completed, other.completed),
            (self.deferred, other.deferred),
            (self.failed, other.failed),
        ):
            for kind, count in theirs.items():
                mine[kind] += count
        self.problems.extend(other.problems)


def retry_seconds(failures: int) -> float:
    """Return how long to wait after so many failures in a row: 2 seconds, doubling to 5 minutes."""
    doubled = RETRY_SECONDS_FIRST * 2.0 ** min(failures - 1, 16)
    return min(doubled, RETRY_SECONDS_MAX)


def retry_at(attempts: int, now: datetime) -> datetime | None:
    """Return when an item that failed ``attempts`` times, at most five, runs again.

    ``None`` parks it.
    """
    if attempts >= ATTEMPTS_MAX:
        return None
    return now + timedelta(seconds=retry_seconds(attempts))


def batches_of(items: Sequence[Work]) -> list[list[Work]]:
    """Return in which company items run, and in which order.

    What nobody suspects goes together by kind and graph. An item that was lost with its process
    may have killed it, so it runs alone; last, and the least suspected first, so that what kills
    again keeps nothing else from being done.
    """
    together: dict[tuple[WorkKind, str, str], list[Work]] = defaultdict(list)
    for item in items:
        if not item.was_lost:
            together[item.kind, item.tenant, item.graph_id].append(item)
    lost = sorted((item for item in items if item.was_lost), key=lambda item: item.attempts)
    return [*together.values(), *([item] for item in lost)]


@dataclass(eq=False)
class Worker:
    """Runs queued work of the kinds it has handlers for.

    Attributes:
        queue: The durable queue.
        handlers: Who carries out which kind.
        owner: Names this runtime in the leases it takes.
        clock: Where the time comes from.
        tenant: Whose work it does; everybody's if not given.
        lease_seconds: How long a claim holds without being renewed: after so long, the work of a
            process that died is taken over.
    """

    queue: WorkQueue
    handlers: Mapping[WorkKind, WorkHandler]
    owner: str
    clock: Callable[[], datetime]
    tenant: str | None = None
    lease_seconds: float = LEASE_SECONDS
    _pass: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    _is_full: bool = field(default=False, init=False)

    @property
    def kinds(self) -> tuple[WorkKind, ...]:
        """The kinds of work this worker carries out."""
        return tuple(self.handlers)

    async def run_once(self, scope: Scope | None = None) -> WorkReport:
        """Claim one batch and carry it out. Never raises for an item that fails.

        One pass at a time: who calls during a pass waits, so that what the other pass claimed is
        done when this one returns.
        """
        async with self._pass:
            return await self._run_claimed(scope)

    async def drain(self, scope: Scope | None = None) -> WorkReport:
        """Run passes until nothing is due. Items that wait for a retry stay where they are."""
        report = WorkReport()
        for _ in range(PASSES_MAX):
            done = await self.run_once(scope)
            if not done.claimed:
                break
            report.add(done)
        return report

    async def keep_up(self) -> None:
        """Run passes until nothing is due, with a rest behind each that was not full.

        What is queued meanwhile goes together in the next: a pass costs nearly the same for one
        item as for twenty.
        """
        for _ in range(PASSES_MAX):
            done = await self.run_once()
            if not done.claimed:
                break
            if done.claimed < BATCH_LIMIT:
                await asyncio.sleep(GATHERING_SECONDS)

    async def _run_claimed(self, scope: Scope | None) -> WorkReport:
        report = WorkReport()
        items = await self.queue.claim(
            self.kinds,
            self.owner,
            BATCH_LIMIT,
            self.lease_seconds,
            self.clock(),
            tenant=self.tenant,
            scope=scope,
        )
        if not items:
            return report
        held = {item.id: item for item in items}
        try:
            async with self._renewing(held):
                for item in [item for item in items if item.attempts >= ATTEMPTS_MAX]:
                    del held[item.id]
                    await self._give_up(item, report)
                for batch in batches_of(list(held.values())):
                    await self._run_batch(batch, held, report)
        except asyncio.CancelledError:
            await self._give_back_all(held.values())
            raise
        return report

    async def _give_back_all(self, held: Iterable[Work]) -> None:
        """Let others have at once what a pass held when it was told to stop: nobody failed."""
        now = self.clock()
        try:
            async with asyncio.timeout(GIVE_BACK_SECONDS_MAX):
                for item in list(held):
                    await self.queue.defer(item, now)
        except (TierError, TimeoutError) as error:
            log.warning("claimed work was not given back and waits for its lease: %s", error)

    @asynccontextmanager
    async def _renewing(self, held: Mapping[str, Work]) -> AsyncIterator[None]:
        """Renew what is still held for the length of the block."""

        async def renew() -> None:
            while True:
                await asyncio.sleep(self.lease_seconds / RENEWALS_PER_LEASE)
                for item in list(held.values()):
                    try:
                        await self.queue.renew(item, self.lease_seconds, self.clock())
                    except TierError as error:
                        log.warning("the claim of work %s was not renewed: %s", item.key, error)

        renewing = asyncio.create_task(renew(), name="ezra renews claims")
        try:
            yield
        finally:
            renewing.cancel()
            await asyncio.wait([renewing])

    async def _handled(self, batch: Sequence[Work]) -> Mapping[str, datetime]:
        handler = self.handlers[batch[0].kind]
        limit = asyncio.timeout(HANDLER_SECONDS_MAX)
        try:
            async with limit:
                return await handler.handle(batch, self.clock())
        except TimeoutError as late:
            if not limit.expired():
                raise
            reason = f"not done within {HANDLER_SECONDS_MAX:g} s"
            raise TierTimeout("work", batch[0].kind, reason) from late

    async def _run_batch(
        self, batch: Sequence[Work], held: dict[str, Work], report: WorkReport
    ) -> None:
        if len(batch) == 1 and not await self.queue.begin(batch[0]):
            del held[batch[0].id]  # somebody else's by now
            return
        try:
            later = await self._handled(batch)
        except DiskFull as full:
            await self._wait_for_room(batch, held, full, report)
            return
        except EzraError as error:
            if len(batch) > 1:
                # One item may be the poison: alone, it can only take itself down.
                for item in batch:
                    await self._run_batch([item], held, report)
            else:
                del held[batch[0].id]
                await self._give_back(batch[0], error, report)
            return
        self._is_full = False
        done = [item for item in batch if item.id not in later]
        for item in await self.queue.complete_all(done):
            if item.kind in UNFENCED:
                await self._repeat(item)
        for item in done:
            report.completed[item.kind] += 1
            del held[item.id]
        # At one time: an engine may let writes that wait together share a commit.
        put_off = (
            self._put_off(item, later[item.id], held, report) for item in batch if item.id in later
        )
        await together(put_off, ends_all=True)

    async def _put_off(
        self, item: Work, until: datetime, held: dict[str, Work], report: WorkReport
    ) -> None:
        await self.queue.defer(item, until)
        report.deferred[item.kind] += 1
        del held[item.id]

    async def _repeat(self, item: Work) -> None:
        """Queue an item again whose claim ran out while it was carried out here.

        What came late of that may lie over what the later claimant made of a newer state.
        """
        again = WorkDraft(
            kind=item.kind, key=item.key, agent_id=item.agent_id, payload=item.payload
        )
        await self.queue.enqueue(item.scope, [again], self.clock())

    async def _wait_for_room(
        self, batch: Sequence[Work], held: dict[str, Work], full: DiskFull, report: WorkReport
    ) -> None:
        """Put a batch off: no item is to blame for a full disk, and none is parked for it."""
        if not self._is_full:
            log.warning("work waits for room: %s", full)
        self._is_full = True
        later = self.clock() + timedelta(seconds=FULL_SECONDS)
        for item in batch:
            del held[item.id]
            await self.queue.defer(item, later)
            report.deferred[item.kind] += 1
        report.problems.append(str(full))

    async def _give_up(self, item: Work, report: WorkReport) -> None:
        """Park an item whose attempts ended without an outcome: they took the pass or process."""
        problem = f"{ATTEMPTS_MAX} attempts ended without an outcome; {item.problem or 'no reason'}"
        await self.queue.fail(item, problem, None)
        report.failed[item.kind] += 1
        report.problems.append(f"{item.kind} {item.key}: {problem}")
        # Problems may quote content: they stay in the queue, whose parked work can be read.
        log.error("work %s (%s) is parked: no attempt had an outcome", item.key, item.kind)

    async def _give_back(self, item: Work, error: EzraError, report: WorkReport) -> None:
        problem = f"{type(error).__name__}: {error}"
        again = retry_at(item.attempts + 1, self.clock())
        await self.queue.fail(item, problem, again)
        report.failed[item.kind] += 1
        report.problems.append(f"{item.kind} {item.key}: {problem}")
        name = type(error).__name__
        log.warning("work %s (%s) failed, %s: %s", item.key, item.kind, again or "parked", name)

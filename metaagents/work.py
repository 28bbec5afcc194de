"""Durable work: claim a batch, hand it to its agent, complete, defer, retry or park each item.

At least once: an item whose process dies is claimed again when its lease runs out, so handlers
are idempotent. Nothing here knows what the work is.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from tiers.errors import EzraError
from tiers.ports import WorkQueue
from tiers.records import Scope, Work, WorkKind

log = logging.getLogger(__name__)

ATTEMPTS_MAX = 5
RETRY_SECONDS_FIRST = 2.0
RETRY_SECONDS_MAX = 300.0
LEASE_SECONDS = 120.0
BATCH_LIMIT = 64
PASSES_MAX = 100_000


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


def retry_at(attempts: int, now: datetime) -> datetime | None:
    """Return when an item that failed ``attempts`` times runs again; ``None`` parks it.

    Doubles from 2 seconds up to 5 minutes, five attempts in all.
    """
    if attempts >= ATTEMPTS_MAX:
        return None
    seconds = min(RETRY_SECONDS_FIRST * 2 ** (attempts - 1), RETRY_SECONDS_MAX)
    return now + timedelta(seconds=seconds)


class Worker:
    """Runs queued work of the kinds it has handlers for.

    Args:
        queue: The durable queue.
        handlers: Who carries out which kind.
        owner: Names this runtime in the leases it takes.
        clock: Where the time comes from.
        tenant: Whose work it does; everybody's if not given.
    """

    def __init__(
        self,
        queue: WorkQueue,
        handlers: Mapping[WorkKind, WorkHandler],
        owner: str,
        clock: Callable[[], datetime],
        tenant: str | None = None,
    ) -> None:
        self._queue = queue
        self._handlers = handlers
        self._owner = owner
        self._clock = clock
        self._tenant = tenant
        self._pass = asyncio.Lock()

    @property
    def kinds(self) -> tuple[WorkKind, ...]:
        """The kinds of work this worker carries out."""
        return tuple(self._handlers)

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

    async def _run_claimed(self, scope: Scope | None) -> WorkReport:
        report = WorkReport()
        items = await self._queue.claim(
            self.kinds,
            self._owner,
            BATCH_LIMIT,
            LEASE_SECONDS,
            self._clock(),
            tenant=self._tenant,
            scope=scope,
        )
        batches: dict[tuple[WorkKind, str, str], list[Work]] = defaultdict(list)
        for item in items:
            if item.attempts > ATTEMPTS_MAX:
                await self._give_up(item, report)
            else:
                batches[item.kind, item.tenant, item.graph_id].append(item)
        for batch in batches.values():
            await self._run_batch(batch, report)
        return report

    async def _run_batch(self, batch: Sequence[Work], report: WorkReport) -> None:
        handler = self._handlers[batch[0].kind]
        try:
            later = await handler.handle(batch, self._clock())
        except EzraError as error:
            if len(batch) > 1:
                # One item may be the poison: alone, it can only take itself down.
                for item in batch:
                    await self._run_batch([item], report)
            else:
                await self._give_back(batch[0], error, report)
            return
        for item in batch:
            if item.id in later:
                await self._queue.defer(item, later[item.id])
                report.deferred[item.kind] += 1
            else:
                await self._queue.complete(item)
                report.completed[item.kind] += 1

    async def _give_up(self, item: Work, report: WorkReport) -> None:
        """Park an item whose attempts ended without an outcome: they took the pass or process."""
        problem = f"{ATTEMPTS_MAX} attempts ended without an outcome; {item.problem or 'no reason'}"
        await self._queue.fail(item, problem, None)
        report.failed[item.kind] += 1
        report.problems.append(f"{item.kind} {item.key}: {problem}")
        log.error("work %s (%s) is parked: %s", item.key, item.kind, problem)

    async def _give_back(self, item: Work, error: EzraError, report: WorkReport) -> None:
        problem = f"{type(error).__name__}: {error}"
        again = retry_at(item.attempts, self._clock())
        await self._queue.fail(item, problem, again)
        report.failed[item.kind] += 1
        report.problems.append(f"{item.kind} {item.key}: {problem}")
        log.warning("work %s (%s) failed, %s: %s", item.key, item.kind, again or "parked", problem)

"""Queued work is done at least once and within bounds; the clock ticks, and the lease decides."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from support.processes import PATIENCE_SECONDS
from support.records import scope
from support.runtime import MovingClock

from metaagents import work
from metaagents.clock import Beat, MetaAgentClock
from metaagents.work import ATTEMPTS_MAX, BATCH_LIMIT, LEASE_SECONDS, Worker, WorkReport, retry_at
from tiers.cold.sqlite import ColdStores, sqlite_cold_store
from tiers.errors import TierUnavailable
from tiers.records import Scope, Work, WorkDraft

# Queued work is done at least once, retried within bounds, and never lost or hidden.


class Recorder:
    """A handler that notes what it did, fails for the keys it is told, and defers others."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.poison: set[str] = set()
        self.later: dict[str, datetime] = {}
        self.begun = asyncio.Event()
        self.wait = asyncio.Event()
        self.wait.set()

    async def handle(self, items: Sequence[Work], now: datetime) -> Mapping[str, datetime]:
        """Fail before doing anything if one of the items is poison."""
        del now
        self.begun.set()
        await self.wait.wait()
        if self.poison & {item.key for item in items}:
            raise TierUnavailable("warm", "upsert", "down")
        self.done += [item.key for item in items]
        return {item.id: self.later[item.key] for item in items if item.key in self.later}


@pytest.fixture
async def cold(tmp_path: Path) -> AsyncIterator[ColdStores]:
    """Open a cold store."""
    async with sqlite_cold_store(tmp_path) as stores:
        yield stores


def drafts(*keys: str) -> list[WorkDraft]:
    """Return work to index, one item per key."""
    return [WorkDraft(kind="index", key=key, payload={"id": key}) for key in keys]


async def test_everything_due_is_done_once_in_order(cold: ColdStores) -> None:
    """A drain ends with an empty queue."""
    clock, handler = MovingClock(), Recorder()
    worker = Worker(cold.queue, {"index": handler}, "me", clock)
    await cold.queue.enqueue(scope(), drafts(*(f"{n:03}" for n in range(150))), clock())
    report = await worker.drain()
    assert handler.done == [f"{number:03}" for number in range(150)]
    assert report.completed == {"index": 150}
    assert (await worker.drain()).claimed == 0


async def test_one_poisoned_item_takes_only_itself_down(cold: ColdStores) -> None:
    """The others of its batch are done; it is retried, then parked with its problem."""
    clock, handler = MovingClock(), Recorder()
    handler.poison.add("b")
    worker = Worker(cold.queue, {"index": handler}, "me", clock)
    await cold.queue.enqueue(scope(), drafts("a", "b", "c"), clock())
    report = await worker.drain()
    assert handler.done == ["a", "c"]
    assert report.failed == {"index": 1}
    assert "index b: TierUnavailable" in report.problems[0]
    for _ in range(ATTEMPTS_MAX - 1):
        clock.move(minutes=10)
        await worker.drain()
    (parked,) = await cold.queue.parked()
    assert (parked.key, parked.attempts) == ("b", ATTEMPTS_MAX)
    assert parked.problem == "TierUnavailable: warm tier, upsert: down"
    clock.move(days=1)
    assert (await worker.drain()).claimed == 0
    handler.poison.clear()
    await cold.queue.rerun([parked.id])
    assert (await worker.drain()).completed == {"index": 1}


async def test_deferred_work_comes_back_in_time_and_is_no_failure(cold: ColdStores) -> None:
    """Waiting does not count as an attempt."""
    clock, handler = MovingClock(), Recorder()
    worker = Worker(cold.queue, {"index": handler}, "me", clock)
    await cold.queue.enqueue(scope(), drafts("a"), clock())
    for _ in range(ATTEMPTS_MAX + 2):
        handler.later["a"] = clock() + timedelta(minutes=5)
        assert (await worker.drain()).deferred == {"index": 1}
        assert (await worker.drain()).claimed == 0
        clock.move(minutes=6)
    handler.later.clear()
    assert (await worker.drain()).completed == {"index": 1}


async def test_work_that_comes_meanwhile_is_done_together(
    cold: ColdStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that keeps up rests behind a pass, and what came in that time is one more pass."""
    clock, handler = MovingClock(), Recorder()
    worker = Worker(cold.queue, {"index": handler}, "me", clock)
    passes: list[int] = []
    once = worker.run_once

    async def counted(of: Scope | None = None) -> WorkReport:
        report = await once(of)
        passes.append(report.claimed)
        return report

    monkeypatch.setattr(worker, "run_once", counted)
    await cold.queue.enqueue(scope(), drafts("first"), clock())
    keeping_up = asyncio.create_task(worker.keep_up())
    await handler.begun.wait()  # which has claimed the first
    for key in ("a", "b", "c"):
        await cold.queue.enqueue(scope(), drafts(key), clock())
    await asyncio.wait_for(keeping_up, 10)
    assert passes == [1, 3, 0]
    assert handler.done == ["first", "a", "b", "c"]


async def test_full_passes_follow_each_other_without_rest(
    cold: ColdStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that is behind does not wait for more."""
    monkeypatch.setattr(work, "GATHERING_SECONDS", 3_600)
    clock, handler = MovingClock(), Recorder()
    worker = Worker(cold.queue, {"index": handler}, "me", clock)
    keys = [f"{number:03}" for number in range(2 * BATCH_LIMIT)]
    await cold.queue.enqueue(scope(), drafts(*keys), clock())
    await asyncio.wait_for(worker.keep_up(), PATIENCE_SECONDS)
    assert handler.done == keys


async def test_who_drains_during_a_pass_waits_for_it(cold: ColdStores) -> None:
    """After a drain nothing that was due is still under way elsewhere in this runtime."""
    clock, handler = MovingClock(), Recorder()
    worker = Worker(cold.queue, {"index": handler}, "me", clock)
    await cold.queue.enqueue(scope(), drafts("a"), clock())
    handler.wait.clear()
    first = asyncio.create_task(worker.run_once())
    await asyncio.sleep(0)
    second = asyncio.create_task(worker.drain())
    done, _ = await asyncio.wait([first, second], timeout=0.05)
    assert not done
    handler.wait.set()
    await asyncio.gather(first, second)
    assert handler.done == ["a"]


async def test_work_of_a_runtime_that_died_is_claimed_after_its_lease(cold: ColdStores) -> None:
    """Two runtimes share a queue; the second takes over, and the first may no longer complete."""
    clock, handler = MovingClock(), Recorder()
    worker = Worker(cold.queue, {"index": handler}, "second", clock)
    await cold.queue.enqueue(scope(), drafts("a"), clock())
    (lost,) = await cold.queue.claim(["index"], "first", 1, LEASE_SECONDS, clock())
    assert (await worker.drain()).claimed == 0
    clock.move(seconds=LEASE_SECONDS + 1)
    assert (await worker.drain()).completed == {"index": 1}
    assert not await cold.queue.complete(lost)


async def test_work_that_comes_late_is_done_once_more(cold: ColdStores) -> None:
    """Its claim ran out meanwhile and another did it: what was indexed last may be old."""
    clock, slow, quick = MovingClock(), Recorder(), Recorder()
    late = Worker(cold.queue, {"index": slow}, "slow", clock)
    other = Worker(cold.queue, {"index": quick}, "quick", clock)
    await cold.queue.enqueue(scope(), drafts("a"), clock())
    slow.wait.clear()
    under_way = asyncio.create_task(late.run_once())
    await slow.begun.wait()
    clock.move(seconds=LEASE_SECONDS + 1)
    assert (await other.drain()).completed == {"index": 1}
    slow.wait.set()
    await under_way
    assert (await other.drain()).completed == {"index": 1}
    assert (quick.done, slow.done) == (["a", "a"], ["a"])
    assert (await other.drain()).claimed == 0


async def test_work_that_kills_its_pass_is_parked_in_the_end(cold: ColdStores) -> None:
    """What dies without an outcome, a bug or a crash, is not tried for ever."""
    clock = MovingClock()

    class Deadly:
        async def handle(self, items: Sequence[Work], now: datetime) -> Mapping[str, datetime]:
            raise RuntimeError(items, now)

    worker = Worker(cold.queue, {"index": Deadly()}, "me", clock)
    await cold.queue.enqueue(scope(), drafts("a"), clock())
    for _ in range(ATTEMPTS_MAX):
        with pytest.raises(RuntimeError):
            await worker.drain()
        clock.move(seconds=LEASE_SECONDS + 1)
    report = await worker.drain()
    assert report.failed == {"index": 1}
    (parked,) = await cold.queue.parked()
    assert "without an outcome" in (parked.problem or "")
    clock.move(days=1)
    assert (await worker.drain()).claimed == 0


def test_retries_are_bounded_in_count_and_time() -> None:
    """2, 4, 8, 16 seconds, then parked."""
    now = MovingClock()()
    waits = [retry_at(attempts, now) for attempts in range(1, ATTEMPTS_MAX + 1)]
    assert [(when - now).total_seconds() for when in waits if when] == [2, 4, 8, 16]
    assert waits[-1] is None


# The clock ticks, the lease decides, and one bad pass stops nothing.

SOON = 0.02
LONG = 3600.0


class Passes:
    """Counts passes and lets a test wait for them."""

    def __init__(self, fail_first: int = 0) -> None:
        self.count = 0
        self.running = 0
        self.changed = asyncio.Condition()
        self._fail_first = fail_first

    async def run(self) -> None:
        """Count one pass; the first ones raise."""
        async with self.changed:
            self.count += 1
            self.changed.notify_all()
        if self.count <= self._fail_first:
            raise RuntimeError("a bug in a pass")

    async def reached(self, count: int) -> None:
        """Wait until there were ``count`` passes."""
        async with asyncio.timeout(PATIENCE_SECONDS), self.changed:
            await self.changed.wait_for(lambda: self.count >= count)


async def test_a_beat_runs_again_and_again(tmp_path: Path) -> None:
    """The tick drives the pass without anybody calling it."""
    passes = Passes()
    async with sqlite_cold_store(tmp_path) as cold:
        beat = Beat("learning", SOON, passes.run)
        async with MetaAgentClock([beat], cold.leases, "me", MovingClock()):
            await passes.reached(3)


async def test_a_beat_can_be_woken(tmp_path: Path) -> None:
    """New work need not wait for the next tick."""
    passes = Passes()
    async with sqlite_cold_store(tmp_path) as cold:
        beat = Beat("learning", LONG, passes.run)
        async with MetaAgentClock([beat], cold.leases, "me", MovingClock()) as ticking:
            ticking.wake("learning")
            await passes.reached(1)


async def test_one_bad_pass_does_not_stop_later_ones(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The failure is logged with its trace, and the next tick tries again."""
    passes = Passes(fail_first=1)
    async with sqlite_cold_store(tmp_path) as cold:
        beat = Beat("learning", SOON, passes.run)
        with caplog.at_level(logging.ERROR):
            async with MetaAgentClock([beat], cold.leases, "me", MovingClock()):
                await passes.reached(2)
    assert "a bug in a pass" in caplog.text


async def test_only_the_holder_of_the_lease_works(tmp_path: Path) -> None:
    """Two runtimes tick, one works; when it goes, the other takes over."""
    clock, mine, theirs = MovingClock(), Passes(), Passes()
    async with sqlite_cold_store(tmp_path) as cold:
        second = MetaAgentClock([Beat("learning", LONG, theirs.run)], cold.leases, "b", clock)
        async with second:
            first = MetaAgentClock([Beat("learning", SOON, mine.run)], cold.leases, "a", clock)
            async with first:
                await mine.reached(2)
                second.wake("learning")
                await mine.reached(mine.count + 2)
                assert theirs.count == 0
            second.wake("learning")
            await theirs.reached(1)


async def test_closing_waits_for_the_task_and_leaves_none_behind(tmp_path: Path) -> None:
    """No task of the clock survives its context."""
    async with sqlite_cold_store(tmp_path) as cold:
        before = asyncio.all_tasks()
        async with MetaAgentClock(
            [Beat("learning", SOON, Passes().run)], cold.leases, "me", MovingClock()
        ):
            assert any(task.get_name() == "ezra learning" for task in asyncio.all_tasks())
        assert asyncio.all_tasks() == before


async def test_a_tick_that_closing_overtakes_is_no_error(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A program that held the loop for long and closes at once sees no traceback of a tick."""
    async with sqlite_cold_store(tmp_path) as cold:
        for steps in range(6):
            beat = Beat("learning", SOON, Passes().run)
            async with MetaAgentClock([beat], cold.leases, "me", MovingClock()):
                time.sleep(2 * SOON)  # noqa: ASYNC251 - a program that holds the loop
                for _ in range(steps):  # of the loop, between the tick's being due and its end
                    await asyncio.sleep(0)
    assert caplog.text == ""

"""The clock ticks, the lease decides, and one bad pass stops nothing."""

from __future__ import annotations

import asyncio
import logging
import time
from pathlib import Path

import pytest
from support.processes import PATIENCE_SECONDS
from support.runtime import MovingClock

from metaagents.clock import Beat, MetaAgentClock
from tiers.cold.sqlite import sqlite_cold_store

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

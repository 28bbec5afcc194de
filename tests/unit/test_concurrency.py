"""Questions asked at the same time: what comes back, who is cancelled, and how they run late."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

import ezra
from tiers.concurrency import together
from tiers.deadlines import Deadlines
from tiers.errors import NotFound

# Questions asked at the same time: what comes back, what is raised, and who is cancelled.


class Asked:
    """Questions that note how they ended."""

    def __init__(self) -> None:
        self.ended: list[str] = []

    async def answer(self, name: str, steps: int = 0) -> str:
        """Answer after some steps of the loop."""
        try:
            for _ in range(steps):
                await asyncio.sleep(0)
        except asyncio.CancelledError:
            await asyncio.sleep(0)  # cleaning up takes a step
            self.ended.append(f"{name} cancelled")
            raise
        self.ended.append(name)
        return name

    async def fail(self, name: str, steps: int = 0) -> str:
        """Fail after some steps of the loop."""
        await self.answer(name, steps)
        raise NotFound("agent", name)


def _cancellations() -> int:
    task = asyncio.current_task()
    assert task is not None
    return task.cancelling()


async def test_r9_11_answers_come_in_the_order_of_the_questions() -> None:
    """However long each takes; of nothing asked there is nothing."""
    asked = Asked()
    assert await together([asked.answer("a", 5), asked.answer("b")]) == ["a", "b"]
    assert asked.ended == ["b", "a"]
    assert await together([]) == []


@pytest.mark.parametrize("ends_all", [False, True])
async def test_r9_11_an_error_is_raised_bare_and_nobody_else_is_cancelled(
    *, ends_all: bool
) -> None:
    """The first that failed decides, all have ended by then, and the caller's count stays."""
    asked = Asked()
    questions = [asked.answer("slow", 9), asked.fail("second", 4), asked.fail("first", 1)]
    with pytest.raises(NotFound, match="second" if ends_all else "first"):
        await together(questions, ends_all=ends_all)
    slow = "slow" if ends_all else "slow cancelled"
    assert sorted(asked.ended) == sorted(
        ["first", slow, "second" if ends_all else "second cancelled"]
    )
    assert _cancellations() == 0
    with pytest.raises(TimeoutError):  # with a count of 1 this would be a cancellation
        async with asyncio.timeout(0):
            await asyncio.sleep(60)


@pytest.mark.parametrize("ends_all", [False, True])
async def test_r9_11_a_deadline_around_them_ends_them(*, ends_all: bool) -> None:
    """A question is not left behind, and the deadline is told as one."""
    asked = Asked()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await together([asked.answer("never", 10**9)], ends_all=ends_all)
    assert asked.ended == ["never cancelled"]
    assert _cancellations() == 0


async def test_r9_11_a_cancellation_wins_over_an_error() -> None:
    """Whoever is told to stop stops, even while questions end after a failure."""
    asked = Asked()
    cleaning = asyncio.Event()

    async def cleans_up() -> str:
        try:
            await asyncio.sleep(60)
        finally:
            cleaning.set()
            await asyncio.sleep(0.01)
            asked.ended.append("cleaned")
        return ""

    outer = asyncio.create_task(together([asked.fail("first", 3), cleans_up()]))
    await cleaning.wait()
    outer.cancel()
    with pytest.raises(asyncio.CancelledError):
        await outer
    assert asked.ended == ["first", "cleaned"]


def test_r9_11_no_task_group_runs_in_a_callers_task() -> None:
    """What fails in a task group cancels whoever is around it; ``together`` does not."""
    root = Path(ezra.__file__).parents[1]
    found = [
        str(path.relative_to(root))
        for package in ("ezra", "metaagents", "tiers")
        for path in sorted((root / package).rglob("*.py"))
        if re.search(r"(?<!``asyncio\.)\bTaskGroup\(", path.read_text())
    ]
    assert found == []


# Deadlines of many questions by one timer: they end as ``asyncio.timeout`` ends each.

LONG_SECONDS = 60.0
SHORT_SECONDS = 0.02


async def test_what_is_in_time_goes_through() -> None:
    """A block that ends before its deadline is left alone, and its value is its own."""
    deadlines = Deadlines(LONG_SECONDS)
    with deadlines.within():
        await asyncio.sleep(0)
    with pytest.raises(KeyError), deadlines.within():
        raise KeyError


async def test_what_is_late_ends_with_a_timeout() -> None:
    """A late block is ended, and the task is not left cancelled."""
    deadlines = Deadlines(SHORT_SECONDS)
    for _ in range(2):
        with pytest.raises(TimeoutError), deadlines.within():
            await asyncio.sleep(LONG_SECONDS)
    task = asyncio.current_task()
    assert task is not None
    assert not task.cancelling()
    await asyncio.sleep(0)


async def test_each_block_counts_from_its_own_beginning() -> None:
    """One that begins while the timer of another runs has its whole time, and no more."""
    deadlines = Deadlines(0.2)
    loop = asyncio.get_running_loop()

    async def late(after: float) -> float:
        await asyncio.sleep(after)
        began = loop.time()
        with pytest.raises(TimeoutError), deadlines.within():
            await asyncio.sleep(LONG_SECONDS)
        return loop.time() - began

    async def in_time() -> float:
        with deadlines.within():
            await asyncio.sleep(0)
        return 0.0

    taken = await asyncio.gather(late(0.0), in_time(), late(0.1))
    assert all(one >= 0.19 for one in (taken[0], taken[2]))
    assert all(one < LONG_SECONDS / 2 for one in taken)


async def test_a_cancellation_by_somebody_else_goes_on() -> None:
    """Also where the block is late by then: who cancelled is not told of a timeout."""
    for seconds in (LONG_SECONDS, SHORT_SECONDS):
        deadlines = Deadlines(seconds)

        async def asks(of: Deadlines = deadlines) -> None:
            with of.within():
                try:
                    await asyncio.sleep(LONG_SECONDS)
                except asyncio.CancelledError:
                    await asyncio.sleep(2 * SHORT_SECONDS)
                    raise

        task = asyncio.create_task(asks())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_of_two_blocks_the_outer_one_may_be_late_alone() -> None:
    """The inner one has its own time; the outer one's end is a timeout of the outer one."""
    outer, inner = Deadlines(SHORT_SECONDS), Deadlines(LONG_SECONDS)
    inner_saw: list[type[BaseException]] = []

    async def asks() -> None:
        try:
            with inner.within():
                await asyncio.sleep(LONG_SECONDS)
        except BaseException as error:
            inner_saw.append(type(error))
            raise

    with pytest.raises(TimeoutError), outer.within():
        await asks()
    assert inner_saw == [asyncio.CancelledError]


async def test_nested_blocks_of_one_duration_end_as_one_timeout() -> None:
    """Both are late at about the same time; the task goes on after it."""
    deadlines = Deadlines(SHORT_SECONDS)
    with pytest.raises(TimeoutError), deadlines.within(), deadlines.within():
        await asyncio.sleep(LONG_SECONDS)
    task = asyncio.current_task()
    assert task is not None
    assert not task.cancelling()

"""Deadlines of many questions by one timer: they end as ``asyncio.timeout`` ends each."""

from __future__ import annotations

import asyncio

import pytest

from tiers.deadlines import Deadlines

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

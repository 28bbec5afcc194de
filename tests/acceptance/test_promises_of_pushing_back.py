"""Who writes faster than the index reads waits a little, within bounds, and is never refused."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from support.runtime import MovingClock, running

from ezra.cli.status import health_line
from ezra.handles.recording import BATCH_TURNS
from ezra.rights import backlog
from ezra.rights.backlog import WRITES_PER_LOOK, Backlog
from metaagents import clock
from tiers.turn_io import TurnWrite

MOST = 8
WRITERS = 4


async def test_what_is_recorded_in_bulk_counts_turn_by_turn() -> None:
    """Who writes a hundred at once is looked at as often as who writes as many one by one."""
    looks = 0

    async def depth() -> int:
        nonlocal looks
        looks += 1
        return 0

    held = Backlog(depth, lambda: None, MOST)
    for writes in (WRITES_PER_LOOK - 1, 1, 3, 100 * WRITES_PER_LOOK, 2):
        await held.make_room(writes)
    assert looks == 2


async def test_a_recording_waits_for_the_index(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Not more than a batch above what is allowed waits to be indexed, and nothing is refused."""
    monkeypatch.setattr(clock, "REST_SECONDS", 0.2)
    deepest = 0
    async with running(tmp_path, background=True, index_backlog_max=50) as ezra:
        graph = await ezra.create_session_graph("garage")
        agent = await graph.spawn_agent("agent", topics={"tyres"})
        keeps = type(ezra._runtime.desk).keep_turns

        async def keep_turns(self: object, writes: Sequence[TurnWrite]) -> object:
            nonlocal deepest
            kept = await keeps(self, writes)  # type: ignore[arg-type]
            deepest = max(deepest, (await ezra.waiting_work())["index"])
            return kept

        monkeypatch.setattr(type(ezra._runtime.desk), "keep_turns", keep_turns)
        done = await agent.record({"message": f"Lap {lap} was dry."} for lap in range(500))
        assert done.new == 500
    assert BATCH_TURNS <= deepest <= 50 + BATCH_TURNS


@pytest.mark.parametrize("way", ["turns", "facts", "documents"])
async def test_r9_22_writers_wait_before_the_backlog_grows(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, way: str
) -> None:
    """Writers outrun an indexing that rests: what waits stays near what is allowed."""
    monkeypatch.setattr(clock, "REST_SECONDS", 0.5)
    monkeypatch.setattr(backlog, "WRITES_PER_LOOK", 2)
    deepest = 0
    async with running(tmp_path, background=True, index_backlog_max=MOST) as ezra:
        graph = await ezra.create_session_graph("garage")

        async def write(number: int) -> None:
            nonlocal deepest
            agent = await graph.spawn_agent(f"agent {number}", topics={"tyres"})
            for lap in range(15):
                text = f"Agent {number} saw lap {lap} on tyre {lap * 7}."
                if way == "turns":
                    await (await agent.turn(text)).reply("Noted.")
                elif way == "facts":
                    await agent.remember(text)
                else:
                    await agent.documents.put(f"{number}/{lap}.txt", text)
                deepest = max(deepest, (await ezra.waiting_work())["index"])

        await asyncio.gather(*map(write, range(WRITERS)))
    assert deepest < 3 * MOST  # of the 60 that were written


async def test_r9_22_without_meta_agents_nobody_waits(tmp_path: Path) -> None:
    """Nothing would get shorter by waiting: a command that writes more than allowed goes on."""
    async with running(tmp_path, index_backlog_max=1) as ezra:
        graph = await ezra.create_session_graph("garage")
        agent = await graph.spawn_agent("agent", topics={"tyres"})
        for lap in range(3 * WRITES_PER_LOOK):
            await agent.remember(f"Lap {lap} was dry.")
        assert (await ezra.waiting_work())["index"] == 3 * WRITES_PER_LOOK


async def test_r9_22_where_nothing_is_indexed_writes_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One bounded wait finds that out; the writes after it do not wait again."""
    monkeypatch.setattr(backlog, "WAIT_SECONDS_MAX", 0.2)
    looks = 0

    async def depth() -> int:
        nonlocal looks
        looks += 1
        return 5_000

    held = Backlog(depth, lambda: None, 1_000)
    for _ in range(WRITES_PER_LOOK):
        await held.make_room()
    assert looks > 1
    waited = looks
    began = time.monotonic()
    for _ in range(1_000):
        await held.make_room()
    assert looks == waited
    assert time.monotonic() - began < backlog.STALLED_SECONDS


async def test_writers_go_on_one_by_one_in_the_order_in_which_they_came(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As fast as the index is: none waits for the whole queue, and none rushes past another."""
    monkeypatch.setattr(backlog, "POLL_SECONDS", 0.001)
    queued, looks = 30, 0
    went: list[tuple[int, int]] = []

    async def depth() -> int:
        nonlocal queued, looks
        looks, queued = looks + 1, max(0, queued - 2)
        return queued

    held = Backlog(depth, lambda: None, 20)
    await held.make_room(WRITES_PER_LOOK - 1)

    async def write(number: int) -> None:
        nonlocal queued
        await held.make_room()
        queued += 1
        went.append((number, looks))
        assert queued <= 21

    await asyncio.gather(*(write(number) for number in range(100)))
    numbers, at = zip(*went, strict=True)
    assert numbers == tuple(range(100))
    assert at[0] == 6  # 30 entries, two less at each look, until there is room under 20
    assert max(later - before for before, later in pairwise(at)) == 1


async def test_r9_22_how_long_the_oldest_has_waited_is_shown(tmp_path: Path) -> None:
    """In the health, its line of a status, and the metrics; 0 again once all is indexed."""
    clock = MovingClock()
    async with running(tmp_path, clock) as ezra:
        graph = await ezra.create_session_graph("garage")
        agent = await graph.spawn_agent("agent", topics={"tyres"})
        assert (await ezra.health()).index_age == 0
        await agent.remember("Lap 1 was dry.")
        clock.move(minutes=3)
        await agent.remember("Lap 2 was wet.")
        clock.move(minutes=2)
        health = await ezra.health()
        assert health.index_age is not None
        assert 300 <= health.index_age < 310
        assert "waits for the index 30" in health_line(health)
        shown = float((await ezra.metrics()).split("\nezra_index_age_seconds ")[1].split()[0])
        assert 300 <= shown < 310
        await ezra._runtime.index_worker.drain()
        assert (await ezra.health()).index_age == 0

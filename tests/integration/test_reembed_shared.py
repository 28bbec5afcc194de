"""Embedding anew by several runtimes on one store, and over crashes."""

from __future__ import annotations

import asyncio
import itertools
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from support.disk_crashes import Killed
from support.generation_reference import reference_generations
from support.processes import PATIENCE_SECONDS, running_process
from support.reembedding import (
    SCOPE,
    TEXTS,
    House,
    ScriptedEmbedder,
    filled_store,
    house,
    index_work_of,
    retire,
)
from support.runtime import MovingClock

from metaagents.clock import Beat, MetaAgentClock
from metaagents.reindex.agent import LEASE_NAME, LEASE_SECONDS
from tiers.cold.sqlite import sqlite_cold_store
from tiers.upkeep import Generation

# Several runtimes on one store: one of them embeds, all of them switch.


@asynccontextmanager
async def _two(home: Path, clock: MovingClock) -> AsyncIterator[tuple[House, House]]:
    """Open two runtimes that want the model ``new``, on a store made with ``old``."""
    async with _one(home, clock, "one") as one, _one(home, clock, "two") as two:
        yield one, two


@asynccontextmanager
async def _one(home: Path, clock: MovingClock, owner: str) -> AsyncIterator[House]:
    async with house(
        home,
        ScriptedEmbedder("new"),
        ScriptedEmbedder("old"),
        clock=clock,
        batch_records=2,
        owner=owner,
        opened=reference_generations,
        is_alone=False,
    ) as built:
        yield built


def _asked(*houses: House) -> list[str]:
    """Return every text that was embedded for the new model."""
    asked: list[str] = []
    for one in houses:
        assert isinstance(one.generations.wanted, ScriptedEmbedder)
        asked += one.generations.wanted.asked
    return sorted(asked)


async def test_two_runtimes_never_build_twice(tmp_path: Path) -> None:
    """Each record is embedded once, and both serve the new model in the end."""
    facts = await filled_store(tmp_path, opened=reference_generations)
    async with _two(tmp_path, MovingClock()) as (one, two):
        for _ in range(20):
            reports = await asyncio.gather(one.reembedder.run_pass(), two.reembedder.run_pass())
            assert sum(report.records for report in reports) <= len(TEXTS)
            if one.reembedder.progress is None and two.reembedder.progress is None:
                break
        assert _asked(one, two) == sorted(TEXTS)
        for each in (one, two):
            assert each.index.serving.model_id == "new"
            await each.check_by_meaning(facts)


async def test_who_did_not_build_sees_progress_and_switches(tmp_path: Path) -> None:
    """By the marks alone; questions of before the switch are answered there too."""
    facts = await filled_store(tmp_path, opened=reference_generations)
    async with _two(tmp_path, MovingClock()) as (one, two):
        lease = await two.cold.leases.acquire(
            f"{LEASE_NAME}/acme", "two", LEASE_SECONDS, two.clock()
        )
        assert lease is not None
        refused = await one.reembedder.run_to_end()
        assert refused.problems == ["another runtime is re-embedding"]
        await two.reembedder.run_pass()
        assert two.index.serving.model_id == "new"
        assert one.index.serving.model_id == "old"
        await one.check_by_meaning(facts)
        await one.reembedder.run_pass()
        assert one.reembedder.progress is None
        assert one.index.serving.model_id == "new"
        assert [left.model_id for left in one.generations.left] == ["old"]
        assert _asked(one) == []


async def test_a_dead_runtime_is_followed_when_its_lease_has_run_out(tmp_path: Path) -> None:
    """Not before; building goes on where the mark says."""
    await filled_store(tmp_path, opened=reference_generations)
    clock = MovingClock()
    async with _two(tmp_path, clock) as (one, two):
        name = f"{LEASE_NAME}/acme"
        await one.cold.leases.acquire(name, "dead", LEASE_SECONDS, clock())
        assert (await two.reembedder.run_pass()).records == 0
        clock.move(seconds=LEASE_SECONDS + 1)
        assert (await two.reembedder.run_pass()).completed


async def test_writes_of_every_runtime_are_in_the_new_index(tmp_path: Path) -> None:
    """Whoever indexes a record, before or after the switch it knows of."""
    facts = await filled_store(tmp_path, opened=reference_generations)
    async with _two(tmp_path, MovingClock()) as (one, two):
        facts += await one.remembered(["said to one"])
        await two.reembedder.run_pass()
        # One has not noticed the switch yet.
        facts += await one.remembered(["said to one again"])
        retire(tmp_path, facts[0])
        await one.cold.queue.enqueue(SCOPE, [index_work_of(facts[0])], one.clock())
        await one.worker.drain()
        await two.check_by_meaning(facts[1:])
        assert await two.index.count(SCOPE) == len(facts) - 1


async def test_an_index_dropped_by_another_runtime_is_not_missed(tmp_path: Path) -> None:
    """Who still has it open after the switch goes on without it."""
    facts = await filled_store(tmp_path, opened=reference_generations)
    clock = MovingClock()
    async with _one(tmp_path, clock, "one") as one:
        await one.reembedder.run_to_end()
        async with _one(tmp_path, clock, "later") as later:
            assert later.engine.dropped == ["old"]
        facts += await one.remembered(["said after"])
        retire(tmp_path, facts[0])
        await one.cold.queue.enqueue(SCOPE, [index_work_of(facts[0])], one.clock())
        report = await one.worker.drain()
        assert (report.completed, report.problems) == ({"index": 1}, [])
        await one.check_by_meaning(facts[1:])


async def test_who_lost_the_lease_in_a_long_batch_stops_after_it(tmp_path: Path) -> None:
    """What it wrote is harmless; it does not go on beside its follower."""
    await filled_store(tmp_path, opened=reference_generations)
    clock = MovingClock()
    async with _one(tmp_path, clock, "one") as one:
        new = one.generations.wanted
        assert isinstance(new, ScriptedEmbedder)

        async def take_too_long() -> None:
            new.before = lambda: None
            clock.move(seconds=LEASE_SECONDS + 1)
            name = f"{LEASE_NAME}/acme"
            assert await one.cold.leases.acquire(name, "two", LEASE_SECONDS, clock())

        new.before = take_too_long
        report = await one.reembedder.run_to_end()
        assert (report.records, report.problems) == (2, ["another runtime is re-embedding"])


async def test_who_waits_after_a_failure_still_notices_the_switch(tmp_path: Path) -> None:
    """Another runtime's model may work where this one's is away."""
    facts = await filled_store(tmp_path, opened=reference_generations)
    async with _two(tmp_path, MovingClock()) as (one, two):
        new = one.generations.wanted
        assert isinstance(new, ScriptedEmbedder)
        new.is_down = True
        assert (await one.reembedder.run_pass()).problems
        await two.reembedder.run_to_end()
        assert (await one.reembedder.run_pass()).problems == []
        assert one.index.serving.model_id == "new"
        await one.check_by_meaning(facts)


async def test_a_beat_without_a_lease_runs_in_every_runtime(tmp_path: Path) -> None:
    """So that each notices a switch, whoever embeds."""
    ran = asyncio.Event()

    async def run() -> None:
        ran.set()

    clock = MovingClock()
    async with sqlite_cold_store(tmp_path) as cold:
        assert await cold.leases.acquire("re-embedding", "two", 3600, clock())
        beat = Beat("re-embedding", 0.02, run, leased=False)
        async with (
            MetaAgentClock([beat], cold.leases, "one", clock),
            asyncio.timeout(PATIENCE_SECONDS),
        ):
            await ran.wait()


# Crashes while everything is embedded anew: one batch is repeated, nothing is lost or trusted.

TESTS = Path(__file__).parents[1]


@pytest.mark.parametrize("marks_before", [0, 1])
async def test_a_crash_in_the_switch_leaves_one_truth(tmp_path: Path, marks_before: int) -> None:
    """Never an old index that seems complete and misses what came after the switch."""
    facts = await filled_store(tmp_path)
    async with house(tmp_path, ScriptedEmbedder("new"), ScriptedEmbedder("old")) as built:
        left = itertools.count(marks_before, -1)

        def die(mark: Generation) -> None:
            is_switching = mark.model_id == "old" or mark.state == "complete"
            if is_switching and next(left) == 0:
                raise Killed

        built.engine.before_mark = die
        with pytest.raises(Killed):
            await built.reembedder.run_to_end()
    async with house(tmp_path, ScriptedEmbedder("new"), ScriptedEmbedder("old")) as built:
        facts += await built.remembered(["said after the crash"])
        await built.reembedder.run_to_end()
        assert built.index.serving.model_id == "new"
        await built.check_by_meaning(facts)
    async with house(tmp_path, ScriptedEmbedder("old"), ScriptedEmbedder("new")) as built:
        await built.reembedder.run_to_end()
        await built.check_by_meaning(facts)


async def test_a_killed_process_loses_one_batch_at_most(tmp_path: Path) -> None:
    """SIGKILL again and again, in the middle of batches: each next one goes on behind the last."""
    texts = [f"sector{number}x was slow by tenths" for number in range(120)]
    facts = await filled_store(tmp_path, texts)
    seen = [_killed_after(tmp_path, batches=8) for _ in range(3)]
    for before, after in itertools.pairwise(seen):
        assert before[-1] - 2 <= after[0] <= before[-1] + 2
        assert after[-1] > before[-1]
    new = ScriptedEmbedder("new")
    async with house(tmp_path, new, ScriptedEmbedder("old")) as built:
        assert built.index.serving.model_id == "old"
        assert (await built.reembedder.run_to_end()).completed
        assert 0 < len(new.asked) <= 120 - seen[-1][-1]
        await built.check_by_meaning(facts)


def _killed_after(home: Path, batches: int) -> list[int]:
    """Let a process re-embed some batches, kill it, and return what it said was done."""
    with running_process("reembed_process", home) as process:
        assert process.stdout is not None
        done = [int(process.stdout.readline()) for _ in range(batches)]
    assert process.returncode == -signal.SIGKILL, "the process ended by itself"
    return done

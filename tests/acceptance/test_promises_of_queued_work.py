"""What queued work is promised: who is to blame for a death is found, and nobody else pays."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from support.runtime import MovingClock, running

from ezra import Ezra, Settings
from metaagents.work import ATTEMPTS_MAX, LEASE_SECONDS, Worker
from tiers.records import Scope, Work, WorkDraft

DEADLY = "kaboom"
DEATHS_MAX = 30


class Death(BaseException):
    """The end of the process: nothing that is written to survive a failure catches it."""


class DeadlyModel:
    """A model during whose reading of one agent's words the process dies."""

    name = "deadly"

    def __init__(self) -> None:
        self.deaths = 0

    async def complete(self, messages: Sequence[dict[str, str]]) -> str:
        """Answer with nothing, unless it is about the deadly words."""
        if any(DEADLY in message["content"] for message in messages):
            self.deaths += 1
            raise Death
        return "{}"

    async def generate(self, messages: Sequence[dict[str, str]], schema: Any) -> Any:
        """Fill the form with nothing, unless it is about the deadly words."""
        return schema.model_validate_json(await self.complete(messages))


async def test_r9_21_only_the_work_that_kills_is_parked(tmp_path: Path) -> None:
    """Ten agents are read; the words of one kill every process that reads them: it is parked.

    The others' work was claimed each time together with the killer, and is done.
    """
    clock, model = MovingClock(), DeadlyModel()
    settings = Settings(home=tmp_path, embedder="off", background=False)
    async with Ezra.open(settings, model=model, clock=clock) as ezra:
        graph = await ezra.create_session_graph("garage")
        for number in range(10):
            agent = await graph.spawn_agent(f"agent {number}", topics={"tyres"})
            told = DEADLY if number == 3 else "I like hard tyres"
            await (await agent.turn(f"{told} on lap {number}.")).reply("Noted.")
    for _ in range(DEATHS_MAX):
        with suppress(Death):
            async with Ezra.open(settings, model=model, clock=clock) as ezra:
                await ezra.drain_learning()
        clock.move(seconds=LEASE_SECONDS + 1)
    async with Ezra.open(settings, model=model, clock=clock) as ezra:
        (parked,) = await ezra.parked_work()
        waiting = await ezra.waiting_work()
    assert (parked.kind, parked.agent_id) == ("extract", "agent 3")
    assert parked.attempts == ATTEMPTS_MAX
    assert "without an outcome" in (parked.problem or "")
    assert (waiting["extract"], waiting["parked"]) == (0, 1)
    assert model.deaths <= ATTEMPTS_MAX + 1, "one death in company, then those it is charged"


class Killed:
    """A handler that is killed while it works, a given number of times, whatever it works at."""

    def __init__(self, kills: int) -> None:
        self.kills = kills
        self.done: list[str] = []

    async def handle(self, items: Sequence[Work], now: datetime) -> Mapping[str, datetime]:
        """Do it, or die."""
        del now
        if self.kills:
            self.kills -= 1
            raise Death
        self.done += [item.key for item in items]
        return {}


async def test_r9_21_forty_kills_from_outside_park_nothing_that_was_only_claimed(
    tmp_path: Path,
) -> None:
    """At most every fifth kill can park an item, the one that ran; what was claimed is done."""
    clock, handler, kills = MovingClock(), Killed(42), 42
    async with running(tmp_path, clock) as ezra:
        await ezra.create_session_graph("garage")
        queue = ezra._runtime.queue
        scope = Scope.of_graph("default", "garage")
        work = [WorkDraft(kind="index", key=f"{number:02}") for number in range(61)]
        await queue.enqueue(scope, work, clock())
        worker = Worker(queue, {"index": handler}, "me", clock)
        for _ in range(kills + 1):
            with suppress(Death):
                await worker.drain()
            clock.move(seconds=LEASE_SECONDS + 1)
        await worker.drain()
        parked = await ezra.parked_work()
        assert len(parked) <= kills // ATTEMPTS_MAX
        assert len(handler.done) == 61 - len(parked)


@pytest.mark.parametrize("in_company", [1, 5])
async def test_r9_21_a_pass_that_is_told_to_stop_charges_nothing_and_keeps_nothing(
    tmp_path: Path, in_company: int
) -> None:
    """Closing seven times amid the work: it is free at once each time, and is never parked."""
    clock, began = MovingClock(), asyncio.Event()

    class Slow:
        async def handle(self, items: Sequence[Work], now: datetime) -> Mapping[str, datetime]:
            del items, now
            began.set()
            await asyncio.Event().wait()
            return {}

    async with running(tmp_path, clock) as ezra:
        await ezra.create_session_graph("garage")
        queue = ezra._runtime.queue
        work = [WorkDraft(kind="index", key=f"{number}") for number in range(in_company)]
        await queue.enqueue(Scope.of_graph("default", "garage"), work, clock())
        for _ in range(ATTEMPTS_MAX + 2):
            began.clear()
            passing = asyncio.create_task(Worker(queue, {"index": Slow()}, "me", clock).drain())
            await began.wait()
            passing.cancel()
            with pytest.raises(asyncio.CancelledError):
                await passing
        handler = Killed(0)
        report = await Worker(queue, {"index": handler}, "me", clock).drain()
        assert (dict(report.completed), dict(report.failed)) == ({"index": in_company}, {})


async def test_r9_41_a_turn_is_stored_together_with_its_compression(tmp_path: Path) -> None:
    """So that it is done when nobody ticks, and when the process ended before it was."""
    clock = MovingClock()
    async with running(tmp_path, clock, ring_capacity=2) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("strategist")
        for number in range(6):
            await (await agent.turn(f"Lap {number}?")).reply("Yes.")
        assert (await ezra.waiting_work())["compress"] == 1
    async with running(tmp_path, clock, ring_capacity=2) as ezra:
        assert (await ezra.waiting_work())["compress"] == 1

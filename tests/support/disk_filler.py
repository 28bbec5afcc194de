"""A memory on a file system of its own that fills up and is freed again. Run as a process.

``python -m support.disk_filler FOLDER`` writes one line of JSON with what was seen. When a mapped
file has no room for a page, the kernel ends this process and nobody else.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from ezra import Ezra, TierUnavailable
from tiers.records import Scope

from .runtime import MovingClock, running

MIB = 2**20
FACTS = 20
SCOPE = Scope.of_graph("default", "garage")


def _fill(folder: Path, left: int) -> Path:
    """Take all room but so many bytes."""
    filler = folder / "filler"
    with filler.open("ab", buffering=0) as file:
        while (free := shutil.disk_usage(folder).free - left) > 0:
            try:
                file.write(b"\1" * min(free, MIB))
            except OSError:
                break
    return filler


async def _seen(folder: Path) -> dict[str, Any]:
    clock, seen = MovingClock(), {}
    async with running(folder / "home", clock) as ezra:
        graph = await ezra.create_session_graph("garage")
        agent = await graph.spawn_agent("agent", topics={"tyres"})
        for number in range(FACTS):
            await agent.remember(f"Tyre {number} lasts {number + 9} laps.")
        await ezra._runtime.index_worker.drain()
        filler = _fill(folder, 30 * MIB)
        for number in range(FACTS):
            await agent.remember(f"Stop {number} took {number + 2} seconds. " + "x" * 2_000)
        for _ in range(6):
            await ezra._runtime.index_worker.drain()
            clock.move(minutes=10)
        seen["waiting"] = (await ezra.waiting_work())["index"]
        seen["parked"] = (await ezra.waiting_work())["parked"]
        seen["found_low"] = len((await graph.recall("seconds of a stop")).items)
        seen["written"], seen["refused"] = await _until_full(ezra, agent, folder)
        with suppress(TierUnavailable):  # the queue is in the cold tier as well
            await ezra._runtime.index_worker.drain()
        full = await graph.recall("laps of a tyre")
        seen["found_full"], seen["degraded_full"] = len(full.items), list(full.degraded)
        filler.unlink()
        clock.move(minutes=10)
        await agent.remember("The rain came on lap 70.")
        await ezra._runtime.index_worker.drain()
        seen["waiting_after"] = (await ezra.waiting_work())["index"]
        seen["parked_after"] = (await ezra.waiting_work())["parked"]
        facts = await ezra._runtime.review.live_facts(SCOPE, "", 1_000)
        seen["facts"] = len(facts.rows)
        seen["indexed"] = await ezra._runtime.warm.count(SCOPE)
        seen["degraded_after"] = list((await graph.recall("laps of a tyre")).degraded)
    seen["reopened"] = await _reopened(folder, clock)
    async with running(folder / "home", clock) as ezra:
        again = await ezra._runtime.review.live_facts(SCOPE, "", 1_000)
        seen["facts_again"] = len(again.rows)
    return seen


async def _reopened(folder: Path, clock: MovingClock) -> dict[str, Any]:
    """Open the memory on a disk without a byte, and make room while it is open."""
    seen: dict[str, Any] = {}
    filler = _fill(folder, 0)
    async with running(folder / "home", clock) as ezra:
        graph = await ezra.session_graph("garage")
        found = await graph.recall("laps of a tyre")
        seen["found"], seen["degraded"] = len(found.items), list(found.degraded)
        facts = await ezra._runtime.review.live_facts(SCOPE, "", 1_000)
        seen["facts"] = len(facts.rows)
        _fill(folder, 0)
        try:
            for number in range(200):
                agent = await graph.agent("agent")
                await agent.remember(f"Late note {number}. " + "z" * 20_000)
                seen["written"] = number + 1
        except TierUnavailable as refusal:
            seen["refused"] = f"{type(refusal).__name__}: {refusal.reason}"
        filler.unlink()
        clock.move(minutes=10)
        agent = await graph.agent("agent")
        await agent.remember("The sun came on lap 71.")
        await ezra._runtime.index_worker.drain()
        await ezra._runtime.reembedder.run_to_end()
        seen["waiting"] = (await ezra.waiting_work())["index"]
        seen["degraded_after"] = list((await graph.recall("laps of a tyre")).degraded)
        facts = await ezra._runtime.review.live_facts(SCOPE, "", 1_000)
        seen["indexed"] = await ezra._runtime.warm.count(SCOPE) - len(facts.rows)
    return seen


async def _until_full(ezra: Ezra, agent: Any, folder: Path) -> tuple[int, str]:
    """Write until the cold tier refuses; return how many were stored, and why no more."""
    del ezra
    for number in range(2_000):
        _fill(folder, 0)
        try:
            await agent.remember(f"Note {number}. " + "y" * 20_000)
        except TierUnavailable as refusal:
            return number, f"{type(refusal).__name__}: {refusal.reason}"
    return 2_000, ""


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(_seen(Path(sys.argv[1])))) + "\n")

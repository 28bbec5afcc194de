"""Two processes share the work of one store, one is killed: each job is done, and done once.

Counted by what is there afterwards, not by what anybody says to have done. Redis is real; Qdrant
and MongoDB are the stand-ins.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import cast

import pytest
from support.memory_rows import MemoryRows, memory_rows
from support.records import every_row
from support.servers import on_servers
from support.shared_runtime import LEASE_SECONDS, WorkingProcess, shared_settings, working_process

from ezra import Ezra
from ezra.handles.agent import Agent
from metaagents.reindex.index import SwitchingIndex
from tiers.cold.mongo import mongo_cold_store
from tiers.cold.stores import ColdStores
from tiers.learning import is_live
from tiers.records import Turn
from tiers.upkeep import WarmArchive

GRAPH = "race"
AGENTS = 3
TURNS_MIN = 4
"""So often each agent asks or speaks at least, also where that takes longer than it is to."""

SPARE_SECONDS = 20.0
"""How much later than its lease work may be done on a busy machine; no more, or it hangs."""

PLACES = "Imola Monza Spa Monaco Suzuka Austin Jeddah Baku Zandvoort Sakhir".split()
DETAILS = "kerb camber gravel tunnel hairpin tarmac chicane straight banking runoff".split()


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> Mapping[str, str]:
    """Servers for one test, with nothing in them."""
    return on_servers(monkeypatch)


async def _feed(agent: Agent, random: Random, until: float, told: list[Turn]) -> None:
    """Remember, ask and speak until it is time to stop; what was acknowledged is noted."""
    number = 0
    while number < TURNS_MIN or time.monotonic() < until:
        number += 1
        place = random.choice(PLACES)
        if number <= len(DETAILS):
            await agent.remember(f"The {DETAILS[number - 1]} needs care.")
        said = f"I live in {place}. Lap {number} of {agent.id}: the tyres lost a tenth."
        asked = f"Which {random.choice(DETAILS[:number])} needs care?"
        turn = await agent.turn(asked if number % 2 else said)
        told.append((await turn.reply(f"Noted, {agent.id}.")).turn)


async def _all_done(cold: ColdStores, seconds: float) -> None:
    """Wait until nothing waits any more that is due; fail when that takes longer than allowed.

    The recurring work of a graph is always there; what waits for company is due later.
    """
    deadline = time.monotonic() + seconds
    while True:
        now = datetime.now(UTC)
        left = [
            (work.kind, work.key, work.problem)
            for work in (await memory_rows(cold)).work
            if work.due_at <= now and not work.parked and work.kind not in ("consolidate", "retain")
        ]
        if not left:
            return
        assert time.monotonic() < deadline, f"not done: {left}"
        await asyncio.sleep(0.2)


async def _indexed(ezra: Ezra) -> set[str]:
    """Return the ids of everything in the warm index."""
    index = ezra._runtime.warm
    assert isinstance(index, SwitchingIndex)
    store = cast("WarmArchive", index.serving.store)
    found = await every_row(lambda cursor: store.export_entries("default", cursor, 1_000))
    return {entry.id for entry in found}


async def _findable(cold: ColdStores) -> set[str]:
    """Return the ids of everything that should be in it."""
    now = datetime.now(UTC)
    found = await every_row(lambda at: cold.upkeep.searchable_after("default", at, 1_000, now))
    return {ref.id for ref in found}


def _check_effects(rows: MemoryRows, told: list[Turn]) -> None:
    """Everything once: coverage, uses, judgements, extracted facts, audit events."""
    assert {turn.id for turn in rows.turns} == {turn.id for turn in told}
    covered = Counter(turn for one in rows.summaries for turn in one.covers)
    assert covered == Counter(turn.id for turn in told)

    asked = {
        (slot["source_ids"][0], receipt.id)
        for receipt in rows.receipts
        for slot in receipt.body["slots"]  # type: ignore[union-attr]
        if slot["kind"] == "archival"  # type: ignore[index,call-overload]
        if slot["source_ids"][0] not in receipt.body["unasked"]  # type: ignore[operator]
    }
    assert asked, "no fact was used, so nothing was shown"
    uses = Counter((use.fact_id, use.cause) for use in rows.uses)
    assert set(uses.values()) <= {1}
    assert asked <= set(uses)
    counted = Counter(use.fact_id for use in rows.uses)
    assert {fact.id: fact.uses for fact in rows.facts if fact.uses} == dict(counted)

    # What gave way before its turn came needs no judgement of its own.
    assert [fact.text for fact in rows.facts if is_live(fact) and fact.judged_at is None] == []
    learnt = Counter((fact.text, fact.source_ids) for fact in rows.facts if fact.source_ids)
    assert learnt, "nothing was learnt, so nothing was shown"
    assert set(learnt.values()) == {1}
    read = {mark.agent_id: mark.seq for mark in rows.watermarks}
    last = {turn.agent_id: 0 for turn in told}
    for turn in told:
        last[turn.agent_id] = max(last[turn.agent_id], turn.seq)
    assert read == last, f"every turn was read for learning; work left: {rows.work}"

    assert [work for work in rows.work if work.parked] == []
    effects = Counter((one.kind, one.record_ids) for one in rows.audit if one.record_ids)
    once = {"superseded", "deduplicated", "promoted", "forgotten", "retired"}
    assert [one for one, times in effects.items() if times > 1 and one[0] in once] == []
    lives = Counter(
        (one.kind, one.agent_id) for one in rows.audit if one.kind in ("left", "closed")
    )
    assert set(lives.values()) == {1}


async def _share(
    servers: Mapping[str, str], folder: Path, seconds: float, *, kill_after: float
) -> None:
    """Feed a store that two processes work on, kill one of them midway, and count the effects."""
    told: list[Turn] = []
    uri, database = servers["EZRA_MONGODB_URI"], servers["EZRA_MONGODB_DATABASE"]
    async with mongo_cold_store(uri, database=database) as cold:
        with ExitStack() as stack:
            one, other = (
                stack.enter_context(working_process(folder / name)) for name in ("one", "other")
            )
            settings = shared_settings(folder / "test", background=False)
            async with Ezra.open(settings) as ezra:
                graph = await ezra.create_session_graph(GRAPH)
                agents = [
                    await graph.spawn_agent(f"driver {n}", topics={"tyres"}, user_id=f"person {n}")
                    for n in range(AGENTS)
                ]
                await asyncio.gather(one.ready(), other.ready())
                until = time.monotonic() + seconds
                async with asyncio.TaskGroup() as tasks:
                    for place, agent in enumerate(agents):
                        tasks.create_task(_feed(agent, Random(place), until, told))
                    tasks.create_task(_killed(one, kill_after))
                await graph.close()
                await _all_done(cold, LEASE_SECONDS + SPARE_SECONDS + seconds)
                assert await ezra.parked_work() == ()
                assert (await graph.conservation()).ok
                assert await _indexed(ezra) == await _findable(cold)
            await other.stop()
        _check_effects(await memory_rows(cold), told)


async def _killed(process: WorkingProcess, after: float) -> None:
    await asyncio.sleep(after)
    process.kill()


async def test_two_runtimes_share_the_work_and_one_dies(
    servers: Mapping[str, str], tmp_path: Path
) -> None:
    """A few seconds of three agents that speak, remember and ask."""
    await _share(servers, tmp_path, 3.0, kill_after=1.5)


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_two_runtimes_share_a_minute_of_work_and_one_dies(
    servers: Mapping[str, str], tmp_path: Path
) -> None:
    """The same for a minute."""
    await _share(servers, tmp_path, 60.0, kill_after=30.0)

"""Rows NE-04 and NE-06 on every kind of tiers: every turn accounted for, whatever a model says.

The counts of the report are compared with counts made from the stored rows by other code.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from datetime import timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from support.grain_oracle import GRAINS, GrainOracle
from support.hostile_model import INVENTED, HostileModel
from support.memory_rows import MemoryRows, memory_rows
from support.runtime import MovingClock, running
from support.scripted_life import (
    fact_problems,
    live,
    retirement_problems,
    script,
    source_problems,
    wording_problems,
    work_through,
)
from support.simulated_fleet import SimulatedFleet, midnight, plan_of_life

from ezra import Ezra, Settings
from tiers.cold.mongo import mongo_cold_store
from tiers.cold.sqlite import DATABASE_NAME, sqlite_cold_store
from tiers.cold.stores import ColdStores

ZONE = ZoneInfo("America/New_York")


@asynccontextmanager
async def _cold(home: Path) -> AsyncIterator[ColdStores]:
    """Open the cold tier beside the runtime, wherever it is."""
    uri = os.environ.get("EZRA_MONGODB_URI")
    if uri is None:
        async with sqlite_cold_store(home) as cold:
            yield cold
    else:
        async with mongo_cold_store(uri, database=os.environ["EZRA_MONGODB_DATABASE"]) as cold:
            yield cold


async def _rows(home: Path) -> MemoryRows:
    async with _cold(home) as cold:
        return await memory_rows(cold)


async def test_ne_04_each_turn_is_in_one_record_of_each_grain_or_in_its_tail(
    tmp_path: Path,
) -> None:
    """Over the turn of a year: at any time the report says what counting row by row says."""
    start = midnight(2026, 12, 24)
    days = plan_of_life(seed=3, start=start, days=16, turns=30)
    clock = MovingClock(start)
    async with running(tmp_path, clock, time_zone=ZONE.key, agent_timeout_seconds=1e9) as ezra:
        fleet = await SimulatedFleet.begun(ezra, clock, days, start, "keep")
        for number in range(len(days)):
            await fleet.begin(number)
            await fleet.spend(number)
            if number == 13:
                await _assert_counts(fleet, tmp_path)
        clock.move(days=100)
        await fleet.pass_now()
        oracle = await _assert_counts(fleet, tmp_path)
    assert oracle.stale(clock(), timedelta(minutes=15)) == []
    whole = {grain: count for grain, count in oracle.counts().items() if grain != "yearly"}
    assert set(whole.values()) == {(30, 0)}
    assert {one.period for one in oracle.by_grain["yearly"]} <= {"2026"}
    assert all(oracle.by_grain[grain] for grain in GRAINS)


async def _assert_counts(fleet: SimulatedFleet, home: Path) -> GrainOracle:
    oracle = GrainOracle(await _rows(home), ZONE)
    assert oracle.conservation_problems() == []
    report = await fleet.graph.conservation()
    assert report.ok
    assert {one.grain: (one.covered, one.tail) for one in report.grains} == oracle.counts()
    return oracle


async def test_ne_04_the_report_names_what_was_lost(tmp_path: Path, tiers: str) -> None:
    """A summary that forgot one of its turns behind the store's back."""
    clock = MovingClock()
    async with running(tmp_path, clock, ring_capacity=2, turns_per_summary=4) as ezra:
        life = await live(ezra, clock, turns=script()[:16])
        await work_through(life, clock, days=1)
        assert (await life.graph.conservation()).ok
        summaries = (await _rows(tmp_path)).summaries
        summary = next(one for one in summaries if len(one.covers) > 1)
        _forget_first(tmp_path, tiers, summary.id)
        report = await life.graph.conservation()
    assert not report.ok
    assert summary.covers[0] in str(report)


def _forget_first(home: Path, tiers: str, summary_id: str) -> None:
    if tiers == "embedded":
        with closing(sqlite3.connect(home / DATABASE_NAME)) as raw, raw:
            statement = "UPDATE summaries SET body = json_remove(body, '$.covers[0]') WHERE id = ?"
            assert raw.execute(statement, [summary_id]).rowcount == 1
        return
    from pymongo import MongoClient

    with MongoClient(os.environ["EZRA_MONGODB_URI"]) as client:
        summaries = client[os.environ["EZRA_MONGODB_DATABASE"]]["summaries"]
        known = summaries.find_one({"id": summary_id})
        assert known is not None
        body = json.loads(known["body"])
        less = {"$set": {"body": json.dumps(body | {"covers": body["covers"][1:]})}}
        done = summaries.update_one({"id": summary_id}, less)
        assert done.modified_count == 1


async def test_ne_06_a_hostile_model_does_no_harm(tmp_path: Path) -> None:
    """Every source word for word, nothing made up, nobody told what is not theirs."""
    clock = MovingClock()
    model = HostileModel(seed=11)
    settings = Settings(
        home=tmp_path,
        embedder="off",
        background=False,
        ring_capacity=2,
        turns_per_summary=4,
        model_timeout_seconds=0.2,
        agent_timeout_seconds=1e9,
    )
    async with Ezra.open(settings, model=model, clock=clock) as ezra:
        life = await live(ezra, clock, turns=script()[:20])
        await work_through(life, clock, days=2)
        assert await ezra.parked_work() == ()
        assert (await life.graph.conservation()).ok
    rows = await _rows(tmp_path)
    assert model.asked
    assert GrainOracle(rows, ZoneInfo("UTC")).conservation_problems() == []
    assert source_problems(life, rows) == []
    assert fact_problems(life, rows) == []
    assert retirement_problems(life, rows) == []
    assert wording_problems(life, rows, INVENTED) == []

"""A fleet's year on a fake clock: every turn counted, everything kept as long as planned.

What is judged comes from the rows of the cold store, followed by code of its own.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from support.grain_oracle import FREE, GRAINS, GrainOracle
from support.memory_rows import MemoryRows, memory_rows
from support.runtime import MovingClock, running
from support.simulated_fleet import SimulatedFleet, midnight, plan_of_life

from tiers.cold.sqlite import sqlite_cold_store

ZONE = ZoneInfo("Europe/Berlin")
PATIENCE = timedelta(minutes=15)


async def _rows(home: Path) -> MemoryRows:
    """Read everything from the database beside the runtime that has it open."""
    async with sqlite_cold_store(home) as cold:
        return await memory_rows(cold)


def _check_oracle_can_object(rows: MemoryRows) -> None:
    """An oracle that never objects judges nothing."""
    lost = [one.model_copy(update={"covers": one.covers[1:]}) for one in rows.summaries[:1]]
    twice = [*lost, *rows.summaries[:2], *rows.summaries[1:]]
    changed = MemoryRows(**{**vars(rows), "summaries": twice})
    assert GrainOracle(changed, ZONE).conservation_problems()
    gone = [rows.turns[-1].model_copy(update={"retired_at": rows.turns[-1].recorded_at})]
    changed = MemoryRows(**{**vars(rows), "turns": [*rows.turns[:-1], *gone]})
    assert GrainOracle(changed, ZONE).retention_problems(rows.turns[-1].recorded_at)


def _fact_problems(rows: MemoryRows, forgotten: dict[str, datetime], now: datetime) -> list[str]:
    """Return facts that gave way or were forgotten and are kept too long, or not long enough."""
    found = []
    for fact in rows.facts:
        gave_way = fact.superseded_at is not None and fact.superseded_at < now - timedelta(days=90)
        asked = forgotten.get(fact.id)
        must_go = gave_way or (asked is not None and asked < now - timedelta(days=30))
        if must_go != (fact.retired_at is not None):
            found.append(f"fact {fact.id}: {fact.retired_at} {fact.superseded_at} {asked}")
    return found


async def _check(fleet: SimulatedFleet, home: Path) -> MemoryRows:
    """Check everything right after a pass."""
    now = fleet.clock()
    rows = await _rows(home)
    oracle = GrainOracle(rows, ZONE)
    assert len(rows.turns) == fleet.told
    assert oracle.conservation_problems() == []
    assert oracle.stale(now, PATIENCE) == []
    assert oracle.retention_problems(now, FREE) == []
    assert oracle.chain_problems() == []
    assert _fact_problems(rows, fleet.forgotten, now) == []
    assert [(work.kind, work.problem) for work in rows.work if work.problem or work.parked] == []

    report = await fleet.graph.conservation()
    assert report.ok, report
    counts = {grain.grain: (grain.covered, grain.tail) for grain in report.grains}
    assert counts == oracle.counts()

    assert await fleet.events() == fleet.logged
    return rows


async def _live(home: Path, checks: set[int], fleet: SimulatedFleet) -> MemoryRows:
    """Live the whole plan, with a check after the passes of some days and after the last one."""
    for number in range(len(fleet.days)):
        report = await fleet.begin(number, must_pass=number in checks)
        assert getattr(report, "problems", ()) == ()
        if number in checks:
            await _check(fleet, home)
        await fleet.spend(number)
    await fleet.begin(len(fleet.days))
    rows = await _check(fleet, home)
    verified = await fleet.graph.beliefs.verify()
    assert (verified.ok, verified.problems) == (True, ())
    return rows


async def test_thirty_days_of_six_agents_are_conserved_and_retained(tmp_path: Path) -> None:
    """Over the end of summer time: 240 turns, some late, some private, passes missed."""
    start, days, turns = midnight(2026, 10, 5), 30, 240
    life = plan_of_life(seed=7, start=start, days=days, turns=turns, outage=range(11, 14))
    clock = MovingClock(start)
    async with running(tmp_path, clock, time_zone=ZONE.key, agent_timeout_seconds=1e9) as ezra:
        fleet = await SimulatedFleet.begun(ezra, clock, life, start, "free")
        rows = await _live(tmp_path, {14}, fleet)
        assert fleet.told == turns
        assert fleet.logged
    _check_oracle_can_object(rows)
    gone = [turn for turn in rows.turns if turn.retired_at is not None]
    assert 0 < len(gone) < turns
    made = {grain: len(found) for grain, found in GrainOracle(rows, ZONE).by_grain.items()}
    assert all(made[grain] for grain in ("working", "daily", "weekly", "monthly"))


@pytest.mark.slow
@pytest.mark.timeout(1800)
async def test_a_year_of_six_agents_is_conserved_and_retained(tmp_path: Path) -> None:
    """Twenty thousand turns, an outage of two weeks, quiet weeks, one agent that comes and goes."""
    start, days, turns = midnight(2026, 1, 1), 365, 20_000
    life = plan_of_life(seed=2026, start=start, days=days, turns=turns, outage=range(150, 164))
    clock = MovingClock(start)
    async with running(tmp_path, clock, time_zone=ZONE.key, agent_timeout_seconds=1e9) as ezra:
        fleet = await SimulatedFleet.begun(ezra, clock, life, start, "free")
        rows = await _live(tmp_path, {40, 149, 164, 165, 250}, fleet)
        assert fleet.told == turns
    oracle = GrainOracle(rows, ZONE)
    assert all(oracle.by_grain[grain] for grain in GRAINS)
    for grain in ("working", "daily", "weekly"):
        assert any(one.retired_at for one in oracle.by_grain[grain]), grain

"""Whatever a language model answers: nothing said is lost, nothing made up is stored.

One little life is lived without a model. Each fault of a hostile model, and mixtures of all, then
meet its whole backlog: compression, episodes of every grain, learning, judging, playbooks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from support.folder_copies import copied
from support.grain_oracle import GrainOracle
from support.hostile_model import FAULTS, INVENTED, Fault, HostileModel
from support.memory_rows import MemoryRows, memory_rows
from support.runtime import MovingClock
from support.scripted_life import (
    GRAPH,
    Life,
    fact_problems,
    live,
    playbook_problems,
    retirement_problems,
    source_problems,
    wording_problems,
    work_through,
)

from ezra import Ezra, LifecycleReport, Settings, WorkReport
from tiers.cold.sqlite import sqlite_cold_store

START = datetime(2026, 5, 14, 9, 0, tzinfo=UTC)
WORKED = datetime(2026, 5, 16, 9, 0, tzinfo=UTC)
UTC_ZONE = ZoneInfo("UTC")
TEXT_CHARS_MAX = 20_000
FAILING: frozenset[Fault] = frozenset(FAULTS[:6]) | {
    "huge",
    "slow",
    "refusing",
    "raising RuntimeError",
    "raising ValueError",
    "returning None",
    "returning a number",
    "unchecked",
}
"""Faults of which nothing can be used at all."""
SAID_ALREADY = {
    "empty": "blank",
    "truncated": "refusing",
    "raising RuntimeError": "raising ValueError",
    "returning None": "returning a number",
    "unchecked": "wrong schema",
}
"""Faults that come to what others come to where a model is asked (``metaagents/model.py``): left to
the slow run. What is written of them is looked at by ``test_grains``; mixtures draw from all."""


@dataclass(frozen=True)
class Lived:
    """The life in its folder, and what its backlog comes to without any model."""

    home: Path
    life: Life
    without_model: MemoryRows


def _settings(home: Path, fault: Fault | None) -> Settings:
    return Settings(
        home=home,
        embedder="off",
        background=False,
        ring_capacity=4,
        turns_per_summary=4,
        agent_timeout_seconds=1e9,
        superseded_facts_days=10_000,
        model_timeout_seconds=0.01 if fault == "slow" else 0.5,
    )


async def _lived(home: Path) -> Life:
    clock = MovingClock(START)
    async with Ezra.open(_settings(home, None), clock=clock) as ezra:
        return await live(ezra, clock)


async def _worked(lived: Path, life: Life, home: Path, model: HostileModel | None) -> _Outcome:
    """Let every pass meet the backlog of a copy of the life, over days and once in a year."""
    await asyncio.to_thread(copied, lived, home)
    clock = MovingClock(WORKED)
    fault = model.fault if model else None
    async with Ezra.open(_settings(home, fault), model=model, clock=clock) as ezra:
        mine = replace(life, ezra=ezra, graph=await ezra.session_graph(GRAPH))
        reports = await work_through(mine, clock, days=2)
        clock.move(days=400)
        reports += await work_through(mine, clock, days=1)
        conserved = (await mine.graph.conservation()).ok
        parked = len(await ezra.parked_work())
    async with sqlite_cold_store(home) as cold:
        return _Outcome(mine, await memory_rows(cold), reports, conserved, parked)


@dataclass(frozen=True)
class _Outcome:
    life: Life
    rows: MemoryRows
    reports: list[object]
    conserved: bool
    parked: int


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Lived:
    """The life, lived once."""
    folder = tmp_path_factory.mktemp("life")

    async def make() -> Lived:
        life = await _lived(folder / "home")
        plain = await _worked(folder / "home", life, folder / "plain", None)
        _check(plain, "no model")
        return Lived(folder / "home", life, plain.rows)

    return asyncio.run(make())


def _check(outcome: _Outcome, name: str) -> None:
    """Nothing said is lost, nothing made up is stored, nobody learns what is not theirs."""
    rows, life = outcome.rows, outcome.life
    assert source_problems(life, rows) == []
    oracle = GrainOracle(rows, UTC_ZONE)
    assert oracle.conservation_problems() == []
    assert outcome.conserved
    assert fact_problems(life, rows) == []
    assert retirement_problems(life, rows) == []
    assert playbook_problems(rows) == []
    assert wording_problems(life, rows, INVENTED) == []
    texts = [one.text for some in (rows.summaries, rows.episodes, rows.facts) for one in some]
    assert max(map(len, texts)) < TEXT_CHARS_MAX
    assert all(text.strip() for text in texts)
    assert outcome.parked == 0, name
    _check_reports(outcome)


def _check_reports(outcome: _Outcome) -> None:
    """What passes say they have done is there, all of it and nothing else."""
    ticks = [one for one in outcome.reports if isinstance(one, LifecycleReport)]
    drains = [one for one in outcome.reports if isinstance(one, WorkReport)]
    assert [problem for tick in ticks for problem in tick.problems] == []
    assert [problem for drain in drains for problem in drain.problems] == []
    rows = outcome.rows
    assert sum(tick.summaries_written for tick in ticks) == len(rows.summaries)
    assert sum(tick.turns_covered for tick in ticks) == sum(
        len(one.covers) for one in rows.summaries
    )
    assert sum(tick.episodes_written for tick in ticks) == len(rows.episodes)


def _held(rows: MemoryRows) -> Mapping[str, object]:
    """Return what is held to be true, and of whom."""
    return {
        f"{fact.agent_id}: {fact.text}": (fact.user_id, fact.topics, fact.private)
        for fact in rows.facts
        if fact.superseded_by is None
    }


@pytest.mark.parametrize(
    "fault",
    [pytest.param(one, marks=pytest.mark.slow if one in SAID_ALREADY else ()) for one in FAULTS],
)
async def test_no_fault_of_a_model_costs_more_than_its_help(
    lived: Lived, tmp_path: Path, fault: Fault
) -> None:
    """The same memory as without a model, save for what can be shown to be true."""
    model = HostileModel(fault)
    outcome = await _worked(lived.home, lived.life, tmp_path / "home", model)
    assert model.asked[fault] > 0, "no pass has asked the model"
    _check(outcome, fault)
    expected, found = _held(lived.without_model), _held(outcome.rows)
    if fault in FAILING:
        assert found == expected
        made = {one.made_by for one in (*outcome.rows.summaries, *outcome.rows.episodes)}
        assert made == {"extract"}
        assert model.cancelled == model.asked["slow"]
        kinds = ("extraction fell back", "extraction dropped")
        told = [one for one in outcome.rows.audit if one.kind in kinds]
        assert told, "learning went on without the model and told nobody"
        assert all(one.record_ids and one.reason for one in told)
    else:
        assert expected.items() <= found.items()


@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 30))]
)
async def test_no_mixture_of_faults_costs_more(lived: Lived, tmp_path: Path, seed: int) -> None:
    """Each call another fault, drawn from a seed."""
    model = HostileModel(seed=seed)
    outcome = await _worked(lived.home, lived.life, tmp_path / "home", model)
    _check(outcome, f"seed {seed}")
    assert _held(lived.without_model).items() <= _held(outcome.rows).items()
    assert len(model.asked) > 1


def test_the_checks_object_to_what_they_look_for(lived: Lived) -> None:
    """A fact from nowhere, one told to somebody else, a turn reworded, a remembered fact gone."""
    rows, life = lived.without_model, lived.life
    learnt = next(fact for fact in rows.facts if fact.source_ids and not fact.superseded_by)
    kept = next(fact for fact in rows.facts if fact.id in life.remembered)

    def changed(**tables: object) -> MemoryRows:
        return MemoryRows(**{**vars(rows), **tables})

    for update in ({"text": f"{learnt.text} 98765"}, {"user_id": "nobody"}, {"source_ids": ()}):
        assert fact_problems(life, changed(facts=[learnt.model_copy(update=update)]))
    gone = kept.model_copy(update={"superseded_by": learnt.id})
    assert len(retirement_problems(life, changed(facts=[gone, learnt]))) > len(life.remembered) - 1
    reworded = [turn.model_copy(update={"input": "?"}) for turn in rows.turns]
    assert len(source_problems(life, changed(turns=reworded))) == len(rows.turns)
    made_up = [rows.summaries[0].model_copy(update={"text": "Zorblatt came."})]
    assert wording_problems(life, changed(summaries=made_up), INVENTED)

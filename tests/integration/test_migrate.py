"""Moving a memory between two folders: complete, proven, and only read at the source."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.generation_backends import GENERATION_BACKENDS, GenerationBackend
from support.houses import DIMENSIONS, MODEL, generation_of, house_at
from support.moves import (
    both,
    content,
    everything,
    moved,
    raw,
    silent,
)
from support.runtime import MovingClock, running

from ezra import Fact
from ezra.moving import Step, move, verify


async def test_everything_arrives_and_the_source_stays_as_it_was(
    source: Path, target: Path, ledger: Path, expected: dict[str, Any]
) -> None:
    """Rows, vectors bit for bit, and marks; counted and digested alike on both sides."""
    report = await moved(source, target, ledger)
    assert report.differences == ()
    assert [(one.tenant, one.state) for one in report.tenants] == [
        ("acm", "moved"),
        ("acme", "moved"),
    ]
    assert await everything(target) == expected
    assert await everything(source) == expected
    parts = {part.name: part for part in report.tenants[1].parts}
    assert list(parts)[:2] == ["graphs", "agents"]
    assert list(parts)[-2:] == ["warm words only", f"warm {MODEL}"]
    assert all(part.rows == part.found == part.new > 0 for part in parts.values())
    assert parts[f"warm {MODEL}"].vectors == "bit for bit"
    assert any("half@fp32 was still being built (3 of 9)" in note for note in report.notes)
    assert any("hot" in note for note in report.notes)


async def test_progress_ends_at_its_total(source: Path, target: Path, ledger: Path) -> None:
    """Each row is counted once per pass, however a move is cut into pages."""
    steps: list[Step] = []
    async with both(source, target) as (one, other):
        await move(one, other, ("acme",), steps.append, ledger=ledger, page_rows=11)
    assert sum(step.rows for step in steps) == steps[0].total > 300
    assert {step.total for step in steps} == {steps[0].total}


async def test_a_finished_move_compares_again_and_changes_nothing(
    source: Path, target: Path, ledger: Path
) -> None:
    """It says so when a side has lived on since: the new of it is on that side alone."""
    await moved(source, target, ledger)
    report = await moved(source, target, ledger)
    assert {one.state for one in report.tenants} == {"moved before"}
    raw(target, "UPDATE facts SET body = json_set(body, '$.uses', 99)")
    after, written = await everything(target), content(ledger)
    report = await moved(source, target, ledger)
    assert {one.state for one in report.tenants} == {"differs"}
    assert {one.part for one in report.differences} == {"facts"}
    assert any("was moved before" in note and str(ledger) in note for note in report.notes)
    assert await everything(target) == after
    assert content(ledger) == written


async def test_a_target_that_is_gone_after_the_move_is_not_believed(
    source: Path, target: Path, ledger: Path
) -> None:
    """Who deletes the source because the command said "moved before" would lose everything."""
    await moved(source, target, ledger)
    shutil.rmtree(target)
    report = await moved(source, target, ledger)
    assert {one.state for one in report.tenants} == {"differs"}
    assert report.differences


async def test_tenants_move_one_by_one(
    source: Path, target: Path, ledger: Path, expected: dict[str, Any]
) -> None:
    """What was moved before stays; what is named next is added."""
    await moved(source, target, ledger, "acme")
    assert list(await everything(target)) == ["acme"]
    report = await moved(source, target, ledger)
    assert [one.state for one in report.tenants] == ["moved", "moved before"]
    assert await everything(target) == expected


async def test_an_empty_index_at_the_target_is_no_obstacle(
    source: Path, target: Path, ledger: Path, expected: dict[str, Any]
) -> None:
    """A target that was opened once while empty says "complete"; that must not stay."""
    async with house_at(target) as house:
        for model in ("another@fp32", MODEL):
            async with house.generations.opened(model, DIMENSIONS):
                pass
            await house.generations.mark("acme", generation_of(model))
    await moved(source, target, ledger)
    assert await everything(target) == expected


async def test_a_tier_that_both_houses_share_stays(
    source: Path, target: Path, ledger: Path, expected: dict[str, Any]
) -> None:
    """Only the cold tier, or only the warm one, may have another place."""
    async with both(source, target) as (one, other):
        shared = replace(other, generations=one.generations, warm_at=one.warm_at)
        report = await move(one, shared, ("acme",), silent, ledger=ledger)
    assert [part.name for part in report.tenants[0].parts][-1] == "work"
    assert any("warm tier: stays in" in note for note in report.notes)
    async with both(source, target) as (one, other):
        shared = replace(other, cold=one.cold, cold_at=one.cold_at)
        other_ledger = ledger.with_name("other.json")
        report = await move(one, shared, ("acme",), silent, ledger=other_ledger)
    assert [part.name for part in report.tenants[0].parts] == ["warm words only", f"warm {MODEL}"]
    assert (await everything(target))["acme"] == expected["acme"]


@pytest.mark.parametrize("engine", GENERATION_BACKENDS[:3], ids=lambda engine: engine.name)
async def test_indexes_move_to_every_engine(
    source: Path, engine: GenerationBackend, tmp_path: Path, ledger: Path
) -> None:
    """Vectors arrive as they are; one engine's arithmetic may touch their last bits."""
    async with house_at(source) as one, engine.opened(tmp_path / "engine") as generations:
        other = replace(one, generations=generations, warm_at="elsewhere")
        report = await move(one, other, (), silent, ledger=ledger, page_rows=7)
        assert report.differences == ()
        assert len([part for tenant in report.tenants for part in tenant.parts]) == 3
        assert [mark.model_id for mark in await generations.generations("acme")] == [MODEL, None]
        assert (await verify(other, one, (), silent)).differences == ()


async def test_agents_remember_at_the_target(tmp_path: Path, target: Path, ledger: Path) -> None:
    """A runtime over the target answers as one over the source: context, pins, recall, inheritance.

    The hot tier is not moved: ring and pinned beliefs come back from cold.
    """
    home, clock = tmp_path / "home", MovingClock()
    async with running(home, clock) as memory:
        parent = await memory.create_session_graph("monaco")
        teller = await parent.spawn_agent(agent_id="teller", topics={"tyres"})
        await teller.remember(Fact(text="Mediums last 18 laps.", tier="core"))
        graph = await memory.create_session_graph("imola", inherits_from=["monaco"])
        agent = await graph.spawn_agent(agent_id="strategist", topics={"tyres"})
        for lap in range(12):
            await (await agent.turn(f"Lap {lap}: the gearbox is fine.")).reply("Noted.")
        await agent.commit("Start on softs.", key=("start", "compound"))
        pinned = await agent.commit("Start on mediums.", key=("start", "compound"))
        await agent.commit("Rain is unlikely.")
        await agent.pin(pinned.id)
        await memory.run_lifecycle_tick("imola")
        await memory.drain_learning()
    report = await moved(home, target, ledger)
    assert report.differences == ()
    seen = []
    for folder in (home, target):
        async with running(folder, MovingClock()) as memory:
            graph = await memory.session_graph("imola")
            agent = await graph.spawn_agent(agent_id="strategist", topics={"tyres"})
            turn = await agent.turn("What about the gearbox?")
            recalled = await agent.recall("gearbox laps", limit=20)
            slots = [(slot.kind, slot.text, slot.source_ids) for slot in turn.slots]
            hits = [(hit.id, hit.kind, round(hit.score, 9)) for hit in recalled.items]
            seen.append((slots, turn.degraded, hits, (await graph.status()).cold))
    assert seen[0] == seen[1]
    slots, _, hits, _ = seen[1]
    beliefs = [text for kind, text, _ in slots if kind == "belief"]
    assert beliefs == ["Start on mediums.", "Rain is unlikely."]
    assert {"core", "hot"} <= {kind for kind, _, _ in slots}
    assert hits

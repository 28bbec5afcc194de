"""Moving a memory between two folders: complete, proven, refused in time, and compared."""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.folder_copies import copied
from support.generation_backends import GENERATION_BACKENDS, GenerationBackend
from support.houses import DIMENSIONS, MODEL, entries_of, furnish, generation_of, house_at
from support.moves import CHANGES, both, content, everything, moved, raw, silent, write
from support.runtime import MovingClock, running
from support.tier_samples import NOW

from ezra import Fact
from ezra.moving import Step, move, verify
from ezra.moving.ledger import Ledger
from tiers.cold.sqlite import DATABASE_NAME
from tiers.errors import ConfigError, Conflict, NotFound, UsageError
from tiers.records import Scope

# Moving a memory between two folders: complete, proven, and only read at the source.


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
    """It says so when a side has lived on since: the new of it is on that side alone.

    And a target that is gone is not believed: who deletes the source because the command said
    "moved before" would lose everything.
    """
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


# What a move refuses, before it writes anything: another's target, house or ledger.


@pytest.mark.parametrize("what", ["cold", "warm"])
async def test_a_target_that_holds_something_else_is_refused(
    source: Path, target: Path, ledger: Path, what: str
) -> None:
    """The error says what is there; neither the target nor a ledger is written."""
    if what == "cold":
        await furnish(target, "acme")
        shutil.rmtree(target / "warm")
    else:
        async with house_at(target) as house:
            async with house.generations.opened(MODEL, DIMENSIONS) as index:
                for scope, entry in entries_of("acme", 9)[:1]:
                    await index.upsert(scope, [entry])
            await house.generations.mark("acme", generation_of(MODEL))
    before = await everything(target, "acme")
    with pytest.raises(Conflict, match="acme") as error:
        await moved(source, target, ledger)
    assert ("graphs" if what == "cold" else f"warm {MODEL}") in str(error.value)
    assert await everything(target, "acme") == before
    assert list(await everything(target)) == (["acme"] if what == "cold" else [])
    assert content(ledger) is None


async def test_only_one_move_goes_into_a_house(source: Path, target: Path, ledger: Path) -> None:
    """The second is refused while the first holds the house, and writes nothing."""
    async with both(source, target) as (one, other):
        lease = await other.leases.acquire("move", "another", 3600, NOW)
        with pytest.raises(Conflict, match="another move"):
            await move(one, other, (), silent, ledger=ledger, clock=lambda: NOW)
        assert await other.cold.tenants() == ()
        assert content(ledger) is None
        await other.leases.release(lease)
        assert (await move(one, other, (), silent, ledger=ledger)).differences == ()


async def test_a_ledger_speaks_of_one_move(
    source: Path, target: Path, ledger: Path, tmp_path: Path
) -> None:
    """One of other ends, one in use, one that cannot be and one that is no ledger are refused."""
    await moved(source, target, ledger, "acme")
    with pytest.raises(ConfigError, match="is of a move from"):
        await moved(source, tmp_path / "elsewhere", ledger)
    async with both(source, target) as (one, other), Ledger(ledger, one.place, other.place):
        with pytest.raises(ConfigError, match="in use by another move"):
            await move(one, other, (), silent, ledger=ledger)
    with pytest.raises(ConfigError, match="cannot use"):
        await moved(source, target, source / DATABASE_NAME / "ledger.json")
    write(ledger, "{}")
    with pytest.raises(ConfigError, match="is not the ledger of a move"):
        await moved(source, target, ledger)


async def test_what_cannot_be_moved_is_refused(source: Path, target: Path, ledger: Path) -> None:
    """An unknown tenant, and a house into itself."""
    with pytest.raises(NotFound, match="nobody"):
        await moved(source, target, ledger, "nobody")
    async with house_at(source) as house:
        for call in (
            move(house, house, (), silent, ledger=ledger),
            verify(house, house, (), silent),
        ):
            with pytest.raises(UsageError):
                await call
    assert content(ledger) is None


# Comparing two memories: every difference is found and named, and nothing is written.


@pytest.fixture(scope="module")
def moved_once(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the source has moved to; nobody writes into it."""
    folder = tmp_path_factory.mktemp("moved")
    asyncio.run(moved(source, folder / "target", folder / "ledger.json"))
    return folder / "target"


@pytest.fixture
def equal(moved_once: Path, target: Path) -> Path:
    """A target that is equal to the source, and which a test may change."""
    copied(moved_once, target)
    return target


async def test_verify_finds_what_differs_and_shows_no_content(source: Path, equal: Path) -> None:
    """The table and the first row's name; and both sides are only read."""
    for change in CHANGES.values():
        raw(equal, change)
    after = await everything(equal)
    async with both(source, equal) as (one, other):
        report = await verify(one, other, (), silent)
    differences = {one.part: one for one in report.differences}
    assert set(differences) == set(CHANGES)
    assert {one.tenant for one in report.differences} == {"acme"}
    assert differences["facts"].problem.endswith(
        "0 rows are missing, 0 are not the source's, 3 differ"
    )
    assert differences["facts"].first.startswith("race/")
    assert (differences["audit"].first, differences["audit"].problem) == (
        "child/2",
        "at least 1 rows are missing, 0 are not the source's, 0 differ",
    )
    assert differences["belief_events"].first.startswith("child/")
    assert differences["belief_events"].problem.endswith(
        "missing, 1 are not the source's, 0 differ"
    )
    assert differences["beliefs"].problem.endswith("0 are not the source's, 1 differ")
    assert differences["heads"].problem.endswith(
        "3 rows are missing, 0 are not the source's, 0 differ"
    )
    assert "secret" not in str(report)
    assert [one.state for one in report.tenants] == ["equal", "differs"]
    assert await everything(equal) == after


async def test_verify_finds_a_vector_that_differs(source: Path, equal: Path) -> None:
    """One entry whose vector points elsewhere, in an index where all else is equal."""
    async with both(source, equal) as (one, other):
        async with other.generations.opened(MODEL, DIMENSIONS) as index:
            (entry,) = [
                entry
                for entry in (await index.export_entries("acme", "", 1_000)).rows
                if entry.id == entries_of("acme", 1)[8][1].id
            ]
            turned = (*entry.vector[1:], entry.vector[0])
            scope = Scope(tenant="acme", graph_id=entry.graph_id)
            await index.upsert(scope, [entry.model_copy(update={"vector": turned})])
        report = await verify(one, other, (), silent)
    (difference,) = report.differences
    assert (difference.part, difference.first) == (f"warm {MODEL}", f"{entry.graph_id}/{entry.id}")


async def test_vectors_may_differ_in_their_last_bits(source: Path, equal: Path) -> None:
    """An engine that makes them unit length once more is not one that lost them."""
    async with both(source, equal) as (one, other):
        async with other.generations.opened(MODEL, DIMENSIONS) as index:
            for entry in (await index.export_entries("acme", "", 1_000)).rows:
                if entry.vector is not None:
                    near = tuple(number * (1 + 2e-7) for number in entry.vector)
                    scope = Scope(tenant="acme", graph_id=entry.graph_id)
                    await index.upsert(scope, [entry.model_copy(update={"vector": near})])
        report = await verify(one, other, ("acme",), silent)
    assert report.differences == ()
    assert report.tenants[0].parts[-1].vectors == "within 1e-6"


async def test_an_index_without_its_mark_is_a_difference(source: Path, equal: Path) -> None:
    """The target would build it anew: it is not there."""
    async with both(source, equal) as (one, other):
        await other.generations.drop("acme", MODEL)
        report = await verify(one, other, (), silent)
        assert [one.part for one in report.differences] == [f"warm {MODEL}"]

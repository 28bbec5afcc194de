"""Comparing two memories: every difference is found and named, and nothing is written."""

from __future__ import annotations

from pathlib import Path

from support.houses import DIMENSIONS, MODEL, entries_of
from support.moves import CHANGES, both, everything, moved, raw, silent

from ezra.moving import verify
from tiers.records import Scope


async def test_verify_finds_what_differs_and_shows_no_content(
    source: Path, target: Path, ledger: Path
) -> None:
    """The table and the first row's name; and both sides are only read."""
    await moved(source, target, ledger)
    for change in CHANGES.values():
        raw(target, change)
    after = await everything(target)
    async with both(source, target) as (one, other):
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
    assert await everything(target) == after


async def test_verify_finds_a_vector_that_differs(source: Path, target: Path, ledger: Path) -> None:
    """One entry whose vector points elsewhere, in an index where all else is equal."""
    await moved(source, target, ledger)
    async with both(source, target) as (one, other):
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
    assert (difference.part, difference.first) == (
        f"warm {MODEL}",
        f"{entry.graph_id}/{entry.id}",
    )


async def test_vectors_may_differ_in_their_last_bits(
    source: Path, target: Path, ledger: Path
) -> None:
    """An engine that makes them unit length once more is not one that lost them."""
    await moved(source, target, ledger)
    async with both(source, target) as (one, other):
        async with other.generations.opened(MODEL, DIMENSIONS) as index:
            for entry in (await index.export_entries("acme", "", 1_000)).rows:
                if entry.vector is not None:
                    near = tuple(number * (1 + 2e-7) for number in entry.vector)
                    scope = Scope(tenant="acme", graph_id=entry.graph_id)
                    await index.upsert(scope, [entry.model_copy(update={"vector": near})])
        report = await verify(one, other, ("acme",), silent)
    assert report.differences == ()
    assert report.tenants[0].parts[-1].vectors == "within 1e-6"


async def test_an_index_without_its_mark_is_a_difference(
    source: Path, target: Path, ledger: Path
) -> None:
    """The target would build it anew: it is not there."""
    await moved(source, target, ledger)
    async with both(source, target) as (one, other):
        await other.generations.drop("acme", MODEL)
        report = await verify(one, other, (), silent)
        assert [one.part for one in report.differences] == [f"warm {MODEL}"]

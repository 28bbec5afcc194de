"""The contract of ``WarmGenerations``."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from support.generation_backends import GENERATION_BACKENDS, GenerationBackend
from support.tier_samples import DIMENSIONS, NOW, entry_of, query_of, record_id, scope_of

from tiers.errors import ConfigError, TierUnavailable
from tiers.records import Scope
from tiers.upkeep import Generation, WarmGenerations

SCOPE = scope_of()
OTHER_TENANT = scope_of(tenant="acm")
OTHER_GRAPH = scope_of(graph_id="race/2")
STEPS = 70
"""Entries that no engine removes in one step."""

LOOKALIKES = (None, "words", "a/b", "a-b", "A/b", "../a", "m" * 300, "m" * 301)
"""Model ids that a careless engine takes for one another, or for a path."""


@pytest.fixture(params=GENERATION_BACKENDS, ids=lambda backend: backend.name)
def backend(request: pytest.FixtureRequest) -> GenerationBackend:
    """Each engine."""
    return request.param


@pytest.fixture
async def engine(backend: GenerationBackend, tmp_path: Path) -> AsyncIterator[WarmGenerations]:
    """An engine without any generation."""
    async with backend.opened(tmp_path) as opened:
        yield opened


def marked(model_id: str | None, minute: int = 0, **fields: object) -> Generation:
    """Return a mark made ``minute`` minutes after ``NOW``."""
    known = {"dimensions": DIMENSIONS, "marked_at": NOW + timedelta(minutes=minute), **fields}
    return Generation(model_id=model_id, **known)


async def _filled(
    engine: WarmGenerations, model_id: str | None, scope: Scope = SCOPE, count: int = 1
) -> None:
    """Write entries of the scope's graph into a generation and mark it as complete."""
    async with engine.opened(model_id, DIMENSIONS) as store:
        await store.upsert(scope, [entry_of(scope, number) for number in range(count)])
    await engine.mark(scope.tenant, marked(model_id, state="complete"))


async def _count(engine: WarmGenerations, model_id: str | None, scope: Scope = SCOPE) -> int:
    async with engine.opened(model_id, DIMENSIONS) as store:
        return await store.count(scope)


async def test_nothing_is_an_empty_answer(engine: WarmGenerations) -> None:
    """No generations, and dropping what never was is no error."""
    assert await engine.generations("acme") == ()
    await engine.drop("acme", "m")
    await engine.drop("acme", None)
    assert await engine.generations("acme") == ()


async def test_generations_of_different_models_hold_their_own(engine: WarmGenerations) -> None:
    """Side by side, with vectors of different lengths; each is a whole ``WarmStore``."""
    async with engine.opened("m4", DIMENSIONS) as four, engine.opened("m2", 2) as two:
        await four.upsert(SCOPE, [entry_of(SCOPE, 1, "box this lap")])
        await two.upsert(SCOPE, [entry_of(SCOPE, 2, "box next lap", vector=(0.6, 0.8))])
        assert [hit.id for hit in await four.search(SCOPE, query_of("box"))] == [record_id(1)]
        asked = query_of("box", vector=(0.6, 0.8))
        assert [hit.id for hit in await two.search(SCOPE, asked)] == [record_id(2)]
        assert (await four.count(SCOPE), await two.count(SCOPE)) == (1, 1)


async def test_marks_come_back_the_last_one_first(engine: WarmGenerations) -> None:
    """Every field survives; marking again replaces."""
    for model_id in ("a", None, "b"):
        async with engine.opened(model_id, DIMENSIONS):
            pass
    first = marked("a", 1, cursor="17", done=3, total=9)
    second, third = marked(None, 2, state="complete"), marked("b", 3)
    for mark in (second, third, first):
        await engine.mark("acme", mark)
    assert await engine.generations("acme") == (third, second, first)
    later = marked("a", 4, cursor="9 🏎️", done=9, total=9)
    await engine.mark("acme", later)
    assert await engine.generations("acme") == (later, third, second)


async def test_marks_are_each_tenants_own(engine: WarmGenerations) -> None:
    """Names that are prefixes of each other, or hostile, are different tenants."""
    tenants = (
        "acme",
        "acm",
        "acme/x",
        "../acme",
        "ACME",
        "é",
        "e\u0301",
        "$acme",
        "a.b",
        "n" * 256,
    )
    async with engine.opened("m", DIMENSIONS):
        for number, tenant in enumerate(tenants):
            await engine.mark(tenant, marked("m", number, done=number))
    for number, tenant in enumerate(tenants):
        assert [one.done for one in await engine.generations(tenant)] == [number]
    assert await engine.generations("nobody") == ()


async def test_lookalike_models_are_different_generations(engine: WarmGenerations) -> None:
    """Each id, and none, has an index of its own and comes back as it was."""
    for number, model_id in enumerate(LOOKALIKES):
        async with engine.opened(model_id, DIMENSIONS) as store:
            assert await store.count(SCOPE) == 0
            await store.upsert(SCOPE, [entry_of(SCOPE, number)])
        await engine.mark("acme", marked(model_id, number))
    found = await engine.generations("acme")
    assert [one.model_id for one in found] == list(reversed(LOOKALIKES))


async def test_everything_survives_reopening(backend: GenerationBackend, tmp_path: Path) -> None:
    """Entries and marks are there for the next who opens the engine."""
    async with backend.opened(tmp_path) as engine:
        await _filled(engine, "m", count=3)
        (before,) = await engine.generations("acme")
    async with backend.opened(tmp_path) as engine:
        assert await engine.generations("acme") == (before,)
        assert await _count(engine, "m") == 3


async def test_other_dimensions_are_refused(engine: WarmGenerations) -> None:
    """An index never takes vectors of another length, and is unharmed by the attempt."""
    await _filled(engine, "m")
    with pytest.raises(ConfigError, match="dimensions"):
        async with engine.opened("m", DIMENSIONS + 1):
            pass
    assert await _count(engine, "m") == 1


async def test_an_open_index_is_open_once(
    backend: GenerationBackend, engine: WarmGenerations
) -> None:
    """Where an index has one owner, a second opening or a drop is refused by name.

    Where it has many, each sees what the others write.
    """
    await _filled(engine, "m")
    if not backend.is_exclusive:
        async with engine.opened("m", DIMENSIONS) as store:
            assert await _count(engine, "m") == 1
            await store.upsert(SCOPE, [entry_of(SCOPE, 2)])
            assert await _count(engine, "m") == 2
        return
    async with engine.opened("m", DIMENSIONS) as store:
        with pytest.raises(ConfigError):
            await _count(engine, "m")
        with pytest.raises(ConfigError):
            await engine.drop("acme", "m")
        assert await store.count(SCOPE) == 1
    assert len(await engine.generations("acme")) == 1


async def test_a_closed_index_says_so(engine: WarmGenerations) -> None:
    """After its block every call is refused, and it can be opened again."""
    async with engine.opened("m", DIMENSIONS) as store:
        await store.upsert(SCOPE, [entry_of(SCOPE, 1)])
    with pytest.raises(TierUnavailable):
        await store.count(SCOPE)
    assert await _count(engine, "m") == 1


async def test_dropping_the_last_tenant_removes_the_index(
    backend: GenerationBackend, tmp_path: Path
) -> None:
    """Mark and entries are gone, also after reopening; other generations stay."""
    async with backend.opened(tmp_path) as engine:
        await _filled(engine, "m", count=STEPS)
        await _filled(engine, "other")
        await engine.drop("acme", "m")
        await engine.drop("acme", "m")
        assert [one.model_id for one in await engine.generations("acme")] == ["other"]
    async with backend.opened(tmp_path) as engine:
        assert [one.model_id for one in await engine.generations("acme")] == ["other"]
        assert (await _count(engine, "m"), await _count(engine, "other")) == (0, 1)


async def test_a_dropped_index_can_have_other_dimensions(engine: WarmGenerations) -> None:
    """Nothing of the index is left that would refuse them."""
    await _filled(engine, "m")
    await engine.drop("acme", "m")
    async with engine.opened("m", 2) as store:
        await store.upsert(SCOPE, [entry_of(SCOPE, 1, vector=(0.6, 0.8))])
        assert await store.count(SCOPE) == 1


async def test_dropping_one_tenant_leaves_the_others(engine: WarmGenerations) -> None:
    """All graphs of the tenant go, nothing of another's."""
    for scope in (SCOPE, OTHER_TENANT):
        await _filled(engine, "m", scope, count=STEPS)
    await _filled(engine, "m", OTHER_GRAPH)
    await engine.drop("acme", "m")
    assert await engine.generations("acme") == ()
    assert len(await engine.generations("acm")) == 1
    async with engine.opened("m", DIMENSIONS) as store:
        assert await store.count(OTHER_TENANT) == STEPS
        assert (await store.count(SCOPE), await store.count(OTHER_GRAPH)) == (0, 0)

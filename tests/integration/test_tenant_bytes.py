"""Whatever one tenant destroys, every store keeps every byte of the others. Row NE-05."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
from support.generation_backends import GENERATION_BACKENDS, GenerationBackend
from support.isolation.careless import careless
from support.isolation.destruction import (
    COLD_STEPS,
    HOT_STEPS,
    RUNTIME_STEPS,
    WARM_STEPS,
    Ruin,
    Step,
    destroyed,
)
from support.isolation.engines import BENCHES, WARM_RAW, Bench
from support.isolation.planting import plant_warm
from support.isolation.raw import Raw, redis_raw
from support.isolation.runtime import Runtimes, ServedRuntimes, opened
from support.isolation.worlds import World, world_of
from support.tier_samples import DIMENSIONS, NOW

from tiers.upkeep import Generation

DOOMED = "acme"
PAIRS = (
    (DOOMED, "race"),
    ("acm", "race"),
    (DOOMED, "race/2"),
    ("acm", "race/2"),
    ("acme/race", "2"),
    ("ACME", "race"),
)
"""The same graphs, agents, users, topics and even ids in every tenant."""

STEPS: dict[str, dict[str, Step]] = {"hot": HOT_STEPS, "warm": WARM_STEPS, "cold": COLD_STEPS}
LONG = range(1, 9)


def world(corners: int = 4) -> World:
    """Return tenants that are easily taken for each other."""
    return world_of(1, corners=corners, pairs=PAIRS)


def _theirs(raw: Raw) -> dict[tuple[str, str], Any]:
    """Return what is not the doomed tenant's, what is nobody's included."""
    return {place: row for place, row in raw.items() if row.tenant != DOOMED}


def _untouched(before: Raw, after: Raw) -> None:
    kept, found = _theirs(before), _theirs(after)
    assert len(kept) > 5, "there was hardly anything to lose"
    assert {place: found.get(place) for place in kept} == kept
    added = {place: row for place, row in found.items() if place not in kept}
    assert all(row.tenant is None for row in added.values()), "something came to the others"


def _reader(bench: Bench, ports: Any, raw: Callable[[], Awaitable[Raw]]) -> Any:
    """Return how to read the raw engine; a real Redis is asked for its own serialised form."""
    if bench.name != "redis":
        return raw
    return partial(redis_raw, ports._client, "ezra*", dumped=True)


async def _ruined(
    bench: Bench, folder: Path, seed: int, count: int, only: Collection[str] = ()
) -> Ruin:
    steps = {name: step for name, step in STEPS[bench.tier].items() if name in only or not only}
    ruin = Ruin(world(), DOOMED, Random(seed))
    async with bench.opened(ruin.world, folder) as target:
        read = _reader(bench, target.ports, target.raw)
        before = await read()
        await destroyed(target.ports, ruin, steps, count)
        after = await read()
    _untouched(before, after)
    assert before != after
    return ruin


def _name(found: Any) -> str:
    return found.name


@pytest.mark.parametrize("bench", BENCHES, ids=_name)
async def test_others_keep_every_byte(bench: Bench, tmp_path: Path) -> None:
    """Every destructive call of every port, at least once, on every engine."""
    ruin = await _ruined(bench, tmp_path, seed=1, count=2 * len(STEPS[bench.tier]))
    assert set(ruin.done) == set(STEPS[bench.tier])


@pytest.mark.parametrize(
    ("name", "step"),
    [("in process", "clear"), ("edge", "expire"), ("sqlite", "redact"), ("sqlite", "refund")],
)
async def test_a_store_that_forgets_the_tenant_is_found_out(
    name: str, step: str, tmp_path: Path
) -> None:
    """The property can fail: a store that takes every tenant for one destroys the others."""
    (bench,) = [one for one in BENCHES if one.name == name]
    with pytest.raises(AssertionError):
        await _ruined(careless(bench, "tenant"), tmp_path, seed=1, count=3, only=[step])


@pytest.mark.slow
@pytest.mark.parametrize("seed", LONG)
@pytest.mark.parametrize("bench", BENCHES, ids=_name)
async def test_others_keep_every_byte_for_long(bench: Bench, seed: int, tmp_path: Path) -> None:
    """The same, many times over, in another order each time."""
    await _ruined(bench, tmp_path, seed=seed, count=300)


@pytest.mark.parametrize(
    "backend", [one for one in GENERATION_BACKENDS if one.name in WARM_RAW], ids=_name
)
async def test_others_keep_their_index_when_a_tenant_is_dropped(
    backend: GenerationBackend, tmp_path: Path
) -> None:
    """Dropping a tenant from an index that it shares takes out its own entries alone."""
    async with backend.opened(tmp_path) as generations:
        filled = world()
        async with generations.opened("model", DIMENSIONS) as store:
            await plant_warm(store, filled)
            for tenant in filled.tenants:
                known = {"model_id": "model", "dimensions": DIMENSIONS, "marked_at": NOW}
                await generations.mark(tenant, Generation(**known))
            before = dict(await WARM_RAW[backend.name](store)())
        await generations.drop(DOOMED, "model")
        async with generations.opened("model", DIMENSIONS) as store:
            after = await WARM_RAW[backend.name](store)()
    _untouched(before, after)
    assert not [row for row in after.values() if row.tenant == DOOMED]


async def _lived_and_ruined(
    make: Callable[[Path, World], Runtimes], folder: Path, seed: int, count: int
) -> Ruin:
    ruin = Ruin(world(corners=3), DOOMED, Random(seed))
    async with opened(ruin.world, folder, make) as target:
        before = await target.raw()
        await destroyed(target.ports, ruin, RUNTIME_STEPS, count)
        after = await target.raw()
    _untouched(before, after)
    assert before != after
    return ruin


@pytest.mark.parametrize(
    "make",
    [Runtimes, pytest.param(ServedRuntimes, marks=pytest.mark.slow)],
    ids=["embedded", "servers"],
)
async def test_others_keep_every_byte_of_a_whole_life(
    make: Callable[[Path, World], Runtimes], tmp_path: Path
) -> None:
    """Through the public API: redacted, closed, archived, superseded, revoked, aged for years."""
    ruin = await _lived_and_ruined(make, tmp_path, seed=1, count=len(RUNTIME_STEPS))
    assert set(ruin.done) == set(RUNTIME_STEPS)


@pytest.mark.slow
@pytest.mark.parametrize("seed", LONG)
@pytest.mark.parametrize("make", [Runtimes, ServedRuntimes], ids=["embedded", "servers"])
async def test_others_keep_every_byte_of_many_lives(
    make: Callable[[Path, World], Runtimes], seed: int, tmp_path: Path
) -> None:
    """The same, many times over, in another order each time."""
    await _lived_and_ruined(make, tmp_path, seed=seed, count=120)

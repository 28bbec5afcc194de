"""Memories to move: opened as the command opens them, furnished, and read out whole."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from random import Random
from typing import Any

from ezra.assembly.engines import opened_house
from ezra.moving import House
from ezra.moving.side import Side
from ezra.settings import Settings
from tiers.cold.sqlite import sqlite_cold_store
from tiers.records import IndexEntry, Scope
from tiers.upkeep import Generation
from tiers.warm.edge_generations import edge_generations

from .cold_estate import exported, fill
from .tier_samples import HOSTILE_TEXT, NOW, entry_of, scope_of

MODEL = "test-model@fp32"
DIMENSIONS = 8
ENTRIES = 60


def house_at(home: Path) -> AbstractAsyncContextManager[House]:
    """Return the embedded memory in a folder, to be entered."""
    return opened_house(Settings(home=home, redis_url=None, qdrant_url=None, mongodb_uri=None))


def generation_of(model_id: str | None, **fields: Any) -> Generation:
    """Return how far an index has come: complete, unless fields say no."""
    known = {"dimensions": DIMENSIONS, "state": "complete", "cursor": "[7]", "marked_at": NOW}
    return Generation(model_id=model_id, **{**known, **fields})


def entries_of(tenant: str, seed: int, *, vectors: bool = True) -> list[tuple[Scope, IndexEntry]]:
    """Return entries of several graphs, some without a vector, some private, some that expire."""
    random = Random(seed)
    found = []
    for number in range(ENTRIES):
        scope = scope_of(tenant, ("race", "child", "a%")[number % 3], "strategist")
        vector = tuple(random.gauss(0, 1) for _ in range(DIMENSIONS))
        entry = entry_of(
            scope,
            seed * 1_000 + number,
            f"{HOSTILE_TEXT} number {number}",
            vector=vector if vectors and number % 7 else None,
            private=number % 5 == 0,
            topics=("tyres",) if number % 2 else (),
            expires_at=NOW if number % 11 == 0 else None,
            kind="fact" if number % 4 else "turn",
            tier="archival" if number % 4 else None,
        )
        found.append((scope, entry))
    return found


async def furnish(home: Path, *tenants: str) -> None:
    """Make a memory with something of everything, and an index; the last tenant has three.

    One of its three is of words only, and one is half built.
    """
    async with sqlite_cold_store(home) as cold:
        for tenant in tenants:
            await fill(cold, tenant)
    generations = [
        generation_of(None, marked_at=NOW.replace(year=2025)),
        generation_of("half@fp32", state="building", done=3, total=9),
        generation_of(MODEL),
    ]
    async with edge_generations(home / "warm") as warm:
        for one in generations:
            async with warm.opened(one.model_id, DIMENSIONS) as index:
                for seed, tenant in enumerate(tenants):
                    if tenant == tenants[-1] or one.model_id == MODEL:
                        entries = entries_of(tenant, seed, vectors=one.model_id is not None)
                        for scope, entry in entries:
                            await index.upsert(scope, [entry])
                        await warm.mark(tenant, one)


async def inventory(house: House, tenants: Sequence[str]) -> dict[str, Any]:
    """Return everything that a house holds of the tenants and that moves."""
    found: dict[str, Any] = {}
    async with Side(house) as side:
        for tenant in tenants:
            found[tenant] = await exported(house.cold, tenant)
            for one in await house.generations.generations(tenant):
                if one.state == "complete":
                    index = await side.index(one)
                    page = await index.export_entries(tenant, "", 1_000)
                    mark = one.model_copy(update={"cursor": ""})
                    found[tenant][f"warm {one.model_id}"] = (mark, page.rows)
    return found

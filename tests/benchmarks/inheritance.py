"""What hydration costs as ancestors, their sessions and their core facts grow, one at a time.

Run: .venv/bin/python tests/benchmarks/inheritance.py [--count 200] [--json]

Each row is one world in a SQLite file of its own: so many ancestors in a chain, so many turns and
archival facts in all of them together, so many core facts in all of them together. ``standing`` is
who is there and whom it inherits from, ``core`` the core facts of all of them. The ratio is that of
both together to the first row of the same run.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.cold_samples import fact_by, graph_of, turn_by
from support.tier_samples import NOW, scope_of

from tiers.cold.sqlite import sqlite_cold_store
from tiers.cold.stores import ColdStores
from tiers.records import AgentRecord, Scope


class World(NamedTuple):
    """How much there is, in all ancestors together."""

    ancestors: int
    sessions: int
    core_facts: int


WORLDS = (
    World(1, 0, 100),
    World(10, 0, 100),
    World(100, 0, 100),
    World(300, 0, 100),
    World(10, 20_000, 100),
    World(10, 0, 1_000),
)


async def built(cold: ColdStores, world: World) -> Scope:
    """Fill a store and return the scope of the agent that inherits all of it."""
    for number in range(world.ancestors):
        parents = [f"g{number - 1}"] if number else []
        await cold.graphs.create_graph(graph_of(f"g{number}", *parents))
    await cold.graphs.create_graph(graph_of("reader", f"g{world.ancestors - 1}"))
    scopes = [scope_of(graph_id=f"g{number}") for number in range(world.ancestors)]
    for number in range(world.core_facts):
        owner = scopes[number % len(scopes)]
        await cold.semantic.put_fact(owner, fact_by(owner, f"Core fact {number}.", tier="core"))
    for number in range(world.sessions // 2):
        owner = scopes[number % len(scopes)]
        await cold.turns.append_turn(owner, turn_by(owner, f"Turn {number}."))
        await cold.semantic.put_fact(owner, fact_by(owner, f"Archival fact {number}."))
    asker = scope_of(graph_id="reader", agent_id="a", topics=("tyres",))
    await cold.fleet.spawn(
        AgentRecord(tenant="acme", graph_id="reader", id="a", topics=("tyres",), spawned_at=NOW)
    )
    return asker


async def timed(call: Callable[[], Awaitable[object]], count: int) -> float:
    """Return the median milliseconds of a call."""
    taken = []
    for _ in range(count):
        started = time.perf_counter()
        await call()
        taken.append((time.perf_counter() - started) * 1000)
    return statistics.median(taken)


async def measured(world: World, count: int) -> dict[str, float]:
    """Return what standing and core facts cost in a world."""
    with tempfile.TemporaryDirectory() as folder:
        async with sqlite_cold_store(Path(folder)) as cold:
            asker = await built(cold, world)
            standing = await cold.graphs.standing(asker)
            if standing is None or len(standing.lineage) != world.ancestors:
                message = "the world was not built"
                raise RuntimeError(message)
            heir = asker.model_copy(update={"lineage": standing.lineage})
            return {
                "standing": await timed(lambda: cold.graphs.standing(asker), count),
                "core": await timed(lambda: cold.semantic.core(heir), count),
            }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200, help="calls per figure")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    chosen = parser.parse_args()
    rows = []
    for world in WORLDS:
        found = asyncio.run(measured(world, chosen.count))
        both = found["standing"] + found["core"]
        first = rows[0]["both"] if rows else both
        rows.append({**world._asdict(), **found, "both": both, "ratio": both / first})
    if chosen.json:
        print(json.dumps(rows, indent=2))  # noqa: T201
        return
    print("ancestors  sessions  core facts  standing ms  core ms  ratio")  # noqa: T201
    for row in rows:
        print(  # noqa: T201
            f"{row['ancestors']:>9}  {row['sessions']:>8}  {row['core_facts']:>10}"
            f"  {row['standing']:>11.2f}  {row['core']:>7.2f}  {row['ratio']:>5.2f}"
        )


if __name__ == "__main__":
    main()

"""What each operation of each store costs on each engine, side by side.

Run: .venv/bin/python tests/benchmarks/stores.py [--count 300] [--tier TIER] [--json]

Every engine of a tier does the same operations on the same records in this one run; compare its
columns. ``redis`` is a real server on a Unix socket. ``qdrant http`` and the MongoDB columns are
the real clients talking over loopback to the stand-ins of the test suite, in processes of their
own: they show what client, protocol and adapter cost, not a Qdrant or MongoDB server.
Milliseconds; ``drivers.py`` has what the two MongoDB drivers cost by themselves.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import random
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from stand_in import served
from support.cold_samples import belief_by, draft, fact_by, graph_of, turn_by
from support.redis_server import running_redis
from support.tier_samples import NOW, mesh_of, record_id, scope_of, turn_of

from tiers.cold.mongo import mongo_cold_store
from tiers.cold.sqlite import sqlite_cold_store
from tiers.cold.stores import ColdStores
from tiers.hot import embedded_hot_store, redis_hot_store
from tiers.ports import HotStore, WarmStore
from tiers.records import IndexEntry, SearchQuery
from tiers.warm import edge_warm_store
from tiers.warm.qdrant_store import qdrant_warm_store

DIMENSIONS = 384
TIERS = ("hot", "warm", "cold")
ENTRIES = 3_000
SYLLABLES = "ba co du fe gi lo ma ne pi ro sa tu ve wi xo ya".split()
SCOPE = scope_of()

Operation = Callable[[int], Awaitable[object]]
Opened = AbstractAsyncContextManager[dict[str, Operation]]


def words(seeded: random.Random, count: int) -> str:
    """Return made-up words."""
    return " ".join("".join(seeded.choices(SYLLABLES, k=2)) for _ in range(count))


def unit(seeded: random.Random) -> tuple[float, ...]:
    """Return a random vector of unit length."""
    raw = [seeded.gauss(0, 1) for _ in range(DIMENSIONS)]
    length = math.hypot(*raw)
    return tuple(one / length for one in raw)


@asynccontextmanager
async def hot(opened: AbstractAsyncContextManager[HotStore]) -> AsyncIterator[dict[str, Operation]]:
    """The hot tier's operations."""
    async with opened as store:
        yield {
            "append": lambda n: store.append(SCOPE, turn_of(SCOPE, n + 1), 8),
            "read": lambda _: store.read(SCOPE),
            "put_mesh": lambda _: store.put_mesh(SCOPE, mesh_of("gap to the leader: 2.1 s")),
        }


@asynccontextmanager
async def warm(
    opened: AbstractAsyncContextManager[WarmStore],
) -> AsyncIterator[dict[str, Operation]]:
    """The warm tier's operations, over ``ENTRIES`` entries."""
    seeded = random.Random(7)
    graph = SCOPE.for_graph()

    def entry(number: int) -> IndexEntry:
        return IndexEntry(
            id=record_id(number),
            tenant=SCOPE.tenant,
            graph_id=SCOPE.graph_id,
            agent_id="strategist",
            topics=("tyres",) if number % 2 else ("fuel",),
            kind="turn",
            text=words(seeded, 12),
            vector=unit(seeded),
            recorded_at=NOW,
        )

    def query(*, dense: bool) -> SearchQuery:
        vector = unit(seeded) if dense else None
        return SearchQuery(text=words(seeded, 6), vector=vector, kinds=("turn",), now=NOW)

    async with opened as store:
        for start in range(0, ENTRIES, 500):
            await store.upsert(graph, [entry(start + n) for n in range(500)])
        topical = scope_of(topics=("tyres",))
        yield {
            "upsert 1": lambda n: store.upsert(graph, [entry(ENTRIES + n)]),
            "search hybrid": lambda _: store.search(topical, query(dense=True)),
            "search words": lambda _: store.search(topical, query(dense=False)),
            "delete 1": lambda n: store.delete(graph, [record_id(n)]),
        }


@asynccontextmanager
async def cold(
    opened: AbstractAsyncContextManager[ColdStores],
) -> AsyncIterator[dict[str, Operation]]:
    """The cold tier's operations."""
    seeded = random.Random(7)

    async with opened as stores:
        await stores.graphs.create_graph(graph_of(SCOPE.graph_id))

        async def claim_and_complete(_: int) -> None:
            (work,) = await stores.queue.claim(("index",), "bench", 1, 60, NOW)
            await stores.queue.complete(work)

        def ask(_: int) -> Awaitable[object]:
            query = SearchQuery(text=words(seeded, 4), kinds=("fact",), now=NOW)
            return stores.semantic.recall_archival(SCOPE, query)

        yield {
            "append_turn + work": lambda n: stores.turns.append_turn(
                SCOPE, turn_by(SCOPE, words(seeded, 12)), [draft(f"turn-{n}")]
            ),
            "recent_turns": lambda _: stores.turns.recent_turns(SCOPE, 8),
            "put_fact": lambda _: stores.semantic.put_fact(SCOPE, fact_by(SCOPE, words(seeded, 8))),
            "core": lambda _: stores.semantic.core(SCOPE),
            "recall_archival": ask,
            "commit": lambda n: stores.beliefs.commit(
                SCOPE, belief_by(SCOPE, words(seeded, 8), key=("car", f"part {n}"))
            ),
            "active": lambda _: stores.beliefs.active(SCOPE),
            "claim + complete": claim_and_complete,
        }


async def timed(opened: Opened, count: int) -> dict[str, tuple[float, float]]:
    """Return p50 and p95 of each operation in milliseconds."""
    found: dict[str, tuple[float, float]] = {}
    async with opened as operations:
        for name, operation in operations.items():
            times = []
            for number in range(count):
                started = time.perf_counter()
                await operation(number)
                times.append((time.perf_counter() - started) * 1000)
            found[name] = (statistics.median(times), statistics.quantiles(times, n=20)[-1])
    return found


def engines(tier: str, folder: Path, stack: ExitStack) -> dict[str, Opened]:
    """Return the tier's engines, servers and stand-ins started."""
    if tier == "hot":
        redis = stack.enter_context(running_redis())
        return {
            "fakeredis": hot(embedded_hot_store()),
            "redis": hot(redis_hot_store(redis.url)),
        }
    if tier == "warm":
        qdrant = stack.enter_context(served("qdrant"))
        return {
            "edge": warm(edge_warm_store(folder / "warm", dimensions=DIMENSIONS)),
            "qdrant http": warm(qdrant_warm_store(qdrant, dimensions=DIMENSIONS)),
        }
    mongo = stack.enter_context(served("mongo"))
    return {
        "sqlite": cold(sqlite_cold_store(folder / "cold")),
        "mongo pymongo": cold(mongo_cold_store(mongo, database="one", driver="pymongo")),
        "mongo motor": cold(mongo_cold_store(mongo, database="two", driver="motor")),
    }


async def compare(tier: str, count: int) -> dict[str, dict[str, tuple[float, float]]]:
    """Return the figures of every engine of a tier."""
    with tempfile.TemporaryDirectory(prefix="ezra-stores-") as folder, ExitStack() as stack:
        opened = engines(tier, Path(folder), stack)
        return {name: await timed(one, count) for name, one in opened.items()}


def table(tier: str, found: dict[str, dict[str, tuple[float, float]]]) -> str:
    """Return the figures as a Markdown table."""
    names = list(found)
    lines = [
        f"| {tier} (p50 / p95 ms) | {' | '.join(names)} |",
        f"|---{'|---' * len(names)}|",
    ]
    for operation in found[names[0]]:
        cells = (
            f"{found[name][operation][0]:.2f} / {found[name][operation][1]:.2f}" for name in names
        )
        lines.append(f"| {operation} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Print a table per tier."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=300, help="repetitions per figure")
    parser.add_argument("--tier", choices=TIERS, help="one tier only")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    tiers = [options.tier] if options.tier else TIERS
    found: dict[str, Any] = {tier: asyncio.run(compare(tier, options.count)) for tier in tiers}
    if options.json:
        print(json.dumps(found, indent=2))  # noqa: T201
        return
    print("\n\n".join(table(tier, found[tier]) for tier in tiers))  # noqa: T201


if __name__ == "__main__":
    main()

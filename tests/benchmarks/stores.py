"""What each operation of each store costs on each engine, side by side.

Run: .venv/bin/python tests/benchmarks/stores.py [--count 300] [--tier TIER] [--processor]
     [--records N] [--against CHECKOUT] [--json]

With ``--against`` the same operations are done by another checkout of this repository, in a
process of its own and in turns with this one; the figures are this one's median over the other's.

Every engine of a tier does the same operations on the same records in this one run; compare its
columns. ``redis`` is a real server on a Unix socket. ``qdrant http`` and the MongoDB columns are
the real clients talking over loopback to the stand-ins of the test suite, in processes of their
own: they show what client, protocol and adapter cost, not a Qdrant or MongoDB server.
Milliseconds of the clock, or with ``--processor`` of this process's own work, a server's apart;
``drivers.py`` has what the two MongoDB drivers cost by themselves.
"""

from __future__ import annotations

import argparse
import asyncio
import inspect
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

# Another checkout stores samples of its own: those of this one may be of types that it has not.
sys.path.insert(0, os.environ.get("EZRA_BENCHMARK_SAMPLES", str(Path(__file__).parents[1])))

from stand_in import served
from support.cold_samples import (
    belief_by,
    draft,
    episode_by,
    fact_by,
    graph_of,
    receipt_by,
    rule_by,
    summary_by,
    turn_by,
)
from support.document_reference import document_by
from support.redis_server import running_redis
from support.tier_samples import NOW, mesh_of, record_id, scope_of, turn_of

from tiers.cold.mongo import mongo_cold_store
from tiers.cold.sqlite import sqlite_cold_store
from tiers.cold.stores import ColdStores
from tiers.documents import PassageDraft
from tiers.hot import embedded_hot_store, redis_hot_store
from tiers.ports import HotStore, WarmStore
from tiers.records import Fact, IndexEntry, Scope, SearchQuery, Turn
from tiers.warm import edge_warm_store
from tiers.warm.qdrant_store import qdrant_warm_store

DIMENSIONS = 384
TIERS = ("hot", "warm", "cold")
ENGINES = "in process,redis,edge,qdrant http,sqlite,mongo pymongo,mongo motor".split(",")
ENTRIES = 3_000
SYLLABLES = "ba co du fe gi lo ma ne pi ro sa tu ve wi xo ya".split()
SCOPE = scope_of()

Operation = Callable[[int], Awaitable[object]]
Opened = AbstractAsyncContextManager[dict[str, Operation]]
Figures = dict[str, dict[str, tuple[float, float]]]


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
    opened: AbstractAsyncContextManager[ColdStores], records: int
) -> AsyncIterator[dict[str, Operation]]:
    """The cold tier's operations, over so many turns and a third as many facts and beliefs."""
    seeded = random.Random(7)

    async with opened as stores:
        await stores.graphs.create_graph(graph_of(SCOPE.graph_id))
        bench = _Bench(stores, seeded)
        await bench.fill(records)
        yield bench.operations()


class _Bench:
    """A graph of a certain size, and what is done to it."""

    def __init__(self, stores: ColdStores, seeded: random.Random) -> None:
        self._stores = stores
        self._seeded = seeded
        self._whole = Scope.of_graph(SCOPE.tenant, SCOPE.graph_id)
        self._turns: list[Turn] = []
        self._facts: list[Fact] = []
        self._summaries: list[str] = []
        self._committed = 0

    async def fill(self, records: int) -> None:
        for number in range(max(records, 400)):
            await self._turn(number)
        for number in range(max(records // 3, 60)):
            await self._fact(number)
            await self._commit(number)

    def operations(self) -> dict[str, Operation]:
        stores = self._stores
        return {
            "append_turn + work": self._turn,
            "recent_turns": lambda _: stores.turns.recent_turns(SCOPE, 8),
            "turns by id": lambda n: stores.turns.turns(SCOPE, self._some(self._turns, n, 8)),
            "waiting_turns": lambda _: stores.turns.waiting_turns(SCOPE, 8, 16),
            "around": lambda n: stores.recollection.sight_around(
                SCOPE, self._some(self._turns, n, 4), 2, 2, ()
            ),
            "put_summary": self._summary,
            "put_episode": self._episode,
            "put_fact": self._fact,
            "core": lambda _: stores.semantic.core(SCOPE),
            "recall_archival": self._ask,
            "add_uses": self._use,
            "set_tier": self._promote,
            "supersede": self._supersede,
            "settle": self._settle,
            "forget": lambda _: stores.review.forget(SCOPE, self._facts.pop().id, "asked", NOW),
            "neighbours": lambda n: stores.knowledge.neighbours(SCOPE, [f"driver {n % 40}"], 2, 20),
            "path": lambda n: stores.knowledge.path(
                SCOPE, f"driver {n % 40}", f"driver {(n + 7) % 40}", 4
            ),
            "put_rule": lambda n: stores.procedural.put_rule(
                SCOPE, rule_by(SCOPE, words(self._seeded, 3), steps=(f"Do {n}.",))
            ),
            "match_rules": lambda _: stores.procedural.match_rules(
                SCOPE, words(self._seeded, 6), 5
            ),
            "search_words": self._search,
            "word_statistics": lambda _: stores.recollection.word_statistics(
                SCOPE, words(self._seeded, 6), ("turn", "fact")
            ),
            "commit": self._commit,
            "active": lambda _: stores.beliefs.active(SCOPE),
            "put_receipt": lambda _: stores.log.put_receipt(SCOPE, receipt_by(SCOPE)),
            "revise document": self._revise,
            "claim + complete": self._claim,
        }

    @staticmethod
    def _some(records: list[Any], number: int, count: int) -> list[str]:
        return [records[(number * 7 + step * 13) % len(records)].id for step in range(count)]

    async def _turn(self, number: int) -> None:
        turn = turn_by(SCOPE, words(self._seeded, 12))
        kept, _ = await self._stores.turns.append_turn(SCOPE, turn, [draft(f"turn-{number}")])
        self._turns.append(kept)

    async def _fact(self, number: int) -> None:
        fact = fact_by(
            SCOPE,
            words(self._seeded, 8),
            subject=f"driver {number % 40}",
            predicate="beats",
            object=f"driver {(number * 3 + 1) % 40}",
        )
        kept, _ = await self._stores.semantic.put_fact(SCOPE, fact)
        self._facts.append(kept)

    async def _commit(self, _: int) -> None:
        self._committed += 1  # a rival that nobody settled would end the commit
        key = ("car", f"part {self._committed}")
        belief = belief_by(SCOPE, words(self._seeded, 8), key=key)
        await self._stores.beliefs.commit(SCOPE, belief)

    async def _summary(self, number: int) -> None:
        turns = self._turns[number * 2 :][:2]
        summary = summary_by(SCOPE, turns, text=words(self._seeded, 20))
        await self._stores.episodic.put_summary(SCOPE, summary)
        self._summaries.append(summary.id)

    async def _episode(self, _: int) -> None:
        made = episode_by(SCOPE, [self._summaries.pop()], text=words(self._seeded, 20))
        await self._stores.episodic.put_episode(SCOPE, made)

    async def _use(self, number: int) -> None:
        """Count uses of some facts, also in a checkout that counts those of one cause at a time."""
        semantic: Any = self._stores.semantic
        cause, ids = f"turn {number}", self._some(self._facts, number, 10)
        is_former = "cause" in inspect.signature(semantic.add_uses).parameters
        await semantic.add_uses(
            *((SCOPE, cause, ids) if is_former else ({SCOPE: {cause: ids}},)), NOW
        )

    async def _promote(self, number: int) -> None:
        fact = self._facts[number % len(self._facts)]
        tier = "core" if fact.tier == "archival" else "archival"
        await self._stores.semantic.set_tier(SCOPE, fact, tier, "used often", NOW)
        self._facts[number % len(self._facts)] = fact.model_copy(update={"tier": tier})

    async def _supersede(self, _: int) -> None:
        old, new = self._facts.pop(), self._facts[0]
        await self._stores.semantic.supersede(SCOPE, old.id, new.id, NOW)

    async def _settle(self, number: int) -> None:
        fact = self._facts[number % len(self._facts)]
        await self._stores.review.settle(self._whole, fact.id, [], NOW)

    def _ask(self, _: int) -> Awaitable[object]:
        query = SearchQuery(text=words(self._seeded, 4), kinds=("fact",), now=NOW)
        return self._stores.semantic.recall_archival(SCOPE, query)

    def _search(self, _: int) -> Awaitable[object]:
        query = SearchQuery(text=words(self._seeded, 6), kinds=("turn", "fact"), now=NOW)
        return self._stores.words.search_words(SCOPE, query)

    async def _revise(self, number: int) -> None:
        document = document_by(SCOPE, f"notes-{number % 5}.md", str(number), number // 5 + 1)
        passages = [PassageDraft(words(self._seeded, 30)) for _ in range(20)]
        await self._stores.shelf.revise(SCOPE, document, passages)

    async def _claim(self, _: int) -> None:
        (work,) = await self._stores.queue.claim(("index",), "bench", 1, 60, NOW)
        await self._stores.queue.complete(work)


async def timed(
    opened: Opened, count: int, clock: Callable[[], float]
) -> dict[str, tuple[float, float]]:
    """Return p50 and p95 of each operation in milliseconds of a clock that counts seconds."""
    found: dict[str, tuple[float, float]] = {}
    async with opened as operations:
        for name, operation in operations.items():
            times = []
            for number in range(count):
                started = clock()
                await operation(number)
                times.append((clock() - started) * 1000)
            found[name] = (statistics.median(times), statistics.quantiles(times, n=20)[-1])
    return found


def engines(tier: str, folder: Path, stack: ExitStack, records: int) -> dict[str, Opened]:
    """Return the tier's engines, servers and stand-ins started."""
    if tier == "hot":
        redis = stack.enter_context(running_redis())
        return {"in process": hot(embedded_hot_store()), "redis": hot(redis_hot_store(redis.url))}
    if tier == "warm":
        qdrant = stack.enter_context(served("qdrant"))
        return {
            "edge": warm(edge_warm_store(folder / "warm", dimensions=DIMENSIONS)),
            "qdrant http": warm(qdrant_warm_store(qdrant, dimensions=DIMENSIONS)),
        }
    mongo = stack.enter_context(served("mongo"))
    return {
        "sqlite": cold(sqlite_cold_store(folder / "cold"), records),
        "mongo pymongo": cold(mongo_cold_store(mongo, database="one", driver="pymongo"), records),
        "mongo motor": cold(mongo_cold_store(mongo, database="two", driver="motor"), records),
    }


async def compare(
    tier: str, only: str | None, count: int, records: int, clock: Callable[[], float]
) -> Figures:
    """Return the figures of every engine of a tier, or of one."""
    with tempfile.TemporaryDirectory(prefix="ezra-stores-") as folder, ExitStack() as stack:
        opened = engines(tier, Path(folder), stack, records)
        return {
            name: await timed(one, count, clock)
            for name, one in opened.items()
            if only in (None, name)
        }


def table(tier: str, found: dict[str, dict[str, tuple[float, float]]]) -> str:
    """Return the figures as a Markdown table."""
    names = list(found)
    lines = [f"| {tier} (p50 / p95 ms) | {' | '.join(names)} |", f"|---{'|---' * len(names)}|"]
    for operation in found[names[0]]:
        cells = (
            f"{found[name][operation][0]:.3f} / {found[name][operation][1]:.3f}" for name in names
        )
        lines.append(f"| {operation} | {' | '.join(cells)} |")
    return "\n".join(lines)


def ratios(options: argparse.Namespace, rounds: int = 3) -> dict[str, dict[str, float]]:
    """Return this checkout's medians over another's, each done several times in turns."""
    arguments = [
        *("--tier", "cold", "--processor", "--json"),
        *("--count", str(options.count), "--records", str(options.records)),
        *(("--engine", options.engine) if options.engine else ()),
    ]
    here, there = [], []
    for _ in range(rounds):
        for found, root in ((here, Path(__file__).parents[2]), (there, options.against)):
            checkout = root.resolve()
            own = {"PYTHONPATH": str(checkout), "EZRA_BENCHMARK_SAMPLES": str(checkout / "tests")}
            done = subprocess.run(
                [sys.executable, __file__, *arguments],
                env=os.environ | own,
                capture_output=True,
                check=True,
            )
            found.append(json.loads(done.stdout)["cold"])
    return {
        engine: {name: _best(here, engine, name) / _best(there, engine, name) for name in figures}
        for engine, figures in here[0].items()
    }


def _best(rounds: list[Figures], engine: str, operation: str) -> float:
    return min(found[engine][operation][0] for found in rounds)


def main() -> None:
    """Print a table per tier."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=300, help="repetitions per figure")
    parser.add_argument("--records", type=int, default=1_000, help="turns in the cold tier before")
    parser.add_argument("--tier", choices=TIERS, help="one tier only")
    parser.add_argument("--engine", choices=ENGINES, help="one only, as its column is called")
    parser.add_argument("--processor", action="store_true", help="the processor's time, not ours")
    parser.add_argument("--against", type=Path, help="another checkout, to compare the cold tier")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    if options.against is not None:
        found = ratios(options)
        lines = (
            f"{engine:14} {name:20} {ratio:5.2f}"
            for engine, figures in found.items()
            for name, ratio in figures.items()
        )
        print(json.dumps(found, indent=2) if options.json else "\n".join(lines))  # noqa: T201
        return
    clock = time.process_time if options.processor else time.perf_counter
    tiers = [options.tier] if options.tier else TIERS
    measured: dict[str, Figures] = {
        tier: asyncio.run(compare(tier, options.engine, options.count, options.records, clock))
        for tier in tiers
    }
    if options.json:
        print(json.dumps(measured, indent=2))  # noqa: T201
        return
    print("\n\n".join(table(tier, measured[tier]) for tier in tiers))  # noqa: T201


if __name__ == "__main__":
    main()

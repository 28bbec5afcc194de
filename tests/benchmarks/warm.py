"""Milliseconds of a dense search in the embedded warm index, and of nothing else.

Run: .venv/bin/python tests/benchmarks/warm.py [--entries 2760,100000] [--graphs 10]
     [--asked 60] [--written] [--json]

Entries have random unit vectors of 384 dimensions, one to no topics and users, five writers and
three kinds. Each size is asked in one graph; the largest also cut into ``--graphs`` graphs. Asked
is an agent of a user with the 80 nearest: turns, every kind, every kind of two topics, and turns
of one day. ``wall`` is what the caller waits, ``busy`` the processor's time for it; both are one
call of the engine, during which nothing else in the process runs: it holds the interpreter's lock.
The index is opened anew before it is asked: in the process that has just
written all of it, ``--written``, the engine's memory is scattered and a search takes twice as long.
``wall`` depends on what else the machine does; its least is what it takes when there is nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import tempfile
import time
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeAlias, get_args

import numpy as np

from tiers.ports import WarmStore
from tiers.records import IndexEntry, Kind, Scope, SearchQuery
from tiers.warm import edge_warm_store

DIMENSIONS = 384
BATCH = 500
LIMIT = 80
NOW = datetime(2026, 3, 1, tzinfo=UTC)
KINDS: tuple[Kind, ...] = ("turn", "turn", "turn", "fact", "summary")
Rows: TypeAlias = dict[str, dict[str, float]]
EVERY_KIND: tuple[Kind, ...] = get_args(Kind)
WORDS = [f"word{number}" for number in range(5_000)]

QUESTIONS: dict[str, dict[str, Any]] = {
    "turns": {"kinds": ("turn",)},
    "every kind": {"kinds": EVERY_KIND},
    "two topics": {"kinds": EVERY_KIND, "topics": ("topic1", "topic2")},
    "one day": {"kinds": ("turn",), "since": NOW - timedelta(days=2), "until": NOW},
}


def scope_of(graph: int) -> Scope:
    """Return the scope of an agent who works for a user and sees two topics in three."""
    topics = ("topic0", "topic1")
    return Scope(tenant="t", graph_id=f"g{graph}", agent_id="a1", user_id="u1", topics=topics)


def entries_of(graph: int, count: int, random_words: random.Random) -> Iterator[list[IndexEntry]]:
    """Yield a graph's entries in batches; one a minute, the last one now."""
    vectors = np.random.default_rng(graph)
    for start in range(0, count, BATCH):
        some = vectors.standard_normal((min(BATCH, count - start), DIMENSIONS))
        some /= np.linalg.norm(some, axis=1, keepdims=True)
        batch = []
        for number, vector in enumerate(some.tolist(), start=start):
            kind = KINDS[number % len(KINDS)]
            at = NOW - timedelta(minutes=count - number)
            batch.append(
                IndexEntry(
                    id=str(uuid.UUID(int=graph * 10_000_000 + number)),
                    tenant="t",
                    graph_id=f"g{graph}",
                    agent_id=f"a{number % 5}",
                    user_id=None if number % 3 else f"u{number % 2}",
                    topics=(f"topic{number % 3}",) if number % 5 else (),
                    kind=kind,
                    tier="archival" if kind == "fact" else None,
                    text=" ".join(random_words.choices(WORDS, k=30)),
                    vector=tuple(vector),
                    occurred_at=None if kind == "fact" else at,
                    recorded_at=at,
                )
            )
        yield batch


async def measured(store: WarmStore, graphs: int, asked: int, **fields: Any) -> dict[str, float]:
    """Return percentiles of a question's milliseconds, each question with a vector of its own."""
    vectors = np.random.default_rng(99)
    walls, busy, found = [], [], 0
    for number in range(asked + 3):
        vector = vectors.standard_normal(DIMENSIONS)
        vector /= np.linalg.norm(vector)
        query = SearchQuery(
            text="", vector=tuple(vector.tolist()), mode="dense", limit=LIMIT, now=NOW, **fields
        )
        began, began_busy = time.perf_counter(), time.process_time()
        hits = await store.search(scope_of(number % graphs), query)
        ended, ended_busy = time.perf_counter(), time.process_time()
        if number >= 3:  # what came before fills caches
            walls.append(1000 * (ended - began))
            busy.append(1000 * (ended_busy - began_busy))
            found += len(hits)
    return {
        "hits": found / asked,
        "wall min": min(walls),
        "wall p50": float(np.percentile(walls, 50)),
        "wall p95": float(np.percentile(walls, 95)),
        "busy p50": float(np.percentile(busy, 50)),
    }


async def run(entries: int, graphs: int, asked: int, *, written: bool) -> Rows:
    """Return a row of figures per question, of an index with so many entries."""
    rows: Rows = {}
    with tempfile.TemporaryDirectory(prefix="ezra-warm-") as name:
        folder = Path(name)
        async with edge_warm_store(folder, dimensions=DIMENSIONS) as store:
            for graph in range(graphs):
                for batch in entries_of(graph, entries // graphs, random.Random(graph)):
                    await store.upsert(scope_of(graph), batch)
            await store.flush()
            if written:
                return await asked_all(store, entries, graphs, asked)
        async with edge_warm_store(folder, dimensions=DIMENSIONS) as store:
            rows = await asked_all(store, entries, graphs, asked)
    return rows


async def asked_all(store: WarmStore, entries: int, graphs: int, asked: int) -> Rows:
    """Return a row of figures per question."""
    return {
        f"{entries:>7} in {graphs:>2}: {name}": await measured(store, graphs, asked, **fields)
        for name, fields in QUESTIONS.items()
    }


def main() -> None:
    """Print one row per index and question."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", default="2760,100000", help="sizes, the largest last")
    parser.add_argument("--graphs", type=int, default=10, help="that the largest is cut into")
    parser.add_argument("--asked", type=int, default=60, help="questions per row")
    parser.add_argument("--written", action="store_true", help="ask who wrote, do not open anew")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    sizes = [int(size) for size in options.entries.split(",")]
    rows: Rows = {}
    for entries, graphs in [*((size, 1) for size in sizes), (sizes[-1], options.graphs)]:
        rows |= asyncio.run(run(entries, graphs, options.asked, written=options.written))
    if options.json:
        print(json.dumps(rows, indent=2))  # noqa: T201
        return
    for name, figures in rows.items():
        line = "  ".join(f"{figure} {value:6.2f}" for figure, value in figures.items())
        print(f"{name:<26} {line}")  # noqa: T201


if __name__ == "__main__":
    main()

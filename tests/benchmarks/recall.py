"""How long a recall takes in one large graph, beside the same questions to plain baselines.

Run: .venv/bin/python tests/benchmarks/recall.py SET.json [--sizes 2760,100000] [--questions 200]

How well recall finds things is measured by ``ezra eval SET.json``; this is about time. The set is
one that ``ezra eval`` reads; it is not part of this repository. Its turns are put into one graph
of each size: the first ones as they are, the others made of the halves of two turns, with a vector
between theirs, so that words and meanings are spread as in the real ones. Time is that of one
question at a time, the embedding of the question included, after the first few questions.

    ezra      graph.recall(question)
    turns     graph.recall(question, kinds=("turn",))
    bm25      an inverted index in memory, over all turns of the graph
    dense     the question's cosine with every turn, in memory
    rrf       both, fused by reciprocal ranks
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import random
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ezra import Ezra, Graph, Settings
from ezra.evaluation.baselines import Baselines, Bm25
from ezra.evaluation.sets import read_set
from ezra.parts import Parts
from tiers.forms import entry_of
from tiers.records import Scope, Turn

GRAPH = "recall"
WARM_UP = 20
STORED_AT_ONCE = 500
START = datetime(2026, 1, 1, tzinfo=UTC)
SEED = 7


@dataclass(frozen=True)
class Corpus:
    """Turns with their vectors, and questions about the first of them."""

    turns: Sequence[tuple[str, str]]
    vectors: npt.NDArray[np.float32]
    questions: Sequence[str]


async def corpus_of(path: Path, size: int, questions: int, parts: Parts) -> Corpus:
    """Return a set's turns, filled up to ``size`` with mixtures of two."""
    read = read_set(path)
    said = [(line.speaker, line.text) for interview in read.interviews for line in interview.turns]
    asked = [one.text for interview in read.interviews for one in interview.questions]
    if parts.embedder is None:
        raise SystemExit("no embedding model is installed: ezra embedder install")
    real = np.asarray(
        await parts.embedder.embed([f"{who}: {text}" for who, text in said]), dtype=np.float32
    )
    chance = random.Random(SEED)
    turns, vectors = said[:size], [real[:size]]
    mixed = []
    while len(turns) < size:
        first, second = chance.randrange(len(said)), chance.randrange(len(said))
        half, other = said[first][1].split(), said[second][1].split()
        text = " ".join(half[: len(half) // 2 + 1] + other[len(other) // 2 :])
        turns.append((said[first][0], text))
        mixed.append((first, second))
    if mixed:
        made = real[[one for one, _ in mixed]] + real[[two for _, two in mixed]]
        vectors.append(made / np.linalg.norm(made, axis=1, keepdims=True))
    step = max(1, len(asked) // questions)
    return Corpus(turns, np.concatenate(vectors), asked[::step][:questions])


async def fill(ezra: Ezra, parts: Parts, corpus: Corpus) -> None:
    """Store the corpus in the cold tier and the warm index, as indexing would leave it."""
    graph = await ezra.create_session_graph(GRAPH)
    agent = await graph.spawn_agent(agent_id="scribe", topics={"talk"}, role="keeps notes")
    scope = Scope.of_graph(parts.settings.tenant, GRAPH).for_agent(agent.id)
    whole = scope.for_graph()
    store = parts.warm.serving.store
    entries = []
    for number, (speaker, text) in enumerate(corpus.turns):
        when = START + timedelta(seconds=30 * number + 86_400 * (number // 40))
        turn = Turn(speaker=speaker, input=text, topics=("talk",), occurred_at=when)
        stored, _ = await parts.turns.append_turn(scope, turn.stamped(scope, parts.ids.new(), when))
        vector = tuple(map(float, corpus.vectors[number]))
        entries.append(entry_of(stored).model_copy(update={"vector": vector}))
        if len(entries) == STORED_AT_ONCE:
            await store.upsert(whole, entries)
            entries = []
    await store.upsert(whole, entries)
    await store.flush()


async def measured(graph: Graph, corpus: Corpus, baselines: Baselines) -> dict[str, list[float]]:
    """Return the milliseconds of each question, by row."""
    taken: dict[str, list[float]] = {}
    for number, question in enumerate([*corpus.questions[:WARM_UP], *corpus.questions]):
        started = time.perf_counter()
        await graph.recall(question)
        everything = time.perf_counter()
        await graph.recall(f"{question} ", kinds=("turn",))
        turns = time.perf_counter()
        found = await baselines.ask(f" {question}", 10)
        row = {"ezra": everything - started, "turns": turns - everything}
        times = {name: 1000 * seconds for name, seconds in row.items()}
        times |= {name: ranking.milliseconds for name, ranking in found.items()}
        if number >= WARM_UP:
            for name, milliseconds in times.items():
                taken.setdefault(name, []).append(milliseconds)
    return taken


async def run(path: Path, size: int, questions: int) -> dict[str, dict[str, float]]:
    """Return p50 and p95 in milliseconds, by row."""
    with tempfile.TemporaryDirectory(prefix="ezra-recall-") as home:
        settings = Settings(home=Path(home), embedder="required", background=False)
        async with Ezra.open(settings) as ezra:
            parts: Parts = ezra._parts
            corpus = await corpus_of(path, size, questions, parts)
            await fill(ezra, parts, corpus)
        # Opened anew: the embedded engine is slower in the process that has just written it all.
        async with Ezra.open(settings) as ezra:
            parts = ezra._parts
            graph = await ezra.session_graph(GRAPH)
            texts = [f"{who}: {text}" for who, text in corpus.turns]
            baselines = Baselines(Bm25.over(texts), parts.embedder, corpus.vectors)
            # The corpus and the baselines' index are ours: the collector shall not walk over them.
            gc.collect()
            gc.freeze()
            taken = await measured(graph, corpus, baselines)
            gc.unfreeze()
    return {
        name: {"p50": float(np.percentile(ms, 50)), "p95": float(np.percentile(ms, 95))}
        for name, ms in taken.items()
    }


def main() -> None:
    """Print a line per size and row."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--sizes", default="2760,100000", help="turns, separated by commas")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    rows = {}
    for size in map(int, options.sizes.split(",")):
        rows[size] = asyncio.run(run(options.path, size, options.questions))
        if not options.json:
            for name, figures in rows[size].items():
                line = "  ".join(f"{figure} {value:7.1f} ms" for figure, value in figures.items())
                print(f"{size:>7} turns  {name:<6} {line}", flush=True)  # noqa: T201
    if options.json:
        print(json.dumps(rows, indent=2))  # noqa: T201


if __name__ == "__main__":
    main()

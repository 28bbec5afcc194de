"""What recall is compared with: BM25 and a cosine over everything, and LangGraph's store."""

from __future__ import annotations

import statistics
import time
from collections.abc import Awaitable, Callable, Sequence

import numpy as np

from ..baselines import Baselines, Bm25
from .talk import questions, said
from .vectors import DIMENSIONS, BagOfWords, vector_of

WARM_UP = 10
LIMIT = 10
Times = dict[str, list[float]]


async def measured(sizes: Sequence[int], asked: int) -> dict[str, object]:
    """Return milliseconds of a question by rival for each size; none of them stores anything."""
    found = []
    for size in sizes:
        texts = [said(number) for number in range(size)]
        times = await _baselines(texts, asked)
        times |= await _langgraph(texts, asked)
        row: dict[str, float] = {"size": size}
        for name, taken in times.items():
            row[f"{name}_p50_ms"] = statistics.median(taken)
            row[f"{name}_p95_ms"] = statistics.quantiles(taken, n=20, method="inclusive")[18]
        found.append(row)
    return {"rows": found}


async def _baselines(texts: Sequence[str], asked: int) -> Times:
    vectors = np.asarray([vector_of(text) for text in texts], dtype=np.float32)
    baselines = Baselines(Bm25.over(texts), BagOfWords(), vectors)
    times: Times = {}
    for question in questions(WARM_UP + asked, len(texts)):
        for name, ranking in (await baselines.ask(question, LIMIT)).items():
            times.setdefault(name, []).append(ranking.milliseconds)
    return {name: taken[WARM_UP:] for name, taken in times.items()}


async def _langgraph(texts: Sequence[str], asked: int) -> Times:
    """Ask LangGraph's store in memory the same, if it is installed."""
    try:
        from langgraph.store.memory import InMemoryStore  # noqa: PLC0415 - optional
    except ImportError:
        return {}

    def embed(some: Sequence[str]) -> list[list[float]]:
        return [list(vector_of(text)) for text in some]

    store = InMemoryStore(index={"dims": DIMENSIONS, "embed": embed, "fields": ["text"]})
    for number, text in enumerate(texts):
        store.put(("bench",), str(number), {"text": text})
    return {"langgraph": await _timed(lambda question: _searched(store, question), texts, asked)}


async def _searched(store: object, question: str) -> None:
    store.search(("bench",), query=question, limit=LIMIT)  # type: ignore[attr-defined]


async def _timed(
    ask: Callable[[str], Awaitable[None]], texts: Sequence[str], asked: int
) -> list[float]:
    times = []
    for question in questions(WARM_UP + asked, len(texts)):
        started = time.perf_counter()
        await ask(question)
        times.append(1000 * (time.perf_counter() - started))
    return times[WARM_UP:]

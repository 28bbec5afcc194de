"""One memory that grows: what recording, a turn and a recall take at each of its sizes."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from ... import Agent, Ezra, Graph, Settings
from ...assembly.embedders import wanted_embedder
from ...telemetry.lag import what_stays_left_out
from .agents import looked_after
from .talk import past_turns, questions, said
from .vectors import BagOfWords

RECORDED_AT_ONCE = 2_000
WARM_UP = 10
"""Turns and questions at each size that are not measured."""


async def measured(sizes: Sequence[int], turns: int, asked: int) -> dict[str, object]:
    """Return figures for each size, smallest first.

    Vectors cost nothing, save where a question is embedded by the installed model, if there is one.
    Garbage is collected as in ``ezra serve``, ``worker`` and ``mcp run``.
    """
    with tempfile.TemporaryDirectory(prefix="ezra-bench-") as folder, what_stays_left_out():
        settings = Settings(home=Path(folder), embedder="auto", promote_at_uses=1_000_000)
        model = wanted_embedder(settings)
        vectors = BagOfWords()
        async with Ezra.open(settings, embedder=vectors) as ezra:
            graph = await ezra.create_session_graph("bench")
            agent = await graph.spawn_agent("scribe")
            found, stored = [], 0
            for size in sizes:
                row: dict[str, float] = {"size": size}
                row |= await _recorded(ezra, agent, stored, size)
                row |= await _spoken(ezra, agent, size, turns)
                row |= await _recalled(graph, size, asked, "given")
                if model is not None:
                    async with model as embedder:
                        vectors.asked = embedder
                        row |= await _recalled(graph, size, asked, "model")
                    vectors.asked, model = None, wanted_embedder(settings)
                found.append(row)
                stored = size
    return {"rows": found}


async def _recorded(ezra: Ezra, agent: Agent, start: int, end: int) -> dict[str, float]:
    """Record turns and wait until all of them are indexed and learnt from."""
    lags = [0.0]
    started, worked, storing = time.perf_counter(), time.process_time(), 0.0
    with looked_after(lags):
        for first in range(start, end, RECORDED_AT_ONCE):
            last = min(first + RECORDED_AT_ONCE, end)
            began = time.perf_counter()
            await agent.record(past_turns(first, last))
            storing += time.perf_counter() - began
            await ezra.drain_learning()
    count = end - start
    return {
        "stored_per_second": count / storing,
        "learnt_per_second": count / (time.perf_counter() - started),
        "recording_processor_ms": 1000 * (time.process_time() - worked) / count,
        "recording_lag_ms": max(lags),
        "memory_mib": _resident() / 2**20,
    }


async def _spoken(ezra: Ezra, agent: Agent, size: int, turns: int) -> dict[str, float]:
    """Let the agent speak, one turn after the other."""
    times, lags, worked = [], [0.0], 0.0
    with looked_after(lags):
        for number in range(WARM_UP + turns):
            if number == WARM_UP:
                await ezra.drain_learning()
                worked = time.process_time()
            started = time.perf_counter()
            turn = await agent.turn(said(size + number))
            await turn.reply(said(-size - number))
            if number >= WARM_UP:
                times.append(1000 * (time.perf_counter() - started))
        await ezra.drain_learning()
    return {
        "turn_processor_ms": 1000 * (time.process_time() - worked) / turns,
        "turn_p50_ms": statistics.median(times),
        "turn_lag_ms": max(lags),
    }


async def _recalled(graph: Graph, size: int, asked: int, name: str) -> dict[str, float]:
    """Ask one question after the other."""
    times = []
    for question in questions(WARM_UP + asked, size):
        started = time.perf_counter()
        await graph.recall(question)
        times.append(1000 * (time.perf_counter() - started))
    times = times[WARM_UP:]
    return {
        f"recall_{name}_p50_ms": statistics.median(times),
        f"recall_{name}_p95_ms": statistics.quantiles(times, n=20, method="inclusive")[18],
    }


def _resident() -> int:
    """Return how many bytes of the machine's memory this process holds; 0 where unknown."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGESIZE")

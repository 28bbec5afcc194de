"""The router's own time per turn, by number of agents, step by step, with and without embedding.

Run: .venv/bin/python tests/benchmarks/router.py [--turns 20] [--think 1.0] [--json]

Each agent speaks, waits as long as a model would think, answers, and speaks again. What is
reported is the router's own time: steps 1 to 6 and 8, without the wait. With ``--think 0`` the
agents wait for nothing, which shows throughput instead. ``lag`` is the longest time for which the
event loop did not come round, garbage collection and a busy machine included. Every figure is of
this machine: compare figures of one run only.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from ezra import Agent, Ezra, Settings

AGENTS = (1, 5, 25, 100)
TOPICS = ("tyres", "fuel", "weather", "gearbox")
SYLLABLES = "ba co du fe gi lo ma ne pi ro sa tu ve wi xo ya".split()
VOCABULARY = [f"{a}{b}{c}" for a in SYLLABLES for b in SYLLABLES for c in SYLLABLES][:2000]
FREQUENCIES = [1 / rank for rank in range(1, len(VOCABULARY) + 1)]
FACTS = 200


def sentence(seeded: random.Random) -> str:
    """Return twelve words of a made-up vocabulary, as frequent as Zipf's law has them."""
    return " ".join(seeded.choices(VOCABULARY, FREQUENCIES, k=12))


async def agent_at_work(
    agent: Agent,
    turns: int,
    think: float,
    seeded: random.Random,
    times: dict[str, list[float]],
) -> None:
    """Let one agent speak ``turns`` times and note its times in milliseconds."""
    await asyncio.sleep(seeded.random() * think)
    for _ in range(turns):
        started = time.perf_counter()
        turn = await agent.turn(sentence(seeded))
        opened = time.perf_counter()
        await asyncio.sleep(think * (0.5 + seeded.random()))
        answering = time.perf_counter()
        await turn.reply(sentence(seeded))
        own = opened - started + time.perf_counter() - answering
        times["turn"].append(own * 1000)
        times["degraded"].append(len(set(turn.degraded) - {"dense"}))
        for step, elapsed in turn.step_ms.items():
            times[step].append(elapsed)


async def longest_lag(lags: list[float]) -> None:
    """Note how late each wake-up of the event loop is, in milliseconds, until cancelled."""
    while True:
        before = time.perf_counter()
        await asyncio.sleep(0.001)
        lags.append((time.perf_counter() - before - 0.001) * 1000)


async def measure(agents: int, embedder: str, turns: int, think: float) -> dict[str, object]:
    """Return the figures of one run with a store of its own."""
    seeded = random.Random(7)
    times: dict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="ezra-bench-") as folder:
        settings = Settings(home=Path(folder), embedder=embedder, promote_at_uses=1_000_000)
        async with Ezra.open(settings) as ezra:
            graph = await ezra.create_session_graph("bench")
            fleet = [
                await graph.spawn_agent(f"agent-{number}", topics=set(TOPICS))
                for number in range(agents)
            ]
            for _ in range(FACTS):
                await fleet[0].remember(sentence(seeded), topics={seeded.choice(TOPICS)})
            await ezra.drain_learning()
            watcher = asyncio.create_task(longest_lag(times["lag"]))
            started = time.perf_counter()
            await asyncio.gather(
                *(agent_at_work(one, turns, think, seeded, times) for one in fleet)
            )
            elapsed = time.perf_counter() - started
            watcher.cancel()
            await asyncio.wait([watcher])
    return figures(agents, embedder, times, elapsed)


def figures(
    agents: int, embedder: str, times: dict[str, list[float]], elapsed: float
) -> dict[str, object]:
    """Return quantiles of the turn and each step's share of it."""
    turn = sorted(times["turn"])
    degraded = sum(times.pop("degraded"))
    lags = sorted(times.pop("lag"))
    steps = {step: sum(values) for step, values in times.items() if step != "turn"}
    whole = sum(steps.values())
    return {
        "agents": agents,
        "embedding": embedder != "off",
        "turns_per_second": len(turn) / elapsed,
        "p50_ms": statistics.median(turn),
        "p95_ms": turn[int(len(turn) * 0.95)],
        "p99_ms": turn[min(len(turn) - 1, int(len(turn) * 0.99))],
        "share": {step: total / whole for step, total in steps.items()},
        "degraded_legs": int(degraded),
        "lag_p99_ms": lags[int(len(lags) * 0.99)],
        "lag_max_ms": lags[-1],
    }


def row(found: dict[str, object]) -> str:
    """Return the figures as one line."""
    share = found["share"]
    assert isinstance(share, dict)
    parts = "  ".join(f"{step} {part:.0%}" for step, part in share.items())
    return (
        f"{found['agents']:>4} agents  embedding {'on ' if found['embedding'] else 'off'}  "
        f"{found['turns_per_second']:>6.1f} turns/s  p50 {found['p50_ms']:>6.1f} ms  "
        f"p95 {found['p95_ms']:>6.1f} ms  p99 {found['p99_ms']:>6.1f} ms  "
        f"lag p99 {found['lag_p99_ms']:.1f} max {found['lag_max_ms']:.0f} ms  "
        f"degraded {found['degraded_legs']}  | {parts}"
    )


async def main() -> None:
    """Print one row per number of agents, with and without the embedding."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=20, help="turns per agent")
    parser.add_argument("--think", type=float, default=1.0, help="mean seconds a model thinks")
    parser.add_argument("--agents", type=int, nargs="*", default=AGENTS)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    found = []
    for embedder in ("off", "required"):
        for agents in options.agents:
            found.append(await measure(agents, embedder, options.turns, options.think))
            if not options.json:
                print(row(found[-1]), flush=True)  # noqa: T201
    if options.json:
        print(json.dumps(found, indent=2))  # noqa: T201


if __name__ == "__main__":
    asyncio.run(main())

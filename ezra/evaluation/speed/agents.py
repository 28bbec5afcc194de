"""Agents at work in a memory of their own: what a turn takes the processor, and the clock.

Asks ezra for public names only, so that another checkout can do the same work beside this one; see
``process``.
"""

# ruff: noqa: S311 - the same talk each time

from __future__ import annotations

import asyncio
import random
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any

from ... import Agent, Ezra, Settings

TOPICS = ("tyres", "fuel", "weather", "gearbox")
SYLLABLES = "ba co du fe gi lo ma ne pi ro sa tu ve wi xo ya".split()
VOCABULARY = [f"{a}{b}{c}" for a in SYLLABLES for b in SYLLABLES for c in SYLLABLES][:2000]
FREQUENCIES = list(accumulate(1 / rank for rank in range(1, len(VOCABULARY) + 1)))
"""Added up, as ``choices`` wants them: else it adds them up for every sentence."""
WORDS = 12
WARM_UP = 10
"""Turns that fill caches and are not measured."""
SEED = 7
LOOP_BEAT_SECONDS = 0.004
"""Looking more often takes time of what is measured; a stall is seen long by so much at most."""


@dataclass(frozen=True)
class Work:
    """What is done.

    Attributes:
        agents: How many speak.
        turns: How often each of them speaks.
        think: Seconds, on the average, that a model would think.
        embedder: ``off``, ``required``, or ``given`` for vectors that cost nothing.
        facts: How many the memory knows before.
        watched: Whether it is looked how late the event loop is, which takes the processor 0.1 ms
            each time: a part of what a turn seems to take.
    """

    agents: int = 1
    turns: int = 200
    think: float = 0.0
    embedder: str = "off"
    facts: int = 200
    watched: bool = True


@dataclass(frozen=True)
class Taken:
    """What it took.

    Attributes:
        processor_ms: Of one turn, what followed in the background included.
        p50_ms: Of the runtime's own time of one turn, as are the next two.
        served: The share of the turns asked for that were served when they were.
        lag_ms: The longest time for which the event loop did not come round; 0 where nobody looked.
    """

    processor_ms: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    served: float
    lag_ms: float


@dataclass
class _Seen:
    times: list[float] = field(default_factory=list)
    lags: list[float] = field(default_factory=lambda: [0.0])


def sentence(seeded: random.Random) -> str:
    """Return words of a made-up vocabulary, as frequent as Zipf's law has them."""
    return " ".join(seeded.choices(VOCABULARY, cum_weights=FREQUENCIES, k=WORDS))


async def measured(**work: Any) -> dict[str, float]:  # noqa: ANN401 - the fields of Work
    """Let agents speak in a memory that is gone afterwards; return the fields of ``Taken``."""
    return asdict(await _run(Work(**work)))


async def _run(work: Work) -> Taken:
    seeded = random.Random(SEED)
    with tempfile.TemporaryDirectory(prefix="ezra-bench-") as folder:
        async with Ezra.open(**_opening(work.embedder, Path(folder))) as ezra:
            graph = await ezra.create_session_graph("bench")
            fleet = [
                await graph.spawn_agent(f"agent-{number}", topics=set(TOPICS))
                for number in range(work.agents)
            ]
            for _ in range(work.facts):
                await fleet[0].remember(sentence(seeded), topics={seeded.choice(TOPICS)})
            for _ in range(WARM_UP):
                await (await fleet[0].turn(sentence(seeded))).reply(sentence(seeded))
            await ezra.drain_learning()
            return await _spoken(ezra, fleet, work, seeded)


def _opening(embedder: str, home: Path) -> dict[str, Any]:
    """Return how a memory is opened; no fact becomes core, so that every turn shows as much."""
    model = "off" if embedder == "given" else embedder
    settings = Settings.model_validate(
        {"home": home, "embedder": model, "promote_at_uses": 1_000_000}
    )
    if embedder != "given":
        return {"settings": settings}
    from .vectors import BagOfWords  # noqa: PLC0415 - other checkouts have none

    return {"settings": settings, "embedder": BagOfWords()}


async def _spoken(ezra: Ezra, fleet: list[Agent], work: Work, seeded: random.Random) -> Taken:
    seen = _Seen()
    waits = [
        [seeded.random() * work.think]
        + [work.think * (0.5 + seeded.random()) for _ in range(work.turns)]
        for _ in fleet
    ]
    with looked_after(seen.lags) if work.watched else nullcontext():
        started, worked = time.perf_counter(), time.process_time()
        speaking = (
            _speaks(agent, of_agent, random.Random(number), seen)
            for number, (agent, of_agent) in enumerate(zip(fleet, waits, strict=True))
        )
        await asyncio.gather(*speaking)
        elapsed = time.perf_counter() - started
        await ezra.drain_learning()
        worked = time.process_time() - worked
    asked = max(map(sum, waits))
    cuts = statistics.quantiles(seen.times, n=100, method="inclusive")
    return Taken(
        processor_ms=1000 * worked / len(seen.times),
        p50_ms=statistics.median(seen.times),
        p95_ms=cuts[94],
        p99_ms=cuts[98],
        served=min(1.0, asked / elapsed) if work.think else 1.0,
        lag_ms=max(seen.lags),
    )


async def _speaks(agent: Agent, waits: list[float], seeded: random.Random, seen: _Seen) -> None:
    await asyncio.sleep(waits[0])
    for wait in waits[1:]:
        started = time.perf_counter()
        turn = await agent.turn(sentence(seeded))
        opened = time.perf_counter()
        await asyncio.sleep(wait)
        answering = time.perf_counter()
        await turn.reply(sentence(seeded))
        seen.times.append((opened - started + time.perf_counter() - answering) * 1000)


@contextmanager
def looked_after(lags: list[float]) -> Iterator[None]:
    """Note how long the event loop takes to come round, in milliseconds, while the block runs."""

    async def watch() -> None:
        while True:
            before = time.perf_counter()
            await asyncio.sleep(LOOP_BEAT_SECONDS)
            lags.append((time.perf_counter() - before) * 1000)

    watching = asyncio.get_running_loop().create_task(watch(), name="ezra-bench-loop")
    try:
        yield
    finally:
        watching.cancel()

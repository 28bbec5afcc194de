"""What spans and numbers cost a turn: without any, as they are without an SDK, and with one.

Run: .venv/bin/python tests/benchmarks/telemetry.py [--turns 200]

The three take turns in one runtime. What is compared is the processor time of the event loop's
thread per turn, opened and replied to, so that other programs on the machine count little.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any, Self

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from ezra import Ezra, Settings
from ezra.telemetry import Telemetry

WORDS = "tyre fuel rain lap box stint brake wing safety car pace soft hard medium".split()
CALLS = 100_000


class Clocked:
    """Takes the time, as the router needs it anyway, and tells nobody."""

    __slots__ = ("seconds", "since")

    def __enter__(self) -> Self:
        """Begin."""
        self.since = time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        """End."""
        self.seconds = time.perf_counter() - self.since

    def note(self, **_: object) -> None:
        """Keep nothing."""

    fail = note


class Silent:
    """Stands for a telemetry that is not there."""

    def __getattr__(self, name: str) -> Any:
        """Return what does nothing, or watches without telling."""
        if name == "numbers":
            return self
        watches = ("turn", "step", "leg", "model", "write_back")
        return (lambda *_: Clocked()) if name in watches else (lambda *_: None)


class SilentNumbers(Silent):
    """Counts nothing: here ``turn`` is a count and nothing to watch."""

    def __getattr__(self, name: str) -> Any:
        """Return what does nothing."""
        return lambda *_: None


async def measured(turns: int) -> None:
    """Let the three take turns, and print the medians."""
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(InMemorySpanExporter()))
    silent = Silent()
    vars(silent)["numbers"] = SilentNumbers()
    seeded, times = random.Random(3), {}
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(home=Path(folder), background=False)
        async with Ezra.open(settings) as ezra:
            graph = await ezra.create_session_graph("race")
            agent = await graph.spawn_agent("engineer", topics={"tyres"})
            for _ in range(50):
                await agent.remember(" ".join(seeded.choices(WORDS, k=10)))
            await ezra.drain_learning()
            plain = ezra._runtime.telemetry
            ways = {
                "none": silent,
                "no SDK": plain,
                "an SDK, in memory": Telemetry(provider.get_tracer("ezra")),
            }
            times = {name: [] for name in ways}
            for _ in range(turns):
                for name, telemetry in ways.items():
                    vars(ezra._runtime.router)["_telemetry"] = telemetry
                    since = time.thread_time()
                    turn = await agent.turn(" ".join(seeded.choices(WORDS, k=10)))
                    await turn.reply("18 laps.")
                    times[name].append((time.thread_time() - since) * 1000)
            cost = _leg_microseconds(plain)
    base = statistics.median(times["none"])
    for name, found in times.items():
        median = statistics.median(found)
        shown = f"{median:.3f} ms of the event loop's thread, {100 * (median / base - 1):+.1f} %"
        print(f"{name:18} {shown}")  # noqa: T201
    print(f"a leg without an SDK: {cost:.2f} us, span and number")  # noqa: T201


def _leg_microseconds(telemetry: Telemetry) -> float:
    since = time.thread_time()
    for _ in range(CALLS):
        with telemetry.leg("cold", "words"):
            pass
    return (time.thread_time() - since) / CALLS * 1e6


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=200)
    asyncio.run(measured(parser.parse_args().turns))


if __name__ == "__main__":
    main()

"""What the meta-agents cost, at two ages of a graph: learning, passes, the report, retention.

Run: .venv/bin/python tests/benchmarks/passes.py [--days 20 200] [--json]

Six agents speak four times a day each, by words only, on the embedded default, with a clock that is
moved. After the last day each operation is timed; ``idle`` passes find nothing to do, which is what
most of them find. What must not grow with the age of a graph is told by the ratio of the last two
columns. Every figure is of this machine: compare figures of one run only.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ezra import Ezra, Retention, Settings

AGENTS = 6
TURNS_PER_DAY = 4
REPEATS = 5
SAYINGS = (
    "I prefer the {0} on plate {1}.",
    "The {0} came in at {1} degrees today.",
    "My {0} is number {1}.",
    "What did the {0} do on run {1}?",
    "Please note that the {0} needs {1} bolts.",
)
THINGS = "gearbox flap bracket damper clutch floor seal pump spring filter".split()


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, 8, tzinfo=UTC)

    def __call__(self) -> datetime:
        """Return the time, a microsecond later with each reading."""
        self.now += timedelta(microseconds=1)
        return self.now


async def timed(act: Callable[[], Awaitable[object]]) -> float:
    """Return how many milliseconds something takes."""
    started = time.perf_counter()
    await act()
    return (time.perf_counter() - started) * 1000


async def live(ezra: Ezra, clock: Clock, days: int, seeded: random.Random) -> dict[str, float]:
    """Let a graph live for some days; return what a day's work took, per turn."""
    graph = await ezra.create_session_graph("team")
    agents = [
        await graph.spawn_agent(f"agent {number}", topics={"car"}, user_id=f"user {number % 2}")
        for number in range(AGENTS)
    ]
    learning: list[float] = []
    passes: list[float] = []
    for _ in range(days):
        for number in range(TURNS_PER_DAY * AGENTS):
            agent = agents[number % AGENTS]
            saying = seeded.choice(SAYINGS)
            text = saying.format(seeded.choice(THINGS), seeded.randrange(10_000))
            await (await agent.turn(text)).reply("Understood.")
            clock.now += timedelta(minutes=20)
        learning.append(await timed(ezra.drain_learning) / (TURNS_PER_DAY * AGENTS))
        clock.now = clock.now.replace(hour=8, minute=0) + timedelta(days=1)
        passes.append(await timed(lambda: ezra.run_lifecycle_tick("team")))
    last = max(1, days // 5)
    return {
        "learning, a turn": statistics.median(learning[-last:]),
        "lifecycle pass, once a day": statistics.median(passes[-last:]),
    }


async def measured(days: int) -> dict[str, float]:
    """Return the milliseconds of each operation in a graph of an age."""
    clock = Clock()
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(
            home=Path(folder), embedder="off", background=False, agent_timeout_seconds=1e9
        )
        async with Ezra.open(settings, clock=clock) as ezra:
            found = await live(ezra, clock, days, random.Random(20261121))
            graph = await ezra.session_graph("team")
            found["learning, idle"] = await _median(ezra.drain_learning)
            found["lifecycle pass, idle"] = await _median(lambda: ezra.run_lifecycle_tick("team"))
            found["conservation report"] = await _median(graph.conservation)
            await graph.configure(retention=Retention(plan="free"))
            found["retention, dry run of everything"] = await _median(
                lambda: graph.retain(dry_run=True, force=True)
            )
            report = await graph.retain(force=True)
            found["records retired at once"] = float(report.retired)
            found["retention, idle"] = await _median(graph.retain)
            assert (await graph.conservation()).ok
    return found


async def _median(act: Callable[[], Awaitable[object]]) -> float:
    return statistics.median([await timed(act) for _ in range(REPEATS)])


def main() -> None:
    """Measure both ages and print them side by side."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--days", type=int, nargs=2, default=(20, 200))
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    young, old = (asyncio.run(measured(days)) for days in given.days)
    if given.json:
        print(json.dumps({str(given.days[0]): young, str(given.days[1]): old}, indent=2))  # noqa: T201
        return
    turns = [days * AGENTS * TURNS_PER_DAY for days in given.days]
    print(f"{'milliseconds, median':36} {turns[0]:>10,} turns {turns[1]:>10,} turns   ratio")  # noqa: T201
    for name, value in young.items():
        print(f"{name:36} {value:16.2f} {old[name]:16.2f} {old[name] / value if value else 0:7.2f}")  # noqa: T201


if __name__ == "__main__":
    main()

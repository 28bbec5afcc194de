"""What the two MongoDB drivers cost the process that uses them.

Run: .venv/bin/python tests/benchmarks/drivers.py [--count 2000] [--rounds 5]

Both ask the same stand-in server, which runs in a process of its own, one after the other and 200
at once, in turns. ``CPU`` is the processor time of this process per operation, all its threads
included: it is what a driver takes from an agent, whatever the server. Elapsed time is the
stand-in's as much as the driver's. The ratio is Motor's median over PyMongo's, of one run.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable
from typing import Any

from stand_in import served

from tiers.cold.mongo.driver import DriverName, connected

AT_ONCE = 200
DRIVERS: tuple[DriverName, ...] = ("pymongo", "motor")
Figures = dict[str, float]


async def cost(operation: Callable[[], Awaitable[Any]], count: int) -> Figures:
    """Return microseconds of processor and elapsed time per operation."""
    processor, clock = time.process_time(), time.perf_counter()
    for _ in range(count):
        await operation()
    alone = (time.process_time() - processor) / count, (time.perf_counter() - clock) / count
    processor, clock = time.process_time(), time.perf_counter()
    for _ in range(0, count, AT_ONCE):
        await asyncio.gather(*(operation() for _ in range(AT_ONCE)))
    many = (time.process_time() - processor) / count, (time.perf_counter() - clock) / count
    names = ("CPU alone", "elapsed alone", "CPU of 200", "elapsed of 200")
    return {name: 1e6 * value for name, value in zip(names, (*alone, *many), strict=True)}


async def measured(uri: str, name: DriverName, count: int) -> Figures:
    """Return one driver's figures for reading one small document."""
    async with connected(uri, name, timeout_seconds=30, connections_max=50) as client:
        collection = client["bench"]["facts"]
        key = {"_id": 1}
        await collection.update_one(key, {"$set": {"text": "x" * 200}}, upsert=True)
        await asyncio.gather(*(collection.find_one(key) for _ in range(AT_ONCE)))
        return await cost(lambda: collection.find_one(key), count)


def main() -> None:
    """Print a row per figure, and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000, help="operations per figure and round")
    parser.add_argument("--rounds", type=int, default=5, help="rounds, drivers in turns")
    options = parser.parse_args()
    rounds: dict[str, list[Figures]] = {name: [] for name in DRIVERS}
    with served("mongo") as uri:
        for _ in range(options.rounds):
            for name in DRIVERS:
                rounds[name].append(asyncio.run(measured(uri, name, options.count)))
    print(f"{'µs an operation':<16} {'pymongo':>8} {'motor':>8} {'ratio':>6}")  # noqa: T201
    for figure in rounds["pymongo"][0]:
        ours, theirs = (statistics.median(one[figure] for one in rounds[name]) for name in DRIVERS)
        print(f"{figure:<16} {ours:8.0f} {theirs:8.0f} {theirs / ours:6.2f}")  # noqa: T201


if __name__ == "__main__":
    main()

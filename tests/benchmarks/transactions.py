"""One thread hop per transaction against one per statement, on the same SQLite file.

Run: .venv/bin/python tests/benchmarks/transactions.py [--count 1000]

The transaction reads one value and writes three rows. ``function`` runs it as one function on the
writer's thread, as the cold store does; ``statements`` sends each of its six statements to that
thread and awaits it under a lock, as asynchronous wrappers of SQLite do. Compare the two rows of
one run.
"""

from __future__ import annotations

import argparse
import asyncio
import sqlite3
import tempfile
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

INSERT = "INSERT INTO t (text, number) VALUES (?, ?)"
LAST = "SELECT COALESCE(MAX(number), 0) FROM t"
TEXT = "x" * 200


def opened(path: Path) -> sqlite3.Connection:
    """Return a connection as the cold store sets it up."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT, number INTEGER)")
    return connection


async def timed(transaction: Callable[[], Awaitable[None]], count: int) -> tuple[float, float]:
    """Return microseconds a transaction, one after the other and all at once."""
    started = time.perf_counter()
    for _ in range(count):
        await transaction()
    alone = time.perf_counter() - started
    started = time.perf_counter()
    await asyncio.gather(*(transaction() for _ in range(count)))
    together = time.perf_counter() - started
    return alone / count * 1e6, together / count * 1e6


async def compare(folder: Path, count: int) -> dict[str, tuple[float, float]]:
    """Return the figures of both ways."""
    loop, lock = asyncio.get_running_loop(), asyncio.Lock()
    one, other = opened(folder / "one.db"), opened(folder / "other.db")
    with ThreadPoolExecutor(1) as writer:

        def function() -> None:
            one.execute("BEGIN IMMEDIATE")
            (last,) = one.execute(LAST).fetchone()
            for _ in range(3):
                one.execute(INSERT, (TEXT, last + 1))
            one.execute("COMMIT")

        async def as_function() -> None:
            await loop.run_in_executor(writer, function)

        async def as_statements() -> None:
            async with lock:
                await loop.run_in_executor(writer, other.execute, "BEGIN IMMEDIATE")
                cursor = await loop.run_in_executor(writer, other.execute, LAST)
                (last,) = await loop.run_in_executor(writer, cursor.fetchone)
                for _ in range(3):
                    await loop.run_in_executor(writer, other.execute, INSERT, (TEXT, last + 1))
                await loop.run_in_executor(writer, other.execute, "COMMIT")

        found = {
            "function": await timed(as_function, count),
            "statements": await timed(as_statements, count),
        }
    one.close()
    other.close()
    return found


def main() -> None:
    """Print a row per way, and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="transactions per figure")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ezra-transactions-") as folder:
        found = asyncio.run(compare(Path(folder), options.count))
    for name, (alone, together) in found.items():
        print(f"{name:<11} {alone:6.0f} µs alone  {together:6.0f} µs of many")  # noqa: T201
    ratios = [other / one for one, other in zip(*found.values(), strict=True)]
    print(f"ratio       {ratios[0]:6.1f}          {ratios[1]:6.1f}")  # noqa: T201


if __name__ == "__main__":
    main()

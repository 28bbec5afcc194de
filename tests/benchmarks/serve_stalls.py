"""The command line with a watcher of the event loop inside: where it stood when it stalled.

Used by ``serve_load.py --stalls``. At the end each stall of more than 50 ms is written to standard
error: its length; the processor time of the event loop's thread in it; how long that thread waited
for a processor; and the stacks of the threads that were seen meanwhile.
"""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
import time
import traceback
from collections import Counter
from pathlib import Path

from ezra.cli import main
from ezra.telemetry import Numbers, lag

STALL_SECONDS = 0.05
SHOWN = 12
FRAMES = 7


class Watcher(threading.Thread):
    """Looks at the event loop's thread whenever it has not come round for a while."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.beat = time.perf_counter()
        self.seen: list[str] = []
        self.own = threading.main_thread().ident

    def run(self) -> None:
        """Look, every few milliseconds."""
        while True:
            time.sleep(0.01)
            if time.perf_counter() - self.beat > STALL_SECONDS * 0.6 and len(self.seen) < 50:
                for ident, frame in sys._current_frames().items():
                    if ident == self.ident:
                        continue
                    who = "loop" if ident == self.own else "thread"
                    stack = traceback.extract_stack(frame)[-FRAMES:]
                    where = " < ".join(
                        f"{Path(one.filename).stem}:{one.name}:{one.lineno}" for one in stack[::-1]
                    )
                    if "threading:wait" not in where and "_worker" not in where.split(" < ")[0]:
                        self.seen.append(f"{who}: {where}")


def waited() -> float:
    """Return how long this thread has waited for a processor, in seconds."""
    parts = Path(f"/proc/self/task/{threading.get_native_id()}/schedstat").read_text().split()
    return int(parts[1]) / 1e9


stalls: list[tuple[float, float, float, float, list[str]]] = []
collections: Counter[int] = Counter()
longest: dict[int, float] = {}
totals: Counter[str] = Counter()
held = {"own": 0.0, "locked": 0.0}
collecting = {"since": 0.0, "within": 0.0}


def on_collection(phase: str, info: dict[str, int]) -> None:
    """Time the garbage collection."""
    if phase == "start":
        collecting["since"] = time.perf_counter()
        return
    took = time.perf_counter() - collecting["since"]
    collecting["within"] += took
    collections[info["generation"]] += 1
    longest[info["generation"]] = max(longest.get(info["generation"], 0.0), took)


async def watch(numbers: Numbers) -> None:
    """Do what the server's own watch does, and note what it does not."""
    watcher = Watcher()
    watcher.start()
    now = asyncio.get_running_loop().time
    while True:
        due, used, waits = now() + lag.EVERY_SECONDS, time.thread_time(), waited()
        watcher.beat, collecting["within"] = time.perf_counter(), 0.0
        watcher.seen.clear()
        await asyncio.sleep(lag.EVERY_SECONDS)
        late = max(0.0, now() - due)
        numbers.lagged(late)
        own, starved = time.thread_time() - used, waited() - waits
        totals.update(late=late, own=own, starved=starved)
        held["own"] = max(held["own"], own)
        held["locked"] = max(held["locked"], late - own - starved)
        if late > STALL_SECONDS:
            stalls.append((late, own, starved, collecting["within"], list(watcher.seen)))


def told() -> None:
    """Write what was seen."""
    locked = totals["late"] - totals["own"] - totals["starved"]
    lines = [
        f"collections {dict(collections)}, longest {longest}",
        (
            f"in all {totals['late']:.1f} s late: {totals['own']:.1f} own work (at most "
            f"{held['own'] * 1000:.0f} ms at once), {totals['starved']:.1f} without a processor, "
            f"{locked:.1f} without the lock (at most {held['locked'] * 1000:.0f} ms)"
        ),
        f"{len(stalls)} stalls of more than {STALL_SECONDS * 1000:.0f} ms",
    ]
    for late, own, starved, collected, seen in sorted(stalls, reverse=True)[:SHOWN]:
        lines.append(
            f"{late * 1000:.0f} ms: {own * 1000:.0f} own work, {starved * 1000:.0f} without a "
            f"processor, {collected * 1000:.0f} in the garbage collector"
        )
        lines += [f"    {count} x {line}" for line, count in Counter(seen).most_common(4)]
    sys.stderr.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    lag._watch = watch
    gc.callbacks.append(on_collection)
    try:
        main()
    finally:
        told()

"""How long an engine takes to answer."""

from __future__ import annotations

import statistics
import time
from collections.abc import Awaitable, Callable

ROUND_TRIPS = 5


async def round_trip_ms(call: Callable[[], Awaitable[object]]) -> float:
    """Return the median of a few calls in milliseconds, after one that opens the connection."""
    await call()
    took: list[float] = []
    for _ in range(ROUND_TRIPS):
        began = time.perf_counter()
        await call()
        took.append((time.perf_counter() - began) * 1000)
    return round(statistics.median(took), 3)

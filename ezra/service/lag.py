"""How late the event loop is: whatever holds it up holds up everybody."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from ..telemetry import Numbers

EVERY_SECONDS = 0.01
"""A stall is seen short by at most so much; looking costs a five-hundredth of a core."""


def leave_out_what_stays() -> None:
    """Keep everything that is there by now out of all later garbage collections.

    For a process that serves and does nothing else, once it has started: what the libraries are
    made of is most of its objects, and to look through them takes 200 ms, during which nothing
    else goes on, a few times a minute.
    """
    gc.collect()
    gc.freeze()


@asynccontextmanager
async def lag_watched(numbers: Numbers) -> AsyncIterator[None]:
    """Note how late this event loop is, again and again, for the length of the block."""
    task = asyncio.create_task(_watch(numbers), name="ezra-lag")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])


async def _watch(numbers: Numbers) -> None:
    now = asyncio.get_running_loop().time
    while True:
        due = now() + EVERY_SECONDS
        await asyncio.sleep(EVERY_SECONDS)
        numbers.lagged(max(0.0, now() - due))

"""How late the event loop is: whatever holds it up holds up everybody."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator
from contextlib import contextmanager

from .numbers import Numbers

OLDEST = 2
EVERY_SECONDS = 0.01
"""A stall is seen short by at most so much; looking costs a five-hundredth of a core."""


LOOKED_THROUGH_ONCE_IN = 500
"""Of so many collections of the oldest generation one looks through everything again."""


@contextmanager
def what_stays_left_out() -> Iterator[None]:
    """Look through objects that stay only once, for the length of the block.

    For a process that serves and does nothing else. A collection of the oldest generation looks
    through whatever is there, and nothing else goes on meanwhile: 200 ms for what the libraries
    are made of, and more with every turn that waits for its reply. So whatever has come through
    one is left out of the next. Objects that hold each other in a circle, and were under way at
    that very moment, are then found only when everything is looked through again.
    """
    seen = 0

    def leave_out(phase: str, info: dict[str, int]) -> None:
        nonlocal seen
        if phase != "stop" or info["generation"] != OLDEST:
            return
        seen += 1
        if seen % LOOKED_THROUGH_ONCE_IN:
            gc.freeze()
        else:
            gc.unfreeze()

    gc.callbacks.append(leave_out)
    gc.collect()
    try:
        yield
    finally:
        gc.callbacks.remove(leave_out)
        gc.unfreeze()


async def watch_lag(numbers: Numbers) -> None:
    """Note how late this event loop is, again and again; it has no end."""
    now = asyncio.get_running_loop().time
    while True:
        due = now() + EVERY_SECONDS
        await asyncio.sleep(EVERY_SECONDS)
        numbers.lagged(max(0.0, now() - due))

"""Calls from other threads into the event loop in which an agent lives."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from tiers.errors import UsageError

R = TypeVar("R")


class HomeLoop:
    """The event loop that is running where this is made.

    Raises:
        UsageError: None is.
    """

    def __init__(self) -> None:
        running = _running()
        if running is None:
            raise UsageError("agent", "no event loop", "made in the event loop in which it lives")
        self._loop = running

    def wait(self, start: Callable[[], Coroutine[Any, Any, R]], instead: str) -> R:
        """Run a coroutine there and return what it does; for other threads.

        Args:
            start: Makes the coroutine.
            instead: What to do in the loop's own thread, which would wait for itself.

        Raises:
            UsageError: It is the loop's own thread, or the loop does not run any more.
        """
        if _running() is self._loop:
            raise UsageError("call", "one that blocks the event loop", instead)
        if not self._loop.is_running():
            raise UsageError("call", "an event loop that is over", "one that runs")
        return asyncio.run_coroutine_threadsafe(start(), self._loop).result()


def _running() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None

"""Deadlines of many short questions, by one timer of the event loop instead of one for each.

A turn asks its tiers a dozen things, each of which has as long as the others from when it is asked.
Hardly any is ever late: making a timer for each, and unmaking it, was most of what that cost.
"""

from __future__ import annotations

import asyncio
from types import TracebackType


class Deadlines:
    """Ends what takes longer than so many seconds; each block counts from its own beginning.

    A block that is late ends with ``TimeoutError``, as one of ``asyncio.timeout`` does: also inside
    another, and beside a cancellation by somebody else, which goes on.

    Args:
        seconds: How long each block may take.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._running: dict[Within, None] = {}
        self._timer: asyncio.TimerHandle | None = None

    def within(self) -> Within:
        """Return a context manager for a block of the current task, used once."""
        return Within(self)

    def begin(self, block: Within) -> None:
        """Look after a block from now on."""
        loop = asyncio.get_running_loop()
        block.until = loop.time() + self._seconds
        self._running[block] = None
        if self._timer is None:
            self._timer = loop.call_at(block.until, self._end_late_ones, loop)

    def end(self, block: Within) -> None:
        """Look after a block no more; the timer stays for those that come."""
        self._running.pop(block, None)

    def _end_late_ones(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        for block in [one for one in self._running if one.until <= loop.time()]:
            del self._running[block]
            block.cancel()
        if self._running:
            # They began in this order and have as long as each other: the first is due first.
            first = next(iter(self._running))
            self._timer = loop.call_at(first.until, self._end_late_ones, loop)


class Within:
    """A block with a deadline.

    Attributes:
        until: When it is late, by the loop's clock.
    """

    __slots__ = ("_cancelling", "_deadlines", "_is_late", "_task", "until")

    def __init__(self, deadlines: Deadlines) -> None:
        self._deadlines = deadlines
        self._task: asyncio.Task[object] | None = None
        self._cancelling = 0
        self._is_late = False
        self.until = 0.0

    def cancel(self) -> None:
        """End the block: it is late."""
        self._is_late = True
        if self._task is not None:
            self._task.cancel()

    def __enter__(self) -> None:
        self._task = asyncio.current_task()
        if self._task is not None:
            self._cancelling = self._task.cancelling()
        self._deadlines.begin(self)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        task, self._task = self._task, None
        if not self._is_late:
            self._deadlines.end(self)
            return
        # As asyncio.timeout has it: a cancellation that somebody else asked for goes on.
        is_ours = task is not None and task.uncancel() <= self._cancelling
        if is_ours and kind is asyncio.CancelledError:
            raise TimeoutError from error

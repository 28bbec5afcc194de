"""Threads that carry out what they are handed, in the order in which it comes."""

from __future__ import annotations

import logging
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread
from typing import ParamSpec, TypeAlias

P = ParamSpec("P")

_LOG = logging.getLogger(__name__)

_Job: TypeAlias = tuple[Callable[..., None], tuple[object, ...]]


class Threads:
    """A few threads over one queue.

    An executor makes a future for each job, with a lock and a condition of its own: half of what a
    trip to a thread takes the processor. What is handed over here tells by itself what it came to,
    and raises nothing.

    Args:
        number: How many.
        name: What they are called by.
    """

    def __init__(self, number: int, name: str) -> None:
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._threads = [
            # Of one that is never closed nothing is lost: what was answered is on the disk.
            Thread(target=self._work, name=f"{name}_{one}", daemon=True)
            for one in range(number)
        ]

    def start(self) -> None:
        """Begin to work; once."""
        for thread in self._threads:
            thread.start()

    def submit(self, function: Callable[P, None], *args: P.args, **_: P.kwargs) -> None:
        """Hand something over."""
        self._jobs.put((function, args))

    @property
    def waiting(self) -> int:
        """How much was handed over and has not been begun."""
        return self._jobs.qsize()

    def stop(self) -> None:
        """Finish what was handed over, and end. Blocks. May be repeated."""
        working = [thread for thread in self._threads if thread.is_alive()]
        for _ in working:
            self._jobs.put(None)
        for thread in working:
            thread.join()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            function, arguments = job
            try:
                function(*arguments)
            except Exception:  # noqa: BLE001 - a thread that ends leaves all that follows unanswered
                _LOG.exception("a job of the database failed")
            del job, function, arguments  # what was asked is not kept until something else is

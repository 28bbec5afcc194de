"""The queue in front of one blocking computation: two lanes, batches, shared results.

Belongs to one event loop. There is no task: a batch starts when the worker is free and something
waits, and the end of a batch starts the next one.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

from ..errors import TierUnavailable

Compute: TypeAlias = Callable[[list[str]], list[bytes]]
"""Blocking; returns one result per text, in order. Called from one thread at a time."""

_URGENT_IN_A_ROW = 16  # then one background batch, so that lasting urgent load starves nobody


def closed() -> TierUnavailable:
    """Return the error of an embedder that is not open."""
    return TierUnavailable("embedding", "embed", "the embedder is not open")


@dataclass(eq=False, slots=True)
class Job:
    """One text that one or more callers wait for.

    Attributes:
        key: Identity of the text; identical texts share a job.
        text: The text.
        callers: How many still want it; a waiting job that nobody wants is dropped.
        result: Set when it was computed.
        problem: Set when it was not.
        done: Set when either is.
    """

    key: bytes
    text: str
    callers: int = 0
    result: bytes | None = None
    problem: BaseException | None = None
    done: asyncio.Event = field(default_factory=asyncio.Event)


class _Lane:
    """Jobs of one priority, in order of arrival, with a bound on how many wait.

    Args:
        texts: The largest batch.
        characters: Where a batch ends before that; one text is always taken.
        limit: How many jobs may wait; further callers wait for room.
    """

    def __init__(self, texts: int, characters: int, limit: int) -> None:
        self.room = asyncio.Semaphore(limit)
        self._texts = texts
        self._characters = characters
        self._waiting: OrderedDict[bytes, Job] = OrderedDict()

    def __len__(self) -> int:
        return len(self._waiting)

    def __contains__(self, job: Job) -> bool:
        return job.key in self._waiting

    def add(self, job: Job) -> None:
        self._waiting[job.key] = job

    def remove(self, job: Job) -> None:
        del self._waiting[job.key]

    def batch(self) -> list[Job]:
        """Return what to compute next; it stays in the lane until it is removed."""
        chosen: list[Job] = []
        characters = 0
        for job in self._waiting.values():
            characters += len(job.text)
            if chosen and (len(chosen) == self._texts or characters > self._characters):
                break
            chosen.append(job)
        return chosen


class BatchQueue:
    """Runs one batch at a time in a thread: urgent jobs first, background jobs in small batches.

    An urgent job waits for at most the batch that runs, of 32 urgent texts or of 16 background
    texts with about 4,000 characters, and for urgent jobs that came earlier.

    Args:
        compute: What turns texts into results.
        keep: Called on the loop with key and result of everything computed.
        limit: How many texts may wait, for each priority.
    """

    def __init__(
        self, compute: Compute, keep: Callable[[bytes, bytes], None], *, limit: int
    ) -> None:
        self._compute = compute
        self._keep = keep
        self._urgent = _Lane(texts=32, characters=32_768, limit=limit)
        self._background = _Lane(texts=16, characters=4_096, limit=limit)
        self._jobs: dict[bytes, Job] = {}
        self._rooms: dict[Job, asyncio.Semaphore] = {}
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="ezra-embedding")
        self._running: asyncio.Future[list[bytes]] | None = None
        self._starting = False
        self._urgent_in_a_row = 0
        self._closed = False

    @property
    def waiting(self) -> int:
        """How many texts wait for a batch."""
        return len(self._urgent) + len(self._background)

    def find(self, key: bytes, *, urgent: bool) -> Job | None:
        """Join the job of this key if there is one; an urgent caller makes it urgent."""
        job = self._jobs.get(key)
        if job is None:
            return None
        if urgent and job in self._background:
            self._background.remove(job)
            self._urgent.add(job)
        job.callers += 1
        return job

    async def put(self, key: bytes, text: str, *, urgent: bool) -> Job:
        """Join the job of this key, or queue a new one, waiting for room.

        Raises:
            TierUnavailable: Closed before there was room.
        """
        lane = self._urgent if urgent else self._background
        await lane.room.acquire()
        if self._closed:
            lane.room.release()
            raise closed()
        # Another caller may have brought the same text while this one waited for room.
        if (job := self.find(key, urgent=urgent)) is not None:
            lane.room.release()
            return job
        job = self._jobs[key] = Job(key, text, callers=1)
        self._rooms[job] = lane.room
        lane.add(job)
        if not self._starting:
            # Not at once: texts that come in the same pass of the loop ride together.
            self._starting = True
            asyncio.get_running_loop().call_soon(self._start)
        return job

    def part(self, job: Job) -> None:
        """A caller no longer waits for ``job``; the last one takes it out of the queue."""
        job.callers -= 1
        if job.callers == 0 and job in self._rooms:
            self._leave_lane(job)
            del self._jobs[job.key]

    async def close(self) -> None:
        """Refuse what waits and let the batch that runs come to its end."""
        self._closed = True
        for job in list(self._rooms):
            self._leave_lane(job)
            self._settle(job, None, closed())
        try:
            if self._running is not None:
                await asyncio.wait([self._running])
        finally:
            self._worker.shutdown(wait=False)

    def _leave_lane(self, job: Job) -> None:
        (self._urgent if job in self._urgent else self._background).remove(job)
        self._rooms.pop(job).release()

    def _settle(self, job: Job, result: bytes | None, problem: BaseException | None) -> None:
        job.result, job.problem = result, problem
        del self._jobs[job.key]
        job.done.set()

    def _next_batch(self) -> list[Job]:
        fair = self._urgent_in_a_row < _URGENT_IN_A_ROW or not self._background
        urgent = len(self._urgent) > 0 and fair
        self._urgent_in_a_row = self._urgent_in_a_row + 1 if urgent else 0
        return (self._urgent if urgent else self._background).batch()

    def _start(self) -> None:
        self._starting = False
        if self._running is not None or self._closed:
            return
        batch = self._next_batch()
        if not batch:
            return
        for job in batch:
            self._leave_lane(job)
        self._running = asyncio.get_running_loop().run_in_executor(
            self._worker, self._compute, [job.text for job in batch]
        )
        self._running.add_done_callback(partial(self._finish, batch))

    def _finish(self, batch: Sequence[Job], done: asyncio.Future[list[bytes]]) -> None:
        self._running = None
        # The failure is taken as a value: whatever it is, every caller must hear of it.
        problem = done.exception()
        results = done.result() if problem is None else [None] * len(batch)
        for job, result in zip(batch, results, strict=True):
            if result is not None:
                self._keep(job.key, result)
            self._settle(job, result, problem)
        self._start()

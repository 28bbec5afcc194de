"""The queue in front of one computation: two lanes, batches, shared results.

Belongs to one event loop. There is no task of its own: a batch starts when the runner has room
and something waits, and the end of a batch starts the next one.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol, TypeAlias

from ..errors import TierUnavailable

Compute: TypeAlias = Callable[[list[str]], list[bytes]]
"""Blocking; returns one result per text, in order. Called from one thread at a time."""

_URGENT_IN_A_ROW = 16  # then one background batch, so that lasting urgent load starves nobody


def closed() -> TierUnavailable:
    """Return the error of an embedder that is not open."""
    return TierUnavailable("embedding", "embed", "the embedder is not open")


@dataclass(frozen=True, slots=True)
class BatchSize:
    """How much goes into one batch.

    Attributes:
        texts: The most texts.
        characters: Where a batch ends before that; one text is always taken.
    """

    texts: int
    characters: int


class Runner(Protocol):
    """Where batches are computed."""

    @property
    def slots(self) -> int:
        """How many batches it runs side by side. One of several is kept for urgent texts."""

    @property
    def drops_unwanted(self) -> bool:
        """Whether a running batch is cancelled at closing, or when nobody waits for it any more."""

    def take_turn(self) -> float:
        """Take leave to start one batch and return 0, or return the seconds until there is one."""

    def start(self, texts: list[str], *, query: bool) -> asyncio.Future[list[bytes]]:
        """Begin a batch; its result has one item per text, in order."""

    def close(self) -> None:
        """Let go of what runs batches; nothing runs any more."""


class ThreadRunner:
    """Computes one batch at a time, in a thread. What has begun comes to its end.

    Args:
        compute: What turns texts into results.
        compute_questions: What turns questions into results; ``compute`` does if not given.
    """

    slots = 1
    drops_unwanted = False

    def __init__(self, compute: Compute, compute_questions: Compute | None = None) -> None:
        self._compute = compute
        self._compute_questions = compute_questions or compute
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="ezra-embedding")

    def take_turn(self) -> float:
        """Return 0: a free thread may begin at once."""
        return 0.0

    def start(self, texts: list[str], *, query: bool) -> asyncio.Future[list[bytes]]:
        """Begin a batch; to a symmetric model a question is a text like any other."""
        compute = self._compute_questions if query else self._compute
        return asyncio.get_running_loop().run_in_executor(self._worker, compute, texts)

    def close(self) -> None:
        """Let go of the thread."""
        self._worker.shutdown(wait=False)


@dataclass(eq=False, slots=True)
class Job:
    """One text that one or more callers wait for.

    Attributes:
        key: Identity of the text; identical texts share a job.
        text: The text.
        query: Whether it is a question; a batch holds questions or other texts, never both.
        callers: How many still want it; a waiting job that nobody wants is dropped.
        result: Set when it was computed.
        problem: Set when it was not.
        done: Set when either is.
    """

    key: bytes
    text: str
    query: bool = False
    callers: int = 0
    result: bytes | None = None
    problem: BaseException | None = None
    done: asyncio.Event = field(default_factory=asyncio.Event)


class _Lane:
    """Jobs of one priority, in order of arrival, with a bound on how many wait.

    Args:
        size: The largest batch.
        limit: How many jobs may wait; further callers wait for room.
    """

    def __init__(self, size: BatchSize, limit: int) -> None:
        self.room = asyncio.Semaphore(limit)
        self._size = size
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
            if chosen and job.query != chosen[0].query:
                continue
            characters += len(job.text)
            full = len(chosen) == self._size.texts or characters > self._size.characters
            if chosen and full:
                break
            chosen.append(job)
        return chosen


@dataclass(eq=False, slots=True)
class _Batch:
    """What a runner works on."""

    jobs: Sequence[Job]
    urgent: bool
    done: asyncio.Future[list[bytes]]


URGENT = BatchSize(texts=32, characters=32_768)
BACKGROUND = BatchSize(texts=16, characters=4_096)


class BatchQueue:
    """Feeds a runner: urgent jobs first, background jobs in batches of their own.

    With one slot, an urgent job waits for at most the batch that runs and for urgent jobs that
    came earlier; with several, one is free of background batches.

    Args:
        runner: Where batches are computed; closed with the queue.
        keep: Called on the loop with key and result of everything computed.
        limit: How many texts may wait, for each priority.
        urgent: The largest urgent batch.
        background: The largest background batch; an urgent text may have to wait for one.
    """

    def __init__(
        self,
        runner: Runner,
        keep: Callable[[bytes, bytes], None],
        *,
        limit: int,
        urgent: BatchSize = URGENT,
        background: BatchSize = BACKGROUND,
    ) -> None:
        self._runner = runner
        self._keep = keep
        self._urgent = _Lane(urgent, limit)
        self._background = _Lane(background, limit)
        self._jobs: dict[bytes, Job] = {}
        self._rooms: dict[Job, asyncio.Semaphore] = {}
        self._running: dict[Job, _Batch] = {}
        self._batches: set[_Batch] = set()
        self._start_at: asyncio.Handle | None = None
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

    async def put(self, key: bytes, text: str, *, urgent: bool, query: bool = False) -> Job:
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
        job = self._jobs[key] = Job(key, text, query, callers=1)
        self._rooms[job] = lane.room
        lane.add(job)
        if self._start_at is None:
            # Not at once: texts that come in the same pass of the loop ride together.
            self._start_at = asyncio.get_running_loop().call_soon(self._start)
        return job

    def part(self, job: Job) -> None:
        """A caller no longer waits for ``job``; the last one takes it out of the queue."""
        job.callers -= 1
        if job.callers > 0:
            return
        if job in self._rooms:
            self._leave_lane(job)
            del self._jobs[job.key]
        elif self._runner.drops_unwanted and (batch := self._running.get(job)) is not None:
            self._drop_unwanted(batch)

    async def close(self) -> None:
        """Refuse what waits; let what runs come to its end, or cancel it if the runner can."""
        self._closed = True
        if self._start_at is not None:
            self._start_at.cancel()
        for job in list(self._rooms):
            self._leave_lane(job)
            self._settle(job, None, closed())
        running = [batch.done for batch in self._batches]
        if self._runner.drops_unwanted:
            for done in running:
                done.cancel()
        try:
            if running:
                await asyncio.wait(running)
        finally:
            self._runner.close()

    def _leave_lane(self, job: Job) -> None:
        (self._urgent if job in self._urgent else self._background).remove(job)
        self._rooms.pop(job).release()

    def _drop_unwanted(self, batch: _Batch) -> None:
        """Cancel a batch that nobody waits for; who asks for its texts from now on asks anew."""
        if any(job.callers > 0 for job in batch.jobs):
            return
        for job in batch.jobs:
            del self._jobs[job.key]
            del self._running[job]
        batch.done.cancel()

    def _settle(self, job: Job, result: bytes | None, problem: BaseException | None) -> None:
        job.result, job.problem = result, problem
        if self._jobs.get(job.key) is job:
            del self._jobs[job.key]
        job.done.set()

    def _next_lane(self) -> _Lane | None:
        """Return the lane whose turn it is, or ``None`` when nothing can start."""
        if len(self._batches) >= self._runner.slots:
            return None
        busy = sum(not batch.urgent for batch in self._batches)
        may = len(self._background) > 0 and busy < max(1, self._runner.slots - 1)
        if len(self._urgent) > 0 and (self._urgent_in_a_row < _URGENT_IN_A_ROW or not may):
            return self._urgent
        return self._background if may else None

    def _start(self) -> None:
        """Start as many batches as the runner has room and leave for."""
        self._start_at = None
        while not self._closed and (lane := self._next_lane()) is not None:
            # Which texts go is decided once they may go: what is urgent by then comes first.
            if (seconds := self._runner.take_turn()) > 0:
                loop = asyncio.get_running_loop()
                self._start_at = loop.call_later(seconds, self._start)
                return
            self._start_batch(lane)

    def _start_batch(self, lane: _Lane) -> None:
        urgent = lane is self._urgent
        self._urgent_in_a_row = self._urgent_in_a_row + 1 if urgent else 0
        jobs = lane.batch()
        for job in jobs:
            self._leave_lane(job)
        texts = [job.text for job in jobs]
        batch = _Batch(jobs, urgent, self._runner.start(texts, query=jobs[0].query))
        self._batches.add(batch)
        self._running.update(dict.fromkeys(jobs, batch))
        batch.done.add_done_callback(partial(self._finish, batch))

    def _finish(self, batch: _Batch, done: asyncio.Future[list[bytes]]) -> None:
        self._batches.remove(batch)
        # The failure is taken as a value: whatever it is, every caller must hear of it.
        problem = closed() if done.cancelled() else done.exception()
        results = done.result() if problem is None else [None] * len(batch.jobs)
        for job, result in zip(batch.jobs, results, strict=True):
            self._running.pop(job, None)
            if result is not None:
                self._keep(job.key, result)
            self._settle(job, result, problem)
        if self._start_at is None:
            self._start()

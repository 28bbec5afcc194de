"""The queue before a runner with several slots, a pace and batches that can be cancelled."""

from __future__ import annotations

import asyncio

import pytest
from support.vector_models import until

from tiers.embedding.queueing import BatchQueue, BatchSize, Job
from tiers.errors import TierUnavailable


class HeldRunner:
    """Holds every batch until the test ends it; starts only when ``waits`` let it."""

    drops_unwanted = True

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self.waits: list[float] = []
        self.batches: list[tuple[list[str], bool]] = []
        self.running: list[asyncio.Future[list[bytes]]] = []
        self.closed = 0

    def take_turn(self) -> float:
        """Return the next wait, if there is one."""
        return self.waits.pop(0) if self.waits else 0.0

    def start(self, texts: list[str], *, query: bool) -> asyncio.Future[list[bytes]]:
        """Remember the batch."""
        self.batches.append((texts, query))
        self.running.append(asyncio.get_running_loop().create_future())
        return self.running[-1]

    def end(self, number: int) -> None:
        """End a batch with a result for each text."""
        self.running[number].set_result([text.encode() for text in self.batches[number][0]])

    def close(self) -> None:
        """Count closings."""
        self.closed += 1


def queue_before(runner: HeldRunner, kept: dict[bytes, bytes] | None = None) -> BatchQueue:
    """Return a queue with batches of three."""
    keep = {} if kept is None else kept
    size = BatchSize(texts=3, characters=1_000)
    return BatchQueue(runner, keep.__setitem__, limit=100, urgent=size, background=size)


async def put(
    queue: BatchQueue, *texts: str, urgent: bool = False, query: bool = False
) -> list[Job]:
    """Queue texts."""
    jobs = []
    for text in texts:
        key = f"{text}{query}".encode()
        job = queue.find(key, urgent=urgent)
        jobs.append(job or await queue.put(key, text, urgent=urgent, query=query))
    return jobs


async def settle() -> None:
    """Let everything happen that can happen at once."""
    for _ in range(5):
        await asyncio.sleep(0)


async def test_batches_run_side_by_side_up_to_the_slots() -> None:
    """Four urgent batches in three slots: the fourth begins when one ends."""
    runner = HeldRunner(slots=3)
    queue = queue_before(runner)
    jobs = await put(queue, *(f"t{n}" for n in range(12)), urgent=True)
    await settle()
    assert len(runner.batches) == 3
    runner.end(1)
    await settle()
    assert len(runner.batches) == 4
    for number in (0, 2, 3):
        runner.end(number)
    await settle()
    assert [job.result for job in jobs] == [job.text.encode() for job in jobs]
    await queue.close()


async def test_the_background_never_takes_the_last_of_several_slots() -> None:
    """Nine background texts in three slots run as two batches; an urgent one goes beside them."""
    runner = HeldRunner(slots=3)
    queue = queue_before(runner)
    await put(queue, *(f"b{n}" for n in range(9)))
    await settle()
    assert [texts[0] for texts, _ in runner.batches] == ["b0", "b3"]
    await put(queue, "u", urgent=True)
    await settle()
    assert runner.batches[-1] == (["u"], False)
    await queue.close()


async def test_questions_and_texts_do_not_share_a_batch() -> None:
    """Each kind keeps its order, and the older kind goes first."""
    runner = HeldRunner(slots=1)
    queue = queue_before(runner)
    for n in range(4):
        await put(queue, f"q{n}", query=True)
        await put(queue, f"t{n}")
    for number in range(4):
        await settle()
        runner.end(number)
    await settle()
    assert runner.batches == [
        (["q0", "q1", "q2"], True),
        (["t0", "t1", "t2"], False),
        (["q3"], True),
        (["t3"], False),
    ]
    await queue.close()


async def test_what_is_urgent_by_the_time_of_the_turn_goes_first() -> None:
    """A background text waits for its turn; an urgent one that comes meanwhile takes the turn."""
    runner = HeldRunner(slots=2)
    runner.waits = [0.01, 0.0, 0.01, 0.01]
    queue = queue_before(runner)
    await put(queue, "early")
    await settle()
    assert runner.batches == []
    await put(queue, "late", urgent=True)
    await until(lambda: len(runner.batches) == 2)
    assert [texts for texts, _ in runner.batches] == [["late"], ["early"]]
    assert runner.waits == []
    await queue.close()


async def test_closing_ends_the_wait_for_a_turn() -> None:
    """A text that waits for its turn is refused, and its batch never begins."""
    runner = HeldRunner(slots=1)
    runner.waits = [0.005]
    queue = queue_before(runner)
    (job,) = await put(queue, "x")
    await settle()
    await queue.close()
    assert isinstance(job.problem, TierUnavailable)
    await asyncio.sleep(0.02)
    assert (runner.batches, runner.closed) == ([], 1)


async def test_a_batch_that_nobody_waits_for_is_cancelled() -> None:
    """Only when the last of its texts is given up; who asks afterwards gets a batch of its own."""
    runner = HeldRunner(slots=1)
    kept: dict[bytes, bytes] = {}
    queue = queue_before(runner, kept)
    one, other = await put(queue, "one", "other")
    await settle()
    queue.part(one)
    assert not runner.running[0].cancelled()
    queue.part(other)
    assert runner.running[0].cancelled()
    (again,) = await put(queue, "one")
    assert again is not one
    await settle()
    assert [texts for texts, _ in runner.batches] == [["one", "other"], ["one"]]
    runner.end(1)
    await settle()
    assert (again.result, kept) == (b"one", {b"oneFalse": b"one"})
    assert (queue._jobs, queue._running, queue._batches) == ({}, {}, set())
    await queue.close()


async def test_a_batch_given_up_at_the_moment_it_ends_keeps_its_result() -> None:
    """Too late to cancel: what was computed is kept for the next caller, and nothing is left."""
    runner = HeldRunner(slots=1)
    kept: dict[bytes, bytes] = {}
    queue = queue_before(runner, kept)
    (job,) = await put(queue, "x")
    await settle()
    runner.end(0)
    queue.part(job)
    await settle()
    assert kept == {b"xFalse": b"x"}
    assert (queue._jobs, queue._running, queue._batches) == ({}, {}, set())
    await queue.close()


async def test_closing_cancels_what_runs_and_tells_its_callers() -> None:
    """Every job in work ends with ``TierUnavailable``, and the runner is closed once."""
    runner = HeldRunner(slots=2)
    queue = queue_before(runner)
    jobs = await put(queue, *"abcd", urgent=True)
    await settle()
    await queue.close()
    assert all(isinstance(job.problem, TierUnavailable) for job in jobs)
    assert all(running.cancelled() for running in runner.running)
    assert runner.closed == 1
    with pytest.raises(TierUnavailable):
        await put(queue, "late")

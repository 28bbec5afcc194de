"""Batches, priorities, sharing, bounds and failures of the queue in front of a model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from random import Random

import numpy as np
import numpy.typing as npt
import pytest
from support.vector_models import BatchingEmbedder, DigestModel, GatedModel, digest_vector, until

from tiers.errors import TierRejected, TierTimeout, TierUnavailable, UsageError
from tiers.ports import Vector


@pytest.fixture
def model() -> GatedModel:
    """A model that stops in every batch."""
    return GatedModel()


@pytest.fixture
async def embedder(model: GatedModel) -> AsyncIterator[BatchingEmbedder]:
    """An open embedder over the gated model."""
    async with BatchingEmbedder(model) as opened:
        yield opened
        model.let_go(1_000)


async def queued(
    embedder: BatchingEmbedder, texts: Sequence[str], *, urgent: bool = False
) -> asyncio.Task[tuple[Vector, ...]]:
    """Start a call and return it once all of its texts wait in the queue."""
    wanted = embedder.counts.waiting + len(texts)
    call = asyncio.create_task(embedder.embed(texts, urgent=urgent))
    await until(lambda: embedder.counts.waiting == wanted)
    return call


async def busy(embedder: BatchingEmbedder, model: GatedModel) -> asyncio.Task[tuple[Vector, ...]]:
    """Occupy the model with one batch, so that everything after it has to wait."""
    call = asyncio.create_task(embedder.embed(["occupied"]))
    assert await model.entered() == ["occupied"]
    return call


def expected(texts: Sequence[str]) -> tuple[Vector, ...]:
    """Return what the digest model gives these texts."""
    return tuple(tuple(digest_vector(text).tolist()) for text in texts)


async def test_urgent_overtakes_waiting_background(
    embedder: BatchingEmbedder, model: GatedModel
) -> None:
    """An urgent text is in the next batch although 40 background texts came before it."""
    first = await busy(embedder, model)
    background = await queued(embedder, [f"b{n}" for n in range(40)])
    urgent = await queued(embedder, ["query"], urgent=True)
    model.let_go()
    assert await model.entered() == ["query"]
    model.let_go()
    assert await urgent == expected(["query"])
    assert not background.done()
    assert await model.entered() == [f"b{n}" for n in range(16)]
    model.let_go(3)
    assert await background == expected([f"b{n}" for n in range(40)])
    assert await first == expected(["occupied"])


async def test_texts_of_one_pass_ride_together(
    embedder: BatchingEmbedder, model: GatedModel
) -> None:
    """Callers that come at the same time share a batch even when the model is idle."""
    calls = [asyncio.create_task(embedder.embed([text], urgent=True)) for text in "abc"]
    assert await model.entered() == ["a", "b", "c"]
    model.let_go()
    assert await asyncio.gather(*calls) == [expected([text]) for text in "abc"]


async def test_batches_are_bounded(embedder: BatchingEmbedder, model: GatedModel) -> None:
    """Urgent batches hold at most 32 texts, background batches 16, all in order of arrival."""
    first = await busy(embedder, model)
    background = await queued(embedder, [f"b{n}" for n in range(20)])
    urgent = await queued(embedder, [f"u{n}" for n in range(40)], urgent=True)
    model.let_go(6)
    await asyncio.gather(first, background, urgent)
    assert [len(batch) for batch in model.batches] == [1, 32, 8, 16, 4]
    assert model.batches[1] + model.batches[2] == [f"u{n}" for n in range(40)]


async def test_long_background_texts_make_small_batches(
    embedder: BatchingEmbedder, model: GatedModel
) -> None:
    """A background batch ends at about 4,000 characters, so nobody waits long behind it."""
    texts = [f"{n}" + "x" * 999 for n in range(6)]
    first = await busy(embedder, model)
    call = await queued(embedder, texts)
    model.let_go(3)
    await asyncio.gather(first, call)
    assert [len(batch) for batch in model.batches] == [1, 4, 2]


async def test_lasting_urgent_load_does_not_starve_background(
    embedder: BatchingEmbedder, model: GatedModel
) -> None:
    """After sixteen urgent batches in a row a background batch has its turn."""
    first = await busy(embedder, model)
    background = await queued(embedder, ["patient"])
    calls = [
        await queued(embedder, [f"{call}-{n}" for n in range(32)], urgent=True)
        for call in range(20)
    ]
    model.let_go(22)
    await asyncio.gather(first, background, *calls)
    assert model.batches.index(["patient"]) == 17
    assert len(model.batches) == 22


async def test_an_urgent_caller_makes_a_waiting_text_urgent(
    embedder: BatchingEmbedder, model: GatedModel
) -> None:
    """Asking urgently for a text that waits in the background moves it to the front."""
    first = await busy(embedder, model)
    background = await queued(embedder, [f"b{n}" for n in range(20)])
    urgent = asyncio.create_task(embedder.embed(["b19"], urgent=True))
    await until(lambda: embedder.counts.shared == 1)
    model.let_go()
    assert await model.entered() == ["b19"]
    model.let_go(3)
    assert await urgent == expected(["b19"])
    assert await background == expected([f"b{n}" for n in range(20)])
    await first


async def test_identical_waiting_texts_are_computed_once(
    embedder: BatchingEmbedder, model: GatedModel
) -> None:
    """Fifty callers with the same two texts cost the model two texts."""
    calls = [asyncio.create_task(embedder.embed(["same", "other", "same"])) for _ in range(50)]
    assert await model.entered() == ["same", "other"]
    model.let_go()
    assert set(await asyncio.gather(*calls)) == {expected(["same", "other", "same"])}
    assert embedder.counts.computed == 2
    assert embedder.counts.shared == 148


async def test_a_text_is_shared_while_it_is_computed(
    embedder: BatchingEmbedder, model: GatedModel
) -> None:
    """A text that the model already works on is not queued again."""
    first = await busy(embedder, model)
    second = asyncio.create_task(embedder.embed(["occupied"], urgent=True))
    await until(lambda: embedder.counts.shared == 1)
    model.let_go()
    assert await first == await second
    assert model.batches == [["occupied"]]


async def test_a_cancelled_caller_takes_only_its_own_texts(
    embedder: BatchingEmbedder, model: GatedModel
) -> None:
    """Cancelling one of three callers drops what only it wanted and nothing else."""
    first = await busy(embedder, model)
    gone = await queued(embedder, ["only gone", "shared"])
    stays = asyncio.create_task(embedder.embed(["shared", "own"]))
    await until(lambda: embedder.counts.waiting == 3)
    gone.cancel()
    with pytest.raises(asyncio.CancelledError):
        await gone
    assert embedder.counts.waiting == 2
    model.let_go(2)
    assert await stays == expected(["shared", "own"])
    assert model.batches == [["occupied"], ["shared", "own"]]
    await first


async def test_cancelling_during_the_batch_keeps_the_others_and_the_work(
    embedder: BatchingEmbedder, model: GatedModel
) -> None:
    """A caller cancelled while the model works on its text loses nobody's vector, nor its own."""
    gone = asyncio.create_task(embedder.embed(["gone"]))
    stays = asyncio.create_task(embedder.embed(["stays", "gone"]))
    assert await model.entered() == ["gone", "stays"]
    gone.cancel()
    with pytest.raises(asyncio.CancelledError):
        await gone
    model.let_go()
    assert await stays == expected(["stays", "gone"])
    assert await embedder.embed(["gone"]) == expected(["gone"])
    assert embedder.counts.cached == 1


async def test_callers_wait_for_room_and_none_is_refused() -> None:
    """With room for two texts, thirty callers are all served and never more than two wait."""
    model = GatedModel()
    async with BatchingEmbedder(model, queue_size=2) as embedder:
        first = await busy(embedder, model)
        calls = [asyncio.create_task(embedder.embed([f"t{n}"])) for n in range(30)]
        await until(lambda: embedder.counts.waiting == 2)
        for _ in range(50):
            await asyncio.sleep(0)
        assert embedder.counts.waiting == 2
        model.let_go(31)
        assert await asyncio.gather(*calls) == [expected([f"t{n}"]) for n in range(30)]
        await first
        assert all(len(batch) <= 2 for batch in model.batches)


async def test_urgent_callers_need_no_room_in_the_background() -> None:
    """A full background lane does not keep an urgent text out."""
    model = GatedModel()
    async with BatchingEmbedder(model, queue_size=1) as embedder:
        first = await busy(embedder, model)
        background = await queued(embedder, ["b"])
        urgent = await queued(embedder, ["u"], urgent=True)
        model.let_go(3)
        await asyncio.gather(first, background, urgent)
        assert model.batches == [["occupied"], ["u"], ["b"]]


async def test_a_caller_cancelled_while_waiting_for_room_leaves_no_trace() -> None:
    """The room a cancelled caller waited for goes to the next one."""
    model = GatedModel()
    async with BatchingEmbedder(model, queue_size=1) as embedder:
        first = await busy(embedder, model)
        waiting = await queued(embedder, ["a"])
        gone, stays = (asyncio.create_task(embedder.embed([text])) for text in ("gone", "stays"))
        for _ in range(5):
            await asyncio.sleep(0)
        gone.cancel()
        with pytest.raises(asyncio.CancelledError):
            await gone
        model.let_go(3)
        assert await stays == expected(["stays"])
        await asyncio.gather(first, waiting)
        assert model.batches == [["occupied"], ["a"], ["stays"]]


async def test_the_cache_is_bounded_and_drops_the_least_recently_used() -> None:
    """Three vectors are kept; using one saves it from being the next to go."""
    model = DigestModel()
    async with BatchingEmbedder(model, cache_size=3) as embedder:
        for text in ("a", "b", "c", "a", "d", "a", "b"):
            assert await embedder.embed([text]) == expected([text])
        assert model.batches == [["a"], ["b"], ["c"], ["d"], ["b"]]
        counts = embedder.counts
        assert (counts.computed, counts.cached, counts.held) == (5, 2, 3)


async def test_a_cache_of_nothing_computes_everything() -> None:
    """``cache_size=0`` is a setting, not an accident."""
    model = DigestModel()
    async with BatchingEmbedder(model, cache_size=0) as embedder:
        assert await embedder.embed(["a"]) == await embedder.embed(["a"])
        assert (embedder.counts.computed, embedder.counts.held) == (2, 0)


async def test_a_long_call_goes_through_a_short_queue() -> None:
    """One call with more texts than the queue or a slice holds is answered whole and in order."""
    texts = [f"text {n}" for n in range(500)]
    async with BatchingEmbedder(DigestModel(), queue_size=5) as embedder:
        assert await embedder.embed(texts) == expected(texts)


async def test_text_beyond_the_models_sight_is_cut_before_it_is_compared() -> None:
    """Two texts that differ only behind ``max_characters`` are one text to the cache."""
    model = DigestModel()
    async with BatchingEmbedder(model) as embedder:
        seen = "x" * model.max_characters
        one, other = await embedder.embed([seen + "one", seen + "other"])
        assert one == other
        assert model.batches == [[seen]]


async def test_nothing_is_left_behind_by_a_thousand_hasty_callers() -> None:
    """Callers that come, share, wait and are cancelled at random leave no job and no taken room."""
    random = Random(7)
    texts = [f"text {n}" for n in range(120)]
    async with BatchingEmbedder(DigestModel(), cache_size=10, queue_size=8) as embedder:

        async def caller(number: int) -> None:
            wanted = random.choices(texts, k=random.randrange(1, 6))
            call = asyncio.create_task(embedder.embed(wanted, urgent=number % 5 == 0))
            for _ in range(random.randrange(30)):
                await asyncio.sleep(0)
            if number % 3 == 0:
                call.cancel()
            try:
                assert await call == expected(wanted)
            except asyncio.CancelledError:
                assert number % 3 == 0

        await asyncio.gather(*(caller(number) for number in range(1_000)))
        queue = embedder._queue
        assert queue is not None
        assert (embedder.counts.waiting, queue._jobs, queue._rooms) == (0, {}, {})
        assert [lane.room._value for lane in (queue._urgent, queue._background)] == [8, 8]


async def test_close_refuses_what_waits_and_ends_the_running_batch() -> None:
    """Leaving the context answers everybody: in the batch, in the queue and waiting for room."""
    model = GatedModel()
    embedder = BatchingEmbedder(model, queue_size=1)
    await embedder.__aenter__()
    running = await busy(embedder, model)
    waiting = await queued(embedder, ["waiting"])
    without_room = [asyncio.create_task(embedder.embed([text])) for text in ("r1", "r2")]
    for _ in range(5):
        await asyncio.sleep(0)
    closing = asyncio.create_task(embedder.__aexit__(None, None, None))
    for call in (waiting, *without_room):
        with pytest.raises(TierUnavailable, match="embedding tier, embed"):
            await call
    assert not closing.done()
    model.let_go()
    await closing
    assert await running == expected(["occupied"])
    with pytest.raises(TierUnavailable):
        await embedder.embed(["late"])


async def test_a_closed_embedder_can_be_opened_again_with_its_cache() -> None:
    """Close and open twice: closing again is harmless, and what was computed is still known."""
    model = DigestModel()
    embedder = BatchingEmbedder(model)
    for _ in range(2):
        async with embedder:
            assert await embedder.embed(["a"]) == expected(["a"])
        await embedder.__aexit__(None, None, None)
    assert model.batches == [["a"]]


class FailingModel(DigestModel):
    """Fails as told for one text, and answers everything else."""

    def __init__(self, failure: BaseException) -> None:
        super().__init__()
        self._failure = failure

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Raise for a batch with the text ``bad``."""
        if "bad" in texts:
            raise self._failure
        return super().encode(texts)


async def test_a_failing_model_is_a_rejection_with_its_cause_for_every_caller() -> None:
    """Each caller of the failed batch gets an error of its own; the next batch works."""
    cause = RuntimeError("out of order")
    async with BatchingEmbedder(FailingModel(cause)) as embedder:
        calls = [asyncio.create_task(embedder.embed([text])) for text in ("bad", "neighbour")]
        errors = await asyncio.gather(*calls, return_exceptions=True)
        assert [type(error) for error in errors] == [TierRejected, TierRejected]
        assert errors[0] is not errors[1]
        assert isinstance(errors[0], TierRejected)
        assert errors[0].__cause__ is cause
        assert "out of order" in errors[0].reason
        assert await embedder.embed(["neighbour"]) == expected(["neighbour"])


async def test_a_models_own_tier_error_keeps_its_kind() -> None:
    """A remote model that says ``TierTimeout`` is not turned into something not repeatable."""
    failure = TierTimeout("embedding", "embed", "no answer in 5 seconds")
    async with BatchingEmbedder(FailingModel(failure)) as embedder:
        with pytest.raises(TierTimeout, match="no answer in 5 seconds"):
            await embedder.embed(["bad"])


class BentModel(DigestModel):
    """Gives what no model may give."""

    def __init__(self, vectors: npt.NDArray[np.float32]) -> None:
        super().__init__()
        self._vectors = vectors

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return the same rows whatever is asked."""
        assert texts
        return self._vectors


@pytest.mark.parametrize(
    "vectors",
    [
        np.zeros((1, 8), np.float32),
        np.full((1, 8), np.nan, np.float32),
        np.ones((1, 8), np.float32),
        np.eye(1, 7, dtype=np.float32),
        np.eye(2, 8, dtype=np.float32),
    ],
    ids=["zero", "nan", "long", "short row", "row too many"],
)
async def test_what_is_no_unit_vector_is_refused(vectors: npt.NDArray[np.float32]) -> None:
    """A vector of wrong length, shape or content never reaches a caller or the cache."""
    async with BatchingEmbedder(BentModel(vectors)) as embedder:
        with pytest.raises(TierRejected, match="digest/test gave"):
            await embedder.embed(["a"])
        assert embedder.counts.held == 0


@pytest.mark.parametrize("sizes", [{"cache_size": -1}, {"queue_size": 0}])
def test_sizes_out_of_range_are_refused(sizes: dict[str, int]) -> None:
    """A queue without room would wait for ever, so it is refused at construction."""
    with pytest.raises(UsageError, match=next(iter(sizes))):
        BatchingEmbedder(DigestModel(), **sizes)

"""What every ``Embedder`` promises.

The real model in both precisions, the bare batching, and the real client libraries of Gemini and
OpenAI against stand-ins for their servers.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any, TypeAlias

import pytest
from support.model import installed_model
from support.model_http import KEY, running_model_server
from support.vector_models import BatchingEmbedder, DigestModel

from tiers.embedding.gemini_embedder import GeminiEmbedder
from tiers.embedding.onnx_embedder import OnnxEmbedder
from tiers.embedding.openai_embedder import OpenAIEmbedder
from tiers.errors import TierUnavailable, UsageError
from tiers.ports import Embedder

AnyEmbedder: TypeAlias = OnnxEmbedder | BatchingEmbedder | GeminiEmbedder | OpenAIEmbedder

BUILDERS: dict[str, Callable[[str], AnyEmbedder]] = {
    "onnx-int8": lambda _: OnnxEmbedder(installed_model("int8")),
    "onnx-fp32": lambda _: OnnxEmbedder(installed_model("fp32")),
    "batching": lambda _: BatchingEmbedder(DigestModel()),
    "gemini": lambda url: GeminiEmbedder(KEY, base_url=url),
    "openai": lambda url: OpenAIEmbedder(KEY, base_url=f"{url}/open/v1", dimensions=256),
}

HOSTILE = [
    "",
    " ",
    "\n\t\u00a0\u2003",
    "\x00",
    "nul \x00 inside",
    "\ud800 lone surrogate",
    "\u202eright to left\u202c",
    "🏎️🏁👩‍👩‍👧",
    "é" + "\u0301" * 500,
    "中文 日本語 한국어",
    "a" * 5_000,
    "[CLS] [SEP] [MASK] [PAD]",
    "DROP TABLE turns; --",
]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The address of a server that speaks for Gemini and OpenAI."""
    with running_model_server() as server:
        yield server.url


@pytest.fixture(
    params=[
        *("batching", "gemini", "onnx-int8", "openai"),
        pytest.param("onnx-fp32", marks=pytest.mark.slow),  # the same code over a larger file
    ]
)
def build(request: pytest.FixtureRequest, url: str) -> Callable[[], AnyEmbedder]:
    """What makes a closed embedder of each kind; the real model is installed before a loop runs."""
    builder = partial(BUILDERS[request.param], url)
    builder()
    return builder


@pytest.fixture
async def embedder(build: Callable[[], AnyEmbedder]) -> Any:
    """An open embedder of each kind."""
    async with build() as opened:
        yield opened


def sentences(count: int, salt: str = "") -> list[str]:
    """Return different sentences of different lengths."""
    return [
        f"{salt} lap {n}: the medium tyres lasted {n % 23} laps" + " and then some" * (n % 7)
        for n in range(count)
    ]


def apart(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    """Return the largest difference between two vectors."""
    return max(abs(left - right) for left, right in zip(one, other, strict=True))


async def test_names_itself_before_and_after_opening(build: Callable[[], AnyEmbedder]) -> None:
    """``model_id`` and ``dimensions`` are facts of the model: no opening is needed to read them."""
    made = build()
    before = (made.model_id, made.dimensions)
    async with made as opened:
        port: Embedder = opened
        (vector,) = await port.embed(["a"])
        assert (port.model_id, port.dimensions) == before
        assert len(vector) == port.dimensions > 0
        assert "/" in port.model_id


async def test_no_texts_give_no_vectors(embedder: Embedder) -> None:
    """An empty call is a no-op with an empty answer."""
    assert await embedder.embed([]) == ()


async def test_vectors_are_tuples_of_unit_length(embedder: Embedder) -> None:
    """Every vector is a tuple of plain floats whose length is 1 within single precision."""
    for vector in await embedder.embed([*sentences(20), *HOSTILE]):
        assert isinstance(vector, tuple)
        assert all(type(value) is float for value in vector)
        assert math.fsum(value * value for value in vector) == pytest.approx(1.0, abs=2e-6)


async def test_the_order_of_texts_is_the_order_of_vectors(build: Callable[[], AnyEmbedder]) -> None:
    """Short and long texts mixed, in one call, come back where they were put.

    The tolerance is for other threads of the same arithmetic; each text is computed alone, so
    that padding and neighbours change nothing, in int8 either.
    """
    texts = sentences(90)
    async with build() as together:
        batch = await together.embed(texts)
    async with build() as alone:
        single = [(await alone.embed([text]))[0] for text in reversed(texts)][::-1]
    assert max(apart(one, other) for one, other in zip(batch, single, strict=True)) < 1e-6
    assert len(set(batch)) == 90


async def test_the_same_text_always_gets_the_same_vector(build: Callable[[], AnyEmbedder]) -> None:
    """Urgent or not, cached or not, with whatever neighbours: equal to the last bit."""
    async with build() as first:
        one = await first.embed(["same", *sentences(10)])
        assert await first.embed(["same"], urgent=True) == one[:1]
    async with build() as second:
        assert (await second.embed([*sentences(10, "other"), "same"], urgent=True))[-1] == one[0]


async def test_a_question_is_a_text_that_is_looked_for_among_others(embedder: Embedder) -> None:
    """Asked as a question, a text has a unit vector of the same width, and keeps its own as well.

    Whether the two differ is the model's affair; that neither is mistaken for the other is ours.
    """
    (text,) = await embedder.embed(["medium tyres"])
    (question,) = await embedder.embed(["medium tyres"], urgent=True, query=True)
    assert len(question) == embedder.dimensions
    assert math.fsum(value * value for value in question) == pytest.approx(1.0, abs=2e-6)
    assert await embedder.embed(["medium tyres"], urgent=True) == (text,)
    assert await embedder.embed(["medium tyres"], query=True) == (question,)


async def test_the_empty_text_has_a_vector(embedder: Embedder) -> None:
    """An empty text is answered with the vector of the empty string, not with an error."""
    empty, blank, word = await embedder.embed(["", "", "tyres"])
    assert empty == blank != word


async def test_ten_thousand_characters_are_one_text(embedder: Embedder) -> None:
    """A long text is cut to what the model reads: its beginning decides."""
    long = "The strategist chose medium tyres for the start. " * 205
    one, other, different = await embedder.embed(
        [long, long + "An end nobody reads.", "Another beginning. " + long]
    )
    assert len(long) > 10_000
    assert one == other != different


async def test_hostile_texts_are_answered_and_harm_no_neighbour(embedder: Embedder) -> None:
    """Control characters, lone surrogates and endless words get a vector, as do those beside."""
    vectors = await embedder.embed([*HOSTILE, "tyres"])
    assert len(vectors) == len(HOSTILE) + 1
    assert vectors[-1] == (await embedder.embed(["tyres"]))[0]


@pytest.mark.parametrize("texts", ["one string", b"bytes", ["fine", 3], ["fine", None]])
async def test_what_is_no_sequence_of_strings_is_refused(embedder: Embedder, texts: Any) -> None:
    """One string is not taken for a sequence of letters."""
    with pytest.raises(UsageError, match=r"^texts: .* accepted: a sequence of strings"):
        await embedder.embed(texts)


async def test_two_hundred_callers_get_their_own_vectors(build: Callable[[], AnyEmbedder]) -> None:
    """Concurrent callers, urgent and not, each with three texts, get what they asked for."""
    texts = sentences(200)
    async with build() as reference:
        right = await reference.embed(texts)
    async with build() as embedder:
        calls = [
            embedder.embed([texts[n], texts[(n * 7) % 200], texts[199 - n]], urgent=n % 3 == 0)
            for n in range(200)
        ]
        answers = await asyncio.gather(*calls)
        assert embedder.counts.computed == 200
    for n, answer in enumerate(answers):
        assert answer == (right[n], right[(n * 7) % 200], right[199 - n])


async def test_cancelled_callers_harm_nobody(build: Callable[[], AnyEmbedder]) -> None:
    """With every other caller cancelled on the way, the rest get the right vectors."""
    texts = sentences(60)
    async with build() as reference:
        right = await reference.embed(texts)
    async with build() as embedder:
        calls = [asyncio.create_task(embedder.embed([text])) for text in texts]
        await asyncio.sleep(0)
        for call in calls[::2]:
            call.cancel()
        answers = await asyncio.gather(*calls, return_exceptions=True)
    assert all(isinstance(answer, asyncio.CancelledError) for answer in answers[::2])
    assert list(answers[1::2]) == [(vector,) for vector in right[1::2]]


async def test_the_event_loop_runs_on_while_texts_are_embedded(embedder: Embedder) -> None:
    """It turns for others again and again while 200 texts are embedded beside it."""
    call, turns = asyncio.create_task(embedder.embed(sentences(200, "round"))), 0
    while not call.done():
        await asyncio.sleep(0)
        turns += 1
    assert len(await call) == 200
    assert turns > 20, "the loop was held"


async def test_closed_means_unavailable(build: Callable[[], AnyEmbedder]) -> None:
    """Before opening and after closing, even a call without texts is refused."""
    embedder = build()
    for _ in range(2):
        for texts in ([], ["a"]):
            with pytest.raises(TierUnavailable, match="not open"):
                await embedder.embed(texts)
        async with embedder:
            assert len(await embedder.embed(["a"])) == 1


async def test_opening_an_open_embedder_is_refused(
    embedder: AbstractAsyncContextManager[Embedder],
) -> None:
    """Two owners of one opening would close it under each other."""
    with pytest.raises(UsageError, match="opened twice"):
        await embedder.__aenter__()

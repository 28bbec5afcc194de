"""Texts embedded at a provider: what is sent, what comes back, and who waits for whom."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from support.model_http import KEY, Fault, ModelServer
from support.model_providers import Make, wanted

from ezra.models import GeminiModel, OpenAIModel
from tiers.embedding.gemini_embedder import GeminiEmbedder
from tiers.embedding.openai_embedder import OpenAIEmbedder
from tiers.errors import TierRejected, UsageError


@pytest.mark.parametrize(
    "make",
    [
        lambda: GeminiEmbedder(KEY, dimensions=127),
        lambda: GeminiEmbedder(KEY, dimensions=3073),
        lambda: GeminiEmbedder(KEY, "../models"),
        lambda: GeminiEmbedder(KEY, queue_size=0),
        lambda: OpenAIEmbedder(KEY, dimensions=0),
        lambda: OpenAIEmbedder(KEY, max_characters=0),
        lambda: OpenAIEmbedder(KEY, cache_size=-1),
        lambda: GeminiModel(KEY, attempts=0),
        lambda: OpenAIModel(None, KEY, ""),
    ],
)
def test_arguments_out_of_range_are_refused(make: Callable[[], object]) -> None:
    """At construction, before anything is opened."""
    with pytest.raises(UsageError):
        make()


def test_the_model_is_named_with_provider_and_width() -> None:
    """So that vectors of different models or widths are never compared."""
    assert GeminiEmbedder(KEY).model_id == "gemini/gemini-embedding-001@768"
    assert OpenAIEmbedder(None, "bge-m3", dimensions=8).model_id == "openai/bge-m3@8"


async def test_vectors_are_those_of_their_texts_at_unit_length(
    provider: str, embedder: Make
) -> None:
    """Whatever length and order the server answers with, each text gets its own direction."""
    texts = [f"text {n}" for n in range(150)]
    async with embedder() as opened:
        vectors = await opened.embed(texts)
    for text, vector in zip(texts, vectors, strict=True):
        assert vector == pytest.approx(wanted(provider, text), abs=1e-6)


async def test_long_texts_are_cut_and_share_no_request(
    provider: str, server: ModelServer, embedder: Make
) -> None:
    """Each is cut at the documented length, and a request holds at most 250,000 characters."""
    limit = 8_192 if provider == "gemini" else 8_000
    texts = [f"{n:06}" + "x" * 20_000 for n in range(40)]
    async with embedder() as opened:
        await opened.embed(texts)
    sent = server.embedded
    assert {len(text) for batch in sent for text in batch} == {limit}
    assert all(sum(map(len, batch)) <= 250_000 for batch in sent)
    assert sum(map(len, sent)) == 40


def _zero(values: list[float]) -> list[float]:
    return [0.0] * len(values)


BENT: dict[str, Callable[[list[list[float]]], list[Any]]] = {
    "one too few": lambda rows: rows[:-1],
    "one too many": lambda rows: [*rows, rows[0]],
    "none": lambda rows: rows[:0],
    "too narrow": lambda rows: [row[:-1] for row in rows],
    "too wide": lambda rows: [[*row, 1.0] for row in rows],
    "one too narrow": lambda rows: [rows[0][:-1], *rows[1:]],
    "empty": lambda rows: [[] for _ in rows],
    "zero": lambda rows: [_zero(rows[0]), *rows[1:]],
    "not a number": lambda rows: [[float("nan"), *rows[0][1:]], *rows[1:]],
    "infinite": lambda rows: [[float("inf"), *rows[0][1:]], *rows[1:]],
    "beyond a float's square": lambda rows: [[1e300, *rows[0][1:]], *rows[1:]],
    "null": lambda rows: [[None, *rows[0][1:]], *rows[1:]],
    "words": lambda rows: [["x", *rows[0][1:]], *rows[1:]],
}


@pytest.mark.parametrize("bend", BENT.values(), ids=BENT.keys())
async def test_a_vector_that_is_none_reaches_nobody(
    provider: str, server: ModelServer, embedder: Make, bend: Callable[[Any], Any]
) -> None:
    """Wrong number, wrong width, no direction: refused with nothing kept; then all is well."""

    def change(answer: Any) -> Any:
        if provider == "gemini":
            rows = bend([item["values"] for item in answer["embeddings"]])
            return {"embeddings": [{"values": row} for row in rows]}
        rows = bend([item["embedding"] for item in answer["data"]])
        return {"data": [{"index": n, "embedding": row} for n, row in enumerate(rows)]}

    server.faults.append(Fault(change=change))
    async with embedder() as opened:
        with pytest.raises(TierRejected, match="the answer cannot be read"):
            await opened.embed(["a", "b", "c"])
        assert opened.counts.held == 0
        assert len(await opened.embed(["a", "b", "c"])) == 3


async def test_no_more_requests_run_than_allowed(server: ModelServer, embedder: Make) -> None:
    """Two hundred callers share three slots."""
    async with embedder(concurrency=3) as opened:
        calls = [opened.embed([f"{n}" * 400 for n in range(k, k + 20)]) for k in range(200)]
        await asyncio.gather(*calls)
    assert server.most <= 3

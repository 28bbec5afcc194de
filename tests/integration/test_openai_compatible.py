"""What is particular to OpenAI-compatible servers: numbered vectors and an unknown width."""

from __future__ import annotations

from typing import Any

import pytest
from support.model_http import WIDTH, Fault, ModelServer, unit_vector
from support.model_providers import QUICK

from tiers.embedding.openai_embedder import OpenAIEmbedder
from tiers.errors import ConfigError, EzraError, TierRejected, TierTimeout, TierUnavailable


@pytest.mark.parametrize(
    ("indexes", "accepted"),
    [([2, 0, 1], True), ([None] * 3, True), ([0, 0, 1], False), ([0, 1, 9], False)],
)
async def test_the_index_says_which_text_a_vector_belongs_to(
    server: ModelServer, indexes: list[int | None], *, accepted: bool
) -> None:
    """Any order, or none at all; numbers that leave a text without its own vector are refused."""

    def change(answer: Any) -> Any:
        rows = [item["embedding"] for item in answer["data"]][::-1]
        places = range(3) if indexes[0] is None else indexes
        return {
            "data": [
                {"index": index, "embedding": rows[place % 3]}
                for index, place in zip(indexes, places, strict=True)
            ]
        }

    server.faults.append(Fault(change=change))
    url = f"{server.url}/local/v1"
    async with OpenAIEmbedder(None, "m", base_url=url, dimensions=16) as opened:
        if not accepted:
            with pytest.raises(TierRejected, match="not numbered"):
                await opened.embed(["a", "b", "c"])
            return
        vectors = await opened.embed(["a", "b", "c"])
    for text, vector in zip("abc", vectors, strict=True):
        assert vector == pytest.approx(unit_vector(text, 16), abs=1e-6)


async def test_a_width_that_is_not_given_is_found_at_opening(server: ModelServer) -> None:
    """By one request that asks for none; until then there is neither width nor name."""
    embedder = OpenAIEmbedder(None, "bge-m3", base_url=f"{server.url}/local/v1")
    with pytest.raises(TierUnavailable, match="found out at opening"):
        _ = embedder.dimensions
    with pytest.raises(TierUnavailable, match="found out at opening"):
        _ = embedder.model_id
    async with embedder:
        assert (embedder.dimensions, embedder.model_id) == (WIDTH, f"openai/bge-m3@{WIDTH}")
        await embedder.embed(["x"])
    async with embedder:
        pass
    assert len(server.seen) == 2
    assert not any("dimensions" in seen.body for seen in server.seen)
    async with OpenAIEmbedder(None, base_url=f"{server.url}/local/v1", dimensions=8) as narrow:
        await narrow.embed(["x"])
    assert server.seen[-1].body["dimensions"] == 8


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Fault(503), TierUnavailable),
        (Fault(404), TierRejected),
        (Fault(401), ConfigError),
        (Fault(body=b'{"data": [{"index": 0, "embedding": []}]}'), TierRejected),
        (Fault(body=b'{"data": []}'), TierRejected),
        (Fault(hang=True), TierTimeout),
    ],
    ids=["busy", "unknown model", "key", "no width", "no vector", "hangs"],
)
async def test_without_a_width_there_is_no_opening(
    server: ModelServer, fault: Fault, kind: type[EzraError]
) -> None:
    """A failed probe is the error of opening, within the limits of any call; nothing stays open."""
    server.always = fault
    url = f"{server.url}/local/v1"
    embedder = OpenAIEmbedder(None, "m", base_url=url, timeout_seconds=0.3, **QUICK)
    with pytest.raises(EzraError) as caught:
        await embedder.__aenter__()
    assert type(caught.value) is kind
    with pytest.raises(TierUnavailable, match="not open"):
        await embedder.embed(["x"])
    server.always = None
    async with embedder:
        assert embedder.dimensions == WIDTH

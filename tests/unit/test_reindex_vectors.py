"""Texts to vectors when one of them may be poison."""

from __future__ import annotations

import pytest
from support.reembedding import ScriptedEmbedder, vector_by

from metaagents.reindex.vectors import vectors_of
from tiers.errors import TierRejected, TierUnavailable


async def test_every_text_has_its_vector_once() -> None:
    """Equal texts are asked for once, in the background."""
    embedder = ScriptedEmbedder("m")
    found = await vectors_of(["a", "b", "a"], embedder)
    assert found == {"a": vector_by("m", "a"), "b": vector_by("m", "b")}
    assert embedder.asked == ["a", "b"]


async def test_without_a_model_there_are_no_vectors() -> None:
    """The texts are found by their words."""
    assert await vectors_of(["a", "b"], None) == {"a": None, "b": None}


async def test_nothing_asks_nobody() -> None:
    """Not even a model that is down."""
    embedder = ScriptedEmbedder("m")
    embedder.is_down = True
    assert await vectors_of([], embedder) == {}


async def test_a_poisonous_text_takes_no_other_down() -> None:
    """It has no vector, the others have theirs."""
    embedder = ScriptedEmbedder("m")
    embedder.refused = {"poison"}
    found = await vectors_of(["a", "poison", "b"], embedder)
    assert found == {"a": vector_by("m", "a"), "poison": None, "b": vector_by("m", "b")}


async def test_a_poisonous_text_alone_is_told_from_a_broken_model() -> None:
    """The model is asked for something harmless: it answers, so the text is to blame."""
    embedder = ScriptedEmbedder("m")
    embedder.refused = {"poison"}
    assert await vectors_of(["poison"], embedder) == {"poison": None}


async def test_a_model_that_refuses_everything_is_broken() -> None:
    """No text is given up for it."""
    embedder = ScriptedEmbedder("m")
    embedder.is_broken = True
    with pytest.raises(TierRejected, match="broken"):
        await vectors_of(["a", "b"], embedder)


async def test_a_model_that_is_away_fails_the_call() -> None:
    """That is no text's fault."""
    embedder = ScriptedEmbedder("m")
    embedder.is_down = True
    with pytest.raises(TierUnavailable):
        await vectors_of(["a"], embedder)

"""Vectors that cost next to nothing: what is left is the time of the runtime itself."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from tiers.lexical import words
from tiers.ports import Embedder, Vector

DIMENSIONS = 384
"""As many as the installed model has."""
WORDS_REMEMBERED = 8_192


class BagOfWords:
    """An ``Embedder`` by the words of a text: texts that share words are near each other.

    Args:
        asked: A model that embeds what is asked for all the same, and whose answer is not used: so
            the time of a question is real where nobody waits for the vectors of all texts.
    """

    def __init__(self, asked: Embedder | None = None) -> None:
        self.asked = asked

    @property
    def model_id(self) -> str:
        """Its name."""
        return f"bag-of-words/{DIMENSIONS}"

    @property
    def dimensions(self) -> int:
        """Length of every vector."""
        return DIMENSIONS

    async def embed(
        self, texts: Sequence[str], *, urgent: bool = False, query: bool = False
    ) -> tuple[Vector, ...]:
        """Return a unit vector per text: the sum of those of its words."""
        if query and self.asked is not None:
            await self.asked.embed(texts, urgent=urgent, query=query)
        return tuple(map(vector_of, texts))


def vector_of(text: str) -> Vector:
    """Return the vector of a text."""
    summed = np.sum([_of_word(word) for word in words(text) or [""]], axis=0)
    return tuple((summed / np.linalg.norm(summed)).tolist())


@lru_cache(maxsize=WORDS_REMEMBERED)
def _of_word(word: str) -> npt.NDArray[np.float64]:
    digest = hashlib.sha256(word.encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "big")).standard_normal(DIMENSIONS)

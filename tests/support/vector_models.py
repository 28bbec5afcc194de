"""Small blocking models for tests of what surrounds a model, never of vectors themselves."""

from __future__ import annotations

import asyncio
import hashlib
import queue
import threading
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack

import numpy as np
import numpy.typing as npt
import pytest

from tiers.embedding.batching import (
    DEFAULT_CACHE_SIZE,
    DEFAULT_QUEUE_SIZE,
    QueuedEmbedder,
    VectorModel,
)
from tiers.embedding.queueing import BatchQueue

from .processes import PATIENCE_SECONDS


def digest_vector(text: str) -> npt.NDArray[np.float32]:
    """Return the unit vector that ``DigestModel`` gives a text."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    vector = np.random.default_rng(seed).normal(size=8)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


class DigestModel:
    """A ``VectorModel`` whose vectors follow from the text's digest; remembers its batches."""

    model_id = "digest/test"
    dimensions = 8
    max_characters = 1_000

    def __init__(self) -> None:
        self.batches: list[list[str]] = []

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return one row per text."""
        self.batches.append(list(texts))
        return np.vstack([digest_vector(text) for text in texts])


class GatedModel(DigestModel):
    """A ``DigestModel`` that stops in every batch until the test lets it go on."""

    def __init__(self) -> None:
        super().__init__()
        self._entered: queue.Queue[list[str]] = queue.Queue()
        self._permits = threading.Semaphore(0)

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Tell the test which batch came, wait for its permit, then answer."""
        self._entered.put(list(texts))
        if not self._permits.acquire(timeout=PATIENCE_SECONDS):
            raise TimeoutError
        return super().encode(texts)

    async def entered(self) -> list[str]:
        """Return the next batch that the model has begun, waiting for it."""
        return await asyncio.to_thread(self._entered.get, timeout=PATIENCE_SECONDS)

    def let_go(self, batches: int = 1) -> None:
        """Permit that many batches, begun or not."""
        self._permits.release(batches)


class BatchingEmbedder(QueuedEmbedder):
    """Feeds a blocking, symmetric model from many callers; implements ``tiers.ports.Embedder``.

    One batch runs at a time, in a thread. What arrives meanwhile forms the next one: urgent texts
    first, else a small batch of background texts. The model stays the property of whoever made it,
    and the cache outlives an opening.

    Args:
        model: The model; questions and what answers them are the same to it.
        cache_size: How many vectors are kept, least recently used out first; 0 keeps none.
        queue_size: How many texts may wait, for each priority.
    """

    def __init__(
        self,
        model: VectorModel,
        *,
        cache_size: int = DEFAULT_CACHE_SIZE,
        queue_size: int = DEFAULT_QUEUE_SIZE,
    ) -> None:
        super().__init__(
            max_characters=model.max_characters, cache_size=cache_size, queue_size=queue_size
        )
        self._model = model

    @property
    def model_id(self) -> str:
        """Name and precision of the model."""
        return self._model.model_id

    @property
    def dimensions(self) -> int:
        """Length of every vector."""
        return self._model.dimensions

    async def _opened_queue(self, exits: AsyncExitStack) -> BatchQueue:  # noqa: ARG002 - opens nothing
        return self._threaded(self._model)


async def until(condition: Callable[[], bool]) -> None:
    """Let the loop take as many passes as the condition needs, up to two seconds."""
    for _ in range(2_000):
        if condition():
            return
        await asyncio.sleep(0.001)
    pytest.fail("the condition never held")

"""An ``Embedder`` over any model: batches, priorities, a bounded queue and a cache.

``QueuedEmbedder`` is what all models share; ``BatchingEmbedder`` puts it before a blocking one.
"""

from __future__ import annotations

import asyncio
import hashlib
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self

import numpy as np
import numpy.typing as npt

from ..errors import ConfigError, TierError, TierRejected, UsageError
from ..ports import Vector
from .queueing import BatchQueue, Job, ThreadRunner, closed

DEFAULT_CACHE_SIZE = 20_000
DEFAULT_QUEUE_SIZE = 4_096

_SLICE = 64  # texts of one call handled before the loop gets its turn: under 1 ms
_UNIT_TOLERANCE = 1e-3


class Described(Protocol):
    """What is known of a model without asking it."""

    @property
    def model_id(self) -> str:
        """Name and precision; part of every cache key."""
        ...

    @property
    def dimensions(self) -> int:
        """Length of every vector."""
        ...

    @property
    def max_characters(self) -> int:
        """How much of a text the model can take notice of; the rest is cut before it is hashed."""
        ...


class VectorModel(Described, Protocol):
    """What turns text into vectors, blocking; the only thing another model has to bring."""

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return unit vectors, one row per text, of one text or more; in one thread at a time.

        Raises:
            TierError: Reaches the callers as it is; anything else becomes ``TierRejected``.
        """
        ...


@dataclass(frozen=True, slots=True)
class EmbeddingCounts:
    """What became of the texts so far.

    Attributes:
        computed: Went through the model.
        cached: Answered from the cache.
        shared: Joined the same text of another caller, or of the same call.
        held: Vectors in the cache now.
        waiting: Texts in the queue now.
    """

    computed: int
    cached: int
    shared: int
    held: int
    waiting: int


class QueuedEmbedder(ABC):
    """A cache and a queue before a model; implements ``tiers.ports.Embedder``.

    Identical texts are computed once. A caller that is cancelled takes only its own texts away.
    Callers wait when the queue is full. An async context manager; outside of it ``embed`` raises
    ``TierUnavailable``. The model stays the property of whoever made it.

    Args:
        model: The model.
        asymmetric: Whether it embeds a question otherwise than a text that may answer it.
        cache_size: How many vectors are kept, least recently used out first; 0 keeps none.
        queue_size: How many texts may wait, for each priority.
    """

    def __init__(
        self, model: Described, *, asymmetric: bool, cache_size: int, queue_size: int
    ) -> None:
        if cache_size < 0:
            raise UsageError("cache_size", cache_size, "0 or more")
        if queue_size < 1:
            raise UsageError("queue_size", queue_size, "1 or more")
        self._described = model
        self._asymmetric = asymmetric
        self._salts = tuple(
            hashlib.sha256(f"{model.model_id}{use}".encode()).digest() for use in ("", " query")
        )
        self._cache: OrderedDict[bytes, bytes] = OrderedDict()
        self._cache_size = cache_size
        self._queue_size = queue_size
        self._queue: BatchQueue | None = None
        self._computed = self._cached = self._shared = 0

    @abstractmethod
    def _new_queue(self, keep: Callable[[bytes, bytes], None], limit: int) -> BatchQueue:
        """Return a queue before the model; it belongs to one opening."""

    async def __aenter__(self) -> Self:
        if self._queue is not None:
            raise UsageError("embedder", "opened twice", "one opening at a time")
        self._queue = self._new_queue(self._keep, self._queue_size)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        queue, self._queue = self._queue, None
        if queue is not None:
            await queue.close()

    @property
    def model_id(self) -> str:
        """Name and precision of the model."""
        return self._described.model_id

    @property
    def dimensions(self) -> int:
        """Length of every vector."""
        return self._described.dimensions

    @property
    def counts(self) -> EmbeddingCounts:
        """What became of the texts so far."""
        return EmbeddingCounts(
            computed=self._computed,
            cached=self._cached,
            shared=self._shared,
            held=len(self._cache),
            waiting=0 if self._queue is None else self._queue.waiting,
        )

    async def embed(
        self, texts: Sequence[str], *, urgent: bool = False, query: bool = False
    ) -> tuple[Vector, ...]:
        """Return one unit vector per text, in order; see ``tiers.ports.Embedder``.

        Lone surrogates, which no model can read, count as question marks.

        Raises:
            UsageError: One string instead of several, or something that is no string.
            TierUnavailable: Not open.
            TierRejected: The model failed, or gave something that is no unit vector.
            TierError: Whatever else the model says of itself.
        """
        if isinstance(texts, str | bytes):
            raise UsageError("texts", texts, "a sequence of strings, not one string")
        for text in texts:
            if not isinstance(text, str):
                raise UsageError("texts", text, "a sequence of strings")
        if self._queue is None:
            raise closed()
        query = query and self._asymmetric
        vectors: list[Vector] = []
        for start in range(0, len(texts), _SLICE):
            part = texts[start : start + _SLICE]
            vectors += await self._embed_slice(part, urgent=urgent, query=query)
            await asyncio.sleep(0)
        return tuple(vectors)

    async def _embed_slice(
        self, texts: Sequence[str], *, urgent: bool, query: bool
    ) -> list[Vector]:
        queue = self._queue
        if queue is None:
            raise closed()
        results: list[bytes | Job] = []
        try:
            for text in texts:
                # One by one: a list built at once would lose what was joined before a cancellation.
                result = await self._request(queue, text, urgent=urgent, query=query)
                results.append(result)
            return [_vector(await _awaited(result)) for result in results]
        finally:
            for result in results:
                if isinstance(result, Job):
                    queue.part(result)

    async def _request(
        self, queue: BatchQueue, text: str, *, urgent: bool, query: bool
    ) -> bytes | Job:
        """Return the cached vector of ``text``, or the job that computes it."""
        readable = text[: self._described.max_characters].encode("utf-8", "replace")
        key = hashlib.sha256(self._salts[query] + readable).digest()
        if (kept := self._cache.get(key)) is not None:
            self._cache.move_to_end(key)
            self._cached += 1
            return kept
        if (job := queue.find(key, urgent=urgent)) is not None:
            self._shared += 1
            return job
        return await queue.put(key, readable.decode(), urgent=urgent, query=query)

    def _keep(self, key: bytes, vector: bytes) -> None:
        self._computed += 1
        self._cache[key] = vector
        while len(self._cache) > self._cache_size:
            self._cache.popitem(last=False)

    def _checked(self, vectors: npt.ArrayLike, count: int) -> list[bytes]:
        """Return rows as bytes; nothing but unit vectors of the right shape is accepted."""
        rows = np.asarray(vectors, dtype=np.float32)
        wanted = (count, self.dimensions)
        if rows.shape != wanted:
            reason = f"{self.model_id} gave shape {rows.shape} instead of {wanted}"
            raise TierRejected("embedding", "embed", reason)
        lengths = np.linalg.norm(rows, axis=1)
        if not bool(np.all(np.abs(lengths - 1.0) <= _UNIT_TOLERANCE)):  # not (nan <= x) is true
            reason = f"{self.model_id} gave a vector that is not of unit length"
            raise TierRejected("embedding", "embed", reason)
        return [row.tobytes() for row in rows]


class BatchingEmbedder(QueuedEmbedder):
    """Feeds a blocking, symmetric model from many callers; implements ``tiers.ports.Embedder``.

    One batch runs at a time, in a thread. What arrives meanwhile forms the next one: urgent texts
    first, else a small batch of background texts.

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
        super().__init__(model, asymmetric=False, cache_size=cache_size, queue_size=queue_size)
        self._model = model

    def _new_queue(self, keep: Callable[[bytes, bytes], None], limit: int) -> BatchQueue:
        return BatchQueue(ThreadRunner(self._encode), keep, limit=limit)

    def _encode(self, texts: list[str]) -> list[bytes]:
        """Run the model, in the worker thread."""
        return self._checked(self._model.encode(texts), len(texts))


async def _awaited(result: bytes | Job) -> bytes:
    """Return the vector of a job once it is there, or raise an error of this caller's own."""
    if isinstance(result, bytes):
        return result
    await result.done.wait()
    if result.result is not None:
        return result.result
    problem = result.problem
    if isinstance(problem, TierError):
        # A copy: several callers raise it, each with its own traceback.
        raise type(problem)(problem.tier, problem.operation, problem.reason) from problem.__cause__
    if isinstance(problem, ConfigError):
        raise ConfigError(problem.key, problem.reason) from problem.__cause__
    reason = f"the model failed: {type(problem).__name__}: {problem}"
    raise TierRejected("embedding", "embed", reason) from problem


def _vector(kept: bytes) -> Vector:
    return tuple(np.frombuffer(kept, dtype=np.float32).tolist())

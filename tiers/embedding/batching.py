"""An ``Embedder`` over any model: batches, priorities, a bounded queue and a cache.

``QueuedEmbedder`` is what all embedders share.
"""

from __future__ import annotations

import asyncio
import hashlib
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
import numpy.typing as npt

from ..errors import ConfigError, TierError, TierRejected, UsageError
from ..paging import parts
from ..ports import Vector
from .queueing import BatchQueue, Job, ThreadRunner, closed

DEFAULT_CACHE_SIZE = 20_000
DEFAULT_QUEUE_SIZE = 4_096

_SLICE = 64  # texts of one call handled before the loop gets its turn: under 1 ms
_UNIT_TOLERANCE = 1e-3
_CACHE_BYTES = 32 * 1024 * 1024
_BYTES_PER_NUMBER = 4


class VectorModel(Protocol):
    """What turns text into vectors, blocking; the only thing another local model has to bring."""

    @property
    def model_id(self) -> str:
        """Name and precision; part of every cache key."""

    @property
    def dimensions(self) -> int:
        """Length of every vector."""

    @property
    def max_characters(self) -> int:
        """How much of a text the model can take notice of."""

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
    Callers wait when the queue is full. An async context manager, one opening at a time; outside
    of it ``embed`` raises ``TierUnavailable``.

    Args:
        max_characters: How much of a text the model can take notice of; the rest is cut before it
            is hashed.
        cache_size: How many vectors are kept, least recently used out first; 0 keeps none,
            ``None`` as many as 32 MiB hold.
        queue_size: How many texts may wait, for each priority.
    """

    asymmetric = False
    """Whether the model embeds a question otherwise than a text that may answer it."""

    def __init__(
        self,
        *,
        max_characters: int,
        cache_size: int | None = DEFAULT_CACHE_SIZE,
        queue_size: int = DEFAULT_QUEUE_SIZE,
    ) -> None:
        if cache_size is not None and cache_size < 0:
            raise UsageError("cache_size", cache_size, "0 or more, or None")
        if queue_size < 1:
            raise UsageError("queue_size", queue_size, "1 or more")
        self._max_characters = max_characters
        self._cache: OrderedDict[bytes, bytes] = OrderedDict()
        self._cache_size = cache_size
        self._queue_size = queue_size
        self._queue: BatchQueue | None = None
        self._exits = AsyncExitStack()
        self._salts: tuple[bytes, ...] = ()
        self._computed = self._cached = self._shared = 0

    @property
    @abstractmethod
    def model_id(self) -> str:
        """Name and precision of the model; part of every cache key."""

    @property
    @abstractmethod
    def dimensions(self) -> int:
        """Length of every vector."""

    @abstractmethod
    async def _opened_queue(self, exits: AsyncExitStack) -> BatchQueue:
        """Return a queue before the model, for one opening; its closing is the caller's.

        Leaves to ``exits`` what is to be closed after it.
        """

    async def __aenter__(self) -> Self:
        if self._queue is not None:
            raise UsageError("embedder", "opened twice", "one opening at a time")
        async with AsyncExitStack() as exits:
            queue = await self._opened_queue(exits)
            self._salts = tuple(
                hashlib.sha256(f"{self.model_id}{use}".encode()).digest() for use in ("", " query")
            )
            exits.push_async_callback(queue.close)
            self._queue = queue
            self._exits = exits.pop_all()
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        self._queue = None
        await self._exits.aclose()

    @property
    def counts(self) -> EmbeddingCounts:
        """What became of the texts so far.

        Raises:
            TierUnavailable: Not open.
        """
        if self._queue is None:
            raise closed()
        return EmbeddingCounts(
            computed=self._computed,
            cached=self._cached,
            shared=self._shared,
            held=len(self._cache),
            waiting=self._queue.waiting,
        )

    async def embed(
        self, texts: Sequence[str], *, urgent: bool = False, query: bool = False
    ) -> tuple[Vector, ...]:
        """Return one unit vector per text, in order; see ``tiers.ports.Embedder``.

        Lone surrogates, which no model can read, count as question marks.

        Raises:
            UsageError: One string instead of several, or something that is no string.
            ConfigError: A provider refuses the key.
            TierUnavailable: Not open, not reachable, or a provider is busy.
            TierTimeout: No answer in time.
            TierRejected: The model failed, or gave something that is no unit vector.
        """
        if isinstance(texts, str | bytes):
            raise UsageError("texts", texts, "a sequence of strings, not one string")
        for text in texts:
            if not isinstance(text, str):
                raise UsageError("texts", text, "a sequence of strings")
        if self._queue is None:
            raise closed()
        query = query and self.asymmetric
        vectors: list[Vector] = []
        for part in parts(texts, _SLICE):
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
                result = await self._cached_or_job(queue, text, urgent=urgent, query=query)
                results.append(result)
            kept = [await _awaited(result) for result in results]
            return [tuple(np.frombuffer(one, dtype=np.float32).tolist()) for one in kept]
        finally:
            for result in results:
                if isinstance(result, Job):
                    queue.part(result)

    async def _cached_or_job(
        self, queue: BatchQueue, text: str, *, urgent: bool, query: bool
    ) -> bytes | Job:
        """Return the cached vector of ``text``, or the job that computes it."""
        readable = text[: self._max_characters].encode("utf-8", "replace")
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
        kept_max = self._cache_size
        if kept_max is None:
            kept_max = _CACHE_BYTES // (_BYTES_PER_NUMBER * self.dimensions)
        while len(self._cache) > kept_max:
            self._cache.popitem(last=False)

    def _forget(self) -> None:
        """Begin anew: with an empty cache, and nothing counted."""
        self._cache.clear()
        self._computed = self._cached = self._shared = 0

    def _threaded(self, model: VectorModel) -> BatchQueue:
        """Return a queue before a blocking, symmetric model, which runs in a thread."""

        def compute(texts: list[str]) -> list[bytes]:
            return self._checked(model.encode(texts), len(texts))

        return BatchQueue(ThreadRunner(compute), self._keep, limit=self._queue_size)

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

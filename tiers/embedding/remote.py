"""An ``Embedder`` over a model that answers over HTTP: requests side by side, paced, cancellable.

What Gemini and OpenAI-compatible servers share; an adapter brings the client library.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Protocol, Self

import numpy as np
import numpy.typing as npt
from pydantic import JsonValue

from ..errors import UsageError
from ..health import TierHealth
from ..ports import Vector
from ..providers import ProviderCalls, unreadable
from .batching import DEFAULT_QUEUE_SIZE, Described, EmbeddingCounts, QueuedEmbedder
from .queueing import BatchQueue, BatchSize, closed

CHARACTERS_PER_REQUEST = 250_000
"""Far enough below the 300,000 tokens that OpenAI takes in one request, at a token a character."""

_CACHE_BYTES = 32 * 1024 * 1024
_URGENT_TEXTS = 32
_BYTES_PER_NUMBER = 4
_NOTHING = "(empty)"  # what is sent for a blank text: both providers refuse the empty string
_PROBE = "ezra"


class RemoteModel(Described, Protocol):
    """What an adapter brings: one request, without retries."""

    @property
    def texts_per_request(self) -> int:
        """The most texts of one request."""
        ...

    async def request(self, texts: Sequence[str], *, query: bool) -> Sequence[Sequence[float]]:
        """Return what the provider answers to texts that are not blank, in their order.

        Raises:
            ProviderFailure: No answer, a refusal, or an answer that cannot be read.
        """
        ...


def unit_vectors(
    answer: Sequence[Sequence[float]], count: int, dimensions: int
) -> npt.NDArray[np.float32]:
    """Return the vectors of an answer at unit length, one row per text.

    Gemini gives unit vectors only at full width; what others give is not known. A vector of
    zeros or with a number that is not finite has no direction, so it is refused.

    Raises:
        ProviderFailure: Not ``count`` vectors of ``dimensions`` finite numbers that have a length.
    """
    if len(answer) != count:
        raise unreadable(f"{len(answer)} vectors for {count} texts")
    if any(len(row) != dimensions for row in answer):
        widths = sorted({len(row) for row in answer})[:3]
        raise unreadable(f"vectors of {widths} numbers instead of {dimensions}")
    rows: npt.NDArray[np.float64] = np.asarray(answer, dtype=np.float64)
    with np.errstate(over="ignore"):  # refused below, like every length that is not finite
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not bool(np.all(np.isfinite(lengths) & (lengths > 0))):
        raise unreadable("a vector is zero or not finite")
    return np.asarray(rows / lengths, dtype=np.float32)


async def request_vectors(
    model: RemoteModel, texts: Sequence[str], *, query: bool
) -> npt.NDArray[np.float32]:
    """Make one request and return its unit vectors.

    Raises:
        ProviderFailure: It failed, or answered something else.
    """
    told = [text if text.strip() else _NOTHING for text in texts]
    answer = await model.request(told, query=query)
    return unit_vectors(answer, len(told), model.dimensions)


class _RequestRunner:
    """Computes batches by requests, each in a task; implements ``queueing.Runner``."""

    drops_unwanted = True

    def __init__(
        self,
        calls: ProviderCalls,
        model: RemoteModel,
        checked: Callable[[npt.ArrayLike, int], list[bytes]],
    ) -> None:
        self._calls = calls
        self._model = model
        self._checked = checked

    @property
    def slots(self) -> int:
        """How many requests are made side by side."""
        return self._calls.limits.concurrency

    def take_turn(self) -> float:
        """Take leave for a request, or return the seconds until there is one."""
        return self._calls.take_turn()

    def start(self, texts: list[str], *, query: bool) -> asyncio.Future[list[bytes]]:
        """Begin a request; cancelling what is returned cancels it."""
        return asyncio.get_running_loop().create_task(self._compute(texts, query=query))

    def close(self) -> None:
        """Nothing to let go of: the client belongs to the embedder."""

    async def _compute(self, texts: list[str], *, query: bool) -> list[bytes]:
        async def attempt() -> npt.NDArray[np.float32]:
            return await request_vectors(self._model, texts, query=query)

        vectors = await self._calls.call("embed", attempt, has_turn=True)
        return self._checked(vectors, len(texts))


class _QueuedRequests(QueuedEmbedder):
    """The cache and the queue before a remote model."""

    def __init__(
        self,
        calls: ProviderCalls,
        model: RemoteModel,
        *,
        asymmetric: bool,
        cache_size: int,
        queue_size: int,
    ) -> None:
        super().__init__(model, asymmetric=asymmetric, cache_size=cache_size, queue_size=queue_size)
        self._calls = calls
        self._model = model

    def _new_queue(self, keep: Callable[[bytes, bytes], None], limit: int) -> BatchQueue:
        texts = self._model.texts_per_request
        return BatchQueue(
            _RequestRunner(self._calls, self._model, self._checked),
            keep,
            limit=limit,
            urgent=BatchSize(min(texts, _URGENT_TEXTS), CHARACTERS_PER_REQUEST),
            background=BatchSize(texts, CHARACTERS_PER_REQUEST),
        )


class RemoteEmbedder(ABC):
    """The shell of an embedder at a provider; implements ``tiers.ports.Embedder``.

    Texts of many callers share requests; identical ones are asked for once. Urgent texts go
    before the background, which never takes the last of several slots. When the last caller of a
    request is cancelled, so is the request. Leaving the context cancels what runs.

    Args:
        calls: Limits, retries and errors.
        asymmetric: Whether the model embeds questions otherwise than other texts.
        cache_size: How many vectors are kept; ``None`` for as many as 32 MiB hold.
        queue_size: How many texts may wait, for each priority; further callers wait for room.
    """

    def __init__(
        self,
        calls: ProviderCalls,
        *,
        asymmetric: bool,
        cache_size: int | None = None,
        queue_size: int = DEFAULT_QUEUE_SIZE,
    ) -> None:
        if cache_size is not None and cache_size < 0:
            raise UsageError("cache_size", cache_size, "0 or more, or None")
        if queue_size < 1:
            raise UsageError("queue_size", queue_size, "1 or more")
        self._calls = calls
        self._asymmetric = asymmetric
        self._cache_size = cache_size
        self._queue_size = queue_size
        self._model: RemoteModel | None = None
        self._queued: _QueuedRequests | None = None
        self._exits = AsyncExitStack()

    @abstractmethod
    async def _connect(self, exits: AsyncExitStack) -> RemoteModel:
        """Make the client, leave its closing to ``exits``, and return the model behind it."""

    @property
    @abstractmethod
    def model_id(self) -> str:
        """Provider, model and width."""

    @property
    @abstractmethod
    def dimensions(self) -> int:
        """Length of every vector."""

    async def __aenter__(self) -> Self:
        if self._queued is not None:
            raise UsageError("embedder", "opened twice", "one opening at a time")
        async with AsyncExitStack() as exits:
            model = await self._connect(exits)
            size = self._cache_size
            if size is None:
                size = _CACHE_BYTES // (_BYTES_PER_NUMBER * model.dimensions)
            queued = _QueuedRequests(
                self._calls,
                model,
                asymmetric=self._asymmetric,
                cache_size=size,
                queue_size=self._queue_size,
            )
            self._queued = await exits.enter_async_context(queued)
            self._model = model
            self._exits = exits.pop_all()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._queued = self._model = None
        await self._exits.aclose()

    @property
    def counts(self) -> EmbeddingCounts:
        """What became of the texts since the embedder was opened."""
        if self._queued is None:
            raise closed()
        return self._queued.counts

    async def embed(
        self, texts: Sequence[str], *, urgent: bool = False, query: bool = False
    ) -> tuple[Vector, ...]:
        """Return one unit vector per text, in order; see ``tiers.ports.Embedder``.

        Raises:
            UsageError: One string instead of several, or something that is no string.
            ConfigError: The provider refuses the key.
            TierUnavailable: Not open, not reachable, or the provider is busy.
            TierTimeout: No answer in time.
            TierRejected: The provider refused the request, or answered what it should not.
        """
        if self._queued is None:
            raise closed()
        return await self._queued.embed(texts, urgent=urgent, query=query)

    async def health(self) -> TierHealth:
        """Return what one tiny request, made once and past the queue, says about the provider.

        Raises:
            TierUnavailable: Not open.
        """
        model = self._model
        if model is None:
            raise closed()

        async def attempt() -> dict[str, JsonValue]:
            await request_vectors(model, [_PROBE], query=False)
            return {}

        return await self._calls.health(attempt, {"dimensions": model.dimensions})

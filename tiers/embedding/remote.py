"""An ``Embedder`` over a model that answers over HTTP: requests side by side, paced, cancellable.

What Gemini and OpenAI-compatible servers share; an adapter brings the client library.
"""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, Unpack

import numpy as np
import numpy.typing as npt
from pydantic import JsonValue

from ..health import TierHealth
from ..provider_clients import checked_model, make_http_client
from ..providers import CallLimits, ProviderCalls, unreadable
from .batching import DEFAULT_QUEUE_SIZE, QueuedEmbedder
from .queueing import BatchQueue, BatchSize, closed

if TYPE_CHECKING:
    import httpx2

CHARACTERS_PER_REQUEST = 250_000
"""Far enough below the 300,000 tokens that OpenAI takes in one request, at a token a character."""

_URGENT_TEXTS = 32
_NOTHING = "(empty)"  # what is sent for a blank text: both providers refuse the empty string
_PROBE = "ezra"

_Compute: TypeAlias = Callable[[list[str], bool], Coroutine[Any, Any, list[bytes]]]
"""Computes texts that are questions, or are not."""


class RemoteOptions(TypedDict, total=False):
    """How an embedder at a provider is used.

    Attributes:
        timeout_seconds: For one batch, with every attempt and wait; 30 if not given.
        attempts: Requests for one batch; 4 if not given.
        concurrency: Requests at a time, one of several is kept for urgent texts; 4 if not given.
        requests_per_minute: What the quota allows; ``None``, if not given, to leave it to the
            provider's 429.
        first_delay_seconds: About the wait before the second attempt; 0.5 if not given.
        cache_size: How many vectors are kept; ``None``, if not given, for as many as 32 MiB hold.
        queue_size: How many texts may wait, for each priority, further callers wait for room;
            4,096 if not given.
    """

    timeout_seconds: float
    attempts: int
    concurrency: int
    requests_per_minute: float | None
    first_delay_seconds: float
    cache_size: int | None
    queue_size: int


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


class _RequestRunner:
    """Computes batches by requests, each in a task; implements ``queueing.Runner``."""

    drops_unwanted = True

    def __init__(self, calls: ProviderCalls, compute: _Compute) -> None:
        self._calls = calls
        self._compute = compute

    @property
    def slots(self) -> int:
        """How many requests are made side by side."""
        return self._calls.limits.concurrency

    def take_turn(self) -> float:
        """Take leave for a request, or return the seconds until there is one."""
        return self._calls.take_turn()

    def start(self, texts: list[str], *, query: bool) -> asyncio.Future[list[bytes]]:
        """Begin a request; cancelling what is returned cancels it."""
        return asyncio.get_running_loop().create_task(self._compute(texts, query))

    def close(self) -> None:
        """Nothing to let go of: the client belongs to the embedder."""


class RemoteEmbedder(QueuedEmbedder):
    """The shell of an embedder at a provider; implements ``tiers.ports.Embedder``.

    Texts of many callers share requests; identical ones are asked for once. Urgent texts go
    before the background, which never takes the last of several slots. When the last caller of a
    request is cancelled, so is the request. Leaving the context cancels what runs.

    Args:
        provider: What names and errors call it.
        model: The model's name there.
        key: For requests; ``None`` where none is needed.
        key_variable: What errors call the key.
        max_characters: Where texts are cut.
        **options: See ``RemoteOptions``.

    Raises:
        UsageError: An argument is out of range.
    """

    texts_max: int
    """The most texts of one request."""

    numbers_max: int
    """The most numbers of one answer."""

    def __init__(
        self,
        provider: str,
        model: str,
        *,
        key: str | None,
        key_variable: str,
        max_characters: int,
        **options: Unpack[RemoteOptions],
    ) -> None:
        limits = CallLimits(
            options.get("timeout_seconds", 30.0),
            options.get("attempts", 4),
            options.get("concurrency", 4),
            options.get("requests_per_minute"),
            options.get("first_delay_seconds", 0.5),
        )
        self._calls = ProviderCalls(
            "embedding",
            provider,
            checked_model(model),
            key=key,
            key_variable=key_variable,
            limits=limits,
        )
        super().__init__(
            max_characters=max_characters,
            cache_size=options.get("cache_size"),
            queue_size=options.get("queue_size", DEFAULT_QUEUE_SIZE),
        )

    @abstractmethod
    async def _connect(self, http: httpx2.AsyncClient, exits: AsyncExitStack) -> None:
        """Make the client over ``http``, and leave its closing to ``exits``."""

    @abstractmethod
    async def _request(self, texts: Sequence[str], *, query: bool) -> Sequence[Sequence[float]]:
        """Return what the provider answers to texts that are not blank, in their order.

        One request, without retries.

        Raises:
            ProviderFailure: No answer, a refusal, or an answer that cannot be read.
        """

    @property
    def model_id(self) -> str:
        """Provider, model and width: ``gemini/gemini-embedding-001@768``."""
        return f"{self._calls.engine}@{self.dimensions}"

    async def health(self) -> TierHealth:
        """Return what one tiny request, made once and past the queue, says about the provider.

        Raises:
            TierUnavailable: Not open.
        """
        if self._queue is None:
            raise closed()

        async def attempt() -> dict[str, JsonValue]:
            await self._vectors([_PROBE], query=False)
            return {}

        return await self._calls.health(attempt, {"dimensions": self.dimensions})

    async def _opened_queue(self, exits: AsyncExitStack) -> BatchQueue:
        http = await asyncio.to_thread(make_http_client, self._calls.limits)
        exits.push_async_callback(http.aclose)
        await self._connect(http, exits)
        self._forget()
        texts = max(1, min(self.texts_max, self.numbers_max // self.dimensions))
        return BatchQueue(
            _RequestRunner(self._calls, self._computed_by_request),
            self._keep,
            limit=self._queue_size,
            urgent=BatchSize(min(texts, _URGENT_TEXTS), CHARACTERS_PER_REQUEST),
            background=BatchSize(texts, CHARACTERS_PER_REQUEST),
        )

    async def _computed_by_request(self, texts: list[str], query: bool) -> list[bytes]:  # noqa: FBT001 - a callback
        attempt = partial(self._vectors, texts, query=query)
        vectors = await self._calls.call("embed", attempt, has_turn=True)
        return self._checked(vectors, len(texts))

    async def _vectors(self, texts: Sequence[str], *, query: bool) -> npt.NDArray[np.float32]:
        """Make one request and return its unit vectors.

        Raises:
            ProviderFailure: It failed, or answered something else.
        """
        sent = [text if text.strip() else _NOTHING for text in texts]
        answer = await self._request(sent, query=query)
        return unit_vectors(answer, len(sent), self.dimensions)

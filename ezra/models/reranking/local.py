"""A cross-encoder in this process, by the fastembed library."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, Self

from tiers.errors import TierRejected, TierUnavailable, UsageError
from tiers.health import TierHealth

from .port import TEXTS_MAX

Scores = Callable[[str, Sequence[str]], list[float]]


class CrossEncoder(Protocol):
    """A model that scores texts, blocking, once it is loaded."""

    @property
    def name(self) -> str:
        """What receipts and errors call it."""

    async def loaded(self) -> Scores:
        """Return what scores; see ``Reranker.rerank``."""


class LocalReranker:
    """Scores by a model of this process, one question at a time; implements ``Reranker``.

    Outside of ``async with`` every call raises ``TierUnavailable``. What a caller no longer waits
    for comes to its end in the thread, and the next waits for it.

    Args:
        model: Loaded when this is opened.
    """

    def __init__(self, model: CrossEncoder) -> None:
        self._model = model
        self._scores: Scores | None = None
        self._thread: ThreadPoolExecutor | None = None

    @property
    def name(self) -> str:
        """Of the model."""
        return self._model.name

    async def __aenter__(self) -> Self:
        self._scores = await self._model.loaded()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ezra-reranking")
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        if self._thread is not None:
            self._thread.shutdown(wait=False, cancel_futures=True)
        self._scores = self._thread = None

    async def rerank(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        """Return one score per text; see ``Reranker``."""
        if len(texts) > TEXTS_MAX:
            raise UsageError("texts", f"{len(texts)} texts", f"{TEXTS_MAX} at most")
        if self._scores is None or self._thread is None:
            raise TierUnavailable("rerank", "rerank", "not open")
        if not texts:
            return ()
        loop = asyncio.get_running_loop()
        found = await loop.run_in_executor(self._thread, self._scores, query, texts)
        if len(found) != len(texts) or not all(map(math.isfinite, found)):
            reason = f"{self.name} gave something else than one number for each text"
            raise TierRejected("rerank", "rerank", reason)
        return tuple(found)

    async def health(self) -> TierHealth:
        """Return that it is loaded: whoever can ask has opened it."""
        return TierHealth(tier="rerank", engine=self.name)

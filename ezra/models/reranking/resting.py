"""A reranker that failed is left alone for a while, so that not every recall waits for it."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Sequence

from tiers.errors import ConfigError, TierTimeout, TierUnavailable

from .port import Reranker

REST_SECONDS = 30.0
"""So long nobody is asked after a failure; the next recall behind it tries again."""

_NEARLY = 0.9
"""A call that was ended from outside after this share of its time was late, not unwanted."""


class RestingReranker:
    """Asks a reranker unless it has just failed; implements ``Reranker``.

    Not answering in time, not being reachable and refusing the key are failures. An answer that
    cannot be read is none: the next question may be another.

    Args:
        reranker: Who is asked.
        timeout_seconds: How long its callers wait for it.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        reranker: Reranker,
        timeout_seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._reranker = reranker
        self._patience = _NEARLY * timeout_seconds
        self._clock = clock
        self._until = -math.inf
        self._problem = ""

    @property
    def name(self) -> str:
        """Of the reranker that is asked."""
        return self._reranker.name

    async def rerank(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        """Return one score per text; see ``Reranker``.

        Raises:
            TierUnavailable: It failed a moment ago; nothing was sent.
        """
        started = self._clock()
        if started < self._until:
            reason = f"not asked for {self._until - started:.0f} s more: {self._problem}"
            raise TierUnavailable("rerank", "rerank", reason)
        try:
            return await self._reranker.rerank(query, texts)
        except (TierTimeout, TierUnavailable, ConfigError) as error:
            self._rest(str(error))
            raise
        except asyncio.CancelledError:
            if self._clock() - started >= self._patience:
                self._rest("no answer in time")
            raise

    def _rest(self, problem: str) -> None:
        self._problem = problem
        self._until = self._clock() + REST_SECONDS

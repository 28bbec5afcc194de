"""How far a reranker moves what recall has ranked, and what happens when it does not answer.

One that failed is left alone for a while, so that not every recall waits for it.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from tiers.errors import (
    ConfigError,
    TierError,
    TierTimeout,
    TierUnavailable,
    UsageError,
    check_within,
)
from tiers.records import Hit

from .port import TEXTS_MAX, Reranker

log = logging.getLogger(__name__)

RERANK_WEIGHT = 0.7
"""The reranker's share: it decides between what is close, and age, use and source still count."""


class Losses(Protocol):
    """Is told what did not take part in a recall."""

    def lose(self, capability: str, leg: str, reason: str) -> None:
        """Note that ``leg`` did not answer, and which capability is missing for it."""
        ...


def blend(
    fused: Sequence[float], reranked: Sequence[float], weight: float = RERANK_WEIGHT
) -> list[float]:
    """Return ``weight · scaled(reranked) + (1 - weight) · scaled(fused)``, each from 0 to 1.

    Both lists are scaled to 0 … 1 over these records first (x - min) / (max - min); a list of
    equal scores says nothing and becomes zeros. A convex combination of scaled scores keeps how
    far apart they are, which ranks lose (Bruch, Gai and Ingber 2023, "An analysis of fusion
    functions for hybrid retrieval", section 4). What decay, boosts and class weights did to the
    fused scores goes on counting: a reranker reads words, not how old or how often used they are.

    Args:
        fused: What recall's own ranking says, finite.
        reranked: What the reranker says of the same records, finite.
        weight: 0 leaves the fused order, 1 the reranker's alone.

    Raises:
        UsageError: The lists differ in length, or the weight is no share.
    """
    if len(fused) != len(reranked):
        raise UsageError("reranked", len(reranked), f"one score for each of {len(fused)}")
    check_within("weight", weight, 0, 1)
    ours, theirs = _scaled(fused), _scaled(reranked)
    return [weight * their + (1 - weight) * our for our, their in zip(ours, theirs, strict=True)]


def reordered(
    hits: Sequence[Hit], scores: Sequence[float], weight: float = RERANK_WEIGHT
) -> tuple[Hit, ...]:
    """Return the first hits in the blended order, and those behind them as they are.

    Ties keep the order they had. The blended scores are stretched over the span that the moved
    hits had, so that scores still fall from the first hit to the last.

    Args:
        hits: Best first.
        scores: What the reranker says of the first of them, one each.
        weight: See ``blend``.
    """
    head, tail = hits[: len(scores)], hits[len(scores) :]
    fused = [hit.score for hit in head]
    blended = blend(fused, scores, weight)
    low = min(fused, default=0.0)
    span = (max(fused, default=0.0) - low) or 1.0  # equal scores say nothing about how far apart
    order = sorted(range(len(head)), key=lambda place: -blended[place])
    moved = [
        head[place].model_copy(update={"score": low + span * blended[place]}) for place in order
    ]
    return (*moved, *tail)


async def reranked(
    reranker: Reranker | None,
    query: str,
    hits: Sequence[Hit],
    state: Losses,
    *,
    candidates: int,
    timeout_seconds: float,
    weight: float = RERANK_WEIGHT,
) -> tuple[tuple[Hit, ...], bool]:
    """Return the hits as the reranker has them, and whether it had a say.

    Only the order and the scores of the first ``candidates`` hits change; a hit's whole text is
    read, which for a rule is its trigger and its steps. Without a reranker, and with fewer than
    two hits, there is nothing to ask. When it fails, is late, or says something else than one
    finite number a text, the hits stay as they were and ``state`` says that ``rerank`` is missing.

    Args:
        reranker: Who is asked; ``None`` for nobody.
        query: The question, as the user put it.
        hits: Best first.
        state: Is told when the reranker did not take part.
        candidates: How many hits are sent, 1 to 200.
        timeout_seconds: How long an answer may take.
        weight: See ``blend``.

    Raises:
        UsageError: ``candidates`` is out of range, or ``blend`` refuses the weight.
    """
    check_within("candidates", candidates, 1, TEXTS_MAX)
    kept, head = tuple(hits), hits[:candidates]
    if reranker is None or len(head) < 2:  # noqa: PLR2004 - one has no order
        return kept, False
    texts = [hit.text for hit in head]
    scores = await _answer(reranker, query, texts, state, timeout_seconds)
    return (kept, False) if scores is None else (reordered(kept, scores, weight), True)


async def _answer(
    reranker: Reranker, query: str, texts: Sequence[str], state: Losses, timeout_seconds: float
) -> tuple[float, ...] | None:
    """Return one finite score per text, or ``None`` and say why there are none."""
    problem = f"no finite number for each of {len(texts)} texts"
    cause: object = problem
    try:
        async with asyncio.timeout(timeout_seconds):
            scores = await reranker.rerank(query, texts)
        if len(scores) == len(texts) and all(math.isfinite(score) for score in scores):
            return scores
    except TimeoutError:
        cause = problem = f"no answer within {timeout_seconds:g} s"
    except (TierError, ConfigError) as error:  # a key may be taken away while we run
        problem, cause = str(error), type(error).__name__  # its words may quote the texts
    log.warning("%s left out: %s", reranker.name, cause)
    state.lose("rerank", "rerank", problem)
    return None


def _scaled(scores: Sequence[float]) -> list[float]:
    """Return scores from 0 to 1, all 0 when they are equal."""
    if not scores:
        return []
    low = min(scores)
    span = max(scores) - low
    if math.isinf(span):  # half of it is not; halved, the smallest scores would be lost
        return _scaled([score / 2 for score in scores])
    return [(score - low) / span for score in scores] if span > 0 else [0.0] * len(scores)


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

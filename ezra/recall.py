"""Recall: one question to all tiers, each leg with a deadline, fused into one list."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, TypeVar, get_args

import numpy as np

from metaagents.reindex.index import SwitchingIndex
from tiers.errors import ConfigError, TierError, UsageError
from tiers.ports import Embedder, LexicalIndex, SemanticStore, Vector
from tiers.records import Fact, Hit, Kind, Scope, SearchQuery

from .checks import checked
from .fusion import Leg, fuse, merge_by_words, resolve_core, shared_words, without_names

log = logging.getLogger(__name__)

LIMIT_MAX = 100
OVERFETCH = 40
SIMILAR_MIN = 0.4
"""Cosine of all-MiniLM-L6-v2 from which two sentences are about the same thing."""
INHERITED_WEIGHT = 0.85
"""What a shared catalog's hit counts beside the own ones, so that these win near-ties.

The flat prior that Elastic's Atlas gives its catalog.
"""
SHARED_MIN = 1 / 3
"""Share of the content words from which words alone say so."""
KINDS: tuple[Kind, ...] = get_args(Kind)

_T = TypeVar("_T")


class QuestionVector(NamedTuple):
    """The vector of a question and the model that made it: it fits no other model's index."""

    vector: Vector
    model_id: str


def with_vector(query: SearchQuery, asked: QuestionVector | None) -> SearchQuery:
    """Return the query with the question's vector, if there is one."""
    if asked is None:
        return query
    return query.model_copy(update={"vector": asked.vector, "model_id": asked.model_id})


@dataclass
class Degradation:
    """Which tiers answered one call, and what was left out and why.

    Attributes:
        seconds: Deadline of each leg.
        used: Tiers that answered, in the order in which they first did.
        lost: Tiers and capabilities that did not take part.
        skipped: For each leg left out, why.
    """

    seconds: float
    used: dict[str, None] = field(default_factory=dict)
    lost: dict[str, None] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)

    async def answer(self, tier: str, leg: str, call: Awaitable[_T], empty: _T) -> _T:
        """Return what ``call`` answers, or ``empty`` when its tier fails or is late."""
        try:
            async with asyncio.timeout(self.seconds):
                answer = await call
        except TimeoutError:
            self.lose(tier, leg, f"no answer within {self.seconds:g} s")
            return empty
        except (TierError, ConfigError) as error:
            # A cold call may have failed for the warm index behind it: name the tier that failed.
            # A key or a permission may be taken away while we run.
            log.warning("%s left out: %s", leg, error)
            self.lose(error.tier if isinstance(error, TierError) else tier, leg, str(error))
            return empty
        self.used.setdefault(tier)
        return answer

    def lose(self, capability: str, leg: str, reason: str) -> None:
        """Note that ``leg`` did not answer, and which tier or capability is missing for it."""
        self.lost.setdefault(capability)
        self.skipped.append(f"{leg}: {reason}")


@dataclass(frozen=True)
class RecallResult:
    """The answer of a recall.

    Attributes:
        items: Best first.
        degraded: Tiers or capabilities that did not take part: ``hot``, ``warm``, ``cold``,
            ``dense``.
        tiers_used: Tiers that answered.
        skipped: For each leg left out, why.
        rerank_used: Whether a reranker changed the order; none is configured yet.
    """

    items: tuple[Hit, ...] = ()
    degraded: tuple[str, ...] = ()
    tiers_used: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    rerank_used: bool = False


class Recaller:
    """Asks the tiers and fuses what they answer.

    Args:
        warm: The hybrid index; knows whose vectors it answers with.
        words: Word search in the cold tier: finds what is not indexed yet.
        semantic: Core facts, own and inherited.
        embedder: Says how close hits are to a question; ``None`` leaves that to words.
        timeout_seconds: Deadline of each leg.
    """

    def __init__(
        self,
        warm: SwitchingIndex,
        words: LexicalIndex,
        semantic: SemanticStore,
        embedder: Embedder | None,
        timeout_seconds: float,
    ) -> None:
        self._warm = warm
        self._words = words
        self._semantic = semantic
        self._embedder = embedder
        self._timeout = timeout_seconds

    async def vector(
        self, text: str, names: Sequence[str], state: Degradation
    ) -> QuestionVector | None:
        """Return the query's vector by the model that serves, or ``None``.

        Without one, and while the index does not hold every record yet, ``state`` says so.
        """
        serving = self._warm.serving
        if self._embedder is None:
            state.lose("dense", "dense", "no embedding model is installed")
        elif serving.embedder is None or serving.partial:
            state.lose("dense", "dense", f"still embedding with {self._embedder.model_id}")
        if serving.embedder is None:
            return None
        asked = without_names(text, names)
        empty: tuple[Vector, ...] = ()
        call = serving.embedder.embed([asked], urgent=True, query=True)
        found = await state.answer("dense", "dense", call, empty)
        state.used.pop("dense", None)
        return QuestionVector(found[0], serving.embedder.model_id) if found else None

    async def archival(
        self, scope: Scope, query: SearchQuery, state: Degradation
    ) -> tuple[Hit, ...]:
        """Return archival facts by meaning and words; by words alone while the index is away."""
        none: tuple[Hit, ...] = ()
        call = self._semantic.recall_archival(scope, query, limit=query.limit)
        found: tuple[Hit, ...] | None = None
        found = await state.answer("cold", "archival", call, found)
        if found is not None:
            return found
        by_words = self._words.search_words(scope, query)
        return await state.answer("cold", "archival by words", by_words, none)

    async def recall(
        self,
        scope: Scope,
        text: str,
        now: datetime,
        *,
        limit: int,
        kinds: Sequence[Kind] | None,
        names: Sequence[str] = (),
    ) -> RecallResult:
        """Return the best visible records for ``text``.

        Args:
            scope: Of the handle.
            text: The question; must not be blank.
            now: The current time.
            limit: 1 to 100.
            kinds: Kinds to find; ``None`` for all.
            names: Names of known speakers, left out of the dense query.

        Raises:
            UsageError: An argument is not acceptable.
        """
        wanted = check_recall(text, limit, kinds)
        wide = max(limit, OVERFETCH)
        query = checked(SearchQuery, text=text, kinds=wanted, limit=wide, now=now)
        state = Degradation(self._timeout)
        query = with_vector(query, await self.vector(text, names, state))
        return RecallResult(
            items=fuse(await self._legs(scope, query, names, state), limit),
            degraded=tuple(state.lost),
            tiers_used=tuple(state.used),
            skipped=tuple(state.skipped),
        )

    async def inherited(
        self, scope: Scope, query: SearchQuery, names: Sequence[str], state: Degradation
    ) -> tuple[Hit, ...]:
        """Return what ancestors carry of the asked kinds and is about the question, best first.

        Nothing is asked where nothing is carried. Scores are ``INHERITED_WEIGHT`` of what the
        index says, so that the own graph wins near-ties.
        """
        if not scope.carrying(*query.kinds):
            return ()
        none: tuple[Hit, ...] = ()
        asked = query.model_copy(update={"inherited": True})
        found = await state.answer("warm", "inherited", self._warm.search(scope, asked), none)
        about = await self.relevant(query.text, found, names, state)
        weighed = (hit.score * INHERITED_WEIGHT for hit in about)
        return tuple(
            hit.model_copy(update={"score": score})
            for hit, score in zip(about, weighed, strict=True)
        )

    async def _legs(
        self, scope: Scope, query: SearchQuery, names: Sequence[str], state: Degradation
    ) -> dict[str, Leg]:
        """Ask all legs side by side and return those that answered."""
        away: tuple[Hit, ...] | None = None
        nobody: tuple[Fact, ...] = ()
        search, find = self._warm.search(scope, query), self._words.search_words(scope, query)
        family = self._inherited_core(scope, query)
        async with asyncio.TaskGroup() as asked:
            warm = asked.create_task(state.answer("warm", "warm", search, away))
            words = asked.create_task(state.answer("cold", "words", find, away))
            core = asked.create_task(state.answer("cold", "inherited", family, nobody))
            carried = asked.create_task(self.inherited(scope, query, names, state))
        hits = merge_by_words(query.text, words.result() or (), core.result(), scope)
        indexed = warm.result()
        if indexed is None:
            return {"words": Leg(hits)}
        # The warm index has weighed words already. What it does not hold, because it is new or
        # kept by another graph, comes in at the rank that its words have among all records.
        missing = {hit.id for hit in hits if hit.words_only or hit.inherited_from is not None}
        weighed = sorted((*indexed, *carried.result()), key=lambda hit: (-hit.score, hit.id))
        return {"warm": Leg(weighed), "words": Leg(hits, frozenset(missing))}

    async def relevant(
        self, text: str, hits: Sequence[Hit], names: Sequence[str], state: Degradation
    ) -> tuple[Hit, ...]:
        """Return the hits that are about ``text``, not merely the best of what there is.

        A hit is when it is close in meaning (cosine at least ``SIMILAR_MIN``) or has
        ``SHARED_MIN`` of the content words. Order is kept. When the embedder fails, ``state``
        says so and words alone decide.
        """
        if not hits:
            return ()
        close = await self._similarities(text, hits, names, state)
        return tuple(
            hit
            for hit, cosine in zip(hits, close, strict=True)
            if cosine >= SIMILAR_MIN or shared_words(text, hit.text) >= SHARED_MIN
        )

    async def _similarities(
        self, text: str, hits: Sequence[Hit], names: Sequence[str], state: Degradation
    ) -> list[float]:
        if self._embedder is None:
            return [0.0] * len(hits)
        empty: tuple[Vector, ...] = ()
        call = _embed_beside(self._embedder, without_names(text, names), [hit.text for hit in hits])
        vectors = await state.answer("dense", "relevance", call, empty)
        state.used.pop("dense", None)
        if not vectors:
            return [0.0] * len(hits)
        rows = np.asarray(vectors, dtype=np.float32)
        return [float(cosine) for cosine in rows[1:] @ rows[0]]

    async def _inherited_core(self, scope: Scope, query: SearchQuery) -> tuple[Fact, ...]:
        """Return the core facts of ancestors that the agent sees."""
        if "fact" not in query.kinds or not scope.lineage:
            return ()
        facts = resolve_core(await self._semantic.core(scope)).visible
        return tuple(fact for fact in facts if fact.graph_id != scope.graph_id)


async def _embed_beside(
    embedder: Embedder, question: str, texts: Sequence[str]
) -> tuple[Vector, ...]:
    """Return the vector of the question, then those of the texts; as a rule all are cached."""
    asked = await embedder.embed([question], urgent=True, query=True)
    return asked + await embedder.embed(texts, urgent=True)


def check_recall(text: str, limit: int, kinds: Sequence[Kind] | None) -> tuple[Kind, ...]:
    """Return the kinds to search, or raise ``UsageError`` for the first argument that is wrong."""
    if not text.strip():
        raise UsageError("query", text, "a question that is not blank")
    if not 1 <= limit <= LIMIT_MAX:
        raise UsageError("limit", limit, f"1 to {LIMIT_MAX}")
    wanted = KINDS if kinds is None else tuple(kinds)
    unknown = [kind for kind in wanted if kind not in KINDS]
    if unknown or not wanted:
        raise UsageError("kinds", unknown or wanted, ", ".join(KINDS))
    return wanted

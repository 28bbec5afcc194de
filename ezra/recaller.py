"""What turns and searches share: deadlines, the question's vector, and what is about it."""

from __future__ import annotations

import inspect
import logging
import math
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from operator import mul
from typing import TYPE_CHECKING, NamedTuple, TypeVar, get_args

from metaagents.reindex.index import SwitchingIndex
from tiers.deadlines import Deadlines
from tiers.errors import ConfigError, TierError, TierTimeout
from tiers.known_records import Known, Seen
from tiers.liveness import WIDEST, RecordKey, standing_only
from tiers.ports import Embedder, Vector
from tiers.records import Ancestor, Hit, Kind, Scope, SearchQuery, Turn

from .ranking.cues import (
    codes_in,
    meant_by,
    sentence_stems,
    shared_words,
    shares_a_sentence,
    stems_in,
    without_names,
)
from .ranking.priors import INHERITED_FACTOR
from .ranking.terms import Reader
from .telemetry import Telemetry, Watched

if TYPE_CHECKING:
    from tiers.cold.stores import LexicalIndex, SemanticStore

log = logging.getLogger(__name__)

SIMILAR_MIN = 0.4
"""Cosine of all-MiniLM-L6-v2 from which two sentences are about the same thing."""
SHARED_MIN = 1 / 3
"""Share of the content words from which words alone say so."""

_T = TypeVar("_T")


class QuestionVector(NamedTuple):
    """The vector of a question and the model that made it: it fits no other model's index."""

    vector: Vector
    model_id: str


def seen_from_below(scope: Scope, ancestor: Ancestor) -> Scope:
    """Return the scope by which an ancestor's own records are asked for."""
    # An agent of the same id in another graph is another writer.
    return scope.model_copy(update={"graph_id": ancestor.graph_id, "agent_id": None, "lineage": ()})


def with_vector(query: SearchQuery, asked: QuestionVector | None) -> SearchQuery:
    """Return the query with the question's vector, if there is one."""
    if asked is None:
        return query
    return query.model_copy(update={"vector": asked.vector, "model_id": asked.model_id})


BEHIND_MAX = 10_000
"""So many agents are remembered whose rings lack turns."""


@dataclass(eq=False)
class TierNews:
    """What one call learns of the tiers for the next calls of the same runtime.

    The hot tier is a cache that each turn asks several times. When it was late it is left alone for
    as long again, so that a server which is frozen is waited for by one call and not by each.

    Attributes:
        is_closed: The runtime is over: what fails now is no gap in an answer, but its end.
        clock: Monotonic seconds.
    """

    is_closed: bool = False
    clock: Callable[[], float] = time.monotonic
    _resting_until: float = field(default=-math.inf, init=False)
    _behind: dict[tuple[str, str, str | None], None] = field(default_factory=dict, init=False)

    def close(self) -> None:
        """Take note that the runtime is over."""
        self.is_closed = True

    def rests(self, tier: str) -> bool:
        """Whether a tier is not asked now."""
        return tier == "hot" and self.clock() < self._resting_until

    def was_late(self, tier: str, seconds: float) -> None:
        """Take note that a tier did not answer within so many seconds."""
        if tier == "hot":
            self._resting_until = self.clock() + seconds

    def fell_behind(self, scope: Scope) -> None:
        """Take note that the ring of an agent lacks what was just stored in cold."""
        self._behind[scope.tenant, scope.graph_id, scope.agent_id] = None
        if len(self._behind) > BEHIND_MAX:
            del self._behind[next(iter(self._behind))]

    def is_behind(self, scope: Scope) -> bool:
        """Whether an agent's ring lacks turns that are in cold."""
        return (scope.tenant, scope.graph_id, scope.agent_id) in self._behind

    def caught_up(self, scope: Scope) -> None:
        """Take note that an agent's ring was filled from cold."""
        self._behind.pop((scope.tenant, scope.graph_id, scope.agent_id), None)


@dataclass
class Degradation:
    """Which tiers answered one call, and what was left out and why.

    Attributes:
        seconds: Deadline of each leg.
        telemetry: Told of each leg.
        news: What earlier calls have learnt of the tiers.
        used: Tiers that answered, in the order in which they first did.
        lost: Tiers and capabilities that did not take part.
        skipped: For each leg left out, why.
    """

    seconds: float
    telemetry: Telemetry = field(default_factory=Telemetry)
    news: TierNews = field(default_factory=TierNews)
    used: dict[str, None] = field(default_factory=dict)
    lost: dict[str, None] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._deadlines = Deadlines(self.seconds)

    async def answer(self, tier: str, leg: str, call: Awaitable[_T], empty: _T) -> _T:
        """Return what ``call`` answers, or ``empty`` when its tier fails or is late.

        Raises:
            TierError: The runtime is closed.
        """
        with self.telemetry.leg(tier, leg) as watched:
            if self.news.rests(tier):
                if inspect.iscoroutine(call):
                    call.close()  # nobody will await it
                watched.fail("TimeoutError")
                self.lose(tier, leg, "not asked: it was late a moment ago")
                return empty
            return await self._answer(tier, leg, call, empty, watched)

    def ring_filled(self, scope: Scope) -> None:
        """Take note that an agent's ring was written; where hot was away it is caught up later."""
        if "hot" in self.lost:
            self.news.fell_behind(scope)

    async def _answer(
        self, tier: str, leg: str, call: Awaitable[_T], empty: _T, watched: Watched
    ) -> _T:
        try:
            with self._deadlines.within():
                answer = await call
        except TimeoutError:
            watched.fail("TimeoutError")
            self.news.was_late(tier, self.seconds)
            self.lose(tier, leg, f"no answer within {self.seconds:g} s")
            return empty
        except (TierError, ConfigError) as error:
            watched.fail(type(error).__name__)
            if self.news.is_closed:
                raise
            if isinstance(error, TierTimeout):
                self.news.was_late(error.tier, self.seconds)
            # A cold call may have failed for the warm index behind it: name the tier that failed.
            # A key or a permission may be taken away while we run.
            log.warning("%s left out: %s", leg, error)
            failed = error.tier if isinstance(error, TierError) else tier
            # Who embeds is no tier: what is missing is meaning.
            self.lose("dense" if failed == "embedding" else failed, leg, str(error))
            return empty
        self.used.setdefault(tier)
        return answer

    def lose(self, capability: str, leg: str, reason: str) -> None:
        """Note that ``leg`` did not answer, and which tier or capability is missing for it."""
        self.telemetry.numbers.lost(capability)
        self.lost.setdefault(capability)
        self.skipped.append(f"{leg}: {reason}")


@dataclass(frozen=True)
class Reason:
    """Why an answer is where it is.

    Attributes:
        ranks: Its rank in each leg that found it, from 1.
        cosine: How close its meaning is to the question, where that was compared.
        parts: What each sign added (``ezra.ranking.weights``).
        factors: What the sum was multiplied by: decay, uses, a rule's outcomes, scope class,
            inheritance, validity.
        path: The graphs by which it was inherited.
    """

    ranks: Mapping[str, int]
    cosine: float | None
    parts: Mapping[str, float]
    factors: Mapping[str, float]
    path: tuple[str, ...] = ()


@dataclass(frozen=True)
class RecallResult:
    """The answer of a recall.

    Attributes:
        items: Best first.
        degraded: Tiers or capabilities that did not take part: ``hot``, ``warm``, ``cold``,
            ``dense``, ``rerank``.
        tiers_used: Tiers that answered.
        skipped: For each leg left out, why.
        rerank_used: Whether a reranker changed the order.
        reasons: Why each answer is where it is, by id, where that was asked for.
        considered: What was ranked before the reranker and the budget of tokens, with its score.
        left_out: Answers that the budget of tokens left out.
        receipt_id: The receipt of what was seen, where one was kept.
        model_id: The model whose vectors were compared, if any.
    """

    items: tuple[Hit, ...] = ()
    degraded: tuple[str, ...] = ()
    tiers_used: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    rerank_used: bool = False
    reasons: Mapping[str, Reason] = field(default_factory=dict)
    considered: tuple[tuple[str, float], ...] = ()
    left_out: tuple[str, ...] = ()
    receipt_id: str | None = None
    model_id: str | None = None

    @property
    def total(self) -> int:
        """How many answers there are, those that a budget of tokens left out among them."""
        return len(self.items) + len(self.left_out)


@dataclass(eq=False)
class Recaller:
    """Asks the tiers and fuses what they answer.

    Attributes:
        warm: The hybrid index; knows whose vectors it answers with.
        words: Word search in the cold tier: finds what is not indexed yet.
        semantic: Core facts, own and inherited.
        embedder: Says how close hits are to a question; ``None`` leaves that to words.
        timeout_seconds: Deadline of each leg.
        reader: Reads texts once, for whoever weighs them.
    """

    warm: SwitchingIndex
    words: LexicalIndex
    semantic: SemanticStore
    embedder: Embedder | None
    timeout_seconds: float
    reader: Reader = field(default_factory=Reader)

    async def vector(
        self, scope: Scope, text: str, names: Sequence[str], state: Degradation
    ) -> QuestionVector | None:
        """Return the query's vector by the model that serves, or ``None``.

        Without one, and while the index does not hold every record yet, ``state`` says so. What was
        kept in the scope's graph just now is in the index then, or late.
        """
        serving = self.warm.serving
        if serving.partial:
            state.lose("warm", "index", "it is not whole: what it lacks is found in the cold tier")
        if self.embedder is None:
            state.lose("dense", "dense", "no embedding model is installed")
        elif serving.embedder is None or serving.partial:
            state.lose("dense", "dense", f"still embedding with {self.embedder.model_id}")
        if serving.embedder is None:
            return None
        asked = without_names(meant_by(text), names)
        call = serving.embedder.embed([asked], urgent=True, query=True)
        found = await state.answer("dense", "dense", call, ())
        state.used.pop("dense", None)
        await self.warm.arrivals.wait(scope)
        return QuestionVector(found[0], serving.embedder.model_id) if found else None

    async def sight(
        self, scope: Scope, query: SearchQuery, leg: str, state: Degradation, known: Known
    ) -> tuple[Seen, ...]:
        """Return what ``found`` does, records of ``known`` by their ids alone."""

        async def search(asked: SearchQuery) -> Sequence[Seen]:
            return await state.answer("warm", leg, self.warm.sight(scope, asked, known), ())

        return await self._search_standing(scope, query, leg, state, search)

    async def found(
        self, scope: Scope, query: SearchQuery, leg: str, state: Degradation
    ) -> tuple[Hit, ...]:
        """Return what the warm index finds, of it only what the cold tier holds to be live now.

        The index may be behind: what was forgotten, superseded or redacted since takes nobody's
        place. While the cold tier is away the index answers alone, and ``state`` says so.
        """

        async def search(asked: SearchQuery) -> Sequence[Seen]:
            return await state.answer("warm", leg, self.warm.search(scope, asked), ())

        standing = await self._search_standing(scope, query, leg, state, search)
        return tuple(one for one in standing if isinstance(one, Hit))

    async def live(
        self,
        scope: Scope,
        query: SearchQuery,
        keys: Sequence[RecordKey],
        state: Degradation,
    ) -> frozenset[RecordKey] | None:
        """Return which records a question may find at this moment; ``None`` while cold is away."""
        if not keys:
            return frozenset()
        call = self.words.live(scope, query, keys)
        return await state.answer("cold", "live", call, None)

    async def standing_turns(
        self, scope: Scope, turns: Sequence[Turn], now: datetime, state: Degradation
    ) -> tuple[Turn, ...]:
        """Return the turns of a ring but those whose words were destroyed in cold since."""
        query = SearchQuery(text="", kinds=("turn",), now=now)
        keys = [(turn.graph_id, turn.id) for turn in turns]
        live = await self.live(scope, query, keys, state)
        if live is None:
            return tuple(turns)
        return tuple(
            turn
            for turn, key in zip(turns, keys, strict=True)
            if key in live or turn.redacted_at is not None
        )

    async def still(
        self, scope: Scope, hits: Sequence[Hit], now: datetime, state: Degradation
    ) -> tuple[Hit, ...]:
        """Return the hits but those of the own graph that have ended since they were found.

        For behind what takes its time: a reranker may be asked for seconds.
        """
        own = [(hit.graph_id, hit.id) for hit in hits if hit.inherited_from is None]
        query = SearchQuery(text="", kinds=get_args(Kind), now=now)
        live = await self.live(scope, query, own, state)
        if live is None:
            return tuple(hits)
        return tuple(hit for hit in hits if hit.inherited_from or (hit.graph_id, hit.id) in live)

    async def _search_standing(
        self,
        scope: Scope,
        query: SearchQuery,
        leg: str,
        state: Degradation,
        search: Callable[[SearchQuery], Awaitable[Sequence[Seen]]],
    ) -> tuple[Seen, ...]:
        async def live(keys: Sequence[RecordKey]) -> frozenset[RecordKey] | None:
            return await self.live(scope, query, keys, state)

        standing = await standing_only(scope, query, search, live)
        if not standing.is_whole:
            state.lose("warm", leg, f"of the first {WIDEST:,} entries too many are over")
        return standing.found

    async def archival(
        self, scope: Scope, query: SearchQuery, state: Degradation
    ) -> tuple[Hit, ...]:
        """Return archival facts by meaning and words; by words alone while the index is away."""
        call = self.semantic.recall_archival(scope, query, limit=query.limit)
        found: tuple[Hit, ...] | None = None
        found = await state.answer("cold", "archival", call, found)
        if found is not None:
            return found
        by_words = self.words.search_words(scope, query)
        return await state.answer("cold", "archival by words", by_words, ())

    async def inherited(
        self, scope: Scope, query: SearchQuery, state: Degradation
    ) -> tuple[Hit, ...]:
        """Return what ancestors carry of the asked kinds, best first.

        Nothing is asked where nothing is carried. Scores are ``INHERITED_FACTOR`` of what the
        index says, so that the own graph wins near-ties.
        """
        if not scope.carrying(*query.kinds):
            return ()
        asked = query.model_copy(update={"inherited": True})
        found = await self.found(scope, asked, "inherited", state)
        known = {hit.id for hit in found}
        ended = [hit for hit in await self._ended(scope, query, state) if hit.id not in known]
        return tuple(
            hit.model_copy(update={"score": hit.score * INHERITED_FACTOR})
            for hit in (*found, *ended)
        )

    async def _ended(self, scope: Scope, query: SearchQuery, state: Degradation) -> tuple[Hit, ...]:
        """Return facts of ancestors read as of a moment: what has ended since left the index."""
        if "fact" not in query.kinds:
            return ()
        facts = query.model_copy(update={"kinds": ("fact",)})
        pinned = [one for one in scope.carrying("fact") if one.as_of is not None]
        answers = [await self.of_ancestor(scope, one, facts, state) for one in pinned]
        return tuple(hit for hits in answers for hit in hits)

    async def of_ancestor(
        self, scope: Scope, ancestor: Ancestor, query: SearchQuery, state: Degradation
    ) -> tuple[Hit, ...]:
        """Return what an ancestor's own words find, as it stood when it is read as of.

        Whatever the moment: a fact that it has forgotten is forgotten below it.
        """
        asked = query.model_copy(update={"as_of": ancestor.as_of})
        call = self.words.search_words(seen_from_below(scope, ancestor), asked)
        found = await state.answer("cold", "words of ancestors", call, ())
        facts = [hit.id for hit in found if hit.kind == "fact"]
        if ancestor.as_of is not None and facts:
            readable = self.semantic.facts(scope, facts)
            kept = {one.id for one in await state.answer("cold", "facts", readable, ())}
            found = tuple(hit for hit in found if hit.kind != "fact" or hit.id in kept)
        whence = {"inherited_from": ancestor.graph_id, "path": ancestor.path}
        return tuple(hit.model_copy(update=whence) for hit in found)

    async def relevant(
        self, text: str, hits: Sequence[Hit], names: Sequence[str], state: Degradation
    ) -> tuple[Hit, ...]:
        """Return the hits that are about what ``text`` means, not merely the best there is.

        A hit is when it is close in meaning (cosine at least ``SIMILAR_MIN``), has
        ``SHARED_MIN`` of the content words, of the whole or of a sentence, or a code or version
        that ``text`` names. Order is kept. When the embedder fails, ``state`` says so and words
        alone decide.
        """
        if not hits:
            return ()
        about, codes = meant_by(text), codes_in(text)
        asked = stems_in(about)
        parts = sentence_stems(about)
        close = await self._cosines(about, hits, names, state)
        return tuple(
            hit
            for hit, cosine in zip(hits, close, strict=True)
            if cosine >= SIMILAR_MIN
            or shared_words(asked, hit.text) >= SHARED_MIN
            or shares_a_sentence(parts, hit.text, SHARED_MIN)
            or (codes and codes & codes_in(hit.text))
        )

    async def _cosines(
        self, text: str, hits: Sequence[Hit], names: Sequence[str], state: Degradation
    ) -> list[float]:
        """Return how close hits are to a text, as the index says; only the others are embedded."""
        cosines = (
            [one.cosine for one in hits] if self._is_measured_by_index() else [None] * len(hits)
        )
        rest = [hit for hit, cosine in zip(hits, cosines, strict=True) if cosine is None]
        made = iter(await self._similarities(text, rest, names, state) if rest else ())
        return [next(made) if cosine is None else cosine for cosine in cosines]

    def _is_measured_by_index(self) -> bool:
        serving = self.warm.serving.embedder
        return self.embedder is not None and serving is self.embedder

    async def _similarities(
        self, text: str, hits: Sequence[Hit], names: Sequence[str], state: Degradation
    ) -> list[float]:
        if self.embedder is None:
            return [0.0] * len(hits)
        call = _embed_beside(self.embedder, without_names(text, names), [hit.text for hit in hits])
        vectors = await state.answer("dense", "relevance", call, ())
        state.used.pop("dense", None)
        if not vectors:
            return [0.0] * len(hits)
        asked, *others = vectors
        return [sum(map(mul, asked, other)) for other in others]


async def _embed_beside(
    embedder: Embedder, question: str, texts: Sequence[str]
) -> tuple[Vector, ...]:
    """Return the vector of the question, then those of the texts; as a rule all are cached."""
    asked = await embedder.embed([question], urgent=True, query=True)
    return asked + await embedder.embed(texts, urgent=True)

"""Finding the active beliefs that a claim without a key contradicts, or says once more."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, TypeVar

from metaagents.learning.neighbours import cosine
from tiers.beliefs import BeliefQuery, Commitment
from tiers.errors import BudgetExceeded, ConfigError, TierError, UsageError
from tiers.fleet import Scope
from tiers.ports import Embedder, Vector, WarmStore
from tiers.records import SearchQuery

from .frames import speaks_of_speaker
from .judges import JUDGED_CHARS_MAX, ContradictionJudge, RulesJudge, judged_or_by_rules
from .records import Judgement

if TYPE_CHECKING:
    from tiers.cold.stores import BeliefHistory, RivalSearch

log = logging.getLogger(__name__)

SIMILARITY = 0.85
"""Cosine from which a judge is asked about two claims (the original's default).

The rules need none: a third of what they find lies below it, "Start on mediums." and "Start on
hards." at 0.64 with all-MiniLM-L6-v2.
"""

JUDGED_MAX = 8
"""Rivals of one claim that a judge is asked about."""

COMPARED_MAX = 24
"""Rivals of one claim that the rules look at."""

_FOUND_MAX = 40
_LOADED_MAX = 2 * _FOUND_MAX

_T = TypeVar("_T")

Charge = Callable[[], Awaitable[None]]
"""Counts a call of the language model before it is made; raises ``BudgetExceeded``."""


@dataclass
class Notes:
    """What did not take part in one commit, and why.

    Attributes:
        lost: Tiers and capabilities, each once.
        skipped: For each time, why.
    """

    lost: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)

    def lose(self, capability: str, why: str) -> None:
        """Note what is missing, and why."""
        if capability not in self.lost:
            self.lost.append(capability)
        self.skipped.append(why)


@dataclass(frozen=True, slots=True)
class Opposed:
    """An active belief that a claim contradicts, or that says the same.

    Attributes:
        belief: The active one.
        judgement: What is said about the two.
        judged_by: Who said it.
        similarity: Their cosine, where it is known.
    """

    belief: Commitment
    judgement: Judgement
    judged_by: str
    similarity: float | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """What a search for rivals came to.

    Attributes:
        opposed: Those that have to be settled.
        judged_ids: All that were looked at.
        is_known: The claim is in the log already: its commit is a repetition.
    """

    opposed: tuple[Opposed, ...] = ()
    judged_ids: tuple[str, ...] = ()
    is_known: bool = False


@dataclass(eq=False)
class RivalFinder:
    """Finds what a claim without a key contradicts.

    Attributes:
        history: What is active.
        rivals: Finds active beliefs by their words, also those that are not indexed yet.
        warm: The hybrid index; asked when the claim has a vector.
        embedder: Says how alike two claims are; ``None`` leaves all to words and rules.
        judge: Asked about claims that are alike; ``None`` leaves it to the rules.
        similarity: The cosine from which the judge is asked, above 0, at most 1.
        timeout_seconds: Deadline of each search and embedding.

    Raises:
        UsageError: A number is out of range.
    """

    history: BeliefHistory
    rivals: RivalSearch
    warm: WarmStore
    embedder: Embedder | None
    judge: ContradictionJudge | None = None
    similarity: float = SIMILARITY
    timeout_seconds: float = 2.0

    def __post_init__(self) -> None:
        if not 0 < self.similarity <= 1:
            raise UsageError("similarity", self.similarity, "above 0, at most 1")
        if not 0 < self.timeout_seconds < math.inf:
            raise UsageError("timeout_seconds", self.timeout_seconds, "above 0")
        if isinstance(self.judge, RulesJudge):
            self.judge = None  # the rules are asked first as it is
        self._rules = RulesJudge()

    async def find(
        self,
        scope: Scope,
        belief: Commitment,
        known: Sequence[str],
        notes: Notes,
        charge: Charge | None,
    ) -> Found:
        """Return what contradicts a claim or says the same, among active beliefs filed like it.

        A tier that is away, or late, is left out, and the notes say so.

        Args:
            scope: Of the claim's agent.
            belief: The claim.
            known: Ids of beliefs that were looked at before.
            notes: What did not take part.
            charge: Counts a call of the language model.
        """
        vector = await self._vector(belief.claim, notes)
        by_words, by_vector = await asyncio.gather(
            self._worded_like(scope, belief, notes),
            self._meaning_like(scope, belief, vector, notes),
        )
        ids = _in_turns([one.id for one in by_words], by_vector)
        ids = [one for one in ids if one != belief.id and one not in known]
        if not ids:
            return Found()
        active = {one.id: one for one in by_words}
        unread = [one for one in ids if one not in active]
        query = BeliefQuery(ids=(belief.id, *unread), limit=_LOADED_MAX + 1)
        loading = self.history.query(scope, query)
        loaded = await self._answer("cold", "rivals", loading, (), notes)
        if any(one.id == belief.id for one in loaded):
            return Found(is_known=True)
        active |= {one.id: one for one in loaded if one.status == "active"}
        rivals = [active[one] for one in ids if one in active and _is_rival(belief, active[one])]
        rivals = rivals[:COMPARED_MAX]
        opposed = await self._opposed(belief, rivals, notes, charge)
        return Found(tuple(opposed), tuple(one.id for one in rivals))

    async def _worded_like(
        self, scope: Scope, belief: Commitment, notes: Notes
    ) -> tuple[Commitment, ...]:
        """Return active beliefs filed like a claim that share words with it."""
        asking = self.rivals.worded_like(scope, belief, _FOUND_MAX)
        return await self._answer("cold", "words", asking, (), notes)

    async def _meaning_like(
        self, scope: Scope, belief: Commitment, vector: Vector | None, notes: Notes
    ) -> list[str]:
        """Return ids of beliefs of the topic whose meaning is like a claim's; none without one."""
        if vector is None or self.embedder is None:
            return []
        topics = belief.topics if belief.topic is None else (belief.topic,)
        narrow = scope.model_copy(update={"topics": topics, "lineage": ()})
        query = SearchQuery(
            text=belief.claim,
            kinds=("belief",),
            user_id=belief.user_id,
            limit=_FOUND_MAX,
            now=belief.recorded_at,
            vector=vector,
            model_id=self.embedder.model_id,
        )
        asking = self.warm.search(narrow, query)
        return [hit.id for hit in await self._answer("warm", "warm", asking, (), notes)]

    async def _opposed(
        self,
        belief: Commitment,
        rivals: Sequence[Commitment],
        notes: Notes,
        charge: Charge | None,
    ) -> list[Opposed]:
        """Return the rivals that contradict a claim or say the same, as judged.

        The rules look at each of them. Where there is a judge, it has the last word on those that
        are alike and do not say the same.
        """
        said = await self._rules.judge(belief.claim, [one.claim for one in rivals])
        candidates = [
            Opposed(rival, judgement, self._rules.name)
            for rival, judgement in zip(rivals, said, strict=True)
        ]
        if self.judge is not None:
            candidates = await self._judged(self.judge, belief, candidates, notes, charge)
        opposed = [
            one
            for one in candidates
            # A claim that repeats a keyed belief does not retire it: its key would be lost.
            if one.judgement.contradicts or (one.judgement.agrees and one.belief.key is None)
        ]
        return await self._with_similarity(belief, opposed, notes)

    async def _judged(
        self,
        judge: ContradictionJudge,
        belief: Commitment,
        candidates: list[Opposed],
        notes: Notes,
        charge: Charge | None,
    ) -> list[Opposed]:
        """Return the candidates, those that are most alike as the judge says."""
        fits = len(belief.claim) <= JUDGED_CHARS_MAX
        open_ones = [
            one
            for one in candidates
            if fits and not one.judgement.agrees and len(one.belief.claim) <= JUDGED_CHARS_MAX
        ][: 2 * JUDGED_MAX]
        alike = [
            one
            for one in await self._with_similarity(belief, open_ones, notes)
            if one.similarity is not None and one.similarity >= self.similarity
        ]
        alike = sorted(alike, key=lambda one: -(one.similarity or 0.0))[:JUDGED_MAX]
        if not alike or not await _is_paid(judge, charge, notes):
            return candidates
        texts = [one.belief.claim for one in alike]
        said, why = await judged_or_by_rules(judge, belief.claim, texts)
        if why:
            log.warning("judge %s left out", judge.name)  # why may quote the claims
            notes.lose("judge", why)
        judged = {
            one.belief.id: replace(one, judgement=judgement, judged_by=name)
            for one, (name, judgement) in zip(alike, said, strict=True)
        }
        return [judged.get(one.belief.id, one) for one in candidates]

    async def _with_similarity(
        self, belief: Commitment, candidates: Sequence[Opposed], notes: Notes
    ) -> list[Opposed]:
        """Return the candidates with the cosine of their claim and the new one, where known."""
        unknown = [one.belief.claim for one in candidates if one.similarity is None]
        if self.embedder is None or not unknown:
            return list(candidates)
        texts = [belief.claim, *unknown]
        embedding = self.embedder.embed(texts, urgent=True)
        vectors = await self._answer("dense", "similarity", embedding, (), notes)
        if len(vectors) != len(texts):
            return list(candidates)
        cosines = dict(zip(unknown, (cosine(vectors[0], one) for one in vectors[1:]), strict=True))
        return [
            one
            if one.similarity is not None
            else replace(one, similarity=cosines[one.belief.claim])
            for one in candidates
        ]

    async def _vector(self, claim: str, notes: Notes) -> Vector | None:
        if self.embedder is None:
            return None
        embedding = self.embedder.embed([claim], urgent=True)
        vectors = await self._answer("dense", "vector", embedding, (), notes)
        return vectors[0] if len(vectors) == 1 else None

    async def _answer(
        self, capability: str, what: str, call: Awaitable[_T], empty: _T, notes: Notes
    ) -> _T:
        """Return what a tier answers, or ``empty`` when it fails or is late; the notes say so."""
        try:
            async with asyncio.timeout(self.timeout_seconds):
                return await call
        except TimeoutError:
            notes.lose(capability, f"{what}: no answer within {self.timeout_seconds:g} s")
        except (TierError, ConfigError) as error:
            log.warning("rivals of a claim: %s left out: %s", what, error)
            notes.lose(capability, f"{what}: {error}")
        return empty


async def _is_paid(judge: ContradictionJudge, charge: Charge | None, notes: Notes) -> bool:
    """Whether a judge may be asked: a call of the language model is within the budget."""
    if charge is None or not judge.uses_model:
        return True
    try:
        await charge()
    except BudgetExceeded as refusal:
        notes.lose("judge", f"judge {judge.name} left out: {refusal}")
        return False
    return True


def _is_rival(belief: Commitment, other: Commitment) -> bool:
    """Whether an active belief is filed where a new one is, so that the two can be rivals.

    "I start on softs" of one agent is about another than the same words of the next.
    """
    filed = (belief.topic, belief.user_id, belief.private)
    if filed != (other.topic, other.user_id, other.private):
        return False
    if belief.topic is None and belief.topics != other.topics:
        return False
    if belief.agent_id == other.agent_id:
        return True
    speak = speaks_of_speaker(belief.claim) or speaks_of_speaker(other.claim)
    return not belief.private and not speak


def _in_turns(*legs: Iterable[str]) -> list[str]:
    """Return the ids of several searches, the best of each first, at most ``_LOADED_MAX``."""
    ids = [one for ids in zip_longest(*legs) for one in ids if one is not None]
    return list(dict.fromkeys(ids))[:_LOADED_MAX]

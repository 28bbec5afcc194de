"""Finding the live facts that a fact is to be compared with, in its identity bucket only."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from tiers.errors import EzraError, TierError
from tiers.learning import is_live, may_give_way, said_order
from tiers.liveness import standing_only
from tiers.ports import Embedder, Vector, WarmStore
from tiers.records import ALL_TOPICS, Fact, Scope, SearchQuery

from .likeness import overlap, read

if TYPE_CHECKING:
    from tiers.cold.stores import FactReview, LexicalIndex, SemanticStore

KEYED_MAX = 64
"""Facts of one key that are looked at; more of one subject and predicate say nothing new."""

QUERY_CHARS_MAX = 4_000


@dataclass(frozen=True)
class Neighbours:
    """The live facts that one fact is compared with.

    Attributes:
        keyed: Those of the same key.
        found: Those that a search found, the nearest first.
    """

    keyed: tuple[Fact, ...] = ()
    found: tuple[Fact, ...] = ()

    @property
    def rivals(self) -> tuple[Fact, ...]:
        """All of them, each once."""
        return tuple({one.id: one for one in (*self.keyed, *self.found)}.values())


@dataclass
class Neighbourhood:
    """Finds the neighbours of facts.

    Args:
        review: Facts of one key.
        semantic: The facts as they are now.
        warm: The index that is asked with vectors.
        words: The index that is asked with words, which has what the other lacks yet.
        embedder: Makes the vectors; without it the words do.
        hits: How many each index is asked for.
        nearest: How many of the nearest are asked for; no order is needed among fewer.
    """

    review: FactReview
    semantic: SemanticStore
    warm: WarmStore
    words: LexicalIndex
    embedder: Embedder | None
    hits: int
    nearest: int
    vectors: dict[str, Vector] = field(default_factory=dict)

    async def prepare(self, facts: Sequence[Fact]) -> None:
        """Make the vectors of facts that are about to be judged, in one go."""
        await self._make_vectors([fact.text for fact in facts])

    async def of(self, fact: Fact, now: datetime) -> Neighbours:
        """Return whom a fact is compared with: of the same owner, and older or judged already.

        A newer one that is not judged yet will be compared with this one in its turn.
        """
        whole = Scope.of_graph(fact.tenant, fact.graph_id)
        keyed = await self.review.keyed(whole, fact, KEYED_MAX)
        found_ids = await self._search(fact, now)
        ids = [one for one in dict.fromkeys(found_ids) if one != fact.id]
        sight = whole.for_agent(fact.agent_id) if fact.private else whole
        found = await self.semantic.facts(sight, ids) if ids else ()
        return Neighbours(
            tuple(one for one in keyed if _comparable(one, fact)),
            await self._nearest(fact, [one for one in found if _comparable(one, fact)]),
        )

    async def _search(self, fact: Fact, now: datetime) -> list[str]:
        """Return the ids of what both indexes find within what the fact's bucket may see."""
        scope = _sight_of(fact)
        vector = self.vectors.get(fact.text)
        query = SearchQuery(
            text=fact.text[:QUERY_CHARS_MAX],
            kinds=("fact",),
            user_id=fact.user_id,
            limit=self.hits,
            now=now,
        )
        by_words = await self.words.search_words(scope, query)
        if vector is None or self.embedder is None:
            return [one.id for one in by_words]
        model_id = self.embedder.model_id
        dense = query.model_copy(update={"vector": vector, "model_id": model_id})
        search, live = partial(self.warm.search, scope), partial(self.words.live, scope, dense)
        try:
            by_vector = (await standing_only(scope, dense, search, live)).found
        except TierError:
            # The index can be rebuilt and may be down; the words are in the cold tier.
            by_vector = ()
        return [one.id for one in (*by_vector, *by_words)]

    async def _nearest(self, fact: Fact, found: Sequence[Fact]) -> tuple[Fact, ...]:
        """Return facts by how near they are: by vector where there is one, then by words."""
        if len(found) > self.nearest:
            await self._make_vectors([one.text for one in found])
        own = self.vectors.get(fact.text)
        reading = read(fact.text)

        def nearness(one: Fact) -> tuple[float, float]:
            other = self.vectors.get(one.text)
            near = 0.0 if own is None or other is None else cosine(own, other)
            shared = overlap(reading, read(one.text))
            return (max(near, shared), shared)

        by_age = sorted(found, key=said_order)
        return tuple(sorted(by_age, key=nearness, reverse=True))

    async def _make_vectors(self, texts: Sequence[str]) -> None:
        new = [text for text in dict.fromkeys(texts) if text not in self.vectors]
        if self.embedder is None or not new:
            return
        try:
            made = await self.embedder.embed(new)
        except EzraError:
            return
        self.vectors.update(zip(new, made, strict=True))


def _sight_of(fact: Fact) -> Scope:
    """Return what may be seen of what a fact is compared with: of its owner and topics."""
    return Scope(
        tenant=fact.tenant,
        graph_id=fact.graph_id,
        agent_id=fact.agent_id if fact.private else None,
        user_id=fact.user_id,
        topics=fact.topics or (ALL_TOPICS,),
    )


def _comparable(one: Fact, fact: Fact) -> bool:
    if not is_live(one) or not (may_give_way(one, fact) or may_give_way(fact, one)):
        return False
    return one.judged_at is not None or said_order(one) < said_order(fact)


def cosine(one: Vector, two: Vector) -> float:
    """Return the cosine of two vectors of unit length."""
    return max(-1.0, min(1.0, math.fsum(a * b for a, b in zip(one, two, strict=True))))

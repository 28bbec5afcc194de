"""Recall of archival facts: what an index and the words rank, of it what stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ...forms import hit_of
from ...records import Fact, Hit, Scope, SearchQuery
from ..archival import reciprocal_ranks
from ..conditions import Condition, Is
from ..ownership import in_order
from ..port import Steps, every
from .questions import among, equal
from .statements import FACTS, nearest, stood_at
from .word_search import narrowing, ranked, words_of

FACTS_PER_READ = 8


class Ranking(NamedTuple):
    """What an index ranks.

    Attributes:
        ids: Of facts, best first; without an index there are none.
        weighs_words: Whether it has weighed the words of all that it has, besides their meaning.
        cosines: How close facts are to the question, where it says so.
    """

    ids: Sequence[str] = ()
    weighs_words: bool = False
    cosines: Mapping[str, float | None] = {}


def recalled(
    asker: Scope, query: SearchQuery, limit: int, by_index: Ranking
) -> Steps[tuple[Hit, ...]]:
    """Return the best archival facts by what an index and the words rank.

    Args:
        asker: Who asks.
        query: What for, as both are asked it.
        limit: How many.
        by_index: What the index ranks best. Of what it has weighed by words too, words alone bring
            in only what it does not have yet.
    """
    words = yield from words_of(asker, query)
    found = [] if words is None else (yield from ranked(asker, query, words))
    by_words = [one.id if one.words_only or not by_index.weighs_words else None for one in found]
    scores = reciprocal_ranks(by_index.ids, by_words)
    best = yield from _best(asker, query, list(scores), limit)
    return tuple(
        hit_of(fact, scores[fact.id], asker.graph_id, by_index.cosines.get(fact.id))
        for fact in best
    )


def live_among(asker: Scope, query: SearchQuery, ids: Sequence[str]) -> Steps[list[Fact]]:
    """Return those of some facts that a question may find."""
    return every(among(FACTS, asker, ids, *asked_of(query)))


def _best(
    asker: Scope, query: SearchQuery, best_first: Sequence[str], limit: int
) -> Steps[list[Fact]]:
    """Return the first ``limit`` of the ranked ids that the question may find.

    Most are, so a batch as large as what is missing usually does.
    """
    best: list[Fact] = []
    start = 0
    while len(best) < limit and start < len(best_first):
        batch = best_first[start : start + max(limit - len(best), FACTS_PER_READ)]
        start += len(batch)
        best += in_order(nearest((yield from live_among(asker, query, batch))), batch)
    return best[:limit]


def asked_of(query: SearchQuery) -> Iterator[Condition]:
    """Yield what a question asks of a fact besides its words."""
    yield from (Is("live", 1),) if query.as_of is None else stood_at(query.as_of)
    yield from equal(tier=query.tier)
    yield from narrowing(query)

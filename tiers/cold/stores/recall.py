"""Recall of archival facts: what an index and the words rank, of it what stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ...forms import hit_of
from ...known_records import Everything, Seen, sights_meaning
from ...liveness import WIDEST
from ...ports import WarmStore
from ...records import ALL_TOPICS, Fact, Hit, Scope, SearchQuery
from ..conditions import Condition, Is
from ..ownership import accepted_topics, in_order
from ..port import Steps, asked, every
from .questions import among, equal
from .statements import FACTS, nearest, stood_at
from .word_search import found_by_words, narrowing
from .work import to_be_indexed

LIMIT_MAX = 200
RRF_K = 10
_OVERFETCH_MIN = 20
_OVERFETCH_FACTOR = 2


def narrowed(scope: Scope, topics: Sequence[str] | None) -> Scope:
    """Return the scope with no topics but those given that it holds; ``None`` leaves it as it is.

    Untopiced records stay visible. Nothing is ever added: of an agent that holds every topic the
    given ones remain, of any other the intersection.

    Raises:
        UsageError: A topic is not acceptable.
    """
    if topics is None:
        return scope
    wanted = accepted_topics("scope_topics", topics)
    if ALL_TOPICS in wanted:
        return scope
    if not scope.sees_all_topics:
        wanted = tuple(topic for topic in wanted if topic in scope.topics)
    return scope.model_copy(update={"topics": wanted})


def archival_query(query: SearchQuery, user_id: str | None, limit: int) -> SearchQuery:
    """Return the question as each leg is asked it: archival facts only, and more than ``limit``.

    The vector index may still hold facts that have moved or are over since, so each leg
    fetches more than is returned.
    """
    wide = min(LIMIT_MAX, max(_OVERFETCH_MIN, limit * _OVERFETCH_FACTOR))
    return query.model_copy(
        update={"kinds": ("fact",), "tier": "archival", "user_id": user_id, "limit": wide}
    )


class Ranking(NamedTuple):
    """What an index ranks.

    Attributes:
        ids: Of facts, best first; without an index there are none.
        is_warm: Whether that is the warm tier's. It has weighed the words of all that it has,
            besides their meaning; and it is behind: what it lacks waits as work, and what it ranks
            may have moved or be over.
        may_have_more: Whether it would rank more if it were asked for more.
        cosines: How close facts are to the question, where it says so.
    """

    ids: Sequence[str] = ()
    is_warm: bool = False
    may_have_more: bool = False
    cosines: Mapping[str, float | None] = {}


async def ranked_by_index(index: WarmStore, asker: Scope, query: SearchQuery) -> Ranking:
    """Return what a vector index ranks best: only which facts, for they are read here."""
    found: Sequence[Seen]
    if sights_meaning(index):
        found = await index.sight(asker, query, Everything())
    else:
        found = await index.search(asker, query)
    cosines = {one.id: one.cosine for one in found}
    may_have_more = len(found) >= query.limit < WIDEST
    return Ranking(tuple(cosines), is_warm=True, may_have_more=may_have_more, cosines=cosines)


def reciprocal_ranks(*rankings: Sequence[str | None]) -> dict[str, float]:
    """Return ids by their summed reciprocal ranks, best first, ties by id.

    Reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009): the sum of ``1 / (RRF_K + rank)``
    over the rankings that name the id, rank counted from 1. ``None`` takes a rank and names nobody.
    """
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, record_id in enumerate(ranking, start=1):
            if record_id is not None:
                scores[record_id] = scores.get(record_id, 0.0) + 1 / (RRF_K + rank)
    best = sorted(scores, key=lambda record_id: (-scores[record_id], record_id))
    return {record_id: scores[record_id] for record_id in best}


FACTS_PER_READ = 8

WAITING_MAX = 32
"""With so much work of indexing it is not looked for whether facts are among it."""


def recalled(
    asker: Scope, query: SearchQuery, limit: int, by_index: Ranking
) -> Steps[tuple[Hit, ...] | None]:
    """Return the best archival facts by what an index and the words rank.

    ``None`` where too little stands of what the index ranks, and it may have more.

    Args:
        asker: Who asks.
        query: What for, as both are asked it.
        limit: How many.
        by_index: What the index ranks best. Where it has weighed words too, words alone bring in
            only what it does not have yet, and are not looked up while it has everything.
    """
    ids, read, by_words = by_index.ids, dict[str, Fact](), list[str | None]()
    if by_index.is_warm:
        stand, waiting = yield from asked(
            among(FACTS, asker, ids, *asked_of(query)), to_be_indexed(asker, WAITING_MAX)
        )
        read = nearest(stand)
        if by_index.may_have_more and len(read) < query.limit:
            return None
        ids = [one for one in ids if one in read][: query.limit]
        if (yield from _lacks_facts(asker, query, [item.key for item in waiting], read)):
            found = yield from found_by_words(asker, query)
            by_words = [one.id if one.words_only else None for one in found]
    else:
        by_words = [one.id for one in (yield from found_by_words(asker, query))]
    scores = reciprocal_ranks(ids, by_words)
    best = yield from _best(asker, query, list(scores), limit, read)
    return tuple(
        hit_of(fact, scores[fact.id], asker.graph_id, by_index.cosines.get(fact.id))
        for fact in best
    )


def _lacks_facts(
    asker: Scope, query: SearchQuery, waiting: Sequence[str], read: Mapping[str, Fact]
) -> Steps[bool]:
    """Whether facts that the question may find wait to be put into the index, as far as is known.

    Args:
        asker: Who asks.
        query: What for.
        waiting: Ids of records that do, ``WAITING_MAX`` at most; turns among them.
        read: Facts that the question may find.
    """
    if len(waiting) >= WAITING_MAX or not read.keys().isdisjoint(waiting):
        return True
    return bool(waiting) and bool((yield from live_among(asker, query, waiting)))


def live_among(asker: Scope, query: SearchQuery, ids: Sequence[str]) -> Steps[list[Fact]]:
    """Return those of some facts that a question may find."""
    return every(among(FACTS, asker, ids, *asked_of(query)))


def _best(
    asker: Scope, query: SearchQuery, best_first: Sequence[str], limit: int, read: dict[str, Fact]
) -> Steps[list[Fact]]:
    """Return the first ``limit`` of the ranked ids that the question may find.

    Most are, so a batch as large as what is missing usually does. What is ``read`` already is not
    read again.
    """
    best: list[Fact] = []
    start = 0
    while len(best) < limit and start < len(best_first):
        batch = best_first[start : start + max(limit - len(best), FACTS_PER_READ)]
        start += len(batch)
        unread = [one for one in batch if one not in read]
        found = nearest((yield from live_among(asker, query, unread))) if unread else {}
        best += in_order(read | found, batch)
    return best[:limit]


def asked_of(query: SearchQuery) -> Iterator[Condition]:
    """Yield what a question asks of a fact besides its words."""
    yield from (Is("live", 1),) if query.as_of is None else stood_at(query.as_of)
    yield from equal(tier=query.tier)
    yield from narrowing(query)

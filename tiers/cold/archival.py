"""How archival facts are recalled, whatever engine holds them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence

from ..ports import WarmStore
from ..records import ALL_TOPICS, Hit, Scope, SearchQuery
from ..standing import RecordKey, standing_only
from .topics import accepted_topics

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


async def ranked_by_index(
    index: WarmStore | None,
    asker: Scope,
    query: SearchQuery,
    live: Callable[[Sequence[str]], Awaitable[Iterable[str]]],
) -> Sequence[Hit]:
    """Return what a vector index ranks best, of it only archival facts that are live.

    Args:
        index: Which; ``None`` ranks nothing.
        asker: Who asks.
        query: What for.
        live: Says which facts of the asker's graph the cold tier would answer with.
    """
    if index is None:
        return []
    search = index.search

    async def standing(keys: Sequence[RecordKey]) -> frozenset[RecordKey]:
        ids = await live([record_id for _, record_id in keys])
        return frozenset((asker.graph_id, record_id) for record_id in ids)

    found = await standing_only(asker, query, lambda asked: search(asker, asked), standing)
    return [one for one in found.found if isinstance(one, Hit)]


def reciprocal_ranks(*rankings: Sequence[str | None], k: int = RRF_K) -> dict[str, float]:
    """Return ids by their summed reciprocal ranks, best first, ties by id.

    Reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009): the sum of ``1 / (k + rank)`` over
    the rankings that name the id, rank counted from 1. ``None`` takes a rank and names nobody.
    """
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, record_id in enumerate(ranking, start=1):
            if record_id is not None:
                scores[record_id] = scores.get(record_id, 0.0) + 1 / (k + rank)
    best = sorted(scores, key=lambda record_id: (-scores[record_id], record_id))
    return {record_id: scores[record_id] for record_id in best}

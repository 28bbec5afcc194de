"""How archival facts are recalled, whatever engine holds them. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from ..records import ALL_TOPICS, Scope, SearchQuery
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

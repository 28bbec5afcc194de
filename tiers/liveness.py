"""What an index finds, of it only what still stands: entries may be a moment behind the records.

An index is written by queued work, so it may hold what was forgotten, superseded, reverted or
redacted since. Whoever answers with what it finds asks the cold tier first, and asks the index for
more where that leaves too little: what is over must take nobody's place.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple, TypeAlias

from .known_records import Seen, Sighted
from .records import Scope, SearchQuery

WIDENED = 4
WIDEST = 12_800
"""An index is asked for four times as many again and again, and for no more than this."""

RecordKey: TypeAlias = tuple[str, str]
"""Names a record among those of several graphs: the graph's id and its own."""


class Standing(NamedTuple):
    """What an index found, of it what stands.

    Attributes:
        found: Best first, at most as many as were asked for.
        is_whole: Whether nothing is missing that the index might have had behind what is over.
    """

    found: tuple[Seen, ...]
    is_whole: bool = True


async def standing_only(
    scope: Scope,
    query: SearchQuery,
    search: Callable[[SearchQuery], Awaitable[Sequence[Seen]]],
    live: Callable[[Sequence[RecordKey]], Awaitable[AbstractSet[RecordKey] | None]],
) -> Standing:
    """Return the best of an index that stand, asking it for more where others took the places.

    Args:
        scope: Who asks.
        query: What for.
        search: Asks the index.
        live: Says which of these records stand; ``None`` where nobody knows, and all remain.
    """
    asked = query
    while True:
        found = await search(asked)
        known = await live([key_of(scope, one) for one in found]) if found else frozenset()
        if known is None:
            return Standing(tuple(found[: query.limit]))
        standing = tuple(one for one in found if key_of(scope, one) in known)
        has_all = len(found) < asked.limit or len(standing) >= query.limit
        if has_all or asked.limit >= WIDEST:
            return Standing(standing[: query.limit], is_whole=has_all)
        asked = widened(asked)


def widened(query: SearchQuery) -> SearchQuery:
    """Return the question as it is put once more to an index of which too little stands."""
    return query.model_copy(update={"limit": min(WIDEST, query.limit * WIDENED)})


def key_of(scope: Scope, one: Seen) -> RecordKey:
    """Return which record was found; what is told by its id alone is of the own graph."""
    return (scope.graph_id if isinstance(one, Sighted) else one.graph_id, one.id)


def by_graph(
    scope: Scope, query: SearchQuery, keys: Iterable[RecordKey]
) -> Iterator[tuple[Scope, SearchQuery, list[str]]]:
    """Yield for each graph that records are of, with what scope and query it is asked for them.

    An ancestor is asked for the kinds that it carries, and for what stands now, whatever the
    moment it is read as of: what it has forgotten is so at every moment. Others are not asked.
    """
    ids: dict[str, list[str]] = {}
    for graph_id, record_id in keys:
        ids.setdefault(graph_id, []).append(record_id)
    if scope.graph_id in ids:
        yield scope, query, ids[scope.graph_id]
    for one in scope.carrying(*query.kinds):
        if one.graph_id in ids:
            kinds = tuple(kind for kind in query.kinds if kind in one.carries)
            # An agent of the same id in another graph is another writer.
            there = {"graph_id": one.graph_id, "agent_id": None, "lineage": ()}
            asked = query.model_copy(update={"kinds": kinds, "as_of": None})
            yield scope.model_copy(update=there), asked, ids[one.graph_id]

"""The points of one shard: each command to the engine in one place, behind the guard."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, TypeAlias
from uuid import UUID

import qdrant_edge as edge

from .edge_folder import READ_BYTES_MIN, WRITE_BYTES_MIN, EngineCall, OpenShard, Room
from .edge_readers import READERS, parted, readable, readers_of
from .filters import Absent, AnyOf, Between, Condition, Either, NoneOf, PointIds, Predicate
from .guard import Bounds, check_filter, check_found, check_points
from .ranking import Candidates, FoundId, Held, all_rounded
from .store import ALL, Chosen, Leg, NewPoint, Offset, Show, dense_of

CONDITIONS_REMEMBERED = 2_000
"""Of names: those of a scope come with each of its questions."""


Part: TypeAlias = (
    edge.FieldCondition
    | edge.IsEmptyCondition
    | edge.IsNullCondition
    | edge.HasIdCondition
    | edge.HasVectorCondition
    | edge.NestedCondition
    | edge.Filter
)
"""What the engine takes as a condition."""


def rendered(predicate: Predicate) -> edge.Filter:
    """Return the engine's filter."""
    return edge.Filter(must=conditions(predicate))


def conditions(predicate: Predicate) -> list[Part]:
    """Return what must hold, each in the engine's terms."""
    return [_condition(condition) for condition in predicate]


def _condition(condition: Condition) -> Part:
    match condition:
        case AnyOf(key, values, common):
            return _any_of(key, values, common=common)
        case NoneOf(key, values):
            return edge.Filter(must_not=[_equal(key, values)])
        case Between(key, since, until):
            return edge.FieldCondition(key, range=edge.RangeFloat(gte=since, lt=until))
        case Absent(key):
            return edge.FieldCondition(key, is_empty=True)
        case PointIds(ids):
            return edge.HasIdCondition(set(ids))
        case Either(alternatives):
            return edge.Filter(should=[rendered(one) for one in alternatives])


@lru_cache(maxsize=CONDITIONS_REMEMBERED)
def _any_of(
    key: str, values: tuple[str, ...], *, common: bool
) -> edge.FieldCondition | edge.Filter:
    found = _equal(key, values)
    return _not_to_begin_with(found) if common and len(values) > 1 else found


def _not_to_begin_with(condition: edge.FieldCondition) -> edge.Filter:
    """Return what means the same, and is only looked at in what other conditions have found.

    The engine begins with the condition that seems to let the fewest pass. One of several values
    that lets most pass seems no worse than the graph's, and is far: it collects the points of all
    values and drops repeated ones. In a graph of 100,000 a search took 46 ms of processor time
    that way, 19 ms this way.
    """
    return edge.Filter(must_not=[edge.Filter(must_not=[condition])])


def _equal(key: str, values: tuple[str, ...]) -> edge.FieldCondition:
    if len(values) == 1:
        return edge.FieldCondition(key, match=edge.MatchValue(values[0]))
    return edge.FieldCondition(key, match=edge.MatchAny(list(values)))


FILTERS_REMEMBERED = 1_000
"""Of scopes and kinds: their questions differ in the moment alone."""

_PASSING = (Between, PointIds)

_AS_WRITTEN = edge.PayloadSelector.Exclude([READERS])
"""What was given to be stored, without what is stored to find it."""


class EdgePoints:
    """``IndexPoints`` of one shard."""

    def __init__(self, shard: OpenShard) -> None:
        self._shard = shard
        self._room = Room(shard.folder)

    async def write(self, operation: str, bounds: Bounds, points: Sequence[NewPoint]) -> None:
        """Put points under their ids, whole."""
        await self._shard.prepare_for(len(points), operation)
        with self._call(operation, WRITE_BYTES_MIN):
            written = [edge.Point(one.id, dict(one.vectors), _stored(one)) for one in points]
            check_points(operation, bounds, written)
            self._shard.engine.update(edge.UpdateOperation.upsert_points(written))

    async def remove(self, chosen: Chosen) -> None:
        """Remove points."""
        with self._call(chosen.operation, WRITE_BYTES_MIN):
            update = edge.UpdateOperation.delete_points_by_filter(_checked(chosen))
            self._shard.engine.update(update)

    async def count(self, chosen: Chosen) -> int:
        """Return exactly how many there are."""
        with self._call(chosen.operation):
            return self._shard.engine.count(edge.CountRequest(exact=True, filter=_checked(chosen)))

    async def page(
        self, chosen: Chosen, limit: int, offset: Offset | None = None, show: Show = ALL
    ) -> tuple[list[edge.Record], Offset | None]:
        """Return points in order of id from ``offset`` on, and where to go on."""
        with self._call(chosen.operation):
            request = edge.ScrollRequest(
                offset=offset,
                limit=limit,
                filter=_checked(chosen),
                with_payload=bool(show.payload),
                with_vector=list(show.vectors) or False,
            )
            return self._shard.engine.scroll(request)

    async def nearest(self, chosen: Chosen, legs: Sequence[Leg], limit: int) -> list[Candidates]:
        """Return the best points of each leg."""
        with self._call(chosen.operation):
            return [_candidates(points) for points in self._answers(chosen, legs, limit)]

    async def found(
        self, chosen: Chosen, found_ids: Sequence[FoundId], show: Show = ALL
    ) -> dict[FoundId, Held]:
        """Return what is stored under ids that ``nearest`` gave, by id.

        They still meet the condition: nothing else has run since.
        """
        with self._call(chosen.operation):
            points = self._shard.engine.retrieve(
                [UUID(int=int(one)) for one in found_ids],
                with_payload=_AS_WRITTEN,
                with_vector=list(show.vectors) or False,
            )
            stored: dict[FoundId, Held] = {
                _number(one.id): Held(one.payload or {}, dense_of(one)) for one in points
            }
            payloads = [held.payload for held in stored.values()]
            check_found(chosen.operation, chosen.bounds, payloads)
            return stored

    def flush(self, operation: str) -> None:
        """Write everything out."""
        with self._call(operation):
            self._shard.engine.flush()

    def _call(self, operation: str, bytes_min: int = READ_BYTES_MIN) -> EngineCall:
        self._room.check(operation, bytes_min)
        return EngineCall(operation)

    def _answers(
        self, chosen: Chosen, legs: Sequence[Leg], limit: int
    ) -> list[list[edge.ScoredPoint]]:
        requests = [_requests(chosen, leg, limit) for leg in legs]
        sent = list(chain.from_iterable(requests))
        if len(sent) == 1:
            return [self._shard.engine.query(sent[0])]
        answers = iter(self._shard.engine.query_batch(edge.QueryBatchRequest(sent)))
        return [_merged([next(answers) for _ in parts], limit) for parts in requests]


def _stored(point: NewPoint) -> dict[str, Any]:
    """Return what is written beside a point's vectors."""
    return {**point.payload, READERS: readers_of(point.payload)}


def _requests(chosen: Chosen, leg: Leg, limit: int) -> list[edge.QueryRequest]:
    """Return what finds the best points of a leg: those of each part of what may be found."""
    return [
        edge.QueryRequest(
            limit=limit,
            query=edge.Query.Nearest(leg.query, using=leg.using),
            # Exact also if somebody should ever let the engine build a graph over the vectors.
            params=edge.SearchParams(exact=True, idf=_corpus(chosen, leg)),
            filter=visible,
        )
        for visible in _visible(chosen, leg)
    ]


def _merged(parts: list[list[edge.ScoredPoint]], limit: int) -> list[edge.ScoredPoint]:
    """Return the best of what parts without a point in common have found, best first."""
    found = [points for points in parts if points]
    if len(found) < 2:  # noqa: PLR2004 - nothing to merge
        return found[0] if found else []
    return sorted(chain.from_iterable(found), key=lambda one: -one.score)[:limit]


def _candidates(points: Sequence[edge.ScoredPoint]) -> Candidates:
    """Return points as candidates: hundreds a turn, so a step at a time for all of them."""
    found_ids = [one.id for one in points]
    numbers: list[FoundId] = [one.int if isinstance(one, UUID) else int(one) for one in found_ids]
    return Candidates(all_rounded([one.score for one in points]), numbers)


def _number(point_id: Offset) -> int:
    """Return a point's id as a number, which compares at once; its text takes a while to make."""
    return point_id.int if isinstance(point_id, UUID) else int(point_id)


def _visible(chosen: Chosen, leg: Leg) -> list[edge.Filter]:
    """Return what a leg may find, in one part, or in two that have no point in common.

    Words are looked up, and few points have them; vectors are compared with those of all points.
    """
    lasting, moments = _apart(chosen.condition)
    kept = (chosen.operation, chosen.bounds, lasting)
    parts = None if isinstance(leg.query, edge.SparseVector) else parted(moments)
    by_names = None if parts is None else _by_names(*kept)
    if parts is None or by_names is None:
        return [_narrowed(*kept, moments)]
    unlimited, limited = parts
    names, known = by_names
    named = edge.Filter(must=[*known, *conditions(unlimited)], should=list(names))
    return [named, _narrowed(*kept, limited)]


def _checked(chosen: Chosen) -> edge.Filter:
    """Return the engine's filter, which the guard has looked at.

    Most of it is the same from question to question: that is rendered and looked at once. Moments
    and ids come on top, and only narrow it.
    """
    return _narrowed(chosen.operation, chosen.bounds, *_apart(chosen.condition))


def _narrowed(
    operation: str, bounds: Bounds, lasting: Predicate, passing: Predicate
) -> edge.Filter:
    known = _lasting(operation, bounds, lasting)
    return edge.Filter(must=[*known, *conditions(passing)])


def _apart(condition: Predicate) -> tuple[Predicate, Predicate]:
    """Return what is the same from question to question, and moments and ids."""
    lasting = tuple(one for one in condition if not isinstance(one, _PASSING))
    return lasting, tuple(one for one in condition if isinstance(one, _PASSING))


@lru_cache(maxsize=FILTERS_REMEMBERED)
def _by_names(
    operation: str, bounds: Bounds, condition: Predicate
) -> tuple[tuple[Part, ...], tuple[Part, ...]] | None:
    """Return the names of who asks, and what must hold besides, as the guard has looked at them."""
    found = readable(condition)
    if found is None:
        return None
    names = [_equal(READERS, (name,)) for name in found.names]
    besides = conditions(found.conditions)
    check_filter(operation, bounds, edge.Filter(must=besides, should=list(names)))
    return tuple(names), tuple(besides)


@lru_cache(maxsize=FILTERS_REMEMBERED)
def _lasting(operation: str, bounds: Bounds, condition: Predicate) -> tuple[Part, ...]:
    theirs = conditions(condition)
    check_filter(operation, bounds, edge.Filter(must=theirs))
    return tuple(theirs)


def _corpus(chosen: Chosen, leg: Leg) -> edge.IdfParams | None:
    """Return where it is counted how rare words are."""
    if not isinstance(leg.query, edge.SparseVector):
        return None
    if any(isinstance(one, _PASSING) for one in leg.counted):
        return edge.IdfParams(corpus=_checked(chosen._replace(condition=leg.counted)))
    return _lasting_corpus(chosen.operation, chosen.bounds, leg.counted)


@lru_cache(maxsize=FILTERS_REMEMBERED)
def _lasting_corpus(operation: str, bounds: Bounds, condition: Predicate) -> edge.IdfParams:
    return edge.IdfParams(corpus=edge.Filter(must=list(_lasting(operation, bounds, condition))))

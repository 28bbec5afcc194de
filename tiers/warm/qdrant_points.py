"""The points of one collection: each request to the server in one place, behind the guard."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TypeVar

from qdrant_client import AsyncQdrantClient, models
from qdrant_edge import SparseVector

from .filters import Absent, AnyOf, Between, Condition, Either, NoneOf, PointIds, Predicate
from .guard import Bounds, check_filter, check_points
from .qdrant_calls import QdrantCalls
from .qdrant_collection import dense_params
from .qdrant_options import QdrantOptions
from .ranking import Candidates, FoundId, Held, rounded
from .store import ALL, Chosen, Leg, NewPoint, Offset, Show, Vector, dense_of

T = TypeVar("T")


def rendered(predicate: Predicate) -> models.Filter:
    """Return the engine's filter."""
    return models.Filter(must=[_condition(condition) for condition in predicate])


def _equal(key: str, values: tuple[str, ...]) -> models.FieldCondition:
    """Return the condition that a key, or one of its elements, equals one of the values."""
    if len(values) == 1:
        return models.FieldCondition(key=key, match=models.MatchValue(value=values[0]))
    return models.FieldCondition(key=key, match=models.MatchAny(any=list(values)))


def _condition(condition: Condition) -> models.Condition:
    match condition:
        case AnyOf(key, values):
            return _equal(key, values)
        case NoneOf(key, values):
            return models.Filter(must_not=[_equal(key, values)])
        case Between(key, since, until):
            return models.FieldCondition(key=key, range=models.Range(gte=since, lt=until))
        case Absent(key):
            return models.FieldCondition(key=key, is_empty=True)
        case PointIds(ids):
            return models.HasIdCondition(has_id=list(ids))
        case Either(alternatives):
            return models.Filter(should=[rendered(one) for one in alternatives])


class QdrantPoints:
    """``IndexPoints`` of one collection."""

    def __init__(self, client: AsyncQdrantClient, collection: str, options: QdrantOptions) -> None:
        self._client = client
        self._collection = collection
        self._calls = QdrantCalls(options.timeout_seconds)
        self._dense_params = dense_params(options)

    def _timed(
        self, call: Callable[..., Awaitable[T]], **arguments: object
    ) -> Callable[[], Awaitable[T]]:
        """Return a call about the collection, for which the server has less time than we have."""
        seconds = self._calls.server_seconds
        return partial(call, self._collection, timeout=seconds, **arguments)

    async def write(self, operation: str, bounds: Bounds, points: Sequence[NewPoint]) -> None:
        """Put points under their ids, whole, and wait until they can be found."""
        made = [_point_struct(point) for point in points]
        check_points(operation, bounds, made)
        await self._calls.done(operation, self._timed(self._client.upsert, points=made, wait=True))

    async def remove(self, chosen: Chosen) -> None:
        """Remove points, and wait until they are gone."""
        theirs = models.FilterSelector(filter=_checked(chosen))
        removal = self._timed(self._client.delete, points_selector=theirs, wait=True)
        await self._calls.done(chosen.operation, removal)

    async def count(self, chosen: Chosen) -> int:
        """Return exactly how many there are."""
        return await self._count(chosen.operation, _checked(chosen))

    async def count_of_everybody(self, operation: str) -> int:
        """Return exactly how many points there are, whoever's, marks included."""
        return await self._count(operation, None)

    async def _count(self, operation: str, condition: models.Filter | None) -> int:
        counting = self._timed(self._client.count, count_filter=condition, exact=True)
        return (await self._calls.answer(operation, counting)).count

    async def page(
        self, chosen: Chosen, limit: int, offset: Offset | None = None, show: Show = ALL
    ) -> tuple[list[models.Record], Offset | None]:
        """Return points in order of id from ``offset`` on, and where to go on."""
        theirs, keys = _checked(chosen), show.payload
        scrolling = self._timed(
            self._client.scroll,
            scroll_filter=theirs,
            limit=limit,
            offset=offset,
            with_payload=keys if isinstance(keys, bool) else [*keys],
            with_vectors=list(show.vectors) or False,
        )
        return await self._calls.answer(chosen.operation, scrolling)

    async def nearest(self, chosen: Chosen, legs: Sequence[Leg], limit: int) -> list[Candidates]:
        """Return the best points of each leg. One request: the legs see the same points."""
        visible = _checked(chosen)
        requests = [
            models.QueryRequest(
                query=_sent(leg.query),
                using=leg.using,
                params=self._params(chosen, leg),
                filter=visible,
                limit=limit,
                with_payload=False,
            )
            for leg in legs
        ]
        asking = self._timed(self._client.query_batch_points, requests=requests)
        responses = await self._calls.answer(chosen.operation, asking)
        return [
            Candidates(
                [rounded(one.score) for one in response.points],
                [str(one.id) for one in response.points],
            )
            for response in responses
        ]

    async def found(
        self, chosen: Chosen, found_ids: Sequence[FoundId], show: Show = ALL
    ) -> dict[FoundId, Held]:
        """Return what is stored under ids that ``nearest`` gave, as far as it still is."""
        still = (*chosen.condition, PointIds(tuple(map(str, found_ids))))
        points, _ = await self.page(chosen._replace(condition=still), len(found_ids), show=show)
        return {str(one.id): Held(one.payload or {}, dense_of(one)) for one in points}

    def _params(self, chosen: Chosen, leg: Leg) -> models.SearchParams | None:
        """Return how meaning is compared, or where it is counted how rare words are."""
        if not isinstance(leg.query, SparseVector):
            return self._dense_params
        counted = _checked(chosen._replace(condition=leg.counted))
        return models.SearchParams(idf=models.IdfCorpusParams(corpus=counted))


def _checked(chosen: Chosen) -> models.Filter:
    """Return the engine's filter, which the guard has looked at."""
    theirs = rendered(chosen.condition)
    check_filter(chosen.operation, chosen.bounds, theirs)
    return theirs


def _point_struct(point: NewPoint) -> models.PointStruct:
    vectors: dict[str, models.Vector] = {name: _sent(one) for name, one in point.vectors.items()}
    # Not validated a second time: it takes twice as long as all the rest.
    return models.PointStruct.model_construct(id=point.id, vector=vectors, payload=point.payload)


def _sent(vector: Vector) -> list[float] | models.SparseVector:
    if isinstance(vector, SparseVector):
        return models.SparseVector(indices=vector.indices, values=vector.values)
    return vector

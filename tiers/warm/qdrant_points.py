"""The points of one collection: each request to the server in one place, behind the guard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from qdrant_client import AsyncQdrantClient, models

from .guard import Bounds, check_filter, check_points
from .qdrant_calls import QdrantCalls
from .qdrant_options import QdrantOptions

Offset = models.ExtendedPointId


class Leg(NamedTuple):
    """One way to look for points: by direction, or by words and how rare they are somewhere."""

    query: list[float] | models.SparseVector
    using: str
    params: models.SearchParams | None = None
    counted: models.Filter | None = None


class QdrantPoints:
    """Requests about the points of one collection; each says whose points it may touch."""

    def __init__(self, client: AsyncQdrantClient, collection: str, options: QdrantOptions) -> None:
        self._client = client
        self._collection = collection
        self._calls = QdrantCalls(options.timeout_seconds)
        self._consistency = _consistency(options)

    async def write(
        self, operation: str, bounds: Bounds, points: Sequence[models.PointStruct]
    ) -> None:
        """Put points under their ids, whole, and wait until they can be found."""
        check_points(operation, bounds, points)
        await self._calls.done(
            operation,
            lambda: self._client.upsert(
                self._collection,
                list(points),
                wait=True,
                timeout=self._calls.server_seconds,
            ),
        )

    async def remove(self, operation: str, bounds: Bounds, condition: models.Filter) -> None:
        """Remove what meets the condition, and wait until it is gone."""
        check_filter(operation, bounds, condition)
        await self._calls.done(
            operation,
            lambda: self._client.delete(
                self._collection,
                models.FilterSelector(filter=condition),
                wait=True,
                timeout=self._calls.server_seconds,
            ),
        )

    async def count(self, operation: str, bounds: Bounds, condition: models.Filter) -> int:
        """Return exactly how many points meet the condition."""
        check_filter(operation, bounds, condition)
        return await self._count(operation, condition)

    async def count_of_everybody(self, operation: str) -> int:
        """Return exactly how many points there are, whoever's, marks included."""
        return await self._count(operation, None)

    async def _count(self, operation: str, condition: models.Filter | None) -> int:
        counted = await self._calls.answer(
            operation,
            lambda: self._client.count(
                self._collection,
                count_filter=condition,
                exact=True,
                timeout=self._calls.server_seconds,
            ),
        )
        return counted.count

    async def page(
        self,
        operation: str,
        bounds: Bounds,
        condition: models.Filter,
        limit: int,
        *,
        offset: Offset | None = None,
        with_payload: bool | Sequence[str] = True,
        with_vectors: Sequence[str] = (),
    ) -> tuple[list[models.Record], Offset | None]:
        """Return points in order of id from ``offset`` on, and where to go on."""
        check_filter(operation, bounds, condition)
        return await self._calls.answer(
            operation,
            lambda: self._client.scroll(
                self._collection,
                scroll_filter=condition,
                limit=limit,
                offset=offset,
                with_payload=with_payload if isinstance(with_payload, bool) else [*with_payload],
                with_vectors=list(with_vectors) or False,
                consistency=self._consistency,
                timeout=self._calls.server_seconds,
            ),
        )

    async def nearest(
        self,
        operation: str,
        bounds: Bounds,
        legs: Sequence[Leg],
        condition: models.Filter,
        limit: int,
    ) -> list[list[models.ScoredPoint]]:
        """Return the best points of each leg, without their payloads.

        One request: the legs see the same points. Words are weighed by points inside the bounds
        too: without a condition the engine would count those of everybody.
        """
        check_filter(operation, bounds, condition)
        for leg in legs:
            if leg.counted is not None or isinstance(leg.query, models.SparseVector):
                check_filter(operation, bounds, leg.counted)
        requests = [
            models.QueryRequest(
                query=leg.query,
                using=leg.using,
                params=_params(leg),
                filter=condition,
                limit=limit,
                with_payload=False,
            )
            for leg in legs
        ]
        responses = await self._calls.answer(
            operation,
            lambda: self._client.query_batch_points(
                self._collection,
                requests,
                consistency=self._consistency,
                timeout=self._calls.server_seconds,
            ),
        )
        return [response.points for response in responses]


def _params(leg: Leg) -> models.SearchParams | None:
    if leg.counted is None:
        return leg.params
    return models.SearchParams(idf=models.IdfCorpusParams(corpus=leg.counted))


def _consistency(options: QdrantOptions) -> models.ReadConsistency | None:
    wanted = options.read_consistency
    return models.ReadConsistencyType(wanted) if isinstance(wanted, str) else wanted

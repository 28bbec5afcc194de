"""The points of one shard: each command to the engine in one place, behind the guard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias
from uuid import UUID

from qdrant_edge import (
    CountRequest,
    Filter,
    IdfParams,
    Point,
    Query,
    QueryRequest,
    Record,
    ScoredPoint,
    ScrollRequest,
    SearchParams,
    SparseVector,
    UpdateOperation,
)

from .disk import READ_BYTES_MIN, WRITE_BYTES_MIN, check_room
from .edge_folder import EngineCall, OpenShard
from .guard import Bounds, check_filter, check_found, check_points
from .ranking import Candidate, Payload, Stored

Offset: TypeAlias = int | str | UUID


class Leg(NamedTuple):
    """One way to look for points: by direction, or by words and how rare they are somewhere."""

    query: list[float] | SparseVector
    using: str
    counted: Filter | None = None


class EdgePoints:
    """Commands about the points of one shard; each says whose points it may touch."""

    def __init__(self, shard: OpenShard) -> None:
        self._shard = shard

    def write(self, operation: str, bounds: Bounds, points: list[Point]) -> None:
        """Put points under their ids, whole."""
        check_room(self._shard.folder, operation, WRITE_BYTES_MIN)
        with EngineCall(operation):
            check_points(operation, bounds, points)
            self._shard.engine.update(UpdateOperation.upsert_points(points))

    def remove(self, operation: str, bounds: Bounds, condition: Filter) -> None:
        """Remove what meets the condition."""
        check_room(self._shard.folder, operation, WRITE_BYTES_MIN)
        with EngineCall(operation):
            check_filter(operation, bounds, condition)
            self._shard.engine.update(UpdateOperation.delete_points_by_filter(condition))

    def count(self, operation: str, bounds: Bounds, condition: Filter) -> int:
        """Return exactly how many points meet the condition."""
        check_room(self._shard.folder, operation, READ_BYTES_MIN)
        with EngineCall(operation):
            check_filter(operation, bounds, condition)
            return self._shard.engine.count(CountRequest(exact=True, filter=condition))

    def page(
        self,
        operation: str,
        bounds: Bounds,
        condition: Filter,
        limit: int,
        *,
        offset: Offset | None = None,
        with_payload: bool = False,
        with_vectors: Sequence[str] = (),
    ) -> tuple[list[Record], Offset | None]:
        """Return points in order of id from ``offset`` on, and where to go on."""
        request = ScrollRequest(
            offset=offset,
            limit=limit,
            filter=condition,
            with_payload=with_payload,
            with_vector=list(with_vectors) or False,
        )
        check_room(self._shard.folder, operation, READ_BYTES_MIN)
        with EngineCall(operation):
            check_filter(operation, bounds, condition)
            return self._shard.engine.scroll(request)

    def nearest(
        self,
        operation: str,
        bounds: Bounds,
        legs: Sequence[Leg],
        condition: Filter,
        limit: int,
    ) -> list[list[Candidate]]:
        """Return the best points of each leg.

        Words are weighed by points inside the bounds too: without a condition the engine would
        count those of everybody.
        """
        with EngineCall(operation):
            answers = self._answers(operation, bounds, legs, condition, limit)
            return [[Candidate(one.score, str(one.id)) for one in points] for points in answers]

    def nearest_stored(
        self, operation: str, bounds: Bounds, leg: Leg, condition: Filter, limit: int
    ) -> list[Stored]:
        """Return the best points of one leg with what is stored for them.

        Reading that at once takes a fifth of the time of fetching it behind.
        """
        with EngineCall(operation):
            (points,) = self._answers(operation, bounds, [leg], condition, limit, with_payload=True)
            # The engine makes a payload anew whenever it is looked at.
            found = [Stored(one.score, one.payload or {}) for one in points]
            check_found(operation, bounds, [one.payload for one in found])
            return found

    def _answers(
        self,
        operation: str,
        bounds: Bounds,
        legs: Sequence[Leg],
        condition: Filter,
        limit: int,
        *,
        with_payload: bool = False,
    ) -> list[list[ScoredPoint]]:
        check_room(self._shard.folder, operation, READ_BYTES_MIN)
        check_filter(operation, bounds, condition)
        for leg in legs:
            if leg.counted is not None or isinstance(leg.query, SparseVector):
                check_filter(operation, bounds, leg.counted)
        requests = [_request(leg, condition, limit, with_payload) for leg in legs]
        return [self._shard.engine.query(request) for request in requests]

    def found(self, operation: str, bounds: Bounds, point_ids: Sequence[str]) -> dict[str, Payload]:
        """Return what is stored under ids that ``nearest`` gave, by id."""
        check_room(self._shard.folder, operation, READ_BYTES_MIN)
        with EngineCall(operation):
            points = self._shard.engine.retrieve(
                list(point_ids), with_payload=True, with_vector=False
            )
            stored: dict[str, Payload] = {str(point.id): point.payload or {} for point in points}
            check_found(operation, bounds, stored.values())
            return stored

    def flush(self, operation: str) -> None:
        """Write everything out."""
        check_room(self._shard.folder, operation, READ_BYTES_MIN)
        with EngineCall(operation):
            self._shard.engine.flush()


def _request(leg: Leg, condition: Filter, limit: int, with_payload: bool) -> QueryRequest:  # noqa: FBT001
    corpus = None if leg.counted is None else IdfParams(corpus=leg.counted)
    return QueryRequest(
        limit=limit,
        query=Query.Nearest(leg.query, using=leg.using),
        # Exact also if somebody should ever let the engine build a graph over the vectors.
        params=SearchParams(exact=True, idf=corpus),
        filter=condition,
        with_payload=with_payload,
    )

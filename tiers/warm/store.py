"""What a warm store does, the same over the points of any engine.

An engine brings its points (``IndexPoints``) and how much of its work fits one step.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from datetime import datetime
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

from qdrant_edge import SparseVector

from ..errors import CorruptRecord, TierUnavailable, UsageError, check_within
from ..moments import moment
from ..paging import parts
from ..ports import Expired
from ..records import Hit, IndexEntry, Kind, Scope, SearchQuery
from ..upkeep import PAGE_ROWS_MAX, Page
from . import filters
from .checks import check_asker, encodable
from .edge_folder import EngineCall
from .filters import Predicate
from .guard import Bounds, of_search, own_graph, whole_tenant
from .payload import (
    AS_IT_IS,
    DENSE,
    LEXICAL,
    NAMED_BY,
    NEVER,
    NO_TOPIC,
    SHARED,
    check_entry,
    check_vector,
    kinds_stored,
    label_of,
    named,
    payload_of,
    point_id,
)
from .ranking import Bm25Words, Candidates, FoundId, Held, answer, best, cosines_to, with_ties

Offset: TypeAlias = int | str | uuid.UUID
Vector: TypeAlias = list[float] | SparseVector

_ItemT = TypeVar("_ItemT")


class Show(NamedTuple):
    """What is wanted of points beside their ids: all of the payload, some keys or none; vectors."""

    payload: bool | Sequence[str] = True
    vectors: Sequence[str] = ()


ALL = Show()
ONLY_IDS = Show(payload=False)


class Chosen(NamedTuple):
    """Which points a command is about, and inside which bounds they must be."""

    operation: str
    bounds: Bounds
    condition: Predicate


class Leg(NamedTuple):
    """One way to look for points: by direction, or by words and how rare they are somewhere."""

    query: Vector
    using: str
    counted: Predicate = ()


class Asked(NamedTuple):
    """A question that something can be found by: what may be, and the one or two ways to it."""

    chosen: Chosen
    legs: list[Leg]
    most: int

    @property
    def meaning(self) -> Sequence[float] | None:
        """The question's vector, where it is asked by meaning; that is the first way then."""
        first = self.legs[0].query
        return None if isinstance(first, SparseVector) else first

    def cosines(self, ranked: Ranked, stored: Mapping[FoundId, Held]) -> dict[FoundId, float]:
        """Return how close points are to the question: those that words alone have found too."""
        if self.meaning is None:
            return ranked.cosines
        others = {one: held for one, held in stored.items() if one not in ranked.cosines}
        return cosines_to(self.meaning, others) | ranked.cosines


class Ranked(NamedTuple):
    """What a search has found, by the engine's ids.

    Attributes:
        scores: Of the best, and those that tie with the last.
        cosines: How close they and others are to the question, where that is known.
    """

    scores: dict[FoundId, float]
    cosines: dict[FoundId, float]


class NewPoint(NamedTuple):
    """A point to be written, whole."""

    id: str
    vectors: dict[str, Vector]
    payload: dict[str, Any]


class StoredPoint(Protocol):
    """A point as either engine gives it, as far as it was asked for."""

    @property
    def id(self) -> Offset:
        """The engine's id."""

    @property
    def payload(self) -> Mapping[str, Any] | None:
        """What is stored beside its vectors."""

    @property
    def vector(self) -> Any:  # noqa: ANN401 - the engine's
        """Its vectors, by name."""


class IndexPoints(Protocol):
    """The points of one index. The guard looks at each command before it leaves."""

    async def write(self, operation: str, bounds: Bounds, points: Sequence[NewPoint]) -> None:
        """Put points under their ids; they can be found then."""

    async def remove(self, chosen: Chosen) -> None:
        """Remove points."""

    async def count(self, chosen: Chosen) -> int:
        """Return exactly how many there are."""

    async def page(
        self, chosen: Chosen, limit: int, offset: Offset | None = None, show: Show = ALL
    ) -> tuple[Sequence[StoredPoint], Offset | None]:
        """Return points in order of id from ``offset`` on, and where to go on."""

    async def nearest(self, chosen: Chosen, legs: Sequence[Leg], limit: int) -> list[Candidates]:
        """Return the best points of each leg.

        Words are weighed by points inside the bounds too: without a condition the engine would
        count those of everybody.
        """

    async def found(
        self, chosen: Chosen, found_ids: Sequence[FoundId], show: Show = ALL
    ) -> dict[FoundId, Held]:
        """Return what is stored under ids that ``nearest`` gave for the same, by id."""


class StepSizes(NamedTuple):
    """Most that is done in one step: of points and characters written, and of ids removed."""

    points: int
    chars: int
    ids: int


class IndexStore:
    """A ``WarmStore`` and ``WarmArchive`` over points.

    Args:
        points: Whatever engine holds them.
        dimensions: Length of the dense vectors.
        rrf_k: How much the fusion favours the first ranks.
        overfetch: Candidates per leg before fusion.
        steps: How much fits one step.
        ties_likely: So many candidates more are looked at because they may tie with the last.
    """

    def __init__(
        self,
        points: IndexPoints,
        *,
        dimensions: int,
        rrf_k: int,
        overfetch: int,
        steps: StepSizes,
        ties_likely: int,
    ) -> None:
        self._points = points
        self._dimensions = dimensions
        self._rrf_k = rrf_k
        self._overfetch = overfetch
        self._steps = steps
        self._ties_likely = ties_likely
        self._words = Bm25Words()
        self._closed = False
        self._changing: AbstractAsyncContextManager[Any] = nullcontext()

    async def upsert(self, scope: Scope, entries: Sequence[IndexEntry]) -> None:
        """Write entries under their ids; of two with one id the later wins.

        Every entry is checked before the first is written, so a bad one writes nothing. A batch
        beyond one step goes out in several; when the engine fails or the call is cancelled in
        between, the finished steps stay and the batch may be repeated.
        """
        self._use("upsert")
        steps = _cut(entries, self._steps)
        async for step in _unhurried(steps):
            for entry in step:
                check_entry(scope, entry, self._dimensions)
        bounds = own_graph(scope)
        async with self._changing:
            async for step in _unhurried(steps):
                self._use("upsert")
                with EngineCall("upsert"):
                    points = {entry.id: self._point(scope, entry) for entry in step}
                await self._points.write("upsert", bounds, list(points.values()))
                self._changed(len(points))

    async def search(self, scope: Scope, query: SearchQuery) -> tuple[Hit, ...]:
        """Return the best visible entries, best first, ties by id.

        Each leg carries the scope's conditions into the engine. Of two legs, which fetch
        ``overfetch`` candidates each, ``ranking.best`` fuses them by reciprocal rank. Word
        statistics come from the searched graphs alone, so what others store never moves a score.
        What is removed while the answer is made is left out of it.
        """
        asked = self._question("search", scope, query)
        return () if asked is None else await self._answer(asked, scope, query)

    async def delete(self, scope: Scope, ids: Sequence[str]) -> None:
        """Remove entries of the scope's tenant and graph by id; unknown ids are no error."""
        self._use("delete")
        point_ids = [point_id(scope, record_id) for record_id in ids if encodable(record_id)]
        async with self._changing:
            async for step in _unhurried(parts(point_ids, self._steps.ids)):
                self._use("delete")
                among = filters.among(scope, step)
                await self._points.remove(Chosen("delete", own_graph(scope), among))
                self._changed(len(step))

    async def delete_expired(self, scope: Scope, now: datetime) -> Expired:
        """Remove entries of the scope's graph with ``expires_at <= now``; return which.

        An entry written anew meanwhile stays. Two sweeps at once may both name an entry.
        """
        self._use("delete_expired")
        expired = Chosen("delete_expired", own_graph(scope), filters.expired(scope, now))
        removed: dict[str, tuple[str, ...]] = {}
        async with self._changing:
            async for points in walked(self._points, expired, self._steps.ids, Show(NAMED_BY)):
                self._use("delete_expired")
                await self._points.remove(among(expired, points))
                self._changed(len(points))
                removed |= dict(named(str(point.id), point.payload) for point in points)
        return removed

    async def count(self, scope: Scope, kind: Kind | None = None) -> int:
        """Return how many entries the scope's graph holds, expired ones included."""
        self._use("count")
        chosen = Chosen("count", own_graph(scope), filters.of_kind(scope, kind))
        return await self._points.count(chosen)

    async def export_entries(self, tenant: str, cursor: str, limit: int) -> Page[IndexEntry]:
        """Return the tenant's entries of every graph, with their vectors; ``""`` begins.

        In order of the engine's ids. Vectors are of unit length, as engines keep them: writing
        them into another index changes no bit of them.

        Raises:
            UsageError: The cursor is not one, or the limit is not 1 to ``PAGE_ROWS_MAX``.
            CorruptRecord: A stored entry cannot be read back.
        """
        self._use("export_entries")
        check_within("limit", limit, 1, PAGE_ROWS_MAX)
        offset = _offset(cursor)
        rows: list[IndexEntry] = []
        chosen = of_tenant("export_entries", tenant)
        while True:
            size = min(self._steps.points, limit - len(rows))
            points, offset = await self._points.page(chosen, size, offset, Show(vectors=(DENSE,)))
            rows += (entry_of(point.payload or {}, dense_of(point)) for point in points)
            if offset is None or len(rows) == limit:
                break
            await asyncio.sleep(0)
            self._use("export_entries")
        return Page[IndexEntry](rows=tuple(rows), cursor=None if offset is None else str(offset))

    async def flush(self) -> None:
        """Write out what the engine has not written out yet."""
        self._use("flush")

    def close(self) -> None:
        """Refuse every call from now on. May be repeated."""
        self._closed = True

    def _use(self, operation: str) -> None:
        if self._closed:
            raise TierUnavailable("warm", operation, "the store is closed")

    def _changed(self, points: int) -> None:
        """Take note of points that were written or removed."""

    def _question(self, operation: str, scope: Scope, query: SearchQuery) -> Asked | None:
        """Return a question as it goes to the engine; ``None`` when nothing can be found by it."""
        self._use(operation)
        check_vector(query.vector, self._dimensions)
        check_asker(scope, query)
        reach = filters.reach(scope, query)
        legs = self._legs(query, reach.counted) if reach else []
        if reach is None or not legs:
            return None
        most = max(self._overfetch, query.limit) if len(legs) > 1 else query.limit
        return Asked(Chosen(operation, of_search(scope, query), reach.visible), legs, most)

    async def _answer(self, asked: Asked, scope: Scope, query: SearchQuery) -> tuple[Hit, ...]:
        """Rank ids in the engine, then fetch what is left after fusion."""
        ranked = await self._ranked(asked, query.limit)
        stored = await self._stored(asked, ranked, list(ranked.scores))
        return answer(ranked.scores, stored, scope, query.limit, asked.cosines(ranked, stored))

    async def _ranked(self, asked: Asked, limit: int) -> Ranked:
        """Return which points are best, and how close those are that were found by meaning."""

        async def nearest(most: int) -> list[Candidates]:
            return await self._points.nearest(asked.chosen, asked.legs, most)

        legs = await with_ties(nearest, asked.most, self._ties_likely)
        meant = (found for leg, found in zip(asked.legs, legs, strict=True) if leg.using == DENSE)
        cosines = {
            found_id: score
            for found in meant
            for found_id, score in zip(found.found_ids, found.scores, strict=True)
        }
        return Ranked(best(legs, self._rrf_k, limit), cosines)

    async def _stored(
        self, asked: Asked, ranked: Ranked, wanted: list[FoundId]
    ) -> dict[FoundId, Held]:
        """Return what is stored for some of the best points.

        With their vectors where words alone have found one in a question by meaning.
        """
        if not wanted:
            return {}
        self._use("search")
        is_compared = asked.meaning is None or ranked.cosines.keys() >= set(wanted)
        show = ALL if is_compared else Show(vectors=(DENSE,))
        return await self._points.found(asked.chosen, wanted, show)

    def _point(self, scope: Scope, entry: IndexEntry) -> NewPoint:
        vectors: dict[str, Vector] = {}
        if entry.vector is not None:
            vectors[DENSE] = list(entry.vector)
        words = self._words.of_entry(entry.text)
        if words.indices:
            vectors[LEXICAL] = words
        return NewPoint(point_id(scope, entry.id), vectors, payload_of(entry))

    def _legs(self, query: SearchQuery, counted: Predicate) -> list[Leg]:
        legs = []
        if query.vector is not None and query.mode != "words":
            legs.append(Leg(list(query.vector), DENSE))
        if query.mode == "dense":
            return legs
        with EngineCall("search"):
            words = self._words.of_question(query.text)
        if words.indices:
            legs.append(Leg(words, LEXICAL, counted))
        return legs


def of_tenant(operation: str, tenant: str) -> Chosen:
    """Return a tenant's entries of every graph."""
    return Chosen(operation, whole_tenant(tenant), filters.of_tenant(tenant))


def among(chosen: Chosen, points: Iterable[StoredPoint]) -> Chosen:
    """Return those of some points that are still chosen."""
    ids = filters.PointIds(tuple(str(point.id) for point in points))
    return chosen._replace(condition=(*chosen.condition, ids))


async def walked(
    points: IndexPoints, chosen: Chosen, size: int, show: Show = ALL
) -> AsyncIterator[Sequence[StoredPoint]]:
    """Yield pages in order of id, none of them empty, with the event loop's turn in between."""
    offset: Offset | None = None
    while True:
        page, offset = await points.page(chosen, size, offset, show)
        if page:
            yield page
        if offset is None:
            return
        await asyncio.sleep(0)


async def remove_tenant(points: IndexPoints, tenant: str, size: int) -> None:
    """Remove a tenant's entries in steps; may be repeated."""
    theirs = of_tenant("drop", tenant)
    async for page in walked(points, theirs, size, ONLY_IDS):
        await points.remove(among(theirs, page))


async def _unhurried(steps: Iterable[_ItemT]) -> AsyncIterator[_ItemT]:
    """Yield steps with the event loop's turn in between."""
    for number, step in enumerate(steps):
        if number:
            await asyncio.sleep(0)
        yield step


def _cut(entries: Sequence[IndexEntry], sizes: StepSizes) -> list[list[IndexEntry]]:
    """Cut a batch into steps of bounded points and text."""
    steps: list[list[IndexEntry]] = []
    chars = 0
    for entry in entries:
        chars += len(entry.text)
        if not steps or len(steps[-1]) == sizes.points or chars > sizes.chars:
            steps.append([])
            chars = len(entry.text)
        steps[-1].append(entry)
    return steps


def dense_of(point: StoredPoint) -> tuple[float, ...] | None:
    """Return the direction of a point's meaning, of unit length, where it was asked for."""
    vectors = point.vector or {}
    return tuple(vectors[DENSE]) if DENSE in vectors else None


def _offset(cursor: str) -> Offset | None:
    if not cursor:
        return None
    try:
        return uuid.UUID(cursor)
    except ValueError as error:
        raise UsageError("cursor", cursor, "the cursor of a page") from error


def entry_of(payload: Mapping[str, Any], vector: tuple[float, ...] | None) -> IndexEntry:
    """Return the entry that ``payload_of`` made this payload of.

    Raises:
        CorruptRecord: The payload is not one that ``payload_of`` makes.
    """
    try:
        kind, *more = kinds_stored(payload)
        grain = payload["grain"] or None
        return IndexEntry(
            **{name: payload[name] for name in AS_IT_IS},
            graph_id=payload["graph"],
            user_id=payload["user_id"] or None,
            kind=kind,
            vector=vector,
            tier=payload["tier"] or None,
            grain=grain,
            also=tuple(one for one in more if not grain or one != label_of(grain)),
            topics=tuple(topic for topic in payload["topics"] if topic != NO_TOPIC),
            private=payload["private_to"] != SHARED,
            source_ids=tuple(payload["source_ids"]),
            occurred_at=None if payload["occurred_at"] is None else moment(payload["occurred_at"]),
            expires_at=None if payload["expires_at"] == NEVER else moment(payload["expires_at"]),
            recorded_at=moment(payload["recorded_at"]),
        )
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise CorruptRecord("warm", "export", "a stored point cannot be read back") from error

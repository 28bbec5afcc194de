"""The warm tier on a Qdrant server: the same payload, conditions and ranking as in process.

Two round trips make an answer: one ranks ids in the engine, one fetches the texts of what is
returned, both under the scope's conditions; rarely a third, to see where a tie ends. What the
driver makes of a request is made on the event loop, so writes go out in steps of a few
milliseconds' work.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime
from typing import cast

from qdrant_client import AsyncQdrantClient, models

from ..errors import TierUnavailable, UsageError
from ..ports import Expired
from ..records import Hit, IndexEntry, Kind, Scope, SearchQuery
from ..upkeep import PAGE_ROWS_MAX, Page
from . import filters
from .archive import entry_of
from .checks import check_asker, check_positive, encodable
from .filters import Predicate
from .guard import Bounds, of_search, own_graph, whole_tenant
from .payload import NAMED_BY, check_entry, check_vector, named, payload_of, point_id
from .qdrant_calls import QdrantCalls
from .qdrant_collection import DENSE, LEXICAL, collection_name, dense_params, ensured
from .qdrant_connect import qdrant_client
from .qdrant_filter import of_tenant, rendered
from .qdrant_options import QdrantOptions
from .qdrant_points import Leg, Offset, QdrantPoints
from .ranking import TIES_MAX, Bm25Words, Candidate, answer, best, goes_on, through_ties

STEP_POINTS = 100
STEP_FLOATS = 40_000
STEP_CHARS = 200_000
"""Most that is written or read out in one request: about 10 ms of the driver's work."""

STEP_IDS = 500
"""Most that is removed in one request."""


class QdrantWarmStore:
    """A ``WarmStore`` and ``WarmArchive`` over one collection. Opened by ``qdrant_warm_store``."""

    def __init__(self, points: QdrantPoints, *, dimensions: int, options: QdrantOptions) -> None:
        self._points = points
        self._dimensions = dimensions
        self._options = options
        self._step_points = max(1, min(STEP_POINTS, STEP_FLOATS // dimensions))
        self._words = Bm25Words()
        self._closed = False

    async def upsert(self, scope: Scope, entries: Sequence[IndexEntry]) -> None:
        """Write entries under their ids; of two with one id the later wins.

        Every entry is checked before the first is sent, so a bad one writes nothing. A batch that
        fits one request (``STEP_POINTS`` and the like) is one operation of the server's log. A
        larger one goes out in steps; when the server fails or the call is cancelled in between,
        the finished steps stay and the batch may be repeated.
        """
        self._use("upsert")
        steps = _steps(entries, self._step_points)
        for number, step in enumerate(steps):
            if number:
                await asyncio.sleep(0)
            for entry in step:
                check_entry(scope, entry, self._dimensions)
        bounds = own_graph(scope)
        for step in steps:
            self._use("upsert")
            points = {entry.id: self._point(scope, entry) for entry in step}
            await self._points.write("upsert", bounds, list(points.values()))

    async def search(self, scope: Scope, query: SearchQuery) -> tuple[Hit, ...]:
        """Return the best visible entries, best first, ties by id.

        Each leg carries the scope's conditions into the engine and fetches ``overfetch``
        candidates; of two legs ``ranking.best`` fuses them by reciprocal rank. Word statistics
        come from the searched graphs alone, so what others store never moves a score; meaning is
        compared exactly up to ``EXACT_POINTS`` entries. What is removed while the answer is made
        is left out of it.
        """
        self._use("search")
        check_vector(query.vector, self._dimensions)
        check_asker(scope, query)
        reach = filters.reach(scope, query)
        legs = self._legs(query, reach.counted) if reach else []
        if reach is None or not legs:
            return ()
        bounds = of_search(scope, query)
        scores = await self._ranked(bounds, legs, rendered(reach.visible), query.limit)
        if not scores:
            return ()
        self._use("search")
        # Texts are fetched for the answer only, not for every candidate.
        chosen = rendered((*reach.visible, filters.PointIds(tuple(scores))))
        stored, _ = await self._points.page("search", bounds, chosen, len(scores))
        payloads = {str(point.id): point.payload or {} for point in stored}
        return answer(scores, payloads, scope, query.limit)

    async def delete(self, scope: Scope, ids: Sequence[str]) -> None:
        """Remove entries of the scope's tenant and graph by id; unknown ids are no error."""
        self._use("delete")
        point_ids = [point_id(scope, record_id) for record_id in ids if encodable(record_id)]
        for start in range(0, len(point_ids), STEP_IDS):
            self._use("delete")
            step = filters.among(scope, point_ids[start : start + STEP_IDS])
            await self._points.remove("delete", own_graph(scope), rendered(step))

    async def delete_expired(self, scope: Scope, now: datetime) -> Expired:
        """Remove entries of the scope's graph with ``expires_at <= now``; return which.

        An entry written anew meanwhile stays. Two sweeps at once may both name an entry.
        """
        bounds = own_graph(scope)
        expired = filters.expired(scope, now)
        removed: dict[str, tuple[str, ...]] = {}
        offset: Offset | None = None
        while True:
            self._use("delete_expired")
            found, offset = await self._points.page(
                "delete_expired",
                bounds,
                rendered(expired),
                STEP_IDS,
                offset=offset,
                with_payload=NAMED_BY,
            )
            if found:
                ids = filters.PointIds(tuple(str(point.id) for point in found))
                await self._points.remove("delete_expired", bounds, rendered((*expired, ids)))
            removed |= dict(named(str(point.id), point.payload) for point in found)
            if offset is None:
                return removed

    async def count(self, scope: Scope, kind: Kind | None = None) -> int:
        """Return how many entries the scope's graph holds, expired ones included."""
        self._use("count")
        condition = rendered(filters.of_kind(scope, kind))
        return await self._points.count("count", own_graph(scope), condition)

    async def flush(self) -> None:
        """Do nothing: the server logs every write ahead and flushes by itself."""
        self._use("flush")

    async def export_entries(self, tenant: str, cursor: str, limit: int) -> Page[IndexEntry]:
        """Return the tenant's entries of every graph, with their vectors; ``""`` begins.

        In order of the engine's ids, at most ``limit``.

        Raises:
            UsageError: The cursor is not one, or the limit is not 1 to ``PAGE_ROWS_MAX``.
            CorruptRecord: A stored entry cannot be read back.
        """
        self._use("export_entries")
        if not 1 <= limit <= PAGE_ROWS_MAX:
            raise UsageError("limit", limit, f"1 to {PAGE_ROWS_MAX}")
        offset = _offset(cursor)
        rows: list[IndexEntry] = []
        while len(rows) < limit:
            self._use("export_entries")
            stored, offset = await self._points.page(
                "export_entries",
                whole_tenant(tenant),
                of_tenant(tenant),
                min(self._step_points, limit - len(rows)),
                offset=offset,
                with_vectors=[DENSE],
            )
            rows += (entry_of(point.payload or {}, _dense(point)) for point in stored)
            if offset is None:
                break
        return Page[IndexEntry](rows=tuple(rows), cursor=None if offset is None else str(offset))

    def close(self) -> None:
        """Refuse every call from now on; the client stays as it is. May be repeated."""
        self._closed = True

    def _use(self, operation: str) -> None:
        if self._closed:
            raise TierUnavailable("warm", operation, "the store is closed")

    def _point(self, scope: Scope, entry: IndexEntry) -> models.PointStruct:
        vectors: dict[str, models.Vector] = {}
        if entry.vector is not None:
            vectors[DENSE] = list(entry.vector)
        words = self._words.of_entry(entry.text)
        if words.indices:
            vectors[LEXICAL] = models.SparseVector(indices=words.indices, values=words.values)
        # Not validated a second time: it takes twice as long as all the rest.
        return models.PointStruct.model_construct(
            id=point_id(scope, entry.id), vector=vectors, payload=payload_of(entry)
        )

    def _legs(self, query: SearchQuery, counted: Predicate) -> list[Leg]:
        legs = []
        if query.vector is not None and query.mode != "words":
            legs.append(Leg(list(query.vector), DENSE, dense_params(self._options)))
        if query.mode == "dense":
            return legs
        words = self._words.of_question(query.text)
        if words.indices:
            asked = models.SparseVector(indices=words.indices, values=words.values)
            legs.append(Leg(asked, LEXICAL, counted=rendered(counted)))
        return legs

    async def _ranked(
        self, bounds: Bounds, legs: list[Leg], visible: models.Filter, limit: int
    ) -> dict[str, float]:
        most = max(self._options.overfetch, limit)
        found: list[list[Candidate]] = []
        for asked in (most + 1, most + TIES_MAX):
            answers = await self._points.nearest("search", bounds, legs, visible, asked)
            found = [[Candidate(one.score, str(one.id)) for one in leg] for leg in answers]
            if not any(goes_on(leg, most, asked) for leg in found):
                break
        return best([through_ties(leg, most) for leg in found], self._options.rrf_k, limit)


@asynccontextmanager
async def qdrant_warm_store(
    server: AsyncQdrantClient | str,
    *,
    api_key: str | None = None,
    prefix: str = "ezra",
    model_id: str | None = None,
    dimensions: int = 384,
    options: QdrantOptions | None = None,
) -> AsyncIterator[QdrantWarmStore]:
    """Open a model's collection, making it when new.

    Args:
        server: A client, which stays open, or the URL of a server.
        api_key: Of the server, when a URL is given.
        prefix: First part of every collection's name.
        model_id: The embedding model whose vectors it holds; ``None`` for none.
        dimensions: Length of the dense vectors; fixed when the collection is made.
        options: How the server is used.

    Raises:
        ConfigError: URL or key cannot be used, the server is too old, or the collection was made
            for other vectors.
        TierError: The server cannot be reached, or refuses.
    """
    check_positive(dimensions=dimensions)
    given = options or QdrantOptions()
    name = collection_name(prefix, model_id)
    async with AsyncExitStack() as stack:
        client = server
        if isinstance(client, str):
            opening = qdrant_client(client, api_key=api_key, options=given)
            client = await stack.enter_async_context(opening)
        calls = QdrantCalls(given.timeout_seconds)
        await ensured(client, calls, name, model_id, dimensions, given)
        points = QdrantPoints(client, name, given)
        store = QdrantWarmStore(points, dimensions=dimensions, options=given)
        try:
            yield store
        finally:
            store.close()


def _steps(entries: Sequence[IndexEntry], points_max: int) -> list[list[IndexEntry]]:
    """Cut a batch into steps of bounded points and text."""
    steps: list[list[IndexEntry]] = []
    chars = 0
    for entry in entries:
        chars += len(entry.text)
        if not steps or len(steps[-1]) == points_max or chars > STEP_CHARS:
            steps.append([])
            chars = len(entry.text)
        steps[-1].append(entry)
    return steps


def _dense(point: models.Record) -> tuple[float, ...] | None:
    vector = point.vector.get(DENSE) if isinstance(point.vector, dict) else None
    return tuple(cast("list[float]", vector)) if isinstance(vector, list) else None


def _offset(cursor: str) -> Offset | None:
    if not cursor:
        return None
    try:
        return str(uuid.UUID(cursor))
    except ValueError as error:
        raise UsageError("cursor", cursor, "what the page before gave") from error

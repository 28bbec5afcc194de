"""The warm tier in this process: the Qdrant engine as a library, on disk.

The engine holds the interpreter's lock in every call, so threads gain nothing: calls are made
inline and kept short. Measured at 10,000 points of 384 dimensions: one upsert 0.2 ms, a hybrid
search 1.5 ms, a count 0.5 ms. Longer work is cut into steps with the event loop in between.

A dense search is exact: it looks at every vector of the graph, and the event loop waits for all of
them in one call of the engine. Of processor time that is 3 ms at 2,760 entries of a graph, 8 ms at
10,000 beside nine such graphs, and 17 to 26 ms at 100,000, of which 8 ms go into comparing vectors
and most of the rest into conditions; about twice as much in the process that has just written all
of them. Up to about 40,000 entries of one graph a call stays below 10 ms.

Only a flush cannot be cut. It writes out some hundred files: 20 ms on an idle disk, 100 ms with
10,000 points unwritten, several hundred on a busy disk. Durability does not need it (the engine
logs every write ahead), so it waits for a quiet moment; see ``flush_due``.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import cast
from uuid import UUID

from qdrant_edge import Point, SparseVector
from qdrant_edge import Record as EngineRecord

from ..errors import DiskFull, TierError, TierUnavailable, UsageError
from ..ports import Expired
from ..records import Hit, IndexEntry, Kind, Scope, SearchQuery
from ..sighting import Known, Seen
from ..upkeep import PAGE_ROWS_MAX, Page
from . import filters
from .archive import entry_of
from .checks import check_asker, check_positive, encodable
from .edge_filter import of_tenant, rendered
from .edge_folder import DENSE, LEXICAL, EngineCall, OpenShard, opened_shard
from .edge_points import EdgePoints, Leg, Offset
from .filters import Predicate
from .guard import of_search, own_graph, whole_tenant
from .payload import check_entry, check_vector, kinds_stored, named, payload_of, point_id
from .ranking import (
    Bm25Words,
    Candidate,
    Payload,
    Stored,
    answer,
    answer_of_one,
    answer_of_sights,
    best,
    with_ties,
)

STEP_POINTS = 32
STEP_CHARS = 100_000
"""Most that is written or removed in one step: about 5 ms."""

QUIET_SECONDS = 0.25
UNFLUSHED_MAX = 10_000
"""Points after which a flush no longer waits for quiet: 0.7 s to replay after a crash."""

TURNS_NOTED = 50_000
"""Of so many points it is remembered of which turns they are."""

_LOG = logging.getLogger(__name__)


def flush_due(unflushed: int, quiet_seconds: float) -> bool:
    """Whether to flush now: something is unwritten, and nobody waits or it has become too much."""
    return unflushed > 0 and (quiet_seconds >= QUIET_SECONDS or unflushed >= UNFLUSHED_MAX)


class EdgeWarmStore:
    """A ``WarmStore`` over one embedded shard. Opened by ``edge_warm_store``."""

    def __init__(self, shard: OpenShard, *, dimensions: int, rrf_k: int, overfetch: int) -> None:
        self._shard = shard
        self._points = EdgePoints(shard)
        self._changing = asyncio.Lock()
        self._dimensions = dimensions
        self._rrf_k = rrf_k
        self._overfetch = overfetch
        self._words = Bm25Words()
        self._turns: OrderedDict[str, str] = OrderedDict()
        self._closed = False
        self._unflushed = 0
        self._used_at = 0.0

    async def upsert(self, scope: Scope, entries: Sequence[IndexEntry]) -> None:
        """Write entries under their ids; of two with one id the later wins.

        Every entry is checked before the first is written, because the engine would keep the
        good points of a batch that it refuses. Batches beyond ``STEP_POINTS`` are written in
        steps; one that is cancelled in between keeps its finished steps and may be repeated.
        """
        self._use("upsert")
        steps = _steps(entries)
        for number, step in enumerate(steps):
            if number:
                await asyncio.sleep(0)
            for entry in step:
                check_entry(scope, entry, self._dimensions)
        bounds = own_graph(scope)
        async with self._changing:
            for number, step in enumerate(steps):
                if number:
                    await asyncio.sleep(0)
                self._use("upsert")
                with EngineCall("upsert"):
                    points = [self._point(scope, entry) for entry in step]
                self._points.write("upsert", bounds, points)
                self._unflushed += len(step)

    async def search(self, scope: Scope, query: SearchQuery) -> tuple[Hit, ...]:
        """Return the best visible entries, best first, ties by id.

        Each leg carries the scope's conditions into the engine and fetches ``overfetch``
        candidates; of two legs ``ranking.best`` fuses them by reciprocal rank. Both are exact, and
        word statistics come from the searched graphs alone: what others store never moves a score.
        """
        self._use("search")
        check_vector(query.vector, self._dimensions)
        check_asker(scope, query)
        reach = filters.reach(scope, query)
        legs = self._legs(query, reach.counted) if reach else []
        if reach is None or not legs:
            return ()
        bounds = of_search(scope, query)
        visible, most = rendered(reach.visible), max(self._overfetch, query.limit)
        if len(legs) == 1:

            def stored(limit: int) -> list[list[Stored]]:
                return [self._points.nearest_stored("search", bounds, legs[0], visible, limit)]

            return answer_of_one(with_ties(stored, most)[0], scope, query.limit)

        def nearest(limit: int) -> list[list[Candidate]]:
            return self._points.nearest("search", bounds, legs, visible, limit)

        # Only those that are left after fusion are fetched.
        scores = best(with_ties(nearest, most), self._rrf_k, query.limit)
        payloads = self._points.found("search", bounds, list(scores))
        return answer(scores, payloads, scope, query.limit)

    async def sight(self, scope: Scope, query: SearchQuery, known: Known) -> tuple[Seen, ...]:
        """Return what ``search`` does, turns of ``known`` by their ids alone.

        Reading what is stored for a point takes as long as comparing its vector with a hundred.
        """
        self._use("search")
        check_vector(query.vector, self._dimensions)
        check_asker(scope, query)
        reach = filters.reach(scope, query)
        legs = self._legs(query, reach.counted) if reach else []
        if reach is None or len(legs) != 1 or query.inherited:
            return await self.search(scope, query)
        bounds, visible = own_graph(scope), rendered(reach.visible)

        def nearest(limit: int) -> list[list[Candidate]]:
            return self._points.nearest("search", bounds, legs, visible, limit)

        (found,) = with_ties(nearest, max(self._overfetch, query.limit))
        names = {one.found_id: self._turns.get(one.found_id) for one in found}
        sighted = {point: name for point, name in names.items() if name and name in known}
        told = [one.found_id for one in found if one.found_id not in sighted]
        payloads = self._points.found("search", bounds, told) if told else {}
        self._note_turns(payloads)
        return answer_of_sights(found, sighted, payloads, scope, query.limit)

    async def delete(self, scope: Scope, ids: Sequence[str]) -> None:
        """Remove entries of the scope's tenant and graph by id; unknown ids are no error."""
        self._use("delete")
        point_ids = [point_id(scope, record_id) for record_id in ids if encodable(record_id)]
        async with self._changing:
            for start in range(0, len(point_ids), STEP_POINTS):
                if start:
                    await asyncio.sleep(0)
                self._use("delete")
                self._remove("delete", scope, point_ids[start : start + STEP_POINTS])

    async def delete_expired(self, scope: Scope, now: datetime) -> Expired:
        """Remove entries of the scope's graph with ``expires_at <= now``; return which."""
        bounds = own_graph(scope)
        expired = rendered(filters.expired(scope, now))
        removed: dict[str, tuple[str, ...]] = {}
        async with self._changing:
            while True:
                self._use("delete_expired")
                points, _ = self._points.page(
                    "delete_expired", bounds, expired, STEP_POINTS, with_payload=True
                )
                self._remove("delete_expired", scope, [str(point.id) for point in points])
                removed |= dict(named(str(point.id), point.payload) for point in points)
                if len(points) < STEP_POINTS:
                    return removed
                await asyncio.sleep(0)

    async def count(self, scope: Scope, kind: Kind | None = None) -> int:
        """Return how many entries the scope's graph holds, expired ones included."""
        self._use("count")
        return self._points.count("count", own_graph(scope), rendered(filters.of_kind(scope, kind)))

    async def export_entries(self, tenant: str, cursor: str, limit: int) -> Page[IndexEntry]:
        """Return the tenant's entries of every graph, with their vectors; ``""`` begins.

        In order of the engine's ids. Vectors are of unit length, as the engine keeps them: writing
        them into another index changes no bit of them.

        Raises:
            UsageError: The cursor is not one, or the limit is not 1 to ``PAGE_ROWS_MAX``.
        """
        self._use("export_entries")
        if not 1 <= limit <= PAGE_ROWS_MAX:
            raise UsageError("limit", limit, f"1 to {PAGE_ROWS_MAX}")
        offset: Offset | None = _offset(cursor)
        rows: list[IndexEntry] = []
        while len(rows) < limit:
            if rows:
                await asyncio.sleep(0)
                self._use("export_entries")
            points, offset = self._points.page(
                "export_entries",
                whole_tenant(tenant),
                of_tenant(tenant),
                min(STEP_POINTS, limit - len(rows)),
                offset=offset,
                with_payload=True,
                with_vectors=[DENSE],
            )
            rows += (entry_of(point.payload or {}, _dense(point)) for point in points)
            if offset is None:
                break
        return Page[IndexEntry](rows=tuple(rows), cursor=None if offset is None else str(offset))

    async def flush(self) -> None:
        """Write everything out now. Blocks the event loop while the engine does."""
        self._use("flush")
        self._flush()

    async def rewrite_files(self) -> None:
        """Write every file anew, so that nothing is left of what was deleted.

        Searches go on meanwhile; writes wait. Takes about as long as indexing did, vectors aside.
        """
        async with self._changing:
            self._use("rewrite_files")
            self._flush()
            await self._shard.rewrite_files(STEP_POINTS)

    async def flush_when_quiet(self, every_seconds: float) -> None:
        """Flush about every so often, when ``flush_due``; runs until cancelled.

        A flush that fails is logged and tried again the next time: nothing is lost meanwhile.
        """
        clock = asyncio.get_running_loop().time
        pause = every_seconds
        while True:
            await asyncio.sleep(pause)
            pause = every_seconds
            if flush_due(self._unflushed, clock() - self._used_at):
                try:
                    self._flush()
                except TierError:
                    _LOG.warning("warm tier: flush failed, trying again later", exc_info=True)
            elif self._unflushed:
                pause = QUIET_SECONDS

    def close(self) -> None:
        """Flush what is unwritten and refuse every call from now on. May be repeated."""
        if not self._closed:
            self._closed = True
            try:
                self._flush()
            except DiskFull as full:
                # What is unwritten is in the engine's log, and in the queue of work before that.
                _LOG.warning("warm tier: closed without a flush: %s", full.reason)

    def _note_turns(self, payloads: Mapping[str, Payload]) -> None:
        for point, payload in payloads.items():
            if kinds_stored(payload)[0] == "turn":
                self._turns[point] = payload["id"]
        while len(self._turns) > TURNS_NOTED:
            self._turns.popitem(last=False)

    def _use(self, operation: str) -> None:
        if self._closed:
            raise TierUnavailable("warm", operation, "the store is closed")
        self._used_at = asyncio.get_running_loop().time()

    def _flush(self) -> None:
        if self._unflushed:
            self._points.flush("flush")
            self._unflushed = 0

    def _remove(self, operation: str, scope: Scope, point_ids: Sequence[str]) -> None:
        if not point_ids:
            return
        condition = rendered(filters.among(scope, point_ids))
        self._points.remove(operation, own_graph(scope), condition)
        self._unflushed += len(point_ids)

    def _point(self, scope: Scope, entry: IndexEntry) -> Point:
        vectors: dict[str, list[float] | SparseVector | list[list[float]]] = {}
        if entry.vector is not None:
            vectors[DENSE] = list(entry.vector)
        words = self._words.of_entry(entry.text)
        if words.indices:
            vectors[LEXICAL] = words
        return Point(point_id(scope, entry.id), vectors, payload_of(entry))

    def _legs(self, query: SearchQuery, counted: Predicate) -> list[Leg]:
        legs = []
        if query.vector is not None and query.mode != "words":
            legs.append(Leg(list(query.vector), DENSE))
        if query.mode == "dense":
            return legs
        with EngineCall("search"):
            words = self._words.of_question(query.text)
        if words.indices:
            legs.append(Leg(words, LEXICAL, rendered(counted)))
        return legs


@asynccontextmanager
async def edge_warm_store(
    folder: Path,
    *,
    dimensions: int = 384,
    rrf_k: int = 10,
    overfetch: int = 80,
    flush_seconds: float = 30,
) -> AsyncIterator[EdgeWarmStore]:
    """Open the index in ``folder``, making it when new; flush and close it at the end.

    Args:
        folder: Owned by one store at a time.
        dimensions: Length of the dense vectors; fixed when the folder is made.
        rrf_k: How much the fusion favours the first ranks; smaller favours them more.
        overfetch: Candidates per leg before fusion.
        flush_seconds: How often to look for a quiet moment to flush in.

    Raises:
        ConfigError: The folder is in use, cannot be used, or was made for other vectors.
        CorruptRecord: What is in the folder cannot be loaded.
    """
    check_positive(
        dimensions=dimensions, rrf_k=rrf_k, overfetch=overfetch, flush_seconds=flush_seconds
    )
    with opened_shard(folder, dimensions) as shard:
        store = EdgeWarmStore(shard, dimensions=dimensions, rrf_k=rrf_k, overfetch=overfetch)
        flusher = asyncio.create_task(store.flush_when_quiet(flush_seconds), name="ezra-warm-flush")
        try:
            yield store
        finally:
            flusher.cancel()
            try:
                await asyncio.gather(flusher, return_exceptions=True)
            finally:
                store.close()


def _steps(entries: Sequence[IndexEntry]) -> list[list[IndexEntry]]:
    """Cut a batch into steps of bounded points and text."""
    steps: list[list[IndexEntry]] = []
    chars = 0
    for entry in entries:
        chars += len(entry.text)
        if not steps or len(steps[-1]) == STEP_POINTS or chars > STEP_CHARS:
            steps.append([])
            chars = len(entry.text)
        steps[-1].append(entry)
    return steps


def _dense(point: EngineRecord) -> tuple[float, ...] | None:
    vectors = cast("dict[str, list[float]]", point.vector or {})  # named, and no multi-vectors
    return tuple(vectors[DENSE]) if DENSE in vectors else None


def _offset(cursor: str) -> UUID | None:
    if not cursor:
        return None
    try:
        return UUID(cursor)
    except ValueError as error:
        raise UsageError("cursor", cursor, "the cursor of a page") from error

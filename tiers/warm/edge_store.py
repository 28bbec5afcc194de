"""The warm tier in this process: the Qdrant engine as a library, on disk.

The engine holds the interpreter's lock in every call, so threads gain nothing: calls are made
inline and kept short. Measured at 10,000 points of 384 dimensions: one upsert 0.2 ms, a hybrid
search 1.5 ms, a count 0.5 ms. Longer work is cut into steps with the event loop in between.

A dense search is exact: it looks at every vector of the graph, and the event loop waits for all of
them in one call of the engine. Which those are it takes from one list (``edge_readers``): a search
takes 3 ms of processor time at 2,760 entries of a graph, 4 to 5 at 10,000, 9 to 12 at 40,000 and 25
at 100,000, on a machine that took 3, 6 to 8, 25 to 29 and 60 with conditions to look up for each.

Only a flush cannot be cut. It writes out some hundred files: 20 ms on an idle disk, 100 ms with
10,000 points unwritten, several hundred on a busy disk. Durability does not need it (the engine
logs every write ahead), so it waits for a quiet moment; see ``flush_due``.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from ..errors import DiskFull, TierError
from ..known_records import Known, Seen
from ..records import Scope, SearchQuery
from .checks import check_positive
from .edge_folder import INDEXED_FROM, OpenShard, opened_shard
from .edge_points import EdgePoints
from .ranking import FoundId, Held, answer_of_sights
from .store import IndexStore, StepSizes

STEP_POINTS = 12
STEP_CHARS = 100_000
"""Most that is written or removed in one step: about 5 ms, and 12 where the machine is slow."""

QUIET_SECONDS = 0.25
UNFLUSHED_MAX = 10_000
"""Points after which a flush no longer waits for quiet: 0.7 s to replay after a crash."""

NAMES_NOTED = 50_000
"""Of so many points it is remembered of which records they are."""

TIES_LIKELY = 8
"""So many candidates beyond those wanted are looked at at first: they may tie with the last."""

_LOG = logging.getLogger(__name__)


def flush_due(unflushed: int, quiet_seconds: float) -> bool:
    """Whether to flush now: something is unwritten, and nobody waits or it has become too much."""
    return unflushed > 0 and (quiet_seconds >= QUIET_SECONDS or unflushed >= UNFLUSHED_MAX)


class EdgeWarmStore(IndexStore):
    """A ``WarmStore`` over one embedded shard. Opened by ``edge_warm_store``."""

    def __init__(self, shard: OpenShard, *, dimensions: int, rrf_k: int, overfetch: int) -> None:
        points = EdgePoints(shard)
        super().__init__(
            points,
            dimensions=dimensions,
            rrf_k=rrf_k,
            overfetch=overfetch,
            steps=StepSizes(STEP_POINTS, STEP_CHARS, STEP_POINTS),
            ties_likely=TIES_LIKELY,
        )
        self._shard = shard
        self._points: EdgePoints = points
        self._changing = asyncio.Lock()
        self._names: OrderedDict[FoundId, str] = OrderedDict()
        self._unflushed = 0
        self._used_at = 0.0

    async def sight(self, scope: Scope, query: SearchQuery, known: Known) -> tuple[Seen, ...]:
        """Return what ``search`` does, records of ``known`` by their ids alone.

        Reading what is stored for a point takes as long as comparing its vector with a hundred.
        """
        asked = self._question("search", scope, query)
        if asked is None:
            return ()
        if query.inherited:
            return await self._answer(asked, scope, query)
        ranked = await self._ranked(asked, query.limit)
        is_by_words = asked.meaning is None
        names = {
            point: self._names.get(point)
            for point in ranked.scores
            if is_by_words or point in ranked.cosines
        }
        sighted = {point: name for point, name in names.items() if name and name in known}
        unknown = [point for point in ranked.scores if point not in sighted]
        stored = await self._stored(asked, ranked, unknown)
        self._note(stored)
        cosines = asked.cosines(ranked, stored)
        return answer_of_sights(ranked.scores, sighted, stored, scope, query.limit, cosines)

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
            super().close()
            try:
                self._flush()
            except DiskFull as full:
                # What is unwritten is in the engine's log, and in the queue of work before that.
                _LOG.warning("warm tier: closed without a flush: %s", full.reason)

    def _note(self, stored: Mapping[FoundId, Held]) -> None:
        self._names.update((point, held.payload["id"]) for point, held in stored.items())
        while len(self._names) > NAMES_NOTED:
            self._names.popitem(last=False)

    def _use(self, operation: str) -> None:
        super()._use(operation)
        self._used_at = asyncio.get_running_loop().time()

    def _flush(self) -> None:
        if self._unflushed:
            self._points.flush("flush")
            self._unflushed = 0

    def _changed(self, points: int) -> None:
        self._unflushed += points


@asynccontextmanager
async def edge_warm_store(
    folder: Path,
    *,
    dimensions: int = 384,
    rrf_k: int = 10,
    overfetch: int = 80,
    flush_seconds: float = 30,
    indexed_from: int = INDEXED_FROM,
) -> AsyncIterator[EdgeWarmStore]:
    """Open the index in ``folder``, making it when new; flush and close it at the end.

    Args:
        folder: Owned by one store at a time.
        dimensions: Length of the dense vectors; fixed when the folder is made.
        rrf_k: How much the fusion favours the first ranks; smaller favours them more.
        overfetch: Candidates per leg before fusion.
        flush_seconds: How often to look for a quiet moment to flush in.
        indexed_from: How many entries it takes for the keys of conditions to be indexed.

    Raises:
        ConfigError: The folder is in use, cannot be used, or was made for other vectors.
        CorruptRecord: What is in the folder cannot be loaded.
    """
    check_positive(
        dimensions=dimensions,
        rrf_k=rrf_k,
        overfetch=overfetch,
        flush_seconds=flush_seconds,
        indexed_from=indexed_from,
    )
    with opened_shard(folder, dimensions, indexed_from) as shard:
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

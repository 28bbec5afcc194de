"""A store whose embedding model can be changed: scripted models, watched indexes, real tiers."""

from __future__ import annotations

import asyncio
import hashlib
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from metaagents.learning.agent import IndexHandler
from metaagents.reindex.agent import BATCH_RECORDS, Reembedder
from metaagents.reindex.generations import OpenGenerations
from metaagents.reindex.index import SwitchingIndex
from metaagents.work import Worker
from tiers.cold.sqlite import DATABASE_NAME, ColdStores, sqlite_cold_store
from tiers.errors import TierRejected, TierUnavailable
from tiers.ports import Embedder, Expired, Vector, WarmStore
from tiers.records import (
    ALL_TOPICS,
    Fact,
    Hit,
    IndexEntry,
    Kind,
    Scope,
    SearchQuery,
    Settlement,
    WorkDraft,
)
from tiers.upkeep import Generation, WarmGenerations
from tiers.warm import edge_generations

from .cold_backends import raw_sqlite
from .cold_samples import belief_by, fact_by
from .folder_copies import copied
from .runtime import MovingClock

DIMENSIONS = 8
TEXTS = [f"sector{number}x was slow by tenths" for number in range(30)]
SCOPE = Scope(tenant="acme", graph_id="race", agent_id="strategist", topics=(ALL_TOPICS,))


def vector_by(model_id: str, text: str) -> Vector:
    """Return the vector that the scripted model of this id gives a text: no two models agree."""
    seed = int.from_bytes(hashlib.sha256(f"{model_id}\n{text}".encode()).digest()[:8], "big")
    vector = np.random.default_rng(seed).normal(size=DIMENSIONS)
    return tuple((vector / np.linalg.norm(vector)).astype(np.float32).tolist())


class ScriptedEmbedder:
    """An ``Embedder`` of any id, whose vectors follow from id and text; may be told to fail.

    Attributes:
        refused: Texts that it refuses, alone or in a batch.
        is_down: Whether every call fails in a way that passes.
        is_broken: Whether it refuses every text.
        asked: Every text it was asked for in the background.
        before: Awaited before each background call.
    """

    dimensions = DIMENSIONS

    def __init__(self, model_id: str) -> None:
        self.model_id = model_id
        self.refused: set[str] = set()
        self.is_down = False
        self.is_broken = False
        self.is_open = False
        self.asked: list[str] = []
        self.before: Callable[[], object] = lambda: None

    async def __aenter__(self) -> Self:
        self.is_open = True
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.is_open = False

    async def embed(
        self, texts: Sequence[str], *, urgent: bool = False, query: bool = False
    ) -> tuple[Vector, ...]:
        """Return one vector per text."""
        del query
        if not urgent:
            waited = self.before()
            if asyncio.iscoroutine(waited):
                await waited
        await asyncio.sleep(0)
        if self.is_down:
            raise TierUnavailable("embedding", "embed", f"{self.model_id} is down")
        if self.is_broken:
            raise TierRejected("embedding", "embed", f"{self.model_id} is broken")
        if self.refused & set(texts):
            raise TierRejected("embedding", "embed", "a text is not acceptable")
        if not urgent:
            self.asked += texts
        return tuple(vector_by(self.model_id, text) for text in texts)


class WatchedStore:
    """A ``WarmStore`` that fails the test when a vector of another model touches it.

    Attributes:
        stored: The entries as they were last written, by id.
        ever: The id of every entry that was ever written.
        searches: How many searches came with a vector.
    """

    def __init__(self, store: WarmStore, model_id: str | None) -> None:
        self.unwatched = store
        self._model_id = model_id
        self.stored: dict[str, IndexEntry] = {}
        self.ever: set[str] = set()
        self.searches = 0

    async def upsert(self, scope: Scope, entries: Sequence[IndexEntry]) -> None:
        """Write, once every vector is the model's own."""
        for entry in entries:
            if entry.vector is not None:
                assert self._model_id is not None
                assert entry.vector == vector_by(self._model_id, entry.text)
        await self.unwatched.upsert(scope, entries)
        self.stored |= {entry.id: entry for entry in entries}
        self.ever |= self.stored.keys()

    async def search(self, scope: Scope, query: SearchQuery) -> tuple[Hit, ...]:
        """Search, once the query's vector is the model's own."""
        if query.vector is not None:
            assert self._model_id is not None
            assert query.vector == vector_by(self._model_id, query.text)
            self.searches += 1
        # Gives way as a server would, so that a switch can come between question and answer.
        await asyncio.sleep(0)
        return await self.unwatched.search(scope, query)

    async def delete(self, scope: Scope, ids: Sequence[str]) -> None:
        """Remove."""
        await self.unwatched.delete(scope, ids)
        for record_id in ids:
            self.stored.pop(record_id, None)

    async def delete_expired(self, scope: Scope, now: datetime) -> Expired:
        """Remove what has expired."""
        return await self.unwatched.delete_expired(scope, now)

    async def count(self, scope: Scope, kind: Kind | None = None) -> int:
        """Count."""
        return await self.unwatched.count(scope, kind)

    async def flush(self) -> None:
        """Flush."""
        await self.unwatched.flush()


class WatchedGenerations:
    """A ``WarmGenerations`` whose stores are watched.

    Attributes:
        stores: The stores opened last, by model.
        dropped: The models dropped, in order.
        before_mark: Called before each mark; may raise.
    """

    def __init__(self, engine: WarmGenerations) -> None:
        self._engine = engine
        self.stores: dict[str | None, WatchedStore] = {}
        self.dropped: list[str | None] = []
        self.before_mark: Callable[[Generation], object] = lambda _: None

    async def generations(self, tenant: str) -> tuple[Generation, ...]:
        """Return what is marked."""
        return await self._engine.generations(tenant)

    @asynccontextmanager
    async def opened(self, model_id: str | None, dimensions: int) -> AsyncIterator[WatchedStore]:
        """Open and watch."""
        async with self._engine.opened(model_id, dimensions) as store:
            self.stores[model_id] = WatchedStore(store, model_id)
            yield self.stores[model_id]

    async def mark(self, tenant: str, generation: Generation) -> None:
        """Mark."""
        self.before_mark(generation)
        await self._engine.mark(tenant, generation)

    async def drop(self, tenant: str, model_id: str | None) -> None:
        """Drop."""
        self.dropped.append(model_id)
        await self._engine.drop(tenant, model_id)


@dataclass(frozen=True)
class House:
    """The parts of a runtime that re-embedding is about, on a folder."""

    cold: ColdStores
    engine: WatchedGenerations
    generations: OpenGenerations
    index: SwitchingIndex
    reembedder: Reembedder
    worker: Worker
    clock: MovingClock

    async def remember(self, text: str, scope: Scope = SCOPE, **fields: object) -> Fact:
        """Store a fact together with the work of indexing it."""
        fact = fact_by(scope, text, **fields)
        return (await self.cold.semantic.put_fact(scope, fact, [index_work_of(fact)]))[0]

    async def remembered(self, texts: Iterable[str]) -> list[Fact]:
        """Store and index facts."""
        facts = [await self.remember(text) for text in texts]
        await self.worker.drain()
        return facts

    async def ask(self, text: str, scope: Scope = SCOPE, limit: int = 5) -> tuple[Hit, ...]:
        """Ask the index as recall does: by the serving model's vector, and by words."""
        serving = self.index.serving
        query = SearchQuery(text=text, kinds=("fact",), limit=limit, now=self.clock())
        if serving.embedder is not None:
            (vector,) = await serving.embedder.embed([text], urgent=True)
            given = {"vector": vector, "model_id": serving.embedder.model_id}
            query = query.model_copy(update=given)
        return await self.index.search(scope, query)

    async def believe(self, claim: str, *taking_the_place_of: str, **fields: object) -> str:
        """Commit to a belief in the place of others, and let the index learn of it."""
        belief = belief_by(SCOPE, claim, **fields)
        settled = [
            Settlement(rival_id=one, winner="new", strategy="last_write_wins")
            for one in taking_the_place_of
        ]
        committed = await self.cold.beliefs.commit(SCOPE, belief, settled)
        assert committed.is_new
        await self.worker.drain()
        return belief.id

    async def by_meaning(self, text: str, kind: Kind = "fact") -> str | None:
        """Return the id that the serving index finds for a text's own vector, words aside."""
        model_id = self.index.serving.model_id
        assert model_id is not None
        vector = vector_by(model_id, text)
        query = SearchQuery(text="", vector=vector, kinds=(kind,), limit=1, now=self.clock())
        found = await self.engine.stores[model_id].unwatched.search(SCOPE, query)
        return next((hit.id for hit in found), None)

    async def check_by_meaning(self, facts: Iterable[Fact]) -> None:
        """Check that each fact is found by the vector of its text."""
        for fact in facts:
            assert await self.by_meaning(fact.text) == fact.id

    async def marks(self) -> dict[str | None, tuple[str, int, int]]:
        """Return state, done and total of each generation."""
        found = await self.engine.generations(SCOPE.tenant)
        return {one.model_id: (one.state, one.done, one.total) for one in found}


@asynccontextmanager
async def house(
    home: Path,
    wanted: Embedder | None,
    *others: ScriptedEmbedder,
    clock: MovingClock | None = None,
    batch_records: int = BATCH_RECORDS,
    owner: str = "me",
    opened: Callable[[Path], AbstractAsyncContextManager[WarmGenerations]] = edge_generations,
    is_alone: bool = True,
) -> AsyncIterator[House]:
    """Open a store with a wanted model, and others that can be opened to serve meanwhile.

    Args:
        home: The folder of cold and warm.
        wanted: The model to be used.
        others: Models that can be opened beside it.
        clock: The time.
        batch_records: Records between two saves.
        owner: Names the runtime.
        opened: Opens the warm engine.
        is_alone: Whether no other runtime has the store open.
    """
    ticking = clock or MovingClock()
    by_id = {other.model_id: other for other in others}

    def models(model_id: str) -> AbstractAsyncContextManager[Embedder] | None:
        return by_id.get(model_id)

    async with opened(home / "warm") as bare:
        engine = WatchedGenerations(bare)
        async with OpenGenerations(engine, SCOPE.tenant, wanted, models, ticking) as generations:
            index = SwitchingIndex(generations)
            async with sqlite_cold_store(home, archival_index=index) as cold:
                index.fill_in_from(cold.words)
                if is_alone:
                    await cold.upkeep.take_over()
                worker = Worker(
                    cold.queue, {"index": IndexHandler(cold.words, index)}, owner, ticking
                )
                reembedder = Reembedder(
                    generations,
                    cold.upkeep,
                    cold.words,
                    cold.leases,
                    owner,
                    ticking,
                    batch_records=batch_records,
                )
                await reembedder.begin()
                yield House(cold, engine, generations, index, reembedder, worker, ticking)


async def filled_store(
    home: Path,
    texts: Sequence[str] = TEXTS,
    opened: Callable[[Path], AbstractAsyncContextManager[WarmGenerations]] = edge_generations,
) -> list[Fact]:
    """Fill a store with the model ``old`` and close it."""
    if opened is edge_generations and texts is TEXTS:
        return await _copied_store(home)
    async with house(home, ScriptedEmbedder("old"), opened=opened) as built:
        return await built.remembered(texts)


_TEMPLATES: list[tuple[tempfile.TemporaryDirectory[str], list[Fact]]] = []


async def _copied_store(home: Path) -> list[Fact]:
    """Copy a store that is filled once: making an index costs more than copying one."""
    if not _TEMPLATES:
        made = tempfile.TemporaryDirectory(prefix="ezra-filled-")
        async with house(Path(made.name), ScriptedEmbedder("old")) as built:
            _TEMPLATES.append((made, await built.remembered(TEXTS)))
    made, facts = _TEMPLATES[0]
    for name in ("warm", DATABASE_NAME):
        copied(Path(made.name) / name, home / name)
    return list(facts)


_OVER = {"searchable": ("$.live", "false"), "facts": ("$.superseded_by", '"x"')}
"""What the records of a fact say when it is over, by their tables."""


def retire(home: Path, fact: Fact) -> None:
    """Supersede a fact as another process would, in the raw file."""
    with closing(raw_sqlite(home)) as connection:
        for table in ("searchable", "facts"):
            connection.execute(
                f"UPDATE {table} SET live = 0, body = json_set(body, ?, json(?)) WHERE id = ?",  # noqa: S608
                (*_OVER[table], fact.id),
            )


def index_work_of(fact: Fact) -> WorkDraft:
    """Return the work of bringing a fact's entry up to date."""
    return WorkDraft(kind="index", key=fact.id, agent_id=fact.agent_id, payload={"id": fact.id})

"""Many indexes on one server: reading them out, their marks, and leaving them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from qdrant_client import models
from support.qdrant_shim import QdrantShim, running_shim
from support.records import every_row
from support.tier_samples import DIMENSIONS, NOW, entry_of, query_of, record_id, scope_of

from tiers.errors import ConfigError, CorruptRecord, UsageError
from tiers.records import IndexEntry
from tiers.upkeep import Generation
from tiers.warm.payload import payload_of, point_id
from tiers.warm.qdrant_collection import DENSE, collection_name
from tiers.warm.qdrant_opening import qdrant_generations
from tiers.warm.qdrant_options import QdrantOptions
from tiers.warm.qdrant_store import QdrantWarmStore, qdrant_warm_store

SCOPE = scope_of()
NAME = collection_name("ezra", None)


@pytest.fixture
def server(shim: QdrantShim) -> Iterator[QdrantShim]:
    """A server without any collection at the beginning of each test."""
    yield shim
    shim.heal()
    shim.forget()


@pytest.fixture
async def store(server: QdrantShim) -> AsyncIterator[QdrantWarmStore]:
    """An open index without a model."""
    async with _opened(server) as opened:
        yield opened


def _opened(server: QdrantShim) -> AbstractAsyncContextManager[QdrantWarmStore]:
    options = QdrantOptions(timeout_seconds=20)
    return qdrant_warm_store(server.url, dimensions=DIMENSIONS, options=options)


def _estate() -> list[IndexEntry]:
    """Return entries of three graphs of two tenants, different where it matters."""
    made = []
    for number in range(250):
        owner = scope_of("acme", f"race{number % 3}")
        made.append(
            entry_of(
                owner,
                number,
                vector=None if number % 5 == 0 else (0.6, 0.8, 0.0, 0.0),
                private=number % 7 == 0,
                topics=("t", "u")[: number % 3],
                kind="fact" if number % 2 else "turn",
                tier="core" if number % 2 else None,
                user_id="u" if number % 4 else None,
                expires_at=NOW if number % 6 else None,
                source_ids=("s",),
                ref=f"r{number}",
                occurred_at=NOW,
                speaker="engineer",
            )
        )
    return made


async def test_export_gives_back_what_was_written(
    server: QdrantShim, store: QdrantWarmStore
) -> None:
    """Every entry of the tenant once, field by field, over pages, without marks and others'."""
    entries = _estate()
    for graph in range(3):
        owner = scope_of("acme", f"race{graph}")
        await store.upsert(owner, [one for one in entries if one.graph_id == f"race{graph}"])
    await store.upsert(scope_of("acm"), [entry_of(scope_of("acm"), 999)])
    async with qdrant_generations(server.url) as generations:
        mark = Generation(model_id=None, dimensions=DIMENSIONS, marked_at=NOW)
        await generations.mark("acme", mark)
    found = await every_row(lambda cursor: store.export_entries("acme", cursor, 110), 110)
    by_id = {entry.id: entry for entry in found}
    assert len(by_id) == len(found) == 250
    for entry in entries:
        twin = by_id[entry.id]
        assert twin.vector == (None if entry.vector is None else pytest.approx(entry.vector))
        assert twin.model_copy(update={"vector": entry.vector}) == entry


@pytest.mark.parametrize(("cursor", "limit"), [("x", 10), ("", 0), ("", 1001)])
async def test_bad_page_is_refused(store: QdrantWarmStore, cursor: str, limit: int) -> None:
    """A cursor that no page gave, or a limit out of range."""
    with pytest.raises(UsageError):
        await store.export_entries("acme", cursor, limit)


async def test_unreadable_point_is_corrupt(server: QdrantShim, store: QdrantWarmStore) -> None:
    """A point that somebody else wrote among ours is reported, not guessed at."""
    await store.upsert(SCOPE, [entry_of(SCOPE, 1)])
    broken = {**payload_of(entry_of(SCOPE, 1)), "recorded_at": "yesterday"}
    point = models.PointStruct(
        id=point_id(SCOPE, record_id(1)), vector={DENSE: [1.0, 0.0, 0.0, 0.0]}, payload=broken
    )
    server.collections[NAME].upsert([point])
    with pytest.raises(CorruptRecord):
        await store.search(SCOPE, query_of())
    with pytest.raises(CorruptRecord):
        await store.export_entries("acme", "", 10)


async def _marked(server: QdrantShim, *tenants: str) -> None:
    async with qdrant_generations(server.url) as generations:
        async with generations.opened(None, DIMENSIONS) as store:
            for tenant in tenants:
                scope = scope_of(tenant)
                await store.upsert(scope, [entry_of(scope, number) for number in range(3)])
        for tenant in tenants:
            mark = Generation(model_id=None, dimensions=DIMENSIONS, marked_at=NOW)
            await generations.mark(tenant, mark)


async def test_marks_are_seen_by_no_scope(server: QdrantShim) -> None:
    """They are counted, found and removed by nothing that a scope can ask."""
    await _marked(server, "acme")
    async with _opened(server) as store:
        assert await store.count(SCOPE) == 3
        assert len(await store.delete_expired(SCOPE, NOW)) == 0
        assert len(await store.search(SCOPE, query_of("generation acme"))) == 3
    assert server.collections[NAME].count(None) == 4


async def test_unreadable_mark_is_none(server: QdrantShim) -> None:
    """The index is then built from the start."""
    await _marked(server, "acme")
    async with qdrant_generations(server.url) as generations:
        (mark,) = await generations.generations("acme")
        assert mark.model_id is None
        point = models.PointStruct(
            id=1, vector={}, payload={"tenant": "b", "graph": "", "kind": "generation"}
        )
        server.collections[NAME].upsert([point.model_copy(update={"id": record_id(9)})])
        assert await generations.generations("b") == ()


async def test_open_index_is_not_dropped(server: QdrantShim) -> None:
    """What this process still uses is refused by name."""
    await _marked(server, "acme")
    async with qdrant_generations(server.url) as generations:
        async with generations.opened(None, DIMENSIONS) as store:
            with pytest.raises(ConfigError, match="open"):
                await generations.drop("acme", None)
            assert await store.count(SCOPE) == 3
        await generations.drop("acme", None)
    assert not server.collections


async def test_drop_that_was_cut_short_is_finished_at_the_next_opening(server: QdrantShim) -> None:
    """After the first step nothing looks whole; nothing that was removed comes back."""
    await _marked(server, "acme", "b")
    async with qdrant_generations(server.url) as generations:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("tiers.warm.qdrant_indexes._remove_tenant", _killed)
            with pytest.raises(KeyboardInterrupt):
                await generations.drop("acme", None)
        assert await generations.generations("acme") == ()
        assert len(await generations.generations("b")) == 1
        async with generations.opened(None, DIMENSIONS) as store:
            assert await store.count(SCOPE) == 0
            assert await store.count(scope_of("b")) == 3
        assert server.collections[NAME].count(None) == 4


async def _killed(*_args: object) -> None:
    raise KeyboardInterrupt


async def test_collection_with_somebody_elses_entries_is_kept(server: QdrantShim) -> None:
    """A tenant whose index is still being built has no mark yet, and loses nothing."""
    await _marked(server, "acme")
    async with _opened(server) as store:
        await store.upsert(scope_of("b"), [entry_of(scope_of("b"), 1)])
    async with qdrant_generations(server.url) as generations:
        await generations.drop("acme", None)
        await generations.drop("nobody", None)
        await generations.drop("acme", "never made")
    assert server.collections[NAME].count(None) == 1


async def test_dropped_while_being_listed_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the list and the look, another process removes a collection."""
    listed: Callable[..., Any] = QdrantShim._list

    async def list_and_lose(self: QdrantShim, request: Any) -> Any:
        names = await listed(self, request)
        self.collections.popitem()[1].close()
        return names

    monkeypatch.setattr(QdrantShim, "_list", list_and_lose)
    with running_shim() as own:
        await _marked(own, "acme")
        async with qdrant_generations(own.url) as generations:
            assert await generations.generations("acme") == ()

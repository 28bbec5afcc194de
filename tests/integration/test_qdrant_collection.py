"""The collection behind a warm index on a server: how it is made, checked, written and asked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from qdrant_client import models
from support.qdrant_collections import Collection
from support.qdrant_shim import QdrantShim
from support.tier_samples import (
    DIMENSIONS,
    NOW,
    ancestor,
    entry_of,
    heir_of,
    query_of,
    record_id,
    scope_of,
)

from tiers.errors import ConfigError, UsageError
from tiers.warm.payload import FORMAT, INTEGER_KEYS, KEYWORD_KEYS, owner_of, payload_of, point_id
from tiers.warm.qdrant_collection import (
    DENSE,
    EXACT_POINTS,
    LEXICAL,
    VERSION_MIN,
    collection_name,
    is_named,
    supported,
)
from tiers.warm.qdrant_options import QdrantOptions
from tiers.warm.qdrant_store import STEP_IDS, STEP_POINTS, QdrantWarmStore, qdrant_warm_store

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
    """A store with the over-fetch of the default."""
    async with _opened(server) as opened:
        server.requests.clear()
        yield opened


def _opened(server: QdrantShim, **options: Any) -> AbstractAsyncContextManager[QdrantWarmStore]:
    given = QdrantOptions(timeout_seconds=20, **options)
    return qdrant_warm_store(server.url, dimensions=DIMENSIONS, options=given)


def _bodies(server: QdrantShim, path: str) -> list[dict[str, Any]]:
    return [json.loads(seen.body) for seen in server.requests if seen.path.endswith(path)]


async def test_collection_is_made_as_it_is_described(server: QdrantShim) -> None:
    """Vectors, format, links inside graphs only, and exactly the indexes needed."""
    async with _opened(server):
        made, schema = server.collections[NAME].made, server.collections[NAME].schema
    assert isinstance(made.vectors, dict)
    assert made.sparse_vectors is not None
    assert made.hnsw_config is not None
    assert (made.vectors[DENSE].size, made.vectors[DENSE].distance) == (DIMENSIONS, "Cosine")
    assert made.sparse_vectors[LEXICAL].modifier == models.Modifier.IDF
    assert (made.hnsw_config.m, made.hnsw_config.payload_m) == (0, 16)
    assert made.hnsw_config.full_scan_threshold == EXACT_POINTS * DIMENSIONS * 4 / 1024 + 0.5
    assert made.metadata == {"ezra": {"format": FORMAT, "model_id": None}}
    assert list(schema) == [*KEYWORD_KEYS, *INTEGER_KEYS]
    linked = {key for key, params in schema.items() if params.enable_hnsw}
    tenants = {key for key, params in schema.items() if getattr(params, "is_tenant", None)}
    assert (linked, tenants) == ({"owner"}, {"tenant"})


async def test_options_reach_the_server(server: QdrantShim) -> None:
    """Shards, copies and quantization are asked for; nothing is when nothing is said."""
    async with _opened(server, shard_number=3, replication_factor=2, quantization="scalar"):
        info = server.collections[NAME].info()
    assert info.config.params.shard_number == 3
    assert info.config.params.replication_factor == 2
    assert isinstance(info.config.quantization_config, models.ScalarQuantization)
    server.collections.popitem()[1].close()
    async with _opened(server):
        made = server.collections[NAME].made
    assert made.shard_number is made.replication_factor is made.quantization_config is None


@pytest.mark.parametrize("quantization", ["scalar", "binary"])
async def test_compressed_vectors_only_choose_candidates(
    server: QdrantShim, quantization: str
) -> None:
    """The dense leg asks for more candidates and to score them with the full vectors."""
    async with _opened(server, quantization=quantization) as store:
        await store.upsert(SCOPE, [entry_of(SCOPE, 1)])
        assert len(await store.search(SCOPE, query_of("entry"))) == 1
        assert len(await store.search(SCOPE, query_of())) == 1
    both, alone = (body["searches"] for body in _bodies(server, "/query/batch"))
    asked = {"quantization": {"rescore": True, "oversampling": 2.0}}
    assert both[0]["params"] == alone[0]["params"] == asked
    assert list(both[1]["params"]) == ["idf"]


async def test_opening_again_changes_nothing(server: QdrantShim) -> None:
    """A collection that is there is only looked at."""
    async with _opened(server) as store:
        await store.upsert(SCOPE, [entry_of(SCOPE, 1)])
    server.requests.clear()
    async with _opened(server) as store:
        assert {seen.method for seen in server.requests} == {"GET"}
        assert await store.count(SCOPE) == 1


async def test_racing_openers_make_one_collection(server: QdrantShim) -> None:
    """Whoever comes second uses what the first made."""
    async with asyncio.TaskGroup() as group:

        async def write(number: int) -> None:
            async with _opened(server) as store:
                await store.upsert(SCOPE, [entry_of(SCOPE, number)])

        for number in range(4):
            group.create_task(write(number))
    async with _opened(server) as store:
        assert await store.count(SCOPE) == 4
    assert list(server.collections) == [NAME]


async def test_lost_indexes_are_made_again(server: QdrantShim) -> None:
    """What a crash while making them, or a hand, left out."""
    async with _opened(server):
        for key in ("tenant", "expires_at"):
            server.collections[NAME].unindex(key)
    server.requests.clear()
    async with _opened(server) as store:
        assert [body["field_name"] for body in _bodies(server, "/index")] == [
            "tenant",
            "expires_at",
        ]
        assert await store.count(SCOPE) == 0


def _vectors(size: int, distance: models.Distance) -> dict[str, models.VectorParams]:
    return {DENSE: models.VectorParams(size=size, distance=distance)}


_METADATA = {"ezra": {"format": FORMAT}}
_SOUND: dict[str, Any] = {
    "vectors": _vectors(DIMENSIONS, models.Distance.COSINE),
    "sparse_vectors": {LEXICAL: models.SparseVectorParams(modifier=models.Modifier.IDF)},
    "metadata": _METADATA,
}


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"vectors": _vectors(384, models.Distance.COSINE)}, "384 dimensions.* makes 4"),
        ({"vectors": _vectors(DIMENSIONS, models.Distance.DOT)}, "Dot, needed is Cosine"),
        ({"vectors": {}}, "no vector named dense"),
        ({"sparse_vectors": {LEXICAL: models.SparseVectorParams()}}, "None, needed is idf"),
        ({"sparse_vectors": None}, "no sparse vector named bm25"),
        ({"metadata": None}, "not made by ezra"),
        ({"metadata": {"ezra": "yes"}}, "not made by ezra"),
        *(
            (
                {"metadata": {"ezra": {"format": other}}},
                f"format {other}, this version reads {FORMAT}",
            )
            for other in (FORMAT - 1, FORMAT + 1)
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_other_collection_is_refused(
    server: QdrantShim, fields: dict[str, Any], said: str
) -> None:
    """The error names both sides and what to do, and the collection stays as it is."""
    server.collections[NAME] = Collection(models.CreateCollection(**{**_SOUND, **fields}))
    with pytest.raises(ConfigError, match=said) as caught:
        async with _opened(server):
            pass
    assert NAME in str(caught.value)
    assert "remove it" in str(caught.value)
    assert {seen.method for seen in server.requests} == {"GET"}


async def test_index_of_another_type_is_refused(server: QdrantShim) -> None:
    """An index that the conditions cannot use is not used."""
    server.collections[NAME] = Collection(models.CreateCollection(**_SOUND))
    wrong = models.CreateFieldIndex(
        field_name="expires_at",
        field_schema=models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD),
    )
    server.collections[NAME].index(wrong)
    with pytest.raises(ConfigError, match="indexes expires_at as keyword, needed is integer"):
        async with _opened(server):
            pass


def test_names_are_safe_bounded_and_different() -> None:
    """Whatever a model is called; names of other prefixes and of others are not taken for ours."""
    ids = [None, "", "words only", "words-only", "a/b", "a-b", "A/b", "é", "\ud800", "x" * 5000]
    names = {collection_name("ezra", model_id) for model_id in ids}
    assert len(names) == len(ids)
    for name in names:
        assert len(name) < 128
        assert name.isascii()
        assert name.replace("_", "").replace("-", "").isalnum()
        assert is_named("ezra", name)
        assert not is_named("ezr", name)
        assert not is_named("e", f"e_{name}")
    assert "gemini-embedding-001" in collection_name("ezra", "gemini/gemini-embedding-001@768")
    for other in ("ezra", "ezra_", "ezra_documents", f"{NAME}_old", f"{NAME} ", "", "ezra__"):
        assert not is_named("ezra", other)
    for prefix in ("", "a b", "a/b", "é", "x" * 65, ".."):
        with pytest.raises(UsageError, match="prefix"):
            collection_name(prefix, None)


def test_versions_are_numbers() -> None:
    """1.9 comes before 1.19, and what is no version is none."""
    assert VERSION_MIN == (1, 19)
    assert all(map(supported, ("1.19.0", "1.20.1-dev", "2.0.0", "10.1")))
    assert not any(map(supported, ("1.9.9", "1.18.7", "0.19.0", "", "v1.20", "latest")))


async def test_raw_engine_holds_what_was_written(
    server: QdrantShim, store: QdrantWarmStore
) -> None:
    """The stored point has the payload of the embedded engine and both vectors."""
    entry = entry_of(SCOPE, 7, "undercut window", vector=(0.0, 3.0, 0.0, 4.0), topics=("t",))
    await store.upsert(SCOPE, [entry])
    everything = models.ScrollRequest(limit=10, with_payload=True, with_vector=True)
    (point,) = server.collections[NAME].scroll(everything)["points"]
    assert point["id"] == point_id(SCOPE, entry.id)
    assert point["payload"] == payload_of(entry)
    assert point["vector"][DENSE] == pytest.approx([0.0, 0.6, 0.0, 0.8])
    assert len(point["vector"][LEXICAL]["indices"]) == 2


async def test_every_request_holds_to_tenant_and_graph(
    server: QdrantShim, store: QdrantWarmStore
) -> None:
    """Each leg, its word statistics, the texts, counts and removals carry the scope themselves."""
    await store.upsert(SCOPE, [entry_of(SCOPE, 1, expires_at=NOW), entry_of(SCOPE, 2)])
    for query in (query_of("entry"), query_of(), query_of("entry", vector=None)):
        await store.search(SCOPE, query)
    await store.count(SCOPE, "turn")
    await store.delete_expired(SCOPE, NOW)
    await store.delete(SCOPE, [record_id(2)])
    heir = heir_of(ancestor("race", "turn"), user_id="ada", denied=("fuel",))
    await store.search(heir, query_of("entry", inherited=True))
    own = owner_of("acme", "race")
    held = {own, owner_of("acme", "race", "turn")}
    conditions = [
        condition for seen in server.requests[1:] for condition in _filters(json.loads(seen.body))
    ]
    assert len(conditions) == 4 + 2 + 3 + 1 + 2 + 1 + 3
    for condition in conditions:
        first = condition["must"][0]
        assert first["key"] == "owner"
        assert first["match"]["value"] in held
    assert {seen.query.get("wait") for seen in server.requests if seen.method == "PUT"} == {"true"}


def _filters(body: Any) -> Iterator[dict[str, Any]]:
    """Yield every filter in a request's body, those of word statistics included."""
    if isinstance(body, list):
        for one in body:
            yield from _filters(one)
    elif isinstance(body, dict):
        for name, value in body.items():
            if name in {"filter", "corpus"}:
                yield value
            else:
                yield from _filters(value)


async def test_ancestors_are_one_request_however_many_there_are(
    server: QdrantShim, store: QdrantWarmStore
) -> None:
    """One to rank and none to read when nothing is found; none at all when nothing is carried."""
    many = [ancestor(f"g{number}", "rule") for number in range(100)]
    pinned = [ancestor(f"p{number}", "rule", as_of=NOW) for number in range(100)]
    query = query_of("entry", kinds=("rule",), inherited=True)
    for heir in (heir_of(*many), heir_of(*many, *pinned)):
        await store.search(heir, query)
    assert [seen.path.rsplit("/", 1)[-1] for seen in server.requests] == ["batch", "batch"]
    await store.search(heir_of(*many), query_of("entry", inherited=True))
    assert len(server.requests) == 2


async def test_long_batches_go_out_in_bounded_steps(server: QdrantShim) -> None:
    """Bounded by points, by text and by numbers, in order, and nothing is lost."""
    async with _opened(server) as store:
        await store.upsert(SCOPE, [entry_of(SCOPE, n) for n in range(2 * STEP_POINTS + 1)])
        sizes = [len(body["points"]) for body in _bodies(server, "/points")]
        assert sizes == [STEP_POINTS, STEP_POINTS, 1]
        server.requests.clear()
        long = [entry_of(SCOPE, n).model_copy(update={"text": "é" * 150_000}) for n in range(3)]
        await store.upsert(SCOPE, long)
        assert [len(body["points"]) for body in _bodies(server, "/points")] == [1, 1, 1]
        assert await store.count(SCOPE) == 2 * STEP_POINTS + 1
    server.requests.clear()
    async with qdrant_warm_store(server.url, model_id="large", dimensions=3072) as store:
        batch = [entry_of(SCOPE, n, vector=(1.0,) * 3072) for n in range(30)]
        await store.upsert(SCOPE, batch)
        assert [len(body["points"]) for body in _bodies(server, "/points")] == [13, 13, 4]
        page = await store.export_entries("acme", "", 1000)
        assert len(page.rows) == 30
        assert [body["limit"] for body in _bodies(server, "/scroll")] == [13, 13, 13]


async def test_cancelled_batch_keeps_whole_steps_and_may_be_repeated(
    server: QdrantShim, store: QdrantWarmStore
) -> None:
    """Cancellation passes through; repeating the batch completes it."""
    entries = [entry_of(SCOPE, number) for number in range(10 * STEP_POINTS)]
    task = asyncio.create_task(store.upsert(SCOPE, entries))
    while len(server.requests) < 3:  # noqa: ASYNC110 - another thread sees them arrive
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await store.upsert(SCOPE, entries)
    assert await store.count(SCOPE) == 10 * STEP_POINTS


async def test_what_goes_while_the_answer_is_made_is_left_out(
    server: QdrantShim, store: QdrantWarmStore
) -> None:
    """Between ranking and reading, an entry is removed, another becomes somebody's own."""
    await store.upsert(SCOPE, [entry_of(SCOPE, number) for number in range(3)])
    ranked = store._points.nearest

    async def interrupted(*args: Any) -> list[models.ScoredPoint]:
        found = await ranked(*args)
        engineer = scope_of(agent_id="engineer")
        await store.delete(SCOPE, [record_id(0)])
        await store.upsert(SCOPE, [entry_of(engineer, 1, private=True)])
        return found

    store._points.nearest = interrupted  # type: ignore[method-assign]
    assert [hit.id for hit in await store.search(SCOPE, query_of())] == [record_id(2)]


async def test_sweep_in_steps_keeps_what_was_written_anew(
    server: QdrantShim, store: QdrantWarmStore
) -> None:
    """Between finding and removing, an expired entry is prolonged: it stays."""
    await store.upsert(
        SCOPE, [entry_of(SCOPE, number, expires_at=NOW) for number in range(STEP_IDS + 20)]
    )
    remove = store._points.remove

    async def interrupted(*args: Any) -> None:
        await store.upsert(SCOPE, [entry_of(SCOPE, number) for number in range(STEP_IDS + 20)])
        store._points.remove = remove  # type: ignore[method-assign]
        await remove(*args)

    store._points.remove = interrupted  # type: ignore[method-assign]
    await store.delete_expired(SCOPE, NOW)
    assert await store.count(SCOPE) == STEP_IDS + 20
    assert len(await store.delete_expired(SCOPE, NOW)) == 0


async def test_user_that_cannot_be_named_is_refused(store: QdrantWarmStore) -> None:
    """A lone surrogate is the caller's mistake, not the driver's crash."""
    with pytest.raises(UsageError, match="user_id"):
        await store.search(SCOPE, query_of(user_id="\ud800"))
    for field in ("agent_id", "user_id"):
        with pytest.raises(UsageError, match=f"scope.{field}"):
            await store.search(SCOPE.model_copy(update={field: "\ud800"}), query_of())

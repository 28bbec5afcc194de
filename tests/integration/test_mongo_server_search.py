"""The stand-in for MongoDB in search: the life of an index, vectors, texts, and their fusion."""

from __future__ import annotations

import math
import random
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from bson import Binary
from bson.binary import BinaryVectorDtype
from pymongo import AsyncMongoClient
from pymongo.asynchronous.collection import AsyncCollection
from pymongo.errors import OperationFailure
from pymongo.operations import SearchIndexModel
from support.mongo_server import MongoServer, running_mongo

Documents = AsyncCollection[dict[str, Any]]

_VECTORS = SearchIndexModel(
    name="vectors",
    type="vectorSearch",
    definition={
        "fields": [
            {"type": "vector", "path": "v", "numDimensions": 3, "similarity": "cosine"},
            {"type": "filter", "path": "tenant"},
            {"type": "filter", "path": "topics"},
        ]
    },
)
_TEXTS = SearchIndexModel(
    name="texts",
    type="search",
    definition={
        "mappings": {
            "dynamic": False,
            "fields": {
                "text": {"type": "string"},
                "tenant": [{"type": "token"}, {"type": "string"}],
                "n": {"type": "number"},
                "live": {"type": "boolean"},
            },
        }
    },
)


@pytest.fixture(scope="module")
def shared() -> Iterator[MongoServer]:
    """One server of a version that fuses ranks."""
    with running_mongo(version=(8, 1, 0)) as server:
        yield server


@pytest.fixture
async def things(shared: MongoServer) -> AsyncIterator[Documents]:
    """A collection in a database of its own, which exists."""
    async with AsyncMongoClient[dict[str, Any]](shared.uri) as client:
        yield await client[shared.fresh_database()].create_collection("things")


async def _aggregated(things: Documents, *stages: dict[str, Any]) -> list[dict[str, Any]]:
    return await (await things.aggregate(list(stages))).to_list()


async def _listed(things: Documents, name: str | None = None) -> list[dict[str, Any]]:
    return await (await things.list_search_indexes(name)).to_list()


def _nearest(vector: Any, limit: int = 10, **more: Any) -> dict[str, Any]:
    stage = {"index": "vectors", "path": "v", "queryVector": vector, "limit": limit}
    return {"$vectorSearch": {**stage, "numCandidates": 100, **more}}


def _score(name: str) -> dict[str, Any]:
    return {"$project": {"score": {"$meta": name}}}


# Indexes.


async def test_life_of_a_search_index(things: Documents) -> None:
    """Created, listed with its definition, changed, dropped; errors as Atlas gives them."""
    assert await things.create_search_indexes([_VECTORS, _TEXTS]) == ["vectors", "texts"]
    (entry,) = await _listed(things, "vectors")
    assert entry["type"] == "vectorSearch"
    assert (entry["status"], entry["queryable"]) == ("READY", True)
    assert entry["latestDefinition"] == _VECTORS.document["definition"]
    with pytest.raises(OperationFailure) as caught:
        await things.create_search_index(_TEXTS)
    assert caught.value.code == 68
    await things.update_search_index("texts", {"mappings": {"dynamic": True}})
    (entry,) = await _listed(things, "texts")
    assert entry["latestDefinition"] == {"mappings": {"dynamic": True}}
    await things.drop_search_index("texts")
    assert [entry["name"] for entry in await _listed(things)] == ["vectors"]
    with pytest.raises(OperationFailure) as caught:
        await things.drop_search_index("texts")
    assert caught.value.code == 27
    with pytest.raises(OperationFailure) as caught:
        await things.database["nowhere"].create_search_index(_TEXTS)
    assert caught.value.code == 26


async def test_an_index_takes_time_to_build() -> None:
    """Until it has been listed often enough it answers nothing; an update keeps the old one."""
    with running_mongo(search_build_listings=2) as server:
        async with AsyncMongoClient[dict[str, Any]](server.uri) as client:
            things = client["d"]["things"]
            await things.insert_one({"_id": 1, "v": [1.0, 0.0, 0.0]})
            await things.create_search_index(_VECTORS)
            for _ in range(2):
                with pytest.raises(OperationFailure, match="while in state INITIAL_SYNC") as caught:
                    await _aggregated(things, _nearest([1.0, 0.0, 0.0]))
                assert caught.value.code == 8
                (entry,) = await _listed(things)
                assert (entry["status"], entry["queryable"]) == ("BUILDING", False)
            (entry,) = await _listed(things)
            assert (entry["status"], entry["queryable"]) == ("READY", True)
            wider = {
                "fields": [{**_VECTORS.document["definition"]["fields"][0], "numDimensions": 4}]
            }
            await things.update_search_index("vectors", wider)
            (entry,) = await _listed(things)
            assert (entry["status"], entry["queryable"]) == ("BUILDING", True)
            assert entry["latestDefinition"] == wider
            assert len(await _aggregated(things, _nearest([1.0, 0.0, 0.0]))) == 1
            await _listed(things)
            await _listed(things)
            with pytest.raises(OperationFailure, match="4 dimensions but queried with 3"):
                await _aggregated(things, _nearest([1.0, 0.0, 0.0]))


@pytest.mark.parametrize(
    ("kind", "definition"),
    [
        ("vectorSearch", {"fields": []}),
        ("vectorSearch", {"fields": [{"type": "filter", "path": "a"}]}),
        ("vectorSearch", {"fields": [{"type": "vector", "path": "v", "numDimensions": 3}]}),
        (
            "vectorSearch",
            {
                "fields": [
                    {
                        "type": "vector",
                        "path": "v",
                        "similarity": "cosine",
                        "numDimensions": 9000,
                    }
                ]
            },
        ),
        ("search", {}),
        ("search", {"mappings": {"fields": {"a": {"type": "autocomplete"}}}}),
        ("search", {"mappings": {"dynamic": True}, "analyzer": "lucene.english"}),
        ("other", {}),
    ],
)
async def test_definitions_that_are_refused(
    things: Documents, kind: str, definition: dict[str, Any]
) -> None:
    """A wrong definition, or one that is not implemented, makes no index."""
    command = {"name": "x", "type": kind, "definition": definition}
    with pytest.raises(OperationFailure):
        await things.database.command("createSearchIndexes", "things", indexes=[command])
    assert await _listed(things) == []


async def test_without_search() -> None:
    """A community server says that it cannot, in each of the known ways."""
    with running_mongo(search=False) as server:
        async with AsyncMongoClient[dict[str, Any]](server.uri) as client:
            things = await client["d"].create_collection("things")
            calls = (
                lambda: things.create_search_index(_TEXTS),
                lambda: _listed(things),
                lambda: _aggregated(things, _nearest([1.0, 0.0, 0.0])),
                lambda: _aggregated(things, {"$search": {"exists": {"path": "a"}}}),
            )
            for call in calls:
                with pytest.raises(OperationFailure, match="additional configuration") as caught:
                    await call()
                assert caught.value.code == 31082


# Vectors.


@pytest.mark.parametrize("similarity", ["cosine", "dotProduct", "euclidean"])
async def test_vector_search_is_exact(things: Documents, similarity: str) -> None:
    """Order and scores are those of a computation from the formulas, for lists and packed floats.

    Cosine and dot product: (1 + s) / 2; Euclidean: 1 / (1 + d^2) (the stage's documentation).
    """
    draw = random.Random(7)
    vectors = {n: [draw.uniform(-1, 1) for _ in range(8)] for n in range(60)}
    await things.insert_many(
        [
            {
                "_id": number,
                "v": vector
                if number % 2
                else Binary.from_vector(vector, BinaryVectorDtype.FLOAT32),
            }
            for number, vector in vectors.items()
        ]
    )
    await things.insert_many([{"_id": "short", "v": [1.0]}, {"_id": "none"}])
    field = {"type": "vector", "path": "v", "numDimensions": 8, "similarity": similarity}
    await things.create_search_index({
        "name": "vectors",
        "type": "vectorSearch",
        "definition": {"fields": [field]},
    })  # fmt: skip
    query = [draw.uniform(-1, 1) for _ in range(8)]

    def expected(vector: list[float]) -> float:
        dot = math.fsum(a * b for a, b in zip(vector, query, strict=True))
        if similarity == "euclidean":
            return 1 / (1 + math.dist(vector, query) ** 2)
        norms = math.hypot(*vector) * math.hypot(*query) if similarity == "cosine" else 1
        return (1 + dot / norms) / 2

    found = await _aggregated(things, _nearest(query, limit=20), _score("vectorSearchScore"))
    order = sorted(vectors, key=lambda number: expected(vectors[number]), reverse=True)[:20]
    assert [one["_id"] for one in found] == order
    assert [one["score"] for one in found] == pytest.approx(
        [expected(vectors[number]) for number in order], abs=1e-6
    )


_POINTS: list[dict[str, Any]] = [
    {"_id": 1, "v": [1.0, 0.0, 0.0], "tenant": "a", "topics": ["x"]},
    {"_id": 2, "v": [0.9, 0.1, 0.0], "tenant": "b", "topics": []},
    {"_id": 3, "v": [0.5, 0.5, 0.0], "tenant": "a", "topics": ["y", "z"]},
    {"_id": 4, "v": [0.0, 1.0, 0.0], "tenant": "a"},
]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"tenant": "a"}, [1, 3, 4]),
        ({"tenant": {"$in": ["b", "c"]}}, [2]),
        ({"$and": [{"tenant": {"$eq": "a"}}, {"topics": {"$nin": ["x"]}}]}, [3, 4]),
        ({"$or": [{"topics": "x"}, {"topics": {"$exists": False}}]}, [1, 4]),
        ({"tenant": {"$gte": "b"}}, [2]),
        ({"topics": {"$not": {"$in": ["x", "y"]}}}, [2, 4]),
        ({"tenant": {"$ne": "a"}}, [2]),
    ],
)
async def test_vector_search_filters_first(
    things: Documents, query: dict[str, Any], expected: list[int]
) -> None:
    """The limit counts what passes the filter."""
    await things.insert_many(_POINTS)
    await things.create_search_index(_VECTORS)
    found = await _aggregated(things, _nearest([1.0, 0.0, 0.0], limit=3, filter=query))
    assert [one["_id"] for one in found] == expected


async def test_vector_search_of_an_unknown_index_finds_nothing(things: Documents) -> None:
    """The trap of Atlas: a missing index is no error."""
    await things.insert_many(_POINTS)
    assert await _aggregated(things, _nearest([1.0, 0.0, 0.0])) == []


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"queryVector": [1.0]}, "indexed with 3 dimensions but queried with 1"),
        ({"path": "w"}, "w is not indexed as vector"),
        ({"filter": {"other": 1}}, "Path 'other' needs to be indexed as filter"),
        ({"filter": {"tenant": {"$regex": "a"}}}, "does not implement"),
        ({"numCandidates": 2}, "greater than or equal"),
        ({"numCandidates": None}, "numCandidates"),
        ({"exact": True}, "must be omitted"),
        ({"limit": 0}, "must be positive"),
        ({"returnStoredSource": True}, "does not implement"),
        ({"queryVector": [0.0, 0.0, 0.0]}, "zero vector"),
    ],
)
async def test_vector_searches_that_fail(
    things: Documents, more: dict[str, Any], problem: str
) -> None:
    """A question that does not fit the index is an error with Atlas's words."""
    await things.create_search_index(_VECTORS)
    with pytest.raises(OperationFailure, match=problem):
        await _aggregated(things, _nearest([1.0, 0.0, 0.0], **more))


# Texts.

_SAYINGS: list[dict[str, Any]] = [
    {"_id": 1, "text": "Medium tyres last eighteen laps", "tenant": "a", "n": 1, "live": True},
    {"_id": 2, "text": "Tyres, tyres and more tyres", "tenant": "a", "n": 5, "live": False},
    {"_id": 3, "text": "Rain is expected on lap nine", "tenant": "b", "n": 9, "live": True},
    {"_id": 4, "text": ["soft", "tyres"], "tenant": "b", "n": 2},
]


async def _said(things: Documents, operator: dict[str, Any]) -> list[dict[str, Any]]:
    return await _aggregated(
        things, {"$search": {"index": "texts", **operator}}, _score("searchScore")
    )


async def test_text_search_scores_by_bm25(things: Documents) -> None:
    """One word, against the formula: short documents and repetitions count more."""
    await things.insert_many(_SAYINGS)
    await things.create_search_index(_TEXTS)
    found = await _said(things, {"text": {"query": "TYRES!", "path": "text"}})
    rarity = math.log(1 + (4 - 3 + 0.5) / (3 + 0.5))

    def score(count: int, length: int) -> float:
        mean = (5 + 5 + 6 + 2) / 4
        return rarity * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length / mean))

    assert {one["_id"]: one["score"] for one in found} == pytest.approx(
        {2: score(3, 5), 4: score(1, 2), 1: score(1, 5)}
    )
    assert [one["_id"] for one in found] == [2, 4, 1]


@pytest.mark.parametrize(
    ("operator", "expected"),
    [
        ({"text": {"query": "rain medium", "path": "text"}}, {1, 3}),
        ({"text": {"query": "tyres medium", "path": "text", "matchCriteria": "all"}}, {1}),
        ({"text": {"query": ["rain", "soft"], "path": ["text", "tenant"]}}, {3, 4}),
        ({"text": {"query": "tyres", "path": "unmapped"}}, set()),
        ({"equals": {"path": "tenant", "value": "a"}}, {1, 2}),
        ({"equals": {"path": "live", "value": True}}, {1, 3}),
        ({"in": {"path": "n", "value": [1, 9]}}, {1, 3}),
        ({"range": {"path": "n", "gt": 1, "lte": 5}}, {2, 4}),
        ({"exists": {"path": "live"}}, {1, 2, 3}),
        (
            {
                "compound": {
                    "must": [{"text": {"query": "tyres", "path": "text"}}],
                    "filter": [{"equals": {"path": "tenant", "value": "a"}}],
                    "mustNot": [{"equals": {"path": "live", "value": False}}],
                }
            },
            {1},
        ),
        (
            {
                "compound": {
                    "filter": [{"exists": {"path": "n"}}],
                    "should": [{"text": {"query": "rain", "path": "text"}}],
                }
            },
            {1, 2, 3, 4},
        ),
        (
            {
                "compound": {
                    "should": [
                        {"text": {"query": "tyres", "path": "text"}},
                        {"range": {"path": "n", "gte": 2}},
                    ],
                    "minimumShouldMatch": 2,
                }
            },
            {2, 4},
        ),
    ],
)
async def test_text_operators(
    things: Documents, operator: dict[str, Any], expected: set[int]
) -> None:
    """Each operator matches what it says, alone and in a compound."""
    await things.insert_many(_SAYINGS)
    await things.create_search_index(_TEXTS)
    assert {one["_id"] for one in await _said(things, operator)} == expected


@pytest.mark.parametrize(
    ("operator", "problem"),
    [
        ({"equals": {"path": "text", "value": "soft"}}, "Path 'text' needs to be indexed as token"),
        ({"range": {"path": "tenant", "gt": 1}}, "Path 'tenant' needs to be indexed as number"),
        ({"text": {"query": "x", "path": "text", "fuzzy": {}}}, "does not implement"),
        ({"phrase": {"query": "x", "path": "text"}}, "does not implement"),
        ({"text": {"query": "", "path": "text"}}, "cannot be empty"),
        ({"exists": {"path": "n"}, "highlight": {"path": "n"}}, "does not implement"),
    ],
)
async def test_text_searches_that_fail(
    things: Documents, operator: dict[str, Any], problem: str
) -> None:
    """What the mapping does not hold, or the stand-in does not know, is an error."""
    await things.create_search_index(_TEXTS)
    with pytest.raises(OperationFailure, match=problem):
        await _said(things, operator)


async def test_scores_follow_changes(shared: MongoServer, things: Documents) -> None:
    """An updated, removed or tampered document is searched as it is now."""
    await things.insert_many(_SAYINGS)
    await things.create_search_index(_TEXTS)
    rain = {"text": {"query": "rain", "path": "text"}}
    assert [one["_id"] for one in await _said(things, rain)] == [3]
    await things.update_one({"_id": 1}, {"$set": {"text": "rain"}})
    await things.delete_one({"_id": 3})
    assert [one["_id"] for one in await _said(things, rain)] == [1]
    with shared.tampering() as client:
        client[things.database.name]["things"].update_one({"_id": 1}, {"$set": {"text": "sun"}})
    assert await _said(things, rain) == []


# Fusion.


def _fused(weights: dict[str, float] | None = None, **pipelines: Any) -> dict[str, Any]:
    stage: dict[str, Any] = {"input": {"pipelines": pipelines}}
    if weights is not None:
        stage["combination"] = {"weights": weights}
    return {"$rankFusion": stage}


async def test_rank_fusion(things: Documents) -> None:
    """Each document's score is the sum of weight / (60 + rank) over the pipelines."""
    await things.insert_many([{**point, **_SAYINGS[point["_id"] - 1]} for point in _POINTS])
    await things.create_search_indexes([_VECTORS, _TEXTS])
    texts = [
        {"$search": {"index": "texts", "text": {"query": "tyres", "path": "text"}}},
        {"$match": {"n": {"$gt": 1}}},
        {"$limit": 10},
    ]
    vectors = [_nearest([1.0, 0.0, 0.0], limit=2)]
    fused = _fused({"vectors": 2.0}, texts=texts, vectors=vectors)
    found = await _aggregated(things, fused, _score("score"))
    # Vectors: 1, 2. Texts: 2, 4.
    assert {one["_id"]: one["score"] for one in found} == pytest.approx(
        {2: 1 / 61 + 2 / 62, 1: 2 / 61, 4: 1 / 62}
    )
    assert [one["_id"] for one in found] == [2, 1, 4]


@pytest.mark.parametrize(
    "stage",
    [
        _fused(a=[{"$project": {"v": 1}}]),
        _fused(a=[{"$match": {}}]),
        _fused({"b": 1}, a=[{"$sort": {"n": 1}}]),
        _fused({"a": -1}, a=[{"$sort": {"n": 1}}]),
        _fused(**{"a.b": [{"$sort": {"n": 1}}]}),
        _fused(),
        {
            "$rankFusion": {
                "input": {"pipelines": {"a": [{"$sort": {"n": 1}}]}},
                "scoreDetails": True,
            }
        },
    ],
)
async def test_fusions_that_are_refused(things: Documents, stage: dict[str, Any]) -> None:
    """Only ranked pipelines that select are fused, under proper names and weights."""
    with pytest.raises(OperationFailure):
        await _aggregated(things, stage)


async def test_rank_fusion_needs_its_version() -> None:
    """A server of version 8.0 does not know the stage."""
    with running_mongo(version=(8, 0, 0)) as server:
        async with AsyncMongoClient[dict[str, Any]](server.uri) as client:
            with pytest.raises(OperationFailure, match=r"Unrecognized .* '\$rankFusion'") as caught:
                await _aggregated(client["d"]["things"], _fused(a=[{"$sort": {"n": 1}}]))
    assert caught.value.code == 40324

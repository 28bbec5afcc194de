"""The stand-in for MongoDB in search: the life of an index, and vectors."""

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


@pytest.fixture(scope="module")
def shared() -> Iterator[MongoServer]:
    """One server for the tests that do it no harm."""
    with running_mongo() as server:
        yield server


@pytest.fixture
async def things(shared: MongoServer) -> AsyncIterator[Documents]:
    """A collection in a database of its own, which exists."""
    async with AsyncMongoClient[dict[str, Any]](shared.uri) as client:
        yield await client[shared.fresh_database()].create_collection("things")


async def _aggregated(things: Documents, *stages: dict[str, Any]) -> list[dict[str, Any]]:
    return await (await things.aggregate(list(stages))).to_list()


async def _listed(things: Documents) -> list[dict[str, Any]]:
    return await (await things.list_search_indexes()).to_list()


def _packed(*numbers: float) -> Binary:
    return Binary.from_vector(list(numbers), BinaryVectorDtype.FLOAT32)


_QUERY = _packed(1.0, 0.0, 0.0)


def _nearest(vector: Any, limit: int = 10, **more: Any) -> dict[str, Any]:
    stage = {"index": "vectors", "path": "v", "queryVector": vector, "limit": limit}
    return {"$vectorSearch": {**stage, "numCandidates": 100, **more}}


# Indexes.


async def test_life_of_a_search_index(things: Documents) -> None:
    """Created, listed with its definition, changed; errors as Atlas gives them."""
    assert await things.create_search_indexes([_VECTORS]) == ["vectors"]
    (entry,) = await _listed(things)
    assert (entry["name"], entry["type"]) == ("vectors", "vectorSearch")
    assert (entry["status"], entry["queryable"]) == ("READY", True)
    assert entry["latestDefinition"] == _VECTORS.document["definition"]
    with pytest.raises(OperationFailure) as caught:
        await things.create_search_index(_VECTORS)
    assert caught.value.code == 68
    other = {"fields": _VECTORS.document["definition"]["fields"][:2]}
    await things.update_search_index("vectors", other)
    (entry,) = await _listed(things)
    assert entry["latestDefinition"] == other
    with pytest.raises(OperationFailure) as caught:
        await things.update_search_index("nowhere", other)
    assert caught.value.code == 27
    with pytest.raises(OperationFailure) as caught:
        await things.database["nowhere"].create_search_index(_VECTORS)
    assert caught.value.code == 26


async def test_an_index_takes_time_to_build() -> None:
    """Until it has been listed often enough it answers nothing; an update keeps the old one."""
    with running_mongo(search_build_listings=2) as server:
        async with AsyncMongoClient[dict[str, Any]](server.uri) as client:
            things = client["d"]["things"]
            await things.insert_one({"_id": 1, "v": _QUERY})
            await things.create_search_index(_VECTORS)
            for _ in range(2):
                with pytest.raises(OperationFailure, match="while in state INITIAL_SYNC") as caught:
                    await _aggregated(things, _nearest(_QUERY))
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
            assert len(await _aggregated(things, _nearest(_QUERY))) == 1
            await _listed(things)
            await _listed(things)
            with pytest.raises(OperationFailure, match="4 dimensions but queried with 3"):
                await _aggregated(things, _nearest(_QUERY))


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
        ("vectorSearch", {"fields": [{"type": "text", "path": "a"}]}),
        ("search", {"mappings": {"dynamic": True}}),
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
    """A community server says that it cannot, whatever it is asked."""
    with running_mongo(search=False) as server:
        async with AsyncMongoClient[dict[str, Any]](server.uri) as client:
            things = await client["d"].create_collection("things")
            calls = (
                lambda: things.create_search_index(_VECTORS),
                lambda: _listed(things),
                lambda: _aggregated(things, _nearest(_QUERY)),
            )
            for call in calls:
                with pytest.raises(OperationFailure, match="additional configuration") as caught:
                    await call()
                assert caught.value.code == 31082


# Vectors.


async def test_vector_search_is_exact(things: Documents) -> None:
    """In the order of the cosine; what has no vector of the index's length is not in it."""
    draw = random.Random(7)
    vectors = {n: [draw.uniform(-1, 1) for _ in range(8)] for n in range(60)}
    stored = [{"_id": number, "v": _packed(*vector)} for number, vector in vectors.items()]
    await things.insert_many([*stored, {"_id": "short", "v": _packed(1.0)}, {"_id": "none"}])
    field = {"type": "vector", "path": "v", "numDimensions": 8, "similarity": "cosine"}
    index = {"name": "vectors", "type": "vectorSearch", "definition": {"fields": [field]}}
    await things.create_search_index(index)
    query = [draw.uniform(-1, 1) for _ in range(8)]

    def near(number: int) -> float:
        vector = vectors[number]
        dot = math.fsum(a * b for a, b in zip(vector, query, strict=True))
        return dot / math.hypot(*vector)

    found = await _aggregated(things, _nearest(_packed(*query), limit=20))
    assert [one["_id"] for one in found] == sorted(vectors, key=near, reverse=True)[:20]


async def test_vectors_that_the_stand_in_does_not_compare(things: Documents) -> None:
    """By another similarity than the cosine, or given as arrays: refused when they are met."""
    field = {**_VECTORS.document["definition"]["fields"][0], "similarity": "euclidean"}
    index = {"name": "vectors", "type": "vectorSearch", "definition": {"fields": [field]}}
    await things.create_search_index(index)
    with pytest.raises(OperationFailure, match="does not implement"):
        await _aggregated(things, _nearest(_QUERY))
    await things.update_search_index("vectors", _VECTORS.document["definition"])
    with pytest.raises(OperationFailure, match="does not implement"):
        await _aggregated(things, _nearest([1.0, 0.0, 0.0]))
    await things.insert_one({"v": [1.0, 0.0, 0.0]})
    with pytest.raises(OperationFailure, match="does not implement"):
        await _aggregated(things, _nearest(_QUERY))


_POINTS: list[dict[str, Any]] = [
    {"_id": 1, "v": _packed(1.0, 0.0, 0.0), "tenant": "a", "topics": ["x"]},
    {"_id": 2, "v": _packed(0.9, 0.1, 0.0), "tenant": "b", "topics": []},
    {"_id": 3, "v": _packed(0.5, 0.5, 0.0), "tenant": "a", "topics": ["y", "z"]},
    {"_id": 4, "v": _packed(0.0, 1.0, 0.0), "tenant": "a"},
]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"tenant": "a"}, [1, 3, 4]),
        ({"tenant": {"$in": ["b", "c"]}}, [2]),
        ({"$and": [{"tenant": {"$eq": "a"}}, {"topics": {"$nin": ["x"]}}]}, [3, 4]),
        ({"$or": [{"topics": "x"}, {"tenant": "b"}]}, [1, 2]),
        ({"tenant": {"$gte": "b"}}, [2]),
        ({"tenant": {"$ne": "a"}}, [2]),
    ],
)
async def test_vector_search_filters_first(
    things: Documents, query: dict[str, Any], expected: list[int]
) -> None:
    """The limit counts what passes the filter."""
    await things.insert_many(_POINTS)
    await things.create_search_index(_VECTORS)
    found = await _aggregated(things, _nearest(_QUERY, limit=3, filter=query))
    assert [one["_id"] for one in found] == expected


async def test_vector_search_of_an_unknown_index_finds_nothing(things: Documents) -> None:
    """The trap of Atlas: a missing index is no error."""
    await things.insert_many(_POINTS)
    assert await _aggregated(things, _nearest(_QUERY)) == []


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"queryVector": _packed(1.0)}, "indexed with 3 dimensions but queried with 1"),
        ({"path": "w"}, "w is not indexed as vector"),
        ({"filter": {"other": 1}}, "Path 'other' needs to be indexed as filter"),
        ({"filter": {"tenant": {"$regex": "a"}}}, "does not implement"),
        ({"filter": {"tenant": {"$not": {"$in": ["a"]}}}}, "does not implement"),
        ({"numCandidates": 2}, "greater than or equal"),
        ({"numCandidates": None}, "numCandidates"),
        ({"exact": True}, "does not implement"),
        ({"limit": 0}, "must be positive"),
        ({"returnStoredSource": True}, "does not implement"),
        ({"queryVector": _packed(0.0, 0.0, 0.0)}, "zero vector"),
    ],
)
async def test_vector_searches_that_fail(
    things: Documents, more: dict[str, Any], problem: str
) -> None:
    """A question that does not fit the index is an error with Atlas's words."""
    await things.create_search_index(_VECTORS)
    with pytest.raises(OperationFailure, match=problem):
        await _aggregated(things, _nearest(_QUERY, **more))

"""The stand-in for MongoDB in search: the life of an index, and vectors."""

from __future__ import annotations

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


# Vectors.


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

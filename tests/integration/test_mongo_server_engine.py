"""The stand-in for MongoDB: against itself, against mongomock, and in search."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from typing import Any

import pytest
from bson import Binary
from bson.binary import BinaryVectorDtype
from mongomock.filtering import filter_applies
from pymongo import AsyncMongoClient
from pymongo.asynchronous.collection import AsyncCollection
from pymongo.errors import OperationFailure
from pymongo.operations import SearchIndexModel
from support.held import held
from support.mongo_server import MongoServer, running_mongo
from support.mongo_server.filters import compile_filter
from support.mongo_server.planning import matching
from support.mongo_server.store import Collection
from support.mongo_server.uniqueness import Index
from support.mongo_server.values import key_of, sort_key

# The stand-in for MongoDB against itself and against mongomock, on random documents.

_KEYS: tuple[dict[str, int], ...] = (
    {"a": 1},
    {"a": 1, "b": -1},
    {"b": 1, "a": 1, "c": 1},
    {"c.d": 1},
    {"tags": 1, "b": 1},
)


SEEDS = [*range(6), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(6, 20))]


def _value(draw: random.Random) -> Any:
    return draw.choice([None, True, 1, 2, 3, 2.5, "x", "y"])


def _document(draw: random.Random, number: int) -> dict[str, Any]:
    document: dict[str, Any] = {"_id": number}
    for name in ("a", "b"):
        if draw.random() < 0.9:
            document[name] = _value(draw)
    if draw.random() < 0.7:
        document["c"] = draw.choice([{"d": _value(draw)}, [{"d": 1}, {"d": 2}], 3])
    if draw.random() < 0.7:
        document["tags"] = draw.sample(["p", "q", "r"], draw.randrange(4))
    return document


def _condition(draw: random.Random) -> Any:
    bound = draw.choice([1, 2, "x"])
    return draw.choice(
        [
            _value(draw),
            {"$in": [_value(draw), _value(draw)]},
            {"$ne": _value(draw)},
            {"$gt": bound},
            {"$gte": bound, "$lt": draw.choice([3, "z"])},
            {"$lte": bound},
            {"$exists": draw.random() < 0.5},
        ]
    )


def _query(draw: random.Random) -> dict[str, Any]:
    fields = draw.sample(["a", "b", "c.d", "tags"], draw.randrange(1, 4))
    query = {field: _condition(draw) for field in fields}
    if "tags" in query:
        query["tags"] = draw.choice(["p", {"$in": ["p", "q"]}, {"$nin": ["r"]}, [], ["p"]])
    return query


def _filled(draw: random.Random, *, size: int) -> Collection:
    target = Collection("d", "c")
    for number in range(size):
        document = _document(draw, number)
        target.put(key_of(number), document)
    return target


@pytest.mark.parametrize("seed", SEEDS)
def test_an_index_changes_no_answer(seed: int) -> None:
    """With any indexes, a query finds what a scan finds, in the same order where one was asked."""
    draw = random.Random(seed)
    target = _filled(draw, size=80)
    for number, key in enumerate(draw.sample(_KEYS, 3)):
        target.add_index(Index({"v": 2, "key": key, "name": f"i{number}"}))
    for _ in range(60):
        query = _query(draw)
        test = compile_filter(query)
        scanned = [document for document in target.every() if test(document)]
        found = matching(target, query)
        assert {one["_id"] for one in found} == {one["_id"] for one in scanned}, query
        assert len(found) == len(scanned)
        way = draw.choice([1, -1])
        sort = [(path, way) for path in draw.sample(["a", "b", "_id"], 2)]
        limit = draw.choice([None, 5])
        ordered = matching(target, query, sort, limit)
        keys = [[sort_key(one, (path,), way) for path, way in sort] for one in scanned]
        expected = sorted(keys, reverse=way < 0)[:limit]
        assert [[sort_key(one, (path,), way) for path, way in sort] for one in ordered] == expected


def test_two_bounds_may_be_met_by_two_elements_of_an_array() -> None:
    """So an index must not be asked for what lies between them."""
    target = Collection("d", "c")
    target.put(key_of(1), {"_id": 1, "a": [1, 5]})
    target.add_index(Index({"v": 2, "key": {"a": 1}, "name": "a"}))
    assert len(matching(target, {"a": {"$gt": 2, "$lt": 3}})) == 1


@pytest.mark.parametrize("seed", range(5))
def test_indexes_follow_every_write(seed: int) -> None:
    """After random writes the indexes are those that would be built anew."""
    draw = random.Random(seed)
    target = _filled(draw, size=40)
    for number, key in enumerate(_KEYS):
        target.add_index(Index({"v": 2, "key": key, "name": f"i{number}"}))
    for _ in range(200):
        number = draw.randrange(60)
        target.put(key_of(number), None if draw.random() < 0.3 else _document(draw, number))
    followed = {name: index.entries for name, index in target.declared.items()}
    target.reindex()
    assert {name: index.entries for name, index in target.declared.items()} == followed


@pytest.mark.parametrize("seed", SEEDS)
def test_filters_agree_with_mongomock(seed: int) -> None:
    """A second opinion, where mongomock is right: no booleans beside numbers, no empty paths."""
    draw = random.Random(seed)
    documents = [_document(draw, number) for number in range(60)]
    for document in documents:
        for name in ("a", "b"):
            if document.get(name) is True:
                document[name] = "true"
        if not isinstance(document.get("c", {}), dict) or document.get("c") == {"d": True}:
            del document["c"]
    for _ in range(60):
        query = {
            path: "true" if condition is True else condition
            for path, condition in _query(draw).items()
            if "True" not in repr(condition) or "$exists" in repr(condition)
        }
        test = compile_filter(query)
        ours = [document["_id"] for document in documents if test(document)]
        theirs = [document["_id"] for document in documents if filter_applies(query, document)]
        assert ours == theirs, query


# The stand-in for MongoDB in search: the life of an index, and vectors.

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


shared = held(running_mongo, "module")
"""One server for the tests that do it no harm."""


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
                    {"type": "vector", "path": "v", "similarity": "cosine", "numDimensions": 9000}
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

"""The stand-in for MongoDB as it is written to: updates, upserts, unique indexes, batches."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import bson
import pytest
from bson import Int64, ObjectId
from pymongo import AsyncMongoClient, IndexModel, InsertOne, UpdateOne
from pymongo.asynchronous.collection import AsyncCollection
from pymongo.errors import (
    BulkWriteError,
    DuplicateKeyError,
    OperationFailure,
    WriteError,
)
from support.mongo_server import MongoServer, running_mongo

Documents = AsyncCollection[dict[str, Any]]


@pytest.fixture(scope="module")
def shared() -> Iterator[MongoServer]:
    """One server for the tests that do it no harm."""
    with running_mongo() as server:
        yield server


@pytest.fixture
async def things(shared: MongoServer) -> AsyncIterator[Documents]:
    """A collection in a database of its own, through the real driver."""
    async with AsyncMongoClient[dict[str, Any]](shared.uri) as client:
        yield client[shared.fresh_database()]["things"]


async def _ids(things: Documents, query: dict[str, Any]) -> list[Any]:
    return [found["_id"] async for found in things.find(query).sort("_id", 1)]


@pytest.mark.parametrize(
    ("before", "update", "after"),
    [
        ({"a": 1}, {"$set": {"b": {"c": 2}}, "$unset": {"a": ""}}, {"b": {"c": 2}}),
        ({"a": 1}, {"$set": {"a": Int64(1)}}, {"a": Int64(1)}),
        ({"a": 1}, {"$set": {"a": 1}}, {"a": 1}),
        ({"a": 1}, {"$unset": {"b": ""}}, {"a": 1}),
    ],
)
async def test_updates(
    things: Documents, before: dict[str, Any], update: dict[str, Any], after: dict[str, Any]
) -> None:
    """Each operator changes the document as the manual says, and types are kept."""
    await things.insert_one({"_id": 1, **before})
    result = await things.update_one({"_id": 1}, update)
    found = await things.find_one({})
    assert found == {"_id": 1, **after}
    assert [type(value) for value in found.values()] == [int, *map(type, after.values())]
    changes = bson.encode(before) != bson.encode(after)
    assert (result.matched_count, result.modified_count) == (1, int(changes))


@pytest.mark.parametrize(
    ("update", "code"),
    [
        ({"$set": {"_id": 2}}, 66),
        ({"$unset": {"_id": ""}}, 66),
        ({"$set": {"a": 1}, "$unset": {"a": ""}}, 40),
        ({"$set": {"": 1}}, 56),
        ({"$set": 1}, 9),
        ({"$nonsense": {"a": 1}}, 9),
    ],
)
async def test_updates_that_fail(things: Documents, update: dict[str, Any], code: int) -> None:
    """What MongoDB refuses is refused with its code, and the document stays."""
    await things.insert_one({"_id": 1, "n": 1, "text": "x"})
    with pytest.raises(WriteError) as caught:
        await things.update_one({}, update)
    assert caught.value.code == code
    assert await things.find_one({}) == {"_id": 1, "n": 1, "text": "x"}


async def test_upserts(things: Documents) -> None:
    """An upsert starts from the filter's equalities; asked again it changes nothing."""
    query = {"key": "k", "$and": [{"part": {"$eq": 1}}], "n": {"$gt": 5}}
    update = {"$set": {"n": 6, "text": "first"}}
    first = await things.update_one(query, update, upsert=True)
    assert isinstance(first.upserted_id, ObjectId)
    again = await things.update_one(query, update, upsert=True)
    assert (again.matched_count, again.modified_count, again.upserted_id) == (1, 0, None)
    assert await things.find_one({}, {"_id": 0}) == {
        "key": "k",
        "part": 1,
        "n": 6,
        "text": "first",
    }


async def test_racing_upserts(things: Documents) -> None:
    """Twenty upserts of one key make one document."""
    await things.create_index("key", unique=True)
    await asyncio.gather(
        *(
            things.update_one({"key": "k"}, {"$set": {"by": number}}, upsert=True)
            for number in range(20)
        ),
    )
    assert await things.count_documents({"key": "k"}) == 1


# Uniqueness.


async def test_duplicate_key_is_reported_as_by_mongodb(things: Documents) -> None:
    """The error names index, pattern and value, in the message's known form too."""
    await things.create_index([("a", 1), ("b", -1)], unique=True)
    await things.insert_one({"_id": 1, "a": "x", "b": None})
    with pytest.raises(DuplicateKeyError) as caught:
        await things.insert_one({"_id": 2, "a": "x"})
    details = caught.value.details or {}
    assert details["keyPattern"] == {"a": 1, "b": -1}
    assert details["keyValue"] == {"a": "x", "b": None}
    assert details["errmsg"] == (
        f"E11000 duplicate key error collection: {things.full_name} index: a_1_b_-1 "
        'dup key: { a: "x", b: null }'
    )
    with pytest.raises(DuplicateKeyError, match=r"index: _id_ dup key: \{ _id: 1 \}"):
        await things.insert_one({"_id": 1, "a": "other"})


@pytest.mark.parametrize(
    ("options", "first", "second", "collides"),
    [
        ({}, {"k": ["a", "b"]}, {"k": ["b", "c"]}, True),
        ({}, {"k": ["a", "a"]}, {"k": "b"}, False),
        ({}, {"k": 1}, {"k": True}, False),
        ({}, {"k": 1}, {"k": 1.0}, True),
        ({}, {}, {"k": None}, True),
        ({"partialFilterExpression": {"live": True}}, {"k": 1, "live": True}, {"k": 1}, False),
        (
            {"partialFilterExpression": {"live": True}},
            {"k": 1, "live": True},
            {"k": 1, "live": True},
            True,
        ),
        ({"partialFilterExpression": {"k": {"$exists": True}}}, {}, {}, False),
        ({"partialFilterExpression": {"k": {"$exists": True}}}, {"k": None}, {"k": None}, True),
        ({"partialFilterExpression": {"n": {"$gt": 1}}}, {"k": 1, "n": 2}, {"k": 1, "n": 2}, True),
    ],
)
async def test_uniqueness(
    things: Documents,
    options: dict[str, Any],
    first: dict[str, Any],
    second: dict[str, Any],
    *,
    collides: bool,
) -> None:
    """Insert, update, replacement and upsert all meet a unique index, over arrays one by one."""
    await things.create_index("k", unique=True, **options)
    await things.insert_one({"_id": 1, **first})
    attempts = [
        lambda: things.insert_one({"_id": 2, **second}),
        lambda: things.update_one({"_id": 2}, {"$set": {"x": 1, **second}}, upsert=True),
        lambda: things.replace_one({"_id": 3}, second),
    ]
    if "k" in second:  # otherwise the document keeps its own
        attempts.append(lambda: things.update_one({"_id": 3}, {"$set": second}))
    for attempt in attempts:
        await things.delete_many({"_id": {"$gt": 1}})
        await things.insert_one({"_id": 3, "k": "far"})
        if collides:
            with pytest.raises(DuplicateKeyError):
                await attempt()
        else:
            await attempt()


async def test_unique_index_over_what_is_there(things: Documents) -> None:
    """It is refused when documents collide, and the key is free again once its holder is gone."""
    await things.insert_many([{"_id": 1, "k": "a"}, {"_id": 2, "k": "a"}])
    with pytest.raises(DuplicateKeyError):
        await things.create_index("k", unique=True)
    await things.delete_one({"_id": 1})
    await things.create_index("k", unique=True)
    await things.update_one({"_id": 2}, {"$set": {"k": "b"}})
    await things.insert_one({"_id": 3, "k": "a"})
    assert set(await things.index_information()) == {"_id_", "k_1"}


async def test_bulk_errors_by_index(things: Documents) -> None:
    """A batch ends at its first error, and says where."""
    with pytest.raises(BulkWriteError) as caught:
        await things.insert_many([{"_id": 0}, {"_id": 0}, {"_id": 2}])
    assert [error["index"] for error in caught.value.details["writeErrors"]] == [1]
    assert caught.value.details["nInserted"] == 1
    assert await _ids(things, {}) == [0]
    with pytest.raises(BulkWriteError) as caught:
        await things.bulk_write(
            [
                InsertOne({"_id": 5}),
                UpdateOne({"_id": 0}, {"$set": {"n": 1}}),
                UpdateOne({"_id": 0}, {"$set": {"_id": 1}}),
                UpdateOne({"_id": 0}, {"$set": {"n": 2}}),
            ]
        )
    assert [error["index"] for error in caught.value.details["writeErrors"]] == [2]
    assert await things.find_one({"_id": 0}) == {"_id": 0, "n": 1}


async def test_indexes_are_declared_once(things: Documents) -> None:
    """The same index again is nothing; another one of its name or key is a conflict."""
    await things.create_indexes([IndexModel("a"), IndexModel([("b", 1), ("c", -1)], unique=True)])
    await things.create_index("a")
    for clash in ({"name": "a_1", "unique": True}, {"name": "other"}):
        with pytest.raises(OperationFailure) as caught:
            await things.create_index("a", **clash)
        assert caught.value.code in {85, 86}
    await things.drop_index("a_1")
    with pytest.raises(OperationFailure) as caught:
        await things.drop_index("a_1")
    assert caught.value.code == 27
    assert set(await things.index_information()) == {"_id_", "b_1_c_-1"}

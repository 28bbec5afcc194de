"""The stand-in for MongoDB as it is written to: operators, upserts, unique indexes, batches."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from bson import Int64, ObjectId
from pymongo import AsyncMongoClient, IndexModel, InsertOne, ReturnDocument, UpdateOne
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
        ({"a": 1}, {"$set": {"b.c": 2}, "$unset": {"a": ""}}, {"b": {"c": 2}}),
        ({"a": 1}, {"$inc": {"a": 2, "n": 5}}, {"a": 3, "n": 5}),
        ({"a": 2**31 - 1}, {"$inc": {"a": 1}}, {"a": Int64(2**31)}),
        ({"a": [1]}, {"$push": {"a": {"$each": [2, 3], "$slice": -2}}}, {"a": [2, 3]}),
        ({}, {"$push": {"a": {"b": 1}}}, {"a": [{"b": 1}]}),
        ({"a": [1, 2]}, {"$addToSet": {"a": {"$each": [2, True]}}}, {"a": [1, 2, True]}),
        ({"a": [1, 2, 3]}, {"$pull": {"a": {"$gte": 2}}}, {"a": [1]}),
        ({"a": [{"b": 1, "c": 1}, {"b": 2}]}, {"$pull": {"a": {"b": 1}}}, {"a": [{"b": 2}]}),
        ({"a": 5, "b": 5}, {"$max": {"a": 7}, "$min": {"b": 3, "c": 1}}, {"a": 7, "b": 3, "c": 1}),
        ({"a": [{"b": 1}]}, {"$set": {"a.0.b": 2}}, {"a": [{"b": 2}]}),
        ({"a": 1}, {"$setOnInsert": {"a": 2}}, {"a": 1}),
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
    assert (result.matched_count, result.modified_count) == (1, int(before != after))


@pytest.mark.parametrize(
    ("update", "code"),
    [
        ({"$inc": {"text": 1}}, 14),
        ({"$inc": {"n": "1"}}, 14),
        ({"$set": {"n.x": 1}}, 28),
        ({"$push": {"n": 1}}, 2),
        ({"$set": {"_id": 2}}, 66),
        ({"$set": {"a": 1}, "$inc": {"a": 1}}, 40),
        ({"$set": {"a": 1, "a.b": 1}}, 40),
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
    query = {"key": "k", "$and": [{"part.a": {"$eq": 1}}], "n": {"$gt": 5}}
    update = {"$setOnInsert": {"n": 6, "text": "first"}}
    first = await things.update_one(query, update, upsert=True)
    assert isinstance(first.upserted_id, ObjectId)
    again = await things.update_one(query, update, upsert=True)
    assert (again.matched_count, again.modified_count, again.upserted_id) == (1, 0, None)
    assert await things.find_one({}, {"_id": 0}) == {
        "key": "k",
        "part": {"a": 1},
        "n": 6,
        "text": "first",
    }
    await things.replace_one({"_id": "r"}, {"text": "new"}, upsert=True)
    assert await things.find_one({"_id": "r"}) == {"_id": "r", "text": "new"}


async def test_find_one_and_change(things: Documents) -> None:
    """Claiming the first in order returns the document before or after, or nothing."""
    await things.insert_many([{"_id": number, "free": True} for number in (3, 1, 2)])
    claim = {"$set": {"free": False}}
    before = await things.find_one_and_update({"free": True}, claim, sort=[("_id", 1)])
    after = await things.find_one_and_update(
        {"free": True}, claim, sort=[("_id", 1)], return_document=ReturnDocument.AFTER
    )
    assert before == {"_id": 1, "free": True}
    assert after == {"_id": 2, "free": False}
    assert await things.find_one_and_delete({"free": True}) == {"_id": 3, "free": True}
    assert await things.find_one_and_update({"free": True}, claim) is None
    upserted = await things.find_one_and_update(
        {"_id": 9}, {"$inc": {"n": 1}}, upsert=True, return_document=ReturnDocument.AFTER
    )
    assert upserted == {"_id": 9, "n": 1}


async def test_racing_increments_and_upserts(things: Documents) -> None:
    """Nothing is lost among fifty increments, and twenty upserts of one key make one document."""
    await things.create_index("key", unique=True)
    await asyncio.gather(
        *(things.update_one({"_id": "n"}, {"$inc": {"n": 1}}, upsert=True) for _ in range(50)),
        *(
            things.update_one({"key": "k"}, {"$setOnInsert": {"by": number}}, upsert=True)
            for number in range(20)
        ),
    )
    assert (await things.find_one({"_id": "n"}) or {})["n"] == 50
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
        ({"sparse": True}, {}, {}, False),
        ({"sparse": True}, {"k": None}, {"k": None}, True),
        ({"partialFilterExpression": {"live": True}}, {"k": 1, "live": True}, {"k": 1}, False),
        (
            {"partialFilterExpression": {"live": True}},
            {"k": 1, "live": True},
            {"k": 1, "live": True},
            True,
        ),
        ({"partialFilterExpression": {"k": {"$exists": True}}}, {}, {}, False),
        ({"partialFilterExpression": {"k": {"$type": "string"}}}, {"k": 1}, {"k": 1}, False),
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


@pytest.mark.parametrize(("ordered", "stored"), [(True, [0]), (False, [0, 2])])
async def test_bulk_errors_by_index(things: Documents, *, ordered: bool, stored: list[int]) -> None:
    """An ordered batch ends at its first error, an unordered one goes on; both say where."""
    with pytest.raises(BulkWriteError) as caught:
        await things.insert_many([{"_id": 0}, {"_id": 0}, {"_id": 2}], ordered=ordered)
    assert [error["index"] for error in caught.value.details["writeErrors"]] == [1]
    assert caught.value.details["nInserted"] == len(stored)
    assert await _ids(things, {}) == stored
    with pytest.raises(BulkWriteError) as caught:
        await things.bulk_write(
            [
                InsertOne({"_id": 5}),
                UpdateOne({"_id": 0}, {"$inc": {"n": 1}}),
                UpdateOne({"_id": 0}, {"$inc": {"n": "x"}}),
                UpdateOne({"_id": 0}, {"$inc": {"n": 1}}),
            ],
            ordered=ordered,
        )
    assert [error["index"] for error in caught.value.details["writeErrors"]] == [2]
    assert (await things.find_one({"_id": 0}) or {})["n"] == len(stored)


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
    await things.drop_indexes()
    assert set(await things.index_information()) == {"_id_"}

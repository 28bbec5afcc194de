"""The stand-in for MongoDB where it refuses, fails on request, is away, and keeps rules."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from pymongo import AsyncMongoClient
from pymongo.asynchronous.collection import AsyncCollection
from pymongo.errors import BulkWriteError, NotPrimaryError, OperationFailure, WriteError
from support.held import held
from support.mongo_server import MongoServer, running_mongo

Documents = AsyncCollection[dict[str, Any]]


shared = held(running_mongo, "module")
"""One server for the tests that do it no harm."""


@pytest.fixture
async def things(shared: MongoServer) -> AsyncIterator[Documents]:
    """A collection in a database of its own, through the real driver."""
    async with AsyncMongoClient[dict[str, Any]](shared.uri) as client:
        yield client[shared.fresh_database()]["things"]


server = held(running_mongo)
"""A server of its own, for a test that hurts it."""


# Refusals.


def _stage(stage: dict[str, Any]) -> dict[str, Any]:
    return {"aggregate": "things", "pipeline": [stage], "cursor": {}}


def _change(update: Any, **more: Any) -> dict[str, Any]:
    return {"update": "things", "updates": [{"q": {}, "u": update, **more}]}


def _index(**more: Any) -> dict[str, Any]:
    return {"createIndexes": "things", "indexes": [{"key": {"a": 1}, "name": "a", **more}]}


_LATE_SEARCH = [{"$limit": 1}, {"$vectorSearch": {}}]


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ({"mapReduce": "things"}, 59),
        ({"find": "things", "collation": {"locale": "en"}}, 238),
        ({"find": "things", "filter": {"a": {"$regex": "x"}}}, 238),
        ({"find": "things", "filter": {"$nor": [{"a": 1}]}}, 238),
        ({"find": "things", "filter": {"a": {"$elemMatch": {"$gt": 1}}}}, 238),
        ({"find": "things", "filter": {"a": {"$gt": None}}}, 238),
        ({"find": "things", "projection": {"a": {"$slice": 1}}}, 238),
        ({"find": "things", "sort": {"a": {"$meta": "textScore"}}}, 238),
        ({"find": "things", "hint": "no_such_index"}, 2),
        (_stage({"$facet": {}}), 238),
        (_stage({"$unionWith": {"coll": "x", "pipeline": [{"$facet": {}}]}}), 238),
        (_stage({"$set": {"a": "$b"}}), 238),
        (_stage({"$project": {"a": {"$toUpper": "$b"}}}), 238),
        (_stage({"$project": {"a": "$$ROOT"}}), 238),
        (_stage({"$group": {"_id": ["$a"]}}), 238),
        (_stage({"$group": {"_id": 1, "a": {"$push": "$b"}}}), 238),
        ({"aggregate": "things", "pipeline": _LATE_SEARCH, "cursor": {}}, 40602),
        (_change([{"$set": {"a": 1}}]), 238),
        (_change({"$inc": {"a": 2}}), 238),
        (_change({"a": 2}, upsert=True), 238),
        (_change({"$set": {"a.$": 2}}), 238),
        (_change({"$set": {"a": 1}}, upsert=True, multi=True), 238),
        (_change({"$set": {"a": 1}}, arrayFilters=[{"x": 1}]), 238),
        ({"insert": "things", "documents": [{}], "ordered": False}, 238),
        ({"create": "things", "validator": {"a": {"$gt": 1}}}, 238),
        ({"create": "things", "validator": {"$jsonSchema": {"pattern": "x"}}}, 238),
        ({"create": "things", "validationLevel": "moderate"}, 238),
        (_index(key={"a": "text"}), 238),
        (_index(sparse=True), 238),
        (_index(partialFilterExpression={"$or": [{"a": 1}]}), 238),
        ({"getMore": 12345, "collection": "things"}, 43),
    ],
)
async def test_refusals(things: Documents, command: dict[str, Any], code: int) -> None:
    """What is not implemented is an error even over an empty collection, and changes nothing."""
    with pytest.raises(OperationFailure) as caught:
        await things.database.command(command)
    assert caught.value.code == code
    assert await things.database.list_collection_names() == []


async def test_a_refused_update_changes_nothing(things: Documents) -> None:
    """The refusal comes before any document is written."""
    await things.insert_one({"_id": 1, "a": 1})
    with pytest.raises(OperationFailure):
        await things.update_one({}, {"$set": {"b": 1}, "$inc": {"a": 2}})
    assert await things.find_one({}) == {"_id": 1, "a": 1}


# Validators.

_SCHEMA = {
    "bsonType": "object",
    "required": ["kind", "n"],
    "properties": {
        "_id": {},
        "n": {"bsonType": ["int", "long"]},
        "text": {"bsonType": "string", "minLength": 1},
    },
}


def _missing(broken: dict[str, Any]) -> dict[str, str]:
    return {name: "" for name in ("n", "text") if name not in broken}


@pytest.mark.parametrize(
    "broken",
    [
        {"kind": "a"},
        {"kind": "a", "n": 1.0},
        {"kind": "a", "n": True},
        {"kind": "a", "n": 1, "text": ""},
        {"kind": "a", "n": 1, "text": 1},
    ],
)
async def test_validator(things: Documents, broken: dict[str, Any]) -> None:
    """Insert and update are checked, and what fails is named."""
    await things.database.create_collection("things", validator={"$jsonSchema": _SCHEMA})
    await things.insert_one({"_id": 1, "kind": "a", "n": 1, "text": "abc"})
    with pytest.raises(WriteError) as caught:
        await things.insert_one(broken)
    details = (caught.value.details or {})["errInfo"]["details"]
    assert caught.value.code == 121
    assert details["schemaRulesNotSatisfied"]
    with pytest.raises(WriteError):
        await things.update_one({"_id": 1}, {"$set": broken, "$unset": _missing(broken)})
    assert (await things.find_one({}) or {})["text"] == "abc"


async def test_a_validator_is_changed(things: Documents) -> None:
    """``collMod`` sets rules, which hold for later writes, and takes them away."""
    database, schema = things.database, {"$jsonSchema": _SCHEMA}
    await things.insert_one({"_id": "old"})
    await database.command("collMod", "things", validator=schema, validationLevel="strict")
    for write in (things.insert_one({}), things.update_one({"_id": "old"}, {"$set": {"x": 1}})):
        with pytest.raises(WriteError):
            await write
    (info,) = [found async for found in await database.list_collections()]
    assert info["options"]["validator"] == schema
    assert info["options"]["validationAction"] == "error"
    await database.command("collMod", "things", validator={})
    await things.insert_one({})


# Failures on request.


@pytest.mark.parametrize("after", [False, True])
async def test_a_cut_write_is_retried_and_done_once(
    shared: MongoServer, things: Documents, *, after: bool
) -> None:
    """The driver asks again under the same number, and gets the first answer."""
    shared.clear_commands()
    shared.fail_next("insert", close_connection=True, after=after)
    await things.insert_one({"_id": 1})
    assert await things.find_one({}) == {"_id": 1}
    sent = [entry for entry in shared.commands if entry["name"] == "insert"]
    assert len({entry["envelope"]["txnNumber"] for entry in sent}) == 1
    assert len(sent) == 2


async def test_a_cut_batch_gets_its_first_answer(shared: MongoServer, things: Documents) -> None:
    """A retried batch reports the errors of the first time, not those of a second."""
    await things.insert_one({"_id": 2})
    shared.fail_next("insert", close_connection=True, after=True)
    with pytest.raises(BulkWriteError) as caught:
        await things.insert_many([{"_id": 1}, {"_id": 2}])
    assert [error["index"] for error in caught.value.details["writeErrors"]] == [1]


async def test_a_primary_that_steps_down_is_retried(shared: MongoServer, things: Documents) -> None:
    """The label that a server adds by itself is there, unless a test says otherwise."""
    shared.fail_next("insert", code=10107)
    await things.insert_one({"_id": 1})
    shared.fail_next("insert", code=10107, error_labels=())
    with pytest.raises(NotPrimaryError):
        await things.insert_one({"_id": 2})
    assert await things.count_documents({}) == 1


# Outages.


async def test_a_write_retried_while_its_first_try_is_stuck_happens_once(
    server: MongoServer,
) -> None:
    """Both tries arrive in the end, and the second one gets the first one's answer."""
    async with AsyncMongoClient[dict[str, Any]](server.uri, socketTimeoutMS=400) as client:
        things = client["d"]["things"]
        with server.frozen():
            write = asyncio.ensure_future(things.insert_one({"_id": 1}))
            await asyncio.wait([write], timeout=0.5)
        assert (await write).inserted_id == 1
        assert await things.find_one({}) == {"_id": 1}

"""The stand-in for MongoDB where it refuses, fails on request, is away, and keeps rules."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from pymongo import AsyncMongoClient, UpdateOne
from pymongo.asynchronous.collection import AsyncCollection
from pymongo.errors import (
    AutoReconnect,
    BulkWriteError,
    NetworkTimeout,
    NotPrimaryError,
    OperationFailure,
    ServerSelectionTimeoutError,
    WriteError,
)
from support.mongo_server import MongoServer, running_mongo
from support.processes import PATIENCE_SECONDS

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


@pytest.fixture
def server() -> Iterator[MongoServer]:
    """A server of its own, for a test that hurts it."""
    with running_mongo() as running:
        yield running


# Refusals.


@pytest.mark.parametrize(
    ("command", "code"),
    [
        *(
            ({name: "things"}, 59)
            for name in ("mapReduce", "count", "distinct", "findAndModify", "dropSearchIndex")
        ),
        ({"find": "things", "collation": {"locale": "en"}}, 238),
        ({"find": "things", "nonsense": 1}, 238),
        ({"find": "things", "filter": {"a": {"$regex": "x"}}}, 238),
        ({"find": "things", "filter": {"$expr": {}}}, 238),
        *(
            ({"find": "things", "filter": wanted}, 238)
            for wanted in (
                {"a": {"$type": "string"}},
                {"a": {"$size": 1}},
                {"a": {"$all": [1]}},
                {"a": {"$elemMatch": {"$gt": 1}}},
                {"$nor": [{"a": 1}]},
            )
        ),
        ({"find": "things", "filter": {"a": {"$gt": None}}}, 238),
        ({"find": "things", "projection": {"a": {"$slice": 1}}}, 238),
        ({"find": "things", "sort": {"a": {"$meta": "textScore"}}}, 238),
        ({"find": "things", "hint": "no_such_index"}, 2),
        ({"aggregate": "things", "pipeline": [{"$facet": {}}], "cursor": {}}, 238),
        ({"aggregate": "things", "pipeline": [{"$out": "other"}], "cursor": {}}, 238),
        ({"aggregate": "things", "pipeline": [], "cursor": {}, "explain": True}, 238),
        (
            {
                "aggregate": "things",
                "pipeline": [{"$project": {"a": {"$toUpper": "$b"}}}],
                "cursor": {},
            },
            238,
        ),
        (
            {
                "aggregate": "things",
                "pipeline": [{"$group": {"_id": 1, "a": {"$stdDevPop": "$b"}}}],
                "cursor": {},
            },
            238,
        ),
        *(
            ({"aggregate": "things", "pipeline": [stage], "cursor": {}}, 238)
            for stage in (
                {"$lookup": {"from": "x", "pipeline": [], "as": "y"}},
                {"$graphLookup": {"from": "things"}},
                {"$search": {"text": {"query": "x", "path": "a"}}},
                {"$rankFusion": {"input": {}}},
                {"$unwind": "$a"},
                {"$unionWith": "others"},
                {"$unionWith": {"coll": "x", "pipeline": [{"$facet": {}}]}},
                {"$set": {"a": "$b"}},
                {"$set": {"a.b": 1}},
                {"$project": {"a.b": 1}},
                {"$project": {"a": {"$literal": 1}}},
                {"$project": {"a": "$$ROOT"}},
                {"$group": {"_id": {"$add": ["$a", 1]}}},
                {"$group": {"_id": ["$a"]}},
                {"$group": {"_id": 1, "a": {"$push": "$b"}}},
            )
        ),
        (
            {
                "aggregate": "things",
                "pipeline": [{"$limit": 1}, {"$vectorSearch": {}}],
                "cursor": {},
            },
            40602,
        ),
        ({"update": "things", "updates": [{"q": {}, "u": [{"$set": {"a": 1}}]}]}, 238),
        *(
            ({"update": "things", "updates": [{"q": {}, "u": {operator: {"a": 2}}}]}, 238)
            for operator in ("$inc", "$max", "$setOnInsert", "$push", "$addToSet", "$pull", "$mul")
        ),
        ({"update": "things", "updates": [{"q": {}, "u": {"$set": {"a.$": 2}}}]}, 238),
        ({"update": "things", "updates": [{"q": {}, "u": {"$unset": {"a.b": ""}}}]}, 238),
        ({"update": "things", "updates": [{"q": {}, "u": {"a": 1}, "upsert": True}]}, 238),
        (
            {
                "update": "things",
                "updates": [{"q": {}, "u": {"$set": {"a": 1}}, "upsert": True, "multi": True}],
            },
            238,
        ),
        (
            {
                "update": "things",
                "updates": [{"q": {"a.b": 1}, "u": {"$set": {"a": 1}}, "upsert": True}],
            },
            238,
        ),
        ({"insert": "things", "documents": [{}], "ordered": False}, 238),
        (
            {
                "update": "things",
                "updates": [{"q": {}, "u": {"$set": {"a.$[x]": 2}}, "arrayFilters": [{"x": 1}]}],
            },
            238,
        ),
        ({"create": "things", "capped": True, "size": 1}, 238),
        ({"create": "things", "validator": {"a": {"$gt": 1}}}, 238),
        ({"create": "things", "validator": {"$jsonSchema": {"pattern": "x"}}}, 238),
        ({"create": "things", "validator": {"$jsonSchema": {"enum": ["x"]}}}, 238),
        ({"create": "things", "validationLevel": "moderate"}, 238),
        ({"create": "things", "validationAction": "warn"}, 238),
        ({"createIndexes": "things", "indexes": [{"key": {"a": "text"}, "name": "t"}]}, 238),
        *(
            ({"createIndexes": "things", "indexes": [{"key": {"a": 1}, "name": "a"} | more]}, 238)
            for more in (
                {"sparse": True},
                {"expireAfterSeconds": 1},
                {"partialFilterExpression": {"$or": [{"a": 1}]}},
            )
        ),
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
    """Insert, replacement and update are checked, and what fails is named."""
    await things.database.create_collection("things", validator={"$jsonSchema": _SCHEMA})
    await things.insert_one({"_id": 1, "kind": "a", "n": 1, "text": "abc"})
    with pytest.raises(WriteError) as caught:
        await things.insert_one(broken)
    details = (caught.value.details or {})["errInfo"]["details"]
    assert caught.value.code == 121
    assert details["schemaRulesNotSatisfied"]
    with pytest.raises(WriteError):
        await things.replace_one({"_id": 1}, broken)
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


async def test_injected_error(shared: MongoServer, things: Documents) -> None:
    """A command fails with the code asked for, as often as asked for, and only there."""
    shared.fail_next("insert", code=50, message="too slow", times=2, collection="things")
    await things.database["others"].insert_one({})
    for _ in range(2):
        with pytest.raises(OperationFailure, match="too slow") as caught:
            await things.insert_one({"_id": 1})
        assert caught.value.code == 50
    await things.insert_one({"_id": 1})


async def test_injected_error_after_the_write(shared: MongoServer, things: Documents) -> None:
    """The write has happened, though its answer is an error."""
    shared.fail_next("insert", code=64, after=True)
    with pytest.raises(OperationFailure):
        await things.insert_one({"_id": 1})
    assert await things.count_documents({}) == 1


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


async def test_stop_and_start_keep_what_is_stored(server: MongoServer) -> None:
    """A killed server is unreachable; back on its port it holds everything, indexes included."""
    async with AsyncMongoClient[dict[str, Any]](server.uri, serverSelectionTimeoutMS=200) as client:
        things = client["d"]["things"]
        await things.create_index("k", unique=True)
        await things.insert_one({"_id": 1, "k": 1})
        server.stop()
        with pytest.raises((AutoReconnect, ServerSelectionTimeoutError)):
            await things.find_one({})
        server.start()
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                try:
                    assert await things.find_one({}) == {"_id": 1, "k": 1}
                    break
                except (AutoReconnect, ServerSelectionTimeoutError):
                    continue
        with pytest.raises(WriteError):
            await things.insert_one({"_id": 2, "k": 1})


async def test_frozen_server_times_out_and_acts_later(server: MongoServer) -> None:
    """Nobody is answered; a write that was given up is executed when the process goes on."""
    async with AsyncMongoClient[dict[str, Any]](
        server.uri, socketTimeoutMS=400, retryWrites=False
    ) as client:
        things = client["d"]["things"]
        await things.insert_one({"_id": 0})
        with server.frozen():
            begun = time.monotonic()
            with pytest.raises(NetworkTimeout):
                await things.insert_one({"_id": 1})
            assert time.monotonic() - begun >= 0.3
        async with asyncio.timeout(PATIENCE_SECONDS):
            while await things.count_documents({}) < 2:
                pass  # the connection that carries the late write is another one


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


async def test_reset_forgets_everything(server: MongoServer) -> None:
    """A shared server can be made as good as new."""
    async with AsyncMongoClient[dict[str, Any]](server.uri) as client:
        await client["d"]["c"].bulk_write([UpdateOne({"_id": 1}, {"$set": {"a": 1}}, upsert=True)])
        server.fail_next("find", code=50)
        server.reset()
        assert server.commands == []
        assert await client["d"]["c"].find_one({}) is None
        assert server.client.list_database_names() == []

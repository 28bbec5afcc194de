"""The stand-in for MongoDB, as the real drivers see it: reading, writing, rules, failures."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from motor.motor_asyncio import AsyncIOMotorClient
from pymongo import AsyncMongoClient, WriteConcern
from pymongo.asynchronous.collection import AsyncCollection
from pymongo.errors import (
    DuplicateKeyError,
    OperationFailure,
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


async def _ids(things: Documents, query: dict[str, Any]) -> list[Any]:
    return [found["_id"] async for found in things.find(query).sort("_id", 1)]


# Connections.


@pytest.mark.parametrize("mode", ["standalone", "replica_set"])
async def test_handshake(mode: Any) -> None:
    """The driver finds the topology that the knob says, and a version."""
    with running_mongo(mode=mode) as server:
        async with AsyncMongoClient[dict[str, Any]](server.uri) as client:
            info = await client.admin.command("buildInfo")
            topology = client.topology_description.topology_type_name
            assert await client.admin.command("ping") == {"ok": 1.0}
    assert info["versionArray"] == [8, 0, 0, 0]
    assert topology == ("ReplicaSetWithPrimary" if mode == "replica_set" else "Single")


async def test_motor_works_too(shared: MongoServer) -> None:
    """The former driver reads, writes and runs a transaction."""
    client: Any = AsyncIOMotorClient(shared.uri)
    things = client[shared.fresh_database()]["things"]
    await things.insert_many([{"_id": number} for number in range(250)])
    assert len(await things.find().batch_size(100).to_list(None)) == 250
    with pytest.raises(DuplicateKeyError):
        await things.insert_one({"_id": 1})
    async with await client.start_session() as session:
        async with session.start_transaction():
            await things.delete_one({"_id": 1}, session=session)
        assert await things.count_documents({}) == 249
    client.close()


async def test_commands_are_recorded(shared: MongoServer, things: Documents) -> None:
    """A test can pin what was sent: fields, document sequences, database, and the session apart."""
    shared.clear_commands()
    await things.insert_many([{"_id": 1}, {"_id": 2}])
    await things.find_one({"_id": 1}, sort=[("_id", -1)])
    inserted, found = shared.commands
    assert inserted["name"] == "insert"
    assert inserted["database"] == things.database.name
    assert inserted["body"] == {
        "insert": "things",
        "ordered": True,
        "documents": [{"_id": 1}, {"_id": 2}],
    }
    assert {"lsid", "txnNumber", "$db"} <= inserted["envelope"].keys()
    assert found["body"]["sort"] == {"_id": -1}
    assert found["body"]["filter"] == {"_id": 1}


async def test_stored_documents_can_be_read_and_tampered_with(
    shared: MongoServer, things: Documents
) -> None:
    """Beside the driver, a mongomock client sees and changes the same documents."""
    await things.create_index("key")
    await things.insert_one({"_id": 1, "key": "old"})
    database = things.database.name
    assert list(shared.client[database]["things"].find()) == [{"_id": 1, "key": "old"}]
    with shared.tampering() as client:
        client[database]["things"].update_one({"_id": 1}, {"$set": {"key": "new"}})
    assert await _ids(things, {"key": "new"}) == [1]
    assert await _ids(things, {"key": "old"}) == []


async def test_unacknowledged_write(things: Documents) -> None:
    """A write without an answer is executed, and does not disturb the next answer."""
    await things.with_options(write_concern=WriteConcern(w=0)).insert_one({"_id": 1})
    async with asyncio.timeout(PATIENCE_SECONDS):
        while await things.count_documents({}) == 0:
            pass  # its connection need not be this one


# Reading.


async def test_batches(shared: MongoServer, things: Documents) -> None:
    """A long answer comes in batches and leaves no cursor behind, even when it is given up."""
    await things.insert_many([{"_id": number} for number in range(500)])
    shared.clear_commands()
    assert await _ids(things, {}) == list(range(500))
    assert [entry["name"] for entry in shared.commands] == ["find", "getMore"]
    shared.clear_commands()
    assert len(await things.find().batch_size(50).to_list()) == 500
    assert [entry["name"] for entry in shared.commands] == ["find"] + ["getMore"] * 9
    cursor = things.find().batch_size(10)
    await anext(cursor)
    assert shared.open_cursors == 1
    await cursor.close()
    assert shared.open_cursors == 0


_SAMPLES: list[dict[str, Any]] = [
    {"_id": 0, "a": 1},
    {"_id": 1, "a": True},
    {"_id": 2, "a": None},
    {"_id": 3},
    {"_id": 4, "a": [1, 5]},
    {"_id": 5, "a": "x"},
    {"_id": 6, "a": {"b": 1, "c": 2}},
    {"_id": 7, "a": [{"b": 1, "c": 9}, {"b": 3, "c": 2}]},
    {"_id": 8, "a": []},
    {"_id": 9, "a": 2.5},
]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"a": 1}, [0, 4]),
        ({"a": True}, [1]),
        ({"a": None}, [2, 3]),
        ({"a": {"$ne": 1}}, [1, 2, 3, 5, 6, 7, 8, 9]),
        ({"a": {"$in": [1, "x", None]}}, [0, 2, 3, 4, 5]),
        ({"a": {"$in": [[1, 5]]}}, [4]),
        ({"a": {"$nin": [1, None]}}, [1, 5, 6, 7, 8, 9]),
        ({"a": {"$gt": 1}}, [4, 9]),
        ({"a": {"$gte": 1, "$lt": 2}}, [0, 4]),
        ({"a": {"$gt": 1, "$lt": 3}}, [4, 9]),
        ({"a": {"$gt": 2, "$lt": 2.4}}, [4]),
        ({"a": {"$not": {"$gt": 1}}}, [0, 1, 2, 3, 5, 6, 7, 8]),
        ({"a": {"$exists": False}}, [3]),
        ({"a": [1, 5]}, [4]),
        ({"a": {"b": 1, "c": 2}}, [6]),
        ({"a": {"c": 2, "b": 1}}, []),
        ({"a.b": 1}, [6, 7]),
        ({"a.b": None}, [0, 1, 2, 3, 5, 9]),
        ({"a.1": 5}, [4]),
        ({"a.b": 1, "a.c": 2}, [6, 7]),
        ({"a": {"$elemMatch": {"b": 1, "c": 2}}}, []),
        ({"a": {"$elemMatch": {"b": 3, "c": 2}}}, [7]),
        ({"$or": [{"a": "x"}, {"a": []}]}, [5, 8]),
        ({"$and": [{"a": 1}, {"_id": {"$gt": 0}}]}, [4]),
    ],
)
async def test_filters_follow_mongodb(
    things: Documents, query: dict[str, Any], expected: list[int]
) -> None:
    """Types, null, missing fields and arrays match as the manual says; an index changes nothing."""
    await things.insert_many(_SAMPLES)
    assert await _ids(things, query) == expected
    await things.create_index("a")
    await things.create_index("a.b")
    assert await _ids(things, query) == expected


@pytest.mark.parametrize("indexed", [False, True])
async def test_order(things: Documents, *, indexed: bool) -> None:
    """Types have an order, arrays sort by their least or greatest element, null and missing tie."""
    await things.insert_many([sample for sample in _SAMPLES if sample["_id"] != 7])
    if indexed:
        await things.create_index([("a", -1), ("_id", -1)])
    up = [found["_id"] async for found in things.find().sort([("a", 1), ("_id", 1)])]
    down = [found["_id"] async for found in things.find().sort([("a", -1), ("_id", -1)])]
    assert up == [8, 2, 3, 0, 4, 9, 5, 6, 1]
    assert down == [1, 6, 5, 4, 9, 0, 3, 2, 8]


async def test_sorted_limit_by_compound_index(things: Documents) -> None:
    """The last documents of one key, by an index, are those that a scan gives."""
    await things.insert_many(
        [{"_id": number, "agent": number % 3, "seq": number // 3} for number in range(300)]
    )
    cursor = things.find({"agent": 1, "seq": {"$lt": 50}}).sort("seq", -1).skip(2).limit(3)
    scanned = await cursor.to_list()
    await things.create_index([("agent", 1), ("seq", 1)], unique=True)
    found = await cursor.clone().to_list()
    assert found == scanned
    assert [one["seq"] for one in found] == [47, 46, 45]


async def test_projection(things: Documents) -> None:
    """Fields are shown or left out; a mixture is refused."""
    await things.insert_one({"_id": 1, "a": 1, "d": {"e": 1, "f": 2}})
    assert await things.find_one({}, {"a": 1}) == {"_id": 1, "a": 1}
    assert await things.find_one({}, {"_id": 0}) == {"a": 1, "d": {"e": 1, "f": 2}}
    assert await things.find_one({}, {"a": 0}) == {"_id": 1, "d": {"e": 1, "f": 2}}
    assert await things.find_one({}, {"_id": 1}) == {"_id": 1}
    assert await things.find_one({}, {"_id": 0, "d": 1}) == {"d": {"e": 1, "f": 2}}
    with pytest.raises(OperationFailure):
        await things.find_one({}, {"a": 1, "d": 0})


async def test_count(things: Documents) -> None:
    """Counting honours skip and limit."""
    await things.insert_many([{"t": ["a", "b"]}, {"t": "b"}, {"t": None}, {}])
    assert await things.count_documents({"t": "b"}) == 2
    assert await things.count_documents({}, skip=1, limit=2) == 2


async def _aggregated(things: Documents, *stages: dict[str, Any]) -> list[dict[str, Any]]:
    return await (await things.aggregate(list(stages))).to_list()


async def test_aggregation(things: Documents) -> None:
    """Grouping gives what MongoDB gives: numbers are added, and types are kept apart."""
    await things.insert_many(
        [
            {"_id": 1, "k": "a", "n": 1},
            {"_id": 2, "k": "a", "n": 3},
            {"_id": 3, "k": "b", "n": True},
        ]
    )
    totals = {"n": {"$sum": "$n"}, "mean": {"$avg": "$n"}}
    edges = {"least": {"$min": "$n"}, "most": {"$max": "$n"}}
    groups = await _aggregated(
        things, {"$group": {"_id": "$k", **totals, **edges}}, {"$sort": {"_id": 1}}
    )
    assert groups == [
        {"_id": "a", "n": 4, "mean": 2.0, "least": 1, "most": 3},
        {"_id": "b", "n": 0, "mean": None, "least": True, "most": True},
    ]
    counted = {"$group": {"_id": {"k": "$k", "none": "$none"}, "n": {"$sum": 1}}}
    first = await _aggregated(things, {"$limit": 1}, counted)
    assert first == [{"_id": {"k": "a"}, "n": 1}]


async def test_a_union_appends_what_its_pipelines_find(things: Documents) -> None:
    """Each with its own filter, order and limit, told apart by what it sets."""
    await things.insert_many([{"_id": 1, "k": "a"}, {"_id": 2, "k": "a"}, {"_id": 3, "k": "b"}])
    last = [{"$match": {"k": "a"}}, {"$sort": {"_id": -1}}, {"$skip": 1}, {"$set": {"n": 1}}]
    found = await _aggregated(
        things,
        {"$match": {"k": "b"}},
        {"$set": {"n": 0}},
        {"$unionWith": {"coll": things.name, "pipeline": last}},
        {"$unionWith": {"coll": "nowhere", "pipeline": last}},
    )
    assert found == [{"_id": 3, "k": "b", "n": 0}, {"_id": 1, "k": "a", "n": 1}]


@pytest.mark.parametrize(
    ("path", "expected"),
    [("$n", 4), ("$rows.v", [1, 2]), ("$inner.deep", "x"), ("$null", None)],
)
async def test_field_paths(things: Documents, path: str, expected: Any) -> None:
    """A path reaches into documents and through arrays; what is not there is no field."""
    rows = [{"v": 1}, {"v": 2}, 3]
    await things.insert_one({"_id": 1, "n": 4, "null": None, "rows": rows, "inner": {"deep": "x"}})
    (found,) = await _aggregated(things, {"$project": {"out": path, "none": "$no.such"}})
    assert found == {"_id": 1, "out": expected}

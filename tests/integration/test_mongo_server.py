"""The stand-in for MongoDB, as the real drivers see it: reading, writing, rules, failures."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from datetime import datetime
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
@pytest.mark.parametrize("version", [(7, 0, 0), (8, 0, 0), (8, 1, 0), (8, 2, 0)])
async def test_handshake(mode: Any, version: tuple[int, int, int]) -> None:
    """The driver finds the topology and the version that the knobs say."""
    with running_mongo(mode=mode, version=version) as server:
        async with AsyncMongoClient[dict[str, Any]](server.uri) as client:
            info = await client.server_info()
            topology = client.topology_description.topology_type_name
            assert await client.admin.command("ping") == {"ok": 1.0}
    assert info["versionArray"] == [*version, 0]
    assert topology == ("ReplicaSetWithPrimary" if mode == "replica_set" else "Single")
    assert server.greetings


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
    async with asyncio.timeout(10):
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
        ({"a": {"$size": 2}}, [4, 7]),
        ({"a": {"$type": "number"}}, [0, 4, 9]),
        ({"a": [1, 5]}, [4]),
        ({"a": {"b": 1, "c": 2}}, [6]),
        ({"a": {"c": 2, "b": 1}}, []),
        ({"a.b": 1}, [6, 7]),
        ({"a.b": None}, [0, 1, 2, 3, 5, 9]),
        ({"a.1": 5}, [4]),
        ({"a.b": 1, "a.c": 2}, [6, 7]),
        ({"a": {"$elemMatch": {"b": 1, "c": 2}}}, []),
        ({"a": {"$elemMatch": {"b": 3, "c": 2}}}, [7]),
        ({"a": {"$elemMatch": {"$gt": 2, "$lt": 9}}}, [4]),
        ({"$or": [{"a": "x"}, {"a": {"$size": 0}}]}, [5, 8]),
        ({"$and": [{"a": 1}, {"_id": {"$gt": 0}}]}, [4]),
        ({"$nor": [{"a": {"$exists": True}}]}, [3]),
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
    """Fields are shown or left out, also below arrays; a mixture is refused."""
    await things.insert_one({"_id": 1, "a": [{"b": 1, "c": 2}, 3], "d": {"e": 1, "f": 2}})
    assert await things.find_one({}, {"a.b": 1}) == {"_id": 1, "a": [{"b": 1}]}
    assert await things.find_one({}, {"_id": 0, "d.f": 0}) == {
        "a": [{"b": 1, "c": 2}, 3],
        "d": {"e": 1},
    }
    assert await things.find_one({}, {"_id": 1}) == {"_id": 1}
    assert await things.find_one({}, {"_id": 0, "d": 1}) == {"d": {"e": 1, "f": 2}}
    with pytest.raises(OperationFailure):
        await things.find_one({}, {"a": 1, "d": 0})


async def test_count_and_distinct(things: Documents) -> None:
    """Counting honours skip and limit; distinct values come from arrays too."""
    await things.insert_many([{"t": ["a", "b"]}, {"t": "b"}, {"t": None}, {}])
    assert await things.estimated_document_count() == 4
    assert await things.count_documents({"t": "b"}) == 2
    assert await things.count_documents({}, skip=1, limit=2) == 2
    assert await things.distinct("t") == [None, "a", "b"]


async def _aggregated(things: Documents, *stages: dict[str, Any]) -> list[dict[str, Any]]:
    return await (await things.aggregate(list(stages))).to_list()


async def test_aggregation(things: Documents) -> None:
    """Grouping, joining, unwinding and counting give what MongoDB gives."""
    await things.insert_many(
        [
            {"_id": 1, "k": "a", "n": 1, "t": ["x", "y"]},
            {"_id": 2, "k": "a", "n": 3},
            {"_id": 3, "k": "b", "n": True, "t": []},
        ]
    )
    totals = {"n": {"$sum": "$n"}, "least": {"$min": "$n"}, "mean": {"$avg": "$n"}}
    each = {"first": {"$first": "$_id"}, "all": {"$push": "$t"}}
    groups = await _aggregated(
        things, {"$group": {"_id": "$k", **totals, **each}}, {"$sort": {"_id": 1}}
    )
    assert groups == [
        {"_id": "a", "n": 4, "least": 1, "mean": 2.0, "first": 1, "all": [["x", "y"]]},
        {"_id": "b", "n": 0, "least": True, "mean": None, "first": 3, "all": [[]]},
    ]
    unwound = await _aggregated(things, {"$unwind": "$t"}, {"$project": {"t": 1}})
    assert unwound == [{"_id": 1, "t": "x"}, {"_id": 1, "t": "y"}]
    joined = {"from": "things", "localField": "k", "foreignField": "k", "as": "kin"}
    kin = await _aggregated(things, {"$lookup": joined}, {"$project": {"n": {"$size": "$kin"}}})
    assert [one["n"] for one in kin] == [2, 2, 1]
    assert await _aggregated(things, {"$match": {"k": "z"}}, {"$count": "n"}) == []
    assert await _aggregated(things, {"$skip": 1}, {"$limit": 5}, {"$count": "n"}) == [{"n": 2}]


async def test_a_lookup_by_a_pipeline_brings_what_the_pipeline_finds(things: Documents) -> None:
    """The same for every document, with its own filter, order and limit; nothing for nothing."""
    await things.insert_many([{"_id": 1, "k": "a"}, {"_id": 2, "k": "a"}, {"_id": 3, "k": "b"}])
    last = [{"$match": {"k": "a"}}, {"$sort": {"_id": -1}}, {"$limit": 1}, {"$project": {"_id": 1}}]
    joined = {"$lookup": {"from": things.name, "pipeline": last, "as": "last"}}
    found = await _aggregated(things, {"$match": {"_id": {"$in": [1, 3]}}}, joined)
    assert [(one["_id"], one["last"]) for one in found] == [(1, [{"_id": 2}]), (3, [{"_id": 2}])]
    nowhere = {"$lookup": {"from": "nowhere", "pipeline": [], "as": "x"}}
    assert (await _aggregated(things, {"$limit": 1}, nowhere))[0]["x"] == []


async def test_graph_lookup_walks_arrays_and_cycles_within_its_restriction(
    things: Documents,
) -> None:
    """Each document once, at its least depth, up to ``maxDepth``, and nothing outside the filter.

    In no order: who needs one has to make it.
    """
    links = {"a": ["b", "c"], "b": ["d"], "c": ["d", "a"], "d": ["e"], "e": ["a"]}
    await things.insert_many(
        {"_id": f"{house}/{name}", "house": house, "name": name, "up": [{"to": t} for t in ups]}
        for house in ("x", "y")
        for name, ups in links.items()
    )
    await things.insert_one({"_id": "z/b", "house": "z", "name": "b", "up": [{"to": "z"}]})

    async def walked(start: Any, **more: Any) -> dict[str, int]:
        walk: dict[str, Any] = {"from": things.name, "startWith": start, "as": "near"}
        fields = {"connectFromField": "up.to", "connectToField": "name", "depthField": "far"}
        within = {"restrictSearchWithMatch": {"house": "x"}}
        stages = [
            {"$match": {"_id": "x/a"}},
            {"$graphLookup": walk | fields | within | more},
            {"$unwind": "$near"},
            {"$project": {"_id": 0, "near": 1}},
        ]
        found = [one["near"] for one in await _aggregated(things, *stages)]
        assert len({one["_id"] for one in found}) == len(found)
        return {one["_id"]: one["far"] for one in found}

    assert await walked("$up.to") == {"x/b": 0, "x/c": 0, "x/d": 1, "x/a": 1, "x/e": 2}
    assert await walked("$name", maxDepth=1) == {"x/a": 0, "x/b": 1, "x/c": 1}
    assert await walked({"$literal": ["e", "none"]}, maxDepth=0) == {"x/e": 0}
    everywhere = await walked("b", restrictSearchWithMatch={}, maxDepth=0)
    assert everywhere == {"x/b": 0, "y/b": 0, "z/b": 0}
    with pytest.raises(OperationFailure, match="null"):
        await walked("$none")


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ({"$add": ["$n", 1, 0.5]}, 5.5),
        ({"$subtract": ["$when", {"$subtract": ["$when", 1000]}]}, 1000),
        ({"$multiply": ["$n", 2]}, 8),
        ({"$divide": ["$n", 8]}, 0.5),
        ({"$add": ["$n", "$none"]}, None),
        ({"$ln": 1}, 0.0),
        ({"$ifNull": ["$none", "$null", "x"]}, "x"),
        ({"$cond": [{"$gt": ["$n", 3]}, "more", "less"]}, "more"),
        ({"$cond": {"if": {"$eq": ["$n", True]}, "then": 1, "else": 2}}, 2),
        ({"$in": ["x", "$tags"]}, True),
        ({"$size": {"$ifNull": ["$none", []]}}, 0),
        ({"$getField": "n"}, 4),
        ({"$eq": ["$none", None]}, False),
        ({"$not": [{"$and": ["$n", "$tags"]}]}, False),
        ("$rows.v", [1, 2]),
        ({"a": "$n", "b": "$none"}, {"a": 4}),
        ({"$literal": "$n"}, "$n"),
    ],
)
async def test_expressions(things: Documents, formula: Any, expected: Any) -> None:
    """Expressions propagate null, keep types apart and reach through arrays."""
    await things.insert_one(
        {
            "_id": 1,
            "n": 4,
            "null": None,
            "tags": ["x"],
            "rows": [{"v": 1}, {"v": 2}, 3],
            "when": datetime(2026, 1, 1),  # noqa: DTZ001 - as the driver gives it
        }
    )
    added = await _aggregated(things, {"$addFields": {"out": formula}})
    projected = await _aggregated(things, {"$project": {"out": formula}})
    assert added[0]["out"] == expected
    assert projected == [{"_id": 1, "out": expected}]

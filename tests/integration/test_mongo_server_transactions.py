"""The stand-in for MongoDB in transactions: all or nothing, one point in time, lost races."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from pymongo import AsyncMongoClient
from pymongo.asynchronous.client_session import AsyncClientSession
from pymongo.asynchronous.collection import AsyncCollection
from pymongo.errors import (
    AutoReconnect,
    BulkWriteError,
    DuplicateKeyError,
    OperationFailure,
    PyMongoError,
)
from support.mongo_server import MongoServer, running_mongo
from support.processes import PATIENCE_SECONDS

Documents = AsyncCollection[dict[str, Any]]
_TRANSIENT = "TransientTransactionError"


@pytest.fixture(scope="module")
def shared() -> Iterator[MongoServer]:
    """One server for all tests; a write waits only shortly for a transaction."""
    with running_mongo(lock_wait_seconds=0.05) as server:
        yield server
        assert server.open_transactions == 0


@pytest.fixture
async def things(shared: MongoServer) -> AsyncIterator[Documents]:
    """A collection with a unique index, in a database of its own, with one document."""
    async with AsyncMongoClient[dict[str, Any]](shared.uri) as client:
        collection = client[shared.fresh_database()]["things"]
        with_key = {"key": {"$exists": True}}
        await collection.create_index("key", unique=True, partialFilterExpression=with_key)
        await collection.insert_one({"_id": 1, "n": 0})
        yield collection


@pytest.fixture
async def session(things: Documents) -> AsyncIterator[AsyncClientSession]:
    """A session with an open transaction."""
    async with things.database.client.start_session() as opened:
        await opened.start_transaction()
        yield opened


@pytest.fixture
async def rival(things: Documents) -> AsyncIterator[AsyncClientSession]:
    """Another session with an open transaction."""
    async with things.database.client.start_session() as opened:
        await opened.start_transaction()
        yield opened


_CHANGE = {"$set": {"n": 1}}


async def _n(things: Documents) -> Any:
    found = await things.find_one({"_id": 1})
    return found and found["n"]


async def test_write_skew_is_possible(
    things: Documents, session: AsyncClientSession, rival: AsyncClientSession
) -> None:
    """As in MongoDB: each reads what the other writes, and both commit."""
    await things.insert_one({"_id": 2, "n": 0})
    for mine, read, written in ((session, 1, 2), (rival, 2, 1)):
        assert await things.find_one({"_id": read, "n": 0}, session=mine) is not None
        await things.update_one({"_id": written}, _CHANGE, session=mine)
    await session.commit_transaction()
    await rival.commit_transaction()
    assert await things.count_documents({"n": 1}) == 2


async def test_a_duplicate_key_ends_the_transaction(
    things: Documents, session: AsyncClientSession
) -> None:
    """The error is the usual one, without the label; the transaction is gone."""
    await things.insert_one({"_id": 2}, session=session)
    with pytest.raises(DuplicateKeyError) as caught:
        await things.insert_one({"_id": 1}, session=session)
    assert not caught.value.has_error_label(_TRANSIENT)
    with pytest.raises(OperationFailure) as gone:
        await things.find_one({}, session=session)
    assert gone.value.code == 251
    assert gone.value.has_error_label(_TRANSIENT)
    await session.abort_transaction()
    assert await things.count_documents({}) == 1


async def test_a_batch_in_a_transaction_ends_at_its_first_error(
    things: Documents, session: AsyncClientSession
) -> None:
    """The transaction is over, so nothing can follow."""
    with pytest.raises(BulkWriteError) as caught:
        await things.insert_many([{"_id": 1}, {"_id": 2}], session=session)
    assert [error["index"] for error in caught.value.details["writeErrors"]] == [0]
    with pytest.raises(OperationFailure) as gone:
        await session.commit_transaction()
    assert gone.value.code == 251
    assert await things.count_documents({}) == 1


async def test_a_plain_write_waits_for_the_transaction() -> None:
    """It is done after the commit, on what was committed."""
    with running_mongo(lock_wait_seconds=10) as server:
        async with AsyncMongoClient[dict[str, Any]](server.uri) as client:
            things = client["d"]["things"]
            await things.insert_one({"_id": 1, "n": 0})
            async with client.start_session() as session:
                async with await session.start_transaction():
                    await things.update_one({"_id": 1}, _CHANGE, session=session)
                    late = things.update_one({"_id": 1}, {"$set": {"late": True}})
                    write = asyncio.ensure_future(late)
                    upsert = asyncio.ensure_future(
                        things.update_one({"_id": 2}, {"$set": {"n": 5}}, upsert=True)
                    )
                    await asyncio.wait([write], timeout=0.05)
                    assert not write.done()
                    assert (await upsert).upserted_id == 2
                assert (await write).modified_count == 1
                assert await things.find_one({"_id": 1}) == {"_id": 1, "n": 1, "late": True}


async def test_a_plain_write_does_not_wait_for_ever(
    things: Documents, session: AsyncClientSession
) -> None:
    """After the time that the knob says it is a conflict, without the label of transactions."""
    await things.update_one({"_id": 1}, _CHANGE, session=session)
    for write in (things.update_one({"_id": 1}, _CHANGE), things.delete_many({})):
        with pytest.raises(OperationFailure) as caught:
            await write
        assert caught.value.code == 112
        assert not caught.value.has_error_label(_TRANSIENT)
    await session.commit_transaction()


# What ends a transaction from outside.


async def test_a_cut_connection_rolls_back(
    shared: MongoServer, things: Documents, session: AsyncClientSession
) -> None:
    """What the connection carried is gone, and nobody has to wait for it."""
    await things.update_one({"_id": 1}, _CHANGE, session=session)
    shared.fail_next("insert", close_connection=True, after=True)
    with pytest.raises(AutoReconnect) as caught:
        await things.insert_one({"_id": 2}, session=session)
    assert caught.value.has_error_label(_TRANSIENT)
    assert shared.open_transactions == 0
    assert await _n(things) == 0
    await things.update_one({"_id": 1}, _CHANGE)
    assert await _n(things) == 1
    await session.abort_transaction()
    assert await things.count_documents({}) == 1


async def test_a_transaction_has_a_lifetime() -> None:
    """One that is left open is rolled back, and its next statement is told so."""
    with running_mongo(transaction_seconds=0.02) as server:
        async with AsyncMongoClient[dict[str, Any]](server.uri) as client:
            things = client["d"]["things"]
            async with client.start_session() as session:
                await session.start_transaction()
                await things.insert_one({"_id": 1}, session=session)
                async with asyncio.timeout(PATIENCE_SECONDS):
                    while server.open_transactions:
                        await asyncio.wait_for(client.admin.command("ping"), 5)
                with pytest.raises(OperationFailure) as caught:
                    await things.insert_one({"_id": 2}, session=session)
                assert caught.value.code == 251
                with pytest.raises(OperationFailure) as caught:
                    await session.commit_transaction()
                assert caught.value.code == 251
                assert caught.value.has_error_label(_TRANSIENT)
            assert await things.count_documents({}) == 0


async def test_a_killed_server_rolls_back() -> None:
    """What was open when the process died never happened; what was committed stays."""
    with running_mongo() as server:
        async with AsyncMongoClient[dict[str, Any]](server.uri) as client:
            things = client["d"]["things"]
            async with client.start_session() as session:
                async with await session.start_transaction():
                    await things.insert_one({"_id": 1}, session=session)
                await session.start_transaction()
                await things.insert_one({"_id": 2}, session=session)
                server.stop()
                server.start()
                with pytest.raises(PyMongoError) as caught:
                    await things.insert_one({"_id": 3}, session=session)
                assert caught.value.has_error_label(_TRANSIENT)
            assert list(server.client["d"]["things"].find()) == [{"_id": 1}]


@pytest.mark.parametrize(
    "command",
    [
        {"collMod": "things"},
        {"createIndexes": "things", "indexes": [{"key": {"a": 1}, "name": "a_1"}]},
        {"aggregate": "things", "pipeline": [{"$vectorSearch": {}}], "cursor": {}},
    ],
)
async def test_what_a_transaction_may_not_do(
    things: Documents, session: AsyncClientSession, command: dict[str, Any]
) -> None:
    """Declaring and searching are refused inside, as MongoDB refuses them."""
    with pytest.raises(OperationFailure) as caught:
        await things.database.command(command, session=session)
    assert caught.value.code == 263
    await session.abort_transaction()
    assert await _n(things) == 0


async def test_a_cursor_of_a_transaction_goes_on_in_it(
    things: Documents, session: AsyncClientSession
) -> None:
    """Later batches come from the same point in time."""
    await things.insert_many([{"_id": number} for number in range(10, 20)])
    cursor = things.find({"_id": {"$gte": 10}}, session=session).batch_size(3)
    seen = [(await anext(cursor))["_id"]]
    await things.delete_many({"_id": {"$gte": 10}})
    seen += [found["_id"] async for found in cursor]
    assert seen == list(range(10, 20))
    await session.commit_transaction()

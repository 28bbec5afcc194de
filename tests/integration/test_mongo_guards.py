"""What no command gets past: a missing scope, and a change of the belief log."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from support.mongo_server import MongoServer, running_mongo

from tiers.cold.mongo.database import Collection, Database, Session
from tiers.cold.mongo.driver import connected
from tiers.errors import (
    TierRejected,
)


@pytest.fixture
def server() -> Iterator[MongoServer]:
    """A replica set of its own, for a test that hurts it."""
    with running_mongo() as running:
        yield running


@asynccontextmanager
async def _bare(server: MongoServer, name: str, timeout_seconds: float) -> AsyncIterator[Database]:
    """A database as it is, opened without making anything."""

    async def nothing(_: object) -> None:
        return None

    async with (
        connected(
            server.uri, "pymongo", timeout_seconds=timeout_seconds, connections_max=5
        ) as client,
        Database(client, name, nothing, timeout_seconds=timeout_seconds) as opened,
    ):
        yield opened


@pytest.fixture
async def database(server: MongoServer) -> AsyncIterator[Database]:
    """An empty database without any schema."""
    async with _bare(server, "d", 5) as opened:
        yield opened


SCOPED = {"tenant": "acme", "graph_id": "race"}


def _bringing_in(where: dict[str, Any]) -> list[dict[str, Any]]:
    """Return stages that bring in documents by a filter, or that do what a filter does not say."""
    inner = [{"$match": SCOPED}, {"$lookup": {"from": "facts", "pipeline": [{"$match": where}]}}]
    return [
        {"$lookup": {"from": "facts", "pipeline": [{"$match": where}], "as": "x"}},
        {"$lookup": {"from": "facts", "pipeline": inner, "as": "x"}},
        {"$lookup": {"from": "facts", "localField": "a", "foreignField": "a", "as": "x"}},
        {"$graphLookup": {"from": "facts", "restrictSearchWithMatch": where}},
        {"$graphLookup": {"from": "facts"}},
        {"$unionWith": {"coll": "facts", "pipeline": [{"$match": where}]}},
        {"$unionWith": {"coll": "facts"}},
        {"$unionWith": "facts"},
        {"$facet": {"x": [{"$match": where}]}},
        {"$out": "facts"},
        {"$merge": {"into": "facts"}},
    ]


@pytest.mark.parametrize(
    "where",
    [
        {},
        {"id": "x"},
        {"tenant": "acme"},
        {"graph_id": "race"},
        {"tenant": "", "graph_id": "race"},
        {"tenant": {"$ne": "x"}, "graph_id": "race"},
        {"tenant": "acme", "graph_id": {"$ne": "x"}},
        {"tenant": "acme", "graph_id": {"$in": []}},
        {"$or": [{"tenant": "acme", "graph_id": "race"}]},
    ],
    ids=str,
)
async def test_commands_without_a_scope_are_refused(
    server: MongoServer, database: Database, where: dict[str, Any]
) -> None:
    """Whoever makes them, they are not sent."""
    turns = Session(database.raw).collection("turns")
    attempts = [
        turns.find(where),
        turns.first(where),
        turns.count(where),
        turns.insert([where]),
        turns.update(where, {"$set": {"a": 1}}),
        turns.find_and_update(where, {"$set": {"a": 1}}),
        turns.delete(where),
        turns.aggregate([{"$match": where}]),
        turns.aggregate([{"$vectorSearch": {"filter": where}}]),
        turns.aggregate([{"$sort": {"a": 1}}]),
        turns.aggregate([]),
        *(turns.aggregate([{"$match": SCOPED}, stage]) for stage in _bringing_in(where)),
    ]
    server.clear_commands()
    for attempt in attempts:
        with pytest.raises(TierRejected, match="guard"):
            await attempt
    assert server.commands == []


async def test_stages_that_carry_the_scope_of_their_collection_are_sent(
    database: Database,
) -> None:
    """Of graphs the tenant is enough, of records not, however they are brought in."""
    graphs = Session(database.raw).collection("graphs")
    tenant = {"tenant": "acme"}
    links = {"startWith": "$id", "connectFromField": "a", "connectToField": "b", "as": "x"}
    for source, where in (("graphs", tenant), ("turns", SCOPED), ("graphs", SCOPED)):
        for stage in (
            {"$lookup": {"from": source, "pipeline": [{"$match": where}], "as": "x"}},
            {"$unionWith": {"coll": source, "pipeline": [{"$match": where}]}},
            {"$graphLookup": {"from": source, "restrictSearchWithMatch": where} | links},
        ):
            assert await graphs.aggregate([{"$match": tenant}, stage]) == []
    walk = {"$graphLookup": {"from": "turns", "restrictSearchWithMatch": tenant} | links}
    with pytest.raises(TierRejected, match="without a graph"):
        await graphs.aggregate([{"$match": tenant}, walk])


@pytest.mark.parametrize("name", ["belief_log", "belief_contents", "signed_heads"])
async def test_what_is_only_appended_to_is_never_changed(
    server: MongoServer, database: Database, name: str
) -> None:
    """No command that changes a document leaves this process, nor one that removes an event."""
    rows: Collection = Session(database.raw).collection(name)
    where = {"tenant": "acme", "graph_id": "race"}
    attempts = [
        rows.update(where, {"$set": {"a": 1}}),
        rows.update_each([(where, {"$set": {"a": 1}})]),
        rows.find_and_update(where, {"$set": {"a": 1}}),
    ]
    if name == "belief_log":
        attempts += [rows.delete(where), rows.delete(where, many=False)]
    server.clear_commands()
    for attempt in attempts:
        with pytest.raises(TierRejected, match="append-only"):
            await attempt
    assert server.commands == []

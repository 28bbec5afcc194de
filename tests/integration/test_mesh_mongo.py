"""MongoDB as a source, over the wire to a stand-in that refuses what it does not know."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from support.mesh_sources import SECRET, answer
from support.mongo_server import MongoServer, running_mongo

from ezra.mesh import Source, source_of
from tiers.errors import ConfigError, TierRejected, TierUnavailable, UsageError

DECLARED: dict[str, Any] = {
    "kind": "mongodb",
    "database": "shop",
    "collections": {
        "items": {
            "fields": {
                "sku": "text",
                "level": "integer",
                "place.hall": "text",
                "seen": "datetime",
                "odd": "integer",
            }
        }
    },
    "questions": {
        "level": {
            "description": "How many there are.",
            "collection": "items",
            "select": ["sku", "level", "place.hall", "seen"],
            "where": [{"field": "sku", "value": "{sku}"}],
            "slots": {"sku": {"type": "text", "pattern": "[^ ]+", "max_chars": 100}},
        },
        "recent": {
            "description": "What was seen since a day.",
            "collection": "items",
            "select": ["sku"],
            "where": [
                {"field": "seen", "op": ">=", "value": "{since}"},
                {"field": "level", "op": ">", "value": "{over}"},
            ],
            "order_by": ["-sku"],
            "limit": 2,
            "slots": {
                "since": {"type": "date"},
                "over": {"type": "integer", "min": 0, "max": 100, "required": False},
            },
        },
        "halls": {
            "description": "Pieces by hall.",
            "collection": "items",
            "group_by": ["place.hall"],
            "measures": {
                "pieces": {"function": "sum", "field": "level"},
                "articles": {"function": "count"},
                "most": {"function": "max", "field": "level"},
            },
            "order_by": ["-pieces"],
        },
        "odd": {"description": "Odd.", "collection": "items", "select": ["odd"]},
    },
}


@pytest.fixture(scope="module")
def server() -> Iterator[MongoServer]:
    """A server with a few documents."""
    with running_mongo() as running:
        with running.tampering() as client:
            client["shop"]["items"].insert_many(
                [
                    {
                        "sku": sku,
                        "level": level,
                        "place": {"hall": hall},
                        "secret": SECRET,
                        "seen": datetime(2026, 5, day, tzinfo=UTC),
                        "odd": {"$gt": ""},
                    }
                    for sku, level, hall, day in (
                        *(("A1", 42, "east", 1), ("B2", 7, "west", 2)),
                        *(("C3", 3, "east", 3), ("D4", 0, "west", 4)),
                    )
                ]
            )
            client["shop"]["people"].insert_one({"name": "Kim", "phone": SECRET})
        yield running


@pytest.fixture
async def source(server: MongoServer) -> AsyncIterator[Source]:
    """A source over it."""
    made = source_of("shop", {**DECLARED, "url": server.uri})
    await made.open()
    server.clear_commands()
    yield made
    await made.close()


async def test_questions_become_aggregations_of_known_stages(
    source: Source, server: MongoServer
) -> None:
    """With a time limit, and declared fields of typed values."""
    level = await answer(source, "level", sku="A1")
    assert level.rows == (
        {"sku": "A1", "level": 42, "place.hall": "east", "seen": "2026-05-01T00:00:00Z"},
    )
    assert not level.time_travel_available
    recent = await answer(source, "recent", since="2026-05-02")
    assert [row["sku"] for row in recent.rows] == ["D4", "C3"]
    assert recent.truncated
    assert len((await answer(source, "recent", since="2026-05-02", over=3)).rows) == 1
    halls = await answer(source, "halls")
    assert halls.rows == (
        {"place.hall": "east", "pieces": 45, "articles": 2, "most": 42},
        {"place.hall": "west", "pieces": 7, "articles": 2, "most": 7},
    )
    stages = {"$match", "$group", "$project", "$sort", "$limit"}
    for command in server.commands:
        assert command["name"] == "aggregate"
        assert command["body"]["maxTimeMS"] == 2000
        assert {name for stage in command["body"]["pipeline"] for name in stage} <= stages


@pytest.mark.parametrize(
    "hostile", ['{"$gt":""}', "$where", "$$ROOT", "';return(true);'", "A1\u0000", "/.*/", "$secret"]
)
async def test_a_value_stays_a_value(source: Source, server: MongoServer, hostile: str) -> None:
    """Text that looks like an operator is compared as text."""
    if not hostile.isprintable():
        with pytest.raises(UsageError):
            await answer(source, "level", sku=hostile)
        return
    assert (await answer(source, "level", sku=hostile)).rows == ()
    (command,) = server.commands
    assert command["body"]["pipeline"][0] == {"$match": {"$and": [{"sku": {"$eq": hostile}}]}}


async def test_a_document_of_another_shape_is_an_error(source: Source) -> None:
    """A type that was declared is kept to."""
    with pytest.raises(TierRejected, match="odd of row 1 is no integer"):
        await answer(source, "odd")


# PyMongo leaves a socket to the garbage collector when it is closed while it is connecting.
@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
async def test_what_is_not_there_is_said(server: MongoServer) -> None:
    """A collection when the source is opened, a server when it is asked."""
    collections = {**DECLARED["collections"], "nothing": {"fields": {"a": "text"}}}
    wrong = source_of("shop", {**DECLARED, "url": server.uri, "collections": collections})
    with pytest.raises(ConfigError, match=r"collections\.nothing: there is no such collection"):
        await wrong.open()
    await wrong.close()
    away = source_of("shop", {**DECLARED, "url": "mongodb://127.0.0.1:9/"}, 0.3)
    with pytest.raises(TierUnavailable, match="cannot be reached"):
        await answer(away, "halls")
    await away.close()
    del away
    gc.collect()
    for url in ("no address", "mongodb://127.0.0.1:port/"):
        with pytest.raises(ConfigError, match="url: is no address such as mongodb"):
            await source_of("shop", {**DECLARED, "url": url}).open()

"""What ``ezra doctor`` is told about the cold tier, whatever state it is in."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from support.cold_backends import raw_sqlite
from support.cold_samples import SCOPE, turn_by
from support.held import held
from support.mongo_server import MongoServer, running_mongo

from tiers.cold.mongo import mongo_cold_store
from tiers.cold.mongo.health import mongo_health
from tiers.cold.sqlite import DATABASE_NAME, sqlite_cold_store
from tiers.cold.sqlite.health import sqlite_health

# PyMongo leaves a socket to the garbage collector when it is closed while it is connecting.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")


server = held(running_mongo)
"""A MongoDB of its own for each test."""


@pytest.mark.parametrize("driver", ["pymongo", "motor"])
async def test_healthy_mongodb_has_no_problems(server: MongoServer, driver: Any) -> None:
    """It says what it is, how fast it answers and what it can do, and looking leaves no trace."""
    async with mongo_cold_store(server.uri) as cold:
        await cold.turns.append_turn(SCOPE, turn_by())
    before = {name: list(server.client["ezra"][name].find()) for name in ("meta", "turns")}
    health = await mongo_health(server.uri, driver=driver)
    assert health.problems == ()
    assert health.reachable
    assert (health.tier, health.engine, health.version) == ("cold", "mongodb", "8.0.0")
    assert health.round_trip_ms is not None
    assert health.details["kind"] == "replica set"
    assert str(health.details["driver"]).startswith(driver)
    after = {name: list(server.client["ezra"][name].find()) for name in before}
    assert after == before


async def test_new_mongodb_is_healthy_and_stays_empty(server: MongoServer) -> None:
    """What opening will make is no problem before, and the doctor does not make it."""
    health = await mongo_health(server.uri)
    assert health.problems == ()
    assert "none yet" in str(health.details["schema"])
    assert server.client["ezra"]["meta"].count_documents({}) == 0
    assert "turns" not in server.client["ezra"].list_collection_names()


async def test_mongodb_that_is_away_is_a_problem(server: MongoServer) -> None:
    """Not an error: the answer says that nobody answers and what to look at."""
    server.stop()
    health = await mongo_health(server.uri, timeout_seconds=0.4)
    assert not health.reachable
    assert "access list" in health.problems[0]


async def test_mongodb_that_does_not_answer_is_a_problem(server: MongoServer) -> None:
    """Within the limit."""
    with server.frozen():
        health = await mongo_health(server.uri, timeout_seconds=0.4)
    assert not health.reachable
    assert len(health.problems) == 1


@pytest.mark.parametrize(
    ("how", "reachable", "said"),
    [
        ({"uri": "mongodb://u:hunter2/x@host"}, False, "percent-encoded"),
        ({"uri": "redis://host"}, False, "mongodb://"),
        ({"database": "a b"}, True, "EZRA_MONGODB_DATABASE"),
    ],
)
async def test_wrong_settings_of_mongodb_are_problems(
    server: MongoServer, how: dict[str, str], said: str, *, reachable: bool
) -> None:
    """Each names what is wrong and shows no password."""
    health = await mongo_health(**{"uri": server.uri, **how}, timeout_seconds=2.0)
    assert health.reachable is reachable
    (problem,) = health.problems
    assert said in problem
    assert "hunter2" not in problem


async def test_missing_permissions_of_mongodb_are_problems(server: MongoServer) -> None:
    """Who may not write is told which role is missing; who may do nothing, that it is let in."""
    server.fail_next("update", code=13, message="not authorized", collection="meta")
    health = await mongo_health(server.uri)
    assert health.reachable
    assert "readWrite" in health.problems[0]
    server.fail_next("buildInfo", code=18, message="Authentication failed.")
    health = await mongo_health(server.uri)
    assert health.reachable
    assert "may not" in health.problems[0]


async def test_a_standalone_mongodb_is_a_problem() -> None:
    """With the way to a replica set."""
    with running_mongo(mode="standalone") as server:
        health = await mongo_health(server.uri)
    assert health.reachable
    assert "rs.initiate()" in health.problems[0]


async def test_another_schema_of_mongodb_is_a_problem(server: MongoServer) -> None:
    """With the advice to export and import."""
    async with mongo_cold_store(server.uri):
        pass
    with server.tampering() as raw:
        raw["ezra"]["meta"].update_one({"_id": "schema"}, {"$set": {"version": 99}})
    (problem,) = (await mongo_health(server.uri)).problems
    assert "schema version 99" in problem
    assert "export it" in problem


async def test_sqlite_is_healthy_before_while_and_after_it_is_open(tmp_path: Path) -> None:
    """The owner goes on undisturbed, and a folder without a database is no problem."""
    folder = tmp_path / "new"
    health = await sqlite_health(folder)
    assert (health.problems, health.reachable) == ((), True)
    assert not folder.exists()
    async with sqlite_cold_store(folder) as cold:
        await cold.turns.append_turn(SCOPE, turn_by())
        health = await sqlite_health(folder)
        assert (health.problems, health.details["journal"]) == ((), "wal")
        await cold.turns.append_turn(SCOPE, turn_by())
    health = await sqlite_health(folder)
    assert (health.tier, health.engine) == ("cold", "sqlite")
    assert (health.problems, health.details["check"]) == ((), "ok")
    assert health.round_trip_ms is not None


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("PRAGMA user_version = 99", "schema version 99"),
        ("PRAGMA application_id = 1", "not written by ezra"),
    ],
)
async def test_foreign_sqlite_file_is_a_problem(tmp_path: Path, statement: str, said: str) -> None:
    """Of another version, or somebody else's."""
    async with sqlite_cold_store(tmp_path):
        pass
    with closing(raw_sqlite(tmp_path)) as connection:
        connection.execute(statement)
    (problem,) = (await sqlite_health(tmp_path)).problems
    assert said in problem


@pytest.mark.parametrize("damage", ["garbage", "torn"])
async def test_damaged_sqlite_file_is_a_problem(tmp_path: Path, damage: str) -> None:
    """Whether it is a database no more, or one with a hole in it."""
    async with sqlite_cold_store(tmp_path) as cold:
        for _ in range(50):
            await cold.turns.append_turn(SCOPE, turn_by(text="x" * 2_000))
    path = tmp_path / DATABASE_NAME
    content = path.read_bytes()
    hole = b"x" * 5_000 if damage == "garbage" else content[:8_192] + b"\xff" * 16_384
    path.write_bytes(hole + content[len(hole) :])
    health = await sqlite_health(tmp_path)
    assert len(health.problems) == 1
    assert "backup" in health.problems[0]


async def test_full_disk_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before writes begin to fail."""
    monkeypatch.setattr("tiers.cold.sqlite.health.FREE_BYTES_MIN", 1 << 62)
    (problem,) = (await sqlite_health(tmp_path)).problems
    assert "make room" in problem


async def test_locked_sqlite_file_is_waited_for_and_then_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody holds it alone, which ezra never does."""
    monkeypatch.setattr("tiers.cold.sqlite.health.TIMEOUT_SECONDS", 0.05)
    async with sqlite_cold_store(tmp_path):
        pass
    with closing(sqlite3.connect(tmp_path / DATABASE_NAME, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = DELETE")
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        health = await sqlite_health(tmp_path)
    assert not health.reachable
    assert "locked" in health.problems[0]
    assert "backup" not in health.problems[0]

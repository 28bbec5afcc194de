"""Questions of one round of the event loop share a snapshot and a trip in the SQLite store."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from support.processes import PATIENCE_SECONDS

from tiers.cold.sqlite.database import TOGETHER_MAX, Database
from tiers.cold.sqlite.store import DATABASE_NAME
from tiers.errors import TierRejected, TierUnavailable


def prepare(connection: sqlite3.Connection) -> None:
    """Make a table to read."""
    connection.execute("CREATE TABLE IF NOT EXISTS kept (name TEXT PRIMARY KEY)")


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    """An open database."""
    async with Database(tmp_path / DATABASE_NAME, prepare) as opened:
        yield opened


@pytest.fixture
def statements(database: Database) -> list[str]:
    """What readers are asked."""
    said: list[str] = []
    readers = [database._readers.get() for _ in range(database._readers.qsize())]
    for reader in readers:
        reader.set_trace_callback(said.append)
        database._readers.put(reader)
    return said


def _count(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT COUNT(*) FROM kept").fetchone()[0])


def _thread(connection: sqlite3.Connection) -> tuple[int, int]:
    return threading.get_ident(), id(connection)


async def test_what_is_asked_side_by_side_is_one_trip(
    database: Database, statements: list[str]
) -> None:
    """One snapshot on one thread; what is asked afterwards is another."""
    found = await asyncio.gather(*(database.read("where", _thread) for _ in range(TOGETHER_MAX)))
    assert len(set(found)) == 1
    assert statements == ["BEGIN", "ROLLBACK"]
    assert await database.read("count", _count) == 0
    assert statements.count("BEGIN") == 2


async def test_more_than_a_few_are_several_trips(database: Database, statements: list[str]) -> None:
    """The first does not wait for the last."""
    asked = 2 * TOGETHER_MAX + 1
    assert await asyncio.gather(*(database.read("c", _count) for _ in range(asked))) == [0] * asked
    assert statements.count("BEGIN") == 3


async def test_one_that_fails_fails_alone(database: Database) -> None:
    """By its own exception, or by the engine's."""

    def own(_: sqlite3.Connection) -> int:
        raise LookupError("mine")

    def engines(connection: sqlite3.Connection) -> int:
        return int(connection.execute("SELECT no FROM kept").fetchone()[0])

    first, mine, theirs, last = await asyncio.gather(
        *(database.read(f"{one.__name__}", one) for one in (_count, own, engines, _count)),
        return_exceptions=True,
    )
    assert (first, last) == (0, 0)
    assert isinstance(mine, LookupError)
    assert isinstance(theirs, TierRejected)
    assert "engines" in str(theirs)


async def test_who_leaves_before_is_not_asked_for(
    database: Database, statements: list[str]
) -> None:
    """Cancelled in the round in which it asked: no statement is made for it, others get theirs."""
    leaving = asyncio.create_task(database.read("leaving", lambda c: c.execute("SELECT 7")))
    staying = asyncio.create_task(database.read("staying", _count))
    await asyncio.sleep(0)
    leaving.cancel()
    assert await staying == 0
    with pytest.raises(asyncio.CancelledError):
        await leaving
    assert "SELECT 7" not in statements


async def test_who_leaves_while_it_is_answered_keeps_nobody(database: Database) -> None:
    """The others are answered, and the reader goes on."""
    begun, held = threading.Event(), threading.Event()

    def slow(_: sqlite3.Connection) -> None:
        begun.set()
        assert held.wait(10)

    leaving = asyncio.create_task(database.read("slow", slow))
    staying = asyncio.create_task(database.read("staying", _count))
    await asyncio.to_thread(begun.wait, 10)
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    held.set()
    assert await staying == 0
    assert await database.read("count", _count) == 0


async def test_what_was_asked_of_a_database_that_closes_is_refused(tmp_path: Path) -> None:
    """It is answered or refused; nobody waits for ever."""
    database = Database(tmp_path / DATABASE_NAME, prepare)
    await database.open()
    asked = [asyncio.create_task(database.read("late", _count)) for _ in range(3)]
    closing = asyncio.create_task(database.close())
    async with asyncio.timeout(PATIENCE_SECONDS):
        found = await asyncio.gather(*asked, return_exceptions=True)
        await closing
    assert all(one == 0 or isinstance(one, TierUnavailable) for one in found)
    with pytest.raises(TierUnavailable, match="closed"):
        await database.read("later", _count)

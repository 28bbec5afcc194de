"""The engine room of the SQLite store: transactions, threads, one trip for a question."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from support.cold_backends import raw_sqlite
from support.cold_samples import fact_by, graph_of
from support.tier_samples import NOW, scope_of

from tiers.cold.sqlite.database import WAITING_MAX, Database
from tiers.cold.sqlite.records import sqlite_record_store
from tiers.cold.sqlite.store import DATABASE_NAME
from tiers.cold.stores import COLLECTIONS, ColdStores, stores_over
from tiers.errors import TierError, TierUnavailable
from tiers.records import Ancestor

MADE = "CREATE TABLE IF NOT EXISTS kept (name TEXT PRIMARY KEY)"


def prepare(connection: sqlite3.Connection) -> None:
    """Make a table to write to."""
    connection.execute(MADE)


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    """An open database."""
    async with Database(tmp_path / DATABASE_NAME, prepare) as opened:
        yield opened


def _put(connection: sqlite3.Connection, name: str = "x") -> None:
    connection.execute("INSERT INTO kept (name) VALUES (?)", (name,))


def _count(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT COUNT(*) FROM kept").fetchone()[0])


async def test_transaction_that_raises_leaves_nothing(database: Database) -> None:
    """Its own exception goes through unchanged, what it wrote is gone."""

    def failing(connection: sqlite3.Connection) -> None:
        _put(connection)
        assert _count(connection) == 1
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        await database.write("failing", failing)
    assert await database.read("count", _count) == 0


async def test_reads_cannot_write(database: Database) -> None:
    """A question that tries is refused by the engine."""
    with pytest.raises(TierError, match="cannot be written"):
        await database.read("sneaky", _put)
    assert await database.read("count", _count) == 0


async def test_reads_see_one_state_and_the_last_write(database: Database) -> None:
    """A write during a read is not seen by it, but by every read after it."""
    reading, written = threading.Event(), threading.Event()

    def slow(connection: sqlite3.Connection) -> tuple[int, int]:
        before = _count(connection)
        reading.set()
        assert written.wait(10)
        return before, _count(connection)

    question = asyncio.create_task(database.read("slow", slow))
    await asyncio.to_thread(reading.wait, 10)
    await database.write("put", _put)
    assert await database.read("count", _count) == 1
    written.set()
    assert await question == (0, 0)


async def test_open_and_close_twice(tmp_path: Path) -> None:
    """Both do nothing the second time; a closed database stays closed."""
    database = Database(tmp_path / DATABASE_NAME, prepare)
    with pytest.raises(TierUnavailable):
        await database.read("early", _count)
    await database.open()
    await database.open()
    await database.write("put", _put)
    await database.close()
    await database.close()
    with pytest.raises(TierUnavailable, match="closed"):
        await database.write("late", _put)
    with pytest.raises(TierUnavailable, match="closed"):
        await database.open()


async def test_closing_ends_every_thread(tmp_path: Path) -> None:
    """Nothing is left checked out: no thread, no connection, no file beside the database."""
    before = set(threading.enumerate())
    async with Database(tmp_path / DATABASE_NAME, prepare) as database:
        await asyncio.gather(*(database.read("count", _count) for _ in range(20)))
        own = set(threading.enumerate()) - before
        assert any(thread.name.startswith("ezra-cold") for thread in own)
    assert not any(thread.name.startswith("ezra-cold") and thread.is_alive() for thread in own)
    with closing(raw_sqlite(tmp_path)) as connection:
        assert connection.execute("PRAGMA journal_mode = DELETE").fetchone()[0] == "delete"


async def test_room_is_bounded_and_waiting_is_not_refused(database: Database) -> None:
    """Far more calls than there is room for are all served."""
    held = threading.Event()

    def hold(connection: sqlite3.Connection) -> None:
        assert held.wait(10)
        _put(connection, "held")

    holder = asyncio.create_task(database.write("hold", hold))
    others = [
        asyncio.create_task(database.write("put", lambda connection, n=n: _put(connection, f"{n}")))
        for n in range(WAITING_MAX * 2)
    ]
    await asyncio.sleep(0.01)
    assert database._room.locked()
    assert database._writing.waiting < WAITING_MAX
    held.set()
    await asyncio.gather(holder, *others)
    assert await database.read("count", _count) == WAITING_MAX * 2 + 1


async def test_cancelled_before_its_turn_never_runs(database: Database) -> None:
    """A transaction that waits behind another is withdrawn; one that has begun is finished."""
    begun, held = threading.Event(), threading.Event()

    def hold(connection: sqlite3.Connection) -> None:
        begun.set()
        assert held.wait(10)
        _put(connection, "begun")

    first = asyncio.create_task(database.write("hold", hold))
    second = asyncio.create_task(
        database.write("put", lambda connection: _put(connection, "waiting"))
    )
    await asyncio.to_thread(begun.wait, 10)
    for task in (first, second):
        task.cancel()
    results = await asyncio.gather(first, second, return_exceptions=True)
    assert all(isinstance(result, asyncio.CancelledError) for result in results)
    held.set()
    rows = await database.write(
        "names", lambda connection: connection.execute("SELECT name FROM kept").fetchall()
    )
    assert [row["name"] for row in rows] == ["begun"]


@pytest.fixture
async def watched(tmp_path: Path) -> AsyncIterator[tuple[ColdStores, list[str]]]:
    """Every store over a file, and what its engine is asked: a line for each trip and question."""
    said: list[str] = []
    async with sqlite_record_store(tmp_path / DATABASE_NAME, COLLECTIONS) as store:
        read = store._database.read

        async def counted(operation: str, question: Any) -> Any:
            said.append("trip")
            return await read(operation, question)

        store._database.read = counted  # type: ignore[method-assign]
        store.watch = lambda _, find, __: said.append(f"{find.collection.name} by {find.by}")
        yield stores_over(store), said


async def test_core_facts_of_300_ancestors_are_one_trip(
    watched: tuple[ColdStores, list[str]],
) -> None:
    """Half of them pinned; archival facts and those of other graphs are not even looked at."""
    cold, said = watched
    lineage = tuple(
        Ancestor(graph_id=f"g{n}", path=(f"g{n}",), as_of=NOW if n % 2 else None)
        for n in range(300)
    )
    expected = []
    for ancestor in lineage[::30]:
        writer = scope_of(graph_id=ancestor.graph_id)
        for number in range(3):
            fact = fact_by(writer, f"{number}", tier="archival" if number else "core")
            await cold.semantic.put_fact(writer, fact)
            expected += [] if number else [fact.id]
    heir = scope_of(graph_id="heir").model_copy(update={"lineage": lineage})
    said.clear()
    assert [fact.id for fact in await cold.semantic.core(heir)] == expected
    assert said == ["trip", "facts by core", *["facts by core", "facts by once_core"] * 150]


@pytest.mark.parametrize("count", [1, 200])
async def test_ancestors_of_one_level_are_one_question_however_many_they_are(
    watched: tuple[ColdStores, list[str]], count: int
) -> None:
    """And all levels, one below the other, are one trip."""
    cold, said = watched
    wide = [graph_of(f"w{n}") for n in range(count)]
    deep = [graph_of("d0"), *(graph_of(f"d{n}", f"d{n - 1}") for n in range(1, count + 1))]
    heir = graph_of("heir", *(graph.id for graph in wide))
    await cold.archive.import_rows("acme", "graphs", [*wide, *deep, heir])
    for name, levels in (("heir", 1), (f"d{count}", count)):
        said.clear()
        standing = await cold.graphs.standing(scope_of(graph_id=name))
        assert standing is not None
        assert len(standing.lineage) == count
        assert said == ["trip", "graphs by id", "agents by id", *["graphs by id"] * levels]

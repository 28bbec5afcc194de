"""The engine room of the SQLite store: transactions, threads, trips, and its one owner."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import threading
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from support.cold_backends import raw_sqlite
from support.cold_samples import fact_by, graph_of
from support.processes import killed_after, running_process
from support.tier_samples import NOW, scope_of

from tiers.cold import own_folder
from tiers.cold.sqlite.database import WAITING_MAX, Database
from tiers.cold.sqlite.records import sqlite_record_store
from tiers.cold.sqlite.store import DATABASE_NAME
from tiers.cold.stores import COLLECTIONS, ColdStores, stores_over
from tiers.errors import ConfigError, TierError, TierUnavailable
from tiers.records import Ancestor

# The engine room of the SQLite store: transactions, threads, one trip for a question.

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
    begun, held = threading.Event(), threading.Event()

    def hold(connection: sqlite3.Connection) -> None:
        begun.set()
        assert held.wait(10)
        _put(connection, "held")

    holder = asyncio.create_task(database.write("hold", hold))
    assert await asyncio.to_thread(begun.wait, 10)
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


# One owner per data folder.


def test_owner_is_noted_and_the_note_goes_with_it(tmp_path: Path) -> None:
    """Process, program, host and start, for people and messages."""
    with own_folder(tmp_path):
        note = json.loads((tmp_path / "owner.json").read_text())
        assert note["pid"] == os.getpid()
        assert set(note) == {"pid", "program", "host", "since"}
    assert not (tmp_path / "owner.json").exists()


def test_second_owner_in_this_process_is_refused(tmp_path: Path) -> None:
    """Two runtimes in one process would be two owners as well."""
    with own_folder(tmp_path):
        with pytest.raises(ConfigError, match=rf"in use by process {os.getpid()} ") as refusal:
            own_folder(tmp_path).__enter__()
        assert refusal.value.key == "EZRA_HOME"
        assert str(tmp_path) in refusal.value.reason
    with own_folder(tmp_path):
        pass


async def test_async_form_is_the_same(tmp_path: Path) -> None:
    """Entered with ``async with``, refused and released alike."""
    async with own_folder(tmp_path):
        with pytest.raises(ConfigError):
            await own_folder(tmp_path).__aenter__()
    async with own_folder(tmp_path):
        pass


def test_other_process_is_named_until_it_is_killed(tmp_path: Path) -> None:
    """Refused with its process and program; after SIGKILL the folder opens at once."""
    with running_process("cold_writer", tmp_path, warm=False) as process:
        assert process.stdout is not None
        process.stdout.readline()
        with pytest.raises(ConfigError) as refusal:
            own_folder(tmp_path).__enter__()
        assert f"process {process.pid} (program cold_writer.py" in refusal.value.reason
        assert "close it, or" in refusal.value.reason
        killed_after(process, 1)
        assert (tmp_path / "owner.json").exists(), "the killed owner could not tidy up"
        with own_folder(tmp_path):
            assert json.loads((tmp_path / "owner.json").read_text())["pid"] == os.getpid()


@pytest.mark.parametrize("note", [None, "", "[]", "{", '{"pid": 1}', "\x00" * 10_000])
def test_missing_or_broken_note_still_refuses(tmp_path: Path, note: str | None) -> None:
    """The lock decides; the note only explains."""
    with own_folder(tmp_path):
        path = tmp_path / "owner.json"
        path.unlink() if note is None else path.write_text(note)
        with pytest.raises(ConfigError, match="another process"):
            own_folder(tmp_path).__enter__()


def test_refused_owner_takes_nothing_from_the_first(tmp_path: Path) -> None:
    """Being refused neither frees the lock nor removes the note."""
    with own_folder(tmp_path):
        for _ in range(3):
            with pytest.raises(ConfigError):
                own_folder(tmp_path).__enter__()
        assert (tmp_path / "owner.json").exists()


def test_folder_is_made_and_an_unusable_one_is_refused(tmp_path: Path) -> None:
    """A new folder is made; a file in its place is a configuration error."""
    with own_folder(tmp_path / "new" / "home"):
        assert (tmp_path / "new" / "home").is_dir()
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot use"):
        own_folder(tmp_path / "file").__enter__()


def test_lock_is_released_when_the_block_fails(tmp_path: Path) -> None:
    """An error inside goes through, and the folder is free."""
    with pytest.raises(RuntimeError, match="inside"), own_folder(tmp_path):
        raise RuntimeError("inside")
    with own_folder(tmp_path):
        pass

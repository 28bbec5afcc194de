"""The engine room of the SQLite store: transactions, threads, query plans."""

from __future__ import annotations

import asyncio
import re
import sqlite3
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from support.cold_backends import raw_sqlite
from support.cold_samples import SCOPE, fact_by
from support.cold_statements import statements
from support.tier_samples import NOW, scope_of

from tiers.cold.sqlite.database import READERS, WAITING_MAX, Database, Query, Session
from tiers.cold.sqlite.schema import migrate
from tiers.cold.sqlite.scope import scoped
from tiers.cold.sqlite.store import DATABASE_NAME, sqlite_cold_store
from tiers.errors import TierError, TierUnavailable
from tiers.records import Ancestor, Scope

STATEMENTS = statements()
WHOLE_TENANT = {"fleet._SILENT", "graphs._OLDEST_FIRST", "log._LAST_POSITION"}
WHOLE_TENANT |= {"arrival._AT_POSITION", "upkeep._COUNT", "log._FIND"}
"""Statements that enter a table by the tenant alone, or by it and something else than a graph."""

COUNT = Query("SELECT COUNT(*) AS n FROM leases", {})


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    """An open database."""
    async with Database(tmp_path / DATABASE_NAME, migrate) as opened:
        yield opened


def _put(session: Session, name: str = "x") -> None:
    session.insert("leases", {"name": name, "owner": "a", "token": 1, "expires_at": 1})


def _count(session: Session) -> int:
    return int(session.all(COUNT)[0]["n"])


async def test_transaction_that_raises_leaves_nothing(database: Database) -> None:
    """Its own exception goes through unchanged, what it wrote is gone."""

    def failing(session: Session) -> None:
        _put(session)
        assert _count(session) == 1
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

    def slow(session: Session) -> tuple[int, int]:
        before = _count(session)
        reading.set()
        assert written.wait(10)
        return before, _count(session)

    question = asyncio.create_task(database.read("slow", slow))
    await asyncio.to_thread(reading.wait, 10)
    await database.write("put", _put)
    assert await database.read("count", _count) == 1
    written.set()
    assert await question == (0, 0)


async def test_open_and_close_twice(tmp_path: Path) -> None:
    """Both do nothing the second time; a closed database stays closed."""
    database = Database(tmp_path / DATABASE_NAME, migrate)
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
    async with Database(tmp_path / DATABASE_NAME, migrate) as database:
        await asyncio.gather(*(database.read("count", _count) for _ in range(20)))
        assert any(thread.name.startswith("ezra-cold") for thread in threading.enumerate())
    assert not any(thread.name.startswith("ezra-cold") for thread in threading.enumerate())
    with closing(raw_sqlite(tmp_path)) as connection:
        assert connection.execute("PRAGMA journal_mode = DELETE").fetchone()[0] == "delete"


async def test_room_is_bounded_and_waiting_is_not_refused(database: Database) -> None:
    """Far more calls than there is room for are all served."""
    held = threading.Event()

    def hold(session: Session) -> None:
        assert held.wait(10)
        _put(session, "held")

    holder = asyncio.create_task(database.write("hold", hold))
    others = [
        asyncio.create_task(database.write("put", lambda session, n=n: _put(session, f"{n}")))
        for n in range(WAITING_MAX * 2)
    ]
    await asyncio.sleep(0.01)
    assert database._room.locked()
    assert database._writing._work_queue.qsize() < WAITING_MAX
    held.set()
    await asyncio.gather(holder, *others)
    assert await database.read("count", _count) == WAITING_MAX * 2 + 1


async def test_cancelled_before_its_turn_never_runs(database: Database) -> None:
    """A transaction that waits behind another is withdrawn; one that has begun is finished."""
    begun, held = threading.Event(), threading.Event()

    def hold(session: Session) -> None:
        begun.set()
        assert held.wait(10)
        _put(session, "begun")

    first = asyncio.create_task(database.write("hold", hold))
    second = asyncio.create_task(database.write("put", lambda session: _put(session, "waiting")))
    await asyncio.to_thread(begun.wait, 10)
    for task in (first, second):
        task.cancel()
    results = await asyncio.gather(first, second, return_exceptions=True)
    assert all(isinstance(result, asyncio.CancelledError) for result in results)
    held.set()
    names = Query("SELECT name FROM leases", {})
    rows = await database.write("names", lambda session: session.all(names))
    assert [row["name"] for row in rows] == ["begun"]


@pytest.fixture(scope="module")
def empty() -> Iterator[sqlite3.Connection]:
    """An empty database in memory, to ask how statements would be carried out."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate(connection)
        yield connection


HEIR = SCOPE.model_copy(
    update={
        "denied": ("weather",),
        "lineage": (
            Ancestor(graph_id="parent", path=("parent",)),
            Ancestor(graph_id="pinned", path=("pinned",), as_of=NOW),
        ),
    }
)


def _plan(connection: sqlite3.Connection, template: str, scope: Scope = HEIR) -> list[str]:
    """Return the steps that read tables, of a statement with the whole predicate."""
    query = scoped(template, scope)
    params = dict.fromkeys(re.findall(r":(\w+)", query.sql)) | dict(query.params)
    plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {query.sql}", params)]
    return [step for step in plan if step.startswith(("SCAN", "SEARCH"))]


def test_statements_are_found() -> None:
    """The list below is not empty by mistake."""
    assert len(STATEMENTS) > 60
    assert set(STATEMENTS) > WHOLE_TENANT


@pytest.mark.parametrize("name", STATEMENTS)
def test_no_statement_reads_a_whole_table(empty: sqlite3.Connection, name: str) -> None:
    """Every table is entered by an index, by graph or row: no cost grows with the rest."""
    allowed = re.compile(
        r"SCAN (\w+ VIRTUAL TABLE|CONSTANT ROW|found|terms|totals|levels|[abefnw]$|above"
        r"|\(subquery)"
        r"|SEARCH \w+ USING .*\((tenant=\? AND (graph_id|id)=\?|rowid[=>]\?|term=\?"
        r"|topic_set=\?|topics=\?)"
        r"|SEARCH work USING .*(work_parked|\(kind=\?|rowid=\?)|SEARCH leases USING .*\(name=\?"
        r"|SCAN (work|leases)$" + (r"|SEARCH \w+ USING .*\(tenant=\?" * (name in WHOLE_TENANT))
    )
    assert [step for step in _plan(empty, STATEMENTS[name]) if not allowed.match(step)] == []


def test_core_facts_and_words_are_read_by_their_indexes(empty: sqlite3.Connection) -> None:
    """Core facts by tier and by having been core, words by their lists, each graph by itself."""
    core = [step for step in _plan(empty, STATEMENTS["semantic._CORE"]) if " f USING" in step]
    assert core == [
        "SEARCH f USING INDEX facts_active (tenant=? AND graph_id=? AND tier=?)",
        "SEARCH f USING INDEX facts_ever_core (tenant=? AND graph_id=? AND recorded_at<?)",
    ]
    for name, read in (("_RANKED_NOW", "w VIRTUAL TABLE"), ("_NEWEST_THEN", "word_index VIRTUAL")):
        words = _plan(empty, STATEMENTS[f"word_search.{name}"])
        assert any(step.startswith(f"SCAN {read}") for step in words)
        assert "SEARCH r USING INTEGER PRIMARY KEY (rowid=?)" in words


async def test_core_facts_of_300_ancestors_are_one_statement(tmp_path: Path) -> None:
    """Half of them pinned; archival facts and those of other graphs are not even looked at."""
    lineage = tuple(
        Ancestor(graph_id=f"g{n}", path=(f"g{n}",), as_of=NOW if n % 2 else None)
        for n in range(300)
    )
    async with sqlite_cold_store(tmp_path) as cold:
        expected = []
        for ancestor in lineage[::30]:
            writer = scope_of(graph_id=ancestor.graph_id)
            for number in range(3):
                fact = fact_by(writer, f"{number}", tier="archival" if number else "core")
                await cold.semantic.put_fact(writer, fact)
                expected += [] if number else [fact.id]
        heir = scope_of(graph_id="heir").model_copy(update={"lineage": lineage})
        said: list[str] = []
        database = cold.semantic._database
        while database._readers.qsize():
            database._readers.get().close()
        for _ in range(READERS):
            reader = database._connect()
            reader.set_trace_callback(said.append)
            database._readers.put(reader)
        assert [fact.id for fact in await cold.semantic.core(heir)] == expected
    assert [sql.split()[0] for sql in said] == ["BEGIN", "SELECT", "ROLLBACK"]

"""The engine room of the SQLite store: transactions, threads, the scope guard, query plans."""

from __future__ import annotations

import asyncio
import re
import sqlite3
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path
from types import ModuleType

import pytest
from support.cold_backends import raw_sqlite
from support.cold_samples import SCOPE

from tiers.cold.sqlite import (
    beliefs,
    episodic,
    graphs,
    leases,
    log,
    procedural,
    queue,
    semantic,
    turns,
    word_search,
    words,
)
from tiers.cold.sqlite.bm25 import local_weight
from tiers.cold.sqlite.database import SCOPED_TABLES, WAITING_MAX, Database, Query, Session
from tiers.cold.sqlite.schema import migrate
from tiers.cold.sqlite.scope import scoped
from tiers.cold.sqlite.store import DATABASE_NAME
from tiers.errors import TierError, TierRejected, TierUnavailable

STORES = (
    beliefs,
    episodic,
    graphs,
    leases,
    log,
    procedural,
    queue,
    semantic,
    turns,
    word_search,
    words,
)
FRAGMENTS = {"_SELECT", "_SUMMARIES", "_EPISODES"}
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


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM turns",
        "SELECT * FROM facts f WHERE f.graph_id = :graph_id",
        "SELECT 1 FROM agents a JOIN  beliefs b ON b.agent_id = a.id",
        "SELECT * FROM turns WHERE tenant = 'acme'",
        "SELECT * FROM turns WHERE tenant <> :tenant",
        "UPDATE facts SET tier = 'core'",
        "DELETE FROM tail",
        "INSERT INTO coverage SELECT 'x' FROM json_each('[1]')",
    ],
)
async def test_statement_without_a_tenant_is_refused(database: Database, statement: str) -> None:
    """The second lock: whoever writes such a statement finds nothing instead of everything."""
    with pytest.raises(TierRejected, match="without a tenant"):
        await database.write("x", lambda session: session.run(Query(statement, {"tenant": "a"})))


@pytest.mark.parametrize("params", [{}, {"tenant": ""}, {"tenant": None}])
async def test_statement_with_an_empty_tenant_is_refused(
    database: Database, params: dict[str, str | None]
) -> None:
    """A predicate that compares with nothing is no predicate."""
    query = Query("SELECT * FROM turns t WHERE t.tenant = :tenant", params)
    with pytest.raises(TierRejected, match="without a tenant"):
        await database.read("x", lambda session: session.all(query))


async def test_guard_knows_every_table_with_a_tenant(database: Database, tmp_path: Path) -> None:
    """A table that is added to the schema has to be added to the guard."""
    unguarded = {"graphs", "agents", "work"}
    with closing(raw_sqlite(tmp_path)) as connection:
        tables = [
            row["name"]
            for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
            if not row["name"].startswith(("sqlite_", "word_index_"))
        ]
        owned = {
            table
            for table in tables
            for column in connection.execute(f"PRAGMA table_info({table})")
            if column["name"] == "tenant"
        }
    assert set(SCOPED_TABLES) == (owned - unguarded) | {"word_index"}


def _statements() -> Iterator[tuple[str, str]]:
    for module in STORES:
        for name, value in vars(module).items():
            if _is_statement(module, name, value):
                yield f"{module.__name__.rpartition('.')[2]}.{name}", value


def _is_statement(module: ModuleType, name: str, value: object) -> bool:
    verbs = ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")
    return (
        name.startswith("_")
        and name not in FRAGMENTS
        and isinstance(value, str)
        and value.lstrip().startswith(verbs)
        and value.rstrip().split()[-1] != "WHERE"
    )


STATEMENTS = dict(_statements())


@pytest.fixture(scope="module")
def empty() -> Iterator[sqlite3.Connection]:
    """An empty database in memory, to ask how statements would be carried out."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate(connection)
        connection.create_function("local_weight", 4, local_weight, deterministic=True)
        yield connection


def test_statements_are_found() -> None:
    """The list below is not empty by mistake."""
    assert len(STATEMENTS) > 40


@pytest.mark.parametrize("name", STATEMENTS)
def test_no_statement_reads_a_whole_table(empty: sqlite3.Connection, name: str) -> None:
    """Every table is entered through an index, by tenant or row: no cost grows with the rest."""
    query = scoped(STATEMENTS[name], SCOPE.model_copy(update={"lineage": ("parent",)}))
    params = dict.fromkeys(re.findall(r":(\w+)", query.sql))
    plan = [row[3] for row in empty.execute(f"EXPLAIN QUERY PLAN {query.sql}", params)]
    allowed = re.compile(
        r"SCAN (\w+ VIRTUAL TABLE|CONSTANT ROW|found|weights|totals|\(subquery)"
        r"|SEARCH \w+ USING .*\((tenant=\?|rowid=\?|topic_set=\?|term=\?|kind=\?|name=\?)"
        r"|SEARCH work USING .*work_parked|SCAN work$"
    )
    steps = [step for step in plan if step.startswith(("SCAN", "SEARCH"))]
    assert [step for step in steps if allowed.match(step) is None] == []

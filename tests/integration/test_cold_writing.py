"""Brief writes that share a transaction in the SQLite store: what each gets, and what stays."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
from support.belief_replay import replayed
from support.cold_backends import raw_sqlite
from support.cold_samples import OPERATOR, SCOPE, asked, belief_by

from tiers.cold.port import Steps
from tiers.cold.sqlite import writing
from tiers.cold.sqlite.database import Database
from tiers.cold.sqlite.records import sqlite_record_store
from tiers.cold.sqlite.store import DATABASE_NAME
from tiers.cold.stores import COLLECTIONS, stores_over
from tiers.cold.stores.words import file_words
from tiers.errors import TierRejected, TierUnavailable


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep a busy machine from closing a transaction that a test still counts on."""
    monkeypatch.setattr(writing, "TOGETHER_SECONDS", 60.0)


def prepare(connection: sqlite3.Connection) -> None:
    """Make a table to write to, with a rule that only a commit can break."""
    connection.execute(
        "CREATE TABLE IF NOT EXISTS kept (name TEXT PRIMARY KEY,"
        " follows TEXT REFERENCES kept DEFERRABLE INITIALLY DEFERRED)"
    )


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    """An open database."""
    async with Database(tmp_path / DATABASE_NAME, prepare) as opened:
        yield opened


def _put(name: str, follows: str | None = None) -> Callable[[sqlite3.Connection], str]:
    def put(connection: sqlite3.Connection) -> str:
        connection.execute("INSERT INTO kept (name, follows) VALUES (?, ?)", (name, follows))
        return name

    return put


def _refused(connection: sqlite3.Connection) -> None:
    _put("refused")(connection)
    raise LookupError("mine")


async def _names(database: Database) -> list[str]:
    text = "SELECT name FROM kept ORDER BY name"
    rows = await database.read("names", lambda connection: connection.execute(text).fetchall())
    return [row["name"] for row in rows]


@asynccontextmanager
async def _held_up(database: Database) -> AsyncIterator[list[str]]:
    """Hold the writer up while writes line up inside the block; list what it carries out then."""
    begun, held = threading.Event(), threading.Event()

    def hold(_: sqlite3.Connection) -> None:
        begun.set()
        assert held.wait(10)

    holder = asyncio.create_task(database.write("hold", hold))
    await asyncio.to_thread(begun.wait, 10)
    statements: list[str] = []
    yield statements
    await asyncio.sleep(0)  # the tasks made in the block have to come to their turn
    assert database._writer is not None
    database._writer.set_trace_callback(statements.append)
    held.set()
    await holder


def _brief(
    database: Database, transaction: Callable[[sqlite3.Connection], Any]
) -> asyncio.Task[Any]:
    return asyncio.create_task(database.write("brief", transaction, is_brief=True))


async def test_brief_writes_that_wait_share_a_commit(database: Database) -> None:
    """One that is refused takes back its own; one that is cancelled in time never runs."""
    async with _held_up(database) as statements:
        tasks = [_brief(database, _put(f"{number}")) for number in range(5)]
        refused = _brief(database, _refused)
        cancelled = _brief(database, _put("cancelled"))
        tasks += [_brief(database, _put(f"{number}")) for number in range(5, 8)]
        await asyncio.sleep(0)
        cancelled.cancel()
    assert await asyncio.gather(*tasks) == [f"{number}" for number in range(8)]
    with pytest.raises(LookupError, match="mine"):
        await refused
    assert await _names(database) == [f"{number}" for number in range(8)]
    assert statements.count("COMMIT") == 2, "one for what held them up, one for all of them"


async def test_first_one_refused_leaves_the_rest(database: Database) -> None:
    """It has no savepoint to go back to; the next one begins anew."""
    async with _held_up(database):
        refused = _brief(database, _refused)
        task = _brief(database, _put("kept"))
    with pytest.raises(LookupError):
        await refused
    assert await task == "kept"
    assert await _names(database) == ["kept"]


async def test_only_brief_writes_share_and_order_is_kept(database: Database) -> None:
    """What may take its time has a transaction of its own, before and after brief ones."""
    async with _held_up(database) as statements:
        tasks = [
            asyncio.create_task(database.write("w", _put(f"{number}"), is_brief=number != 2))
            for number in range(5)
        ]
    await asyncio.gather(*tasks)
    kept = [one for one in statements if one.startswith(("INSERT", "COMMIT"))]
    shape = "".join("C" if one == "COMMIT" else "i" for one in kept)
    assert shape == "CiiCiCiiC"
    assert await _names(database) == [f"{number}" for number in range(5)]


async def test_a_transaction_is_bounded(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In number and in time: those who came first are not kept waiting for ever."""
    monkeypatch.setattr(writing, "TOGETHER_MAX", 3)
    async with _held_up(database) as statements:
        tasks = [_brief(database, _put(f"{number}")) for number in range(7)]
    await asyncio.gather(*tasks)
    assert statements.count("COMMIT") == 1 + 3
    monkeypatch.setattr(writing, "TOGETHER_SECONDS", 0.0)
    async with _held_up(database) as statements:
        tasks = [_brief(database, _put(f"late {number}")) for number in range(3)]
    await asyncio.gather(*tasks)
    assert statements.count("COMMIT") == 1 + 3


async def test_nobody_is_answered_before_the_commit(database: Database) -> None:
    """What is written so far is neither acknowledged nor seen, and goes on when its asker left."""
    begun, held = threading.Event(), threading.Event()

    def slow(connection: sqlite3.Connection) -> None:
        begun.set()
        assert held.wait(10)
        _put("slow")(connection)

    async with _held_up(database):
        first, left = _brief(database, _put("first")), _brief(database, _put("left"))
        last = _brief(database, slow)
    await asyncio.to_thread(begun.wait, 10)
    left.cancel()
    assert await _names(database) == []
    assert not first.done()
    held.set()
    await asyncio.gather(first, last)
    assert await _names(database) == ["first", "left", "slow"]


async def test_a_commit_that_fails_fails_for_all(database: Database) -> None:
    """Nobody is told that it is stored, nothing is, and the next write succeeds."""
    async with _held_up(database):
        orphan = _put("orphan", follows="nobody")
        tasks = [_brief(database, one) for one in (_put("a"), orphan, _put("b"))]
    for task in tasks:
        with pytest.raises(TierRejected, match=r"brief.*FOREIGN KEY"):
            await task
    assert await _names(database) == []
    assert await _brief(database, _put("next")) == "next"


async def test_a_failure_that_takes_all_back_is_told_to_all(database: Database) -> None:
    """As a full disk does: those who were done already are not acknowledged."""

    def full(connection: sqlite3.Connection) -> None:
        connection.execute("ROLLBACK")
        raise sqlite3.OperationalError("disk is full")

    async with _held_up(database):
        before, failing = _brief(database, _put("before")), _brief(database, full)
        after = _brief(database, _put("after"))
    with pytest.raises(TierUnavailable, match="shared"):
        await before
    with pytest.raises(TierRejected, match="full"):
        await failing
    assert await after == "after"
    assert await _names(database) == ["after"]


async def test_a_refused_write_leaves_no_word(tmp_path: Path) -> None:
    """Commits and writes that fail after they were indexed, in one transaction: all is whole."""

    def spoiled() -> Steps[None]:
        yield from file_words(SCOPE, belief_by(claim="spoiled words on tyres"))
        raise LookupError("mine")

    beliefs = [belief_by(key=None, claim=f"claim {number} on tyres") for number in range(12)]
    async with sqlite_record_store(tmp_path / DATABASE_NAME, COLLECTIONS) as store:
        cold = stores_over(store)
        async with _held_up(store._database) as statements:
            commits = [asyncio.create_task(cold.beliefs.commit(SCOPE, beliefs[0]))]
            for belief in beliefs[1:]:
                commits += [
                    asyncio.create_task(store.change("spoil", spoiled)),
                    asyncio.create_task(cold.beliefs.commit(SCOPE, belief)),
                ]
        answers = await asyncio.gather(*commits, return_exceptions=True)
        assert sum(isinstance(one, LookupError) for one in answers) == 11
        assert statements.count("COMMIT") == 2
        fold = await replayed(cold.history, OPERATOR)
        assert list(fold.beliefs) == [belief.id for belief in beliefs]
        hits = await cold.words.search_words(SCOPE, asked("claim spoiled"))
        assert {hit.id for hit in hits} == set(fold.beliefs)
    with closing(raw_sqlite(tmp_path)) as connection:
        listed = connection.execute("SELECT value FROM searchable__terms").fetchall()
        terms = Counter(row["value"] for row in listed)
        assert terms["belief tyre"] == terms["belief claim"] == len(beliefs)
        assert not [term for term in terms if "spoil" in term]
        assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"

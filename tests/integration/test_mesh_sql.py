"""A real SQLite file as a source: what it answers, and what it cannot be made to do."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from support.mesh_sources import NOW, SECRET, Shop, answer, shop_at, stock

from ezra.mesh import Source, source_of
from ezra.mesh.sql import SqlSource
from ezra.mesh.sql_session import Deadline, engine_of, reading
from tiers.errors import (
    ConfigError,
    TierError,
    TierRejected,
    TierTimeout,
    TierUnavailable,
    UsageError,
)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """A database that nobody may change."""
    return shop_at(tmp_path_factory.mktemp("mesh") / "shop.db", more=600)


@asynccontextmanager
async def opened(declared: Mapping[str, Any], seconds: float = 5.0) -> AsyncIterator[Source]:
    """Hold a source for the length of the block."""
    source = source_of("stock", declared, seconds)
    try:
        await source.open()
        yield source
    finally:
        await source.close()


async def test_every_form_of_question_is_answered_with_its_types(shop: Shop) -> None:
    """Rows, conditions, order, groups and measures; the file stays what it was."""
    before = shop.digest
    async with opened(stock(shop)) as source:
        level = await answer(source, "level", sku="A1")
        assert level.rows == (
            {
                "sku": "A1",
                "name": "Left gear",
                "level": 42,
                "price": "9.50",
                "is_sold": True,
                "checked_on": "2026-05-01",
                "updated_at": "2026-05-14T08:00:00Z",
            },
        )
        assert level.field_types == {
            "sku": "text",
            "name": "text",
            "level": "integer",
            "price": "decimal",
            "is_sold": "boolean",
            "checked_on": "date",
            "updated_at": "datetime",
        }
        assert (level.rows_total, level.truncated) == (1, False)
        assert level.synced_at == datetime(2026, 5, 14, 8, 0, tzinfo=UTC)
        assert not level.time_travel_available
        low = await answer(source, "low", below=100)
        assert [row["level"] for row in low.rows] == [0, 0, 1, 2, 3]
        assert (low.rows_total, low.truncated) == (None, True)
        total = await answer(source, "total")
        assert total.rows[0] == {
            "is_sold": True,
            "articles": 602,
            "pieces": 42 + 7 + sum(range(600)),
        }
        assert (await answer(source, "level", sku="Z9")).rows == ()
    assert shop.digest == before


async def test_a_number_is_told_with_no_digits_that_the_file_does_not_have(tmp_path: Path) -> None:
    """A column of decimals that does not say how many digits follow the point has any number."""
    path = tmp_path / "crew.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE shifts (who TEXT, pay NUMERIC)")
        rows = [("Zoë", 120.5), ("Bo", 99), ("李雷", None)]
        connection.executemany("INSERT INTO shifts VALUES (?, ?)", rows)
    measures = {"whole": {"function": "sum", "field": "pay"}}
    declared = {
        "kind": "sql",
        "url": f"sqlite:///{path}",
        "tables": {"shifts": {"columns": ["who", "pay"]}},
        "questions": {
            "all": {"description": "All.", "table": "shifts", "select": ["pay"]},
            "sum": {"description": "All pay.", "table": "shifts", "measures": measures},
        },
    }
    async with opened(declared) as source:
        every = await answer(source, "all")
        assert every.field_types == {"pay": "decimal"}
        assert [row["pay"] for row in every.rows] == ["120.5", "99", None]
        assert (await answer(source, "sum")).rows == ({"whole": "219.5"},)


async def test_the_past_is_asked_where_a_table_keeps_it(shop: Shop) -> None:
    """By its pair of columns; a table without one says that it does not know."""
    async with opened(stock(shop)) as source:
        march = await answer(source, "price", sku="A1", as_of=datetime(2026, 3, 1, tzinfo=UTC))
        assert [row["price"] for row in march.rows] == [800]
        assert march.as_of == datetime(2026, 3, 1, tzinfo=UTC)
        assert march.time_travel_available
        turn = await answer(source, "price", sku="A1", as_of=datetime(2026, 4, 1, tzinfo=UTC))
        assert [row["price"] for row in turn.rows] == [950]
        assert [row["price"] for row in (await answer(source, "price", sku="A1")).rows] == [950]
        assert (
            await answer(source, "price", sku="A1", as_of=datetime(2025, 1, 1, tzinfo=UTC))
        ).rows == ()
        with pytest.raises(UsageError, match="stock has no time travel for level"):
            await answer(source, "level", sku="A1", as_of=NOW)


async def test_an_entity_is_one_that_the_column_has(shop: Shop) -> None:
    """Compared with a message where there are few, looked up by name however many there are."""
    async with opened(stock(shop)) as source:
        found = await answer(source, "named", name="Bolt 17")
        assert found.rows == ({"sku": "X17", "level": 17},)
        with pytest.raises(UsageError, match=r"slots\.name: .*Bolt 17.*value of items\.name"):
            await answer(source, "named", name="Bolt 17' or '1'='1")
        slot: Any = source.questions["named"].slots["name"]
        assert await source.entities(slot) is None
        wide = slot.model_copy(update={"limit": 1_000})
        names = await source.entities(wide)
        assert names is not None
        assert len(names) == 603


@pytest.mark.parametrize(
    "statement",
    [
        *(
            "DELETE FROM items",
            "UPDATE items SET level = 0",
            "INSERT INTO people VALUES ('x', 'y')",
        ),
        *("DROP TABLE items", "CREATE TABLE t (a)", "ALTER TABLE items ADD COLUMN t"),
        *("PRAGMA query_only = OFF", "PRAGMA writable_schema = ON", "VACUUM"),
        *("ATTACH DATABASE ':memory:' AS other", "SELECT load_extension('x')"),
        *("SELECT cost FROM items", "SELECT * FROM items", "SELECT name FROM people"),
        *(
            "SELECT name FROM sqlite_master",
            "SELECT sku FROM low",
            "SELECT readfile('/etc/passwd')",
        ),
        "WITH RECURSIVE n(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n) SELECT a FROM n",
        "SELECT sku FROM items WHERE cost LIKE 'x%'",
        "SELECT zeroblob(1000000000)",
    ],
)
async def test_the_session_itself_reads_only_what_is_allowed(shop: Shop, statement: str) -> None:
    """Even a statement that none of our questions makes is refused by SQLite."""
    before = shop.digest
    engine = engine_of(f"sqlite:///{shop.path}", 1.0, "stock")
    allowed = {"items": ("sku", "level")}
    try:
        with (
            pytest.raises(TierError),
            reading(engine, Deadline(time.monotonic() + 5), allowed) as connection,
        ):
            connection.execute(text(statement)).fetchall()
        with reading(engine, Deadline(time.monotonic() + 5), allowed) as connection:
            assert (
                connection.execute(text("SELECT level FROM items WHERE sku = 'A1'")).scalar() == 42
            )
    finally:
        engine.dispose()
    assert shop.digest == before


async def test_a_view_that_is_allowed_shows_its_columns_and_no_other(shop: Shop) -> None:
    """Its inside is read for it; the table behind it stays closed."""
    declared = stock(shop)
    declared["tables"] = {"low": {"columns": ["sku", "level"]}}
    declared["questions"] = {
        "low": {
            "description": "Few left.",
            "table": "low",
            "select": ["sku", "level"],
            "order_by": ["-level"],
            "where": [{"field": "sku", "op": "starts_with", "value": "B"}],
        }
    }
    async with opened(declared) as source:
        assert (await answer(source, "low")).rows == ({"sku": "B2", "level": 7},)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"nothing": {"columns": ["sku"]}}, r"tables\.nothing: there is no such table"),
        (
            {"items": {"columns": ["sku", "weight"]}},
            r"tables\.items\.columns: there is no 'weight'",
        ),
        (
            {"people": {"columns": ["name", "phone"], "valid_from": "name", "valid_to": "phone"}},
            "is no date, moment or number of seconds",
        ),
    ],
    ids=["table", "column", "validity"],
)
async def test_what_is_not_there_is_said_when_it_is_opened(
    shop: Shop, change: dict[str, Any], why: str
) -> None:
    """Before anybody asks."""
    declared = stock(shop)
    declared["tables"] = {**declared["tables"], **change}
    if "items" in change:
        declared["questions"] = {"total": declared["questions"]["total"] | {"group_by": ["sku"]}}
        declared["questions"]["total"]["measures"] = {"articles": {"function": "count"}}
        declared["questions"]["total"]["order_by"] = []
    with pytest.raises(ConfigError, match=why):
        async with opened(declared):
            pass


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("sqlite://", "the path of a file"),
        ("sqlite:///:memory:", "the path of a file"),
        ("sqlite:////x/shop.db?mode=rw", "the path of a file"),
        ("sqlite:///file:/x/shop.db?mode=rwc&uri=true", "the path of a file"),
        ("sqlite+aiosqlite:////x/shop.db", "asynchronous driver"),
        ("mssql+pyodbc://db/shop", "none of sqlite, postgresql|driver pyodbc is not installed"),
        ("postgresql+psycopg://db/shop", "the driver psycopg is not installed"),
        ("mysql+pymysql://db/shop", "the driver pymysql is not installed"),
        ("nonsense", "no address such as"),
    ],
)
async def test_a_database_that_cannot_be_kept_to_reading_is_refused(
    shop: Shop, url: str, why: str
) -> None:
    """By a message that says what is accepted."""
    declared = stock(shop, url=url)
    with pytest.raises(ConfigError, match=why):
        async with opened(declared):
            pass


async def test_a_slow_query_is_stopped_in_time(tmp_path: Path) -> None:
    """By SQLite itself, in its thread; the next question is answered."""
    path = tmp_path / "wide.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE n (a INTEGER)")
        connection.executemany("INSERT INTO n VALUES (?)", [(one,) for one in range(3_000)])
        connection.execute(
            "CREATE VIEW slow AS SELECT x.a FROM n x, n y, n z WHERE x.a + y.a > z.a"
        )
    declared = {
        "kind": "sql",
        "url": f"sqlite:///{path}",
        "tables": {"slow": {"columns": ["a"]}, "n": {"columns": ["a"]}},
        "questions": {
            "slow": {
                "description": "For ever.",
                "table": "slow",
                "measures": {"most": {"function": "sum", "field": "a"}},
            },
            "quick": {"description": "At once.", "table": "n", "select": ["a"], "limit": 1},
        },
    }
    async with opened(declared, seconds=1.0) as source:
        started = time.monotonic()
        with pytest.raises(TierTimeout, match=r"too long and was stopped|no answer within"):
            await answer(source, "slow")
        asking = asyncio.create_task(answer(source, "slow"))
        await asyncio.sleep(0.05)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert len((await answer(source, "quick")).rows) == 1
    assert time.monotonic() - started < 10


async def test_a_file_that_is_away_is_opened_when_it_is_back(tmp_path: Path) -> None:
    """Nothing is made in its place."""
    path = tmp_path / "shop.db"
    source = source_of("stock", stock(Shop(path)), 2.0)
    with pytest.raises(TierUnavailable):
        await source.open()
    assert not path.exists()
    assert not source.is_open
    shop_at(path)
    assert (await answer(source, "level", sku="A1")).rows[0]["level"] == 42
    path.write_bytes(b"no database at all, but longer than its header has to be")
    with pytest.raises((TierRejected, TierUnavailable)):
        await answer(source, "level", sku="A1")
    await source.close()
    await source.close()
    assert isinstance(source, SqlSource)
    with pytest.raises(TierUnavailable):
        await source._run(lambda _: None)


async def test_questions_side_by_side_are_all_answered(shop: Shop) -> None:
    """More than there are threads."""
    async with opened(stock(shop), seconds=20.0) as source:
        found = await asyncio.gather(*(answer(source, "level", sku=f"X{at}") for at in range(40)))
    assert [one.rows[0]["level"] for one in found] == list(range(40))
    assert SECRET not in "".join(one.model_dump_json() for one in found)

"""A database as a source: queries are built from declared questions, and can only read.

No text of a caller is ever part of a statement. Names come from the declaration and were found in
the database; values are bound parameters. SQLite is opened read-only and lets a session touch the
declared columns only; PostgreSQL and MySQL run it in a read-only transaction.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeVar

from tiers.errors import ConfigError
from tiers.extras import needs
from tiers.mesh import FieldType

from .questions import Condition, Measure, Question, slot_of
from .rows import CELL_CHARS_MAX, Found, in_utc
from .slots import EntitySlot, Value
from .source import Plan, Source
from .specs import SqlQuestion, SqlSpec, TableSpec
from .sql_session import CONNECTIONS_MAX, Deadline, engine_of, failures, reading

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection, Engine, Select, Table
    from sqlalchemy.types import TypeEngine

T = TypeVar("T")


class SqlSource(Source):
    """A database that SQLAlchemy reaches; see ``Source``."""

    kind = "sql"
    _declared: SqlSpec

    def __init__(self, name: str, spec: SqlSpec, seconds: float) -> None:
        super().__init__(name, spec, seconds)
        self._engine: Engine | None = None
        self._threads: ThreadPoolExecutor | None = None
        self._tables: dict[str, Table] | None = None

    @property
    def is_open(self) -> bool:
        """Whether its tables were reflected."""
        return self._tables is not None

    def travels(self, question: Question) -> bool:
        """Whether the question's table says from when until when its rows hold."""
        return isinstance(question, SqlQuestion) and self._spec_of(question).valid_from is not None

    async def open(self) -> None:
        """Reflect every declared table and compare it with what is declared."""
        async with self._opening:
            if self._threads is None:
                self._threads = ThreadPoolExecutor(CONNECTIONS_MAX, f"mesh-{self.name}")
            if self._tables is None:
                with needs("mesh", f"mesh source {self.name}"):
                    await asyncio.to_thread(_load)
                self._tables = await self._run(self._reflected)

    async def close(self) -> None:
        """Dispose of every connection; a query that still runs ends by its own deadline."""
        engine, threads = self._engine, self._threads
        self._engine = self._threads = self._tables = None
        if engine is not None:
            await asyncio.to_thread(engine.dispose)
        if threads is not None:
            await asyncio.to_thread(threads.shutdown, wait=True, cancel_futures=True)

    async def find(self, plan: Plan) -> Found:
        """Ask one table, in one read-only session."""
        tables = await self._ready()
        question: SqlQuestion = plan.question
        table, declared = tables[question.table], self._spec_of(question)
        types = question.types(lambda name: type_of(table.c[name].type) or "text")

        def work(deadline: Deadline) -> Found:
            statement = _statement(table, declared, question, plan)
            with self._session(deadline) as connection:
                rows = connection.execute(statement).mappings().fetchall()
                synced = _synced_at(connection, table, declared)
            return Found(
                rows=[_row(row, types) for row in rows[: question.limit]],
                types=types,
                more=len(rows) > question.limit,
                synced_at=synced,
            )

        return await self._run(work)

    async def entities(self, slot: EntitySlot) -> tuple[str, ...] | None:
        """Return the different values of a column, unless there are more than allowed."""
        tables = await self._ready()
        column = tables[slot.table].c[slot.field]

        def work(deadline: Deadline) -> tuple[str, ...] | None:
            from sqlalchemy import select  # noqa: PLC0415 - loaded with the engine

            known = _cut(column)
            statement = select(known).where(column.is_not(None)).distinct().limit(slot.limit + 1)
            with self._session(deadline) as connection:
                found = [str(value) for (value,) in connection.execute(statement)]
            return None if len(found) > slot.limit else tuple(found)

        return await self._run(work)

    async def knows(self, slot: EntitySlot, value: str) -> bool:
        """Return whether a column has a value."""
        tables = await self._ready()
        column = tables[slot.table].c[slot.field]

        def work(deadline: Deadline) -> bool:
            from sqlalchemy import select  # noqa: PLC0415 - loaded with the engine

            statement = select(column).where(column == value).limit(1)
            with self._session(deadline) as connection:
                return connection.execute(statement).first() is not None

        return await self._run(work)

    def _session(self, deadline: Deadline) -> Any:  # noqa: ANN401 - a context of a connection
        engine = self.there(self._engine)
        allowed = {name: one.columns for name, one in self._declared.tables.items()}
        return reading(engine, deadline, allowed)

    async def _ready(self) -> Mapping[str, Table]:
        if self._tables is None:
            await self.open()
        return self.there(self._tables)

    async def _run(self, work: Callable[[Deadline], T]) -> T:
        """Do something in a thread of this source; nobody waits longer than the deadline."""
        threads = self.there(self._threads)
        deadline = Deadline(time.monotonic() + self.seconds)
        try:
            async with asyncio.timeout(self.seconds + 0.5):
                return await asyncio.get_running_loop().run_in_executor(threads, work, deadline)
        except TimeoutError as late:
            raise self.late() from late
        finally:
            deadline.cancelled.set()

    def _spec_of(self, question: SqlQuestion) -> TableSpec:
        return self._declared.tables[question.table]

    def _reflected(self, deadline: Deadline) -> dict[str, Table]:
        """Return the declared part of every declared table, as it is in the database."""
        from sqlalchemy import inspect  # noqa: PLC0415 - loaded with the engine

        if self._engine is None:
            url = self._declared.url.get_secret_value()
            self._engine = engine_of(url, self.seconds, self.name)
        tables: dict[str, Table] = {}
        with failures(deadline, self.name), reading(self._engine, deadline, None) as connection:
            inspector = inspect(connection)
            for name, declared in self._declared.tables.items():
                tables[name] = self._table(inspector, name, declared)
        return tables

    def _table(self, inspector: Any, name: str, declared: TableSpec) -> Table:  # noqa: ANN401
        from sqlalchemy import Column, MetaData, Table  # noqa: PLC0415 - loaded with the engine
        from sqlalchemy.exc import NoSuchTableError  # noqa: PLC0415 - likewise

        key = f"mesh source {self.name}"
        try:
            there = inspector.get_columns(name, schema=declared.schema_name)
        except NoSuchTableError:
            there = []
        types = {str(one["name"]): one["type"] for one in there}
        if not types:
            raise ConfigError(key, f"tables.{name}: there is no such table")
        columns = []
        for column in declared.columns:
            if column not in types:
                raise ConfigError(key, f"tables.{name}.columns: there is no {column!r}")
            if type_of(types[column]) is None:
                raise ConfigError(key, f"tables.{name}.columns: {column!r} holds binary data")
            kind = _without_made_up_digits(types[column], inspector.dialect.name)
            columns.append(Column(column, kind))
        for column in filter(None, (declared.valid_from, declared.valid_to)):
            if type_of(types[column]) not in {"date", "datetime", "integer"}:
                reason = f"tables.{name}: {column!r} is no date, moment or number of seconds"
                raise ConfigError(key, reason)
        return Table(name, MetaData(), *columns, schema=declared.schema_name)


def _load() -> None:
    """Load SQLAlchemy with what it loads at first use: long before a deadline runs."""
    import sqlalchemy.dialects.sqlite  # noqa: F401, PLC0415 - in this thread


def _without_made_up_digits(found: TypeEngine[Any], dialect: str) -> TypeEngine[Any]:
    """Return the type of a column that tells numbers as SQLite has them.

    Of one that does not say how many digits follow the point, SQLAlchemy would tell ten: 120.5 as
    120.5000000000.
    """
    from sqlalchemy import types  # noqa: PLC0415 - loaded with the engine

    if dialect != "sqlite" or not isinstance(found, types.Numeric) or found.scale is not None:
        return found
    return found if isinstance(found, types.Float) else types.Numeric(asdecimal=False)


def type_of(found: TypeEngine[Any]) -> FieldType | None:
    """Return what a column's values are, ``None`` for binary data."""
    from sqlalchemy import types  # noqa: PLC0415 - loaded with the engine

    kinds: tuple[tuple[type[Any], FieldType | None], ...] = (
        (types.LargeBinary, None),
        (types.Boolean, "boolean"),
        (types.Integer, "integer"),
        (types.Float, "number"),
        (types.Numeric, "decimal"),
        (types.DateTime, "datetime"),
        (types.Date, "date"),
        (types.JSON, "json"),
    )
    for kind, name in kinds:
        if isinstance(found, kind):
            return name
    return "text"


def _statement(table: Table, declared: TableSpec, question: SqlQuestion, plan: Plan) -> Select[Any]:
    """Return a question as a query: one row more than is shown says whether there are more."""
    from sqlalchemy import select  # noqa: PLC0415 - loaded with the engine

    names = (*question.select, *question.group_by)
    whole: dict[str, ColumnElement[Any]] = {name: table.c[name] for name in names}
    whole |= {name: _measure(table, one).label(name) for name, one in question.measures.items()}
    statement = select(*(_cut(one).label(name) for name, one in whole.items()))
    for one in question.where:
        held = _condition(table, one, plan.values)
        if held is not None:
            statement = statement.where(held)
    for held in _valid(table, declared, plan.moment):
        statement = statement.where(held)
    if question.group_by:
        statement = statement.group_by(*(table.c[name] for name in question.group_by))
    for name in question.order_by:
        column = whole[name.removeprefix("-")]
        statement = statement.order_by(column.desc() if name.startswith("-") else column.asc())
    return statement.limit(question.limit + 1)


def _cut(column: ColumnElement[Any]) -> ColumnElement[Any]:
    """Return a text as the database cuts it: one character more than is kept says that it was.

    What a database calls neither text nor JSON comes as it is.
    """
    from sqlalchemy import Enum, String, Text, cast, func, types  # noqa: PLC0415 - with the engine

    kind = column.type
    if isinstance(kind, types.JSON):
        column = cast(column, Text)
    elif not isinstance(kind, String) or isinstance(kind, Enum):
        return column
    made: ColumnElement[Any] = func.substr(column, 1, CELL_CHARS_MAX + 1, type_=Text())
    return made


def _measure(table: Table, measure: Measure) -> ColumnElement[Any]:
    from sqlalchemy import func  # noqa: PLC0415 - loaded with the engine

    if measure.field is None:
        return func.count()
    made: ColumnElement[Any] = getattr(func, measure.function)(table.c[measure.field])
    return made


def _condition(
    table: Table, condition: Condition, values: Mapping[str, Value]
) -> ColumnElement[bool] | None:
    """Return a condition with its value bound, or ``None`` when its slot was not given."""
    slot = slot_of(condition.value)
    if slot is not None and slot not in values:
        return None
    value: Any = condition.value if slot is None else values[slot]
    column = table.c[condition.field]
    bound = _bound(type_of(column.type), value)
    if condition.op == "contains":
        return column.contains(str(value), autoescape=True)
    if condition.op == "starts_with":
        return column.startswith(str(value), autoescape=True)
    compared: dict[str, Callable[[Any], ColumnElement[bool]]] = {
        "=": column.__eq__,
        "!=": column.__ne__,
        "<": column.__lt__,
        "<=": column.__le__,
        ">": column.__gt__,
        ">=": column.__ge__,
    }
    return compared[condition.op](bound)


def _bound(kind: FieldType | None, value: Any) -> Any:  # noqa: ANN401 - of any slot
    """Return a value as a column of a type compares it: a day with moments from its midnight."""
    if isinstance(value, str) and kind in {"date", "datetime"}:
        value = date.fromisoformat(value)
    if isinstance(value, date):
        if kind == "datetime":
            return datetime(value.year, value.month, value.day)  # noqa: DTZ001 - as columns have it
        return value if kind == "date" else value.isoformat()
    return value


def _valid(table: Table, declared: TableSpec, at: datetime) -> list[ColumnElement[bool]]:
    """Return what holds of rows that held at a moment, where a table keeps the past."""
    if declared.valid_from is None or declared.valid_to is None:
        return []
    since, until = table.c[declared.valid_from], table.c[declared.valid_to]
    return [
        since <= _at(type_of(since.type), at),
        until.is_(None) | (until > _at(type_of(until.type), at)),
    ]


def _at(kind: FieldType | None, at: datetime) -> datetime | date | int:
    """Return a moment as a column has it: in UTC, without saying so."""
    known = at.astimezone(UTC).replace(tzinfo=None)
    if kind == "date":
        return known.date()
    return int(at.timestamp()) if kind == "integer" else known


def _synced_at(connection: Connection, table: Table, declared: TableSpec) -> datetime | None:
    """Return the latest value of the column that says how fresh a table is."""
    from sqlalchemy import func, select  # noqa: PLC0415 - loaded with the engine

    if declared.synced_at is None:
        return None
    value = connection.execute(select(func.max(table.c[declared.synced_at]))).scalar()
    if isinstance(value, str):
        with suppress(ValueError):
            value = datetime.fromisoformat(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        with suppress(ValueError, OverflowError, OSError):
            return datetime.fromtimestamp(value, UTC)
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)  # noqa: DTZ001 - UTC, below
    if not isinstance(value, datetime):
        return None
    return in_utc(value)


def _row(row: Mapping[Any, Any], types: Mapping[str, FieldType]) -> dict[str, Any]:
    """Return a row by field; a document that came whole is read, one that was cut stays text.

    What came of a decimal column without a scale is told with the digits that it has.
    """
    found = {str(name): value for name, value in row.items()}
    for name, kind in types.items():
        value = found.get(name)
        if kind == "json" and isinstance(value, str) and len(value) <= CELL_CHARS_MAX:
            with suppress(ValueError, RecursionError):
                found[name] = json.loads(value)
        elif kind == "decimal" and isinstance(value, int | float):
            found[name] = Decimal(str(value))
    return found

"""Records in SQLite: a table per collection, the whole record in it as JSON.

Columns beside the body are what is looked up or compared; they are filled here, from the record.
"""

# ruff: noqa: S608 - statements are made of declared names only; values are always parameters

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import cache, lru_cache
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar

from ...errors import TierRejected
from .. import port
from ..bodies import body, forget, parsed
from ..conditions import Topics
from ..visibility import check, check_delete, check_write
from .database import Database, Synchronous
from .rendering import Statement, columns, counted, found, near, postings
from .schema import prepare, unlocked
from .topic_sets import TopicSets

T = TypeVar("T")

TEXTS_REMEMBERED = 512
"""Statements that are made once: of each table, by which of its columns change."""

_Kept: TypeAlias = tuple[Sequence[Any], Any]
"""A row as it is stored, its number first, and the record of it."""

Watch = Callable[[sqlite3.Connection, port.Find[Any], Statement], None]
"""Told of every question before it is asked: tests read its plan."""


class SqliteRecordStore:
    """A ``RecordStore`` in one SQLite file."""

    def __init__(self, database: Database, sets: TopicSets) -> None:
        self._database = database
        self._sets = sets
        self.watch: Watch | None = None

    async def read(self, operation: str, steps: Callable[[], port.Steps[T]]) -> T:
        """Answer questions from one snapshot, in one trip to a reader's thread."""

        def question(connection: sqlite3.Connection) -> T:
            answering = _Transaction(operation, connection, self._sets, self.watch)
            return port.run(steps(), answering.answered)

        return await self._database.read(operation, question)

    async def change(
        self, operation: str, steps: Callable[[], port.Steps[T]], *, is_brief: bool = True
    ) -> T:
        """Carry out a transaction, in one trip to the writer's thread."""
        numbers: dict[tuple[str, ...], int] = {}

        def transaction(connection: sqlite3.Connection) -> T:
            answering = _Transaction(operation, connection, self._sets, self.watch, numbers)
            return port.run(steps(), answering.answered)

        answer = await self._database.write(operation, transaction, is_brief=is_brief)
        self._sets.learn(numbers)  # committed: before, they might have been taken back
        return answer

    async def scrub(self, *, files: bool = False) -> None:
        """Leave nothing of what was replaced or deleted in the log or in memory, nor in the file.

        SQLite overwrites what is deleted where it lies. Rows that it had moved from one page to
        another before may still lie in the room between, which only a new file is without.
        """
        forget()
        await self._database.write_back(anew=files)


@asynccontextmanager
async def sqlite_record_store(
    path: Path, collections: Sequence[port.Collection[Any]], *, synchronous: Synchronous = "NORMAL"
) -> AsyncIterator[SqliteRecordStore]:
    """Open a file for the length of an ``async with`` block; it is made when new.

    Raises:
        ConfigError: The file is of another version, or not ezra's.
        TierError: It cannot be opened or is damaged.
    """
    async with Database(
        path, lambda connection: prepare(connection, collections), synchronous=synchronous
    ) as database:
        yield SqliteRecordStore(database, TopicSets())


class _Transaction:
    """What answers the requests of one transaction, on the thread it runs on."""

    def __init__(
        self,
        operation: str,
        connection: sqlite3.Connection,
        sets: TopicSets,
        watch: Watch | None,
        numbers: dict[tuple[str, ...], int] | None = None,
    ) -> None:
        self._operation = operation
        self._may_write = numbers is not None
        self._numbers = {} if numbers is None else numbers
        self._connection = connection
        self._sets = sets
        self._watch = watch
        self._held: dict[tuple[str, ...], _Kept] = {}
        """What was found or written here, by its name."""
        self._sights: dict[Topics, bytes] = {}
        """Which sets of topics conditions admit in the snapshot that is read, which stays."""

    def answered(self, requests: Sequence[port.Request]) -> Sequence[Any]:
        """Return what requests come to, each after those before it."""
        return [self._answer(request) for request in requests]

    def _answer(self, request: port.Request) -> Any:  # noqa: ANN401 - of any request
        if not isinstance(request, port.WRITES):
            return self._answer_to(request)
        if not self._may_write:
            raise TierRejected("cold", self._operation, "a write while reading")
        if isinstance(request, port.Delete):
            return self._deleted(request)
        check_write(request)
        if isinstance(request, port.Put):
            return self._put(request)
        return self._replaced(request)

    def _answer_to(self, question: port.Question) -> Any:  # noqa: ANN401 - of any question
        if isinstance(question, port.Find):
            return self._found(question)
        if isinstance(question, port.Count):
            return self._counted(question)
        if isinstance(question, port.Near):
            return self._near(question)
        return self._rows(question.found, postings(question, self._sight))

    def _found(self, find: port.Find[Any]) -> list[Any]:
        if find.is_of_nothing:
            return []
        wanted = "t.*" if self._may_write else "t.body"
        rows = self._rows(find, found(find, self._sight, wanted))
        if not rows:
            return []
        model: Any = find.collection.record
        records = [parsed(model, row[-1]) for row in rows]
        check(find, records)
        if self._may_write:
            for row, record in zip(rows, records, strict=True):
                self._held[_name_in(find.collection, row)] = (row, record)
        return records

    def _counted(self, request: port.Count[Any]) -> dict[tuple[Any, ...], int]:
        rows = self._rows(request.found, counted(request, self._sight))
        return {tuple(row[:-1]): row[-1] for row in rows if row[-1]}

    def _near(self, question: port.Near[Any]) -> list[list[tuple[Any, ...]]]:
        answers: list[list[tuple[Any, ...]]] = []
        for number, statement in near(question, self._sight):
            each: list[list[tuple[Any, ...]]] = [[] for _ in range(number)]
            for at, *row in self._rows(question.found, statement):
                each[at].append(tuple(row))
            answers += each
        return answers

    def _put(self, request: port.Put[Any]) -> None:
        collection, record = request.collection, request.record
        values = self._values(collection, record, body(record))
        text = _insertion(collection.name, columns(collection))
        number = self._connection.execute(text, values).lastrowid
        row = (number, *values)
        self._list(collection, None, (row, record))
        self._held[_name_in(collection, row)] = (row, record)

    def _replaced(self, request: port.Replace[Any]) -> None:
        """Change the columns and look-ups in which a record differs from what is there."""
        collection, record = request.collection, request.record
        name = (collection.name, *collection.owner(record), collection.key(record))
        before = self._row_of(collection, name)
        text = body(record)
        if text == before[0][-1]:
            return  # it says what it said, and so do the columns and look-ups, made of it alone
        values = self._values(collection, record, text)
        row = (before[0][0], *values)
        named = zip(columns(collection), before[0][1:], values, strict=True)
        changed = {column: one for column, was, one in named if one != was}
        if changed:
            update = _updating(collection.name, tuple(changed))
            self._connection.execute(update, [*changed.values(), row[0]])
        self._list(collection, before, (row, record))
        self._held[name] = (row, record)

    def _row_of(self, collection: port.Collection[Any], name: tuple[str, ...]) -> _Kept:
        """Return the row of the record of a name, and that record."""
        if name in self._held:
            return self._held[name]
        where = " AND ".join(f"{one} = ?" for one in (*port.OWNERS[collection.extent], "id"))
        text = f"SELECT * FROM {collection.name} WHERE {where}"
        row = self._connection.execute(text, name[1:]).fetchone()
        if row is None:
            what = f"{collection.name} {name[-1]!r} is not there"
            raise TierRejected("cold", self._operation, what)
        model: Any = collection.record
        return row, parsed(model, row[-1])

    def _values(self, collection: port.Collection[Any], record: Any, text: str) -> list[Any]:  # noqa: ANN401
        """Return what a record says in the columns of its table, in their order, its body last."""
        values: list[Any] = collection.row(record)
        if collection.owned:
            values.append(self._sets.number(self._connection, record.topics, self._numbers))
        if collection.stretches:
            stretched = collection.stretched(record).values()
            values += [json.dumps(held) if held else "[]" for held in stretched]
        values.append(text)
        return values

    def _list(
        self, collection: port.Collection[Any], was: _Kept | None, said: _Kept | None
    ) -> None:
        """Bring the look-ups of a record from what it said before to what it says now."""
        for side in _sides(collection):
            if was and said and side.is_same(was, said):
                continue  # most changes are of neither what is listed nor what it is ordered by
            old, new = side.rows(was), side.rows(said)
            had, has = (set(old), set(new)) if old and new else (set(), set())
            gone = [one for one in old if one not in has]
            more = [one for one in new if one not in had]
            if gone:
                self._connection.executemany(side.removal, gone)
            if more:
                self._connection.executemany(side.insertion, more)

    def _deleted(self, operation: port.Delete[Any]) -> int:
        find = operation.found
        check_delete(operation, self._found(operation.unless) if operation.unless else ())
        collection = find.collection
        if collection.append_only:
            with unlocked(self._connection, collection):
                return self._deleted_unread(find)
        if not collection.lists:
            return self._deleted_unread(find)
        model: Any = collection.record
        rows = self._rows(find, found(find, self._sight, "t.*"))
        for row in rows:
            record = parsed(model, row[-1])
            self._held.pop(_name_in(collection, row), None)
            self._list(collection, (row, record), None)
        text = f"DELETE FROM {collection.name} WHERE row = ?"
        self._connection.executemany(text, [row[:1] for row in rows])
        return len(rows)

    def _deleted_unread(self, find: port.Find[Any]) -> int:
        """Delete by one statement what stands in no look-up."""
        table = find.collection.name
        self._held = {name: kept for name, kept in self._held.items() if name[0] != table}
        text, values = found(find, self._sight, "t.row")
        statement = Statement(f"DELETE FROM {table} WHERE row IN ({text})", values)
        return 0 if find.is_of_nothing else self._executed(find, statement).rowcount

    def _rows(self, find: port.Find[Any], statement: Statement) -> list[Any]:
        if find.is_of_nothing:
            return []
        cursor = self._executed(find, statement)
        cursor.row_factory = None
        return cursor.fetchall()

    def _executed(self, find: port.Find[Any], statement: Statement) -> sqlite3.Cursor:
        if self._watch is not None:
            self._watch(self._connection, find, statement)
        return self._connection.execute(statement.text, statement.values)

    def _sight(self, condition: Topics) -> bytes:
        seen = self._sights.get(condition)
        if seen is None:
            seen = self._sets.sight(self._connection, condition)
            if not self._may_write:  # a write may add sets
                self._sights[condition] = seen
        return seen


def _name_in(collection: port.Collection[Any], row: Sequence[Any]) -> tuple[str, ...]:
    """Return what tells a record from all others, as its row has it: its owner and its id."""
    return (collection.name, *row[1 : len(port.OWNERS[collection.extent]) + 2])


class _Side(NamedTuple):
    """The table of a look-up, made ready once.

    Attributes:
        lookup: Takes the values of a record, and how often it has each.
        behind: Takes what stands behind the value from the row of a record.
        insertion: Adds a row.
        removal: Takes one away.
    """

    lookup: port.Lookup[Any]
    behind: Callable[[Sequence[Any]], tuple[Any, ...]]
    insertion: str
    removal: str

    def is_same(self, was: _Kept, said: _Kept) -> bool:
        """Whether two forms of a record have the same rows."""
        is_placed_alike = self.behind(was[0]) == self.behind(said[0])
        return is_placed_alike and self._lists_same(was[1], said[1])

    def _lists_same(self, one: Any, other: Any) -> bool:  # noqa: ANN401 - records of a collection
        lookup = self.lookup
        of = lookup.made_of or lookup.values
        return of(one) == of(other) or lookup.listed(one) == lookup.listed(other)

    def rows(self, kept: _Kept | None) -> list[tuple[Any, ...]]:
        """Return the rows of the values that a record has, in order."""
        listed = None if kept is None else self.lookup.listed(kept[1])
        if kept is None or not listed:
            return []
        place = self.behind(kept[0])
        return [(value, *place, times) for value, times in listed.items()]


@cache
def _sides(collection: port.Collection[Any]) -> tuple[_Side, ...]:
    """Return the tables of a collection's look-ups."""
    return tuple(_side(collection, name, lookup) for name, lookup in collection.lists.items())


def _side(collection: port.Collection[Any], name: str, lookup: port.Lookup[Any]) -> _Side:
    copied = (*port.OWNERS[collection.extent], *lookup.order)
    stored = ("row", *columns(collection))
    behind = itemgetter(*map(stored.index, (*copied, "row")))
    table, names = f"{collection.name}__{name}", ("value", *copied, "row", "times")
    return _Side(lookup, behind, _insertion(table, names), _removal(table, names))


@lru_cache(maxsize=TEXTS_REMEMBERED)
def _insertion(table: str, names: tuple[str, ...]) -> str:
    listed = ", ".join(f'"{name}"' for name in names)
    return f"INSERT INTO {table} ({listed}) VALUES ({', '.join('?' * len(names))})"


@lru_cache(maxsize=TEXTS_REMEMBERED)
def _updating(table: str, names: tuple[str, ...]) -> str:
    setting = ", ".join(f'"{name}" = ?' for name in names)
    return f"UPDATE {table} SET {setting} WHERE row = ?"


@lru_cache(maxsize=TEXTS_REMEMBERED)
def _removal(table: str, names: tuple[str, ...]) -> str:
    where = " AND ".join(f'"{name}" = ?' for name in names)
    return f"DELETE FROM {table} WHERE {where}"

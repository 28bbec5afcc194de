"""Forging what a store holds of a history: one field of one record at a time, or a whole record.

Each forgery is there while the caller looks, and is undone before the next.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from pymongo import MongoClient
from pymongo.errors import WriteError

Row = dict[str, Any]

_BODY = "body"
"""Where a record lies as JSON, in a table and in a collection."""

_UNSHOWN = {"row", "write", "body.frontier taken away"}
"""What no answer shows and no look-up goes by: when a record came, by which write, and what is
known of a root."""

_SETS = " WHERE id IN (SELECT topic_set FROM beliefs)"
"""Of the sets of topics those that beliefs have."""


def sqlite_forgeries(path: Path, tables: Sequence[str], *, whole: bool) -> Iterator[str]:
    """Forge rows of an SQLite file past its triggers, look-ups included; yield what was done.

    Args:
        path: The file.
        tables: Which.
        whole: Every column of every row; else every column, of one row after the other.
    """
    with closing(sqlite3.connect(path, isolation_level=None, timeout=30)) as connection:
        connection.row_factory = sqlite3.Row
        made = connection.execute("SELECT type, name, tbl_name FROM sqlite_schema").fetchall()
        for one in made:
            if one["type"] == "trigger" and one["tbl_name"] in tables:
                connection.execute(f"DROP TRIGGER {one['name']}")
        for one in made:
            if one["type"] == "table" and one["name"].partition("__")[0] in tables:
                yield from _table_forgeries(connection, one["name"], whole=whole)
        yield from _table_forgeries(connection, "topic_sets", whole=whole, among=_SETS)


def _table_forgeries(
    connection: sqlite3.Connection, table: str, *, whole: bool, among: str = ""
) -> Iterator[str]:
    info = connection.execute(f"PRAGMA table_info({table})").fetchall()
    keys = [one["name"] for one in sorted(info, key=lambda one: one["pk"]) if one["pk"]]
    here = " AND ".join(f'"{key}" = ?' for key in keys)
    rows = [dict(row) for row in connection.execute(f"SELECT * FROM {table}{among}")]  # noqa: S608
    bodies = [row.get(_BODY) for row in rows]
    for place, row in enumerate(rows):
        named = [row[key] for key in keys]
        ways = [(name, name, _forged(row[name])) for name in row if name != _BODY]
        ways += [(name, _BODY, forged) for name, forged in _forged_bodies(row.get(_BODY), bodies)]
        for number, (what, name, forged) in enumerate(ways):
            if (what in _UNSHOWN and _BODY in row) or not (whole or number % len(rows) == place):
                continue
            update = f'UPDATE {table} SET "{name}" = ? WHERE {here}'  # noqa: S608
            try:
                connection.execute(update, (forged, *named))
            except sqlite3.IntegrityError:
                continue
            yield f"{table}.{what} of row {place}: {row[name]!r} to {forged!r}"
            now = [forged if key == name else row[key] for key in keys]
            connection.execute(update, (row[name], *now))
        connection.execute(f"DELETE FROM {table} WHERE {here}", named)  # noqa: S608
        yield f"{table} row {place} deleted"
        marks = ", ".join("?" for _ in row)
        insertion = f"INSERT INTO {table} VALUES ({marks})"  # noqa: S608
        connection.execute(insertion, list(row.values()))
        if "value" in row:
            more = {**row, "value": "x"}
            connection.execute(insertion, list(more.values()))
            yield f"{table} row {place} put in for another value"
            named = [more[key] for key in keys]
            connection.execute(f"DELETE FROM {table} WHERE {here}", named)  # noqa: S608


def mongo_forgeries(
    uri: str, database: str, collections: Sequence[str], *, whole: bool
) -> Iterator[str]:
    """Forge documents of a MongoDB database, look-ups included; yield what was done.

    Args:
        uri: The server.
        database: Its database.
        collections: Which.
        whole: Every field of every document; else every field, of one document after the other.
    """
    with MongoClient[Row](uri) as client:
        for collection in collections:
            raw = client[database][collection]
            documents = list(raw.find())
            bodies = [document[_BODY] for document in documents]
            for place, document in enumerate(documents):
                here = {"_id": document["_id"]}
                for number, (field, forged) in enumerate(_forged_documents(document, bodies)):
                    if field in _UNSHOWN:
                        continue
                    if not (whole or number % len(documents) == place):
                        continue
                    try:
                        raw.replace_one(here, forged)
                    except WriteError:  # a validator or a unique index keeps it out
                        continue
                    yield f"{collection}.{field} of document {place}: {forged.get(field)!r}"
                    raw.replace_one(here, document)
                raw.delete_one(here)
                yield f"{collection} document {place} deleted"
                raw.insert_one(document)


def _forged_documents(document: Row, bodies: Iterable[str | None]) -> Iterator[tuple[str, Row]]:
    """Yield a document with each field forged, those of its record too."""
    for name, value in document.items():
        if name not in ("_id", _BODY):
            yield name, {**document, name: _forged(value)}
    for name, forged in _forged_bodies(document[_BODY], bodies):
        yield name, {**document, _BODY: forged}


def _forged_bodies(body: str | None, bodies: Iterable[str | None]) -> Iterator[tuple[str, str]]:
    """Yield a record with each field forged, taken away, or put in that others have."""
    if body is None:
        return
    yield "body", body[:-1]
    said = json.loads(body)
    for name, value in said.items():
        yield f"body.{name}", json.dumps({**said, name: _forged(value)})
        rest = {one: said[one] for one in said if one != name}
        yield f"body.{name} taken away", json.dumps(rest)
    others: Row = {}
    for other in bodies:
        others |= json.loads(other or "{}")
    for name, value in others.items():
        if name not in said:
            yield f"body.{name} put in", json.dumps({**said, name: value})


def _forged(value: Any) -> Any:
    if value is None:
        return "x"
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1 if isinstance(value, int) else value / 2 + 0.125
    if isinstance(value, list):
        return [_forged(value[0]), *value[1:]] if value else ["x"]
    if isinstance(value, dict):
        return {**value, "x": "x"}
    return f"{value}x"

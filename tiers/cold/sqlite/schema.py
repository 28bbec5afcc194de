"""The tables of a database file, and which version of them a file has.

A file carries the version in ``PRAGMA user_version``. One version is known: a file of another is
refused as it is. What it holds comes here as an export.
"""

# ruff: noqa: S608 - statements are made of declared names only

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from ...errors import ConfigError
from ..conditions import Condition
from ..port import OWNERS, Collection
from .file_size import check_whole, has_log
from .rendering import columns, constant
from .topic_sets import TABLE
from .translation import translated

APPLICATION_ID = 0x455A5241  # "EZRA", in the file's header: what the ``file`` command can show
SCHEMA_VERSION = 18
"""Raised when the tables change; files of before are then refused."""

_NO_DELETION = "__no_delete"


def prepare(connection: sqlite3.Connection, collections: Sequence[Collection[Any]]) -> None:
    """Make the tables in a new file, all or none; check any other.

    Raises:
        ConfigError: The file has another version, or is not ezra's.
        sqlite3.Error: The tables cannot be made; the file is as empty as before.
    """
    _check(connection)
    if not _is_new(connection):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        for statement in statements(collections):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def statements(collections: Sequence[Collection[Any]]) -> list[str]:
    """Return what makes the tables of collections, in order."""
    return [TABLE, *(text for one in collections for text in _tables(one))]


def _tables(collection: Collection[Any]) -> Iterator[str]:
    """Yield the statements that make a collection's table, indexes, look-ups and triggers."""
    name, owners = collection.name, OWNERS[collection.extent]
    kinds = {"topic_set": " INTEGER NOT NULL", "body": " TEXT NOT NULL"}
    kinds |= dict.fromkeys(collection.stretches, " TEXT NOT NULL")
    listed = ", ".join(f'"{one}"{kinds.get(one, "")}' for one in columns(collection))
    yield f"CREATE TABLE {name} (row INTEGER PRIMARY KEY, {listed})"
    yield f"CREATE UNIQUE INDEX {name}__id ON {name} ({_names((*owners, 'id'))})"
    for short, index in collection.indexes.items():
        fields = _names((*OWNERS[index.of or collection.extent], *index.fields))
        unique = "UNIQUE " if index.unique else ""
        where = " AND ".join(constant(condition) for condition in index.where)
        partial = f" WHERE {where}" if where else ""
        yield f"CREATE {unique}INDEX {name}__{short} ON {name} ({fields}){partial}"
    for short, lookup in collection.lists.items():
        order = lookup.order
        key = _names((*owners, "value", *order, "row"))
        fields = ", ".join(("row INTEGER", "value TEXT", _names((*owners, *order, "times"))))
        side = f"{name}__{short}"
        yield f"CREATE TABLE {side} ({fields}, PRIMARY KEY ({key})) WITHOUT ROWID"
        if lookup.told_whole:
            yield f"CREATE INDEX {side}__row ON {side} (row, value)"
    yield from _triggers(collection)


def _triggers(collection: Collection[Any]) -> Iterator[str]:
    """Yield what keeps records as they are, for whoever else opens the file too."""
    name = collection.name
    if not (collection.append_only or collection.write_once):
        return
    refused = f"BEGIN SELECT RAISE(ABORT, '{name} is never changed'); END"
    yield f"CREATE TRIGGER {name}__no_update BEFORE UPDATE ON {name} {refused}"
    # INSERT OR REPLACE deletes without asking a trigger on deletion.
    taken = " OR ".join(_collisions(collection))
    yield f"CREATE TRIGGER {name}__no_replace BEFORE INSERT ON {name} WHEN {taken} {refused}"
    if collection.append_only:
        yield _no_deletion(name)


def _no_deletion(name: str) -> str:
    kept = f"BEGIN SELECT RAISE(ABORT, '{name} is only appended to'); END"
    return f"CREATE TRIGGER {name}{_NO_DELETION} BEFORE DELETE ON {name} {kept}"


@contextmanager
def unlocked(connection: sqlite3.Connection, collection: Collection[Any]) -> Iterator[None]:
    """Let the block, inside a transaction, delete of what is only appended to; nobody else can."""
    connection.execute(f"DROP TRIGGER {collection.name}{_NO_DELETION}")
    yield
    connection.execute(_no_deletion(collection.name))


def _collisions(collection: Collection[Any]) -> Iterator[str]:
    """Yield when a new record would take the place of another, by each of its unique keys."""
    owners = OWNERS[collection.extent]
    keys: list[tuple[tuple[str, ...], tuple[Condition, ...]]] = [(("row",), ())]
    keys.append(((*owners, "id"), ()))
    keys += [
        ((*OWNERS[index.of or collection.extent], *index.fields), index.where)
        for index in collection.indexes.values()
        if index.unique
    ]
    for names, where in keys:
        held = [f't."{one}" = NEW."{one}"' for one in names]
        held += [constant(one, prefix) for one in where for prefix in ("t.", "NEW.")]
        yield f"EXISTS (SELECT 1 FROM {collection.name} t WHERE {' AND '.join(held)})"


def _names(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def check_file(path: Path) -> None:
    """Refuse a file that is not whole, is not ezra's or has another version; write nothing at all.

    A file with a log beside it is asked for its version when it is opened.

    Raises:
        ConfigError: It has another version, is not ezra's, or cannot be looked at.
        CorruptRecord: It was emptied, cut short or damaged.
    """
    check_whole(path)
    if not path.exists() or has_log(path):
        return
    # Immutable: nothing is locked, and no other file is made beside it.
    address = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
    with translated("open"), closing(sqlite3.connect(address, uri=True)) as connection:
        _check(connection)


def refusal_of(connection: sqlite3.Connection) -> str | None:
    """Return why a file cannot be used, in one sentence; ``None`` for one that can, or is new."""
    if _is_new(connection):
        return None
    if _pragma(connection, "application_id") != APPLICATION_ID:
        return "the file ezra.db there was not written by ezra; set EZRA_HOME to another folder"
    found = _pragma(connection, "user_version")
    if found == SCHEMA_VERSION:
        return None
    return (
        f"the memory there has schema version {found}, and this ezra expects version "
        f"{SCHEMA_VERSION}: export its graphs with the ezra that wrote it, and bring them into a "
        "new folder with 'ezra import'"
    )


def _check(connection: sqlite3.Connection) -> None:
    reason = refusal_of(connection)
    if reason is not None:
        raise ConfigError("EZRA_HOME", reason)


def _is_new(connection: sqlite3.Connection) -> bool:
    has_tables = connection.execute("SELECT COUNT(*) FROM sqlite_schema").fetchone()[0] > 0
    return not has_tables and _pragma(connection, "user_version") == 0


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])

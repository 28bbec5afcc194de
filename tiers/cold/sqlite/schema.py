"""The tables of a database file, and which version of them a file has.

A file carries the version in ``PRAGMA user_version``. One version is known: a file of another is
refused as it is. What it holds comes here as an export.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from ...errors import ConfigError
from ..port import Collection
from .file_size import check_whole, has_log
from .rendering import schema
from .topic_sets import TABLE
from .translation import translated

APPLICATION_ID = 0x455A5241  # "EZRA", in the file's header: what the ``file`` command can show
SCHEMA_VERSION = 18
"""Raised when the tables change; files of before are then refused."""


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
    return [TABLE, *(text for one in collections for text in schema(one))]


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

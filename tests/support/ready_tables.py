"""New database files of the cold tier get their tables from one that was made before.

Making two hundred tables and indexes takes longer than most tests that ask them: in a process they
are made once, by the product, and copied. ``tests/integration/test_cold_versions.py`` is about
making them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import cache
from threading import Lock
from typing import Any

from tiers.cold.port import Collection
from tiers.cold.sqlite import schema

from .session import SESSION

_COPYING = Lock()
"""Databases are opened on threads of their own, and all copy from one connection."""


def prepare_from_ready(
    connection: sqlite3.Connection, collections: Sequence[Collection[Any]]
) -> None:
    """Do what ``prepare`` does, faster where the file is new."""
    if schema._is_new(connection):
        with _COPYING:
            _made(tuple(collections)).backup(connection)
    schema.prepare(connection, collections)


@cache
def _made(collections: tuple[Collection[Any], ...]) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    SESSION.callback(connection.close)
    schema.prepare(connection, collections)
    return connection

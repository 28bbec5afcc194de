"""The tables of SQLite, which are made of the collections that are declared."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing

from tiers.cold.sqlite.schema import SCHEMA_VERSION, statements
from tiers.cold.stores import COLLECTIONS

PINNED = (18, "1feaafa40417122c05192e8f5206678ecfdd0909d2f9512773a09830aab27093")
"""A version, and the digest of what makes its tables."""


def test_other_tables_are_another_version() -> None:
    """A file of before would be opened, and not have what is asked of it."""
    digest = hashlib.sha256("\n".join(statements(COLLECTIONS)).encode()).hexdigest()
    said = "raise SCHEMA_VERSION, then pin the new digest"
    assert (SCHEMA_VERSION, digest) == PINNED, said


def test_the_tables_of_every_collection_can_be_made() -> None:
    """In one go, and each collection has one of its name."""
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in statements(COLLECTIONS):
            connection.execute(statement)
        tables = {
            name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE sql != ''")
        }
    assert {one.name for one in COLLECTIONS} <= tables

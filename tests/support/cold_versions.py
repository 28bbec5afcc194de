"""SQLite files as earlier versions of the schema have left them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from tiers.cold.sqlite import DATABASE_NAME
from tiers.cold.sqlite.schema import MIGRATIONS, migrate

from .cold_backends import raw_sqlite


def as_version(version: int, folder: Path, into: Path) -> None:
    """Copy a store's data into a file that only the first migrations have made."""
    with closing(raw_sqlite(into)) as connection:
        migrate(connection, MIGRATIONS[:1])
        connection.execute("ATTACH ? AS newest", (str(folder / DATABASE_NAME),))
        tables = _names(
            connection,
            "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
        )
        assert len(tables) > 15
        for table in tables:
            columns = [
                _PARENTS if name == "inherits_from" else f'"{name}"'
                for name in _names(connection, f"SELECT name FROM pragma_table_info('{table}')")  # noqa: S608
            ]
            connection.execute(
                f"INSERT INTO main.{table} SELECT {', '.join(columns)} FROM newest.{table} t"  # noqa: S608
            )
        connection.execute("DETACH newest")
        migrate(connection, MIGRATIONS[:version])


_PARENTS = (
    "(SELECT json_group_array(p.id) FROM newest.parents p"
    " WHERE p.tenant = t.tenant AND p.graph_id = t.id)"
)


def _names(connection: sqlite3.Connection, query: str) -> list[str]:
    return [row["name"] for row in connection.execute(query)]

"""What a question asks of a database, written for each that can be asked."""

from __future__ import annotations

import pytest
from sqlalchemy import JSON, Column, Integer, MetaData, Table, Text, select
from sqlalchemy.dialects import mysql, postgresql, sqlite
from sqlalchemy.engine import Dialect

from ezra.mesh.sql import _cut

NOTES = Table("notes", MetaData(), Column("id", Integer), Column("note", Text), Column("d", JSON))


@pytest.mark.parametrize(
    ("dialect", "cast"),
    [
        (sqlite.dialect(), "CAST(notes.d AS TEXT)"),
        (postgresql.dialect(), "CAST(notes.d AS TEXT)"),
        (mysql.dialect(), "CAST(notes.d AS CHAR)"),
    ],
    ids=lambda one: one.name if isinstance(one, Dialect) else "",
)
def test_r9_37_every_database_cuts_what_is_long(dialect: Dialect, cast: str) -> None:
    """Texts and documents come cut, numbers as they are."""
    statement = select(*(_cut(column).label(column.name) for column in NOTES.columns))
    written = str(statement.compile(dialect=dialect, compile_kwargs={"literal_binds": True}))
    assert "substr(notes.note, 1, 2001) AS note" in written
    assert f"substr({cast}, 1, 2001) AS d" in written
    assert "notes.id" in written
    assert "notes.id, 1" not in written

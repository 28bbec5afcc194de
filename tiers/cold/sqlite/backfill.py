"""Carries existing records into what a later version keeps of them, when it first opens a file.

Writes by statements of its own: a step stays as it was when later versions change the tables.
"""

# ruff: noqa: S608 - statements are made of constants only; values are always parameters

from __future__ import annotations

import sqlite3

from ...records import Commitment, Episode, Fact, Owned, Rule, Summary, Turn
from ..forms import entry_of
from .bm25 import mark_of, marked_text
from .identity import identity_of
from .rows import record_of
from .searchable import ALL_TENANTS

_MODELS: tuple[tuple[type[Owned], str], ...] = (
    (Turn, "turns"),
    (Summary, "summaries"),
    (Episode, "episodes"),
    (Fact, "facts"),
    (Rule, "rules"),
    (Commitment, "beliefs"),
)
_SEARCHABLE = (
    "INSERT INTO searchable (tenant, graph_id, id, kind, user_id, topic_set, private_to, tier,"
    " expires_at, live) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING row"
)
_TOTALS = (
    "INSERT INTO word_totals SELECT tenant, graph_id, kind, COUNT(*) FROM searchable"
    " GROUP BY tenant, graph_id, kind UNION ALL SELECT ?, ?, ?, COUNT(*) FROM searchable"
)


def index_existing_records(connection: sqlite3.Connection) -> None:
    """Index every record that the base tables hold, in the migration's transaction."""
    reading = connection.cursor()
    reading.row_factory = sqlite3.Row
    for model, table in _MODELS:
        owned = f"{table} t JOIN topic_sets s ON s.id = t.topic_set"
        for row in reading.execute(f"SELECT t.*, s.topics FROM {owned} ORDER BY t.row"):
            _index(connection, row, record_of(model, row))
    connection.execute(_TOTALS, (ALL_TENANTS,) * 3)


def tell_users_apart(connection: sqlite3.Connection) -> None:
    """Give facts and rules of users the digests by which two users' statements differ."""
    reading = connection.cursor()
    reading.row_factory = sqlite3.Row
    kinds: tuple[tuple[type[Fact | Rule], str], ...] = ((Fact, "facts"), (Rule, "rules"))
    for model, table in kinds:
        of_users = f"SELECT t.* FROM {table} t WHERE t.user_id IS NOT NULL"
        digests = [
            (identity_of(record_of(model, row)), row["row"]) for row in reading.execute(of_users)
        ]
        connection.executemany(f"UPDATE {table} SET digest = ? WHERE row = ?", digests)


def _index(connection: sqlite3.Connection, row: sqlite3.Row, record: Owned) -> None:
    entry = entry_of(record)
    columns = row.keys()
    is_live = ("superseded_by" not in columns or row["superseded_by"] is None) and (
        "active" not in columns or row["active"] == 1
    )
    (number,) = connection.execute(
        _SEARCHABLE,
        (
            *(row["tenant"], row["graph_id"], row["id"], entry.kind, row["user_id"]),
            *(row["topic_set"], row["private_to"], entry.tier),
            row["expires_at"] if "expires_at" in columns else None,
            int(is_live),
        ),
    ).fetchone()
    words = marked_text(mark_of(entry.tenant, entry.graph_id, entry.kind), entry.text)
    connection.execute("INSERT INTO word_index (rowid, words) VALUES (?, ?)", (number, words))

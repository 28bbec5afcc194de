"""Carries existing records into what a later version keeps of them, when it first opens a file.

Writes by statements of its own: a step stays as it was when later versions change the tables.
"""

# ruff: noqa: S608 - statements are made of constants only; values are always parameters

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from itertools import groupby

from ...forms import entry_of
from ...history.fold import Fold, FoldedBelief
from ...history.spans import node_of
from ...history.wording import claim_words, filed_under
from ...records import (
    BeliefEvent,
    Commitment,
    Episode,
    Fact,
    LoggedBelief,
    Owned,
    Rule,
    Summary,
    Turn,
)
from ..edges import edge_keys
from .bm25 import mark_of, marked_text
from .identity import identity_of, key_digest_of
from .rows import record_of

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
    " GROUP BY tenant, graph_id, kind"
)
_WITH_TOOLS = (
    "SELECT t.*, s.topics, r.row AS word_row FROM turns t"
    " JOIN topic_sets s ON s.id = t.topic_set JOIN searchable r"
    " ON r.tenant = t.tenant AND r.graph_id = t.graph_id AND r.id = t.id"
    " WHERE t.tool_outputs <> '[]' ORDER BY r.row"
)
_INDEX = "INSERT INTO word_index (rowid, words) VALUES (?, ?)"
_FORGET = "INSERT INTO word_index (word_index, rowid, words) VALUES ('delete', ?, ?)"
_LENGTHS = (
    "UPDATE searchable SET words = COALESCE("
    "(SELECT number_of(d.sz) FROM word_index_docsize d WHERE d.id = searchable.row), 0)"
)
_LENGTH_TOTALS = (
    "UPDATE word_totals AS t SET words = (SELECT COALESCE(SUM(r.words), 0) FROM searchable r"
    " WHERE r.tenant = t.tenant AND r.graph_id = t.graph_id AND r.kind = t.kind)"
)
_LOGS = (
    "SELECT e.*, c.content FROM belief_events e LEFT JOIN belief_contents c"
    " ON c.tenant = e.tenant AND c.graph_id = e.graph_id AND c.event_id = e.id"
    " ORDER BY e.tenant, e.graph_id, e.seq"
)
_BECAME = (
    "UPDATE beliefs SET status = ?, ended_seq = ?, superseded_by = ?, pinned = ?"
    " WHERE tenant = ? AND graph_id = ? AND id = ?"
)
_SPAN = (
    "INSERT INTO belief_spans (tenant, graph_id, belief_id, since_seq, until_seq, node, pinned)"
    " VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_ACTIVE = (
    "SELECT t.*, s.topics FROM beliefs t JOIN topic_sets s ON s.id = t.topic_set"
    " WHERE t.status = 'active' AND t.redacted_at IS NULL ORDER BY t.row"
)
_WORD = (
    "INSERT INTO belief_words (tenant, graph_id, filed_under, word, committed_seq)"
    " VALUES (?, ?, ?, ?, ?)"
)

# A redacted fact has neither.
_KEYED = "SELECT t.* FROM facts t WHERE t.subject IS NOT NULL AND t.predicate IS NOT NULL"

_ENDS = (
    "UPDATE facts SET subject_key = :subject_key, predicate_key = :predicate_key,"
    " object_key = :object_key WHERE row = :row"
)


def index_existing_records(connection: sqlite3.Connection) -> None:
    """Index every record that the base tables hold, in the migration's transaction."""
    reading = connection.cursor()
    reading.row_factory = sqlite3.Row
    for model, table in _MODELS:
        owned = f"{table} t JOIN topic_sets s ON s.id = t.topic_set"
        for row in reading.execute(f"SELECT t.*, s.topics FROM {owned} ORDER BY t.row"):
            _index(connection, row, record_of(model, row))
    connection.execute(_TOTALS)


def find_outputs(connection: sqlite3.Connection) -> None:
    """Let turns be found by what tools returned, and tell how long each record is."""
    reading = connection.cursor()
    reading.row_factory = sqlite3.Row
    for row in reading.execute(_WITH_TOOLS):
        turn = record_of(Turn, row)
        mark = mark_of(turn.tenant, turn.graph_id, "turn")
        # Contentless: the index has to be told exactly what it forgets.
        old, new = (marked_text(mark, entry_of(one).text) for one in (_untold(turn), turn))
        connection.execute(_FORGET, (row["word_row"], old))
        connection.execute(_INDEX, (row["word_row"], new))
    connection.create_function("number_of", 1, _number, deterministic=True)
    connection.execute(_LENGTHS)
    connection.execute(_LENGTH_TOTALS)


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


def address_facts(connection: sqlite3.Connection) -> None:
    """Give keyed facts the digest of their key, by which others at the same key are found."""
    reading = connection.cursor()
    reading.row_factory = sqlite3.Row
    digests = [(key_digest_of(record_of(Fact, row)), row["row"]) for row in reading.execute(_KEYED)]
    connection.executemany("UPDATE facts SET key_digest = ? WHERE row = ?", digests)


def name_ends(connection: sqlite3.Connection) -> None:
    """Give facts with subject, predicate and object the digests by which these are found."""
    reading = connection.cursor()
    reading.row_factory = sqlite3.Row
    rows = reading.execute(_KEYED + " AND t.object IS NOT NULL")
    ends = [{**edge_keys(record_of(Fact, row)), "row": row["row"]} for row in rows]
    connection.executemany(_ENDS, ends)


def tell_history(connection: sqlite3.Connection) -> None:
    """Give beliefs their status and the spans in which they were active, from their log.

    Those that are active are found by the words of their claims.
    """
    reading = connection.cursor()
    reading.row_factory = sqlite3.Row
    logs = groupby(reading.execute(_LOGS), lambda row: (row["tenant"], row["graph_id"]))
    for (tenant, graph_id), rows in logs:
        for belief in _folded(rows):
            became = (belief.status, belief.ended_seq, belief.superseded_by, int(belief.pinned))
            connection.execute(_BECAME, (*became, tenant, graph_id, belief.id))
            for span in belief.spans:
                until = span.until_seq
                node = None if until is None else node_of(span.since_seq, until)
                filed = (span.since_seq, until, node, int(span.pinned))
                connection.execute(_SPAN, (tenant, graph_id, belief.id, *filed))
    for row in reading.execute(_ACTIVE):
        active = record_of(Commitment, row)
        place = (row["tenant"], row["graph_id"], filed_under(active))
        words = [(*place, word, row["committed_seq"]) for word in claim_words(active.claim)]
        connection.executemany(_WORD, words)


def _folded(rows: Iterable[sqlite3.Row]) -> Iterable[FoldedBelief]:
    """Return the beliefs of one log. What is impossible in it is left to who verifies it."""
    fold = Fold()
    for row in rows:
        event = record_of(BeliefEvent, row)
        fold.apply(LoggedBelief(event=event, salt=None, content=row["content"]))
    return fold.beliefs.values()


def _index(connection: sqlite3.Connection, row: sqlite3.Row, record: Owned) -> None:
    entry = entry_of(_untold(record) if isinstance(record, Turn) else record)
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
    connection.execute(_INDEX, (number, words))


def _untold(turn: Turn) -> Turn:
    """Return a turn as the word index had it before version 7: without what tools returned."""
    return turn.model_copy(update={"tool_outputs": ()})


def _number(stored: bytes) -> int:
    """Return what FTS5 has stored as a number of variable length, seven bits to a byte."""
    number = 0
    for byte in stored:
        number = number << 7 | byte & 0x7F
    return number

"""Making the word index anew, from the records, before redactions wear it out.

Every ``optimize``, which is what takes deleted words out of the file, leaves FTS5 a level more to
write down; older versions lose the index when the list of them outgrows its limit, after about a
thousand. So the list's length is looked at each time, long before that.
"""

# ruff: noqa: S608 - statements are made of constants only; values are always parameters

from __future__ import annotations

from ...documents import Passage
from ...forms import entry_of
from ...records import Commitment, Episode, Fact, Owned, Rule, Summary, Turn
from .bm25 import mark_of, marked_text
from .database import Query, Session
from .rows import record_of

WORN_BYTES = 2_000
"""Half of what breaks SQLite 3.40."""

ROWS_PER_PAGE = 1_000
PAGES_MAX = 1_000_000

_LEVELS = "SELECT length(d.block) AS bytes FROM word_index_data AS d WHERE d.id = 10"
_MODELS: tuple[tuple[type[Owned], str], ...] = (
    (Turn, "turns"),
    (Summary, "summaries"),
    (Episode, "episodes"),
    (Fact, "facts"),
    (Rule, "rules"),
    (Commitment, "beliefs"),
    (Passage, "passages"),
)


def renew_words_if_worn(session: Session, worn_bytes: int = WORN_BYTES) -> bool:
    """Fill the word index anew when its list of levels is long; return whether it was.

    Of every tenant, in the caller's transaction. It takes as long as indexing all records did.
    """
    length = session.one(Query(_LEVELS, {}, reach="store"))
    if length is None or length["bytes"] <= worn_bytes:
        return False
    session.insert("word_index", {"word_index": "delete-all"})
    for model, table in _MODELS:
        _index_again(session, model, table)
    return True


def _index_again(session: Session, model: type[Owned], table: str) -> None:
    page = (
        f"SELECT t.*, s.topics, r.row AS word_row FROM searchable AS r JOIN {table} AS t"
        " ON t.tenant = r.tenant AND t.graph_id = r.graph_id AND t.id = r.id"
        " JOIN topic_sets AS s ON s.id = t.topic_set"
        " WHERE r.row > :after ORDER BY r.row LIMIT :limit"
    )
    after = 0
    for _ in range(PAGES_MAX):
        params = {"after": after, "limit": ROWS_PER_PAGE}
        rows = session.all(Query(page, params, reach="store"))
        for row in rows:
            entry = entry_of(record_of(model, row))
            words = marked_text(mark_of(entry.tenant, entry.graph_id, entry.kind), entry.text)
            session.insert("word_index", {"rowid": row["word_row"], "words": words})
        if len(rows) < ROWS_PER_PAGE:
            return
        after = rows[-1]["word_row"]

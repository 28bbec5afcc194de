"""Keeping the word index in step with the records, inside the transactions that store them."""

from __future__ import annotations

from ...forms import entry_of, is_current
from ...records import FactTier, IndexEntry, Owned, Scope
from .bm25 import length_of, mark_of, marked_text
from .database import Query, Session, Value
from .rows import ownership, stored
from .scope import scoped

_ROW = "SELECT s.row, s.kind, s.words FROM searchable s WHERE $own(s) AND s.id = :id"
_TOLD_ANEW = (
    "UPDATE searchable AS s SET happened_at = :happened_at, grain = :grain,"
    " has_tools = :has_tools, words = :words WHERE $own(s) AND s.id = :id"
)
_COUNT = (
    "INSERT INTO word_totals (tenant, graph_id, kind, records, words)"
    " VALUES (:tenant, :graph_id, :kind, 1, :words)"
    " ON CONFLICT (tenant, graph_id, kind) DO UPDATE"
    " SET records = records + 1, words = words + :words"
    " WHERE tenant = :tenant AND graph_id = :graph_id RETURNING records"
)
_LENGTHEN = "UPDATE word_totals AS t SET words = words + :longer WHERE $own(t) AND t.kind = :kind"


def index_words(session: Session, record: Owned) -> None:
    """Make a new record findable by its words."""
    entry = entry_of(record)
    marked = marked_text(mark_of(entry.tenant, entry.graph_id, entry.kind), entry.text)
    told = _told(entry, marked)
    owner: dict[str, Value] = {"tenant": entry.tenant, "graph_id": entry.graph_id}
    counted = session.all(Query(_COUNT, owner | {"kind": entry.kind, "words": told["words"]}))
    row = session.insert(
        "searchable",
        owner
        | {
            "id": entry.id,
            "kind": entry.kind,
            "user_id": entry.user_id,
            "tier": entry.tier,
            "expires_at": stored(entry.expires_at),
            "live": int(is_current(record)),
            "agent_id": entry.agent_id,
            "recorded_at": stored(entry.recorded_at),
            "place": counted[0]["records"],
        }
        | told
        | ownership(session, record),
    )
    session.insert("word_index", {"rowid": row, "words": marked})


def reindex_words(session: Session, scope: Scope, before: Owned, after: Owned) -> None:
    """Make a record of the scope's graph findable by the words of its new form."""
    found = session.all(scoped(_ROW, scope, id=after.id))[0]
    mark = mark_of(scope.tenant, scope.graph_id, found["kind"])
    now = entry_of(after)
    old, new = marked_text(mark, entry_of(before).text), marked_text(mark, now.text)
    # Contentless: the index has to be told what it forgets.
    session.insert("word_index", {"word_index": "delete", "rowid": found["row"], "words": old})
    session.insert("word_index", {"rowid": found["row"], "words": new})
    told = _told(now, new)
    session.run(scoped(_TOLD_ANEW, scope, carrying=None, id=after.id, **told))
    longer = length_of(new) - int(found["words"])
    session.run(scoped(_LENGTHEN, scope, kind=found["kind"], longer=longer))


def set_indexed_tier(session: Session, scope: Scope, record_id: str, tier: FactTier) -> None:
    """Note that a fact of the scope's graph has moved."""
    session.run(
        scoped(
            "UPDATE searchable AS s SET tier = :tier WHERE $own(s) AND s.id = :id",
            scope,
            tier=tier,
            id=record_id,
        )
    )


def set_live(session: Session, scope: Scope, record_id: str, *, live: bool) -> None:
    """Take a record of the scope's graph out of every answer, or let it be found again.

    The word statistics keep it.
    """
    session.run(
        scoped(
            "UPDATE searchable AS s SET live = :live WHERE $own(s) AND s.id = :id",
            scope,
            live=int(live),
            id=record_id,
        )
    )


def retire(session: Session, scope: Scope, record_id: str) -> None:
    """Take a superseded or forgotten record out of every answer."""
    set_live(session, scope, record_id, live=False)


def _told(entry: IndexEntry, marked: str) -> dict[str, Value]:
    """Return the columns of what a record says of itself, which may change when that changes."""
    return {
        "happened_at": stored(entry.occurred_at or entry.recorded_at),
        "grain": entry.grain,
        "has_tools": int("tool_output" in entry.also),
        "words": length_of(marked),
    }

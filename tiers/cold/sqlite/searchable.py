"""Keeping the word index in step with the records, inside the transactions that store them."""

from __future__ import annotations

from ...records import FactTier, Owned, Scope
from ..forms import entry_of, is_current
from .bm25 import mark_of, marked_text
from .database import Query, Session
from .rows import ownership, stored
from .scope import scoped

_ROW = "SELECT s.row, s.kind FROM searchable s WHERE $own(s) AND s.id = :id"

ALL_TENANTS = " "
"""Tenant, graph and kind of the row that counts the whole index; names are never blank."""


def index_words(session: Session, record: Owned) -> None:
    """Make a new record findable by its words."""
    entry = entry_of(record)
    row = session.insert(
        "searchable",
        {
            "tenant": entry.tenant,
            "graph_id": entry.graph_id,
            "id": entry.id,
            "kind": entry.kind,
            "user_id": entry.user_id,
            "tier": entry.tier,
            "expires_at": stored(entry.expires_at),
            "live": int(is_current(record)),
        }
        | ownership(session, record),
    )
    mark = mark_of(entry.tenant, entry.graph_id, entry.kind)
    session.insert("word_index", {"rowid": row, "words": marked_text(mark, entry.text)})
    for owner in ((entry.tenant, entry.graph_id, entry.kind), (ALL_TENANTS,) * 3):
        _count(session, *owner)


def reindex_words(session: Session, scope: Scope, before: Owned, after: Owned) -> None:
    """Make a record of the scope's graph findable by the words of its new form."""
    found = session.all(scoped(_ROW, scope, id=after.id))[0]
    mark = mark_of(scope.tenant, scope.graph_id, found["kind"])
    old, new = (marked_text(mark, entry_of(one).text) for one in (before, after))
    # Contentless: the index has to be told what it forgets.
    session.insert("word_index", {"word_index": "delete", "rowid": found["row"], "words": old})
    session.insert("word_index", {"rowid": found["row"], "words": new})


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


def _count(session: Session, tenant: str, graph_id: str, kind: str) -> None:
    session.run(
        Query(
            "INSERT INTO word_totals (tenant, graph_id, kind, records)"
            " VALUES (:tenant, :graph_id, :kind, 1)"
            " ON CONFLICT (tenant, graph_id, kind) DO UPDATE SET records = records + 1"
            " WHERE tenant = :tenant",
            {"tenant": tenant, "graph_id": graph_id, "kind": kind},
        )
    )

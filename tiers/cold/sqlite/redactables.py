"""Records of every kind that can be redacted, whoever could see them, and storing another form."""

# ruff: noqa: S608 - statements are made of constants only; values are always parameters

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from ...forms import is_current, is_searchable
from ...records import Commitment, Fact, Rule, Scope
from ..redaction import MODELS, RecordKind, Redactable, leaves_index
from ..speaking_of import Search
from .belief_projection import belief_of
from .board import card_of
from .database import Query, Session, Value
from .identity import fact_digests, identity_of
from .queue import queue_work
from .rows import fields_of, record_of
from .scope import as_json, scoped
from .searchable import reindex_words
from .shelf import formers_of
from .word_renewal import renew_words_if_worn

TABLES: Mapping[RecordKind, str] = {
    "turn": "turns",
    "summary": "summaries",
    "episode": "episodes",
    "fact": "facts",
    "rule": "rules",
    "belief": "beliefs",
    "document": "documents",
    "passage": "passages",
    "card": "cards",
}
AMONG = "IN (SELECT value FROM json_each(:ids))"

_SELECT = "SELECT r.*, s.topics FROM {table} r JOIN topic_sets s ON s.id = r.topic_set WHERE "
_OF_IDS = _SELECT + f"$own(r) AND r.id {AMONG}"
_BEHIND = _SELECT + "$own(r) AND r.id > :after ORDER BY r.id LIMIT :limit"
_FORGET_TRIGGERS = (
    "DELETE FROM trigger_words AS w WHERE $own(w) AND w.rule_row IN"
    " (SELECT r.row FROM rules r WHERE $own(r) AND r.id = :id)"
)
_FOUND_AS = (
    "UPDATE searchable AS s SET live = :live, user_id = :user_id WHERE $own(s) AND s.id = :id"
)
# What went wrong with a record's work may quote the record.
_FORGET_PROBLEMS = (
    "UPDATE work SET problem = NULL WHERE tenant = :tenant AND graph_id = :graph_id"
    f" AND key {AMONG}"
)


def records_of(
    session: Session, scope: Scope, kind: RecordKind, ids: Sequence[str]
) -> list[Redactable]:
    """Return records of one kind of the scope's graph."""
    return _read(session, kind, scoped(_of(kind, _OF_IDS), scope, ids=as_json(ids)))


def look(session: Session, scope: Scope, search: Search) -> None:
    """Let a search look at the records of the scope's graph until its page is complete."""
    while (kind := search.kind) is not None:
        behind = scoped(_of(kind, _BEHIND), scope, after=search.after, limit=search.room)
        found = _read(session, kind, behind)
        former = formers_of(session, scope, [one.id for one in found]) if kind == "document" else {}
        search.take(found, former)


def replace(
    session: Session, scope: Scope, kind: RecordKind, before: Redactable, after: Redactable
) -> None:
    """Store a record's new form over the old one, and in the word index."""
    changed = _changed(before, after)
    columns = ", ".join(f'"{name}" = :{name}' for name in changed)
    statement = f"UPDATE {TABLES[kind]} AS r SET {columns} WHERE $own(r) AND r.id = :id"
    update = scoped(statement, scope, id=before.id)
    session.run(Query(update.sql, {**update.params, **changed}))
    if not is_searchable(after):
        return
    if isinstance(after, Rule):
        session.run(scoped(_FORGET_TRIGGERS, scope, id=after.id))
    reindex_words(session, scope, before, after)
    live = int(is_current(after))
    session.run(scoped(_FOUND_AS, scope, id=after.id, live=live, user_id=after.user_id))


def leave_no_trace(
    session: Session, scope: Scope, emptied: Sequence[Redactable], now: datetime
) -> None:
    """Take what records said out of what was made beside them, once their own rows are empty.

    The word index forgets a word by noting beside it that it is gone. Both leave the file when its
    segments are merged, so all of them are. Entries of the warm index go by the work for that.
    """
    owner = {"tenant": scope.tenant, "graph_id": scope.graph_id}
    ids = as_json([record.id for record in emptied])
    session.run(Query(_FORGET_PROBLEMS, {**owner, "ids": ids}))
    session.insert("word_index", {"word_index": "optimize"})
    renew_words_if_worn(session)
    indexed = filter(is_searchable, emptied)
    queue_work(session, scope, [leaves_index(record) for record in indexed], now)


def _of(kind: RecordKind, template: str) -> str:
    return template.format(table=TABLES[kind])


def _read(session: Session, kind: RecordKind, query: Query) -> list[Redactable]:
    rows = session.all(query)
    if kind == "belief":
        return [belief_of(row) for row in rows]
    if kind == "card":
        return [card_of(row) for row in rows]
    return [record_of(MODELS[kind], row) for row in rows]


def _changed(before: Redactable, after: Redactable) -> dict[str, Value]:
    """Return the columns in which two forms of a record differ."""
    old, new = _columns(before), _columns(after)
    changed = {name: value for name, value in new.items() if value != old[name]}
    if isinstance(after, Fact):
        changed |= fact_digests(after)
    elif isinstance(after, Rule):
        changed["digest"] = identity_of(after)
    return changed


def _columns(record: Redactable) -> dict[str, Value]:
    columns = fields_of(record, "topics", "private")
    if isinstance(record, Commitment):
        del columns["key"]
        columns["key_subject"], columns["key_attribute"] = record.key or (None, None)
    return columns

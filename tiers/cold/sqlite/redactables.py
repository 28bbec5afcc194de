"""Records of every kind that can be redacted, whoever could see them, and storing another form."""

# ruff: noqa: S608 - statements are made of constants only; values are always parameters

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...records import Commitment, Fact, Kind, Rule, Scope
from ..forms import entry_of, is_current
from ..redaction import MODELS, Redactable
from ..speaking_of import Search
from .belief_projection import belief_of
from .bm25 import mark_of, marked_text
from .database import Query, Session, Value
from .identity import identity_of
from .rows import fields_of, record_of
from .scope import as_json, scoped

TABLES: Mapping[Kind, str] = {
    "turn": "turns",
    "summary": "summaries",
    "episode": "episodes",
    "fact": "facts",
    "rule": "rules",
    "belief": "beliefs",
}
AMONG = "IN (SELECT value FROM json_each(:ids))"

_SELECT = "SELECT r.*, s.topics FROM {table} r JOIN topic_sets s ON s.id = r.topic_set WHERE "
_OF_IDS = _SELECT + f"$own(r) AND r.id {AMONG}"
_BEHIND = _SELECT + "$own(r) AND r.id > :after ORDER BY r.id LIMIT :limit"
_FORGET_TRIGGERS = (
    "DELETE FROM trigger_words AS w WHERE $own(w) AND w.rule_row IN"
    " (SELECT r.row FROM rules r WHERE $own(r) AND r.id = :id)"
)
_SEARCHABLE = "SELECT s.row, s.kind FROM searchable s WHERE $own(s) AND s.id = :id"
_LIVE = "UPDATE searchable AS s SET live = :live WHERE $own(s) AND s.id = :id"


def records_of(session: Session, scope: Scope, kind: Kind, ids: Sequence[str]) -> list[Redactable]:
    """Return records of one kind of the scope's graph."""
    return _read(session, kind, scoped(_of(kind, _OF_IDS), scope, ids=as_json(ids)))


def look(session: Session, scope: Scope, search: Search) -> None:
    """Let a search look at the records of the scope's graph until its page is complete."""
    while (kind := search.kind) is not None:
        behind = scoped(_of(kind, _BEHIND), scope, after=search.after, limit=search.room)
        search.take(_read(session, kind, behind))


def replace(
    session: Session, scope: Scope, kind: Kind, before: Redactable, after: Redactable
) -> None:
    """Store a record's new form over the old one, and in the word index."""
    changed = _changed(before, after)
    columns = ", ".join(f'"{name}" = :{name}' for name in changed)
    statement = f"UPDATE {TABLES[kind]} AS r SET {columns} WHERE $own(r) AND r.id = :id"
    update = scoped(statement, scope, id=before.id)
    session.run(Query(update.sql, {**update.params, **changed}))
    if isinstance(after, Rule):
        session.run(scoped(_FORGET_TRIGGERS, scope, id=after.id))
    found = session.all(scoped(_SEARCHABLE, scope, id=before.id))[0]
    mark = mark_of(scope.tenant, scope.graph_id, found["kind"])
    old, new = (marked_text(mark, entry_of(one).text) for one in (before, after))
    # Contentless: the index has to be told what it forgets.
    session.insert("word_index", {"word_index": "delete", "rowid": found["row"], "words": old})
    session.insert("word_index", {"rowid": found["row"], "words": new})
    session.run(scoped(_LIVE, scope, id=after.id, live=int(is_current(after))))


def _of(kind: Kind, template: str) -> str:
    return template.format(table=TABLES[kind])


def _read(session: Session, kind: Kind, query: Query) -> list[Redactable]:
    rows = session.all(query)
    if kind == "belief":
        return [belief_of(row) for row in rows]
    return [record_of(MODELS[kind], row) for row in rows]


def _changed(before: Redactable, after: Redactable) -> dict[str, Value]:
    """Return the columns in which two forms of a record differ."""
    old, new = _columns(before), _columns(after)
    changed = {name: value for name, value in new.items() if value != old[name]}
    if isinstance(after, Fact | Rule):
        changed["digest"] = identity_of(after)
    return changed


def _columns(record: Redactable) -> dict[str, Value]:
    columns = fields_of(record, "topics", "private")
    if isinstance(record, Commitment):
        del columns["key"]
        columns["key_subject"], columns["key_attribute"] = record.key or (None, None)
    return columns

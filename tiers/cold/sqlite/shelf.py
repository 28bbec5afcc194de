"""Documents in SQLite: as they stand, as they were, and the passages that recall finds."""

# ruff: noqa: S608 - statements are made of constants only; values are always parameters

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from datetime import datetime

from ...documents import Document, Passage, PassageDraft, Revised
from ...errors import UsageError
from ...moments import microseconds, moment
from ...records import Scope
from ..ownership import in_order
from ..shelving import (
    REMOVED_AUDIT_KIND,
    REVISED_AUDIT_KIND,
    Placed,
    Revision,
    as_of_then,
    check_follows,
    check_page,
    check_removal,
    check_revision,
    index_work,
    is_repeated,
    reader_of,
    revision_of,
)
from .database import Database, Query, Session, Value
from .graphs import check_writable
from .log import append_event
from .queue import queue_work
from .rows import fields_of, insert_owned, ownership, record_of, stored
from .scope import as_json, scoped
from .searchable import index_words

_AMONG = "IN (SELECT value FROM json_each(:ids))"
_COLUMNS = ", ".join(
    f"d.{name}"
    for name in (
        "id tenant graph_id agent_id user_id private_to recorded_at redacted_at shelf name title"
        " media_type digest revision properties text machine passages changed_at removed_at"
    ).split()
)
_DOCUMENT = (
    f"SELECT {_COLUMNS}, s.topics FROM documents d JOIN topic_sets s ON s.id = d.topic_set WHERE "
)
# A former revision is for those who may see the document as it stands, and as it was.
_FORMER = (
    f"SELECT {_COLUMNS}, s.topics FROM documents c JOIN document_revisions d"
    " ON d.tenant = c.tenant AND d.graph_id = c.graph_id AND d.id = c.id"
    " JOIN topic_sets s ON s.id = d.topic_set WHERE $visible(c) AND $visible(d)"
)
_LAST_BY_THEN = (
    " AND d.changed_at <= :as_of AND c.changed_at > :as_of"
    " AND d.revision = (SELECT MAX(x.revision) FROM document_revisions x WHERE $own(x)"
    " AND x.id = d.id AND x.changed_at <= :as_of)"
)
_STORED = _DOCUMENT + "$own(d) AND d.id = :id"
_SEEN = _DOCUMENT + f"$visible(d) AND d.id {_AMONG}"
_READABLE = (
    f"SELECT {_COLUMNS}, s.topics, g.as_of AS read_as_of FROM $family g"
    " CROSS JOIN documents d ON d.tenant = :tenant AND d.graph_id = g.graph_id"
    f" JOIN topic_sets s ON s.id = d.topic_set WHERE $inherited(d) AND d.id {_AMONG}"
)
_THEN = _FORMER + _LAST_BY_THEN + f" AND d.id {_AMONG}"
_REVISIONS = (
    f"{_DOCUMENT}$visible(d) AND d.id = :id AND d.revision < :before UNION ALL"
    f" {_FORMER} AND d.id = :id AND d.revision < :before ORDER BY revision DESC LIMIT :limit"
)
_PAGE = (
    " AND (:shelf IS NULL OR d.shelf = :shelf)"
    " AND (d.shelf, d.name) > (:behind_shelf, :behind_name)"
)
_IN_ORDER = " ORDER BY shelf, name LIMIT :limit"
_LISTED = (
    f"{_DOCUMENT}$visible(d){_PAGE} AND (:removed = 1"
    f" OR (d.removed_at IS NULL AND d.redacted_at IS NULL)){_IN_ORDER}"
)
_THERE_THEN = (
    " AND (:removed = 1 OR (d.redacted_at IS NULL"
    " AND (d.removed_at IS NULL OR d.removed_at > :as_of)))"
)
_LISTED_THEN = (
    f"{_DOCUMENT}$visible(d) AND d.changed_at <= :as_of{_PAGE}{_THERE_THEN} UNION ALL"
    f" {_FORMER}{_LAST_BY_THEN}{_PAGE}{_THERE_THEN}{_IN_ORDER}"
)
_PASSAGE = "SELECT p.*, s.topics FROM passages p JOIN topic_sets s ON s.id = p.topic_set WHERE "
_READABLE_PASSAGES = (
    "SELECT p.*, s.topics FROM $family g"
    " CROSS JOIN passages p ON p.tenant = :tenant AND p.graph_id = g.graph_id"
    f" JOIN topic_sets s ON s.id = p.topic_set WHERE $inherited(p) AND p.id {_AMONG}"
)
_CURRENT_PASSAGES = _PASSAGE + f"$visible(p) AND p.until IS NULL AND p.id {_AMONG}"
_PASSAGES_OF = _PASSAGE + (
    "$visible(p) AND p.until IS NULL AND p.redacted_at IS NULL AND p.document_id = :id"
    " AND p.number > :behind ORDER BY p.number LIMIT :limit"
)
_PLACES = (
    "SELECT p.id, p.digest, p.number, p.page FROM passages p"
    " WHERE $own(p) AND p.until IS NULL AND p.document_id = :id ORDER BY p.number"
)
_MOVE = "UPDATE passages AS p SET number = :number, page = :page WHERE $own(p) AND p.id = :id"
_RETIRE = (
    "UPDATE passages AS p SET until = :until, retired_at = :retired_at"
    f" WHERE $own(p) AND p.until IS NULL AND p.id {_AMONG}"
)
_UNLIST = f"UPDATE searchable AS r SET live = 0 WHERE $own(r) AND r.id {_AMONG}"
_REMOVE = "UPDATE documents AS d SET removed_at = :removed_at WHERE $own(d) AND d.id = :id"
_COUNTS = """
SELECT
    (SELECT COUNT(*) FROM documents d WHERE $visible(d) AND d.removed_at IS NULL
        AND d.redacted_at IS NULL) AS documents,
    (SELECT COUNT(*) FROM passages p WHERE $visible(p) AND p.until IS NULL
        AND p.redacted_at IS NULL) AS passages
"""
_FORMERS = (
    f"SELECT {_COLUMNS}, s.topics FROM document_revisions d JOIN topic_sets s"
    f" ON s.id = d.topic_set WHERE $own(d) AND d.id {_AMONG} ORDER BY d.id, d.revision"
)
_SILENCE = (
    "UPDATE document_revisions AS d SET name = :name, title = :title, properties = :properties,"
    " text = :text, digest = :digest, redacted_at = COALESCE(redacted_at, :redacted_at)"
    " WHERE $own(d) AND d.id = :id"
)
_DROP_FORMER = (
    "DELETE FROM document_revisions AS d WHERE $own(d) AND d.id = :id AND d.revision = :revision"
)
_REVISIONS_MAX = (1 << 63) - 1
_SAID = ("name", "title", "properties", "text", "digest", "redacted_at")


class SqliteDocumentShelf:
    """A ``DocumentShelf`` in SQLite."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def revise(
        self, scope: Scope, document: Document, passages: Sequence[PassageDraft]
    ) -> Revised:
        """Store a document, or its next revision, with its passages, in one transaction.

        Raises:
            Conflict: The stored revision is not the one before, the document of that name is one
                that the scope does not see, or the graph is archived.
            UsageError: There are more than ``PASSAGES_MAX`` passages, one is empty or too long, the
                id is not that of the name, or the properties are too long.
        """
        check_revision(scope, document, passages)
        return await self._database.write(
            "revise", lambda session: _revise(session, scope, document, passages)
        )

    async def remove(
        self, scope: Scope, document_ids: Sequence[str], reason: str, now: datetime
    ) -> tuple[str, ...]:
        """Remove visible documents of the own graph, in one transaction; return which were there.

        Raises:
            Conflict: The graph is archived.
            UsageError: There are more than ``DOCUMENTS_PER_CALL_MAX`` ids.
        """
        check_removal(document_ids)
        return await self._database.write(
            "remove", lambda session: _remove(session, scope, document_ids, reason, now)
        )

    async def documents(
        self, scope: Scope, ids: Sequence[str], *, as_of: datetime | None = None
    ) -> tuple[Document, ...]:
        """Return the visible ones among ``ids``, removed ones too, in the order asked.

        Of the own graph, and of ancestors that carry ``document``. With ``as_of``, and of an
        ancestor that is read as of a moment, of each the revision that was current then.
        """
        return await self._database.read(
            "documents", lambda session: _documents(session, scope, ids, as_of)
        )

    async def on_shelf(
        self,
        scope: Scope,
        shelf: str | None,
        *,
        behind: str = "",
        limit: int = 1000,
        removed: bool = False,
        as_of: datetime | None = None,
    ) -> tuple[Document, ...]:
        """Return visible documents of the own graph in the order of shelf and name.

        Redacted ones come with the removed ones.

        Raises:
            UsageError: A limit outside 1 to ``LISTED_MAX``, or ``behind`` is no visible document.
        """
        check_page(limit)
        params: dict[str, Value] = {"shelf": shelf, "limit": limit, "removed": int(removed)}
        if as_of is not None:
            params["as_of"] = microseconds(as_of)

        def question(session: Session) -> tuple[Document, ...]:
            place = _place(session, scope, behind)
            template = _LISTED if as_of is None else _LISTED_THEN
            rows = session.all(scoped(template, scope, carrying=None, **place, **params))
            return tuple(as_of_then(record_of(Document, row), as_of) for row in rows)

        return await self._database.read("on_shelf", question)

    async def revisions(
        self, scope: Scope, document_id: str, *, before: int | None = None, limit: int = 100
    ) -> tuple[Document, ...]:
        """Return revisions of a document as they were, the latest first, lower than ``before``.

        Of a document of the own graph. A revision that the scope may not see is left out, even
        where it sees the document as it stands.

        Raises:
            UsageError: A limit outside 1 to ``LISTED_MAX``.
        """
        check_page(limit)
        query = scoped(
            _REVISIONS,
            scope,
            id=document_id,
            before=_REVISIONS_MAX if before is None else before,
            limit=limit,
        )
        return await self._database.read(
            "revisions",
            lambda session: tuple(record_of(Document, row) for row in session.all(query)),
        )

    async def passages(self, scope: Scope, ids: Sequence[str]) -> tuple[Passage, ...]:
        """Return the visible passages among ``ids``, retired ones too, in the order asked.

        Of the own graph, and of ancestors that carry ``document``.
        """
        query = scoped(_READABLE_PASSAGES, scope, carrying="document", ids=as_json(ids))
        found = await self._database.read("passages", lambda session: _passages(session, query))
        return in_order(found, ids)

    async def passages_of(
        self, scope: Scope, document_id: str, *, behind: int = -1, limit: int = 1000
    ) -> tuple[Passage, ...]:
        """Return the current passages of a visible document of the own graph by ``number``.

        Raises:
            UsageError: A limit outside 1 to ``LISTED_MAX``.
        """
        check_page(limit)
        query = scoped(_PASSAGES_OF, scope, id=document_id, behind=behind, limit=limit)
        found = await self._database.read("passages_of", lambda session: _passages(session, query))
        return tuple(found.values())

    async def count(self, scope: Scope) -> tuple[int, int]:
        """Return how many documents and current passages of the own graph the scope sees."""
        query = scoped(_COUNTS, scope)

        def question(session: Session) -> tuple[int, int]:
            row = session.all(query)[0]
            return int(row["documents"]), int(row["passages"])

        return await self._database.read("count", question)


def read_passages(session: Session, scope: Scope, ids: Sequence[str]) -> dict[str, Passage]:
    """Return the visible current passages of the own graph among ``ids``, by id."""
    return _passages(session, scoped(_CURRENT_PASSAGES, scope, ids=as_json(ids)))


def insert_document(session: Session, document: Document, table: str = "documents") -> None:
    """Store a document as it is, in the caller's transaction."""
    insert_owned(session, table, document)


def insert_passage(session: Session, passage: Passage) -> None:
    """Store a passage as it is and let its words find it, in the caller's transaction."""
    insert_owned(session, "passages", passage)
    index_words(session, passage)


def formers_of(session: Session, scope: Scope, ids: Sequence[str]) -> dict[str, list[Document]]:
    """Return the former revisions of documents of the scope's graph, whoever could see them."""
    found: dict[str, list[Document]] = {}
    for row in session.all(scoped(_FORMERS, scope, ids=as_json(ids))):
        found.setdefault(row["id"], []).append(record_of(Document, row))
    return found


def silence_formers(session: Session, scope: Scope, document: Document) -> None:
    """Let the former revisions of a redacted document say what it says, inside a transaction."""
    said = {name: stored(getattr(document, name)) for name in _SAID}
    session.run(scoped(_SILENCE, scope, carrying=None, id=document.id, **said))


def _revise(
    session: Session, scope: Scope, document: Document, drafts: Sequence[PassageDraft]
) -> Revised:
    row = session.one(scoped(_STORED, scope, id=document.id))
    known = None if row is None else record_of(Document, row)
    is_visible = known is not None and bool(_seen(session, scope, [known.id]))
    if known is not None and is_visible and is_repeated(known, document):
        return Revised(known, was_new=False, added=0, kept=known.passages, retired=0)
    check_follows(document, known, is_visible=is_visible)
    check_writable(session, scope)
    rows = session.all(scoped(_PLACES, scope, id=document.id))
    current = [Placed(row["id"], row["digest"], row["number"], row["page"]) for row in rows]
    revision = revision_of(document, drafts, known, current)
    _write(session, scope, revision, known)
    reason = f"revision {document.revision}"
    append_event(
        session, scope, REVISED_AUDIT_KIND, (document.id,), reason, revision.document.changed_at
    )
    return revision.outcome


def _write(session: Session, scope: Scope, revision: Revision, known: Document | None) -> None:
    """Store a revision over the one before, and its passages beside those that stay."""
    document = revision.document
    if known is None:
        insert_document(session, document)
    else:
        # What moved here from a server that was cut off may be there already.
        session.run(scoped(_DROP_FORMER, scope, id=known.id, revision=known.revision))
        insert_document(session, known, "document_revisions")
        _overwrite(session, scope, document)
    until = document.revision
    _retire(session, scope, revision.retired, until, document.changed_at, known)
    for moved in revision.moved:
        session.run(scoped(_MOVE, scope, id=moved.id, number=moved.number, page=moved.page))
    for passage in revision.added:
        insert_passage(session, passage)
    work = index_work((one.id for one in revision.added), reader_of(document))
    queue_work(session, scope, work, document.changed_at)


def _overwrite(session: Session, scope: Scope, document: Document) -> None:
    owner = ("id", "tenant", "graph_id", "topics", "private")
    values = fields_of(document, *owner) | ownership(session, document)
    # A parameter of the scope's own is called like this column.
    renamed = {f"new_{name}": value for name, value in values.items()}
    columns = ", ".join(f"{name} = :new_{name}" for name in values)
    statement = f"UPDATE documents AS d SET {columns} WHERE $own(d) AND d.id = :id"
    session.run(scoped(statement, scope, carrying=None, id=document.id, **renamed))


def _retire(
    session: Session,
    scope: Scope,
    ids: Sequence[str],
    until: int,
    now: datetime,
    document: Document | None,
) -> None:
    """Take passages out of every answer; those who ask for the past still find them."""
    if not ids or document is None:
        return
    listed = as_json(ids)
    session.run(scoped(_RETIRE, scope, ids=listed, until=until, retired_at=stored(now)))
    session.run(scoped(_UNLIST, scope, ids=listed))
    queue_work(session, scope, index_work(ids, reader_of(document)), now)


def _remove(
    session: Session, scope: Scope, document_ids: Sequence[str], reason: str, now: datetime
) -> tuple[str, ...]:
    found = _seen(session, scope, document_ids)
    there = [
        one
        for one in in_order(found, document_ids)
        if one.removed_at is None and one.redacted_at is None
    ]
    if not there:
        return ()
    check_writable(session, scope)
    for document in there:
        at = max(now, document.changed_at)
        session.run(scoped(_REMOVE, scope, id=document.id, removed_at=stored(at)))
        ids = [row["id"] for row in session.all(scoped(_PLACES, scope, id=document.id))]
        _retire(session, scope, ids, document.revision + 1, at, document)
    removed = tuple(one.id for one in there)
    append_event(session, scope, REMOVED_AUDIT_KIND, removed, reason, now)
    return removed


def _documents(
    session: Session, scope: Scope, ids: Sequence[str], as_of: datetime | None
) -> tuple[Document, ...]:
    query = scoped(_READABLE, scope, carrying="document", ids=as_json(ids))
    found: dict[str, Document] = {}
    earlier: dict[tuple[str, datetime], list[str]] = {}
    for row in session.all(query):
        document, then = record_of(Document, row), _earlier(row, as_of)
        if then is None or document.changed_at <= then:
            found[document.id] = as_of_then(document, then)
        else:
            earlier.setdefault((document.graph_id, then), []).append(document.id)
    for (graph_id, then), changed in earlier.items():
        found |= _as_they_were(session, scope, graph_id, changed, then)
    return in_order(found, ids)


def _earlier(row: sqlite3.Row, as_of: datetime | None) -> datetime | None:
    """Return the moment as of which a document is read, if it is."""
    own = row["read_as_of"]
    moments = [one for one in (as_of, None if own is None else moment(own)) if one is not None]
    return min(moments, default=None)


def _as_they_were(
    session: Session, scope: Scope, graph_id: str, ids: Iterable[str], then: datetime
) -> dict[str, Document]:
    """Return the revisions that were current in a graph at a moment, by the document's id."""
    there = scope
    if graph_id != scope.graph_id:
        # An agent of the same id in another graph is another writer.
        there = scope.model_copy(update={"graph_id": graph_id, "agent_id": None, "lineage": ()})
    query = scoped(_THEN, there, ids=as_json(list(ids)), as_of=microseconds(then))
    rows = session.all(query)
    return {row["id"]: as_of_then(record_of(Document, row), then) for row in rows}


def _place(session: Session, scope: Scope, behind: str) -> dict[str, Value]:
    """Return behind which shelf and name a page begins."""
    if not behind:
        return {"behind_shelf": "", "behind_name": ""}
    found = _seen(session, scope, [behind])
    if behind not in found:
        raise UsageError("behind", behind, "the id of a document of this graph")
    return {"behind_shelf": found[behind].shelf, "behind_name": found[behind].name}


def _seen(session: Session, scope: Scope, ids: Sequence[str]) -> dict[str, Document]:
    """Return the visible documents of the own graph among ``ids``, by id."""
    query = scoped(_SEEN, scope, ids=as_json(ids))
    return {row["id"]: record_of(Document, row) for row in session.all(query)}


def _passages(session: Session, query: Query) -> dict[str, Passage]:
    return {row["id"]: record_of(Passage, row) for row in session.all(query)}

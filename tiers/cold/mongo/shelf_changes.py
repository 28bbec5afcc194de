"""How a document becomes its next revision, or is removed, with its passages.

New passages are stored first, page by page, as ``staged``: nothing finds them. Then the update of
the document decides. In a transaction all that follows is part of that step. Without one the
document carries what must follow in its field ``unfinished``; that is done next and the field
removed. Whoever finds the field left behind by a crash does it. Doing it twice is harmless.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from bson import ObjectId
from pymongo import ASCENDING

from ...documents import Document as Shelved
from ...documents import Passage
from ...moments import microseconds, moment
from ...records import Scope
from ..redaction import pages
from ..shelving import (
    REMOVED_AUDIT_KIND,
    REVISED_AUDIT_KIND,
    Placed,
    Revision,
    index_work,
    reader_of,
)
from .database import Session
from .documents import Document, document_of, record_of
from .graphs import check_writable
from .log import append_event
from .outbox import UNDER_WAY
from .pacing import worked_out
from .schema import Index, by, validator
from .scope import of_tenant, own
from .terms import searchable_fields
from .translation import DuplicateKey
from .work_items import queue_work

DOCUMENTS, REVISIONS, PASSAGES = "documents", "document_revisions", "passages"

STAGED_PER_WRITE = 1_000
STALE = timedelta(minutes=10)
"""Staged passages as old as this belong to nobody: their writer has crashed."""

LEFT_BEHIND_MAX = 1_000

_LEFT_BEHIND = Index(
    (("tenant", ASCENDING), ("unfinished.at", ASCENDING)), only_with=("unfinished.at",)
)
_NUMBER = {"bsonType": ["int", "long"], "minimum": 1}
_SHELVED = ("id", "shelf", "name", "revision", "topics", "private_to", "changed_at")

COLLECTIONS: Mapping[str, tuple[Sequence[Index], Mapping[str, Document] | None]] = {
    DOCUMENTS: (
        [by("id", unique=True), by("shelf", "name", unique=True), _LEFT_BEHIND],
        validator(_SHELVED, revision=_NUMBER, private_to={"bsonType": "string"}),
    ),
    REVISIONS: (
        [by("id", "revision", unique=True)],
        validator(_SHELVED, revision=_NUMBER, private_to={"bsonType": "string"}),
    ),
    PASSAGES: (
        [
            by("id", unique=True),
            by("document_id", "live", "number"),
            by("-recorded_at", "id"),
            by("-retired_at", "id", only_with=("retired_at",)),
            by("terms", "id"),
        ],
        validator(
            ("id", "document_id", "number", "text", "topics", "private_to", "live", "terms"),
            live={"bsonType": "bool"},
            private_to={"bsonType": "string"},
        ),
    ),
}


class Overtaken(Exception):
    """Somebody else has stored the first revision of a document at this moment."""


class Change(NamedTuple):
    """A revision that is about to be stored.

    Attributes:
        name: Tells it from any other.
        revision: What it comes to.
        known: The document as it was read; ``None``: there is none.
    """

    name: str
    revision: Revision
    known: Shelved | None


def fresh_name() -> str:
    """Return a name that no other change has."""
    return str(ObjectId())


def passage_document(passage: Passage) -> Document:
    """Return a passage in stored form, with the words by which it is found."""
    live = passage.until is None
    return document_of(passage, **searchable_fields(passage), live=live)


async def stage(session: Session, passages: Sequence[Passage], name: str, now: datetime) -> None:
    """Store new passages so that nothing finds them yet."""
    mark = {"live": False, "staged": name, "staged_at": microseconds(now)}
    rows = await worked_out(
        len(passages), lambda: [passage_document(one) | mark for one in passages]
    )
    await session.collection(PASSAGES).insert(rows)


async def unstage(session: Session, scope: Scope, name: str) -> None:
    """Remove what was staged by a change that was not decided."""
    await session.collection(PASSAGES).delete(own(scope, staged=name))


async def sweep(session: Session, scope: Scope, document_id: str, now: datetime) -> None:
    """Remove what crashed writers have staged of a document that nothing is to be done for."""
    stale = {"$lte": microseconds(now - STALE)}
    where = own(scope, document_id=document_id, live=False, staged_at=stale)
    await session.collection(PASSAGES).delete(where)


async def decide(session: Session, scope: Scope, change: Change) -> bool:
    """Store a revision whose passages are staged; ``False`` when the document is not as known.

    Raises:
        Conflict: The graph is archived.
        Overtaken: The document is new, and somebody else is first with it.
        DuplicateKey: In a transaction only: somebody else appended to the feed at this moment.
    """
    document, known = change.revision.document, change.known
    await check_writable(session, scope)
    follows = _revised(scope, change)
    stored = document_of(document)
    carried = stored if session.is_atomic else stored | {"unfinished": follows}
    rows = session.collection(DOCUMENTS)
    if known is None:
        try:
            await rows.insert([carried])
        except DuplicateKey as error:
            raise Overtaken from error
    else:
        await _keep_former(session, scope, known)
        kept = {"id", "tenant", "graph_id", "_id"}
        becomes = {name: value for name, value in carried.items() if name not in kept}
        gone = {} if known.redacted_at is None else {"$unset": {"redacted_at": ""}}
        if not await rows.update(_as_known(scope, known), {"$set": becomes} | gone):
            await _drop_former(session, scope, known)
            return False
    await follow(session, scope, document.id, follows)
    return True


async def take_off(
    session: Session, scope: Scope, there: Sequence[Shelved], reason: str, now: datetime
) -> tuple[str, ...]:
    """Remove documents that are as they were read; return which these are.

    Raises:
        Conflict: The graph is archived.
        DuplicateKey: In a transaction only: somebody else appended to the feed at this moment.
    """
    await check_writable(session, scope)
    name, removed = fresh_name(), list[tuple[Shelved, Document]]()
    for document in there:
        at = max(now, document.changed_at)
        retired = await _current_ids(session, scope, document.id)
        follows = _removed(scope, document, name, at) | {"retired": retired}
        follows |= {"reason": reason, "record_ids": [one.id for one in there]}
        carried = {} if session.is_atomic else {"unfinished": follows}
        change = {"$set": {"removed_at": microseconds(at)} | carried}
        if await session.collection(DOCUMENTS).update(_as_known(scope, document), change):
            removed.append((document, follows))
    ids = [document.id for document, _ in removed]
    for document, follows in removed:
        await _bring_passages_up(session, scope, document.id, follows)
    if removed:
        await _tell(session, scope, removed[0][1] | {"record_ids": ids})
    for document, follows in removed:
        await _done(session, scope, document.id, follows)
    return tuple(ids)


async def follow(
    session: Session, scope: Scope, document_id: str, follows: Mapping[str, Any]
) -> None:
    """Do what must follow from the last change of a document."""
    await _bring_passages_up(session, scope, document_id, follows)
    await _tell(session, scope, follows)
    await _done(session, scope, document_id, follows)


async def _bring_passages_up(
    session: Session, scope: Scope, document_id: str, follows: Mapping[str, Any]
) -> None:
    """Show what was staged, retire what goes, move what stays, and queue the work for both."""
    writer = scope.for_graph().model_copy(update={"agent_id": follows["agent_id"]})
    now, until = moment(follows["at"]), follows["until"]
    passages = session.collection(PASSAGES)
    shown = {"$set": {"live": True}, "$unset": {"staged": "", "staged_at": ""}}
    await passages.update(own(scope, staged=follows["name"]), shown, many=True)
    for page in pages(follows["retired"]):
        over = {"live": False, "until": until, "retired_at": follows["at"]}
        await passages.update(own(scope, id={"$in": page}), {"$set": over}, many=True)
    moved = follows["moved"]
    for start in range(0, len(moved), STAGED_PER_WRITE):
        await passages.update_each(
            [
                (own(scope, id=one), {"$set": {"number": number, "page": page}})
                for one, number, page in moved[start : start + STAGED_PER_WRITE]
            ]
        )
    new = await passages.find(
        own(scope, document_id=document_id, since=until, live=True), fields=["id"]
    )
    changed = [*(one["id"] for one in new), *follows["retired"]]
    for page in pages(changed):
        await queue_work(session, writer, index_work(page, follows["reader"]), now)


async def _tell(session: Session, scope: Scope, follows: Mapping[str, Any]) -> None:
    """Append the audit event of a change, which is known by its cause."""
    writer = scope.for_graph().model_copy(update={"agent_id": follows["agent_id"]})
    about, reason, now = follows["record_ids"], follows["reason"], moment(follows["at"])
    await append_event(session, writer, follows["kind"], about, reason, now, follows["cause"])


async def _done(
    session: Session, scope: Scope, document_id: str, follows: Mapping[str, Any]
) -> None:
    """Note that nothing must follow any more."""
    if not session.is_atomic:
        done = own(scope, id=document_id, **{"unfinished.name": follows["name"]})
        await session.collection(DOCUMENTS).update(done, {"$unset": {"unfinished": ""}})


async def finish(session: Session, scope: Scope, ids: Sequence[str] | None = None) -> None:
    """Do what must still follow from changes of these documents, or of any of the graph."""
    where = own(scope, unfinished={"$exists": True})
    if ids is not None:
        where["id"] = {"$in": list(ids)}
    left = await session.collection(DOCUMENTS).find(
        where, limit=LEFT_BEHIND_MAX, fields=["id", "unfinished"]
    )
    for one in left:
        await follow(session, scope, one["id"], one["unfinished"])


async def finish_all_shelving(session: Session, tenant: str, now: datetime | None = None) -> int:
    """Do what must still follow from changes that a crash has cut off; return how many.

    With ``now`` those alone that are not as young as to be under way.
    """
    at: Document = {"$exists": True}
    if now is not None:
        at = {"$lte": microseconds(now - UNDER_WAY)}
    where = of_tenant(tenant, **{"unfinished.at": at})
    left = await session.collection(DOCUMENTS, whole_tenant=True).find(
        where, limit=LEFT_BEHIND_MAX, fields=["graph_id", "id", "unfinished"]
    )
    for one in left:
        scope = Scope(tenant=tenant, graph_id=one["graph_id"])
        await follow(session, scope, one["id"], one["unfinished"])
    return len(left)


async def places_of(session: Session, scope: Scope, document_id: str) -> list[Placed]:
    """Return the current passages of a document as far as a revision has to know them."""
    found = await session.collection(PASSAGES).find(
        own(scope, document_id=document_id, live=True),
        sort=[("number", 1)],
        fields=["id", "digest", "number", "page"],
    )
    return [Placed(one["id"], one["digest"], one["number"], one["page"]) for one in found]


def shelved_of(document: Document) -> Shelved:
    """Return the document that a stored row holds."""
    return record_of(Shelved, document)


async def _current_ids(session: Session, scope: Scope, document_id: str) -> list[str]:
    return [one.id for one in await places_of(session, scope, document_id)]


async def _keep_former(session: Session, scope: Scope, known: Shelved) -> None:
    """Store a revision that another follows; whoever was cut off before has done so already."""
    rows = session.collection(REVISIONS)
    if session.is_atomic or not await rows.count(own(scope, id=known.id, revision=known.revision)):
        try:
            await rows.insert([document_of(known)])
        except DuplicateKey:
            if session.is_atomic:
                raise


async def _drop_former(session: Session, scope: Scope, known: Shelved) -> None:
    """Take away what was stored as former of a document that was redacted or removed instead."""
    current = await session.collection(DOCUMENTS).first(own(scope, id=known.id))
    if current is not None and current["revision"] == known.revision:
        former = own(scope, id=known.id, revision=known.revision)
        await session.collection(REVISIONS).delete(former, many=False)


async def silence_formers(session: Session, scope: Scope, document: Shelved) -> None:
    """Let the former revisions of a redacted document say what it says."""
    stored = document_of(document)
    said = {name: stored[name] for name in ("name", "title", "properties", "text", "digest")}
    rows, where = session.collection(REVISIONS), own(scope, id=document.id)
    await rows.update(where, {"$set": said}, many=True)
    at = {"$set": {"redacted_at": stored["redacted_at"]}}
    await rows.update(where | {"redacted_at": None}, at, many=True)


def _as_known(scope: Scope, known: Shelved) -> Document:
    """Return the filter for a document that nobody has changed since it was read."""
    moments = {"removed_at": known.removed_at, "redacted_at": known.redacted_at}
    as_read = {name: None if at is None else microseconds(at) for name, at in moments.items()}
    return own(scope, id=known.id, revision=known.revision, unfinished=None, **as_read)


def _revised(scope: Scope, change: Change) -> Document:
    revision = change.revision
    document = revision.document
    return {
        "name": change.name,
        "kind": REVISED_AUDIT_KIND,
        "agent_id": scope.agent_id,
        "record_ids": [document.id],
        "reason": f"revision {document.revision}",
        "at": microseconds(document.changed_at),
        "until": document.revision,
        "reader": reader_of(document),
        "retired": list(revision.retired),
        "moved": [[one.id, one.number, one.page] for one in revision.moved],
        "cause": f"{REVISED_AUDIT_KIND}/{document.id}/{document.revision}",
    }


def _removed(scope: Scope, document: Shelved, name: str, at: datetime) -> Document:
    return {
        "name": f"{name}/{document.id}",
        "kind": REMOVED_AUDIT_KIND,
        "agent_id": scope.agent_id,
        "at": microseconds(at),
        "until": document.revision + 1,
        "reader": reader_of(document),
        "moved": [],
        "cause": f"{REMOVED_AUDIT_KIND}/{name}",
    }


async def formers_of(
    session: Session, scope: Scope, documents: Sequence[Document]
) -> dict[str, list[Document]]:
    """Return the former revisions of stored documents, whoever could see them."""
    among = {"$in": [one["id"] for one in documents]}
    found: dict[str, list[Document]] = {}
    for one in await session.collection(REVISIONS).find(own(scope, id=among)):
        found.setdefault(one["id"], []).append(one)
    return found

"""What must follow from the change of one document, of a fact or a rule.

What follows is an audit event, work, and perhaps a row of another collection. In a transaction all
of it is one step. Without one the update of the document decides, and carries what must follow in
its field ``moved``; that is done next and the field removed. Whoever finds the field left behind by
a crash does it. Doing it twice is harmless: the event is known by the document and the number of
the change, and a row by its own key.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Final, TypeVar

from pymongo import ASCENDING

from ...errors import TierTimeout
from ...moments import microseconds, moment
from ...records import Scope, WorkDraft
from .database import Database, Session
from .documents import Document, document_of, record_of
from .log import append_event, audit_key
from .outbox import UNDER_WAY
from .schema import Index
from .scope import of_tenant, own
from .together import together
from .translation import DuplicateKey
from .work_items import queue_work

T = TypeVar("T")

ATTEMPTS_MAX = 100
RACES_MAX = 20
LEFT_BEHIND_MAX = 1_000
LEFT_BEHIND_INDEX = Index((("tenant", ASCENDING), ("moved.at", ASCENDING)), only_with=("moved.at",))
"""Each collection whose documents are changed so has it."""

FOLLOWED: Final = ("facts", "rules", "cards")
"""The collections whose documents are changed so."""


async def told_once(
    database: Database,
    operation: str,
    scope: Scope,
    change: Callable[[Session], Awaitable[T]],
    *,
    counted: Callable[[Session, T], Awaitable[object]] | None = None,
) -> T:
    """Carry out a change that is told, again when another event took its number in the feed.

    ``counted`` is as for ``Database.step``.

    Raises:
        TierTimeout: Others were first again and again.
    """
    for _ in range(RACES_MAX):
        try:
            return await database.step(
                operation, change, alone=audit_key(scope.tenant), counted=counted
            )
        except DuplicateKey:
            continue
    raise TierTimeout("cold", operation, f"others were first {RACES_MAX} times")


def told(
    scope: Scope,
    kind: str,
    record_ids: Sequence[str],
    reason: str,
    now: datetime,
    work: Sequence[WorkDraft],
) -> Document:
    """Return what must follow: the audit event of a kind, and work."""
    return {
        "kind": kind,
        "agent_id": scope.agent_id,
        "record_ids": list(record_ids),
        "reason": reason,
        "at": microseconds(now),
        "work": [document_of(draft) for draft in work],
    }


def changed(
    session: Session,
    follows: Document,
    becomes: Document,
    *,
    without: Sequence[str] = (),
    counting: Mapping[str, int] | None = None,
) -> Document:
    """Return the update of a document that is not under way in another change.

    Args:
        session: The step.
        follows: What must follow.
        becomes: The fields that change.
        without: The fields that go.
        counting: What is added to fields.
    """
    carried = {} if session.is_atomic else {"moved": follows}
    parts: Document = {
        "$set": becomes | carried,
        "$unset": dict.fromkeys(without, ""),
        "$inc": {"moves": 1, **(counting or {})},
    }
    return {name: part for name, part in parts.items() if part}


async def follow(
    session: Session, scope: Scope, collection: str, document: Document, follows: Mapping[str, Any]
) -> None:
    """Do what must follow from the change that a document has been through last."""
    mover = scope.for_graph().model_copy(update={"agent_id": follows["agent_id"]})
    now = moment(follows["at"])
    number = f"{document['id']}/{document['moves']}"
    cause = number if collection == "facts" else f"{collection}/{number}"
    about = follows.get("record_ids") or [document["id"]]  # a move of an older ezra names none
    if "row" in follows:
        await _add(session, mover, follows["row"])
    await append_event(session, mover, follows["kind"], about, follows["reason"], now, cause)
    await queue_work(session, mover, [record_of(WorkDraft, one) for one in follows["work"]], now)
    if "moved" in document:
        where = own(scope, id=document["id"], moves=document["moves"])
        await session.collection(collection).update(where, {"$unset": {"moved": ""}})


async def finish(session: Session, scope: Scope, collection: str, ids: Sequence[str]) -> None:
    """Do what must still follow from changes of these documents of the scope's graph."""
    left = await session.collection(collection).find(
        own(scope, id={"$in": list(ids)}, moved={"$exists": True}), limit=LEFT_BEHIND_MAX
    )
    for document in left:
        await follow(session, scope, collection, document, document["moved"])


async def finish_all(session: Session, tenant: str, now: datetime) -> int:
    """Do what must still follow from changes that a crash has cut off; return how many."""
    where = of_tenant(tenant, **{"moved.at": {"$lte": microseconds(now - UNDER_WAY)}})
    found = await together(
        session.collection(name, whole_tenant=True).find(
            where, limit=LEFT_BEHIND_MAX, fields=["graph_id", "id", "moved", "moves"]
        )
        for name in FOLLOWED
    )
    for name, left in zip(FOLLOWED, found, strict=True):
        for document in left:
            scope = Scope(tenant=tenant, graph_id=document["graph_id"])
            await follow(session, scope, name, document, document["moved"])
    return sum(map(len, found))


async def _add(session: Session, scope: Scope, row: Mapping[str, Any]) -> None:
    document = own(scope, **row["document"])
    rows = session.collection(row["collection"])
    if session.is_atomic:
        await rows.insert([document])
        return
    with suppress(DuplicateKey):  # whoever was first has added it
        await rows.insert([document])

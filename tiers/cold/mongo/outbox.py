"""Work that follows from a record, stored with it in one atomic write.

In a transaction the work is simply queued. Without one the record carries its work in a field of
its own, ``outbox``; it is queued right after and the field removed. Whoever finds a field left
behind by a crash queues what it holds: queueing twice is harmless.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from pymongo import ASCENDING

from ...moments import microseconds, moment
from ...records import Scope, WorkDraft
from .database import Session
from .documents import Document, document_of, record_of
from .schema import Index
from .scope import of_tenant, own
from .together import together
from .work_items import queue_work

OUTBOX_COLLECTIONS = ("turns", "summaries", "episodes", "facts", "rules", "receipts")
OUTBOX_INDEX = Index((("tenant", ASCENDING), ("outbox.at", ASCENDING)), only_with=("outbox.at",))
"""Each of these collections has it: what crashes left behind is found without looking far."""

LEFT_BEHIND_MAX = 1_000

UNDER_WAY = timedelta(seconds=10)
"""A record as young as this is probably being stored right now, by whoever queues its work."""


def with_outbox(
    session: Session, document: Document, work: Sequence[WorkDraft], now: datetime
) -> Document:
    """Return the document, carrying its work where the server has no transactions."""
    if session.is_atomic or not work:
        return document
    at = microseconds(now)
    return document | {"outbox": {"at": at, "work": [document_of(draft) for draft in work]}}


async def send(
    session: Session,
    scope: Scope,
    collection: str,
    record_id: str,
    work: Sequence[WorkDraft],
    now: datetime,
) -> None:
    """Queue the work of a record that is stored, and take it out of the record."""
    if not work:
        return
    await queue_work(session, scope, work, now)
    if not session.is_atomic:
        await session.collection(collection).update(
            own(scope, id=record_id), {"$unset": {"outbox": ""}}
        )


async def send_left_behind(
    session: Session, scope: Scope, collection: str, document: Document
) -> None:
    """Queue what a stored record still carries, if it does."""
    outbox = document.get("outbox")
    if outbox is not None:
        work = [record_of(WorkDraft, draft) for draft in outbox["work"]]
        await send(session, scope, collection, document["id"], work, moment(outbox["at"]))


async def send_all_left_behind(session: Session, tenant: str, now: datetime) -> int:
    """Queue what records of a tenant have carried for a while, and return how many did.

    At most ``LEFT_BEHIND_MAX`` of each collection.
    """
    where = of_tenant(tenant, **{"outbox.at": {"$lte": microseconds(now - UNDER_WAY)}})
    found = await together(
        session.collection(name, whole_tenant=True).find(
            where, limit=LEFT_BEHIND_MAX, fields=["graph_id", "id", "outbox"]
        )
        for name in OUTBOX_COLLECTIONS
    )
    for name, documents in zip(OUTBOX_COLLECTIONS, found, strict=True):
        for document in documents:
            scope = Scope(tenant=tenant, graph_id=document["graph_id"])
            await send_left_behind(session, scope, name, document)
    return sum(map(len, found))

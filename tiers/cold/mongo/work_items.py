"""Items of work as documents, and how they come into the queue. See ``queue`` for their life."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from bson import ObjectId

from ...errors import TierTimeout
from ...moments import microseconds
from ...records import Scope, WorkDraft
from ..ownership import WORK_KINDS
from .database import Session
from .documents import Document, document_of
from .scope import of_tenant, own
from .translation import DuplicateKey

ATTEMPTS_MAX = 100


async def queue_work(
    session: Session, scope: Scope, work: Sequence[WorkDraft], now: datetime
) -> int:
    """Queue items inside the caller's step; return how many are new.

    Raises:
        DuplicateKey: In a transaction only: somebody queued the same at this moment.
        TierTimeout: Others changed the same items again and again.
    """
    latest: dict[tuple[str, str], WorkDraft] = {(draft.kind, draft.key): draft for draft in work}
    items, new = session.collection("work"), 0
    tried: set[ObjectId] = set()
    for _ in range(ATTEMPTS_MAX):
        if not latest:
            return new
        known = await _known(session, scope, list(latest))
        again: dict[tuple[str, str], tuple[Document, Document]] = {}
        for place, item in known.items():
            if item["_id"] in tried:  # inserted before another one was refused
                new += 1
                del latest[place]
            else:
                again[place] = _queued_again(item, latest[place], now)
        # One that has changed meanwhile is looked up again, with the others: it may be repeated.
        if await items.update_each(list(again.values())) == len(again):
            latest = {place: draft for place, draft in latest.items() if place not in again}
        missing = [_new(scope, draft, now) for place, draft in latest.items() if place not in known]
        tried = {item["_id"] for item in missing}
        try:
            await items.insert(missing)
        except DuplicateKey:
            if session.is_atomic:
                raise
            continue  # somebody queued it meanwhile: it is looked up
        new += len(missing)
        latest = {place: draft for place, draft in latest.items() if place in known}
    raise never_left_alone("enqueue")


async def count_work(
    session: Session, scope: Scope | None, *, tenant: str | None = None
) -> dict[str, int]:
    """Return how many items are not done, per kind and under ``parked``."""
    counts = dict.fromkeys((*WORK_KINDS, "parked"), 0)
    place = within(tenant, scope)
    if place is None:
        return counts
    rows = await session.collection("work").aggregate(
        [
            {"$match": place},
            {"$group": {"_id": {"kind": "$kind", "parked": "$parked"}, "items": {"$sum": 1}}},
        ]
    )
    for row in rows:
        group = row["_id"]
        counts["parked" if group["parked"] else group["kind"]] += row["items"]
    return counts


def within(tenant: str | None, scope: Scope | None) -> Document | None:
    """Return the filter for a tenant's or a graph's items, ``None`` when nothing can meet both."""
    if scope is None:
        return {} if tenant is None else of_tenant(tenant)
    return own(scope) if tenant in {None, scope.tenant} else None


def never_left_alone(operation: str) -> TierTimeout:
    """Return the error for an item that changed under every attempt."""
    return TierTimeout("cold", operation, "others changed the same items again and again")


async def _known(
    session: Session, scope: Scope, places: Sequence[tuple[str, str]]
) -> dict[tuple[str, str], Document]:
    """Return the items of the scope's graph at some kinds and keys."""
    kinds, keys = (list(dict.fromkeys(names)) for names in zip(*places, strict=True))
    found = await session.collection("work").find(
        own(scope, kind={"$in": kinds}, key={"$in": keys})
    )
    at = {(item["kind"], item["key"]): item for item in found}
    return {place: at[place] for place in places if place in at}


def _queued_again(item: Document, draft: WorkDraft, now: datetime) -> tuple[Document, Document]:
    """Return the update that queues what is there already, unless it has changed meanwhile.

    Claimed: once more when it is done. Parked: a new cause is a new chance. Waiting: due at once.
    """
    at, drafted = microseconds(now), document_of(draft)
    latest = {"agent_id": drafted["agent_id"], "payload": drafted["payload"], "parked": False}
    # Counted, so that it is a write in any case: one that changes nothing would not stand in the
    # way of a claim at the same moment, which may have read its cause as it was before.
    change: Document = {"$set": latest, "$inc": {"asked": 1}}
    if item["lease_owner"] is not None:
        latest["again_at"] = at
    elif item["parked"]:
        latest |= {"due_at": at, "attempts": 0}
    else:
        change["$min"] = {"due_at": at}
    seen = {name: item[name] for name in ("_id", "tenant", "token", "lease_owner", "parked")}
    return seen, change


def _new(scope: Scope, draft: WorkDraft, now: datetime) -> Document:
    at = microseconds(now)
    return {
        "_id": ObjectId(),
        "tenant": scope.tenant,
        "graph_id": scope.graph_id,
        **document_of(draft),
        "queued_at": at,
        "due_at": at,
        "again_at": None,
        "lease_owner": None,
        "claim": None,
        "token": 0,
        "attempts": 0,
        "parked": False,
        "problem": None,
    }

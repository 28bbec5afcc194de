"""Durable work in MongoDB. One document per kind and key of a graph: waiting, claimed or parked.

An item is claimed while it has a ``lease_owner``; ``due_at`` is when it may next be claimed, which
for a claimed one is the end of its lease. What an item becomes is decided from what it was seen
to be, and written under the condition that it still is: who comes too late looks again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

from bson import ObjectId
from pymongo import ASCENDING

from ...errors import UsageError
from ...moments import microseconds
from ...records import Scope, Work, WorkDraft, WorkKind
from ..ownership import WORK_KINDS, check_lease, check_limit
from .database import Database, Session
from .documents import Document, record_of
from .fact_moves import finish_all_moves
from .outbox import send_all_left_behind
from .schema import Index, by, validator
from .shelf_changes import finish_all_shelving
from .translation import DuplicateKey
from .work_items import ATTEMPTS_MAX, count_work, never_left_alone, queue_work, within

__all__ = ["COLLECTIONS", "MongoWorkQueue", "count_work", "queue_work"]

PROBLEM_CHARS_MAX = 2_000

_DUE = (("kind", ASCENDING), ("parked", ASCENDING), ("_id", ASCENDING), ("due_at", ASCENDING))
COLLECTIONS: Mapping[str, tuple[Sequence[Index], Mapping[str, Document] | None]] = {
    "work": (
        [by("kind", "key", unique=True), Index(_DUE), Index((("tenant", ASCENDING), *_DUE))],
        validator(
            ("kind", "key", "payload", "due_at", "token", "parked"),
            kind={"enum": list(WORK_KINDS)},
            token={"bsonType": ["int", "long"], "minimum": 0},
            parked={"bsonType": "bool"},
        ),
    ),
}

Change = Callable[[Document], Document | None]
"""What an item becomes: operators, or ``None`` for gone."""


class MongoWorkQueue:
    """A ``WorkQueue`` in MongoDB.

    On a server without transactions a record carries its work until it is queued. What a crash
    left behind there is queued by a claim that names its tenant and finds less than it asked for.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def enqueue(self, scope: Scope, work: Sequence[WorkDraft], now: datetime) -> int:
        """Queue items and return how many are new.

        An item of the same kind and key that waits is not doubled but becomes due at once; one
        that is claimed runs once more after it is completed; one that is parked is tried anew.
        The latest payload counts.

        Raises:
            TierTimeout: Others changed the same items again and again.
        """
        if not work:
            return 0
        for _ in range(ATTEMPTS_MAX):
            try:
                return await self._database.step(
                    "enqueue",
                    lambda session: queue_work(session, scope, work, now),
                    alone=("work", scope.tenant, scope.graph_id),
                )
            except DuplicateKey:
                continue  # of a transaction: by now the item can be seen
        raise never_left_alone("enqueue")

    async def claim(
        self,
        kinds: Sequence[WorkKind],
        owner: str,
        limit: int,
        lease_seconds: float,
        now: datetime,
        *,
        tenant: str | None = None,
        scope: Scope | None = None,
    ) -> tuple[Work, ...]:
        """Claim due items, oldest first: never claimed, or with a lease that has run out.

        Items that wait for a retry or are parked are not due. ``tenant`` restricts to one tenant,
        ``scope`` to one graph. A claim whose answer was lost holds its items until its lease ends.
        """
        check_limit(limit)
        check_lease(owner, lease_seconds)
        unknown = [kind for kind in kinds if kind not in WORK_KINDS]
        if unknown:
            raise UsageError("kinds", unknown, ", ".join(WORK_KINDS))
        place = within(tenant, scope)
        if place is None:
            return ()
        due = place | {
            "kind": {"$in": list(dict.fromkeys(kinds))},
            "parked": False,
            "due_at": {"$lte": microseconds(now)},
        }
        until = microseconds(now + timedelta(seconds=lease_seconds))
        claim = {"lease_owner": owner, "due_at": until}
        named = tenant if scope is None else scope.tenant

        async def change(session: Session) -> tuple[Work, ...]:
            claimed = await _claim(session, due, claim, limit)
            if len(claimed) == limit or named is None or self._database.server.has_transactions:
                return claimed
            left_behind = await send_all_left_behind(session, named, now)
            left_behind += await finish_all_moves(session, named, now)
            left_behind += await finish_all_shelving(session, named, now)
            if left_behind:
                claimed += await _claim(session, due, claim, limit - len(claimed))
            return claimed

        return await self._database.write("claim", change, alone=("claim",))

    async def renew(self, work: Work, lease_seconds: float, now: datetime) -> bool:
        """Let a claim end ``lease_seconds`` from now; ``False`` when a later claim holds it."""
        until = microseconds(now + timedelta(seconds=lease_seconds))
        return await self._finish("renew", work, lambda _item: {"$set": {"due_at": until}})

    async def complete(self, work: Work) -> bool:
        """Remove a claimed item, or free it to run again; ``False`` when a later claim holds it."""

        def change(item: Document) -> Document | None:
            if item["again_at"] is None:
                return None
            freed = _freed(item["again_at"]) | {"attempts": 0, "problem": None}
            return {"$set": freed}

        return await self._finish("complete", work, change)

    async def fail(self, work: Work, problem: str, retry_at: datetime | None) -> bool:
        """Give a claimed item back until ``retry_at``, or park it (``None``) for people to see.

        ``False`` when a later claim holds it.
        """
        said = {"problem": problem[:PROBLEM_CHARS_MAX]}
        if retry_at is not None:
            until = microseconds(retry_at)
            return await self._finish(
                "fail", work, lambda item: {"$set": _given_back(item, until) | said}
            )

        def park(item: Document) -> Document:
            if item["again_at"] is None:
                return {"$set": _freed(item["due_at"]) | said | {"parked": True}}
            # Asked for again while it ran: the new cause gets its own attempts before it parks.
            return {"$set": _freed(item["again_at"]) | said | {"attempts": 0}}

        return await self._finish("fail", work, park)

    async def defer(self, work: Work, until: datetime) -> bool:
        """Give a claimed item back until a time, without counting the attempt.

        ``False`` when a later claim holds it.
        """
        stored = microseconds(until)
        return await self._finish(
            "defer",
            work,
            lambda item: {"$set": _given_back(item, stored), "$inc": {"attempts": -1}},
        )

    async def waiting(
        self, scope: Scope | None = None, *, tenant: str | None = None
    ) -> dict[str, int]:
        """Return how many items wait per kind, and under ``parked`` how many are parked.

        Claimed items wait too, until they are completed. Every kind is named, with 0 if need be.
        """
        return await self._database.read(
            "waiting", lambda session: count_work(session, scope, tenant=tenant)
        )

    async def parked(self, limit: int = 100, *, tenant: str | None = None) -> tuple[Work, ...]:
        """Return parked items with their problem, oldest first."""
        check_limit(limit)
        where = (within(tenant, None) or {}) | {
            "kind": {"$in": list(WORK_KINDS)},
            "parked": True,
        }

        async def question(session: Session) -> tuple[Work, ...]:
            found = await session.collection("work").find(where, sort=[("_id", 1)], limit=limit)
            return tuple(map(_work, found))

        return await self._database.read("parked", question)

    async def rerun(self, work_ids: Sequence[str], *, tenant: str | None = None) -> int:
        """Put parked items back into the queue with no attempts; return how many."""
        ids = [ObjectId(one) for one in dict.fromkeys(work_ids) if ObjectId.is_valid(one)]

        async def change(session: Session) -> int:
            items = session.collection("work")
            where = (within(tenant, None) or {}) | {"parked": True}
            found = await items.find(where | {"_id": {"$in": ids}}, fields=["queued_at"])
            again = 0
            for item in found:
                freed = {"parked": False, "attempts": 0, "due_at": item["queued_at"]}
                again += await items.update(where | {"_id": item["_id"]}, {"$set": freed})
            return again

        return await self._database.write("rerun", change)

    async def _finish(self, operation: str, work: Work, change: Change) -> bool:
        """End a claim that still holds; ``False`` when it does not."""

        async def finish(session: Session) -> bool:
            if not ObjectId.is_valid(work.id):
                raise UsageError("work.id", work.id, "an item that was claimed here")
            items = session.collection("work")
            held = {
                "_id": ObjectId(work.id),
                "tenant": work.tenant,
                "graph_id": work.graph_id,
                "token": work.token,
                "lease_owner": {"$ne": None},
            }
            for _ in range(ATTEMPTS_MAX):
                item = await items.first(held)
                if item is None:
                    return False
                seen = held | {"again_at": item["again_at"]}
                becomes = change(item)
                done = (
                    await items.delete(seen, many=False)
                    if becomes is None
                    else await items.update(seen, becomes)
                )
                if done:
                    return True
            raise never_left_alone(operation)

        return await self._database.write(operation, finish)


async def _claim(session: Session, due: Document, claim: Document, limit: int) -> tuple[Work, ...]:
    """Claim in three commands, and again for what others took in between."""
    items = session.collection("work")
    claimed: list[Document] = []
    for _ in range(ATTEMPTS_MAX):
        wanted = limit - len(claimed)
        found = await items.find(due, sort=[("_id", 1)], limit=wanted, fields=["_id"])
        if not found:
            break
        mine = {"_id": {"$in": [item["_id"] for item in found]}}
        mark = ObjectId()
        taken = await items.update(
            due | mine,
            {"$set": claim | {"claim": mark}, "$inc": {"token": 1, "attempts": 1}},
            many=True,
        )
        if taken:
            claimed += await items.find(mine | {"claim": mark}, sort=[("_id", 1)])
        if len(claimed) >= limit or len(found) < wanted:
            break
    return tuple(_work(item) for item in sorted(claimed, key=lambda item: item["_id"]))


def _freed(due_at: int) -> Document:
    return {"lease_owner": None, "again_at": None, "due_at": due_at}


def _given_back(item: Document, until: int) -> Document:
    again_at = item["again_at"]
    return _freed(until if again_at is None else min(until, again_at))


def _work(item: Document) -> Work:
    return record_of(Work, item, id=str(item["_id"]))

"""Retention's destruction of content as a step of the database.

On a replica set it is one transaction. A standalone server has none: there a retirement writes down
first what it is about to empty, in ``retirements``, and takes it away when everything is done. Each
record stands there once at most, so of two that would empty the same one is refused, and finishes
the other. Whoever retires, or looks for what is to be retired, finishes what a crash has cut off;
every part of it may be repeated, and its audit event is known by it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import NamedTuple

from bson import ObjectId

from ...moments import microseconds, moment
from ...records import Scope, WorkDraft
from ..redaction import (
    RETIRED_AUDIT_KIND,
    RETIRED_KINDS,
    RecordKind,
    Redactable,
    Retainable,
    retired_form,
)
from .conditions import SHELVES
from .database import Session
from .documents import Document, document_of, record_of
from .erasure import empty, leave_index
from .log import append_event
from .pacing import each
from .schema import Index, by, validator
from .scope import own
from .work_items import queue_work

LEFT_BEHIND_MAX = 100
"""More retirements of a graph than can be cut off before somebody finishes the first of them."""

COLLECTIONS: Mapping[str, tuple[Sequence[Index], Mapping[str, Document] | None]] = {
    "retirements": (
        [by("id", unique=True), by("record_ids", unique=True)],
        validator(
            ("id", "record_ids", "kinds", "reason", "work", "at"),
            record_ids={"bsonType": "array", "items": {"bsonType": "string"}},
        ),
    ),
}


class Emptied(NamedTuple):
    """What a retirement did, and what the statistics of words have to know of it.

    Attributes:
        ids: Of the records that lost their content.
        gained: By how many words records have grown, by kind; mostly below 0.
    """

    ids: tuple[str, ...]
    gained: Counter[RecordKind]


@dataclass(frozen=True)
class Retirement:
    """One retirement, to be carried out inside a step, which may run several times.

    Attributes:
        scope: Whose graph.
        asked: The records to be emptied.
        reason: Why.
        now: When.
        work: Queued with it.
        name: Tells it from any other.
    """

    scope: Scope
    asked: Sequence[str]
    reason: str
    now: datetime
    work: Sequence[WorkDraft] = ()
    name: str = field(default_factory=lambda: str(ObjectId()))

    async def carry_out(self, session: Session) -> Emptied:
        """Do all of it and return what has lost its content by it, in the order asked.

        Raises:
            DuplicateKey: Somebody else is about to empty one of the records, or appended to the
                feed at this moment.
        """
        gained: Counter[RecordKind] = Counter()
        emptied: set[str] = set()
        if not session.is_atomic:
            for left in await _left_behind(session, self.scope):
                gained.update(await _finish(session, self.scope, left))
                emptied.update(left["record_ids"])
        told = await self._announced(session)
        if told is not None:
            gained.update(await _finish(session, self.scope, told))
            emptied.update(told["record_ids"])
        return Emptied(tuple(one for one in self.asked if one in emptied), gained)

    async def _announced(self, session: Session) -> Document | None:
        """Return what is about to be done, written down where a crash could come in between."""
        among: Document = {"$in": list(self.asked)}
        where = own(self.scope, id=among, redacted_at=None)
        found = await each(
            session,
            (
                session.collection(SHELVES[kind].collection).find(where, fields=["id"])
                for kind in RETIRED_KINDS
            ),
        )
        kinds = {
            one["id"]: kind
            for kind, of_kind in zip(RETIRED_KINDS, found, strict=True)
            for one in of_kind
        }
        if not kinds:
            return None
        ids = [one for one in self.asked if one in kinds]
        told = own(
            self.scope,
            id=self.name,
            record_ids=ids,
            kinds=[kinds[one] for one in ids],
            reason=self.reason,
            agent_id=self.scope.agent_id,
            work=[document_of(draft) for draft in self.work],
            at=microseconds(self.now),
        )
        if not session.is_atomic:
            await session.collection("retirements").insert([dict(told)])
        return told


async def finish_retirements(session: Session, scope: Scope) -> Counter[RecordKind]:
    """Finish what crashes have cut off; return by how many words records have grown, by kind."""
    gained: Counter[RecordKind] = Counter()
    for told in await _left_behind(session, scope):
        gained.update(await _finish(session, scope, told))
    return gained


async def _left_behind(session: Session, scope: Scope) -> list[Document]:
    return await session.collection("retirements").find(own(scope), limit=LEFT_BEHIND_MAX)


async def _finish(session: Session, scope: Scope, told: Document) -> Counter[RecordKind]:
    """Do what was announced, or what is left of it."""
    asker = scope.for_graph().model_copy(update={"agent_id": told["agent_id"]})
    now, ids = moment(told["at"]), told["record_ids"]
    gained = await empty(session, asker, _by_kind(told["kinds"], ids), partial(_emptied, now))
    await leave_index(session, asker, RETIRED_KINDS, ids, now)
    work = [record_of(WorkDraft, draft) for draft in told["work"]]
    await queue_work(session, asker, work, now)
    cause = f"{RETIRED_AUDIT_KIND}/{told['id']}"
    await append_event(session, asker, RETIRED_AUDIT_KIND, ids, told["reason"], now, cause)
    if not session.is_atomic:
        await session.collection("retirements").delete(own(scope, id=told["id"]), many=False)
    return gained


def _by_kind(kinds: Iterable[RecordKind], ids: Iterable[str]) -> dict[RecordKind, list[str]]:
    found: dict[RecordKind, list[str]] = {}
    for kind, name in zip(kinds, ids, strict=True):
        found.setdefault(kind, []).append(name)
    return found


def _emptied(now: datetime, record: Redactable) -> Redactable:
    if not isinstance(record, Retainable):
        message = f"{type(record).__name__} cannot be retired"
        raise TypeError(message)
    return retired_form(record, now)

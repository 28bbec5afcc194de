"""Receipts and the audit feed in MongoDB."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from ...errors import Conflict, TierTimeout
from ...moments import microseconds
from ...records import AuditEvent, Receipt, Scope, WorkDraft
from ..ownership import check_limit, check_owned
from .database import Database, Session
from .documents import Document, document_of, record_of
from .outbox import send, send_left_behind, with_outbox
from .schema import Index, by, validator
from .scope import own
from .translation import DuplicateKey

ATTEMPTS_MAX = 100

COLLECTIONS: Mapping[str, tuple[Sequence[Index], Mapping[str, Document] | None]] = {
    "receipts": (
        [by("id", unique=True)],
        validator(("id", "kind", "body", "recorded_at")),
    ),
    "audit": (
        [by("seq", unique=True), by("cause", unique=True, only_with=("cause",))],
        validator(("seq", "kind", "recorded_at"), seq={"bsonType": ["int", "long"], "minimum": 1}),
    ),
}


class MongoRecordLog:
    """A ``RecordLog`` in MongoDB."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put_receipt(
        self, scope: Scope, receipt: Receipt, work: Sequence[WorkDraft] = ()
    ) -> None:
        """Store what a turn or recall saw, with its work. Storing it again changes nothing.

        Raises:
            Conflict: Another receipt has this id.
        """
        check_owned(scope, receipt)

        async def change(session: Session) -> None:
            receipts = session.collection("receipts")
            known = await receipts.first(own(scope, id=receipt.id))
            if known is not None:
                if record_of(Receipt, known) != receipt:
                    raise Conflict("receipt", receipt.id, known["id"])
                await send_left_behind(session, scope, "receipts", known)
                return
            await receipts.insert(
                [with_outbox(session, document_of(receipt), work, receipt.recorded_at)]
            )
            await send(session, scope, "receipts", receipt.id, work, receipt.recorded_at)

        for _ in range(ATTEMPTS_MAX):
            try:
                return await self._database.step("put_receipt", change)
            except DuplicateKey:
                continue  # somebody was first, with this receipt or with its work
        raise TierTimeout("cold", "put_receipt", "others were first again and again")

    async def receipt(self, scope: Scope, receipt_id: str) -> Receipt | None:
        """Return a receipt of the scope's graph, or ``None``."""

        async def question(session: Session) -> Receipt | None:
            found = await session.collection("receipts").first(own(scope, id=receipt_id))
            return None if found is None else record_of(Receipt, found)

        return await self._database.read("receipt", question)

    async def append_audit(
        self, scope: Scope, kind: str, record_ids: Sequence[str], reason: str, now: datetime
    ) -> None:
        """Append to the graph's audit feed: ids and reasons, never content."""
        await self._database.write(
            "append_audit",
            lambda session: append_event(session, scope, kind, record_ids, reason, now),
            alone=("audit", scope.tenant, scope.graph_id),
        )

    async def audit(
        self, scope: Scope, after: int = 0, limit: int = 1000
    ) -> tuple[AuditEvent, ...]:
        """Return the graph's audit feed after a ``seq``, in order."""
        check_limit(limit)

        async def question(session: Session) -> tuple[AuditEvent, ...]:
            found = await session.collection("audit").find(
                own(scope, seq={"$gt": after}), sort=[("seq", 1)], limit=limit
            )
            return tuple(record_of(AuditEvent, event) for event in found)

        return await self._database.read("audit", question)


async def append_event(
    session: Session,
    scope: Scope,
    kind: str,
    record_ids: Sequence[str],
    reason: str,
    now: datetime,
    cause: str | None = None,
) -> None:
    """Append to the audit feed inside the caller's step; ``seq`` counts per graph without gaps.

    Args:
        session: The step.
        scope: Whose feed; its agent is named in the event.
        kind: What happened.
        record_ids: To what.
        reason: Why.
        now: When.
        cause: What the event follows from; no two events of a graph have the same, so that
            appending again changes nothing. ``None``: each call appends.

    Raises:
        DuplicateKey: In a transaction only: somebody else appended at this moment.
        TierTimeout: Others were first again and again.
    """
    events = session.collection("audit")
    event = own(
        scope,
        agent_id=scope.agent_id,
        kind=kind,
        record_ids=list(record_ids),
        reason=reason,
        recorded_at=microseconds(now),
    )
    if cause is not None:
        event["cause"] = cause
    for _ in range(ATTEMPTS_MAX):
        last = await events.first(own(scope), sort=[("seq", -1)])
        try:
            await events.insert([event | {"seq": 1 if last is None else last["seq"] + 1}])
        except DuplicateKey as error:
            if session.is_atomic:
                raise
            if "cause" in error.keys:
                return
        else:
            return
    raise TierTimeout("cold", "append audit", "others were first again and again")

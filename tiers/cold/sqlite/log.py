"""Receipts and the audit feed in SQLite."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ...errors import Conflict
from ...records import AuditEvent, Receipt, Scope, WorkDraft
from ..ownership import check_limit, check_owned
from .database import Database, Session
from .queue import queue_work
from .rows import fields_of, record_of, stored
from .scope import scoped

_RECEIPT = "SELECT r.* FROM receipts r WHERE $own(r) AND r.id = :id"
_AUDIT = "SELECT a.* FROM audit a WHERE $own(a) AND a.seq > :after ORDER BY a.seq LIMIT :limit"
_LAST_SEQ = "SELECT COALESCE(MAX(a.seq), 0) AS seq FROM audit a WHERE $own(a)"


class SqliteRecordLog:
    """A ``RecordLog`` in SQLite."""

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
        await self._database.write(
            "put_receipt", lambda session: _put_receipt(session, scope, receipt, work)
        )

    async def receipt(self, scope: Scope, receipt_id: str) -> Receipt | None:
        """Return a receipt of the scope's graph, or ``None``."""
        return await self._database.read(
            "receipt", lambda session: _receipt(session, scope, receipt_id)
        )

    async def append_audit(
        self, scope: Scope, kind: str, record_ids: Sequence[str], reason: str, now: datetime
    ) -> None:
        """Append to the graph's audit feed: ids and reasons, never content."""
        await self._database.write(
            "append_audit",
            lambda session: append_event(session, scope, kind, record_ids, reason, now),
        )

    async def audit(
        self, scope: Scope, after: int = 0, limit: int = 1000
    ) -> tuple[AuditEvent, ...]:
        """Return the graph's audit feed after a ``seq``, in order."""
        check_limit(limit)
        query = scoped(_AUDIT, scope, after=after, limit=limit)
        return await self._database.read(
            "audit",
            lambda session: tuple(record_of(AuditEvent, row) for row in session.all(query)),
        )


def append_event(
    session: Session,
    scope: Scope,
    kind: str,
    record_ids: Sequence[str],
    reason: str,
    now: datetime,
) -> None:
    """Append to the audit feed inside the caller's transaction; ``seq`` counts per graph."""
    last = session.all(scoped(_LAST_SEQ, scope))[0]["seq"]
    session.insert(
        "audit",
        {
            "tenant": scope.tenant,
            "graph_id": scope.graph_id,
            "seq": last + 1,
            "agent_id": scope.agent_id,
            "kind": kind,
            "record_ids": stored(tuple(record_ids)),
            "reason": reason,
            "recorded_at": stored(now),
        },
    )


def _put_receipt(
    session: Session, scope: Scope, receipt: Receipt, work: Sequence[WorkDraft]
) -> None:
    known = _receipt(session, scope, receipt.id)
    if known == receipt:
        return
    if known is not None:
        raise Conflict("receipt", receipt.id, known.id)
    session.insert("receipts", fields_of(receipt))
    queue_work(session, scope, work, receipt.recorded_at)


def _receipt(session: Session, scope: Scope, receipt_id: str) -> Receipt | None:
    row = session.one(scoped(_RECEIPT, scope, id=receipt_id))
    return None if row is None else record_of(Receipt, row)

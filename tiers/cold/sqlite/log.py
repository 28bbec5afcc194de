"""Receipts and the audit feed in SQLite."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ...errors import Conflict
from ...records import AuditEvent, AuditFilter, Receipt, Scope, WorkDraft
from ..archive_rows import check_tenant
from ..ownership import check_limit, check_owned, check_whole_graph
from .database import Database, Query, Session, Value
from .queue import queue_work
from .rows import fields_of, record_of, stored
from .scope import scoped

_RECEIPT = "SELECT r.* FROM receipts r WHERE $own(r) AND r.id = :id"
_RECEIPTS = "SELECT r.* FROM receipts r WHERE $own(r) AND r.id > :after ORDER BY r.id LIMIT :limit"
# One look by the primary key per graph, where a search by the id alone would read every receipt.
_FIND = (
    "SELECT r.* FROM graphs g CROSS JOIN receipts r ON r.tenant = :tenant AND r.graph_id = g.id"
    " WHERE g.tenant = :tenant AND r.id = :id ORDER BY g.created_at, g.row LIMIT 1"
)
_AUDIT = "SELECT a.* FROM audit a WHERE "
_OF_GRAPH = "$own(a) AND a.seq > :after"
_OF_TENANT = "a.tenant = :tenant AND a.position > :after"
_LAST_SEQ = "SELECT COALESCE(MAX(a.seq), 0) AS last FROM audit a WHERE $own(a)"
_LAST_POSITION = "SELECT COALESCE(MAX(a.position), 0) AS last FROM audit a WHERE a.tenant = :tenant"
_ONLY = {
    "kinds": "a.kind IN (SELECT value FROM json_each(:only_kinds))",
    "kind": "a.kind = :only_kind",
    "graph_id": "a.graph_id = :only_graph_id",
    "agent_id": "a.agent_id = :only_agent_id",
    "record_id": "EXISTS (SELECT 1 FROM json_each(a.record_ids) WHERE value = :only_record_id)",
    "since": "a.recorded_at >= :only_since",
    "until": "a.recorded_at < :only_until",
}
"""The condition of each field of an ``AuditFilter``, and of ``kinds`` when it is one."""


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
            "put_receipt",
            lambda session: _put_receipt(session, scope, receipt, work),
            is_brief=True,
        )

    async def receipt(self, scope: Scope, receipt_id: str) -> Receipt | None:
        """Return a receipt of the scope's graph, or ``None``."""
        return await self._database.read(
            "receipt", lambda session: _receipt(session, scope, receipt_id)
        )

    async def find_receipt(self, tenant: str, receipt_id: str) -> Receipt | None:
        """Return a receipt of whichever graph of the tenant has it, or ``None``.

        Of several of this id, that of the oldest graph.
        """
        check_tenant(tenant)
        query = Query(_FIND, {"tenant": tenant, "id": receipt_id}, reach="tenant")

        def question(session: Session) -> Receipt | None:
            row = session.one(query)
            return None if row is None else record_of(Receipt, row)

        return await self._database.read("find_receipt", question)

    async def receipts(
        self, scope: Scope, after: str = "", limit: int = 1000
    ) -> tuple[Receipt, ...]:
        """Return receipts of the graph after an id, by id, at most ``limit``.

        Raises:
            UsageError: The scope is an agent's, or the limit is out of range.
        """
        check_whole_graph(scope)
        check_limit(limit)
        query = scoped(_RECEIPTS, scope, after=after, limit=limit)
        return await self._database.read(
            "receipts",
            lambda session: tuple(record_of(Receipt, row) for row in session.all(query)),
        )

    async def append_audit(
        self, scope: Scope, kind: str, record_ids: Sequence[str], reason: str, now: datetime
    ) -> None:
        """Append to the audit feed of the graph and of its tenant: ids and reasons, never content.

        The event takes the next ``seq`` of the graph and the next ``position`` of the tenant.
        """
        await self._database.write(
            "append_audit",
            lambda session: append_event(session, scope, kind, record_ids, reason, now),
            is_brief=True,
        )

    async def audit(
        self, scope: Scope, after: int = 0, limit: int = 1000, only: AuditFilter | None = None
    ) -> tuple[AuditEvent, ...]:
        """Return the graph's audit feed after a ``seq``, at most ``limit``.

        In order, or with ``before`` the last ones first.
        """
        check_limit(limit)
        where, values = _wanted(only)
        template = _AUDIT + " AND ".join([_OF_GRAPH, *where]) + _ordered("a.seq", only)
        query = scoped(template, scope, after=after, limit=limit)
        return await self._events("audit", Query(query.sql, {**query.params, **values}))

    async def tenant_audit(
        self, tenant: str, after: int = 0, limit: int = 1000, only: AuditFilter | None = None
    ) -> tuple[AuditEvent, ...]:
        """Return the tenant's audit feed after a ``position``; otherwise as ``audit``."""
        check_tenant(tenant)
        check_limit(limit)
        where, values = _wanted(only)
        statement = _AUDIT + " AND ".join([_OF_TENANT, *where]) + _ordered("a.position", only)
        params: dict[str, Value] = {"tenant": tenant, "after": after, "limit": limit}
        return await self._events("tenant_audit", Query(statement, params | values, reach="tenant"))

    async def _events(self, operation: str, query: Query) -> tuple[AuditEvent, ...]:
        return await self._database.read(
            operation,
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
    """Append to the audit feed inside the caller's transaction.

    ``seq`` counts per graph, ``position`` per tenant.
    """
    session.insert(
        "audit",
        {
            "tenant": scope.tenant,
            "graph_id": scope.graph_id,
            "seq": session.all(scoped(_LAST_SEQ, scope))[0]["last"] + 1,
            "position": next_position(session, scope.tenant),
            "agent_id": scope.agent_id,
            "kind": kind,
            "record_ids": stored(tuple(record_ids)),
            "reason": reason,
            "recorded_at": stored(now),
        },
    )


def next_position(session: Session, tenant: str) -> int:
    """Return the next free place in the tenant's feed, in the caller's transaction."""
    query = Query(_LAST_POSITION, {"tenant": tenant}, reach="tenant")
    return int(session.all(query)[0]["last"]) + 1


def _wanted(only: AuditFilter | None) -> tuple[list[str], dict[str, Value]]:
    """Return the conditions of a filter, and their parameters."""
    asked = {} if only is None else {name: value for name, value in only if value not in (None, ())}
    before = asked.pop("before", None)
    if len(asked.get("kinds", ())) == 1:
        # Denials are few among much: an equality goes by the index of kinds, a list would not.
        (asked["kind"],) = asked.pop("kinds")
    params = {f"only_{name}": stored(value) for name, value in asked.items()}
    return [_ONLY[name] for name in asked], params | {"before": before}


def _ordered(number: str, only: AuditFilter | None) -> str:
    """Return which page is read: the first after a number, or the last before one, last first."""
    if only is None or only.before is None:
        return f" ORDER BY {number} LIMIT :limit"
    return f" AND {number} < :before ORDER BY {number} DESC LIMIT :limit"


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

"""Receipts and the audit feed in MongoDB."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from pymongo import ASCENDING, DESCENDING

from ...errors import Conflict, TierTimeout
from ...moments import microseconds
from ...records import AuditEvent, AuditFilter, Receipt, Scope, WorkDraft
from ..archive_rows import check_tenant
from ..ownership import check_limit, check_owned, check_whole_graph
from .database import Database, Session
from .documents import Document, document_of, record_of
from .outbox import send, send_left_behind, with_outbox
from .schema import Index, by, validator
from .scope import of_tenant, own
from .together import together
from .translation import DuplicateKey

ATTEMPTS_MAX = 100

_OLDEST_FIRST = [("created_at", 1), ("_id", 1)]
_NUMBER = {"bsonType": ["int", "long"], "minimum": 1}
_BY_POSITION = (("tenant", ASCENDING), ("position", ASCENDING))
_BY_KIND = (("tenant", ASCENDING), ("kind", ASCENDING), ("position", ASCENDING))

COLLECTIONS: Mapping[str, tuple[Sequence[Index], Mapping[str, Document] | None]] = {
    "receipts": (
        [by("id", unique=True)],
        validator(("id", "kind", "body", "recorded_at")),
    ),
    "audit": (
        [
            by("seq", unique=True),
            by("cause", unique=True, only_with=("cause",)),
            Index(_BY_POSITION, unique=True),
            Index(_BY_KIND),
        ],
        validator(("seq", "position", "kind", "recorded_at"), seq=_NUMBER, position=_NUMBER),
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

    async def find_receipt(self, tenant: str, receipt_id: str) -> Receipt | None:
        """Return a receipt of whichever graph of the tenant has it, or ``None``.

        Of several of this id, that of the oldest graph.
        """
        check_tenant(tenant)

        async def question(session: Session) -> Receipt | None:
            graphs = await session.collection("graphs", whole_tenant=True).find(
                of_tenant(tenant), sort=_OLDEST_FIRST, fields=["id"]
            )
            places = {graph["id"]: place for place, graph in enumerate(graphs)}
            # By graph and id: the index has no other way to a single receipt.
            found = await session.collection("receipts", whole_tenant=True).find(
                of_tenant(tenant, graph_id={"$in": list(places)}, id=receipt_id)
            )
            first = min(found, key=lambda one: places[one["graph_id"]], default=None)
            return None if first is None else record_of(Receipt, first)

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

        async def question(session: Session) -> tuple[Receipt, ...]:
            found = await session.collection("receipts").find(
                own(scope, id={"$gt": after}), sort=[("id", ASCENDING)], limit=limit
            )
            return tuple(record_of(Receipt, one) for one in found)

        return await self._database.read("receipts", question)

    async def append_audit(
        self, scope: Scope, kind: str, record_ids: Sequence[str], reason: str, now: datetime
    ) -> None:
        """Append to the audit feed of the graph and of its tenant: ids and reasons, never content.

        The event takes the next ``seq`` of the graph and the next ``position`` of the tenant.
        """
        await self._database.write(
            "append_audit",
            lambda session: append_event(session, scope, kind, record_ids, reason, now),
            alone=audit_key(scope.tenant),
        )

    async def audit(
        self, scope: Scope, after: int = 0, limit: int = 1000, only: AuditFilter | None = None
    ) -> tuple[AuditEvent, ...]:
        """Return the graph's audit feed after a ``seq``, at most ``limit``.

        In order, or with ``before`` the last ones first.
        """
        check_limit(limit)
        if only is not None and only.graph_id not in {None, scope.graph_id}:
            return ()
        numbers, order = _ordered(after, only)
        where = _wanted(only) | own(scope, seq=numbers)

        async def question(session: Session) -> tuple[AuditEvent, ...]:
            found = await session.collection("audit").find(
                where, sort=[("seq", order)], limit=limit
            )
            return tuple(record_of(AuditEvent, event) for event in found)

        return await self._database.read("audit", question)

    async def tenant_audit(
        self, tenant: str, after: int = 0, limit: int = 1000, only: AuditFilter | None = None
    ) -> tuple[AuditEvent, ...]:
        """Return the tenant's audit feed after a ``position``; otherwise as ``audit``."""
        check_tenant(tenant)
        check_limit(limit)
        numbers, order = _ordered(after, only)
        where = _wanted(only) | of_tenant(tenant, position=numbers)

        async def question(session: Session) -> tuple[AuditEvent, ...]:
            events = session.collection("audit", whole_tenant=True)
            found = await events.find(where, sort=[("position", order)], limit=limit)
            return tuple(record_of(AuditEvent, event) for event in found)

        return await self._database.read("tenant_audit", question)


def _wanted(only: AuditFilter | None) -> Document:
    """Return the conditions of a filter."""
    if only is None:
        return {}
    where: Document = {}
    if only.kinds:
        where["kind"] = {"$in": list(only.kinds)}
    named = {"graph_id": only.graph_id, "agent_id": only.agent_id, "record_ids": only.record_id}
    where |= {name: value for name, value in named.items() if value is not None}
    bounds = {"$gte": only.since, "$lt": only.until}
    period = {name: microseconds(one) for name, one in bounds.items() if one is not None}
    return where | ({"recorded_at": period} if period else {})


def _ordered(after: int, only: AuditFilter | None) -> tuple[Document, int]:
    """Return which numbers are read, and the order: upwards, or from before a number down."""
    if only is None or only.before is None:
        return {"$gt": after}, ASCENDING
    return {"$gt": after, "$lt": only.before}, DESCENDING


def audit_key(tenant: str) -> tuple[str, str]:
    """Return the key under which one process appends to a tenant's feed one event after another.

    Positions count in the whole tenant: whoever appends takes the one after the last.
    """
    return ("audit", tenant)


async def append_event(
    session: Session,
    scope: Scope,
    kind: str,
    record_ids: Sequence[str],
    reason: str,
    now: datetime,
    cause: str | None = None,
) -> None:
    """Append to the audit feed inside the caller's step, under ``audit_key``.

    ``seq`` counts per graph and ``position`` per tenant, both without gaps: an event only comes to
    be as the one after the last, and stays.

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
        numbers = await _next_numbers(session, scope)
        try:
            await events.insert([event | numbers])
        except DuplicateKey as error:
            if session.is_atomic:
                raise
            if "cause" in error.keys:
                return
        else:
            return
    raise TierTimeout("cold", "append audit", "others were first again and again")


async def _next_numbers(session: Session, scope: Scope) -> dict[str, int]:
    """Return the ``seq`` and the ``position`` that no event has yet."""
    feeds = {"seq": own(scope), "position": of_tenant(scope.tenant)}
    if session.is_atomic:  # the commands of a transaction go one by one
        last = [await last_number(session, name, where) for name, where in feeds.items()]
    else:
        last = await together(last_number(session, name, where) for name, where in feeds.items())
    return {name: number + 1 for name, number in zip(feeds, last, strict=True)}


async def last_number(session: Session, name: str, where: Document) -> int:
    """Return the highest ``seq`` or ``position`` among some events; 0 without any."""
    found = await session.collection("audit", whole_tenant=True).find(
        where, sort=[(name, -1)], limit=1, fields=[name]
    )
    return int(found[0][name]) if found else 0

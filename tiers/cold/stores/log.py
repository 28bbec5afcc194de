"""Receipts, and the audit feed of a graph and of its tenant."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ...errors import Conflict
from ...evidence import ChainedAudit, EvidenceMarks
from ...fields import AuditKind
from ...history.audit_chain import REASONS_ERASED, chained, name_of, without_reason
from ...moments import microseconds
from ...records import AuditEvent, AuditFilter, Receipt, Scope, WorkDraft
from ..conditions import Among, Beyond, Condition, Holds, Is, Within
from ..ownership import check_limit, check_owned, check_tenant, check_whole_graph
from ..port import Collection, Find, Index, Lookup, Steps, every, one, write
from .known_graphs import oldest_first
from .questions import among, equal, whole, window
from .rows import OfGraph, all_bare, over, plain, put, replace
from .store_base import OverEngine, reading
from .work import queue_work

AUDIT: Collection[ChainedAudit] = Collection(
    "audit",
    ChainedAudit,
    fields={
        **plain("seq", "position", "kind", "agent_id"),
        "recorded_at": lambda event: microseconds(event.recorded_at),
    },
    indexes={
        "seq": Index(("seq",), unique=True),
        "position": Index(("position",), unique=True, of="tenant"),
        "kind": Index(("kind", "position"), of="tenant"),
    },
    lists={"about": Lookup(lambda event: event.record_ids, order=("seq",), told_whole=True)},
    key=lambda event: str(event.seq),
)

RECEIPTS: Collection[Receipt] = Collection(
    "receipts",
    Receipt,
    fields={"recorded_at": lambda receipt: microseconds(receipt.recorded_at)},
    indexes={"named": Index(("id",), of="tenant")},
)


class Marked(OfGraph):
    """How far the evidence of a graph has come.

    Attributes:
        audit_hash: Of the last event of the feed, which the next one is chained to: the feed need
            not be read for it, and one that was cut short has a gap from then on.
    """

    marks: EvidenceMarks = EvidenceMarks()
    audit_hash: str = ""


MARKS: Collection[Marked] = Collection("evidence_marks", Marked, key=lambda _: "marks")


class RecordLog(OverEngine):
    """Receipts and the audit feed."""

    async def put_receipt(
        self, scope: Scope, receipt: Receipt, work: Sequence[WorkDraft] = ()
    ) -> None:
        """Store what a turn or recall saw, with its work. Storing it again changes nothing.

        Raises:
            Conflict: Another receipt has this id.
        """
        check_owned(scope, receipt)
        await self._store.change("put_receipt", lambda: put_receipt(scope, receipt, work))

    async def receipt(self, scope: Scope, receipt_id: str) -> Receipt | None:
        """Return a receipt of the scope's graph, or ``None``."""
        return await self._store.read("receipt", lambda: _receipt(scope, receipt_id))

    @reading
    def find_receipt(self, tenant: str, receipt_id: str) -> Steps[Receipt | None]:
        """Return a receipt of whichever graph of the tenant has it, or ``None``.

        For people who audit, and hold nothing but its id. Costs one look per graph; where several
        graphs have one of this id, it is that of the oldest graph.
        """
        check_tenant(tenant)
        scope = Scope.of_graph(tenant, tenant)
        find = Find(RECEIPTS, scope, by="named", where=(Is("id", receipt_id),), reach="tenant")
        found = yield from every(find)
        if len(found) > 1:
            oldest = yield from oldest_first(tenant, [one.graph_id for one in found])
            places = {graph_id: place for place, graph_id in enumerate(oldest)}
            # What an import has put in so far has no graph yet.
            found.sort(key=lambda receipt: places.get(receipt.graph_id, len(places)))
        return found[0] if found else None

    async def receipts(
        self, scope: Scope, after: str = "", limit: int = 1000
    ) -> tuple[Receipt, ...]:
        """Return receipts of the graph after an id, by id, at most ``limit``.

        The ids of one process sort by time. For people who audit: receipts of every agent.

        Raises:
            UsageError: The scope is an agent's, or the limit is out of range.
        """
        check_whole_graph(scope, limit)
        where = (Beyond(("id",), (after,)),)
        find = Find(RECEIPTS, scope, where=where, order=("id",), limit=limit)
        return await self._all("receipts", find)

    async def append_audit(
        self, scope: Scope, kind: AuditKind, record_ids: Sequence[str], reason: str, now: datetime
    ) -> None:
        """Append to the audit feed of the graph and of its tenant: ids and reasons, never content.

        The event takes the next ``seq`` of the graph and the next ``position`` of the tenant.
        """
        await self._store.change(
            "append_audit", lambda: append_event(scope, kind, record_ids, reason, now)
        )

    async def audit(
        self, scope: Scope, after: int = 0, limit: int = 1000, only: AuditFilter | None = None
    ) -> tuple[AuditEvent, ...]:
        """Return the graph's audit feed after a ``seq``, in order, at most ``limit``.

        A filter that says ``before`` turns the order round: the last of what is wanted come first.
        """
        check_limit(limit)
        find = _page(Find(AUDIT, scope, by="seq", limit=limit), "seq", after, only)
        return all_bare(AuditEvent, await self._all("audit", find))

    async def tenant_audit(
        self, tenant: str, after: int = 0, limit: int = 1000, only: AuditFilter | None = None
    ) -> tuple[AuditEvent, ...]:
        """Return the tenant's audit feed after a ``position``; otherwise as ``audit``."""
        check_tenant(tenant)
        check_limit(limit)
        scope = Scope.of_graph(tenant, tenant)
        find = Find(AUDIT, scope, by="position", limit=limit, reach="tenant")
        wanted = _page(find, "position", after, only)
        return all_bare(AuditEvent, await self._all("tenant_audit", wanted))


def append_event(
    scope: Scope, kind: AuditKind, record_ids: Sequence[str], reason: str, now: datetime
) -> Steps[None]:
    """Append to the audit feed inside a transaction: ``seq`` per graph, ``position`` per tenant."""
    (known, latest) = yield (
        Find(MARKS, scope),
        Find(AUDIT, scope, by="position", order=("-position",), limit=1, reach="tenant"),
    )
    marked = known[0] if known else None
    if marked is not None and marked.audit_hash:
        seq, last_hash = marked.marks.audit, marked.audit_hash
    else:
        last = yield from one(Find(AUDIT, scope, by="seq", order=("-seq",), limit=1, reach="own"))
        seq, last_hash = (0, "") if last is None else (last.seq, last.hash)
    event = AuditEvent(
        tenant=scope.tenant,
        graph_id=scope.graph_id,
        seq=seq + 1,
        position=latest[0].position + 1 if latest else 1,
        agent_id=scope.agent_id,
        kind=kind,
        record_ids=tuple(record_ids),
        reason=reason,
        recorded_at=now,
    )
    new = chained(last_hash, event)
    yield from put(AUDIT, scope, new)
    yield from _mark(scope, marked, EvidenceMarks(audit=new.seq), new.hash)


def silence_reasons(scope: Scope, seqs: Sequence[int], now: datetime) -> Steps[None]:
    """Destroy the reasons of audit events, inside a transaction, and let the feed say so."""
    found = yield from every(whole(AUDIT, scope, "seq", Among("seq", tuple(seqs))))
    silent = [one for event in found if (one := without_reason(event)) != event]
    if silent:
        yield from replace(AUDIT, scope, *silent)
        named = [name_of(event) for event in silent]
        yield from append_event(scope, REASONS_ERASED, named, "", now)


def raise_marks(scope: Scope, marks: EvidenceMarks, audit_hash: str = "") -> Steps[None]:
    """Note how far the log, the feed and the heads of a graph have come; never less than before."""
    known = yield from one(Find(MARKS, scope))
    yield from _mark(scope, known, marks, audit_hash)


def _mark(scope: Scope, known: Marked | None, marks: EvidenceMarks, audit_hash: str) -> Steps[None]:
    before = known or Marked(tenant=scope.tenant, graph_id=scope.graph_id)
    reached = before.marks.__dict__
    higher = {name: max(at, marks.__dict__[name]) for name, at in reached.items()}
    if higher != reached:
        changed: dict[str, object] = {"marks": EvidenceMarks.known(higher)}
        if audit_hash:
            changed["audit_hash"] = audit_hash
        yield from write(over(known, MARKS, scope, before.model_copy(update=changed)))


def put_receipt(scope: Scope, receipt: Receipt, work: Sequence[WorkDraft] = ()) -> Steps[bool]:
    """Store a receipt with its work, inside a transaction; return whether it is new.

    Raises:
        Conflict: Another receipt has this id.
    """
    known = yield from _receipt(scope, receipt.id)
    if known == receipt:
        return False
    if known is not None:
        raise Conflict("receipt", receipt.id, known.id)
    yield from put(RECEIPTS, scope, receipt)
    yield from queue_work(scope, work, receipt.recorded_at)
    return True


def _receipt(scope: Scope, receipt_id: str) -> Steps[Receipt | None]:
    return one(among(RECEIPTS, scope, [receipt_id]))


def _page(
    find: Find[ChainedAudit], number: str, after: int, only: AuditFilter | None
) -> Find[ChainedAudit]:
    """Ask for a page of a feed: the first after a number, or the last before one."""
    asked = AuditFilter() if only is None else only
    where: list[Condition] = [Within(number, since=after + 1, until=asked.before)]
    by = find.by
    if len(asked.kinds) == 1:
        where.append(Is("kind", asked.kinds[0]))
        if find.reach == "tenant":
            by = "kind"  # denials are few among much
    elif asked.kinds:
        where.append(Among("kind", asked.kinds))
    if asked.record_id is not None:
        where.append(Holds("about", (asked.record_id,)))
        if find.reach != "tenant":
            by = "about"
    where += equal(graph_id=asked.graph_id, agent_id=asked.agent_id)
    where += window("recorded_at", asked.since, asked.until)
    order = (number,) if asked.before is None else (f"-{number}",)
    return find._replace(by=by, where=tuple(where), order=order)

"""The port of what a graph keeps of its own doings. The rules of ``tiers.ports`` hold."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from .records import AuditEvent, AuditFilter, Receipt, Scope, WorkDraft


class RecordLog(Protocol):
    """Receipts and the audit feed."""

    async def put_receipt(
        self, scope: Scope, receipt: Receipt, work: Sequence[WorkDraft] = ()
    ) -> None:
        """Store what a turn or recall saw, together with the work that follows from it."""

    async def receipt(self, scope: Scope, receipt_id: str) -> Receipt | None:
        """Return a receipt of the scope's graph, or ``None``."""

    async def find_receipt(self, tenant: str, receipt_id: str) -> Receipt | None:
        """Return a receipt of whichever graph of the tenant has it, or ``None``.

        For people who audit, and hold nothing but its id. Costs one look per graph; where several
        graphs have one of this id, it is that of the oldest graph.
        """

    async def receipts(
        self, scope: Scope, after: str = "", limit: int = 1000
    ) -> tuple[Receipt, ...]:
        """Return receipts of the graph after an id, by id, at most ``limit``.

        The ids of one process sort by time. For people who audit: receipts of every agent.

        Raises:
            UsageError: The scope is an agent's.
        """

    async def append_audit(
        self, scope: Scope, kind: str, record_ids: Sequence[str], reason: str, now: datetime
    ) -> None:
        """Append to the audit feed of the graph and of its tenant: ids and reasons, never content.

        The event takes the next ``seq`` of the graph and the next ``position`` of the tenant.
        """

    async def audit(
        self, scope: Scope, after: int = 0, limit: int = 1000, only: AuditFilter | None = None
    ) -> tuple[AuditEvent, ...]:
        """Return the graph's audit feed after a ``seq``, in order, at most ``limit``.

        A filter that says ``before`` turns the order round: the last of what is wanted come first.
        """

    async def tenant_audit(
        self, tenant: str, after: int = 0, limit: int = 1000, only: AuditFilter | None = None
    ) -> tuple[AuditEvent, ...]:
        """Return the tenant's audit feed after a ``position``; otherwise as ``audit``."""

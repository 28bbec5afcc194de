"""Does what is asked of the audit feed, of receipts, and of what became of a record."""

from __future__ import annotations

from collections.abc import Mapping

from tiers.records import AuditEvent

from ..handles.explanation import Story
from ..receipts.rebuilding import ReplayedContext
from ..wire import Nothing
from ..wire import audit as wire
from ..wire.audit import AuditAsked, ReplayAsked
from .caller import Caller
from .desk import Desk
from .handlers import handlers

Names = Mapping[str, str]


@handlers.does(wire.TENANT_AUDIT)
async def tenant_audit(
    desk: Desk, _: Caller, __: Names, asked: AuditAsked
) -> tuple[AuditEvent, ...]:
    """Return a page of the tenant's audit feed."""
    return await desk.ezra.audit(**asked.said)


@handlers.does(wire.REPLAY)
async def replay(desk: Desk, _: Caller, names: Names, asked: ReplayAsked) -> ReplayedContext:
    """Return what a turn or a recall of any graph was given."""
    return await desk.ezra.replay_context(names["receipt_id"], **asked.said)


@handlers.does(wire.EXPLAIN)
async def explain(desk: Desk, _: Caller, names: Names, __: Nothing) -> Story:
    """Return what became of a record."""
    return await desk.ezra.explain(names["record_id"])

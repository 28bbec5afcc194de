"""Does what is asked of the audit feed, of receipts, and of what became of a record."""

from __future__ import annotations

from collections.abc import Mapping

from tiers.records import AuditEvent, Receipt, Turn

from ..explaining import Story
from ..rebuilding import ReplayedContext
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
    return await desk.ezra.audit(asked.after, asked.limit, only=asked.only)


@handlers.does(wire.GRAPH_AUDIT)
async def graph_audit(
    desk: Desk, _: Caller, names: Names, asked: AuditAsked
) -> tuple[AuditEvent, ...]:
    """Return a page of a graph's audit feed."""
    graph = await desk.graph(names["graph_id"])
    return await graph.audit(asked.after, asked.limit, only=asked.only)


@handlers.does(wire.TURNS)
async def turns(desk: Desk, _: Caller, names: Names, asked: wire.TurnsAsked) -> tuple[Turn, ...]:
    """Return a page of a member's turns."""
    graph = await desk.graph(names["graph_id"])
    return await graph.turns(names["agent_id"], **asked.said)


@handlers.does(wire.RECEIPTS_OF)
async def receipts_of(
    desk: Desk, _: Caller, names: Names, asked: wire.ReceiptsOfAsked
) -> dict[str, Receipt]:
    """Return what turns saw."""
    return await (await desk.graph(names["graph_id"])).receipts_of(asked.turn_ids)


@handlers.does(wire.RECEIPT)
async def receipt(desk: Desk, _: Caller, names: Names, __: Nothing) -> Receipt:
    """Return what a turn saw."""
    return await (await desk.graph(names["graph_id"])).receipt(names["receipt_id"])


@handlers.does(wire.GRAPH_REPLAY)
async def graph_replay(desk: Desk, _: Caller, names: Names, asked: ReplayAsked) -> ReplayedContext:
    """Return what a turn or a recall of a graph was given."""
    graph = await desk.graph(names["graph_id"])
    return await graph.replay_context(names["receipt_id"], **asked.said)


@handlers.does(wire.REPLAY)
async def replay(desk: Desk, _: Caller, names: Names, asked: ReplayAsked) -> ReplayedContext:
    """Return what a turn or a recall of any graph was given."""
    return await desk.ezra.replay_context(names["receipt_id"], **asked.said)


@handlers.does(wire.EXPLAIN)
async def explain(desk: Desk, _: Caller, names: Names, __: Nothing) -> Story:
    """Return what became of a record."""
    return await desk.ezra.explain(names["record_id"])

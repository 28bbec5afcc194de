"""Does what is asked of what the write guard has put aside."""

from __future__ import annotations

from collections.abc import Mapping

from tiers.quarantine import Quarantined

from ..wire import quarantine as wire
from .caller import Caller
from .desk import Desk
from .handlers import handlers

Names = Mapping[str, str]


@handlers.does(wire.LIST)
async def waiting(
    desk: Desk, _: Caller, names: Names, asked: wire.QuarantineAsked
) -> tuple[Quarantined, ...]:
    """Return the texts that wait for a decision."""
    return await (await desk.graph(names["graph_id"])).quarantine.list(**asked.said)


@handlers.does(wire.RELEASE)
async def release(desk: Desk, _: Caller, names: Names, asked: wire.DecisionAsked) -> str:
    """Store a text after all."""
    graph = await desk.graph(names["graph_id"])
    return await graph.quarantine.release(names["text_id"], reason=asked.reason)


@handlers.does(wire.DISCARD)
async def discard(desk: Desk, _: Caller, names: Names, asked: wire.DecisionAsked) -> bool:
    """Throw a text away."""
    graph = await desk.graph(names["graph_id"])
    return await graph.quarantine.discard(names["text_id"], reason=asked.reason)

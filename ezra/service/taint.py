"""Does what is asked of ``graph.taint``: traces, roll-backs, undoing and confirming them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from tiers.taint import RollBack

from ..taint.handle import Taint
from ..taint.rolling_back import RollBackReport
from ..taint.tracing import Trace
from ..wire import Nothing
from ..wire import taint as wire
from .caller import Caller
from .desk import Desk
from .handlers import handlers

Names: TypeAlias = Mapping[str, str]


async def _taint(desk: Desk, names: Names) -> Taint:
    return (await desk.graph(names["graph_id"])).taint


@handlers.does(wire.TRACE)
async def trace(desk: Desk, _: Caller, names: Names, asked: wire.TraceAsked) -> Trace:
    """Return a page of what came of a record."""
    return await (await _taint(desk, names)).trace(names["record_id"], **asked.said)


@handlers.does(wire.LIST)
async def roll_backs(desk: Desk, _: Caller, names: Names, __: Nothing) -> tuple[RollBack, ...]:
    """Return the graph's roll-backs."""
    return await (await _taint(desk, names)).roll_backs()


@handlers.does(wire.ROLL_BACK)
async def roll_back(
    desk: Desk, _: Caller, names: Names, asked: wire.RollBackAsked
) -> RollBackReport:
    """Roll back what came of a record."""
    return await (await _taint(desk, names)).roll_back(**asked.said)


@handlers.does(wire.UNDO)
async def undo(desk: Desk, _: Caller, names: Names, asked: wire.EndAsked) -> RollBackReport:
    """Undo a roll-back."""
    return await (await _taint(desk, names)).undo(names["roll_back_id"], reason=asked.reason)


@handlers.does(wire.CONFIRM)
async def confirm(desk: Desk, _: Caller, names: Names, asked: wire.EndAsked) -> RollBackReport:
    """Confirm a roll-back."""
    return await (await _taint(desk, names)).confirm(names["roll_back_id"], reason=asked.reason)

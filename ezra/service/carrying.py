"""Does what is asked of graphs that are read out and put in."""

from __future__ import annotations

from collections.abc import Mapping

from ..carrying import CarriedRows
from ..wire import carrying as wire
from .caller import Caller
from .desk import Desk
from .handlers import handlers

Names = Mapping[str, str]


@handlers.does(wire.EXPORT_ROWS)
async def export_rows(
    desk: Desk, _: Caller, names: Names, asked: wire.ExportRowsAsked
) -> CarriedRows:
    """Return rows of a graph."""
    return await (await desk.graph(names["graph_id"])).export_rows(**asked.said)


@handlers.does(wire.IMPORT_ROWS)
async def import_rows(desk: Desk, _: Caller, names: Names, asked: wire.ImportRowsAsked) -> int:
    """Put rows of a graph in."""
    return await desk.ezra.import_rows(names["graph_id"], asked.table, asked.rows)

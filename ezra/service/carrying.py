"""Does what is asked of graphs that are read out and put in."""

from __future__ import annotations

from collections.abc import Mapping

from tiers.records import SessionGraph

from ..moving.carrying import record_of
from ..wire import carrying as wire
from .caller import Caller
from .desk import Desk
from .handlers import handlers

Names = Mapping[str, str]


@handlers.does(wire.IMPORT_ROWS)
async def import_rows(desk: Desk, caller: Caller, names: Names, asked: wire.ImportRowsAsked) -> int:
    """Put rows of a graph in, which inherits from no graph that the caller may not read."""
    if asked.table == "graphs" and caller.graph_id is not None:
        for place, row in enumerate(asked.rows):
            record = record_of(asked.table, row, place)
            for parent in record.inherits_from if isinstance(record, SessionGraph) else ():
                caller.check(wire.IMPORT_ROWS.needs, wire.IMPORT_ROWS.name, parent, None)
    return await desk.ezra.import_rows(names["graph_id"], asked.table, asked.rows)

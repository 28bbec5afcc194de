"""What came of a poisoned record, and the roll-backs of a graph; nothing is changed from here."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ...handles.graph import Graph
from .pages import Query, View, Word, pages

NODES_PER_PAGE = 100
ITEMS_SHOWN = 100
AFTER_MAX = 1_000_000


class TaintQuery(Query):
    """Which record, and which page of its tree."""

    record: Word | None = None
    after: Annotated[int, Field(ge=0, le=AFTER_MAX)] = 0


@pages.page("/graphs/{graph_id}/taint", needs="read", label="Taint", key="x")
async def taint(graph: Graph, asked: TaintQuery) -> View:
    """Show the tree of a record, and every roll-back of the graph."""
    found = None
    if asked.record is not None:
        found = await graph.taint.trace(asked.record, limit=NODES_PER_PAGE, after=asked.after)
    values = {
        "asked": asked,
        "found": found,
        "roll_backs": await graph.taint.roll_backs(),
        "items_shown": ITEMS_SHOWN,
    }
    return View("taint.html", values, f"Taint in {graph.id}")

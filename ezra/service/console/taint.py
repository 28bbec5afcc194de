"""What poisons a graph: what came of a record, the roll-backs, and what the write guard put aside.

Of taint nothing is changed from here; what is aside is looked at, released or discarded.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ...handles.graph import Graph
from ..caller import Caller
from .decisions import ReasonAsked
from .pages import Query, Sent, View, Word, href, pages

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


TEXTS_PER_PAGE = 50


class WaitingAsked(Query):
    """Behind which text."""

    after: str = ""


@pages.page("/graphs/{graph_id}/quarantine", needs="read", label="Quarantine", key="q")
async def waiting(caller: Caller, graph: Graph, asked: WaitingAsked) -> View:
    """Show the texts that wait for a decision."""
    texts = await graph.quarantine.list(after=asked.after, limit=TEXTS_PER_PAGE + 1)
    shown = texts[:TEXTS_PER_PAGE]
    values = {
        "texts": shown,
        "may_decide": caller.may("operate", graph.id),
        "cursor": shown[-1].id if len(texts) > TEXTS_PER_PAGE else None,
    }
    return View("quarantine.html", values, "Quarantine")


@pages.action("/graphs/{graph_id}/quarantine/{text_id}/release", needs="operate")
async def release(graph: Graph, text_id: str, asked: ReasonAsked) -> Sent:
    """Store a text after all."""
    await graph.quarantine.release(text_id, reason=asked.reason)
    return Sent(href("graphs", graph.id, "quarantine"))


@pages.action("/graphs/{graph_id}/quarantine/{text_id}/discard", needs="operate")
async def discard(graph: Graph, text_id: str, asked: ReasonAsked) -> Sent:
    """Throw a text away."""
    await graph.quarantine.discard(text_id, reason=asked.reason)
    return Sent(href("graphs", graph.id, "quarantine"))

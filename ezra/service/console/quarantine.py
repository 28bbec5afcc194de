"""What the write guard of a graph has put aside: looked at, released or discarded."""

from __future__ import annotations

from ...handles.graph import Graph
from ..caller import Caller
from .decisions import ReasonAsked
from .pages import Query, Sent, View, href, pages

TEXTS_PER_PAGE = 50


class WaitingAsked(Query):
    """Behind which text."""

    after: str = ""


@pages.page("/graphs/{graph_id}/quarantine", needs="read", label="Quarantine", key="q")
async def waiting(caller: Caller, graph: Graph, asked: WaitingAsked) -> View:
    """Show the texts that wait for a decision."""
    texts = await graph.quarantine.list(after=asked.after, limit=TEXTS_PER_PAGE)
    values = {
        "texts": texts,
        "may_decide": caller.may("operate", graph.id),
        "cursor": texts[-1].id if len(texts) == TEXTS_PER_PAGE else None,
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

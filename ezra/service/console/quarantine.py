"""What the write guard of a graph has put aside: looked at, released or discarded."""

from __future__ import annotations

from ..caller import Caller
from ..desk import Desk
from .decisions import ReasonAsked
from .pages import Names, Query, Sent, View, href, pages

TEXTS_PER_PAGE = 50


class WaitingAsked(Query):
    """Behind which text."""

    after: str = ""


@pages.page("/graphs/{graph_id}/quarantine", needs="read", label="Quarantine", key="q")
async def waiting(desk: Desk, caller: Caller, names: Names, asked: WaitingAsked) -> View:
    """Show the texts that wait for a decision."""
    graph = await desk.graph(names["graph_id"])
    texts = await graph.quarantine.list(after=asked.after, limit=TEXTS_PER_PAGE)
    values = {
        "texts": texts,
        "may_decide": caller.may("operate", names["graph_id"]),
        "cursor": texts[-1].id if len(texts) == TEXTS_PER_PAGE else None,
    }
    return View("quarantine.html", values, "Quarantine")


@pages.action("/graphs/{graph_id}/quarantine/{text_id}/release", needs="operate")
async def release(desk: Desk, _: Caller, names: Names, asked: ReasonAsked) -> Sent:
    """Store a text after all."""
    graph = await desk.graph(names["graph_id"])
    await graph.quarantine.release(names["text_id"], reason=asked.reason)
    return Sent(href("graphs", graph.id, "quarantine"))


@pages.action("/graphs/{graph_id}/quarantine/{text_id}/discard", needs="operate")
async def discard(desk: Desk, _: Caller, names: Names, asked: ReasonAsked) -> Sent:
    """Throw a text away."""
    graph = await desk.graph(names["graph_id"])
    await graph.quarantine.discard(names["text_id"], reason=asked.reason)
    return Sent(href("graphs", graph.id, "quarantine"))

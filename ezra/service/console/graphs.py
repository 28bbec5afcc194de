"""Graphs and how they inherit; one graph with its members, its budget and its branches."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import Field

from tiers.errors import NotFound
from tiers.records import AgentRecord, GraphState, Parent, SessionGraph

from ...handles.graph import Graph
from ..caller import Caller
from ..handle_pool import HandlePool
from .layout import Drawing, Link, around, layered, sheets
from .pages import Query, View, paged, pages

PAGE = 50
DRAWN_MAX = 60
"""So many graphs are on one sheet of the drawing."""

NEAR_MAX = 24
MEMBERS_PAGE = 100
BRANCHES_MAX = 20


class GraphsAsked(Query):
    """Which graphs, and from which on."""

    q: str = Field(default="", max_length=256)
    state: GraphState | None = None
    after: Annotated[int, Field(ge=0)] = 0
    sheet: Annotated[int, Field(ge=0)] = 0


class MembersAsked(Query):
    """From which member on."""

    after: Annotated[int, Field(ge=0)] = 0


@pages.page("/graphs", needs="read", label="Graphs", key="g")
async def all_graphs(pool: HandlePool, query: GraphsAsked) -> View:
    """Show graphs as a drawing, sheet by sheet, and as a list."""
    graphs = await pool.ezra.session_graphs()
    values = {**_listed(graphs, query), **_drawn_sheet(graphs, query.sheet)}
    return View("graphs.html", {**values, "query": query}, "Graphs")


@pages.page("/graphs-list", needs="read")
async def listed(pool: HandlePool, query: GraphsAsked) -> View:
    """Show the list as it is typed for."""
    values = _listed(await pool.ezra.session_graphs(), query)
    return View("graphs_list.html", {**values, "query": query})


@pages.page("/graphs-rows", needs="read")
async def rows(pool: HandlePool, query: GraphsAsked) -> View:
    """Show the next graphs of the list."""
    values = _listed(await pool.ezra.session_graphs(), query)
    return View("graphs_rows.html", {**values, "query": query})


@pages.page("/graphs/{graph_id}", needs="read", label="Graph", key="m")
async def one_graph(pool: HandlePool, caller: Caller, graph: Graph, query: MembersAsked) -> View:
    """Show one graph."""
    graphs = await pool.ezra.session_graphs()
    if caller.graph_id is not None:  # such a token is told of no other graph
        graphs = tuple(one for one in graphs if one.id == caller.graph_id)
    record = next((one for one in graphs if one.id == graph.id), None)
    if record is None:
        raise NotFound("session graph", graph.id)
    status, usage = await asyncio.gather(graph.status(), graph.usage_by_agent())
    links = _links(graphs)
    near = around(graph.id, [one.id for one in graphs], links, NEAR_MAX)
    values = {
        "graph": record,
        "status": status,
        "usage": usage,
        "origin": await graph.beliefs.origin(),
        "parents": [(one, carried(one)) for one in record.parents],
        "branches": await _branches(pool, graphs, graph.id),
        "near": _drawn(graphs, near, graph.id) if len(near) > 1 else None,
        **_members(graph.id, await graph.agents(), query.after),
    }
    return View("graphs_one.html", values, graph.id)


@pages.page("/graphs/{graph_id}/live", needs="read")
async def one_live(graph: Graph) -> View:
    """Show what each tier holds for one graph."""
    return View("graphs_sizes.html", {"status": await graph.status()})


@pages.page("/graphs/{graph_id}/members", needs="read")
async def next_members(graph: Graph, query: MembersAsked) -> View:
    """Show the next members of a graph."""
    members = _members(graph.id, await graph.agents(), query.after)
    return View("graphs_members.html", {"usage": await graph.usage_by_agent(), **members})


def _listed(graphs: Sequence[SessionGraph], query: GraphsAsked) -> Mapping[str, object]:
    """Return one page of the graphs that are wanted, the latest first."""
    wanted = [
        graph
        for graph in reversed(graphs)
        if query.q.casefold() in graph.id.casefold() and query.state in (None, graph.state)
    ]
    said = {"q": query.q, "state": query.state and query.state.value, "after": query.after + PAGE}
    found = wanted[query.after :]
    listed = paged(found, PAGE, ("graphs",), ("graphs-rows",), lambda _: said)
    return {**listed, "found": len(wanted), "count": len(graphs)}


def _members(graph_id: str, records: Sequence[AgentRecord], after: int) -> Mapping[str, object]:
    """Return one page of a graph's members: those present first, then as they came."""
    ordered = sorted(records, key=lambda one: one.left_at is not None)
    said, here = {"after": after + MEMBERS_PAGE}, ("graphs", graph_id)
    return {
        **paged(ordered[after:], MEMBERS_PAGE, here, (*here, "members"), lambda _: said),
        "present": sum(one.left_at is None for one in records),
        "member_count": len(records),
    }


def _drawn_sheet(graphs: Sequence[SessionGraph], wanted: int) -> Mapping[str, object]:
    """Return one sheet of the drawing, those with most graphs first."""
    links = _links(graphs)
    found = sheets([graph.id for graph in graphs], links, DRAWN_MAX)
    if not found:
        return {"drawing": None, "sheets": 0, "sheet": 0, "cut": 0}
    which = min(wanted, len(found) - 1)
    shown = set(found[which])
    return {
        "drawing": _drawn(graphs, found[which]),
        "sheets": len(found),
        "sheet": which,
        "cut": sum((parent in shown) != (child in shown) for parent, child in links),
    }


def _drawn(
    graphs: Sequence[SessionGraph], shown: Sequence[str], centre: str | None = None
) -> Mapping[str, object]:
    """Return what a drawing is made of: where everything is, and what it says."""
    drawing: Drawing = layered(shown, _links(graphs))
    by_id = {graph.id: graph for graph in graphs}
    parents = {(one.id, graph.id): one for graph in graphs for one in graph.parents}
    return {
        "drawing": drawing,
        "boxes": [(box, by_id[box.id]) for box in drawing.boxes],
        "lines": [
            (line, parents[line.parent, line.child], carried(parents[line.parent, line.child]))
            for line in drawing.lines
        ],
        "centre": centre,
    }


def _links(graphs: Sequence[SessionGraph]) -> list[Link]:
    return [(parent.id, graph.id) for graph in graphs for parent in graph.parents]


async def _branches(
    pool: HandlePool, graphs: Sequence[SessionGraph], graph_id: str
) -> list[tuple[SessionGraph, int]]:
    """Return the branches of a graph among those that inherit from it, the latest first."""
    heirs = [one for one in reversed(graphs) if graph_id in one.inherits_from]
    found: list[tuple[SessionGraph, int]] = []
    for heir in heirs[:BRANCHES_MAX]:
        left = await (await pool.graph(heir.id)).beliefs.origin()
        if left is not None and left.graph_id == graph_id:
            found.append((heir, left.turn))
    return found


def carried(parent: Parent) -> str:
    """Return what comes through a link, in words."""
    kinds = ["core facts", *(["rules"] if parent.rules else [])]
    kinds += ["episodes"] * parent.episodes + ["archival facts"] * parent.archival
    return ", ".join(kinds)

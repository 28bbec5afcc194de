"""Everything that is held of a person, and erasing it: for those who answer to the person.

A name travels in the body of a form, as a question does: addresses are kept by proxies.
"""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Literal

from pydantic import Field

from tiers.records import Text

from ...erasure.holdings import HeldRecord
from ...handles.graph import Graph
from ..caller import Caller
from ..handle_pool import HandlePool
from .pages import Name, Query, View, pages

RECORDS_PER_PAGE = 200
PAGES_LOOKED_THROUGH_MAX = 20
READINGS_SHOWN_MAX = 500
GRAPHS_MAX = 200
"""Of so many graphs the tenant's page counts what they hold; the others are named as left out."""

By = Literal["subject", "user_id", "agent_id"]


class SubjectAsked(Query):
    """Who, and from where on."""

    name: Name
    by: By = "subject"
    cursor: Annotated[str, Field(max_length=10_000)] = ""


class EraseAsked(Query):
    """Who, and why; ``confirmed`` is the name once more, typed by a person."""

    name: Name
    by: By = "subject"
    reason: Text
    confirmed: Name


@pages.page("/graphs/{graph_id}/subject", needs="read", label="Person", key="n")
async def form(caller: Caller, graph: Graph) -> View:
    """Ask whom the page is about."""
    return _view(caller, graph, None)


@pages.question("/graphs/{graph_id}/subject", needs="read")
async def held(caller: Caller, graph: Graph, asked: SubjectAsked) -> View:
    """Show what the graph holds of somebody: what an erasure would redact."""
    return await _held(caller, graph, asked)


async def _held(caller: Caller, graph: Graph, asked: SubjectAsked, problem: str = "") -> View:
    records, cursor = list[HeldRecord](), asked.cursor
    for _ in range(PAGES_LOOKED_THROUGH_MAX):
        page = await graph.holding(
            **{asked.by: asked.name}, cursor=cursor, limit=RECORDS_PER_PAGE - len(records)
        )
        records += page.records
        cursor = page.cursor or ""
        if not cursor or len(records) >= RECORDS_PER_PAGE:
            break
    return _view(caller, graph, asked, records=records, cursor=cursor, problem=problem)


@pages.action("/graphs/{graph_id}/subject/erase", needs="operate")
async def erase(caller: Caller, graph: Graph, asked: EraseAsked) -> View:
    """Erase it, and show the receipt."""
    whom = SubjectAsked(name=asked.name, by=asked.by)
    if asked.confirmed != asked.name:
        return await _held(caller, graph, whom, "The name typed to confirm is another one.")
    report = await graph.erase(**{asked.by: asked.name}, reason=asked.reason)
    receipt = "" if report.receipt is None else report.receipt.model_dump_json(indent=2)
    return _view(caller, graph, whom, report=report, receipt=receipt)


@pages.page("/graphs/{graph_id}/records/{record_id}/readings", needs="read")
async def readings(graph: Graph, record_id: str) -> View:
    """Show who was shown a record, and when."""
    found = await graph.readings(record_id, limit=READINGS_SHOWN_MAX)
    return View("readings.html", {"found": found}, "Who read it")


@pages.page("/subject", needs="read", label="Person", key="e")
async def tenant_form(caller: Caller) -> View:
    """Ask whom to look for in every graph."""
    return _view(caller, None, None, graphs=())


@pages.question("/subject", needs="read")
async def everywhere(pool: HandlePool, caller: Caller, asked: SubjectAsked) -> View:
    """Count what each graph of the tenant holds of somebody."""
    every = await pool.ezra.session_graphs()
    graphs: list[tuple[str, Counter[str], bool]] = []
    for one in every[:GRAPHS_MAX]:
        graph = await pool.graph(one.id)
        page = await graph.holding(**{asked.by: asked.name}, limit=RECORDS_PER_PAGE)
        if page.records or page.cursor:
            kinds = Counter(record.kind for record in page.records)
            graphs.append((one.id, kinds, page.cursor is None))
    left_out = max(0, len(every) - GRAPHS_MAX)
    return _view(caller, None, asked, graphs=graphs, left_out=left_out)


def _view(
    caller: Caller, graph: Graph | None, asked: SubjectAsked | None, **values: object
) -> View:
    may_erase = graph is not None and caller.may("operate", graph.id)
    empty = {"records": (), "cursor": "", "report": None, "receipt": "", "problem": ""}
    known = {"graphs": None, "left_out": 0, "may_erase": may_erase}
    return View("subject.html", {"asked": asked, **empty, **known, **values}, "Person")

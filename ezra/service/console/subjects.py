"""Everything that is held of a person, and erasing it: for those who answer to the person.

A name travels in the body of a form, as a question does: addresses are kept by proxies.
"""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from tiers.fields import NAME_CHARS_MAX
from tiers.records import Text

from ...erasure.holdings import HeldRecord
from ..caller import Caller
from ..desk import Desk
from .pages import Names, Query, View, pages

RECORDS_PER_PAGE = 200
PAGES_LOOKED_THROUGH_MAX = 20
READINGS_SHOWN_MAX = 500
GRAPHS_MAX = 200
"""Of so many graphs the tenant's page counts what they hold; the others are named as left out."""

By = Literal["subject", "user_id", "agent_id"]
Name = Annotated[
    str, StringConstraints(min_length=1, max_length=NAME_CHARS_MAX, strip_whitespace=True)
]


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
async def form(desk: Desk, caller: Caller, names: Names, _: Query) -> View:
    """Ask whom the page is about."""
    await desk.graph(names["graph_id"])
    return _view(caller, names, None)


@pages.question("/graphs/{graph_id}/subject", needs="read")
async def held(desk: Desk, caller: Caller, names: Names, asked: SubjectAsked) -> View:
    """Show what the graph holds of somebody: what an erasure would redact."""
    graph = await desk.graph(names["graph_id"])
    records, cursor = list[HeldRecord](), asked.cursor
    for _ in range(PAGES_LOOKED_THROUGH_MAX):
        page = await graph.holding(
            **{asked.by: asked.name}, cursor=cursor, limit=RECORDS_PER_PAGE - len(records)
        )
        records += page.records
        cursor = page.cursor or ""
        if not cursor or len(records) >= RECORDS_PER_PAGE:
            break
    return _view(caller, names, asked, records=records, cursor=cursor)


@pages.action("/graphs/{graph_id}/subject/erase", needs="operate")
async def erase(desk: Desk, caller: Caller, names: Names, asked: EraseAsked) -> View:
    """Erase it, and show the receipt."""
    whom = SubjectAsked(name=asked.name, by=asked.by)
    if asked.confirmed != asked.name:
        return _view(caller, names, whom, problem="The name typed to confirm is another one.")
    graph = await desk.graph(names["graph_id"])
    report = await graph.erase(**{asked.by: asked.name}, reason=asked.reason)
    receipt = "" if report.receipt is None else report.receipt.model_dump_json(indent=2)
    return _view(caller, names, whom, report=report, receipt=receipt)


@pages.page("/graphs/{graph_id}/records/{record_id}/readings", needs="read")
async def readings(desk: Desk, caller: Caller, names: Names, _: Query) -> View:
    """Show who was shown a record, and when."""
    graph = await desk.graph(names["graph_id"], caller)
    found = await graph.readings(names["record_id"], limit=READINGS_SHOWN_MAX)
    return View("readings.html", {"found": found}, "Who read it")


@pages.page("/subject", needs="read", label="Person", key="e")
async def tenant_form(_: Desk, caller: Caller, names: Names, __: Query) -> View:
    """Ask whom to look for in every graph."""
    return _view(caller, names, None, graphs=())


@pages.question("/subject", needs="read")
async def everywhere(desk: Desk, caller: Caller, names: Names, asked: SubjectAsked) -> View:
    """Count what each graph of the tenant holds of somebody."""
    every = await desk.ezra.session_graphs()
    graphs: list[tuple[str, Counter[str], bool]] = []
    for one in every[:GRAPHS_MAX]:
        graph = await desk.graph(one.id)
        page = await graph.holding(**{asked.by: asked.name}, limit=RECORDS_PER_PAGE)
        if page.records or page.cursor:
            kinds = Counter(record.kind for record in page.records)
            graphs.append((one.id, kinds, page.cursor is None))
    left_out = max(0, len(every) - GRAPHS_MAX)
    return _view(caller, names, asked, graphs=graphs, left_out=left_out)


def _view(caller: Caller, names: Names, asked: SubjectAsked | None, **values: object) -> View:
    empty = {"records": (), "cursor": "", "report": None, "receipt": "", "problem": ""}
    known = {"graphs": None, "left_out": 0, "may_erase": _may_erase(caller, names)}
    return View("subject.html", {"asked": asked, **empty, **known, **values}, "Person")


def _may_erase(caller: Caller, names: Names) -> bool:
    """Return whether a caller may erase from the graph of the page; nothing is asked of memory."""
    graph_id = names.get("graph_id")
    return graph_id is not None and caller.may("operate", graph_id)

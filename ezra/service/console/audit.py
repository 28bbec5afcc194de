"""The audit feed: who did what, when and why, filtered, paged from its end, and live."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import AfterValidator

from tiers.fields import AUDIT_KINDS
from tiers.records import AuditEvent, AuditFilter, kind_of_event

from ..handle_pool import HandlePool
from ..taking import Names
from .pages import LATEST, Count, FormTime, Number, Query, View, Word, href, paged, pages

EVENTS_PER_PAGE = 50
NEW_MAX = 100


class AuditQuery(Query):
    """Which events of the feed, before a number of the page before, or behind the newest seen."""

    kind: Annotated[Word, AfterValidator(kind_of_event)] | None = None
    agent: Word | None = None
    record: Word | None = None
    graph: Word | None = None
    since: FormTime | None = None
    until: FormTime | None = None
    before: Number | None = None
    after: Count = 0

    def only(self, before: int | None) -> AuditFilter:
        """Return which events are wanted, the last ones before a number first."""
        return AuditFilter(
            kinds=() if self.kind is None else (self.kind,),
            graph_id=self.graph,
            agent_id=self.agent,
            record_id=self.record,
            since=self.since,
            until=self.until,
            before=before,
        )

    @property
    def parameters(self) -> dict[str, object]:
        """The filter, as an address says it."""
        named = {name: getattr(self, name) for name in ("kind", "agent", "record", "graph")}
        spans = {"since": self.since, "until": self.until}
        return named | {name: at.isoformat() for name, at in spans.items() if at is not None}


@pages.rows("/audit/rows", "audit_rows.html")
@pages.page("/audit", needs="read", label="Audit", key="a")
async def tenant_feed(pool: HandlePool, names: Names, query: AuditQuery) -> View:
    """Show the tenant's feed."""
    return View("audit.html", await _page(pool, names, query), "Audit feed")


@pages.rows("/graphs/{graph_id}/audit/rows", "audit_rows.html")
@pages.page("/graphs/{graph_id}/audit", needs="read", label="Audit", key="l")
async def graph_feed(pool: HandlePool, names: Names, query: AuditQuery) -> View:
    """Show a graph's feed."""
    return View("audit.html", await _page(pool, names, query), f"Audit feed of {names['graph_id']}")


@pages.page("/audit/new", needs="read")
@pages.page("/graphs/{graph_id}/audit/new", needs="read")
async def new(pool: HandlePool, names: Names, query: AuditQuery) -> View:
    """Return what happened in the tenant, or in a graph, since the page was opened."""
    found = await _read(pool, names, query.after, NEW_MAX + 1, query.only(LATEST))
    again = href(*_place(names), **query.parameters) if len(found) > NEW_MAX else None
    values = {**_frame(names, query), "rows": found[:NEW_MAX], "again": again}
    return View("audit_new.html", values)


async def _page(pool: HandlePool, names: Names, query: AuditQuery) -> dict[str, object]:
    """Return one page from the end of the feed."""
    last = await _read(pool, names, 0, 1, AuditFilter(before=LATEST))
    newest = _number(last[0], names) if last else 0
    # What comes behind the newest from now on is of the live part, and of it alone.
    only = query.only(query.before or newest + 1)
    found = await _read(pool, names, 0, EVENTS_PER_PAGE + 1, only)
    place = _place(names)

    def behind(event: AuditEvent) -> dict[str, object]:
        return {"before": _number(event, names), **query.parameters}

    return {
        **_frame(names, query),
        **paged(found, EVENTS_PER_PAGE, place, (*place, "rows"), behind),
        "kinds": AUDIT_KINDS,
        "live": href(*place, "new", after=newest, **query.parameters),
    }


async def _read(
    pool: HandlePool, names: Names, after: int, limit: int, only: AuditFilter
) -> Sequence[AuditEvent]:
    graph_id = names.get("graph_id")
    if graph_id is None:
        return await pool.ezra.audit(after, limit, only=only)
    return await (await pool.graph(graph_id)).audit(after, limit, only=only)


def _place(names: Names) -> tuple[str, ...]:
    return ("graphs", names["graph_id"], "audit") if "graph_id" in names else ("audit",)


def _frame(names: Names, query: AuditQuery) -> dict[str, object]:
    return {"asked": query, "here": href(*_place(names)), "is_of_graph": "graph_id" in names}


def _number(event: AuditEvent, names: Names) -> int:
    """Return by which number of an event the feed is paged."""
    return event.seq if "graph_id" in names else event.position

"""The front of the console: what there is, whether the tiers answer, what waits, what went on.

The last minutes come from what the server counts of itself; days, and what waits, from the audit
feed and the handles of the graphs that it names. Everything is bounded, and says so.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from tiers.errors import NotFound
from tiers.records import AgentRecord, AuditEvent, AuditFilter, SessionGraph

from ...moving.graph_status import GraphStatus
from ..caller import Caller
from ..handle_pool import HandlePool
from .charts import LineChart, line_chart
from .pages import LATEST, Query, Sent, View, href, pages
from .sampling import COUNTERS, Sample, sampler_of
from .upkeep import latency_chart

DAYS = 14
EVENTS_MAX = 2_000
"""So many events of the feed are counted, the latest."""

GRAPHS_ASKED_MAX = 20
"""So many graphs are asked what waits in them."""

WAITING_MAX = 100
BY_DAY: Mapping[str, tuple[str, ...]] = {
    "beliefs": ("committed",),
    "contradictions": ("contradiction",),
    "promotions": ("promoted",),
    "superseded": ("superseded", "deduplicated", "corrected"),
    "forgotten": ("forgotten", "redacted"),
    "put aside": ("quarantined",),
}
"""What is counted by day, and which events of the audit feed tell it."""

_WAITS = ("quarantined", "rolled back", "reconciliation")
_BAR, _GAP, HEIGHT = 8, 2, 30


@dataclass(frozen=True)
class Minutes:
    """The last minutes.

    Attributes:
        chart: How many of each came in each minute.
        rows: The same as a table: the minute, and the counts in the order of ``names``.
        names: What is counted.
    """

    chart: LineChart
    rows: tuple[tuple[datetime, tuple[int, ...]], ...]
    names: tuple[str, ...]


@dataclass(frozen=True)
class Bar:
    """A day of a small picture."""

    x: int
    y: float
    height: float
    day: date
    count: int


@dataclass(frozen=True)
class Days:
    """The last days.

    Attributes:
        bars: A small picture for each thing that is counted.
        rows: The same as a table: the day, and the counts in the order of ``bars``.
        is_all: Whether no event was left out.
        width: Of each picture.
    """

    bars: Mapping[str, tuple[Bar, ...]]
    rows: tuple[tuple[date, tuple[int, ...]], ...]
    is_all: bool
    width: int = DAYS * (_BAR + _GAP) - _GAP


@dataclass(frozen=True)
class Waits:
    """What waits for a person in one graph.

    Attributes:
        graph_id: Which.
        aside: Texts in quarantine, ``WAITING_MAX`` at most.
        rolled_back: Roll-backs that are neither confirmed nor undone.
        both_stand: Contradictions of the last days in which both sides stand, at most as many as
            the feed was read for.
    """

    graph_id: str
    aside: int
    rolled_back: int
    both_stand: int


@dataclass(frozen=True)
class Fleet:
    """The agents of one graph.

    Attributes:
        graph: Which.
        present: How many are there.
        silent: How many were let go because they fell silent.
        left: How many left.
        seen_at: The last sign of life of any.
    """

    graph: SessionGraph
    present: int
    silent: int
    left: int
    seen_at: datetime | None


def minutes_of(samples: Sequence[Sample]) -> Minutes:
    """Return what came in each minute of the samples. Pure."""
    names = tuple(COUNTERS)
    by_minute: dict[datetime, Counter[str]] = {}
    for sample in samples:
        minute = sample.at.replace(second=0, microsecond=0)
        by_minute.setdefault(minute, Counter()).update(
            {name: int(sample.come.get(name, 0)) for name in names}
        )
    ordered = sorted(by_minute.items())
    series = {name: [float(counts[name]) for _, counts in ordered] for name in names}
    chart = line_chart([at for at, _ in ordered], series, 4.0)
    rows = tuple((at, tuple(counts[name] for name in names)) for at, counts in ordered)
    return Minutes(chart, rows[::-1], names)


def days_of(events: Sequence[AuditEvent], today: date, *, is_all: bool) -> Days:
    """Return what the feed tells of the last days. Pure."""
    days = [today - timedelta(days=DAYS - 1 - one) for one in range(DAYS)]
    counts = Counter((event.kind, event.recorded_at.date()) for event in events)
    by_name = {
        name: [sum(counts[kind, day] for kind in kinds) for day in days]
        for name, kinds in BY_DAY.items()
    }
    bars = {name: _bars(days, found) for name, found in by_name.items()}
    rows = tuple(
        (day, tuple(found[place] for found in by_name.values())) for place, day in enumerate(days)
    )
    return Days(bars, rows[::-1], is_all)


def fleet_of(graph: SessionGraph, members: Sequence[AgentRecord]) -> Fleet:
    """Return how the agents of a graph are. Pure."""
    silent = sum(one.released for one in members)
    left = sum(one.left_at is not None for one in members)
    seen = max((one.seen_at for one in members), default=None)
    return Fleet(graph, len(members) - left, silent, left - silent, seen)


async def days(pool: HandlePool, now: datetime) -> Days:
    """Return what the audit feed of the tenant tells of the last days."""
    kinds = tuple(kind for kinds in BY_DAY.values() for kind in kinds)
    since = datetime.combine(now.date() - timedelta(days=DAYS - 1), datetime.min.time(), now.tzinfo)
    only = AuditFilter(kinds=kinds, since=since, before=LATEST)
    events = await pool.ezra.audit(limit=EVENTS_MAX, only=only)
    return days_of(events, now.date(), is_all=len(events) < EVENTS_MAX)


async def waits(pool: HandlePool, now: datetime) -> tuple[Waits, ...]:
    """Return what waits for a person, in the graphs that the feed names last."""
    only = AuditFilter(kinds=_WAITS, before=LATEST)
    events = await pool.ezra.audit(limit=EVENTS_MAX, only=only)
    since = now - timedelta(days=DAYS)
    both = Counter(
        event.graph_id
        for event in events
        if event.kind == "reconciliation"
        and event.reason.startswith("both stand")
        and event.recorded_at >= since
    )
    others = [event.graph_id for event in events if event.kind != "reconciliation"]
    asked = list(dict.fromkeys([*others, *both]))[:GRAPHS_ASKED_MAX]
    found = [await _waits_in(pool, graph_id, both[graph_id]) for graph_id in asked]
    return tuple(one for one in found if one and (one.aside or one.rolled_back or one.both_stand))


async def _waits_in(pool: HandlePool, graph_id: str, both_stand: int) -> Waits | None:
    try:
        graph = await pool.graph(graph_id)
    except NotFound:  # what the feed tells of the catalog is no graph to look into
        return None
    aside = await graph.quarantine.list(limit=WAITING_MAX)
    rolled_back = [one for one in await graph.taint.roll_backs() if one.state == "open"]
    return Waits(graph_id, len(aside), len(rolled_back), both_stand)


def _bars(days_shown: Sequence[date], counts: Sequence[int]) -> tuple[Bar, ...]:
    most = max(counts, default=0) or 1
    return tuple(
        Bar(
            place * (_BAR + _GAP),
            round(HEIGHT - HEIGHT * count / most, 2),
            round(HEIGHT * count / most, 2),
            day,
            count,
        )
        for place, (day, count) in enumerate(zip(days_shown, counts, strict=True))
    )


GRAPHS_SHOWN = 8
"""So many of the latest graphs are counted: each one costs a look into every tier."""


class AgentAsked(Query):
    """Which agent of which graph."""

    graph: str
    agent: str


@pages.page("/", needs=None, label="Overview", key="o")
async def overview(pool: HandlePool, caller: Caller) -> View:
    """Show what there is; to whom is bound to less than the tenant, where to go."""
    if not caller.may("read", None):
        return View("overview_bound.html", {}, "Overview")
    values = {**await _sizes(pool), **await _pulse(pool), **await _activity(pool)}
    return View("overview.html", values, "Overview")


@pages.page("/overview/activity", needs="read")
async def activity(pool: HandlePool) -> View:
    """Show what waits for a person, and what went on of late."""
    return View("overview_activity.html", await _activity(pool))


@pages.page("/overview/live", needs="read")
async def live(pool: HandlePool) -> View:
    """Show how the tiers are and what waits."""
    return View("overview_live.html", await _pulse(pool))


@pages.page("/agent", needs=None)
async def agent(query: AgentAsked) -> Sent:
    """Lead to an agent; whether the caller may see it is decided there."""
    return Sent(href("graphs", query.graph, "agents", query.agent))


async def _pulse(pool: HandlePool) -> Mapping[str, object]:
    health, waiting = await asyncio.gather(pool.ezra.health(), pool.ezra.waiting_work())
    parked = waiting.pop("parked", 0)
    return {
        "health": health,
        "waiting": {kind: count for kind, count in waiting.items() if count},
        "parked": parked,
        "reembedding": pool.ezra.reembedding,
        "embedder": pool.ezra.embedder,
    }


async def _activity(pool: HandlePool) -> Mapping[str, object]:
    now = pool.ezra._runtime.clock()  # noqa: SLF001 - no handle tells the time of the runtime
    samples, by_day, waiting_for_us, work = await asyncio.gather(
        sampler_of(pool).look(), days(pool, now), waits(pool, now), pool.ezra.waiting_work()
    )
    return {
        "minutes": minutes_of(samples),
        "latency": latency_chart(samples, "requests", "recalls"),
        "days": by_day,
        "waits": waiting_for_us,
        "parked": work.get("parked", 0),
    }


async def _sizes(pool: HandlePool) -> Mapping[str, object]:
    graphs = await pool.ezra.session_graphs()
    latest = graphs[: -GRAPHS_SHOWN - 1 : -1]
    handles = [await pool.graph(graph.id) for graph in latest]
    statuses: list[GraphStatus] = [await one.status() for one in handles]
    members = [await one.agents() for one in handles]
    return {
        "count": len(graphs),
        "states": Counter(graph.state.value for graph in graphs),
        "latest": list(zip(latest, statuses, strict=True)),
        "fleets": [fleet_of(one, found) for one, found in zip(latest, members, strict=True)],
    }

"""What went on of late, fleets at a glance, and what waits for a person; for the overview.

The last minutes come from what the server counts of itself; days, and what waits, from the audit
feed and the handles of the graphs that it names. Everything is bounded, and says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from tiers.errors import NotFound
from tiers.records import AgentRecord, AuditEvent, AuditFilter, SessionGraph

from ..handle_pool import HandlePool
from .charts import LineChart, line_chart
from .pages import LATEST
from .sampling import COUNTERS, Sample

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

"""Upkeep: every turn accounted for, what is kept how long, what waits, and how fast it all goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from metaagents.lifecycle.conservation import ConservationReport
from metaagents.lifecycle.retirement import RetentionReport
from tiers.errors import NotFound
from tiers.plans import ANY_GRAIN, plan_of
from tiers.records import Retention

from ...handles.graph import Graph
from ...settings import Settings
from ..caller import Caller
from ..handle_pool import HandlePool
from .charts import LineChart, line_chart
from .pages import Query, Sent, View, href, pages
from .sampling import EVERY_SECONDS, KEPT, Sample, kinds_of, sampler_of

COUNTED_AT_ONCE = 5_000
"""A graph of more turns is counted when somebody asks for it: every record of it is read."""

PARKED_SHOWN = 100

DEPTH_LEAST = 4.0
"""So far the scale of the queue reaches at least: items are whole."""

_UNITS = {"h": "hours", "d": "days", "w": "weeks", "mo": "months", "q": "quarters", "y": "years"}


class AccountAsked(Query):
    """Whether to count a large graph."""

    count: bool = False


class RerunAsked(Query):
    """Which parked work to try again."""

    work: tuple[str, ...] = ()


@dataclass(frozen=True)
class Kept:
    """How long something keeps its content, and who says so.

    Attributes:
        what: A grain, or a kind of fact or belief.
        long: In words.
        said_by: ``graph`` or ``settings``.
    """

    what: str
    long: str
    said_by: str


@dataclass(frozen=True)
class Account:
    """A graph's upkeep.

    Attributes:
        turns: How many turns it has.
        conservation: Where they are; ``None`` when nobody counted.
        kept: What is kept how long.
        retention: What a pass would destroy now; ``None`` for who may not run one, and when nobody
            counted.
        may_retain: Whether the caller may run one.
    """

    turns: int
    conservation: ConservationReport | None
    kept: tuple[Kept, ...]
    retention: RetentionReport | None
    may_retain: bool


@pages.page("/graphs/{graph_id}/upkeep", needs="read", label="Upkeep", key="u")
async def graph_upkeep(pool: HandlePool, caller: Caller, graph: Graph, asked: AccountAsked) -> View:
    """Show where every turn of a graph is, and what retention keeps."""
    account = await account_of(pool, caller, graph, is_wanted=asked.count)
    return View("upkeep_graph.html", {"account": account, "most": COUNTED_AT_ONCE}, "Upkeep")


@pages.page("/upkeep", needs="read", label="Work", key="w")
async def work(pool: HandlePool, caller: Caller) -> View:
    """Show the work that waits, what is parked, and recent values as charts."""
    values = {
        **await _charts(pool),
        "parked": (await pool.ezra.parked_work())[:PARKED_SHOWN],
        "may_rerun": caller.may("operate", None),
    }
    return View("upkeep.html", values, "Work")


@pages.page("/upkeep/charts", needs="read")
async def charts(pool: HandlePool) -> View:
    """Show the charts again."""
    return View("upkeep_charts.html", await _charts(pool))


@pages.action("/upkeep/rerun", needs="operate")
async def rerun(pool: HandlePool, asked: RerunAsked) -> Sent:
    """Try parked work again."""
    await pool.ezra.rerun_work(asked.work)
    return Sent(href("upkeep"))


async def account_of(pool: HandlePool, caller: Caller, graph: Graph, *, is_wanted: bool) -> Account:
    """Return a graph's upkeep; of a large graph the counts only when they are wanted.

    Raises:
        NotFound: The graph is gone.
    """
    turns = (await graph.status()).cold.get("turns", 0)
    record = next((one for one in await pool.ezra.session_graphs() if one.id == graph.id), None)
    if record is None:
        raise NotFound("session graph", graph.id)
    is_counted = is_wanted or turns <= COUNTED_AT_ONCE
    may_retain = caller.may("operate", graph.id)
    return Account(
        turns,
        await graph.conservation() if is_counted else None,
        kept_by(record.retention, pool.ezra.settings),
        await graph.retain(dry_run=True) if is_counted and may_retain else None,
        may_retain,
    )


def kept_by(own: Retention, settings: Settings) -> tuple[Kept, ...]:
    """Return what is kept how long: what the graph says, else the settings."""
    plan = plan_of(own.plan or settings.retention_plan)
    by_plan = "graph" if own.plan else "settings"
    rows = []
    for grain in ANY_GRAIN:
        kept = plan.get(grain)
        long = "for ever" if kept is None else f"{kept.amount} {_UNITS[kept.unit]}"
        rows.append(Kept("turns" if grain == "working" else f"{grain} episodes", long, by_plan))
    for name in ("superseded_facts_days", "forgotten_facts_days"):
        days: float | None = getattr(own, name)
        said_by = "settings" if days is None else "graph"
        days = getattr(settings, name) if days is None else days
        rows.append(Kept(name.removesuffix("_days").replace("_", " "), f"{days:g} days", said_by))
    beliefs = "for ever" if own.beliefs_days is None else f"{own.beliefs_days:g} days"
    said_by = "settings" if own.beliefs_days is None else "graph"
    return (*rows, Kept("beliefs that ended", beliefs, said_by))


def depth_chart(samples: Sequence[Sample]) -> LineChart:
    """Return how much work waited, by kind."""
    series = {
        kind: [None if one.waiting is None else float(one.waiting.get(kind, 0)) for one in samples]
        for kind in kinds_of(samples)
    }
    return line_chart([one.at for one in samples], series, DEPTH_LEAST)


def latency_chart(samples: Sequence[Sample], *names: str) -> LineChart:
    """Return how long things took: in the mean, and what most of them stayed below."""
    series = {}
    for name in names:
        series[f"{name}, mean"] = [one.mean_ms[name] for one in samples]
        series[f"{name}, 95 % below"] = [one.slow_ms[name] for one in samples]
    return line_chart([one.at for one in samples], series)


async def _charts(pool: HandlePool) -> dict[str, object]:
    samples = await sampler_of(pool).look()
    latest = samples[-1]
    return {
        "waiting": latest.waiting,
        "depth": depth_chart(samples),
        "latency": latency_chart(samples, "requests", "recalls"),
        "lag": latency_chart(samples, "event loop"),
        "every": int(EVERY_SECONDS),
        "minutes": int(KEPT * EVERY_SECONDS / 60),
    }

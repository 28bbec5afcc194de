"""The front of the console: what there is, whether the tiers answer, and what waits."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping

from ...moving.graph_status import GraphStatus
from ..caller import Caller
from ..handle_pool import HandlePool
from .activity import days, fleet_of, minutes_of, waits
from .pages import Query, Sent, View, href, pages
from .sampling import sampler_of
from .upkeep import latency_chart

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

"""What each tier holds for a session graph, and whether the tiers answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, TypeAlias

from tiers.errors import TierError
from tiers.fleet import CATALOG
from tiers.records import Ancestor, Budget, GraphState, Scope, Usage

from ..runtime import Runtime

ASK_SECONDS = 2.0
"""A tier that takes longer for the least of questions counts as one that does not answer."""

TierState: TypeAlias = Literal["ok", "unavailable"]
HealthState: TypeAlias = Literal["ok", "degraded", "failing"]


@dataclass(frozen=True)
class GraphStatus:
    """What each tier holds for a graph.

    Attributes:
        state: Active, closed or archived.
        agents: Members present.
        hot: Turns in the rings of all members; ``None`` while the hot tier does not answer.
        warm: Entries in the warm index; ``None`` while it does not answer.
        cold: Counts by name: turns, covered_turns, summaries, episodes, facts_core,
            facts_archival, rules, beliefs, waiting_work.
        usage: What the graph has used of its budget.
        budget: Its limits.
        lineage: The graphs it inherits from, nearest first, each with its path.
    """

    state: GraphState
    agents: int
    hot: int | None
    warm: int | None
    cold: dict[str, int]
    usage: Usage
    budget: Budget
    lineage: tuple[Ancestor, ...]


async def status_of(runtime: Runtime, scope: Scope) -> GraphStatus:
    """Return a graph's state and what each tier holds for it."""
    standing = await runtime.membership.of_graph(scope)
    members = await runtime.fleet.agents(scope)

    async def held_hot() -> int:
        rings = [await runtime.hot.read(scope.for_agent(one.id)) for one in members]
        return sum(len(ring.turns) for ring in rings)

    return GraphStatus(
        state=standing.graph.state,
        agents=sum(one.left_at is None for one in members),
        hot=await _if_there(held_hot()),
        warm=await _if_there(runtime.warm.count(scope)),
        cold=await runtime.words.census(scope),
        usage=await runtime.usage.usage(scope),
        budget=standing.graph.budget,
        lineage=standing.lineage,
    )


async def _if_there(call: Awaitable[int]) -> int | None:
    """Return a count, or ``None`` from a tier that is away: the rest is to be seen just then."""
    try:
        return await call
    except TierError:
        return None


@dataclass(frozen=True)
class TierPulse:
    """How a tier answered the least of questions.

    Attributes:
        state: Whether it answered in time.
        milliseconds: How long that took; ``None`` when it did not.
    """

    state: TierState
    milliseconds: float | None


@dataclass(frozen=True)
class Health:
    """How a runtime is.

    Attributes:
        status: ``ok``; ``degraded`` when turns go on without a tier; ``failing`` without cold.
        tiers: Each tier's answer: hot, warm, cold.
        index_age: For how many seconds the oldest record has waited to be indexed, 0 when none
            waits; ``None`` when the cold tier does not say.
    """

    status: HealthState
    tiers: dict[str, TierPulse]
    index_age: float | None = None


async def health_of(runtime: Runtime) -> Health:
    """Ask every tier at once, and return how they answered."""
    scope = Scope.of_graph(runtime.settings.tenant, CATALOG)
    asked: Mapping[str, Callable[[], Awaitable[object]]] = {
        "hot": lambda: runtime.hot.read(scope.for_agent("health")),
        "warm": lambda: runtime.warm.count(scope),
        "cold": lambda: runtime.graphs.graph(scope.tenant, CATALOG),
    }
    felt = await asyncio.gather(*map(_pulse, asked.values()))
    tiers = dict(zip(asked, felt, strict=True))
    age = None
    with suppress(TierError, TimeoutError):
        async with asyncio.timeout(ASK_SECONDS):
            age = await index_age_of(runtime)
    return Health(overall({name: one.state for name, one in tiers.items()}), tiers, age)


async def index_age_of(runtime: Runtime) -> float:
    """Return for how many seconds the oldest record has waited to be indexed; 0 for none."""
    since = await runtime.queue.waiting_since("index", tenant=runtime.settings.tenant)
    return 0.0 if since is None else max(0.0, (runtime.clock() - since).total_seconds())


def overall(tiers: Mapping[str, TierState]) -> HealthState:
    """Return how a runtime is whose tiers are so."""
    if tiers["cold"] != "ok":
        return "failing"
    return "ok" if all(state == "ok" for state in tiers.values()) else "degraded"


async def _pulse(ask: Callable[[], Awaitable[object]]) -> TierPulse:
    started = time.perf_counter()
    try:
        async with asyncio.timeout(ASK_SECONDS):
            await ask()
    except (TierError, TimeoutError):
        return TierPulse("unavailable", None)
    return TierPulse("ok", round(1000 * (time.perf_counter() - started), 3))

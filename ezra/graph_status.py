"""What each tier holds for a session graph."""

from __future__ import annotations

from dataclasses import dataclass

from tiers.records import Ancestor, Budget, GraphState, Scope, Usage

from .parts import Parts


@dataclass(frozen=True)
class GraphStatus:
    """What each tier holds for a graph.

    Attributes:
        state: Active, closed or archived.
        agents: Members present.
        hot: Turns in the rings of all members.
        warm: Entries in the warm index.
        cold: Counts by name: turns, covered_turns, summaries, episodes, facts_core,
            facts_archival, rules, beliefs, waiting_work.
        usage: What the graph has used of its budget.
        budget: Its limits.
        lineage: The graphs it inherits from, nearest first, each with its path.
    """

    state: GraphState
    agents: int
    hot: int
    warm: int
    cold: dict[str, int]
    usage: Usage
    budget: Budget
    lineage: tuple[Ancestor, ...]


async def status_of(parts: Parts, scope: Scope) -> GraphStatus:
    """Return a graph's state and what each tier holds for it."""
    standing = await parts.membership.of_graph(scope)
    members = await parts.fleet.agents(scope)
    rings = [await parts.hot.read(scope.for_agent(one.id)) for one in members]
    return GraphStatus(
        state=standing.graph.state,
        agents=sum(one.left_at is None for one in members),
        hot=sum(len(ring.turns) for ring in rings),
        warm=await parts.warm.count(scope),
        cold=await parts.words.census(scope),
        usage=await parts.usage.usage(scope),
        budget=standing.graph.budget,
        lineage=standing.lineage,
    )

"""What each tier holds for one member of a graph, as those see it who run and audit a fleet."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from tiers.errors import NotFound
from tiers.previews import with_previews
from tiers.records import (
    AgentRecord,
    Commitment,
    MeshResult,
    Scope,
    SearchQuery,
    Summary,
    Turn,
)

from ..checks import checked
from ..runtime import Runtime
from ..turn.rings import ring_has_gap

SUMMARIES_MAX = 20
WAITING_MAX = 50


@dataclass(frozen=True)
class AgentMemory:
    """What each tier holds for one agent; its private records included.

    Attributes:
        agent: Its record.
        ring: The turns in its ring, oldest first; of one that was lost, as after a restart, those
            that its next turn fills it with.
        capacity: How many it holds.
        pinned: Beliefs that the hot tier keeps at hand.
        mesh: The latest result of another source.
        turns: How many turns it ever had.
        waiting: Turns that left the ring and are in no summary yet, oldest first; at most 50.
        summaries: Its live summaries, the latest first; at most 20.
    """

    agent: AgentRecord
    ring: tuple[Turn, ...]
    capacity: int
    pinned: tuple[Commitment, ...]
    mesh: MeshResult | None
    turns: int
    waiting: tuple[Turn, ...]
    summaries: tuple[Summary, ...]


async def memory_of(runtime: Runtime, scope: Scope, agent_id: str) -> AgentMemory:
    """Return what each tier holds for a member of the scope's graph, one that has left included.

    Raises:
        NotFound: The graph never had such a member.
    """
    own = scope.for_agent(agent_id)
    standing = await runtime.membership.of_graph(own)
    if standing.agent is None:
        raise NotFound("agent", agent_id)
    capacity = runtime.settings.ring_capacity
    hot, last, waiting, summaries = await asyncio.gather(
        runtime.hot.read(own),
        runtime.turns.recent_turns(own, 1),
        runtime.turns.waiting_turns(own, capacity, WAITING_MAX),
        _summaries(runtime, own, agent_id),
    )
    ring = hot.turns
    if standing.agent.left_at is None and ring_has_gap(hot, capacity):
        recent = tuple(map(with_previews, await runtime.turns.recent_turns(own, capacity)))
        ring = max(ring, recent, key=len)
    return AgentMemory(
        agent=standing.agent,
        ring=ring,
        capacity=capacity,
        pinned=hot.pinned,
        mesh=hot.mesh,
        turns=last[-1].seq if last else 0,
        waiting=tuple(map(with_previews, waiting)),
        summaries=summaries,
    )


async def _summaries(runtime: Runtime, scope: Scope, agent_id: str) -> tuple[Summary, ...]:
    """Return an agent's live summaries without reading all of them."""
    query = checked(
        SearchQuery,
        text="",
        kinds=("summary",),
        writer_id=agent_id,
        limit=SUMMARIES_MAX,
        now=runtime.clock(),
    )
    found = await runtime.timeline.latest(scope, query)
    if not found:
        return ()
    written = await runtime.episodic.written(scope, [one.id for one in found])
    return tuple(one for one in written if isinstance(one, Summary))

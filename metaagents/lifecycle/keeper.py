"""The keeper of graphs: lets go who fell silent, closes what is deserted, archives what is idle.

Every step is decided by a compare-and-set of the store, so several runtimes may keep the same
graphs: one of them does it, and only that one writes the audit event.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, TypeAlias

from tiers.errors import Conflict, TierError
from tiers.ports import HotStore
from tiers.records import AgentRecord, Departure, GraphState, Scope, SessionGraph, WorkDraft

from .agent import LifecycleAgent
from .states import StatePolicy, is_deserted, is_due_for_archive

if TYPE_CHECKING:
    from tiers.cold.stores import FleetStore, GraphStore, WorkQueue

log = logging.getLogger(__name__)

RELEASED_PER_PASS = 1_000
SILENT_MAX = 10_000

Review: TypeAlias = Callable[[Scope, datetime], Awaitable[object]]
"""Looks through the facts of a graph for the last time."""


@dataclass(eq=False, kw_only=True)
class GraphKeeper:
    """Moves members and graphs from one state to the next.

    Attributes:
        graphs: The graphs.
        fleet: Their members.
        hot: Cleared when a member goes.
        queue: Where what a graph leaves behind is queued for compression.
        lifecycle: Compresses and consolidates before a graph is archived.
        policy: How long silence and idleness last.
        review: Looks through a graph's facts before it is archived.
    """

    graphs: GraphStore
    fleet: FleetStore
    hot: HotStore
    queue: WorkQueue
    lifecycle: LifecycleAgent
    policy: StatePolicy
    review: Review | None = None

    async def leave(
        self, scope: Scope, now: datetime, *, silent_since: datetime | None = None
    ) -> Departure:
        """Let the scope's agent leave, and close the graph behind the last one. Idempotent.

        Args:
            scope: Of the agent.
            now: The current time.
            silent_since: Let it go only if it has shown no sign of life since.
        """
        reason = ""
        if silent_since is not None:
            reason = f"no sign of life since {silent_since:%Y-%m-%dT%H:%M:%SZ} or before"
        departure = await self.fleet.leave(scope, now, silent_since=silent_since, reason=reason)
        if not departure.left:
            return departure
        await self._clear(scope)
        if departure.remaining == 0:
            await self.close_deserted(scope.for_graph(), now)
        return departure

    async def release_silent(
        self, tenant: str, now: datetime, *, held: frozenset[tuple[str, str]] = frozenset()
    ) -> int:
        """Let go of members of any graph that have fallen silent; return how many.

        Args:
            tenant: Of the graphs.
            now: The current time.
            held: Graph and id of members that stay, however silent they are.
        """
        silent_since = self.policy.silent_since(now)
        released = 0
        # Those that stay may be the longest silent of all: they take no place from the others.
        limit = min(RELEASED_PER_PASS + len(held), SILENT_MAX)
        for member in await self.fleet.silent(tenant, silent_since, limit):
            if (member.graph_id, member.id) in held:
                continue
            scope = Scope.of_graph(tenant, member.graph_id).for_agent(member.id)
            departure = await self.leave(scope, now, silent_since=silent_since)
            released += departure.left
        return released

    async def close(self, scope: Scope, now: datetime) -> None:
        """Let every member of the scope's graph leave and close it. Idempotent."""
        whole = scope.for_graph()
        for member in await self.fleet.agents(whole):
            own = whole.for_agent(member.id)
            if member.left_at is None or member.released:
                await self.fleet.leave(own, now, reason="the graph was closed")
        await self.close_deserted(whole, now)

    async def close_deserted(self, scope: Scope, now: datetime) -> bool:
        """Close the scope's graph if nobody is in it: hot is cleared, everything else kept.

        What was still in the rings is queued for compression, so that it lives on in summaries.
        Who spawns meanwhile finds the graph open.
        """
        members = await self.fleet.agents(scope)
        gone = [member for member in members if member.left_at is not None]
        if len(gone) < len(members):
            return False
        for member in gone:
            await self._clear(scope.for_agent(member.id))
        await self.queue.enqueue(scope, _everything(gone), now)
        is_closed = await self.graphs.set_state(
            scope, GraphState.CLOSED, now, only_from=[GraphState.ACTIVE], event="closed"
        )
        if not is_closed:
            return False
        if any(member.left_at is None for member in await self.fleet.agents(scope)):
            # It came after we looked and saw an open graph: it may not find it closed.
            await self.graphs.set_state(
                scope, GraphState.ACTIVE, now, only_from=[GraphState.CLOSED], event="reopened"
            )
            return False
        return True

    async def reopen(self, scope: Scope, now: datetime) -> bool:
        """Open a closed graph again; ``False`` when it is open already.

        Raises:
            Conflict: It is archived: read it, or inherit from it.
        """
        if await self.graphs.set_state(
            scope, GraphState.ACTIVE, now, only_from=[GraphState.CLOSED], event="reopened"
        ):
            return True
        graph = await self.graphs.graph(scope.tenant, scope.graph_id)
        if graph is not None and graph.state is GraphState.ARCHIVED:
            raise Conflict(f"session graph {graph.id!r}", "active or closed", "archived")
        return False

    async def archive(self, scope: Scope, now: datetime) -> bool:
        """Archive the scope's closed graph; ``False`` when it is not closed (any more).

        Its facts are reviewed first, and everything said is compressed and rolled up into episodes
        of every grain; while that is not done, the graph stays closed and a later pass goes on.
        Rings are cleared. Beliefs stay word for word. The graph can be read and inherited from then
        on, not written.
        """
        graph = await self.graphs.graph(scope.tenant, scope.graph_id)
        if graph is None or graph.state is not GraphState.CLOSED:
            return False
        if self.review is not None:
            await self.review(scope, now)
        await self.lifecycle.consolidate(scope, now, everything=True)
        if not await self.lifecycle.is_compact(scope):
            return False
        for member in await self.fleet.agents(scope):
            await self._clear(scope.for_agent(member.id))
        return await self.graphs.set_state(
            scope, GraphState.ARCHIVED, now, only_from=[GraphState.CLOSED], event="archived"
        )

    async def keep(self, graphs: Sequence[SessionGraph], now: datetime) -> None:
        """Close those of the graphs that are deserted and archive those that are idle."""
        for graph in graphs:
            scope = Scope.of_graph(graph.tenant, graph.id)
            if graph.state is GraphState.ACTIVE:
                if is_deserted(graph, await self.fleet.agents(scope)):
                    await self.close_deserted(scope, now)
            elif is_due_for_archive(graph, now, self.policy):
                await self.archive(scope, now)

    async def _clear(self, scope: Scope) -> None:
        """Clear an agent's hot state; while the tier is away it is left to its time to live."""
        try:
            await self.hot.clear(scope.for_graph().for_agent(scope.agent_id or ""))
        except TierError as error:
            log.warning("the ring of %r stays until it expires: %s", scope.agent_id, error)


def everything_of(agent_id: str) -> str:
    """Return the key of the work of compressing all that an agent said, its ring included."""
    return f"{agent_id}/everything"


def _everything(members: Sequence[AgentRecord]) -> list[WorkDraft]:
    return [
        WorkDraft(
            kind="compress",
            key=everything_of(member.id),
            agent_id=member.id,
            payload={"everything": True},
        )
        for member in members
    ]

"""Who is in which graph: spawning, signs of life, and how an agent stands at this moment."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from metaagents.lifecycle.keeper import GraphKeeper
from tiers.errors import Conflict, NotFound, UsageError
from tiers.fields import AuditKind
from tiers.records import AgentRecord, GraphState, Scope, Standing

from ..checks import KNOWN_MAX
from .policy import scope_of

if TYPE_CHECKING:
    from tiers.cold.stores import FleetStore, GraphStore, RecordLog


@dataclass(eq=False, kw_only=True)
class Membership:
    """The members of session graphs that speak through this runtime.

    Attributes:
        graphs: The graphs.
        fleet: Their members.
        events: The audit feed.
        keeper: What follows when somebody leaves.
        clock: Where the time comes from.
        tenant: Of this runtime.
        heartbeat: The longest a member that speaks goes without a sign of life being written.
    """

    graphs: GraphStore
    fleet: FleetStore
    events: RecordLog
    keeper: GraphKeeper
    clock: Callable[[], datetime]
    tenant: str
    heartbeat: timedelta
    _held: Counter[tuple[str, str]] = field(default_factory=Counter, init=False)

    async def spawn(self, agent: AgentRecord) -> Standing:
        """Add a member, or re-attach one of the same id, and return how it stands.

        A closed graph is reopened by it. The member is held here until it is forgotten.

        Raises:
            NotFound: The graph does not exist.
            Conflict: The graph is archived.
        """
        standing = await self._attached(agent)
        self._held[agent.graph_id, agent.id] += 1
        return standing

    async def _attached(self, agent: AgentRecord) -> Standing:
        was_new = await self.fleet.spawn(agent)
        standing = await self._standing(scope_of(agent))
        now = self.clock()
        if standing.graph.state is GraphState.CLOSED:
            await self.keeper.reopen(scope_of(agent), now)
        event: AuditKind = "spawned" if was_new else "reattached"
        reason = f"topics {', '.join(agent.topics) or 'none'}"
        await self.events.append_audit(scope_of(agent), event, (), reason, now)
        return standing

    async def standing(self, agent: AgentRecord) -> Standing:
        """Return how a member stands now: its graph, its record and its ancestors.

        The stored record counts, not the one a handle began with: whoever re-attached the agent
        with other topics has changed them for every handle of it. A member that was let go
        because it was silent, and speaks, is back, unless its graph has been archived meanwhile.

        Raises:
            UsageError: It has left.
            NotFound: Its graph does not exist.
        """
        return await self.seen(agent, await self._standing(scope_of(agent)))

    async def seen(self, agent: AgentRecord, standing: Standing) -> Standing:
        """Take note that a member speaks which stands so, and return how it stands then.

        Raises:
            UsageError: It has left.
        """
        self._check_stays(agent, standing)
        member, now = standing.agent or agent, self.clock()
        if member.released:
            if standing.graph.state is GraphState.ARCHIVED:
                return standing  # it reads what is there; nobody comes back into what is over
            return await self._attached(member.model_copy(update={"seen_at": now}))
        if now - member.seen_at >= self.heartbeat:
            await self.fleet.beat(scope_of(member), [member.id], now)
        return standing

    async def looked_at(self, agent: AgentRecord) -> Standing:
        """Return how a member stands now, for somebody who looks at it: no sign of life of it.

        Raises:
            UsageError: It has left.
            NotFound: Its graph does not exist.
        """
        standing = await self._standing(scope_of(agent))
        self._check_stays(agent, standing)
        return standing

    def _check_stays(self, agent: AgentRecord, standing: Standing) -> None:
        if standing.agent is None or has_left(standing.agent):
            self.forget(agent)
            raise UsageError("agent", agent.id, "an agent that has not left its graph")

    def check_open(self, standing: Standing) -> None:
        """Refuse what begins in a graph that is over.

        Raises:
            Conflict: It is archived.
        """
        if standing.graph.state is GraphState.ARCHIVED:
            what = f"session graph {standing.graph.id!r}"
            raise Conflict(what, "active or closed", "archived")

    async def of_graph(self, scope: Scope) -> Standing:
        """Return how a graph stands now, for whoever acts on the whole of it.

        Raises:
            NotFound: It does not exist.
        """
        return await self._standing(scope)

    async def missing(self, scope: Scope, agent_id: str) -> NotFound:
        """Return the error for a name that is no member of a graph, with one that is near it."""
        known = await self.fleet.agent_names(scope.for_graph(), KNOWN_MAX)
        return await asyncio.to_thread(NotFound("agent", agent_id).beside, known)

    async def leave(self, agent: AgentRecord) -> None:
        """Let a member leave, whoever holds it. Idempotent; the last one closes the graph."""
        self._held.pop((agent.graph_id, agent.id), None)
        await self.keeper.leave(scope_of(agent), self.clock())

    def forget(self, agent: AgentRecord) -> None:
        """Hold a member by one handle less."""
        key = (agent.graph_id, agent.id)
        self._held[key] -= 1
        if self._held[key] <= 0:
            del self._held[key]

    async def is_gone(self, agent: AgentRecord) -> bool:
        """Whether a member has left; asked of the cold tier only where no handle holds it here."""
        if self._held.get((agent.graph_id, agent.id)):
            return False
        standing = await self.graphs.standing(scope_of(agent))
        return standing is None or standing.agent is None or has_left(standing.agent)

    async def scope_at(self, scope: Scope, moment: datetime | None) -> Scope:
        """Return the scope with which to ask about a moment: ancestors are read as they were then.

        One that is pinned to an earlier moment stays there, and one that was not inherited yet is
        not there.
        """
        if moment is None or not scope.lineage:
            return scope
        read = {one.graph_id for one in scope.lineage}
        then = await self.graphs.lineage_at(scope, moment)
        lineage = tuple(one for one in then if one.graph_id in read)
        return scope.model_copy(update={"lineage": lineage})

    def forget_graph(self, graph_id: str) -> None:
        """Hold no member of a graph any more."""
        for key in [key for key in self._held if key[0] == graph_id]:
            del self._held[key]

    async def keep(self) -> None:
        """Let go of members that fell silent, but of none that this process itself holds.

        Who was spawned in this process and not let go lives as long as the process. That is no
        act of its own, so its last sign of life stays where it is.
        """
        await self.keeper.release_silent(self.tenant, self.clock(), held=frozenset(self._held))

    async def _standing(self, scope: Scope) -> Standing:
        standing = await self.graphs.standing(scope)
        if standing is None:
            raise NotFound("session graph", scope.graph_id)
        return standing


def has_left(member: AgentRecord) -> bool:
    """Whether a member left by itself or with its graph; who was let go for silence did not."""
    return member.left_at is not None and not member.released

"""The handle of a session graph: spawn agents, look at what it holds, close it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from tiers.errors import NotFound
from tiers.records import (
    ALL_TOPICS,
    AgentRecord,
    AuditEvent,
    Episode,
    Fact,
    GraphState,
    Kind,
    Receipt,
    Scope,
    SessionGraph,
    Summary,
    Turn,
)

from .agent import Agent
from .asking import ask
from .checks import checked
from .membership import close_graph, spawn
from .parts import Parts
from .recall import RecallResult


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
    """

    state: GraphState
    agents: int
    hot: int
    warm: int
    cold: dict[str, int]


class Graph:
    """N agents that work together, and what they remember."""

    def __init__(self, parts: Parts, record: SessionGraph) -> None:
        self._parts = parts
        self._record = record
        self._scope = Scope(tenant=record.tenant, graph_id=record.id, topics=(ALL_TOPICS,))
        self._spawned: list[Agent] = []

    @property
    def id(self) -> str:
        """The graph's id."""
        return self._record.id

    @property
    def inherits_from(self) -> tuple[str, ...]:
        """The graphs it inherits from directly, in order."""
        return self._record.inherits_from

    async def spawn_agent(
        self,
        agent_id: str,
        *,
        topics: Iterable[str] | None = None,
        role: str = "",
        user_id: str | None = None,
        sources: Iterable[str] | None = None,
    ) -> Agent:
        """Add an agent; one of the same id is re-attached with the new role and topics.

        Args:
            agent_id: Unique in the graph.
            topics: What it may see and write. Without topics it sees untopiced records only;
                ``{"*"}`` is everything.
            role: What it is; part of its system message.
            user_id: The person it works for.
            sources: Mesh sources it may ask; all if not given.
        """
        record = checked(
            AgentRecord,
            tenant=self._record.tenant,
            graph_id=self.id,
            id=agent_id,
            role=role,
            user_id=user_id,
            topics=topics,
            sources=(ALL_TOPICS,) if sources is None else sources,
            spawned_at=self._parts.clock(),
        )
        scope, core = await spawn(self._parts, self._record, record)
        agent = Agent(self._parts, scope, record, core)
        self._spawned.append(agent)
        return agent

    async def agents(self) -> tuple[AgentRecord, ...]:
        """Return all members in order of spawn, those who left included."""
        return await self._parts.graphs.agents(self._scope)

    async def status(self) -> GraphStatus:
        """Return the graph's state and what each tier holds for it."""
        record = await self._parts.graphs.graph(self._record.tenant, self.id)
        if record is None:
            raise NotFound("session graph", self.id)
        members = await self.agents()
        rings = [await self._parts.hot.read(self._scope.for_agent(one.id)) for one in members]
        return GraphStatus(
            state=record.state,
            agents=sum(one.left_at is None for one in members),
            hot=sum(len(ring.turns) for ring in rings),
            warm=await self._parts.warm.count(self._scope),
            cold=await self._parts.words.census(self._scope),
        )

    async def summaries(self) -> tuple[Summary, ...]:
        """Return all shared summaries of the graph, oldest period first."""
        return await self._parts.episodic.summaries(self._scope)

    async def episodes(
        self, since: datetime | None = None, until: datetime | None = None
    ) -> tuple[Episode, ...]:
        """Return all shared episodes that overlap ``[since, until)``, oldest first."""
        return await self._parts.episodic.episodes(self._scope, since, until)

    async def audit(self, after: int = 0, limit: int = 1000) -> tuple[AuditEvent, ...]:
        """Return the graph's audit feed after a ``seq``: ids and reasons, never content."""
        return await self._parts.log.audit(self._scope, after, limit)

    async def receipt(self, receipt_id: str) -> Receipt:
        """Return what a turn saw.

        Raises:
            NotFound: The graph has no such receipt.
        """
        found = await self._parts.log.receipt(self._scope, receipt_id)
        if found is None:
            raise NotFound("receipt", receipt_id)
        return found

    async def recall(
        self, query: str, *, limit: int = 10, kinds: Sequence[Kind] | None = None
    ) -> RecallResult:
        """Return what the graph knows about ``query``, best first, as its operator sees it.

        Every topic is seen, private records are not. No agent is needed; otherwise as
        ``Agent.recall``.
        """
        lineage = await self._parts.graphs.lineage(self._record.tenant, self.id)
        scope = self._scope.model_copy(update={"lineage": lineage})
        return await ask(self._parts, scope, query, limit, kinds)

    async def facts(self, ids: Sequence[str]) -> tuple[Fact, ...]:
        """Return the shared facts among ``ids``, in the order asked."""
        return await self._parts.semantic.facts(self._scope, ids)

    async def turns_by_ref(self, refs: Sequence[str]) -> dict[str, Turn]:
        """Return the stored turns among ``refs``, by ``ref``."""
        return await self._parts.turns.known_refs(self._scope, refs)

    async def close(self) -> None:
        """Let every agent leave and clear hot memory; everything else is kept. Idempotent.

        Spawning an agent later opens the graph again.
        """
        await close_graph(self._parts, self._scope)
        for agent in self._spawned:
            agent.release()
        self._spawned.clear()

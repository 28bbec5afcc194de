"""The handle of a session graph: spawn agents, look at what it holds, close it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Unpack

from metaagents.learning.core import CoreBlock
from metaagents.lifecycle.conservation import ConservationReport
from metaagents.lifecycle.conservation import report as conservation_of
from metaagents.lifecycle.retirement import RetentionReport
from tiers.errors import NotFound, UsageError
from tiers.fields import Word
from tiers.fleet import Inject
from tiers.plans import AnyGrain
from tiers.records import (
    ALL_TOPICS,
    AgentRecord,
    Budget,
    Parent,
    Retention,
    Scope,
    SessionGraph,
    Standing,
    Turn,
    Usage,
)

from ..arguments import checked_name
from ..beliefs.difference import BeliefDiff, diff_of
from ..beliefs.history import History
from ..checks import checked, parent_of
from ..documents import DocumentsOfGraph
from ..erasure.archiving import archive
from ..moving.carrying import GraphRows
from ..moving.graph_status import GraphStatus, status_of
from ..operations import Named, checks_arguments, composed, operation
from ..recall.handle_recall import ask
from ..recall.memory_search import MemorySearch, scope_as, search_memory
from ..recall.request import Answers, DaysAgo, Kinds, Narrowing, ScopeName, request_of
from ..recaller import RecallResult
from ..rights.membership import has_left
from ..rights.policy import scope_of
from ..runtime import Runtime
from ..turn.shadowing import core_seen
from .agent import Agent
from .agent_memory import AgentMemory, memory_of
from .branches import StepTaker, branch, run_forward, turns_following
from .graph_board import GraphBoard
from .graph_erasure import ErasureOfGraph
from .graph_facts import FactsOfGraph
from .graph_past import GraphPast
from .knowledge import Knowledge
from .listings import LatestOfGraph
from .quarantine import QuarantineOfGraph


class Graph(
    DocumentsOfGraph,
    ErasureOfGraph,
    FactsOfGraph,
    GraphPast,
    LatestOfGraph,
    GraphRows,
    QuarantineOfGraph,
):
    """N agents that work together, and what they remember."""

    def __init__(self, runtime: Runtime, record: SessionGraph) -> None:
        self._runtime = runtime
        self._reads_others = True
        self._record = record
        self._scope = Scope.of_graph(record.tenant, record.id)
        self._spawned: list[Agent] = []

    @property
    def id(self) -> str:
        """The graph's id."""
        return self._record.id

    @property
    def inherits_from(self) -> tuple[str, ...]:
        """The graphs it inherits from directly, in order, as this handle last saw them."""
        return self._record.inherits_from

    @operation("PUT", "/agents/{agent_id}", name="agent.spawn", needs="act")
    async def spawn_agent(
        self,
        agent_id: Named,
        *,
        topics: Iterable[str] | None = None,
        role: str = "",
        user_id: Word | None = None,
        sources: Iterable[str] | None = None,
        denied_topics: Iterable[str] | None = None,
        denied_sources: Iterable[str] | None = None,
        budget: Budget | None = None,
        prompts: Mapping[AnyGrain, str] | None = None,
        inject: Inject = "off",
        model_window_tokens: int | None = None,
    ) -> Agent:
        """Add an agent; one of the same id is re-attached with all that is given here.

        Every handle of a re-attached agent is bound by the new topics, user and budget from its
        next call on. Spawning opens a closed graph again.

        Args:
            agent_id: Unique in the graph.
            topics: What it may see and write. Without topics it sees untopiced records only;
                ``{"*"}`` is everything.
            role: What it is; part of its system message.
            user_id: The person it works for: it sees that person's records and those of nobody in
                particular. Without one it sees only the latter.
            sources: Mesh sources it may ask; all if not given.
            denied_topics: Topics it may neither see nor write, whatever it holds.
            denied_sources: Mesh sources it may not ask, whatever it holds.
            budget: The most it may use; nothing is limited if not given.
            prompts: What a language model is told to write its summaries (``working``) and episodes
                (``daily``, …) with, where it differs from the settings.
            inject: Whether its contexts bring what is known about the message unasked: ``off``,
                ``start`` (where a conversation begins) or ``turn`` (always).
            model_window_tokens: What its model can hold, where it differs from the settings.

        Raises:
            Conflict: The graph is archived.
            UsageError: An argument is not acceptable.
        """
        record = checked(
            AgentRecord,
            {"id": "agent_id"},
            tenant=self._record.tenant,
            graph_id=self.id,
            id=agent_id,
            role=role,
            user_id=user_id,
            topics=topics,
            sources=(ALL_TOPICS,) if sources is None else sources,
            denied_topics=denied_topics,
            denied_sources=denied_sources,
            budget=budget or Budget(),
            prompts=dict(prompts or {}),
            inject=inject,
            model_window_tokens=model_window_tokens,
            spawned_at=self._runtime.saying(),
        )
        if ALL_TOPICS in record.denied_topics:
            raise UsageError("denied_topics", ALL_TOPICS, "names of topics")
        standing = await self._runtime.membership.spawn(record)
        self._runtime.names.forget(self._scope)
        return await self._handle(standing, standing.agent or record)

    @operation("GET", "/agents/{agent_id}", name="agent.get", needs="see")
    async def agent(self, agent_id: Named) -> Agent:
        """Return the handle of a member as it is, and change nothing about it.

        One that was let go because it was silent is back when it speaks.

        Raises:
            NotFound: The graph never had such a member.
            UsageError: It has left; ``spawn_agent`` lets it come back.
        """
        named = self._scope.for_agent(checked_name("agent_id", agent_id))
        standing = await self._runtime.membership.of_graph(named)
        if standing.agent is None:
            raise await self._runtime.membership.missing(self._scope, agent_id)
        if has_left(standing.agent):
            raise UsageError("agent", agent_id, "an agent that has not left its graph")
        return await self._handle(standing, standing.agent)

    @operation("GET", "/agents")
    async def agents(self) -> tuple[AgentRecord, ...]:
        """Return all members in order of spawn, those who left included."""
        return await self._runtime.fleet.agents(self._scope)

    @operation("GET", "/status")
    async def status(self) -> GraphStatus:
        """Return the graph's state and what each tier holds for it."""
        return await status_of(self._runtime, self._scope)

    @operation("GET", "/agents/{agent_id}/memory")
    async def memory_of(self, agent_id: Named) -> AgentMemory:
        """Return what each tier holds for a member, private records included: for who audits.

        Raises:
            NotFound: The graph never had such a member.
        """
        return await memory_of(self._runtime, self._scope, agent_id)

    @operation("GET", "/core/{agent_id}")
    async def core(self, agent_id: Named) -> CoreBlock:
        """Return the core facts in the next context of a member, what is left out, and the cost.

        Raises:
            NotFound: The graph never had such a member.
        """
        standing = await self._runtime.membership.of_graph(self._scope.for_agent(agent_id))
        if standing.agent is None:
            raise NotFound("agent", agent_id)
        return await self._runtime.router.core_of(scope_of(standing.agent, standing.lineage))

    @operation("GET", "/conservation")
    async def conservation(self) -> ConservationReport:
        """Count every turn of the graph at every grain: in one summary or episode, or in the tail.

        Nothing the stores promise is taken for granted: turns, summaries and episodes are read and
        counted. What was lost or is there twice is named, and so is each text that lacks numbers,
        dates, names or versions of its sources.
        """
        return await conservation_of(self._runtime.grains, self._scope)

    @operation("POST", "/retention", changes=True, name="lifecycle.retain")
    async def retain(self, *, dry_run: bool = False, force: bool = False) -> RetentionReport:
        """Destroy the content of what is past its retention now; the schedule does it otherwise.

        Finest grain first, and nothing before what stands for it is stored and read back. Beliefs
        have a retention of their own.

        Args:
            dry_run: Only say what would be done.
            force: Also where more than ``retention_share_max`` of a grain would be touched.
        """
        report = await self._runtime.retirement.run(
            self._scope, self._runtime.clock(), dry_run=dry_run, force=force
        )
        if report.retired and not dry_run:
            # It leaves the warm index by queued work.
            await self._runtime.index_worker.drain(self._scope)
        return report

    @operation("POST", "/recall")
    async def recall(
        self,
        query: str,
        *,
        limit: Answers = 10,
        kinds: Kinds | None = None,
        scope: ScopeName = "any",
        as_of: datetime | None = None,
        rerank: bool = True,
        **more: Unpack[Narrowing],
    ) -> RecallResult:
        """Return what the graph knows about ``query``, best first, as its operator sees it.

        Every topic is seen, private records are not. No agent is needed; otherwise as
        ``Agent.recall``, where nobody is the ``user`` or the ``agent``.
        """
        request = request_of(
            query, limit=limit, kinds=kinds, scope=scope, as_of=as_of, rerank=rerank, more=more
        )
        standing = await self._runtime.membership.of_graph(self._scope)
        seen = self._scope.model_copy(update={"lineage": standing.lineage})
        return await ask(self._runtime, seen, request)

    @operation("POST", "/search-memory")
    async def search_memory(
        self,
        text: str | None = None,
        *,
        grain: AnyGrain = "working",
        min_days_ago: DaysAgo = 0,
        max_days_ago: DaysAgo = 365,
        max_results: Answers = 10,
        agent_id: Word | None = None,
    ) -> MemorySearch:
        """Return what happened in a window of days, as ``Agent.search_memory`` does.

        As the graph's operator sees it, every topic and nothing private; with ``agent_id`` as that
        member does.

        Raises:
            NotFound: The graph never had such a member.
        """
        return await search_memory(
            self._runtime,
            await scope_as(self._runtime, self._scope, agent_id),
            text,
            grain=grain,
            min_days_ago=min_days_ago,
            max_days_ago=max_days_ago,
            max_results=max_results,
        )

    @operation("POST", "/parents", changes=True, repeats=False)
    async def inherit(self, parent: str | Parent) -> None:
        """Inherit from one more graph, after those it inherits from already.

        Its agents read the parent from their next turn on.

        Args:
            parent: Its id, or a ``Parent`` that says as of when and what comes through.

        Raises:
            NotFound: The parent does not exist.
            Conflict: The graph inherits from it already, or is archived.
            UsageError: The parent inherits from this graph, near or far, or is to be read as of
                a moment that is to come.
        """
        now = self._runtime.clock()
        link = parent_of(parent, now)
        await self._runtime.graphs.link(self._scope, link)
        reason = f"inherits from {link.id}"
        await self._runtime.log.append_audit(self._scope, "linked", (), reason, now)
        await self._refresh()

    @operation("DELETE", "/parents/{parent_id}", changes=True, repeats=False)
    async def revoke(self, parent_id: Named) -> bool:
        """Inherit from a parent no longer; ``False`` when it is none.

        Nothing that came through the link is read from the next turn on, at no moment of the past.
        """
        was_there = await self._runtime.graphs.unlink(self._scope, parent_id)
        if was_there:
            reason, now = f"no longer inherits from {parent_id}", self._runtime.clock()
            await self._runtime.log.append_audit(self._scope, "revoked", (), reason, now)
        await self._refresh()
        return was_there

    @operation("PATCH", changes=True)
    async def configure(
        self, *, budget: Budget | None = None, retention: Retention | None = None
    ) -> None:
        """Replace the graph's budget or retention; what is not given stays."""
        await self._runtime.graphs.configure(self._scope, budget=budget, retention=retention)
        changed = [name for name, value in (("budget", budget), ("retention", retention)) if value]
        now = self._runtime.clock()
        reason = " and ".join(changed) or "nothing"
        await self._runtime.log.append_audit(self._scope, "configured", (), reason, now)
        await self._refresh()

    @operation("GET", "/usage")
    async def usage(self) -> Usage:
        """Return what the graph has used of its budget."""
        return await self._runtime.usage.usage(self._scope)

    @operation("GET", "/usage/agents")
    async def usage_by_agent(self) -> dict[str, Usage]:
        """Return what each agent has used that has used anything, by id."""
        return await self._runtime.usage.usage_by_agent(self._scope)

    @property
    def knowledge(self) -> Knowledge:
        """The knowledge graph over the facts of every agent, as the graph's operator sees it."""
        return Knowledge.of_graph(self._runtime, self._scope)

    @property
    def board(self) -> GraphBoard:
        """The graph's board as its operator sees it: messages, tasks, and what agents did."""
        return GraphBoard(self._runtime, self._scope)

    @property
    def beliefs(self) -> History:
        """The history of the graph's beliefs: what was believed when, by whom, and proof."""
        return History(self._runtime, self._scope)

    @operation("POST", "/branches", changes=True, repeats=False)
    async def branch(
        self,
        *,
        session_graph_id: Word,
        turn: int | None = None,
        time: datetime | None = None,
    ) -> Graph:
        """Make a graph that begins with what this one believed at a moment, and goes on alone.

        It reads this graph's facts, rules and episodes as they were then. Its log begins with a
        reference to the head of this one's, signed where there is a key. In it state can be
        changed, agents spawned that never were, and turns lived through again (``run_forward``);
        nothing of it comes back here. Without a moment it leaves from now. A call that was cut
        off may be repeated.

        Args:
            session_graph_id: Of the branch; unique in the tenant.
            turn: Leave after this turn of the graph; 0 is before the first.
            time: Leave at this time.

        Raises:
            Conflict: The branch exists.
            UsageError: Both a turn and a time are given, the graph has no such turn, the time is
                to come, or more than 10,000 beliefs were active.
        """
        if turn is not None and time is not None:
            raise UsageError("time", time, "a turn or a time, not both")
        point = time if turn is None else turn
        return Graph(
            self._runtime, await branch(self._runtime, self._record, point, session_graph_id)
        )

    async def diff(self, other: Graph) -> BeliefDiff:
        """Return how what ``other`` believes now differs from what this graph believes now.

        Between a graph and its branch a belief is the same as the one it was adopted from.

        Raises:
            UsageError: ``other`` is no graph.
        """
        if not isinstance(other, Graph):
            raise UsageError("other", other, "a graph, as session_graph returns it")
        return diff_of(await self.beliefs.active(), await other.beliefs.active(), across=True)

    @composed
    @checks_arguments()
    async def run_forward(
        self, take: StepTaker, *, turns: Sequence[Turn] | None = None, limit: int = 1000
    ) -> tuple[Any, ...]:
        """Let ``take`` live through turns in this branch, one after the other.

        Args:
            take: Called with each ``Step``, a coroutine function or a plain one; what it returns
                is returned in order, and its error ends the run.
            turns: What to live through; the turns that the other graph had after the branch left,
                if not given.
            limit: The most steps, 1 to 100,000.

        Raises:
            UsageError: The graph is no branch and no turns are given.
        """
        return await run_forward(
            self.id,
            take,
            turns,
            limit,
            origin=self.beliefs.origin,
            following=self._turns_following,
        )

    def _turns_following(self, graph_id: str, after: int, limit: int) -> AsyncIterator[Turn]:
        return turns_following(self._runtime, graph_id, after, limit)

    @operation("POST", "/close", changes=True)
    async def close(self) -> None:
        """Let every agent leave and clear hot memory; everything else is kept. Idempotent.

        Spawning an agent later opens the graph again.
        """
        await self._runtime.keeper.close(self._scope, self._runtime.clock())
        self._runtime.membership.forget_graph(self.id)
        for agent in self._spawned:
            agent.release()
        self._spawned.clear()

    @operation("POST", "/reopen", changes=True, repeats=False)
    async def reopen(self) -> bool:
        """Open a closed graph again; ``False`` when it is open already.

        Raises:
            Conflict: It is archived: read it, or inherit from it.
        """
        return await self._runtime.keeper.reopen(self._scope, self._runtime.clock())

    @operation("POST", "/archive", changes=True, repeats=False)
    async def archive(self) -> bool:
        """Close the graph and archive it now; ``False`` when it is archived already.

        Or when some of it could not be compacted: it is closed then, and the schedule goes on.
        It can be read and inherited from then on, and no longer written.
        """
        await self.close()
        return await archive(self._runtime, self._scope)

    async def _handle(self, standing: Standing, record: AgentRecord) -> Agent:
        scope = scope_of(record, standing.lineage)
        core = await core_seen(self._runtime.semantic, scope, self._runtime.clock)
        agent = Agent(self._runtime, standing, core.visible)
        self._spawned.append(agent)
        return agent

    async def _refresh(self) -> None:
        self._record = (await self._runtime.membership.of_graph(self._scope)).graph

"""The handle of a session graph on a server."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from tiers.errors import UsageError
from tiers.fleet import Inject
from tiers.plans import AnyGrain
from tiers.records import Budget, Parent, Retention, Turn

from ..beliefs.difference import BeliefDiff
from ..handles.branches import TURNS_MAX, Step, StepTaker
from ..handles.graph import Graph
from ..wire import Nothing, graphs, handles
from ..wire.graphs import ConfigureAsked, GraphAnswer, InheritAsked, SpawnAsked
from .agent import RemoteAgent
from .connection import Connection
from .documents import RemoteDocuments
from .handle import RemoteHandle
from .handles import RemoteGraphBoard, RemoteKnowledge, RemoteQuarantine, RemoteTaint
from .history import RemoteHistory


class RemoteGraph(RemoteHandle, Graph, of=Graph):
    """N agents that work together, and what they remember, on a server."""

    def __init__(self, connection: Connection, shown: GraphAnswer) -> None:
        super().__init__(connection, handles.GRAPH, {"graph_id": shown.id})
        self._shown = shown

    @property
    def id(self) -> str:
        """The graph's id."""
        return self._shown.id

    @property
    def url(self) -> str:
        """The server's address."""
        return self._connection.url

    @property
    def inherits_from(self) -> tuple[str, ...]:
        """The graphs it inherits from directly, in order, as this handle last saw them."""
        return self._shown.inherits_from

    @property
    def knowledge(self) -> RemoteKnowledge:
        """The knowledge graph over the facts of every agent, as the graph's operator sees it."""
        return RemoteKnowledge(self._connection, handles.GRAPH_KNOWLEDGE, self._names)

    @property
    def documents(self) -> RemoteDocuments:
        """The documents of the graph, as its operator sees them, to read and to change."""
        return RemoteDocuments(self._connection, handles.GRAPH_DOCUMENTS, self._names)

    @property
    def board(self) -> RemoteGraphBoard:
        """The graph's board as its operator sees it: messages, tasks, and what agents did."""
        return RemoteGraphBoard(self._connection, handles.GRAPH_BOARD, self._names)

    @property
    def beliefs(self) -> RemoteHistory:
        """The history of the graph's beliefs: what was believed when, by whom, and proof."""
        return RemoteHistory(self._connection, self.id)

    @property
    def taint(self) -> RemoteTaint:
        """What came of a poisoned record of the graph, and rolling that back."""
        return RemoteTaint(self._connection, handles.GRAPH_TAINT, self._names)

    @property
    def quarantine(self) -> RemoteQuarantine:
        """What the write guard has put aside: to look at, release or discard."""
        return RemoteQuarantine(self._connection, handles.GRAPH_QUARANTINE, self._names)

    async def spawn_agent(
        self,
        agent_id: str,
        *,
        topics: Iterable[str] | None = None,
        role: str = "",
        user_id: str | None = None,
        sources: Iterable[str] | None = None,
        denied_topics: Iterable[str] | None = None,
        denied_sources: Iterable[str] | None = None,
        budget: Budget | None = None,
        prompts: Mapping[AnyGrain, str] | None = None,
        inject: Inject = "off",
        model_window_tokens: int | None = None,
    ) -> RemoteAgent:
        """Add an agent; one of the same id is re-attached with all that is given here.

        Raises:
            PolicyDenied: The token allows no such topics, or another user.
            Conflict: The graph is archived.
            UsageError: An argument is not acceptable.
        """
        asked = SpawnAsked.of(
            topics=() if topics is None else topics,
            role=role,
            user_id=user_id,
            sources=sources,
            denied_topics=denied_topics,
            denied_sources=denied_sources,
            budget=budget,
            prompts=dict(prompts or {}),
            inject=inject,
            model_window_tokens=model_window_tokens,
        )
        shown = await self.ask(graphs.SPAWN, asked, agent_id=agent_id)
        return RemoteAgent(self._connection, self.id, shown)

    async def agent(self, agent_id: str) -> RemoteAgent:
        """Return the handle of a member as it is, and change nothing about it.

        Raises:
            NotFound: The graph never had such a member.
            UsageError: It has left; ``spawn_agent`` lets it come back.
        """
        shown = await self.ask(graphs.MEMBER, Nothing(), agent_id=agent_id)
        return RemoteAgent(self._connection, self.id, shown)

    async def inherit(self, parent: str | Parent) -> None:
        """Inherit from one more graph, after those it inherits from already.

        Raises:
            NotFound: The parent does not exist.
            Conflict: The graph inherits from it already, or is archived.
            UsageError: The parent inherits from this graph, near or far.
        """
        self._shown = await self.ask(graphs.INHERIT, InheritAsked(parent=parent))

    async def revoke(self, parent_id: str) -> bool:
        """Inherit from a parent no longer; ``False`` when it is none."""
        done = await self.ask(graphs.REVOKE, Nothing(), parent_id=parent_id)
        self._shown = GraphAnswer(id=self.id, inherits_from=done.inherits_from)
        return done.revoked

    async def configure(
        self, *, budget: Budget | None = None, retention: Retention | None = None
    ) -> None:
        """Replace the graph's budget or retention; what is not given stays."""
        asked = ConfigureAsked(budget=budget, retention=retention)
        self._shown = await self.ask(graphs.CONFIGURE, asked)

    async def branch(
        self,
        *,
        session_graph_id: str,
        turn: int | None = None,
        time: datetime | None = None,
    ) -> RemoteGraph:
        """Make a graph that begins with what this one believed at a moment, and goes on alone.

        Args:
            session_graph_id: Of the branch; unique in the tenant.
            turn: Leave after this turn of the graph.
            time: Leave at this time.

        Raises:
            Conflict: The branch exists.
            UsageError: Both a turn and a time are given, or more than 10,000 beliefs were active.
        """
        asked = graphs.BranchAsked(session_graph_id=session_graph_id, turn=turn, time=time)
        return RemoteGraph(self._connection, await self.ask(graphs.BRANCH, asked))

    async def diff(self, other: Graph) -> BeliefDiff:
        """Return how what ``other`` believes now differs from what this graph believes now.

        Raises:
            UsageError: ``other`` is not on this server.
        """
        if not isinstance(other, RemoteGraph) or other.url != self.url:
            raise UsageError("other", other.id, "a graph of the same server")
        return await self.ask(graphs.DIFF, graphs.DiffAsked(other_id=other.id))

    async def run_forward(
        self, take: StepTaker, *, turns: Sequence[Turn] | None = None, limit: int = 1000
    ) -> tuple[Any, ...]:
        """Let ``take`` live through turns in this branch, one after the other, on this side.

        Each turn of the other graph is read from its history when its step begins.

        Args:
            take: Called with each ``Step``; what it returns is returned in order, and its error
                ends the run.
            turns: What to live through; the turns that the other graph had after the branch left,
                if not given.
            limit: The most steps, 1 to 100,000.

        Raises:
            UsageError: The graph is no branch and no turns are given.
        """
        if not 1 <= limit <= TURNS_MAX:
            raise UsageError("limit", limit, f"1 to {TURNS_MAX}")
        if turns is not None:
            steps = [Step(number, turn) for number, turn in enumerate(turns[:limit], 1)]
            return tuple([await take(step) for step in steps])
        left = await self.beliefs.origin()
        if left is None:
            accepted = f"turns, since {self.id!r} is no branch of another graph"
            raise UsageError("turns", None, accepted)
        other = RemoteHistory(self._connection, left.graph_id)
        done: list[Any] = []
        for number in range(left.turn + 1, left.turn + 1 + limit):
            turn = (await other.replay(number)).turn
            if turn is None:
                break
            done.append(await take(Step(number, turn)))
        return tuple(done)

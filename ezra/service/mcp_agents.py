"""The agent behind a caller of MCP: the one that the token names, spawned at its first use."""

from __future__ import annotations

from dataclasses import dataclass

from tiers.errors import UsageError

from ..handles.agent import Agent
from ..handles.graph import Graph
from ..handles.lookup import member_of, present
from ..rights.membership import has_left
from .caller import Caller
from .handle_pool import HandlePool

_ADDRESS = "a token that names a graph and an agent, or an address with ?graph=…&agent=…"


@dataclass(frozen=True)
class Seat:
    """Who asks, and as whom.

    Attributes:
        caller: Whose token it is.
        graph_id: The graph that the token names.
        agent: The handle of the agent that it names.
    """

    caller: Caller
    graph_id: str
    agent: Agent


class Seats:
    """Finds the agent of a caller, and spawns it when it is not there.

    Args:
        pool: Hands out handles.
    """

    def __init__(self, pool: HandlePool) -> None:
        self._pool = pool

    async def of(self, caller: Caller) -> Seat:
        """Return who acts for a caller.

        Raises:
            UsageError: The token names no graph or no agent.
            PolicyDenied: The agent holds more than the token allows.
            NotFound: The graph does not exist.
        """
        graph_id, agent_id = caller.graph_id, caller.agent_id
        if graph_id is None or agent_id is None:
            raise UsageError("token", caller.name, _ADDRESS)
        caller.check("see", "use memory", graph_id, agent_id)
        await self._check(caller, graph_id, agent_id)
        return Seat(caller, graph_id, await self._attached(caller, graph_id, agent_id))

    async def graph(self, seat: Seat) -> Graph:
        """Return the handle of a seat's graph."""
        return await self._pool.graph(seat.graph_id)

    def drop(self, caller: Caller) -> None:
        """Forget the handle of a caller's agent: it has left, and the next use spawns it again."""
        if caller.graph_id is not None and caller.agent_id is not None:
            self._pool.drop(caller.graph_id, caller.agent_id)

    async def _attached(self, caller: Caller, graph_id: str, agent_id: str) -> Agent:
        if caller.only_looks:
            return await self._pool.watched(graph_id, agent_id)
        found = await present(self._pool.agent(graph_id, agent_id))
        if found is not None:
            return found
        async with self._pool.spawning:
            # Somebody else may have spawned it while this call waited.
            found = await present(self._pool.agent(graph_id, agent_id))
            return found or await self._spawned(caller, graph_id, agent_id)

    async def _spawned(self, caller: Caller, graph_id: str, agent_id: str) -> Agent:
        graph = await self._pool.graph(graph_id)
        former = await member_of(graph, agent_id)
        # It comes back as it was: what had been denied to it stays denied.
        if former is not None:
            given = caller.back(former)
        elif caller.role == "operator":
            given = {"topics": caller.topics, "user_id": caller.user_id}
        else:
            given = caller.spawned({}, None)
        return self._pool.arrived(graph_id, await graph.spawn_agent(agent_id, **given))

    async def _check(self, caller: Caller, graph_id: str, agent_id: str) -> None:
        """Refuse an agent that somebody re-attached with more since the token was made."""
        if not caller.is_limited:
            return
        found = await member_of(await self._pool.graph(graph_id), agent_id)
        if found is None:
            return
        if not has_left(found):
            caller.check_member(f"act as {agent_id}", found.topics, found.user_id)
        else:
            # What it comes back with is checked then.
            self._pool.drop(graph_id, agent_id)

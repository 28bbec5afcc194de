"""Stdio in front of a running server: for clients that start a program and cannot ask over HTTP.

What a token may do is for the server to say, at each call; here nothing is checked twice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from mcp.server.mcpserver import MCPServer

from tiers.errors import PolicyDenied

from ..app import Ezra
from ..handles.agent import Agent
from ..remote.agent import RemoteAgent
from ..remote.connection import Connection
from ..remote.ezra import RemoteEzra
from ..telemetry import Telemetry
from ..wire import graphs
from ..wire.handles import GRAPH
from .caller import Caller
from .handle_pool import HandlePool
from .mcp import mcp_server
from .mcp_agents import Seats


def mcp_bridge(
    connection: Connection, caller: Caller, seconds: Callable[[], float]
) -> MCPServer[Any]:
    """Return a server that lends the memory of an agent of another server to a model.

    Args:
        connection: To that server, open, with the token.
        caller: The graph and agent, and with what the agent is spawned if it is not there.
        seconds: Monotonic seconds.
    """
    pool = _ServerHandlePool(connection, seconds)
    return mcp_server(pool, caller, seats=_ServerSeats(pool, connection))


class _ServerHandlePool(HandlePool):
    """Hands out handles of a server; a token for one agent need not be able to read its graph."""

    def __init__(self, connection: Connection, seconds: Callable[[], float]) -> None:
        self._server = RemoteEzra(connection)
        # The same methods by the same names: tests of both sides hold them to it.
        super().__init__(cast("Ezra", self._server), seconds)
        self._telemetry = Telemetry()  # the runtime's own is in the server

    @property
    def telemetry(self) -> Telemetry:
        return self._telemetry

    async def agent(self, graph_id: str, agent_id: str) -> Agent:
        held = self._agents.get((graph_id, agent_id))
        found = held or cast("Agent", await self._server.agent(graph_id, agent_id))
        return self.hold(graph_id, found)


class _ServerSeats(Seats):
    """Spawns by the server, which keeps what its operators had set."""

    def __init__(self, pool: HandlePool, connection: Connection) -> None:
        super().__init__(pool)
        self._connection = connection

    async def _spawned(self, caller: Caller, graph_id: str, agent_id: str) -> Agent:
        asked = graphs.SpawnAsked(topics=caller.topics, user_id=caller.user_id)
        try:
            shown = await self._answer(asked, graph_id, agent_id)
        except PolicyDenied:
            if caller.is_limited:
                raise
            # Nothing was asked for: what the token has, or the agent had, will do.
            shown = await self._answer(graphs.SpawnAsked(), graph_id, agent_id)
        spawned = RemoteAgent(self._connection, graph_id, shown)
        return self._pool.hold(graph_id, cast("Agent", spawned))

    async def _answer(
        self, asked: graphs.SpawnAsked, graph_id: str, agent_id: str
    ) -> graphs.AgentAnswer:
        return await self._connection.call(
            GRAPH.offered["spawn_agent"].operation, asked, graph_id=graph_id, agent_id=agent_id
        )

    async def _check(self, caller: Caller, graph_id: str, agent_id: str) -> None:
        """Leave it to the server."""

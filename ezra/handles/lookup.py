"""A graph and a member of it for whoever comes from outside: there already, or not yet."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING

from tiers.errors import Conflict, NotFound, UsageError
from tiers.records import AgentRecord

if TYPE_CHECKING:
    from .agent import Agent
    from .graph import Graph
    from .tenant import Tenant


async def graph_or_new(ezra: Tenant, graph_id: str) -> Graph:
    """Return the handle of a graph, which is made where there is none."""
    try:
        return await ezra.session_graph(graph_id)
    except NotFound:
        pass
    try:
        return await ezra.create_session_graph(graph_id)
    except Conflict:  # somebody else was faster
        return await ezra.session_graph(graph_id)


async def present(member: Awaitable[Agent]) -> Agent | None:
    """Return the handle of a member; ``None`` when it was never there, or has left."""
    try:
        return await member
    except NotFound as error:
        if error.kind != "agent":
            raise
    except UsageError as error:
        if error.field != "agent":
            raise
    return None


async def member_of(graph: Graph, agent_id: str) -> AgentRecord | None:
    """Return what is stored of a member, there or gone; ``None`` when it never was one."""
    return next((one for one in await graph.agents() if one.id == agent_id), None)


async def known_member(graph: Graph, agent_id: str) -> AgentRecord:
    """Return a member, there or gone, as its graph knows it.

    Raises:
        NotFound: The graph never had such a member.
    """
    found = await member_of(graph, agent_id)
    if found is None:
        raise NotFound("agent", agent_id)
    return found

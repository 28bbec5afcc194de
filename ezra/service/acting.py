"""The agent as whom a caller acts, unless it is more than the caller's token allows."""

from __future__ import annotations

from collections.abc import Mapping

from tiers.errors import NotFound

from ..handles.agent import Agent
from .caller import Caller
from .desk import Desk


async def acting(
    desk: Desk, caller: Caller, names: Mapping[str, str], *, watches: bool = False
) -> Agent:
    """Return the handle of the agent that a path names.

    An agent may have been spawned, or re-attached since, with more than a token allows; then the
    token does not act as it.

    Args:
        desk: Hands out handles.
        caller: Who asks.
        names: Of the path.
        watches: Whether somebody looks at the agent, who is not the agent: its last sign of life
            stays where it is, as with a caller that only looks.

    Raises:
        NotFound: The graph does not exist, or has no such member.
        PolicyDenied: The agent holds other topics, or works for another user.
        UsageError: The member has left.
    """
    graph_id, agent_id = names["graph_id"], names["agent_id"]
    if caller.is_limited:
        members = await (await desk.graph(graph_id)).agents()
        found = next((one for one in members if one.id == agent_id), None)
        if found is None:
            raise NotFound("agent", agent_id)
        caller.check_member(f"act as {agent_id}", found.topics, found.user_id)
    if caller.only_looks or watches:
        return await desk.watched(graph_id, agent_id)
    return await desk.agent(graph_id, agent_id)

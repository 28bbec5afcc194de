"""Does what is asked of session graphs and their members."""

from __future__ import annotations

from collections.abc import Mapping

from metaagents.learning.core import CoreBlock
from metaagents.lifecycle.conservation import ConservationReport
from tiers.records import AgentRecord, Episode, SessionGraph, Summary, Usage

from ..agent import Agent
from ..agent_memory import AgentMemory
from ..graph import Graph
from ..graph_status import GraphStatus
from ..membership import has_left
from ..wire import Nothing
from ..wire import graphs as wire
from ..wire.graphs import (
    AgentAnswer,
    CreateAsked,
    EpisodesAsked,
    GraphAnswer,
    InheritAsked,
    RevokedAnswer,
    SpawnAsked,
)
from .acting import acting
from .caller import Caller
from .desk import Desk
from .handlers import handlers

Names = Mapping[str, str]


def _shown(graph: Graph) -> GraphAnswer:
    return GraphAnswer(id=graph.id, inherits_from=graph.inherits_from)


def _agent(agent: Agent) -> AgentAnswer:
    return AgentAnswer(
        id=agent.id,
        topics=agent.topics,
        core_at_spawn=agent.core_at_spawn,
        lineage=agent.lineage,
    )


@handlers.does(wire.CREATE)
async def create(desk: Desk, _: Caller, __: Names, asked: CreateAsked) -> GraphAnswer:
    """Create a session graph."""
    return _shown(await desk.ezra.create_session_graph(**asked.said))


@handlers.does(wire.LIST)
async def graphs(desk: Desk, _: Caller, __: Names, ___: Nothing) -> tuple[SessionGraph, ...]:
    """Return all graphs of the tenant."""
    return await desk.ezra.session_graphs()


@handlers.does(wire.GET)
async def graph(desk: Desk, _: Caller, names: Names, __: Nothing) -> GraphAnswer:
    """Return a graph."""
    return _shown(await desk.graph(names["graph_id"]))


@handlers.does(wire.CONFIGURE)
async def configure(desk: Desk, _: Caller, names: Names, asked: wire.ConfigureAsked) -> GraphAnswer:
    """Replace a graph's budget or retention."""
    found = await desk.graph(names["graph_id"])
    await found.configure(**asked.said)
    return _shown(found)


@handlers.does(wire.INHERIT)
async def inherit(desk: Desk, caller: Caller, names: Names, asked: InheritAsked) -> GraphAnswer:
    """Inherit from one more graph, which the caller may read too."""
    parent = asked.parent if isinstance(asked.parent, str) else asked.parent.id
    caller.check(wire.INHERIT.needs, wire.INHERIT.name, parent, None)
    found = await desk.graph(names["graph_id"])
    await found.inherit(asked.parent)
    return _shown(found)


@handlers.does(wire.REVOKE)
async def revoke(desk: Desk, _: Caller, names: Names, __: Nothing) -> RevokedAnswer:
    """Inherit from a parent no longer."""
    found = await desk.graph(names["graph_id"])
    revoked = await found.revoke(names["parent_id"])
    return RevokedAnswer(revoked=revoked, inherits_from=found.inherits_from)


@handlers.does(wire.STATUS)
async def status(desk: Desk, _: Caller, names: Names, __: Nothing) -> GraphStatus:
    """Return what each tier holds for a graph."""
    return await (await desk.graph(names["graph_id"])).status()


@handlers.does(wire.SUMMARIES)
async def summaries(desk: Desk, _: Caller, names: Names, __: Nothing) -> tuple[Summary, ...]:
    """Return the shared summaries of a graph."""
    return await (await desk.graph(names["graph_id"])).summaries()


@handlers.does(wire.EPISODES)
async def episodes(
    desk: Desk, _: Caller, names: Names, asked: EpisodesAsked
) -> tuple[Episode, ...]:
    """Return the shared episodes of a graph."""
    return await (await desk.graph(names["graph_id"])).episodes(**asked.said)


@handlers.does(wire.CORE)
async def core(desk: Desk, _: Caller, names: Names, __: Nothing) -> CoreBlock:
    """Return the core facts of a member's next context."""
    return await (await desk.graph(names["graph_id"])).core(names["agent_id"])


@handlers.does(wire.CONSERVATION)
async def conservation(desk: Desk, _: Caller, names: Names, __: Nothing) -> ConservationReport:
    """Count every turn of a graph at every grain."""
    return await (await desk.graph(names["graph_id"])).conservation()


@handlers.does(wire.USAGE)
async def usage(desk: Desk, _: Caller, names: Names, __: Nothing) -> Usage:
    """Return what a graph has used of its budget."""
    return await (await desk.graph(names["graph_id"])).usage()


@handlers.does(wire.USAGE_BY_AGENT)
async def usage_by_agent(desk: Desk, _: Caller, names: Names, __: Nothing) -> dict[str, Usage]:
    """Return what each agent of a graph has used."""
    return await (await desk.graph(names["graph_id"])).usage_by_agent()


@handlers.does(wire.CLOSE)
async def close(desk: Desk, _: Caller, names: Names, __: Nothing) -> None:
    """Close a graph."""
    await (await desk.graph(names["graph_id"])).close()
    desk.drop(names["graph_id"])


@handlers.does(wire.REOPEN)
async def reopen(desk: Desk, _: Caller, names: Names, __: Nothing) -> bool:
    """Open a closed graph again."""
    return await (await desk.graph(names["graph_id"])).reopen()


@handlers.does(wire.ARCHIVE)
async def archive(desk: Desk, _: Caller, names: Names, __: Nothing) -> bool:
    """Archive a graph."""
    found = await desk.graph(names["graph_id"])
    desk.drop(names["graph_id"])  # it is closed first, and what follows may fail
    return await found.archive()


@handlers.does(wire.MEMBERS)
async def members(desk: Desk, _: Caller, names: Names, __: Nothing) -> tuple[AgentRecord, ...]:
    """Return all members of a graph."""
    return await (await desk.graph(names["graph_id"])).agents()


@handlers.does(wire.SPAWN)
async def spawn(desk: Desk, caller: Caller, names: Names, asked: SpawnAsked) -> AgentAnswer:
    """Add an agent within what the caller's token allows."""
    found, said = await desk.graph(names["graph_id"]), dict(asked)
    async with desk.spawning:
        # Nobody spawns it as something else between this look and what follows from it.
        known = {one.id: one for one in await found.agents()}
        given = caller.spawned(said, known.get(names["agent_id"]))
        agent = await found.spawn_agent(names["agent_id"], **given)
    return _agent(desk.arrived(names["graph_id"], agent))


@handlers.does(wire.MEMBER)
async def member(desk: Desk, caller: Caller, names: Names, _: Nothing) -> AgentAnswer:
    """Return a member of a graph as it is."""
    await acting(desk, caller, names)
    agent = await (await desk.graph(names["graph_id"])).agent(names["agent_id"])
    return _agent(agent if caller.only_looks else desk.hold(names["graph_id"], agent))


@handlers.does(wire.MEMORY)
async def memory(desk: Desk, _: Caller, names: Names, __: Nothing) -> AgentMemory:
    """Return what each tier holds for a member."""
    return await (await desk.graph(names["graph_id"])).memory_of(names["agent_id"])


@handlers.does(wire.LEAVE)
async def leave(desk: Desk, caller: Caller, names: Names, _: Nothing) -> None:
    """Let an agent leave; one that has left stays away."""
    graph_id, agent_id = names["graph_id"], names["agent_id"]
    known = {one.id: one for one in await (await desk.graph(graph_id)).agents()}
    if agent_id in known and has_left(known[agent_id]):
        desk.drop(graph_id, agent_id)
        return
    await (await acting(desk, caller, names)).leave()
    desk.drop(graph_id, agent_id)


@handlers.does(wire.HEARTBEAT)
async def heartbeat(desk: Desk, caller: Caller, names: Names, _: Nothing) -> None:
    """Give a sign of life."""
    await (await acting(desk, caller, names)).heartbeat()

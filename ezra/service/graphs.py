"""Does what is asked of session graphs and their members, where a handle does not do all of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from metaagents.reindex.rules import Reembedding
from tiers.records import SessionGraph

from ..beliefs.difference import BeliefDiff
from ..handles.agent import Agent
from ..handles.graph import Graph
from ..moving.carrying import record_of
from ..rights.membership import has_left
from ..wire import Nothing
from ..wire import graphs as wire
from ..wire.graphs import (
    AgentAnswer,
    CreateAsked,
    GraphAnswer,
    InheritAsked,
    RevokedAnswer,
    SpawnAsked,
)
from ..wire.handles import GRAPH, TENANT
from .caller import Caller
from .desk import Desk, acting
from .routes import handlers

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


@handlers.does(GRAPH.offered["close"].operation)
async def close(desk: Desk, _: Caller, names: Names, __: Nothing) -> None:
    """Close a graph."""
    await (await desk.graph(names["graph_id"])).close()
    desk.drop(names["graph_id"])


@handlers.does(GRAPH.offered["archive"].operation)
async def archive(desk: Desk, _: Caller, names: Names, __: Nothing) -> bool:
    """Archive a graph."""
    found = await desk.graph(names["graph_id"])
    desk.drop(names["graph_id"])  # it is closed first, and what follows may fail
    return await found.archive()


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


@handlers.does(wire.BRANCH)
async def branch(desk: Desk, caller: Caller, names: Names, asked: wire.BranchAsked) -> GraphAnswer:
    """Make a branch; a token for one graph makes none, since it could not reach it."""
    operation = wire.BRANCH
    caller.check(operation.needs, operation.name, asked.session_graph_id, None)
    made = await (await desk.graph(names["graph_id"])).branch(**asked.said)
    return GraphAnswer(id=made.id, inherits_from=made.inherits_from)


@handlers.does(wire.DIFF)
async def diff_of_graphs(
    desk: Desk, caller: Caller, names: Names, asked: wire.DiffAsked
) -> BeliefDiff:
    """Return how two graphs differ, both of which the caller may read."""
    operation = wire.DIFF
    caller.check(operation.needs, operation.name, asked.other_id, None)
    other = await desk.graph(asked.other_id)
    return await (await desk.graph(names["graph_id"])).diff(other)


_IMPORT = TENANT.offered["import_rows"].operation


@handlers.does(_IMPORT)
async def import_rows(desk: Desk, caller: Caller, names: Names, asked: Any) -> int:  # noqa: ANN401
    """Put rows of a graph in, which inherits from no graph that the caller may not read."""
    if asked.table == "graphs" and caller.graph_id is not None:
        for place, row in enumerate(asked.rows):
            record = record_of(asked.table, row, place)
            for parent in record.inherits_from if isinstance(record, SessionGraph) else ():
                caller.check(_IMPORT.needs, _IMPORT.name, parent, None)
    return await desk.ezra.import_rows(names["graph_id"], asked.table, asked.rows)


@handlers.does(wire.REEMBEDDING)
async def reembedding(desk: Desk, _: Caller, __: Names, ___: Nothing) -> Reembedding | None:
    """Return how far re-embedding has come, which in process is an attribute."""
    return desk.ezra.reembedding

"""Does what is asked of session graphs and their members, where a handle does not do all of it."""

from __future__ import annotations

from typing import Any

from metaagents.reindex.rules import Reembedding
from tiers.records import SessionGraph

from ..beliefs.difference import BeliefDiff
from ..handles.agent import Agent
from ..handles.graph import Graph
from ..moving.carrying import record_of
from ..rights.membership import has_left
from ..wire import graphs as wire
from ..wire.graphs import (
    AgentAnswer,
    GraphAnswer,
    RevokedAnswer,
    SpawnAsked,
)
from ..wire.handles import AGENT, GRAPH, TENANT
from .caller import Caller
from .handle_pool import HandlePool, acting
from .routes import handlers
from .taking import Names


def _shown(graph: Graph) -> GraphAnswer:
    return GraphAnswer(id=graph.id, inherits_from=graph.inherits_from)


def _agent(agent: Agent) -> AgentAnswer:
    return AgentAnswer(
        id=agent.id,
        topics=agent.topics,
        core_at_spawn=agent.core_at_spawn,
        lineage=agent.lineage,
    )


@handlers.does(TENANT.offered["create_session_graph"].operation)
async def create(pool: HandlePool, asked: Any) -> GraphAnswer:  # noqa: ANN401
    """Create a session graph."""
    return _shown(await pool.ezra.create_session_graph(**asked.said))


@handlers.does(wire.GET)
async def get(graph: Graph) -> GraphAnswer:
    """Return a graph."""
    return _shown(graph)


@handlers.does(GRAPH.offered["configure"].operation)
async def configure(graph: Graph, asked: Any) -> GraphAnswer:  # noqa: ANN401
    """Replace a graph's budget or retention."""
    await graph.configure(**asked.said)
    return _shown(graph)


_INHERIT = GRAPH.offered["inherit"].operation


@handlers.does(_INHERIT)
async def inherit(caller: Caller, graph: Graph, asked: Any) -> GraphAnswer:  # noqa: ANN401
    """Inherit from one more graph, which the caller may read too."""
    parent = asked.parent if isinstance(asked.parent, str) else asked.parent.id
    caller.check(_INHERIT.needs, _INHERIT.name, parent, None)
    await graph.inherit(asked.parent)
    return _shown(graph)


@handlers.does(GRAPH.offered["revoke"].operation)
async def revoke(graph: Graph, parent_id: str) -> RevokedAnswer:
    """Inherit from a parent no longer."""
    revoked = await graph.revoke(parent_id)
    return RevokedAnswer(revoked=revoked, inherits_from=graph.inherits_from)


@handlers.does(GRAPH.offered["close"].operation)
async def close(pool: HandlePool, graph: Graph) -> None:
    """Close a graph."""
    await graph.close()
    pool.drop(graph.id)


@handlers.does(GRAPH.offered["archive"].operation)
async def archive(pool: HandlePool, graph: Graph) -> bool:
    """Archive a graph."""
    pool.drop(graph.id)  # it is closed first, and what follows may fail
    return await graph.archive()


@handlers.does(GRAPH.offered["spawn_agent"].operation)
async def spawn(
    pool: HandlePool, caller: Caller, graph: Graph, agent_id: str, asked: SpawnAsked
) -> AgentAnswer:
    """Add an agent within what the caller's token allows."""
    async with pool.spawning:
        # Nobody spawns it as something else between this look and what follows from it.
        known = {one.id: one for one in await graph.agents()}
        given = caller.spawned(dict(asked), known.get(agent_id))
        agent = await graph.spawn_agent(agent_id, **given)
    return _agent(pool.arrived(graph.id, agent))


@handlers.does(GRAPH.offered["agent"].operation)
async def member(pool: HandlePool, caller: Caller, graph: Graph, agent: Agent) -> AgentAnswer:
    """Return a member of a graph as it is."""
    found = await graph.agent(agent.id)
    return _agent(found if caller.only_looks else pool.hold(graph.id, found))


@handlers.does(AGENT.offered["leave"].operation)
async def leave(
    pool: HandlePool, caller: Caller, graph: Graph, agent_id: str, names: Names
) -> None:
    """Let an agent leave; one that has left stays away."""
    known = {one.id: one for one in await graph.agents()}
    if agent_id not in known or not has_left(known[agent_id]):
        await (await acting(pool, caller, names)).leave()
    pool.drop(graph.id, agent_id)


_BRANCH = GRAPH.offered["branch"].operation


@handlers.does(_BRANCH)
async def branch(caller: Caller, graph: Graph, asked: Any) -> GraphAnswer:  # noqa: ANN401
    """Make a branch; a token for one graph makes none, since it could not reach it."""
    caller.check(_BRANCH.needs, _BRANCH.name, asked.session_graph_id, None)
    return _shown(await graph.branch(**asked.said))


@handlers.does(wire.DIFF)
async def diff_of_graphs(
    pool: HandlePool, caller: Caller, graph: Graph, asked: wire.DiffAsked
) -> BeliefDiff:
    """Return how two graphs differ, both of which the caller may read."""
    operation = wire.DIFF
    caller.check(operation.needs, operation.name, asked.other_id, None)
    return await graph.diff(await pool.graph(asked.other_id))


_IMPORT = TENANT.offered["import_rows"].operation


@handlers.does(_IMPORT)
async def import_rows(pool: HandlePool, caller: Caller, graph_id: str, asked: Any) -> int:  # noqa: ANN401
    """Put rows of a graph in, which inherits from no graph that the caller may not read."""
    if asked.table == "graphs" and caller.graph_id is not None:
        for place, row in enumerate(asked.rows):
            record = record_of(asked.table, row, place)
            for parent in record.inherits_from if isinstance(record, SessionGraph) else ():
                caller.check(_IMPORT.needs, _IMPORT.name, parent, None)
    return await pool.ezra.import_rows(graph_id, asked.table, asked.rows)


@handlers.does(wire.REEMBEDDING)
async def reembedding(pool: HandlePool) -> Reembedding | None:
    """Return how far re-embedding has come, which in process is an attribute."""
    return pool.ezra.reembedding

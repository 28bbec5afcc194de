"""Does what handles offer: finds the handle of a path, and calls the method that was asked for.

What a handle does not do all of is done by hand, and comes first: to close a graph is also to
forget its handles here.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

from metaagents.reindex.rules import Reembedding
from tiers.records import SessionGraph

from ..beliefs.difference import BeliefDiff
from ..handles.agent import Agent
from ..handles.graph import Graph
from ..handles.lookup import member_of
from ..handles.turn import OpenTurn, TurnAnswer
from ..moving.carrying import record_of
from ..rights.membership import has_left
from ..wire import agents as wire_of_agents
from ..wire import graphs as wire_of_graphs
from ..wire.derivation import Handle, Offered
from ..wire.graphs import AgentAnswer, GraphAnswer, RevokedAnswer, SpawnAsked
from ..wire.handles import AGENT, GRAPH, HANDLES, TENANT
from .caller import Caller
from .handle_pool import HandlePool, acting, check_acting
from .routes import Handler, handlers
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
    return _shown(await pool.ezra.create_session_graph(**asked.arguments))


@handlers.does(wire_of_graphs.GET)
async def get(graph: Graph) -> GraphAnswer:
    """Return a graph."""
    return _shown(graph)


@handlers.does(GRAPH.offered["configure"].operation)
async def configure(graph: Graph, asked: Any) -> GraphAnswer:  # noqa: ANN401
    """Replace a graph's budget or retention."""
    await graph.configure(**asked.arguments)
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
        given = caller.spawned(dict(asked), await member_of(graph, agent_id))
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
    known = await member_of(graph, agent_id)
    if known is None or not has_left(known):
        await (await acting(pool, caller, names)).leave()
    pool.drop(graph.id, agent_id)


_BRANCH = GRAPH.offered["branch"].operation


@handlers.does(_BRANCH)
async def branch(caller: Caller, graph: Graph, asked: Any) -> GraphAnswer:  # noqa: ANN401
    """Make a branch; a token for one graph makes none, since it could not reach it."""
    caller.check(_BRANCH.needs, _BRANCH.name, asked.session_graph_id, None)
    return _shown(await graph.branch(**asked.arguments))


@handlers.does(wire_of_graphs.DIFF)
async def diff_of_graphs(
    pool: HandlePool, caller: Caller, graph: Graph, asked: wire_of_graphs.DiffAsked
) -> BeliefDiff:
    """Return how two graphs differ, both of which the caller may read."""
    operation = wire_of_graphs.DIFF
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


@handlers.does(wire_of_graphs.REEMBEDDING)
async def reembedding(pool: HandlePool) -> Reembedding | None:
    """Return how far re-embedding has come, which in process is an attribute."""
    return pool.ezra.reembedding


@handlers.does(AGENT.offered["turn"].operation)
async def turn(pool: HandlePool, caller: Caller, agent: Agent, asked: Any) -> TurnAnswer:  # noqa: ANN401
    """Open a turn and keep it until it is replied to."""
    opened = await agent.turn(**asked.arguments)
    pool.keep(caller, agent.graph_id, agent.id, opened)
    return opened.answer


@handlers.does(wire_of_agents.TURN_REPLY)
async def reply(
    pool: HandlePool, caller: Caller, names: Names, turn_id: str, asked: wire_of_agents.ReplyAsked
) -> wire_of_agents.ReplyAnswer:
    """Remember a turn."""
    found = await _open_turn(pool, caller, names, turn_id)
    written = await found.reply(**asked.arguments)
    pool.settle(names["graph_id"], names["agent_id"], found.id, written.turn.id)
    return wire_of_agents.ReplyAnswer(written=written, course=found.answer.course)


@handlers.does(wire_of_agents.TURN_COMPLETE)
async def complete_turn(
    pool: HandlePool, caller: Caller, names: Names, turn_id: str
) -> wire_of_agents.ResponseAnswer:
    """Ask the model about an open turn."""
    found = await _open_turn(pool, caller, names, turn_id)
    response = await found.complete()
    return wire_of_agents.ResponseAnswer(response=response, course=found.answer.course)


async def _open_turn(pool: HandlePool, caller: Caller, names: Names, turn_id: str) -> OpenTurn:
    """Return a turn that waits for its reply, also where its agent has left meanwhile.

    What it thought is said then, and kept, as it is in process.
    """
    await check_acting(pool, caller, names)
    return pool.turn(names["graph_id"], names["agent_id"], turn_id)


@handlers.does(AGENT.offered["complete"].operation)
async def complete(
    pool: HandlePool,
    caller: Caller,
    agent: Agent,
    asked: Any,  # noqa: ANN401
) -> wire_of_agents.CompletionAnswer:
    """Open a turn, ask the model, remember it."""
    done = await agent.complete(**asked.arguments)
    pool.keep(caller, agent.graph_id, agent.id, done.turn)
    pool.settle(agent.graph_id, agent.id, done.turn.id, done.written.turn.id)
    return wire_of_agents.CompletionAnswer(
        response=done.response, model=done.model, turn=done.turn.answer, written=done.written
    )


async def found(handle: Handle, pool: HandlePool, caller: Caller, names: Names) -> Any:  # noqa: ANN401
    """Return a handle of the agent, graph, catalog or tenant that a path names.

    Raises:
        NotFound: There is none.
        PolicyDenied: It is more than the caller's token allows.
    """
    first: Any
    match handle.names:
        case () if handle is TENANT:
            first = pool.ezra
        case ():
            first = await pool.catalog(caller)
        case (graph_id,):
            first = await pool.graph(names[graph_id], caller)
        case _:
            first = await acting(pool, caller, names)
    return reduce(getattr, handle.attributes, first)


def _doing(offered: Offered) -> Handler[Any]:
    async def do(pool: HandlePool, caller: Caller, names: Names, asked: Any) -> Any:  # noqa: ANN401
        handle = await found(offered.handle, pool, caller, names)
        given = {name: names[part] for name, part in offered.in_path.items()}
        return await getattr(handle, offered.method_name)(**given, **asked.arguments)

    return do


for _handle in HANDLES:
    for _offered in _handle.offered.values():
        if _offered.operation.name not in handlers:
            handlers.does(_offered.operation)(_doing(_offered))

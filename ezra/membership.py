"""How agents and graphs come and go. Functions, because both handles need them."""

from __future__ import annotations

from tiers.records import AgentRecord, Fact, GraphState, Scope, SessionGraph, WorkDraft

from .fusion import resolve_core
from .parts import Parts


async def spawn(
    parts: Parts, graph: SessionGraph, agent: AgentRecord
) -> tuple[Scope, tuple[Fact, ...]]:
    """Add a member (or re-attach it) and return its scope and the core facts it starts with.

    A closed graph is reopened by its first new member.
    """
    lineage = await parts.graphs.lineage(graph.tenant, graph.id)
    scope = Scope(
        tenant=graph.tenant,
        graph_id=graph.id,
        agent_id=agent.id,
        user_id=agent.user_id,
        topics=agent.topics,
        lineage=lineage,
    )
    was_new = await parts.graphs.spawn(agent)
    parts.names.forget(scope)
    now = parts.clock()
    current = await parts.graphs.graph(graph.tenant, graph.id)
    if current is not None and current.state is GraphState.CLOSED:
        await parts.graphs.set_state(scope, GraphState.ACTIVE, now)
        await parts.log.append_audit(scope, "reopened", (), "", now)
    event = "spawned" if was_new else "reattached"
    await parts.log.append_audit(scope, event, (), f"topics {', '.join(agent.topics)}", now)
    core = resolve_core(await parts.semantic.core(scope)).visible
    return scope, core


async def close_graph(parts: Parts, scope: Scope) -> None:
    """Close the scope's graph: everyone leaves, hot is cleared, everything else is kept.

    What was still in the rings is queued for compression, so that it lives on in summaries.
    Idempotent.
    """
    whole = scope.for_graph()
    now = parts.clock()
    members = await parts.graphs.agents(whole)
    for member in members:
        own = whole.for_agent(member.id)
        if member.left_at is None:
            await parts.graphs.leave(own, now)
        await parts.hot.clear(own)
    everything = [
        WorkDraft(
            kind="compress",
            key=f"{member.id}/everything",
            agent_id=member.id,
            payload={"everything": True},
        )
        for member in members
    ]
    await parts.queue.enqueue(whole, everything, now)
    graph = await parts.graphs.graph(whole.tenant, whole.graph_id)
    if graph is not None and graph.state is GraphState.ACTIVE:
        await parts.graphs.set_state(whole, GraphState.CLOSED, now)
        await parts.log.append_audit(whole, "closed", (), "", now)

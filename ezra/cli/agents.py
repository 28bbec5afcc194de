"""The commands about agents: who is in a session graph, what they may see and use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from tiers.fleet import WINDOW_MIN, Inject
from tiers.plans import ANY_GRAIN, AnyGrain
from tiers.records import AgentRecord, Budget, Usage

from ..checks import checked
from ..handles.lookup import known_member
from .command import Answer, Rows, cell, command, group
from .doors import InAgent, InGraph
from .options import ModelCalls, Tokens, Writes, fields_of

if TYPE_CHECKING:
    from ..handles.agent import Agent


agent_app = group("Agents: who is in a session graph, what they may see, write and use.")


@command(agent_app)
async def spawn(
    at: InAgent,
    topic: list[str] | None = None,
    role: str = "",
    user: str | None = None,
    source: list[str] | None = None,
    deny_topic: list[str] | None = None,
    deny_source: list[str] | None = None,
    prompt: Annotated[list[str] | None, typer.Option(metavar="GRAIN=TEXT")] = None,
    inject: str = "off",
    window: Annotated[int | None, typer.Option(min=WINDOW_MIN)] = None,
    tokens: Tokens = None,
    model_calls: ModelCalls = None,
    writes: Writes = None,
) -> Answer:
    """Let an agent join a session graph; one of the same id gets exactly what is said here.

    Without topics it sees what has none. Spawning opens a closed graph again.

    Args:
        topic: A topic; * is every topic. Repeatable.
        role: What it is; part of its system message.
        user: The person it works for.
        source: A mesh source it may ask; all if not given. Repeatable.
        deny_topic: A topic that stays closed to it. Repeatable.
        deny_source: A mesh source that stays closed to it. Repeatable.
        prompt: What a model writes its memory with. Repeatable.
        inject: Bring what is known unasked: off, start or turn.
        window: Tokens that its model can hold.

    Examples:
        ezra agent spawn imola strategist --topic tyres --topic strategy
        ezra agent spawn imola concierge --user jane --role 'Plans her day.' --writes 1000
    """
    prompts = fields_of("--prompt", prompt or (), "GRAIN=TEXT", ANY_GRAIN)
    budget = checked(Budget, tokens=tokens, model_calls=model_calls, writes=writes)
    spawned = await at.spawned(
        topics=topic,
        role=role,
        user_id=user,
        sources=source or None,
        denied_topics=deny_topic or None,
        denied_sources=deny_source or None,
        budget=None if budget == Budget() else budget,
        prompts=cast("dict[AnyGrain, str]", prompts),
        inject=cast("Inject", inject),
        model_window_tokens=window,
    )
    found = _spawned(spawned)
    sees = f"topics {', '.join(found['topics'])}" if found["topics"] else "no topics"
    return Answer(found, f"{at.agent} is in {at.graph}: {sees}, {found['core_facts']} core facts")


@command(agent_app, "list")
async def list_agents(at: InGraph, present: bool = False) -> Answer:
    """List the members of a graph in order of spawn, those who left included.

    Args:
        present: Only those who have not left.

    Examples:
        ezra agent list imola
        ezra agent list imola --present --json
    """
    members = await (await at.held()).agents()
    found = [one for one in members if not (present and one.left_at)]
    rows = [(one.id, _state(one), one.user_id, one.topics) for one in found]
    return Answer(found, [Rows(("agent", "state", "user", "topics"), rows)])


@command(agent_app)
async def show(at: InAgent) -> Answer:
    """Show a member: what it may see and use, what it has used, its core facts.

    Examples:
        ezra agent show imola strategist --json
    """
    where = await at.held()
    record = await known_member(where, at.agent)
    used = (await where.usage_by_agent()).get(at.agent, Usage())
    core = await where.core(at.agent)
    lines = [
        *_lines(record, used),
        f"core: {len(core.facts)} facts, about {core.tokens} tokens",
        *(f"  {fact.id}  {fact.text}" for fact in core.facts),
    ]
    return Answer({"agent": record, "used": used, "core": core}, lines)


@command(agent_app)
async def usage(at: InGraph, agent: Annotated[str | None, typer.Argument()] = None) -> Answer:
    """Show what members have used of their budgets.

    Args:
        agent: One member; all if not given.

    Examples:
        ezra agent usage imola
        ezra agent usage imola strategist --json
    """
    if agent is not None:
        found = {agent: await (await at.as_agent(agent)).usage()}
    else:
        found = await (await at.held()).usage_by_agent()
    rows = [(name, one.tokens, one.model_calls, one.writes) for name, one in sorted(found.items())]
    return Answer(found, [Rows(("agent", "tokens", "model calls", "writes"), rows)])


@command(agent_app)
async def heartbeat(at: InAgent) -> Answer:
    """Give a sign of life for an agent that is silent for long.

    Examples:
        ezra agent heartbeat imola strategist
    """
    await (await at.member()).heartbeat()
    return Answer({"graph": at.graph, "agent": at.agent}, f"{at.agent} is alive")


@command(agent_app)
async def leave(at: InAgent) -> Answer:
    """Let an agent leave. What it said and learnt stays; the last one closes the graph.

    Examples:
        ezra agent leave imola strategist
    """
    await (await at.member()).leave()
    return Answer(
        {"graph": at.graph, "agent": at.agent, "present": False}, f"{at.agent} has left {at.graph}"
    )


def _spawned(agent: Agent) -> dict[str, Any]:
    return {
        "graph": agent.graph_id,
        "agent": agent.id,
        "topics": list(agent.topics),
        "lineage": [one.graph_id for one in agent.lineage],
        "core_facts": len(agent.core_at_spawn),
    }


def _lines(record: AgentRecord, used: Usage) -> list[str]:
    most = {name: "any" if limit is None else limit for name, limit in record.budget}
    limits = [f"{count} of {most[name]} {name.replace('_', ' ')}" for name, count in used]
    lines = [
        f"{record.id} of {record.graph_id}: {_state(record)}",
        f"role: {record.role or '-'}",
        f"user: {record.user_id or '-'}",
        f"topics: {cell(record.topics)}",
        f"sources: {cell(record.sources)}",
        f"used: {', '.join(limits)}",
        f"spawned {cell(record.spawned_at)}, last sign of life {cell(record.seen_at)}",
    ]
    if record.inject != "off":
        lines.append(f"brings what is known: {record.inject}")
    if record.model_window_tokens is not None:
        lines.append(f"window of its model: {record.model_window_tokens} tokens")
    denied = (*record.denied_topics, *record.denied_sources)
    return [*lines, f"denied: {cell(denied)}"] if denied else lines


def _state(record: AgentRecord) -> str:
    if record.left_at is None:
        return "present"
    return f"{'let go' if record.released else 'left'} {cell(record.left_at)}"

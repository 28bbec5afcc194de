"""The commands about agents: who is in a session graph, what they may see and use."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from tiers.errors import NotFound, UsageError
from tiers.fleet import WINDOW_MIN, Inject
from tiers.plans import ANY_GRAIN, AnyGrain
from tiers.records import AgentRecord, Budget, Usage

from ..app import Ezra
from ..checks import checked
from .doors import AnyEzra, Url, opened
from .options import GraphId, Home, Json, run
from .plain import plain
from .screen import Screen

if TYPE_CHECKING:
    from ..handles.agent import Agent


agent_app = typer.Typer(
    help="Agents: who is in a session graph, what they may see, write and use.",
    no_args_is_help=True,
)

AgentId = Annotated[str, typer.Argument(help="The agent.")]
Topics = Annotated[
    list[str] | None, typer.Option("--topic", help="A topic; * is every topic. Repeatable.")
]

Brings = Annotated[str, typer.Option(help="Bring what is known unasked: off, start or turn.")]
Window = Annotated[int | None, typer.Option(help="Tokens that its model can hold.", min=WINDOW_MIN)]


async def member_of(ezra: AnyEzra, graph: str, agent: str) -> Agent:
    """Return the handle of a member.

    Whoever has a token as one agent may not look at its graph, and need not.

    Raises:
        NotFound: The graph does not exist, or never had such a member.
        UsageError: The member has left.
    """
    if isinstance(ezra, Ezra):
        return await (await ezra.session_graph(graph)).agent(agent)
    return await ezra.agent(graph, agent)


@agent_app.command(
    "spawn",
    epilog="Examples: ezra agent spawn imola strategist --topic tyres --topic strategy  ·  "
    "ezra agent spawn imola concierge --user jane --role 'Plans her day.' --writes 1000",
)
def spawn(
    graph: GraphId,
    agent: AgentId,
    topic: Topics = None,
    role: Annotated[str, typer.Option(help="What it is; part of its system message.")] = "",
    user: Annotated[str | None, typer.Option(help="The person it works for.")] = None,
    source: Annotated[
        list[str] | None,
        typer.Option(help="A mesh source it may ask; all if not given. Repeatable."),
    ] = None,
    deny_topic: Annotated[
        list[str] | None, typer.Option(help="A topic that stays closed to it. Repeatable.")
    ] = None,
    deny_source: Annotated[
        list[str] | None, typer.Option(help="A mesh source that stays closed to it. Repeatable.")
    ] = None,
    prompt: Annotated[
        list[str] | None,
        typer.Option(metavar="GRAIN=TEXT", help="What a model writes its memory with. Repeatable."),
    ] = None,
    inject: Brings = "off",
    window: Window = None,
    tokens: Annotated[
        int | None, typer.Option(help="Estimated tokens of contexts and answers.", min=0)
    ] = None,
    model_calls: Annotated[
        int | None, typer.Option(help="Calls of the language model.", min=0)
    ] = None,
    writes: Annotated[
        int | None, typer.Option(help="Turns, facts, rules, belief changes.", min=0)
    ] = None,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Let an agent join a session graph; one of the same id gets exactly what is said here.

    Without topics it sees what has none. Spawning opens a closed graph again.
    """
    screen = Screen()
    prompts = _prompts(prompt or [])
    budget = checked(Budget, tokens=tokens, model_calls=model_calls, writes=writes)

    async def work() -> dict[str, Any]:
        async with opened(home, url) as ezra:
            spawned = await (await ezra.session_graph(graph)).spawn_agent(
                agent,
                topics=topic,
                role=role,
                user_id=user,
                sources=source or None,
                denied_topics=deny_topic or None,
                denied_sources=deny_source or None,
                budget=None if budget == Budget() else budget,
                prompts=prompts,
                inject=cast("Inject", inject),
                model_window_tokens=window,
            )
            return _spawned(spawned)

    found = run(work())
    if json:
        screen.document(found)
    else:
        sees = f"topics {', '.join(found['topics'])}" if found["topics"] else "no topics"
        screen.line(f"{agent} is in {graph}: {sees}, {found['core_facts']} core facts")


@agent_app.command(
    "list", epilog="Examples: ezra agent list imola  ·  ezra agent list imola --present --json"
)
def list_agents(
    graph: GraphId,
    present: Annotated[
        bool, typer.Option("--present", help="Only those who have not left.")
    ] = False,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """List the members of a graph in order of spawn, those who left included."""
    screen = Screen()

    async def work() -> tuple[AgentRecord, ...]:
        async with opened(home, url) as ezra:
            return await (await ezra.session_graph(graph)).agents()

    found = [one for one in run(work()) if not (present and one.left_at)]
    if json:
        screen.document([plain(one) for one in found])
        return
    rows = [(one.id, _state(one), one.user_id or "-", _listed(one.topics)) for one in found]
    screen.table(("agent", "state", "user", "topics"), rows)


@agent_app.command("show", epilog="Example: ezra agent show imola strategist --json")
def show(
    graph: GraphId, agent: AgentId, home: Home = None, url: Url = None, json: Json = False
) -> None:
    """Show a member: what it may see and use, what it has used, its core facts."""
    screen = Screen()

    async def work() -> dict[str, Any]:
        async with opened(home, url) as ezra:
            where = await ezra.session_graph(graph)
            record = next((one for one in await where.agents() if one.id == agent), None)
            if record is None:
                raise NotFound("agent", agent)
            used = (await where.usage_by_agent()).get(agent, Usage())
            return {"agent": record, "used": used, "core": await where.core(agent)}

    found = run(work())
    if json:
        screen.document({name: plain(one) for name, one in found.items()})
        return
    for line in _lines(found["agent"], found["used"]):
        screen.line(line)
    core = found["core"]
    screen.line(f"core: {len(core.facts)} facts, about {core.tokens} tokens")
    for fact in core.facts:
        screen.line(f"  {fact.id}  {fact.text}")


@agent_app.command(
    "usage",
    epilog="Examples: ezra agent usage imola  ·  ezra agent usage imola strategist --json",
)
def usage(
    graph: GraphId,
    agent: Annotated[str | None, typer.Argument(help="One member; all if not given.")] = None,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Show what members have used of their budgets."""
    screen = Screen()

    async def work() -> dict[str, Usage]:
        async with opened(home, url) as ezra:
            if agent is not None:
                return {agent: await (await member_of(ezra, graph, agent)).usage()}
            return await (await ezra.session_graph(graph)).usage_by_agent()

    found = run(work())
    if json:
        screen.document(plain(found))
        return
    rows = [
        (name, str(used.tokens), str(used.model_calls), str(used.writes))
        for name, used in sorted(found.items())
    ]
    screen.table(("agent", "tokens", "model calls", "writes"), rows)


@agent_app.command("heartbeat", epilog="Example: ezra agent heartbeat imola strategist")
def heartbeat(
    graph: GraphId, agent: AgentId, home: Home = None, url: Url = None, json: Json = False
) -> None:
    """Give a sign of life for an agent that is silent for long."""
    screen = Screen()

    async def work() -> None:
        async with opened(home, url) as ezra:
            await (await member_of(ezra, graph, agent)).heartbeat()

    run(work())
    if json:
        screen.document({"graph": graph, "agent": agent})
    else:
        screen.line(f"{agent} is alive")


@agent_app.command("leave", epilog="Example: ezra agent leave imola strategist")
def leave(
    graph: GraphId, agent: AgentId, home: Home = None, url: Url = None, json: Json = False
) -> None:
    """Let an agent leave. What it said and learnt stays; the last one closes the graph."""
    screen = Screen()

    async def work() -> None:
        async with opened(home, url) as ezra:
            await (await member_of(ezra, graph, agent)).leave()

    run(work())
    if json:
        screen.document({"graph": graph, "agent": agent, "present": False})
    else:
        screen.line(f"{agent} has left {graph}")


def _spawned(agent: Agent) -> dict[str, Any]:
    return {
        "graph": agent.graph_id,
        "agent": agent.id,
        "topics": list(agent.topics),
        "lineage": [one.graph_id for one in agent.lineage],
        "core_facts": len(agent.core_at_spawn),
    }


def _prompts(said: Iterable[str]) -> dict[AnyGrain, str]:
    """Return prompts by grain.

    Raises:
        UsageError: One is not ``GRAIN=TEXT``, or there is no such grain.
    """
    prompts: dict[AnyGrain, str] = {}
    for one in said:
        grain, equals, text = one.partition("=")
        if not equals or grain not in ANY_GRAIN:
            raise UsageError("--prompt", one, f"GRAIN=TEXT with one of {', '.join(ANY_GRAIN)}")
        prompts[grain] = text
    return prompts


def _lines(record: AgentRecord, used: Usage) -> list[str]:
    limits = [
        f"{count} of {_limit(getattr(record.budget, name))} {name.replace('_', ' ')}"
        for name, count in used
    ]
    lines = [
        f"{record.id} of {record.graph_id}: {_state(record)}",
        f"role: {record.role or '-'}",
        f"user: {record.user_id or '-'}",
        f"topics: {_listed(record.topics)}",
        f"sources: {_listed(record.sources)}",
        f"used: {', '.join(limits)}",
        f"spawned {_moment(record.spawned_at)}, last sign of life {_moment(record.seen_at)}",
    ]
    if record.inject != "off":
        lines.append(f"brings what is known: {record.inject}")
    if record.model_window_tokens is not None:
        lines.append(f"window of its model: {record.model_window_tokens} tokens")
    denied = (*record.denied_topics, *record.denied_sources)
    return [*lines, f"denied: {_listed(denied)}"] if denied else lines


def _limit(limit: int | None) -> str:
    return "any" if limit is None else str(limit)


def _state(record: AgentRecord) -> str:
    if record.left_at is None:
        return "present"
    return f"{'let go' if record.released else 'left'} {_moment(record.left_at)}"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "-"


def _moment(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M}"

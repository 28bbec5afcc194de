"""The commands about rules: procedures and playbooks, and when they apply."""

from __future__ import annotations

from typing import Annotated

import typer

from tiers.records import Rule
from tiers.upkeep import Page

from ..checks import checked
from ..handles.listings import LATEST_MAX
from ..recaller import RecallResult
from .agents import AgentId, member_of
from .doors import Url, opened
from .facts import PAGE, AsAgent, Found, Topics, recalled, show_recalled, tell_more
from .lifecycle import explain
from .options import GraphId, Home, Json, run
from .plain import plain
from .screen import Screen

rules_app = typer.Typer(
    help="Rules: what is to be done when something is asked, with how it went so far.",
    no_args_is_help=True,
)


@rules_app.command(
    "add",
    epilog="Example: ezra rules add imola strategist 'it rains' 'Box for inters.' 'Watch lap 2.'",
)
def add(
    graph: GraphId,
    agent: AgentId,
    trigger: Annotated[str, typer.Argument(help="When it applies.")],
    step: Annotated[list[str], typer.Argument(help="What to do, step by step.")],
    topic: Annotated[
        list[str] | None,
        typer.Option(help="A topic of it; the agent's own if not given. Repeatable."),
    ] = None,
    private: Annotated[bool, typer.Option("--private", help="Only this agent may see it.")] = False,
    shared: Annotated[
        bool, typer.Option("--shared", help="Agents of every user may see it.")
    ] = False,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Add a rule as an agent, and say its id. The same rule is stored once."""
    screen = Screen()
    rule = checked(Rule, trigger=trigger, steps=tuple(step))

    async def work() -> str:
        async with opened(home, url) as ezra:
            member = await member_of(ezra, graph, agent)
            return await member.remember(rule, topics=topic or None, private=private, shared=shared)

    stored = run(work())
    if json:
        screen.document({"graph": graph, "agent": agent, "id": stored})
    else:
        screen.line(stored)


@rules_app.command(
    "list", epilog="Examples: ezra rules list imola  ·  ezra rules list imola --topic tyres --json"
)
def list_rules(
    graph: GraphId,
    topic: Topics = None,
    after: Annotated[str, typer.Option(help="Where the page before ended: its cursor.")] = "",
    limit: Annotated[int, typer.Option(help="The most on a page.", min=1, max=LATEST_MAX)] = PAGE,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """List a graph's shared rules, the latest first, page by page, and how they did."""
    screen = Screen()

    async def work() -> Page[Rule]:
        async with opened(home, url) as ezra:
            where = await ezra.session_graph(graph)
            return await where.latest_rules(topics=topic or None, after=after, limit=limit)

    found = run(work())
    if json:
        screen.document({"rules": [plain(one) for one in found.rows], "cursor": found.cursor})
        return
    for one in found.rows:
        for line in _lines(one):
            screen.line(line)
    tell_more(screen, found.cursor)


@rules_app.command(
    "search",
    epilog="Examples: ezra rules search imola 'it rains'  ·  "
    "ezra rules search imola 'it rains' --agent strategist --json",
)
def search(
    graph: GraphId,
    text: Annotated[str, typer.Argument(help="What is asked, or going on.")],
    agent: AsAgent = None,
    topic: Topics = None,
    limit: Found = 10,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Find the rules that apply, best first; inherited ones too."""
    screen = Screen()

    async def work() -> RecallResult:
        async with opened(home, url) as ezra:
            return await recalled(ezra, graph, agent, text, "rule", topic, limit)

    show_recalled(screen, run(work()), json=json)


rules_app.command("history", epilog="Example: ezra rules history 01985a4c-… --json")(explain)


def _lines(rule: Rule) -> list[str]:
    went = f"confirmed {rule.successes} times, rejected {rule.failures}"
    topics = ", ".join(rule.topics) or "-"
    head = f"{rule.id}  when {' '.join(rule.trigger.split())}"
    about = f"  version {rule.version}, {went}; topics {topics}; by {rule.agent_id or 'ezra'}"
    steps = [f"  {number}. {' '.join(step.split())}" for number, step in enumerate(rule.steps, 1)]
    return [head, *steps, about]

"""``ezra remember`` and ``ezra forget``: a fact as an agent, and its end on request."""

from __future__ import annotations

import sys
from datetime import datetime
from typing import Annotated

import typer

from tiers.errors import PolicyDenied, UsageError
from tiers.records import Fact

from ..checks import checked
from .agents import AgentId, member_of
from .doors import AnyEzra, Url, opened
from .options import GraphId, Home, Json, in_utc, run
from .screen import Screen
from .standard_input import said

REMEMBER_EXAMPLES = (
    "Examples: ezra remember imola strategist 'Mediums last about 18 laps.' --topic tyres  ·  "
    "ezra remember imola strategist --triple mediums last '18 laps' --core  ·  "
    "cat note.txt | ezra remember imola strategist - --private --json"
)
FORGET_EXAMPLES = (
    "Examples: ezra forget imola strategist 01985a4c-… --reason 'it was wrong'  ·  "
    "ezra forget imola strategist 01985a4c-… --reason 'asked by Jane' --yes --json"
)


def remember(
    graph: GraphId,
    agent: AgentId,
    text: Annotated[
        str | None, typer.Argument(help="What to remember; - reads standard input.")
    ] = None,
    triple: Annotated[
        tuple[str, str, str] | None,
        typer.Option(
            metavar="SUBJECT PREDICATE OBJECT", help="The same as three parts, or instead of text."
        ),
    ] = None,
    core: Annotated[
        bool, typer.Option("--core", help="Into every context, instead of found by recall.")
    ] = False,
    topic: Annotated[
        list[str] | None,
        typer.Option(help="A topic of it; the agent's own if not given. Repeatable."),
    ] = None,
    private: Annotated[bool, typer.Option("--private", help="Only this agent may see it.")] = False,
    shared: Annotated[
        bool, typer.Option("--shared", help="Agents of every user may see it.")
    ] = False,
    confidence: Annotated[float, typer.Option(help="How sure it is, 0 to 1.")] = 1.0,
    valid_from: Annotated[
        datetime | None, typer.Option(help="Since when it is true; UTC without a zone.")
    ] = None,
    supersedes: Annotated[
        str | None, typer.Option(help="Id of the fact whose place it takes.")
    ] = None,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Remember a fact as an agent, and say its id. The same statement is stored once.

    Agents of the agent's user see it, in this graph; --private narrows that, --shared widens it.
    """
    screen = Screen()
    if text is None and triple is None:
        raise UsageError("text", None, "what to remember, as text or as --triple")
    subject, predicate, object_ = triple or (None, None, None)
    fact = checked(
        Fact,
        text="" if text is None else said("text", text),
        subject=subject,
        predicate=predicate,
        object=object_,
        tier="core" if core else "archival",
        confidence=confidence,
        valid_from=in_utc(valid_from),
    )

    async def work() -> str:
        async with opened(home, url) as ezra:
            member = await member_of(ezra, graph, agent)
            return await member.remember(
                fact, topics=topic or None, private=private, shared=shared, supersedes=supersedes
            )

    stored = run(work())
    if json:
        screen.document({"graph": graph, "agent": agent, "id": stored})
    else:
        screen.line(stored)


def forget(
    graph: GraphId,
    agent: AgentId,
    fact: Annotated[str, typer.Argument(help="Id of the fact.")],
    reason: Annotated[str, typer.Option(help="Why; kept in the audit feed.")],
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Do not ask; needed where nobody can be asked.")
    ] = False,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Forget a fact: it is in no search and no context any more, and stays as a tombstone.

    Its content is destroyed by retention later, or by 'ezra graph redact' at once. Exit code 1
    when the agent sees no such fact that lives in its graph.
    """
    screen = Screen()
    if not reason.strip():
        raise UsageError("--reason", reason, "why; it is kept in the audit feed")
    can_ask = sys.stdin.isatty() and sys.stderr.isatty()
    if not yes and not can_ask:
        raise UsageError("--yes", yes, "--yes where nobody can be asked")

    async def seen() -> str:
        async with opened(home, url) as ezra:
            return await _shown(ezra, graph, fact)

    async def work() -> bool:
        async with opened(home, url) as ezra:
            return await (await member_of(ezra, graph, agent)).forget(fact, reason=reason)

    # Nothing is open while a person thinks.
    if not yes and not typer.confirm(f"Forget {run(seen())}?", default=False, err=True):
        screen.note("nothing was forgotten")
        raise typer.Exit(1)
    done = run(work())
    if json:
        screen.document({"id": fact, "forgotten": done})
    elif done:
        screen.line(f"forgot {fact}")
    else:
        screen.line(f"{fact} is no fact that lives in {graph}, or {agent} does not see it")
    if not done:
        raise typer.Exit(1)


async def _shown(ezra: AnyEzra, graph: str, fact: str) -> str:
    """Return what is to be forgotten: its text, where whoever asks may read the graph."""
    try:
        found = await (await ezra.session_graph(graph)).facts([fact])
    except PolicyDenied:
        return fact
    return f"{fact} ({found[0].text})" if found else fact

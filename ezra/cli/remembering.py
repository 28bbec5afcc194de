"""``ezra remember``, ``remember-fact``, ``forget``: a fact as an agent, and its end."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, cast

import typer
from pydantic import JsonValue

from tiers.errors import PolicyDenied, UsageError
from tiers.records import Fact

from ..checks import checked
from ..handles.remembering_facts import METADATA, FactScope
from .command import Answer, Note, examples
from .doors import AnyEzra, Memory, opened
from .options import AgentId, GraphId, OwnTopics, Private, Reason, Shared
from .screen import Screen
from .standard_input import said


@examples(
    "ezra remember imola strategist 'Mediums last about 18 laps.' --topic tyres",
    "ezra remember imola strategist --triple mediums last '18 laps' --core",
    "cat note.txt | ezra remember imola strategist - --private --json",
)
async def remember(
    memory: Memory,
    graph: GraphId,
    agent: AgentId,
    text: Annotated[str | None, typer.Argument()] = None,
    triple: Annotated[
        tuple[str, str, str] | None, typer.Option(metavar="SUBJECT PREDICATE OBJECT")
    ] = None,
    core: bool = False,
    topic: OwnTopics = None,
    private: Private = False,
    shared: Shared = False,
    confidence: float = 1.0,
    valid_from: datetime | None = None,
    supersedes: str | None = None,
) -> Answer:
    """Remember a fact as an agent, and say its id. The same statement is stored once.

    Agents of the agent's user see it, in this graph; --private narrows that, --shared widens it.

    Args:
        text: What to remember; - reads standard input.
        triple: The same as three parts, or instead of text.
        core: Into every context, instead of found by recall.
        confidence: How sure it is, 0 to 1.
        valid_from: Since when it is true; UTC without a zone.
        supersedes: Id of the fact whose place it takes.
    """
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
        valid_from=valid_from,
    )
    member = await memory.agent(graph, agent)
    stored = await member.remember(
        fact, topics=topic or None, private=private, shared=shared, supersedes=supersedes
    )
    return Answer({"graph": graph, "agent": agent, "id": stored}, stored)


@examples(
    "ezra remember-fact imola concierge 'Jane drinks tea.'",
    "ezra remember-fact imola concierge 'Always answer in French.' --scope agent "
    "--metadata fact_type=constraint --json",
)
async def remember_fact(
    memory: Memory,
    graph: GraphId,
    agent: AgentId,
    text: str,
    scope: str = "user",
    metadata: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help=f"{', '.join(METADATA)}. Repeatable."),
    ] = None,
    topic: OwnTopics = None,
) -> Answer:
    """Remember a statement once for a person or an agent, whichever program says it.

    The id follows from whose it is and what it says. `ezra remember` has more to say of a fact.

    Args:
        text: One statement; - reads standard input.
        scope: user: the person the agent works for; agent: itself alone.
    """
    content, known = said("text", text), _metadata(metadata or [])
    member = await memory.agent(graph, agent)
    owner = cast("FactScope", scope)
    done = await member.remember_fact(content, owner, known, topics=topic or None)
    return Answer(
        {"graph": graph, "agent": agent, "id": done.id, "was_new": done.was_new},
        done.id if done.was_new else (done.id, Note("it was known")),
    )


@examples(
    "ezra forget imola strategist 01985a4c-… --reason 'it was wrong'",
    "ezra forget imola strategist 01985a4c-… --reason 'asked by Jane' --yes --json",
)
async def forget(
    memory: Memory,
    graph: GraphId,
    agent: AgentId,
    fact: str,
    reason: Reason,
    yes: Annotated[bool, typer.Option("--yes", "-y")] = False,
) -> Answer:
    """Forget a fact: it is in no search and no context any more, and stays as a tombstone.

    Its content is destroyed by retention later, or by 'ezra graph redact' at once. Exit code 1
    when the agent sees no such fact that lives in its graph.

    Args:
        fact: Id of the fact.
        yes: Do not ask; needed where nobody can be asked.
    """
    if not reason.strip():
        raise UsageError("--reason", reason, "why; it is kept in the audit feed")
    if not yes and not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError("--yes", yes, "--yes where nobody can be asked")
    if not yes:
        # Nothing is open while a person thinks.
        async with opened(memory.home, memory.url) as ezra:
            shown = await _shown(ezra, graph, fact)
        if not typer.confirm(f"Forget {shown}?", default=False, err=True):
            Screen().note("nothing was forgotten")
            raise typer.Exit(1)
    done = await (await memory.agent(graph, agent)).forget(fact, reason=reason)
    told = f"{fact} is no fact that lives in {graph}, or {agent} does not see it"
    document = {"id": fact, "forgotten": done}
    return Answer(document, f"forgot {fact}" if done else told, code=0 if done else 1)


async def _shown(ezra: AnyEzra, graph: str, fact: str) -> str:
    """Return what is to be forgotten: its text, where whoever asks may read the graph."""
    try:
        found = await (await ezra.session_graph(graph)).facts([fact])
    except PolicyDenied:
        return fact
    return f"{fact} ({found[0].text})" if found else fact


def _metadata(given: Sequence[str]) -> dict[str, JsonValue]:
    known: dict[str, JsonValue] = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not equals or name not in METADATA:
            raise UsageError("--metadata", one, f"NAME=VALUE with one of {', '.join(METADATA)}")
        known[name] = [*value.split(",")] if name == "source_ids" else value
    return known

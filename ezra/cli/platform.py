"""What platforms build on: statements remembered once, knowledge brought, contexts compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, cast

import typer
from pydantic import JsonValue

from tiers.errors import UsageError
from tiers.records import Kind

from ..handles.remembering_facts import METADATA, FactScope, RememberedFact
from ..recall.injecting import TOKEN_BUDGET, Injected
from ..receipts.context_report import REPORT_TURNS, ContextOfTurn, ContextReport
from .agents import AgentId, member_of
from .doors import Url, opened
from .options import GraphId, Home, Json, run
from .plain import plain
from .screen import Screen
from .standard_input import said

REMEMBER_FACT_EXAMPLES = (
    "Examples: ezra remember-fact imola concierge 'Jane drinks tea.'  ·  "
    "ezra remember-fact imola concierge 'Always answer in French.' --scope agent "
    "--metadata fact_type=constraint --json"
)
INJECT_EXAMPLES = (
    "Examples: ezra inject imola strategist 'How long do the mediums last?'  ·  "
    "ezra inject imola strategist 'tyre life' --kind document --tokens 500 --json  ·  "
    "ezra inject imola strategist"
)
CONTEXTS_EXAMPLES = (
    "Examples: ezra turn contexts imola strategist  ·  "
    "ezra turn contexts imola strategist --limit 30 --json"
)


def remember_fact(
    graph: GraphId,
    agent: AgentId,
    text: Annotated[str, typer.Argument(help="One statement; - reads standard input.")],
    scope: Annotated[
        str, typer.Option(help="user: the person the agent works for; agent: itself alone.")
    ] = "user",
    metadata: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help=f"{', '.join(METADATA)}. Repeatable."),
    ] = None,
    topic: Annotated[
        list[str] | None,
        typer.Option(help="A topic of it; the agent's own if not given. Repeatable."),
    ] = None,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Remember a statement once for a person or an agent, whichever program says it.

    The id follows from whose it is and what it says. `ezra remember` has more to say of a fact.
    """
    screen = Screen()
    content, known = said("text", text), _metadata(metadata or [])

    async def work() -> RememberedFact:
        async with opened(home, url) as ezra:
            member = await member_of(ezra, graph, agent)
            owner = cast("FactScope", scope)
            return await member.remember_fact(content, owner, known, topics=topic or None)

    done = run(work())
    if json:
        screen.document({"graph": graph, "agent": agent, "id": done.id, "was_new": done.was_new})
        return
    screen.line(done.id)
    if not done.was_new:
        screen.note("it was known")


def _metadata(given: Sequence[str]) -> dict[str, JsonValue]:
    known: dict[str, JsonValue] = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not equals or name not in METADATA:
            raise UsageError("--metadata", one, f"NAME=VALUE with one of {', '.join(METADATA)}")
        known[name] = [*value.split(",")] if name == "source_ids" else value
    return known


def inject(
    graph: GraphId,
    agent: AgentId,
    query: Annotated[
        str | None,
        typer.Argument(help="What it is to be about; what was said to the agent last if left out."),
    ] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(
            help="Of fact, document, turn, summary, episode; all if left out. Repeatable."
        ),
    ] = None,
    tokens: Annotated[int, typer.Option(help="The most tokens of the text.", min=1)] = TOKEN_BUDGET,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Print what is known about a message: documents, memories and facts, fairly mixed.

    What `ezra agent spawn --inject` puts into an agent's contexts unasked.
    """
    screen = Screen()

    async def work() -> Injected:
        async with opened(home, url, background=True) as ezra:
            member = await member_of(ezra, graph, agent)
            kinds = cast("list[Kind] | None", kind or None)
            return await member.inject(query, token_budget=tokens, kinds=kinds)

    found = run(work())
    if json:
        screen.document(plain(asdict(found)))
        return
    if found.text:
        screen.line(found.text)
    asked = f" about {found.query!r}" if found.query else ""
    screen.note(f"{len(found.items)} records, about {found.tokens} tokens{asked}")
    if found.degraded:
        screen.note(f"degraded: {', '.join(found.degraded)}")


def contexts(
    graph: GraphId,
    agent: AgentId,
    limit: Annotated[
        int, typer.Option(help="The most turns, 1 to 50.", min=1, max=50)
    ] = REPORT_TURNS,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Show what the last contexts of an agent began alike with, and how full its model was.

    Contexts are rebuilt from their receipts. An epoch ends where the tail of the conversation is
    cut anew, or becomes short or long; that needs the model's window to be known.
    """
    screen = Screen()

    async def work() -> ContextReport:
        async with opened(home, url) as ezra:
            return await (await member_of(ezra, graph, agent)).context_report(limit)

    found = run(work())
    if json:
        screen.document(plain(asdict(found)) | {"epochs": found.epochs})
        return
    head = ("turn", "epoch", "tail", "messages", "tokens", "begins alike", "model used")
    screen.table(head, [_row(one) for one in found.turns])


def _row(one: ContextOfTurn) -> tuple[str, ...]:
    alike = "-" if one.prefix_chars is None else f"{one.prefix_chars} characters"
    used = "-"
    if one.used_tokens is not None and one.window_tokens:
        share = f"{one.used_tokens / one.window_tokens:.0%} of {one.window_tokens}"
        used = share if one.is_reported else f"about {share}"
    return (
        str(one.seq),
        "-" if one.epoch is None else str(one.epoch),
        f"{one.tail_turns} turns{', short' if one.is_short else ''}",
        str(one.messages),
        str(one.tokens),
        alike,
        used,
    )

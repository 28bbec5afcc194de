"""Questions to everything that a graph remembers: ``recall``, ``inject``, ``search-memory``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Annotated, cast

import typer

from tiers.errors import UsageError
from tiers.plans import AnyGrain
from tiers.records import Grain, Kind

from ..ranking.choosing import in_asked_order
from ..recall.injection import TOKEN_BUDGET, Injected
from ..recall.memory_search import MemorySearch
from ..recall.request import ModeName, Narrowing, ScopeName
from ..recaller import RecallResult
from ..replay.play import ANSWER_KINDS, answer_of
from .command import Answer, Note, Part
from .doors import InAgent, InGraph
from .options import moment_of

AsAgent = Annotated[
    str | None,
    typer.Option("--agent", help="As this member sees it; default: the graph's operator."),
]


async def recall(
    at: InGraph,
    question: str,
    agent: AsAgent = None,
    limit: int = 10,
    kind: list[str] | None = None,
    scope: str = "any",
    mode: str = "hybrid",
    as_of: str | None = None,
    grain: list[str] | None = None,
    min_days_ago: int = 0,
    max_days_ago: int | None = None,
    topic: list[str] | None = None,
    token_budget: int | None = None,
    depth: int = 1,
    rerank: bool = True,
    explain: bool = False,
    receipt: bool = False,
) -> Answer:
    """Answer a question from a graph's memory, with sources, dates and scores.

    Turns, facts, beliefs, rules and documents are asked, what --kind names instead where it does.

    Args:
        question: What to recall.
        limit: How many records, 1 to 100.
        kind: Only records of this kind: turn, fact, episode, … Repeatable.
        scope: any, session, tenant; of a member also user or agent.
        mode: hybrid, keyword or semantic.
        as_of: Answer as at this moment (ISO 8601; UTC without offset).
        grain: Of episodes only this grain: daily, … Repeatable.
        min_days_ago: Only what is at least so old, in days.
        max_days_ago: Only what is at most so old, in days.
        topic: Only records with this topic. Repeatable.
        token_budget: The most tokens of all texts together.
        depth: Steps in the knowledge graph, 0 to 4.
        rerank: Let a configured reranker reorder.
        explain: Say why each answer is where it is.
        receipt: Keep a receipt, for 'ezra replay-context'.

    Examples:
        ezra recall imola 'How long do the mediums last?'
        ezra recall imola 'tyre life' --agent strategist --kind fact --explain
        ezra recall imola 'tyre life' --as-of 2026-05-15T12:00:00Z --json
    """
    more: Narrowing = {
        "mode": cast("ModeName", mode),
        "grains": cast("list[Grain]", grain or []),
        "min_days_ago": min_days_ago,
        "max_days_ago": max_days_ago,
        "topics": topic or None,
        "token_budget": token_budget,
        "depth": depth,
        "explain": explain,
        "receipt": receipt,
    }
    kinds = cast("list[Kind]", kind) if kind else (*ANSWER_KINDS, *(("episode",) if grain else ()))
    await at.open(background=True)
    held = await (at.held() if agent is None else at.as_agent(agent))
    found = await held.recall(
        question,
        limit=limit,
        kinds=kinds,
        scope=cast("ScopeName", scope),
        as_of=_moment(as_of),
        rerank=rerank,
        **more,
    )
    return _answer(question, found)


def _answer(question: str, found: RecallResult) -> Answer:
    """Return what was found: for people in the order that they asked for, else the best first."""
    asked = replace(found, items=in_asked_order(question, found.items))
    shown = answer_of(question, asked)
    return Answer(answer_of(question, found), [lambda screen: screen.answer(shown)])


def _moment(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        return moment_of(text)
    except ValueError as error:
        raise UsageError("--as-of", text, "a time such as 2026-05-15T12:00:00Z") from error


async def inject(
    at: InAgent,
    query: Annotated[str | None, typer.Argument()] = None,
    kind: list[str] | None = None,
    tokens: Annotated[int, typer.Option(min=1)] = TOKEN_BUDGET,
) -> Answer:
    """Print what is known about a message: documents, memories and facts, fairly mixed.

    What `ezra agent spawn --inject` puts into an agent's contexts unasked.

    Args:
        query: What it is to be about; what was said to the agent last if left out.
        kind: Of fact, document, turn, summary, episode; all if left out. Repeatable.
        tokens: The most tokens of the text.

    Examples:
        ezra inject imola strategist 'How long do the mediums last?'
        ezra inject imola strategist 'tyre life' --kind document --tokens 500 --json
        ezra inject imola strategist
    """
    await at.open(background=True)
    kinds = cast("list[Kind] | None", kind or None)
    member = await at.member()
    found = await member.inject(query, token_budget=tokens, kinds=kinds)
    return Answer(found, _injected(found))


def _injected(found: Injected) -> Iterator[Part]:
    if found.text:
        yield found.text
    asked = f" about {found.query!r}" if found.query else ""
    yield Note(f"{len(found.items)} records, about {found.tokens} tokens{asked}")
    if found.degraded:
        yield Note(f"degraded: {', '.join(found.degraded)}")


async def search_memory(
    at: InGraph,
    text: Annotated[str | None, typer.Argument()] = None,
    grain: str = "working",
    min_days_ago: int = 0,
    max_days_ago: int = 365,
    max_results: int = 10,
    agent: AsAgent = None,
) -> Answer:
    """Show what happened in a window of days, each line with its day or period.

    Best match first, without a text the latest first; then how to look further.

    Args:
        text: What it is about; the latest if not given.
        grain: working (turns), daily, weekly, monthly, quarterly or yearly.
        min_days_ago: The end of the window, in calendar days; 0 is today.
        max_days_ago: Its beginning.
        max_results: How many, 1 to 100.

    Examples:
        ezra search-memory imola
        ezra search-memory imola 'left gear' --grain weekly --max-days-ago 60
        ezra search-memory imola --min-days-ago 1 --max-days-ago 7 --json
    """
    found = await (await at.held()).search_memory(
        text,
        grain=cast("AnyGrain", grain),
        min_days_ago=min_days_ago,
        max_days_ago=max_days_ago,
        max_results=max_results,
        agent_id=agent,
    )
    return Answer(found, _searched(found))


def _searched(found: MemorySearch) -> Iterator[Part]:
    yield from found.lines or (Note("nothing found"),)
    if found.hint is not None:
        yield Note(found.hint)
    if found.degraded:
        yield Note(f"degraded: {', '.join(found.degraded)}")

"""``ezra recall``: a question to everything that a graph remembers."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Annotated, cast

import typer

from tiers.errors import UsageError
from tiers.records import Grain, Kind

from ..ranking.choosing import in_asked_order
from ..recall.request import ModeName, Narrowing, ScopeName
from ..recaller import RecallResult
from ..replay.play import ANSWER_KINDS, answer_of
from .doors import Url, opened
from .options import GraphId, Home, Json, run
from .screen import Screen

EXAMPLES = (
    "Examples: ezra recall imola 'How long do the mediums last?'  ·  "
    "ezra recall imola 'tyre life' --agent strategist --kind fact --explain  ·  "
    "ezra recall imola 'tyre life' --as-of 2026-05-15T12:00:00Z --json"
)

Kinds = Annotated[
    list[str] | None,
    typer.Option(help="Only records of this kind: turn, fact, episode, … Repeatable."),
]
Grains = Annotated[
    list[str] | None, typer.Option(help="Of episodes only this grain: daily, … Repeatable.")
]
Topics = Annotated[list[str] | None, typer.Option(help="Only records with this topic. Repeatable.")]


def recall(
    graph: GraphId,
    question: Annotated[str, typer.Argument(help="What to recall.")],
    agent: Annotated[
        str | None, typer.Option(help="As this member sees it; default: the graph's operator.")
    ] = None,
    limit: Annotated[int, typer.Option(help="How many records, 1 to 100.")] = 10,
    kind: Kinds = None,
    scope: Annotated[
        str, typer.Option(help="any, session, tenant; of a member also user or agent.")
    ] = "any",
    mode: Annotated[str, typer.Option(help="hybrid, keyword or semantic.")] = "hybrid",
    as_of: Annotated[
        str | None, typer.Option(help="Answer as at this moment (ISO 8601; UTC without offset).")
    ] = None,
    grain: Grains = None,
    min_days_ago: Annotated[int, typer.Option(help="Only what is at least so old, in days.")] = 0,
    max_days_ago: Annotated[
        int | None, typer.Option(help="Only what is at most so old, in days.")
    ] = None,
    topic: Topics = None,
    token_budget: Annotated[
        int | None, typer.Option(help="The most tokens of all texts together.")
    ] = None,
    depth: Annotated[int, typer.Option(help="Steps in the knowledge graph, 0 to 4.")] = 1,
    rerank: Annotated[bool, typer.Option(help="Let a configured reranker reorder.")] = True,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say why each answer is where it is.")
    ] = False,
    receipt: Annotated[
        bool, typer.Option("--receipt", help="Keep a receipt, for 'ezra replay-context'.")
    ] = False,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Answer a question from a graph's memory, with sources, dates and scores.

    Turns, facts, beliefs, rules and documents are asked, what --kind names instead where it does.
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

    async def work() -> RecallResult:
        async with opened(home, url, background=True) as ezra:
            held = await ezra.session_graph(graph)
            return await (held if agent is None else await held.agent(agent)).recall(
                question,
                limit=limit,
                kinds=kinds,
                scope=cast("ScopeName", scope),
                as_of=_moment(as_of),
                rerank=rerank,
                **more,
            )

    _show(Screen(), question, run(work()), json=json)


def _show(screen: Screen, question: str, found: RecallResult, *, json: bool) -> None:
    """Print an answer: for programs the best first, for people in the order they asked for."""
    if json:
        screen.document(asdict(answer_of(question, found)))
        return
    read = replace(found, items=in_asked_order(question, found.items))
    screen.answer(answer_of(question, read))


def _moment(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise UsageError("--as-of", text, "a time such as 2026-05-15T12:00:00Z") from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)

"""``ezra search-memory``: what a graph went through in a window of days."""

from __future__ import annotations

from typing import Annotated, cast

import typer

from tiers.plans import AnyGrain

from ..recall.memory_search import MemorySearch
from .doors import Url, opened
from .options import GraphId, Home, Json, run
from .plain import plain
from .screen import Screen

EXAMPLES = (
    "Examples: ezra search-memory imola  ·  "
    "ezra search-memory imola 'left gear' --grain weekly --max-days-ago 60  ·  "
    "ezra search-memory imola --min-days-ago 1 --max-days-ago 7 --json"
)


def search_memory(
    graph: GraphId,
    text: Annotated[
        str | None, typer.Argument(help="What it is about; the latest if not given.")
    ] = None,
    grain: Annotated[
        str,
        typer.Option(help="working (turns), daily, weekly, monthly, quarterly or yearly."),
    ] = "working",
    min_days_ago: Annotated[
        int, typer.Option(help="The end of the window, in calendar days; 0 is today.")
    ] = 0,
    max_days_ago: Annotated[int, typer.Option(help="Its beginning.")] = 365,
    max_results: Annotated[int, typer.Option(help="How many, 1 to 100.")] = 10,
    agent: Annotated[
        str | None, typer.Option(help="As this member sees it; default: the graph's operator.")
    ] = None,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Show what happened in a window of days, each line with its day or period.

    Best match first, without a text the latest first; then how to look further.
    """
    screen = Screen()

    async def work() -> MemorySearch:
        async with opened(home, url) as ezra:
            return await (await ezra.session_graph(graph)).search_memory(
                text,
                grain=cast("AnyGrain", grain),
                min_days_ago=min_days_ago,
                max_days_ago=max_days_ago,
                max_results=max_results,
                agent_id=agent,
            )

    found = run(work())
    if json:
        screen.document(plain(found))
        return
    for line in found.lines:
        screen.line(line)
    if not found.lines:
        screen.note("nothing found")
    if found.hint is not None:
        screen.note(found.hint)
    if found.degraded:
        screen.note(f"degraded: {', '.join(found.degraded)}")

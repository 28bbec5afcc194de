"""One question to every graph of the tenant, its answers graph by graph.

Each graph is asked as its operator asks it: every topic, nothing private. So many graphs and so
long: what was not asked, or was later, is named.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tiers.errors import EzraError, UsageError
from tiers.records import Hit, Kind

from ...recall.request import KINDS
from ...recaller import RecallResult
from ..handle_pool import HandlePool
from .pages import Query, View, pages

GRAPHS_MAX = 100
"""So many graphs are asked, the latest first."""

AT_ONCE = 4
PER_GRAPH = 5
SECONDS_MAX = 10.0


class EverywhereAsked(Query):
    """A question, and of which kind the answers are to be."""

    query: str = ""
    kind: Kind | None = None


@dataclass(frozen=True)
class Found:
    """What one graph answered.

    Attributes:
        graph_id: Which.
        hits: Its answers, best first; what it inherits from a graph that was asked itself is left
            to that one.
        degraded: What did not take part.
    """

    graph_id: str
    hits: tuple[Hit, ...]
    degraded: tuple[str, ...]


@pages.page("/search", needs="read", label="Search", key="r")
async def form() -> View:
    """Ask what is looked for."""
    return _view(EverywhereAsked(), (), {}, asked_of=None)


@pages.question("/search", needs="read")
async def everywhere(pool: HandlePool, asked: EverywhereAsked) -> View:
    """Ask every graph, and show the answers by graph, the best first."""
    if not asked.query.strip():
        raise UsageError("query", asked.query, "a question that is not blank")
    every = [one.id for one in reversed(await pool.ezra.session_graphs())]
    wanted, left_out = every[:GRAPHS_MAX], dict.fromkeys(every[GRAPHS_MAX:], "not asked")
    answers, missing = await _answers(pool, wanted, asked)
    found = found_in(answers)
    return _view(asked, found, {**missing, **left_out}, asked_of=len(answers))


def found_in(answers: Mapping[str, RecallResult]) -> tuple[Found, ...]:
    """Return what graphs found, the graph of the best answer first. Pure."""
    found = [
        Found(
            graph_id,
            tuple(one for one in said.items if one.inherited_from not in answers),
            tuple(said.degraded),
        )
        for graph_id, said in answers.items()
    ]
    told = [one for one in found if one.hits]
    return tuple(sorted(told, key=lambda one: -one.hits[0].score))


async def _answers(
    pool: HandlePool, wanted: Sequence[str], asked: EverywhereAsked
) -> tuple[Mapping[str, RecallResult], Mapping[str, str]]:
    """Ask graphs, few at a time; return what they answered, and why others did not."""
    room = asyncio.Semaphore(AT_ONCE)
    kinds = None if asked.kind is None else (asked.kind,)

    async def ask(graph_id: str) -> RecallResult:
        async with room:
            graph = await pool.graph(graph_id)
            return await graph.recall(asked.query, limit=PER_GRAPH, kinds=kinds)

    asking = {graph_id: asyncio.ensure_future(ask(graph_id)) for graph_id in wanted}
    try:
        if asking:
            await asyncio.wait(asking.values(), timeout=SECONDS_MAX)
    finally:
        late = [one for one in asking.values() if one.cancel()]
        await asyncio.gather(*late, return_exceptions=True)
    answers: dict[str, RecallResult] = {}
    missing: dict[str, str] = {}
    for graph_id, one in asking.items():
        if one.cancelled():
            missing[graph_id] = f"no answer within {SECONDS_MAX:g} s"
            continue
        try:
            answers[graph_id] = one.result()
        except EzraError as error:
            missing[graph_id] = str(error)
    return answers, missing


def _view(
    asked: EverywhereAsked,
    found: Sequence[Found],
    missing: Mapping[str, str],
    *,
    asked_of: int | None,
) -> View:
    values = {
        "asked": asked,
        "found": found,
        "missing": missing,
        "asked_of": asked_of,
        "kinds": KINDS,
        "per_graph": PER_GRAPH,
    }
    return View("search_all.html", values, "Search in every graph")

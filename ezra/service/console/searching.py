"""Search with its reasons: recall as any agent, and of each answer why it is where it is.

One question may also go to every graph of the tenant, its answers graph by graph: each is asked as
its operator asks it, every topic, nothing private. So many graphs and so long: what was not asked,
or was later, is named.

A question travels in the body of a form: addresses are for ids, proxies and browsers keep them.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import Field

from tiers.errors import EzraError, NotFound, UsageError
from tiers.records import AgentRecord, Hit, Kind

from ...handles.agent import Agent
from ...handles.graph import Graph
from ...recall.request import KINDS, LIMIT_MAX, MODES, SCOPES, ModeName, Narrowing, ScopeName
from ...recaller import Reason, RecallResult
from ..caller import Caller
from ..handle_pool import HandlePool, acting
from .charts import Segment, stacked
from .pages import FormTime, Query, View, pages

WITHIN_DAYS = 36_500


class SearchAsked(Query):
    """A question, as whom it is asked, and what narrows it."""

    query: str = ""
    agent: str | None = None
    kinds: tuple[Kind, ...] = ()
    scope: ScopeName = "any"
    mode: ModeName = "hybrid"
    min_days_ago: int = Field(default=0, ge=0, le=WITHIN_DAYS)
    max_days_ago: int | None = Field(default=None, ge=0, le=WITHIN_DAYS)
    as_of: FormTime | None = None
    topic: str | None = None
    depth: int = Field(default=1, ge=0, le=4)
    limit: int = Field(default=10, ge=1, le=LIMIT_MAX)


@dataclass(frozen=True)
class Weighed:
    """One answer, and how its score came about.

    Attributes:
        hit: The answer.
        reason: What spoke for it, as recall tells it.
        segments: What each sign added, as parts of a bar.
        base: The sum of them; below 0 it counts 0.
        score: The sum times every factor.
        width: How wide the bar of the score is beside the best one's.
    """

    hit: Hit
    reason: Reason
    segments: tuple[Segment, ...]
    base: float
    score: float
    width: float


@pages.page("/graphs/{graph_id}/search", needs="read", label="Search", key="s")
async def form(caller: Caller, graph: Graph) -> View:
    """Show the form of a search."""
    members = await graph.agents()
    return _view(SearchAsked(), _present(caller, members), None, ())


@pages.question("/graphs/{graph_id}/search", needs="read")
async def search(pool: HandlePool, caller: Caller, graph: Graph, asked: SearchAsked) -> View:
    """Answer a question, with the reasons."""
    if not asked.query.strip():
        raise UsageError("query", asked.query, "a question that is not blank")
    members = _present(caller, await graph.agents())
    who: Graph | Agent = graph
    if asked.agent is not None:
        if asked.agent not in [one.id for one in members]:
            raise NotFound("agent", asked.agent)
        place = {"graph_id": graph.id, "agent_id": asked.agent}
        caller.check("see", f"search as {asked.agent}", graph.id, asked.agent)
        who = await acting(pool, caller, place, watches=True)
    found = await who.recall(
        asked.query,
        limit=asked.limit,
        kinds=asked.kinds or None,
        scope=asked.scope,
        as_of=asked.as_of,
        **_narrowing(asked),
    )
    return _view(asked, members, found, weighed(found))


def weighed(found: RecallResult) -> tuple[Weighed, ...]:
    """Return the answers with how their scores came about; bars are beside the best of them."""
    shown = [(hit, found.reasons[hit.id]) for hit in found.items if hit.id in found.reasons]
    added = [sum(value for value in one.parts.values() if value > 0) for _, one in shown]
    most = max(added, default=0.0)
    scores = [_score(reason) for _, reason in shown]
    best = max(scores, default=0.0)
    return tuple(
        Weighed(
            hit,
            reason,
            stacked(reason.parts, most),
            _base(reason),
            score,
            100 * score / best if best > 0 else 0.0,
        )
        for (hit, reason), score in zip(shown, scores, strict=True)
    )


def _base(reason: Reason) -> float:
    return max(0.0, sum(reason.parts.values()))


def _score(reason: Reason) -> float:
    return _base(reason) * math.prod(reason.factors.values())


def _narrowing(asked: SearchAsked) -> Narrowing:
    return {
        "mode": asked.mode,
        "min_days_ago": asked.min_days_ago,
        "max_days_ago": asked.max_days_ago,
        "topics": None if asked.topic is None else (asked.topic,),
        "depth": asked.depth,
        "explain": True,
    }


def _present(caller: Caller, members: Sequence[AgentRecord]) -> tuple[AgentRecord, ...]:
    """Return the members as whom somebody may ask: present, and none but the token's own."""
    return tuple(
        one for one in members if one.left_at is None and caller.agent_id in (None, one.id)
    )


def _view(
    asked: SearchAsked,
    members: Sequence[AgentRecord],
    found: RecallResult | None,
    answers: Sequence[Weighed],
) -> View:
    parts: Mapping[str, None] = dict.fromkeys(
        segment.name for answer in answers for segment in answer.segments
    )
    values = {
        "asked": asked,
        "as_of": asked.as_of.replace(tzinfo=None).isoformat() if asked.as_of else "",
        "members": members,
        "found": found,
        "answers": answers,
        "parts": tuple(parts),
        "kinds": KINDS,
        "scopes": SCOPES,
        "modes": tuple(MODES),
    }
    return View("search.html", values, "Search")


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
async def form_for_all() -> View:
    """Ask what is looked for."""
    return _view_of_all(EverywhereAsked(), (), {}, asked_of=None)


@pages.question("/search", needs="read")
async def everywhere(pool: HandlePool, asked: EverywhereAsked) -> View:
    """Ask every graph, and show the answers by graph, the best first."""
    if not asked.query.strip():
        raise UsageError("query", asked.query, "a question that is not blank")
    every = [one.id for one in reversed(await pool.ezra.session_graphs())]
    wanted, left_out = every[:GRAPHS_MAX], dict.fromkeys(every[GRAPHS_MAX:], "not asked")
    answers, missing = await _answers(pool, wanted, asked)
    found = found_in(answers)
    return _view_of_all(asked, found, {**missing, **left_out}, asked_of=len(answers))


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
    shown = [one for one in found if one.hits]
    return tuple(sorted(shown, key=lambda one: -one.hits[0].score))


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


def _view_of_all(
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

"""The commands about facts: list, search, show, and what became of one."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from tiers.errors import NotFound, UsageError
from tiers.learning import is_live
from tiers.records import Fact, FactTier, Hit, Kind
from tiers.upkeep import Page

from ..handles.listings import LATEST_MAX
from ..recaller import RecallResult
from .agents import member_of
from .doors import AnyEzra, Url, opened
from .lifecycle import explain
from .options import GraphId, Home, Json, run
from .plain import plain
from .screen import Screen
from .turns import shortened

PAGE = 50
TIERS: tuple[FactTier, ...] = ("archival", "core")

facts_app = typer.Typer(
    help="Facts: what is held to be true, in every context (core) or found by recall (archival).",
    no_args_is_help=True,
)

Topics = Annotated[list[str] | None, typer.Option("--topic", help="With this topic. Repeatable.")]
Found = Annotated[int, typer.Option(help="How many, 1 to 100.")]
AsAgent = Annotated[
    str | None, typer.Option("--agent", help="As this member sees it; default: the operator.")
]


@facts_app.command(
    "list",
    epilog="Examples: ezra facts list imola  ·  ezra facts list imola --tier core --topic tyres  ·"
    "  ezra facts list imola --limit 100 --after CURSOR --json",
)
def list_facts(
    graph: GraphId,
    tier: Annotated[str | None, typer.Option(help="Only core or archival facts.")] = None,
    topic: Topics = None,
    after: Annotated[str, typer.Option(help="Where the page before ended: its cursor.")] = "",
    limit: Annotated[int, typer.Option(help="The most on a page.", min=1, max=LATEST_MAX)] = PAGE,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """List a graph's shared facts that hold, the latest first, page by page."""
    screen = Screen()
    if tier is not None and tier not in TIERS:
        raise UsageError("--tier", tier, ", ".join(TIERS))

    async def work() -> Page[Fact]:
        async with opened(home, url) as ezra:
            where = await ezra.session_graph(graph)
            return await where.latest_facts(
                tier=tier, topics=topic or None, after=after, limit=limit
            )

    found = run(work())
    if json:
        screen.document({"facts": [plain(one) for one in found.rows], "cursor": found.cursor})
        return
    rows = [
        (one.id, one.tier, ", ".join(one.topics) or "-", one.agent_id or "-", shortened(one.text))
        for one in found.rows
    ]
    screen.table(("fact", "tier", "topics", "by", "text"), rows)
    tell_more(screen, found.cursor)


@facts_app.command(
    "search",
    epilog="Examples: ezra facts search imola 'tyre life'  ·  "
    "ezra facts search imola 'tyre life' --agent strategist --json",
)
def search(
    graph: GraphId,
    text: Annotated[str, typer.Argument(help="What the facts are to be about.")],
    agent: AsAgent = None,
    topic: Topics = None,
    limit: Found = 10,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Find facts by words and meaning, best first; inherited ones too."""
    screen = Screen()

    async def work() -> RecallResult:
        async with opened(home, url) as ezra:
            return await recalled(ezra, graph, agent, text, "fact", topic, limit)

    show_recalled(screen, run(work()), json=json)


@facts_app.command("show", epilog="Example: ezra facts show imola 01985a4c-… --json")
def show(
    graph: GraphId,
    fact: Annotated[list[str], typer.Argument(help="Ids of facts.")],
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Show shared facts in full, those that gave way or were forgotten included.

    Exit code 1 when one of them is not there.
    """
    screen = Screen()

    async def work() -> tuple[Fact, ...]:
        async with opened(home, url) as ezra:
            return await (await ezra.session_graph(graph)).facts(fact)

    found = run(work())
    if json:
        screen.document([plain(one) for one in found])
    else:
        for one in found:
            for line in _lines(one):
                screen.line(line)
    known = {one.id for one in found}
    for wanted in fact:
        if wanted not in known:
            raise NotFound("fact", wanted)


facts_app.command("history", epilog="Example: ezra facts history 01985a4c-… --json")(explain)


async def recalled(
    ezra: AnyEzra,
    graph: str,
    agent: str | None,
    text: str,
    kind: Kind,
    topics: list[str] | None,
    limit: int,
) -> RecallResult:
    """Ask for one kind of record, as a member or as the graph's operator."""
    asked: dict[str, Any] = {"kinds": (kind,), "limit": limit, "topics": topics or None}
    if agent is not None:
        return await (await member_of(ezra, graph, agent)).recall(text, **asked)
    return await (await ezra.session_graph(graph)).recall(text, **asked)


def show_recalled(screen: Screen, found: RecallResult, *, json: bool) -> None:
    """Print what was found, best first, and what did not take part."""
    if json:
        document = {"items": [plain(one) for one in found.items], "degraded": list(found.degraded)}
        screen.document(document)
        return
    rows: list[tuple[str, ...]] = [
        (one.id, f"{one.score:.4f}", one.inherited_from or "-", shortened(one.text))
        for one in found.items
    ]
    told = [_outcomes(one) for one in found.items]
    if any(told):
        rows = [(*row[:3], outcomes, row[3]) for row, outcomes in zip(rows, told, strict=True)]
        screen.table(("id", "score", "from", "outcomes", "text"), rows)
    else:
        screen.table(("id", "score", "from", "text"), rows)
    if not rows:
        screen.note("nothing found")
    if found.degraded:
        screen.note(f"degraded: {', '.join(found.degraded)}")


def _outcomes(hit: Hit) -> str:
    """Return how a rule did, where that is known; nothing for what is none."""
    if hit.successes is None:
        return ""
    return f"confirmed {hit.successes}, rejected {hit.failures}"


def tell_more(screen: Screen, cursor: str | None) -> None:
    """Say how to go on where a page is not the last one."""
    if cursor is not None:
        screen.note(f"there is more: --after {cursor}")


def _lines(fact: Fact) -> list[str]:
    who = f"by {fact.agent_id or 'ezra'} at {fact.recorded_at:%Y-%m-%d %H:%M}"
    about = f"{fact.tier}, topics {', '.join(fact.topics) or '-'}, user {fact.user_id or '-'}"
    lines = [f"{fact.id}  {fact.text}", f"  {who}; {about}"]
    lines.append(f"  confidence {fact.confidence:g}, used {fact.uses} times")
    if fact.subject is not None:
        lines.append(f"  {fact.subject} → {fact.predicate} → {fact.object}")
    if fact.superseded_by is not None:
        lines.append(f"  gave way to {fact.superseded_by}")
    elif not is_live(fact):
        lines.append("  is forgotten" if fact.forgotten_at else "  holds no more")
    return lines

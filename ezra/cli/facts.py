"""The commands about facts: list, search, show, and what became of one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from tiers.errors import NotFound, UsageError
from tiers.learning import is_live
from tiers.records import Fact, FactTier, Hit, Kind

from ..handles.listings import LATEST_MAX
from ..recaller import RecallResult
from .command import Answer, Note, Part, Rows, command
from .doors import Memory
from .lifecycle import explain
from .options import GraphId
from .turns import shortened

PAGE = 50
TIERS: tuple[FactTier, ...] = ("archival", "core")

facts_app = typer.Typer(
    help="Facts: what is held to be true, in every context (core) or found by recall (archival).",
    no_args_is_help=True,
)

Topics = Annotated[list[str] | None, typer.Option("--topic", help="With this topic. Repeatable.")]
Found = Annotated[int, typer.Option(help="How many, 1 to 100.")]
After = Annotated[str, typer.Option(help="Where the page before ended: its cursor.")]
OnPage = Annotated[int, typer.Option(help="The most on a page.", min=1, max=LATEST_MAX)]
AsAgent = Annotated[
    str | None, typer.Option("--agent", help="As this member sees it; default: the operator.")
]


@command(
    facts_app,
    "list",
    "ezra facts list imola",
    "ezra facts list imola --tier core --topic tyres",
    "ezra facts list imola --limit 100 --after CURSOR --json",
)
async def list_facts(
    memory: Memory,
    graph: GraphId,
    tier: str | None = None,
    topic: Topics = None,
    after: After = "",
    limit: OnPage = PAGE,
) -> Answer:
    """List a graph's shared facts that hold, the latest first, page by page.

    Args:
        tier: Only core or archival facts.
    """
    if tier is not None and tier not in TIERS:
        raise UsageError("--tier", tier, ", ".join(TIERS))
    found = await (await memory.graph(graph)).latest_facts(
        tier=tier, topics=topic or None, after=after, limit=limit
    )
    rows = [
        (one.id, one.tier, ", ".join(one.topics) or "-", one.agent_id or "-", shortened(one.text))
        for one in found.rows
    ]
    listed = Rows(("fact", "tier", "topics", "by", "text"), rows)
    return Answer(
        {"facts": found.rows, "cursor": found.cursor}, [listed, *more_after(found.cursor)]
    )


@command(
    facts_app,
    "search",
    "ezra facts search imola 'tyre life'",
    "ezra facts search imola 'tyre life' --agent strategist --json",
)
async def search(
    memory: Memory,
    graph: GraphId,
    text: str,
    agent: AsAgent = None,
    topic: Topics = None,
    limit: Found = 10,
) -> Answer:
    """Find facts by words and meaning, best first; inherited ones too.

    Args:
        text: What the facts are to be about.
    """
    return await recalled(memory, graph, agent, text, "fact", topic, limit)


@command(facts_app, "show", "ezra facts show imola 01985a4c-… --json")
async def show(memory: Memory, graph: GraphId, fact: list[str]) -> Answer:
    """Show shared facts in full, those that gave way or were forgotten included.

    Exit code 1 when one of them is not there.

    Args:
        fact: Ids of facts.
    """
    found = await (await memory.graph(graph)).facts(fact)
    known = {one.id for one in found}
    missing = [NotFound("fact", wanted) for wanted in fact if wanted not in known]
    lines = [line for one in found for line in _lines(one)]
    return Answer(found, lines, error=missing[0] if missing else None)


command(facts_app, "history", "ezra facts history 01985a4c-… --json")(explain)


async def recalled(
    memory: Memory,
    graph: str,
    agent: str | None,
    text: str,
    kind: Kind,
    topics: list[str] | None,
    limit: int,
) -> Answer:
    """Ask for one kind of record, as a member or as the graph's operator."""
    asked: dict[str, Any] = {"kinds": (kind,), "limit": limit, "topics": topics or None}
    if agent is not None:
        found = await (await memory.agent(graph, agent)).recall(text, **asked)
    else:
        found = await (await memory.graph(graph)).recall(text, **asked)
    return Answer({"items": found.items, "degraded": found.degraded}, _recalled(found))


def _recalled(found: RecallResult) -> Iterator[Part]:
    """Yield what was found, best first, and what did not take part."""
    rows: list[tuple[str, ...]] = [
        (one.id, f"{one.score:.4f}", one.inherited_from or "-", shortened(one.text))
        for one in found.items
    ]
    told = [_outcomes(one) for one in found.items]
    if any(told):
        rows = [(*row[:3], outcomes, row[3]) for row, outcomes in zip(rows, told, strict=True)]
        yield Rows(("id", "score", "from", "outcomes", "text"), rows)
    else:
        yield Rows(("id", "score", "from", "text"), rows)
    if not rows:
        yield Note("nothing found")
    if found.degraded:
        yield Note(f"degraded: {', '.join(found.degraded)}")


def _outcomes(hit: Hit) -> str:
    """Return how a rule did, where that is known; nothing for what is none."""
    if hit.successes is None:
        return ""
    return f"confirmed {hit.successes}, rejected {hit.failures}"


def more_after(cursor: str | None) -> list[Part]:
    """Say how to go on where a page is not the last one."""
    return [] if cursor is None else [Note(f"there is more: --after {cursor}")]


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

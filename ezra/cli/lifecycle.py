"""The commands about what the meta-agents do: passes, conservation, retention, queued work."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from tiers.errors import UsageError
from tiers.records import Work

from ..handles.explanation import Story
from .doors import Url, opened
from .options import GraphId, Home, Json, run
from .plain import plain
from .screen import Screen

lifecycle_app = typer.Typer(
    help="The meta-agents: passes, conservation, retention, queued work.", no_args_is_help=True
)

PARKED_SHOWN = 1_000
EXPLAIN_EXAMPLES = "Examples: ezra explain 01985a4c-…  ·  ezra explain 01985a4c-… --json"
CORE_EXAMPLES = "Examples: ezra core imola strategist  ·  ezra core imola strategist --json"


@lifecycle_app.command("run", epilog="Example: ezra lifecycle run imola --json")
def run_pass(graph: GraphId, home: Home = None, url: Url = None, json: Json = False) -> None:
    """Compress, consolidate, retain and learn now, instead of by the schedule."""
    screen = Screen()

    async def work() -> dict[str, Any]:
        async with opened(home, url) as ezra:
            learnt = await ezra.drain_learning()
            passed = await ezra.run_lifecycle_tick(graph)
            indexed = await ezra.drain_learning()
            learnt.add(indexed)
            return {"lifecycle": plain(passed), "learning": plain(learnt)}

    done = run(work())
    if json:
        screen.document(done)
        return
    for name, found in done.items():
        for field, value in found.items():
            if value:
                screen.line(f"{name}: {field.replace('_', ' ')} {_short(value)}")
    problems = [one for found in done.values() for one in found.get("problems", ())]
    if problems:
        raise typer.Exit(1)


@lifecycle_app.command("report", epilog="Example: ezra lifecycle report imola")
def report(graph: GraphId, home: Home = None, url: Url = None, json: Json = False) -> None:
    """Account for every turn of a graph, grain by grain; list what was lost or is flagged.

    Exit code 1 when a turn is missing or counted twice.
    """
    screen = Screen()

    async def work() -> tuple[dict[str, Any], bool, tuple[str, ...]]:
        async with opened(home, url) as ezra:
            found = await (await ezra.session_graph(graph)).conservation()
            return plain(found), found.ok, tuple(found.problems)

    document, is_whole, problems = run(work())
    if json:
        screen.document(document | {"ok": is_whole})
    else:
        rows = [
            [
                str(line["grain"]),
                *(_count(line[name]) for name in ("covered", "tail", "twice", "lost", "stranded")),
            ]
            for line in document["grains"]
        ]
        screen.line(f"{document['turns']} turns of {graph}")
        screen.table(("grain", "covered once", "in the tail", "twice", "lost", "stranded"), rows)
        for one in document["flagged"]:
            screen.line(f"flagged: {one['id']} leaves out {one['lost']} statements")
        for problem in problems:
            screen.line(f"problem: {problem}")
        screen.line("every turn is accounted for" if is_whole else "turns are unaccounted for")
    if not is_whole:
        raise typer.Exit(1)


@lifecycle_app.command(
    "retain",
    epilog="Examples: ezra lifecycle retain imola --dry-run  ·  "
    "ezra lifecycle retain imola --force",
)
def retain(
    graph: GraphId,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be done.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Also where a large share would be touched.")
    ] = False,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Destroy the content of what is past its retention now, finest grain first.

    Exit code 1 when something was refused.
    """
    screen = Screen()

    async def work() -> Any:  # noqa: ANN401 - a RetentionReport, plain
        async with opened(home, url) as ezra:
            chosen = await ezra.session_graph(graph)
            done = await chosen.retain(dry_run=dry_run, force=force)
            if not dry_run:
                await ezra.drain_learning()
            return plain(done)

    document = run(work())
    refused = [line for line in document["grains"] if line["refused"]]
    if json:
        screen.document(document)
    else:
        rows = [
            [str(line["grain"]), str(line["due"]), str(line["retired"]), line["refused"] or ""]
            for line in document["grains"]
        ]
        screen.table(("grain", "due", "retired", "refused"), rows)
    if refused:
        raise typer.Exit(1)


@lifecycle_app.command("work", epilog="Example: ezra lifecycle work --json")
def waiting(home: Home = None, url: Url = None, json: Json = False) -> None:
    """Show the work that waits, and what is parked because it failed too often."""
    screen = Screen()

    async def work() -> tuple[dict[str, int], tuple[Work, ...]]:
        async with opened(home, url) as ezra:
            return await ezra.waiting_work(), await ezra.parked_work()

    counts, parked = run(work())
    if json:
        screen.document({"waiting": counts, "parked": [plain(one) for one in parked]})
        return
    screen.table(("kind", "waiting"), [[kind, str(count)] for kind, count in counts.items()])
    for one in parked[:PARKED_SHOWN]:
        screen.line(f"parked {one.id}: {one.kind} {one.key} of {one.graph_id}: {one.problem}")


@lifecycle_app.command(
    "rerun", epilog="Examples: ezra lifecycle rerun 17 18  ·  ezra lifecycle rerun --all"
)
def rerun(
    ids: Annotated[list[str] | None, typer.Argument(help="Ids of parked work.")] = None,
    every: Annotated[bool, typer.Option("--all", help="All that is parked.")] = False,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Put parked work back into the queue."""
    screen = Screen()
    if every == bool(ids):
        raise UsageError("ids", ids or [], "ids of parked work, or --all")

    async def work() -> int:
        async with opened(home, url) as ezra:
            wanted = [one.id for one in await ezra.parked_work()] if every else ids or []
            return await ezra.rerun_work(wanted)

    count = run(work())
    if json:
        screen.document({"rerun": count})
    else:
        screen.line(f"{count} items are queued again")


def explain(
    record: Annotated[str, typer.Argument(help="Id of a fact, playbook, turn or summary.")],
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Tell what became of a record and why: used, promoted, demoted, superseded, retired."""
    screen = Screen()

    async def work() -> Story:
        async with opened(home, url) as ezra:
            return await ezra.explain(record)

    story = run(work())
    if json:
        screen.document(plain(story))
        return
    screen.line(f"{story.kind} {story.id} of {story.graph_id}: {story.text}")
    for line in story.lines:
        screen.line(f"  {line}")
    if story.source_ids:
        screen.line(f"  rests on {', '.join(story.source_ids)}")
    for event in story.events:
        who = event.agent_id or "ezra"
        why = f": {event.reason}" if event.reason else ""
        screen.line(f"  {event.recorded_at:%Y-%m-%d %H:%M}  {event.kind} by {who}{why}")


def core(
    graph: GraphId,
    agent: Annotated[str, typer.Argument(help="The member whose context it is.")],
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Show the core facts of a member's next context, what they cost, and what is left out."""
    screen = Screen()

    async def work() -> Any:  # noqa: ANN401 - a CoreBlock
        async with opened(home, url) as ezra:
            return await (await ezra.session_graph(graph)).core(agent)

    block = run(work())
    if json:
        left = [{"id": fact.id, "reason": reason} for fact, reason in block.left_out]
        facts = [plain(fact) for fact in block.facts]
        screen.document({"tokens": block.tokens, "facts": facts, "left_out": left})
        return
    for fact in block.facts:
        screen.line(f"{fact.fact_type:<10}  {fact.id}  {fact.text}")
    for fact, reason in block.left_out:
        screen.line(f"left out    {fact.id}  {reason}")
    screen.line(f"{len(block.facts)} core facts, about {block.tokens} tokens")


def _count(value: Any) -> str:  # noqa: ANN401 - a number, or what is counted
    return str(value if isinstance(value, int) else len(value))


def _short(value: Any) -> str:  # noqa: ANN401 - a field of a report
    if isinstance(value, dict):
        return ", ".join(f"{count} {name}" for name, count in value.items())
    return "; ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)

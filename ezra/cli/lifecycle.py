"""The commands about what the meta-agents do: passes, conservation, retention, queued work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import typer

from tiers.errors import UsageError

from ..handles.explanation import Story
from .command import Answer, Part, Rows, command, group, plain
from .doors import InGraph, Memory

lifecycle_app = group("The meta-agents: passes, conservation, retention, queued work.")

PARKED_SHOWN = 1_000
COUNTED = ("covered", "emptied", "tail", "twice", "lost", "stranded")


@command(lifecycle_app, "run")
async def run_pass(at: InGraph) -> Answer:
    """Compress, consolidate, retain and learn now, instead of by the schedule.

    Examples:
        ezra lifecycle run imola --json
    """
    ezra = await at.open()
    learnt = await ezra.drain_learning()
    passed = await ezra.run_lifecycle_tick(at.graph)
    learnt.add(await ezra.drain_learning())
    done: dict[str, Any] = {"lifecycle": plain(passed), "learning": plain(learnt)}
    lines = [
        f"{name}: {field.replace('_', ' ')} {_short(value)}"
        for name, found in done.items()
        for field, value in found.items()
        if value
    ]
    failed = any(found.get("problems") for found in done.values())
    return Answer(done, lines, code=1 if failed else 0)


@command(lifecycle_app)
async def report(at: InGraph) -> Answer:
    """Account for every turn of a graph, grain by grain; list what was lost or is flagged.

    Exit code 1 when a turn is missing or counted twice.

    Examples:
        ezra lifecycle report imola
    """
    found = await (await at.held()).conservation()
    document = {**plain(found), "ok": found.ok}
    parts = _accounted(at.graph, document, found.problems)
    return Answer(document, parts, code=0 if found.ok else 1)


def _accounted(graph: str, document: dict[str, Any], problems: Sequence[str]) -> Iterator[Part]:
    yield f"{document['turns']} turns of {graph}"
    rows = [
        [line["grain"], *(_count(line[name]) for name in COUNTED)] for line in document["grains"]
    ]
    yield Rows(
        ("grain", "covered once", "emptied", "in the tail", "twice", "lost", "stranded"), rows
    )
    for one in document["flagged"]:
        yield f"flagged: {one['id']} leaves out {one['lost']} statements"
    for problem in problems:
        yield f"problem: {problem}"
    yield "every turn is accounted for" if document["ok"] else "turns are unaccounted for"


@command(lifecycle_app)
async def retain(at: InGraph, dry_run: bool = False, force: bool = False) -> Answer:
    """Destroy the content of what is past its retention now, finest grain first.

    Exit code 1 when something was refused.

    Args:
        dry_run: Only say what would be done.
        force: Also where a large share would be touched.

    Examples:
        ezra lifecycle retain imola --dry-run
        ezra lifecycle retain imola --force
    """
    ezra = await at.open()
    done = await (await at.held()).retain(dry_run=dry_run, force=force)
    if not dry_run:
        await ezra.drain_learning()
    document = plain(done)
    rows = [
        [line["grain"], line["due"], line["retired"], line["refused"] or ""]
        for line in document["grains"]
    ]
    refused = any(line["refused"] for line in document["grains"])
    table = Rows(("grain", "due", "retired", "refused"), rows)
    return Answer(document, [table], code=1 if refused else 0)


@command(lifecycle_app, "work")
async def waiting(memory: Memory) -> Answer:
    """Show the work that waits, and what is parked because it failed too often.

    Examples:
        ezra lifecycle work --json
    """
    ezra = await memory.open()
    counts, parked = await ezra.waiting_work(), await ezra.parked_work()
    lines = [
        f"parked {one.id}: {one.kind} {one.key} of {one.graph_id}: {one.problem}"
        for one in parked[:PARKED_SHOWN]
    ]
    table = Rows(("kind", "waiting"), counts.items())
    return Answer({"waiting": counts, "parked": parked}, [table, *lines])


@command(lifecycle_app)
async def rerun(
    memory: Memory,
    ids: Annotated[list[str] | None, typer.Argument()] = None,
    every: Annotated[bool, typer.Option("--all")] = False,
) -> Answer:
    """Put parked work back into the queue.

    Args:
        ids: Ids of parked work.
        every: All that is parked.

    Examples:
        ezra lifecycle rerun 17 18
        ezra lifecycle rerun --all
    """
    if every == bool(ids):
        raise UsageError("ids", ids or [], "ids of parked work, or --all")
    ezra = await memory.open()
    wanted = [one.id for one in await ezra.parked_work()] if every else ids or []
    count = await ezra.rerun_work(wanted)
    return Answer({"rerun": count}, f"{count} items are queued again")


async def explain(memory: Memory, record: str) -> Answer:
    """Tell what became of a record and why: used, promoted, demoted, superseded, retired.

    Args:
        record: Id of a fact, playbook, turn, summary, belief, message, task, …

    Examples:
        ezra explain 01985a4c-…
        ezra explain 01985a4c-… --json
    """
    story = await (await memory.open()).explain(record)
    return Answer(story, _explained(story))


def _explained(story: Story) -> Iterator[str]:
    yield f"{story.kind} {story.id} of {story.graph_id}: {story.text}"
    for line in story.lines:
        yield f"  {line}"
    if story.source_ids:
        yield f"  rests on {', '.join(story.source_ids)}"
    for event in story.events:
        who = event.agent_id or "ezra"
        why = f": {event.reason}" if event.reason else ""
        yield f"  {event.recorded_at:%Y-%m-%d %H:%M}  {event.kind} by {who}{why}"


async def core(at: InGraph, agent: str) -> Answer:
    """Show the core facts of a member's next context, what they cost, and what is left out.

    Args:
        agent: The member whose context it is.

    Examples:
        ezra core imola strategist
        ezra core imola strategist --json
    """
    block = await (await at.held()).core(agent)
    left = [{"id": fact.id, "reason": reason} for fact, reason in block.left_out]
    lines = [
        *(f"{fact.fact_type:<10}  {fact.id}  {fact.text}" for fact in block.facts),
        *(f"left out    {fact.id}  {reason}" for fact, reason in block.left_out),
        f"{len(block.facts)} core facts, about {block.tokens} tokens",
    ]
    return Answer({"tokens": block.tokens, "facts": block.facts, "left_out": left}, lines)


def _count(value: Any) -> str:  # noqa: ANN401 - a number, or what is counted
    return str(value if isinstance(value, int) else len(value))


def _short(value: Any) -> str:  # noqa: ANN401 - a field of a report
    if isinstance(value, dict):
        return ", ".join(f"{count} {name}" for name, count in value.items())
    return "; ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)

"""Markdown notes at the bridge: indexed, kept alike, and asked for what is between them.

``ezra bridge graph``, ``ezra bridge entity`` and ``ezra bridge sync-memories``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from ..bridge.notes.blockers import STALE_DAYS, BlockersReport, check_blockers
from ..bridge.notes.configured import indexer_of, memory_folder_of
from ..bridge.notes.difference import Changed, SemanticDiff, moment_of
from ..bridge.notes.entities import Entity, Notice
from ..bridge.notes.handoff import CHARS_MAX, HOURS, Handoff, document_of, readable
from ..bridge.notes.health import GraphHealth
from ..bridge.notes.indexing import Indexed, NoteIndexer, Reconciled, index_all, index_files
from ..bridge.notes.indexing import reconcile as reconciled
from ..bridge.notes.questions import difference, handoff
from ..bridge.notes.questions import health as health_now
from ..bridge.notes.reading import graph_of, searched
from ..bridge.notes.related import RelatedReport
from ..bridge.notes.related import related as related_to
from ..bridge.notes.search import DAYS
from ..bridge.notes.search import search as found_by
from ..bridge.notes.syncing import Synced, SyncReport, sync_memories
from ..recall.request import ModeName
from .bridge_door import Door
from .command import Answer, Note, Part, Rows, command, group, plain
from .options import one_of, words_of
from .screen import Screen, Steps

graph_app = group("The graph of Markdown notes: search, relations, blockers, changes, handoff.")

FORMATS = ("json", "markdown")


def indexer(door: Door) -> NoteIndexer:
    """Return what indexes the notes of the folder that a command runs in."""
    return indexer_of(door.config, Path.cwd())


def _now() -> datetime:
    return datetime.now(UTC)


@command(graph_app)
async def search(
    door: Door,
    query: str,
    types: Annotated[str, typer.Option(metavar="A,B")] = "",
    days: int = DAYS,
    all_time: bool = False,
    limit: int = 10,
    mode: str = "hybrid",
) -> Answer:
    """Find notes by title and text, best first: entities, and those of sync-memories.

    Exit code 1 when there are none.

    Args:
        query: What the notes are about.
        types: Only entities of these types.
        days: Only notes that changed within so many days.
        all_time: However old they are.
        limit: How many, 1 to 100.
        mode: hybrid, keyword or semantic.

    Examples:
        ezra bridge graph search 'login tokens'
        ezra bridge graph search tokens --types task,decision --all-time --json
    """
    rules = indexer(door).rules
    agent = await door.agent()
    found = await found_by(
        agent,
        agent.documents,
        await searched(agent.documents, rules),
        query,
        _now(),
        types=words_of(types),
        days=None if all_time else days,
        limit=limit,
        mode=cast("ModeName", mode),
    )
    rows = [(f"{one.score:.4f}", one.id, one.status, one.title) for one in found]
    listed = Rows(("score", "id", "status", "title"), rows)
    return Answer(found, [listed], code=0 if found else 1)


@command(graph_app)
async def related(
    door: Door, name: str, depth: int = 1, rel_type: list[str] | None = None, limit: int = 20
) -> Answer:
    """Show what an entity names and is named by, nearest first, with a way there.

    Args:
        name: An id, path, slug or title.
        depth: How many steps, 1 to 10.
        rel_type: Only by this relation. Repeatable.
        limit: How many, 1 to 1,000.

    Examples:
        ezra bridge graph related scout-task-login
        ezra bridge graph related login --depth 3 --rel-type blocked_by --json
    """
    rules = indexer(door).rules
    graph = await graph_of((await door.agent()).documents, rules)
    wanted = rel_type or ()
    report = related_to(
        graph, name, depth=depth, relations=wanted, limit=limit, known=rules.relations
    )
    return Answer(report, _related(report))


def _related(report: RelatedReport) -> Iterator[Part]:
    yield report.id
    for one in report.found:
        way = " ".join(
            f"-{step.relation}-> {step.to}"
            if step.direction == "forward"
            else f"<-{step.relation}- {step.to}"
            for step in one.path
        )
        state = (f"  ({one.status})" if one.status else "") if one.is_indexed else "  (not indexed)"
        yield f"  {one.distance}  {way}{state}"
    if report.left_out:
        yield Note(f"and {report.left_out} more; --limit shows them")


@command(graph_app, "check-blockers")
async def blockers(door: Door, stale_days: int = STALE_DAYS) -> Answer:
    """Show what waits, for what, for how long, and what waits in a circle.

    Args:
        stale_days: From so many days without a change it is stale.

    Examples:
        ezra bridge graph check-blockers
        ezra bridge graph check-blockers --stale-days 7 --json
    """
    rules = indexer(door).rules
    graph = await graph_of((await door.agent()).documents, rules)
    report = check_blockers(graph, _now(), stale_days=stale_days)
    return Answer(report, _blocked(report))


def _blocked(report: BlockersReport) -> Iterator[Part]:
    for one in report.blocked:
        states = (("stale", one.is_stale), ("released", one.is_released))
        marks = [name for name, is_so in states if is_so]
        text = f"  [{', '.join(marks)}]" if marks else ""
        yield f"{one.days:>4} days  {one.id}  {one.status or 'no status'}{text}"
        for by in one.blockers:
            state = by.status or "no status" if by.is_indexed else "not indexed"
            yield f"           waits for {by.id}  ({state})"
    for cycle in report.cycles:
        yield f"in a circle: {', '.join(cycle)}"
    yield Note(f"{len(report.blocked)} wait, {report.stale} of them stale")


@command(graph_app)
async def semantic_diff(
    door: Door,
    begin: Annotated[str, typer.Argument(metavar="FROM")],
    end: Annotated[str, typer.Argument(metavar="TO")],
) -> Answer:
    """Show what was created, completed, blocked, unblocked, removed or changed in between.

    Args:
        begin: A date or time; UTC.
        end: The same; a date counts as a whole.

    Examples:
        ezra bridge graph semantic-diff 2026-05-01 2026-05-15
        ezra bridge graph semantic-diff 2026-05-14T09:00 2026-05-14T17:00 --json
    """
    rules = indexer(door).rules
    since, until = moment_of("FROM", begin, is_end=False), moment_of("TO", end, is_end=True)
    documents = (await door.agent()).documents
    found = await difference(documents, rules, since, until, _now())
    return Answer(found, _difference(found))


def _difference(found: SemanticDiff) -> Iterator[str]:
    yield f"{found.since:%Y-%m-%d %H:%M} to {found.until:%Y-%m-%d %H:%M} UTC"
    for kind, count in found.breakdown.items():
        yield f"  {kind}: {count.before} to {count.after}, {count.completed} completed"
    for one in fields(found):
        rows = getattr(found, one.name)
        if isinstance(rows, tuple) and rows:
            yield one.name.replace("_", " ")
            yield from map(_changed, rows)


def _changed(one: Changed) -> str:
    was = f"  {one.before or '-'} > {one.after or '-'}" if one.before != one.after else ""
    return f"  {one.id}  {one.title}{was}"


@command(graph_app)
async def gen_handoff(
    door: Door,
    hours: float = HOURS,
    synthesize: bool = False,
    shape: Annotated[str, typer.Option("--format")] = "json",
    max_chars: int = CHARS_MAX,
) -> Answer:
    """Print what the next session should know: changes, actions, tasks, blockers, messages.

    Args:
        hours: How far back things are new.
        synthesize: With an account by the memory's model.
        shape: json or markdown.
        max_chars: How long it may be, as it is printed.

    Examples:
        ezra bridge graph gen-handoff --hours 24
        ezra bridge graph gen-handoff --format markdown --synthesize
    """
    one_of("--format", shape, FORMATS)
    rules = indexer(door).rules
    agent = await door.agent()
    found = await handoff(
        agent,
        agent.documents,
        agent.board,
        rules,
        _now(),
        hours=hours,
        chars=max_chars,
        synthesize=synthesize,
    )
    problem = [found.problem] if found.problem else []
    return Answer(document_of(found), [_handoff(found, shape)], notes=problem)


def _handoff(found: Handoff, shape: str) -> Part:
    def show(screen: Screen) -> None:
        screen.document(document_of(found))

    return show if shape == "json" else readable(found).rstrip()


@command(graph_app)
async def reconcile(door: Door, force: bool = False, all_machines: bool = False) -> Answer:
    """Remove entities whose file is gone, and the edges to them. Exit code 1 when refused.

    Args:
        force: Also where that is more than half of a folder's.
        all_machines: Also what another machine indexed last.

    Examples:
        ezra bridge graph reconcile
        ezra bridge graph reconcile --force --json
    """
    notes = indexer(door)
    documents = (await door.agent()).documents
    report = await reconciled(documents, notes, force=force, all_machines=all_machines)
    return Answer(report, _reconciled(report), code=1 if report.is_refused else 0)


def _reconciled(report: Reconciled) -> Iterator[Part]:
    done = "would go" if report.is_refused else "removed"
    for path in report.gone:
        yield f"{done}  {path}"
    for edge in report.pruned:
        yield f"{done}  {edge.source} -{edge.relation}-> {edge.target}"
    for path in report.elsewhere:
        yield Note(f"kept: {path}, which another machine indexed; --all-machines removes it")
    yield Note(f"{report.checked} looked at, {len(report.gone)} {done}")
    if report.is_refused:
        yield Note("refused: that is more than half; --force removes them")


@command(graph_app)
async def health(door: Door) -> Answer:
    """Show counts, what was written in 24 hours, what is wrong with notes, and unread alerts.

    Examples:
        ezra bridge graph health --json
    """
    rules, tag = indexer(door).rules, door.config.alert_tag
    agent = await door.agent()
    found = await health_now(agent.documents, agent.board, rules, _now(), tag)
    return Answer(found, _health(found))


def _health(found: GraphHealth) -> Iterator[Part]:
    yield f"entities   {found.entities}  ({_counts(found.types)})"
    yield f"status     {_counts(found.statuses)}"
    yield f"edges      {found.edges}, {found.dangling} to what is not indexed"
    yield f"snapshots  {found.snapshots} in 24 hours"
    yield f"alerts     {len(found.alerts)} unread"
    for alert in found.alerts:
        yield f"  {alert.id}  {alert.by}: {alert.title}"
    for name, kept, hidden in found.collisions:
        yield Note(f"{name}: {kept} and {hidden} claim one id; the first has it")
    for one in found.notices:
        yield Note(notice_line(one))


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name or 'without'}" for name, count in counts.items()) or "none"


entity_app = group("Markdown notes as entities: index files, look one up.")

Quiet = Annotated[bool, typer.Option("--quiet", help="Say only what needs people.")]


@command(entity_app, "index-all")
async def index_everything(door: Door, quiet: Quiet = False) -> Answer:
    """Bring every note of the watched folders into the memory; what is unchanged is not sent.

    The folders are those of EZRA_BRIDGE_WATCH_DIRS, else this one. Exit code 1 when a file failed.

    Examples:
        ezra bridge entity index-all
        ezra bridge entity index-all --quiet --json
    """
    notes = indexer(door)
    documents = (await door.bridge(creates=True)).agent().documents
    with Steps("indexing", quiet=quiet or door.json) as steps:
        done = await index_all(documents, notes, begin=steps.begin, step=steps.step)
    return _indexed(done, quiet=quiet)


@command(entity_app)
async def index_file(door: Door, path: list[Path]) -> Answer:
    """Bring single files into the memory; what is no Markdown, or no entity, is skipped.

    Args:
        path: Files in a watched folder.

    Examples:
        ezra bridge entity index-file notes/tasks/login.md --json
    """
    notes, here = indexer(door), Path.cwd()
    documents = (await door.bridge(creates=True)).agent().documents
    done = await index_files(documents, notes, [here / one for one in path])
    return _indexed(done, quiet=False)


def _indexed(done: Sequence[Indexed], *, quiet: bool) -> Answer:
    counts = Counter(one.outcome for one in done)
    document = {"counts": dict(sorted(counts.items())), "files": done}
    return Answer(document, _files(done, quiet=quiet), code=1 if counts["failed"] else 0)


def _files(done: Sequence[Indexed], *, quiet: bool) -> Iterator[Part]:
    for one in done:
        if one.outcome in ("new", "changed", "skipped") and not quiet:
            why = f"  ({one.reason})" if one.reason else ""
            yield f"{one.outcome:<9} {one.id or one.path}{why}"
    for one in done:
        if one.outcome in ("failed", "redacted"):
            yield Note(f"{one.outcome}: {one.path}: {one.reason}")
        for notice in one.notices:
            yield Note(notice_line(notice))
    if not quiet:
        counts = sorted(Counter(one.outcome for one in done).items())
        text = ", ".join(f"{count} {name}" for name, count in counts)
        yield Note(f"{len(done)} files: {text or 'none'}")


def notice_line(notice: Notice) -> str:
    """Return what is wrong with a note on one line."""
    return f"{notice.path}:{notice.line}: {notice.problem}; expected: {notice.expected}"


@command(entity_app)
async def show(door: Door, name: str) -> Answer:
    """Show an entity, what it names, and by what it is named.

    Args:
        name: An id, path, slug or title.

    Examples:
        ezra bridge entity show scout-task-login --json
    """
    rules = indexer(door).rules
    graph = await graph_of((await door.agent()).documents, rules)
    found = graph.named(name)
    edges = plain([*graph.forward(found.id), *graph.reverse(found.id)])
    return Answer({**plain(found), "edges": edges}, _entity(found, edges))


def _entity(found: Entity, edges: Sequence[dict[str, Any]]) -> Iterator[str]:
    yield f"{found.id}  {found.title}"
    said = {"type": found.type, "status": found.status, "priority": found.priority}
    for field, value in (said | {"tags": ", ".join(found.tags), "path": found.path}).items():
        if value:
            yield f"  {field}: {value}"
    yield f"  changed: {found.changed_at:%Y-%m-%d %H:%M}, revision {found.revision}"
    for edge in edges:
        target = edge["target"] or f"{edge['name']} (not indexed)"
        yield f"  {edge['source']} -{edge['relation']}-> {target}"


command(entity_app, "search", "ezra bridge entity search 'login tokens' --mode keyword")(search)
command(entity_app, "health", "ezra bridge entity health --json")(health)


async def sync(
    door: Door,
    folder: Annotated[Path | None, typer.Option(show_default="EZRA_BRIDGE_MEMORY_PATH")] = None,
    pull: bool = True,
    force: bool = False,
    quiet: Quiet = False,
) -> Answer:
    """Keep a folder of Markdown notes and the memory alike, on every machine of the agent.

    A note that both sides have changed is a conflict: the memory's version keeps the name, this
    machine's is kept beside it, and the exit code is 1.

    Args:
        folder: Folder of the notes.
        pull: Change the folder too; else only tell what is behind.
        force: Also remove more than half of the notes of a side.

    Examples:
        ezra bridge sync-memories --folder ~/notes
        ezra bridge sync-memories --no-pull --json
    """
    memory = memory_folder_of(door.config, folder)
    documents = (await door.bridge(creates=True)).agent().documents
    with Steps("syncing", quiet=quiet or door.json) as steps:
        report = await sync_memories(
            documents, memory, pull=pull, force=force, begin=steps.begin, step=steps.step
        )
    document = {"counts": report.counts, "notes": report.notes}
    return Answer(document, _synced(report, quiet=quiet), code=1 if report.needs_people else 0)


def _synced(report: SyncReport, *, quiet: bool) -> Iterator[Part]:
    for one in report.notes:
        if one.outcome in ("conflict", "held", "redacted", "failed"):
            yield Note(_line(one))
        elif one.outcome != "unchanged" and not quiet:
            yield _line(one)
    if not quiet:
        text = ", ".join(f"{count} {name}" for name, count in report.counts.items())
        yield Note(f"{len(report.notes)} notes: {text or 'none'}")


def _line(one: Synced) -> str:
    kept = f", this machine's version is {one.kept_as}" if one.kept_as else ""
    why = f"  ({one.reason}{kept})" if one.reason else ""
    return f"{one.outcome:<9} {one.name}{why}"

"""``ezra bridge entity`` and ``sync-memories``: Markdown notes, indexed and kept alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ..bridge.notes.configured import memory_folder_of
from ..bridge.notes.entities import Entity, Notice
from ..bridge.notes.indexing import Indexed, index_all, index_files
from ..bridge.notes.reading import graph_of
from ..bridge.notes.syncing import Synced, SyncReport, sync_memories
from . import bridge_notes_graph
from .bridge_door import Door
from .bridge_notes_graph import indexer
from .command import Answer, Note, Part, command, group, plain
from .screen import Steps

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
        told = ", ".join(f"{count} {name}" for name, count in counts)
        yield Note(f"{len(done)} files: {told or 'none'}")


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


command(entity_app, "search", "ezra bridge entity search 'login tokens' --mode keyword")(
    bridge_notes_graph.search
)
command(entity_app, "health", "ezra bridge entity health --json")(bridge_notes_graph.health)


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
        if one.outcome in ("conflict", "held", "failed"):
            yield Note(_line(one))
        elif one.outcome != "unchanged" and not quiet:
            yield _line(one)
    if not quiet:
        told = ", ".join(f"{count} {name}" for name, count in report.counts.items())
        yield Note(f"{len(report.notes)} notes: {told or 'none'}")


def _line(one: Synced) -> str:
    kept = f", this machine's version is {one.kept_as}" if one.kept_as else ""
    why = f"  ({one.reason}{kept})" if one.reason else ""
    return f"{one.outcome:<9} {one.name}{why}"

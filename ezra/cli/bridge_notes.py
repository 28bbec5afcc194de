"""``ezra bridge entity`` and ``sync-memories``: Markdown notes, indexed and kept alike."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from ..bridge.client import Bridge
from ..bridge.notes.configured import indexer_of, memory_folder_of
from ..bridge.notes.entities import Entity, Notice
from ..bridge.notes.indexing import Indexed, index_all, index_files
from ..bridge.notes.reading import graph_of
from ..bridge.notes.syncing import Synced, SyncReport, sync_memories
from . import bridge_notes_graph
from .bridge_door import Home, Json, Url, ask, configured
from .plain import plain
from .screen import Screen

entity_app = typer.Typer(
    help="Markdown notes as entities: index files, look one up.", no_args_is_help=True
)

Quiet = Annotated[bool, typer.Option("--quiet", help="Say only what needs people.")]


class Steps:
    """Shows progress once it is known how many steps there are.

    Args:
        screen: Where.
        what: What is done.
        quiet: Whether nothing is shown.
    """

    def __init__(self, screen: Screen, what: str, *, quiet: bool) -> None:
        self._screen, self._what, self._quiet = screen, what, quiet
        self._stack = ExitStack()

    def begin(self, total: int) -> None:
        """Begin, with so many steps."""
        if not self._quiet and total:
            self._advance = self._stack.enter_context(self._screen.progress(self._what, total))

    def step(self, _: object) -> None:
        """Count one step."""
        if not self._quiet:
            self._advance()

    def end(self) -> None:
        """Take the progress away."""
        self._stack.close()


@entity_app.command(
    "index-all",
    epilog="Examples: ezra bridge entity index-all  ·  ezra bridge entity index-all --quiet --json",
)
def index_everything(
    quiet: Quiet = False, home: Home = None, url: Url = None, json: Json = False
) -> None:
    """Bring every note of the watched folders into the memory; what is unchanged is not sent.

    The folders are those of EZRA_BRIDGE_WATCH_DIRS, else this one. Exit code 1 when a file failed.
    """
    screen = Screen()
    steps = Steps(screen, "indexing", quiet=quiet or json)
    indexer = indexer_of(configured(home, url), Path.cwd())

    async def work(bridge: Bridge) -> tuple[Indexed, ...]:
        try:
            documents = bridge.agent().documents
            return await index_all(documents, indexer, begin=steps.begin, step=steps.step)
        finally:
            steps.end()

    _show_indexed(screen, ask(home, url, work, names=True, creates=True), quiet=quiet, json=json)


@entity_app.command(
    "index-file", epilog="Example: ezra bridge entity index-file notes/tasks/login.md --json"
)
def index_file(
    path: Annotated[list[Path], typer.Argument(help="Files in a watched folder.")],
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Bring single files into the memory; what is no Markdown, or no entity, is skipped."""
    screen = Screen()
    here = Path.cwd()
    indexer = indexer_of(configured(home, url), here)

    async def work(bridge: Bridge) -> tuple[Indexed, ...]:
        return await index_files(bridge.agent().documents, indexer, [here / one for one in path])

    _show_indexed(screen, ask(home, url, work, names=True, creates=True), quiet=False, json=json)


def _show_indexed(screen: Screen, done: tuple[Indexed, ...], *, quiet: bool, json: bool) -> None:
    counts = Counter(one.outcome for one in done)
    if json:
        screen.document({"counts": dict(sorted(counts.items())), "files": plain(done)})
    else:
        for one in done:
            if one.outcome in ("new", "changed", "skipped") and not quiet:
                why = f"  ({one.reason})" if one.reason else ""
                screen.line(f"{one.outcome:<9} {one.id or one.path}{why}")
        for one in done:
            if one.outcome in ("failed", "redacted"):
                screen.note(f"{one.outcome}: {one.path}: {one.reason}")
            for notice in one.notices:
                screen.note(notice_line(notice))
        if not quiet:
            told = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
            screen.note(f"{len(done)} files: {told or 'none'}")
    if counts["failed"]:
        raise typer.Exit(1)


def notice_line(notice: Notice) -> str:
    """Return what is wrong with a note on one line."""
    return f"{notice.path}:{notice.line}: {notice.problem}; expected: {notice.expected}"


@entity_app.command("show", epilog="Example: ezra bridge entity show scout-task-login --json")
def show(
    name: Annotated[str, typer.Argument(help="An id, path, slug or title.")],
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Show an entity, what it names, and by what it is named."""
    screen = Screen()
    indexer = indexer_of(configured(home, url), Path.cwd())

    async def work(bridge: Bridge) -> tuple[Entity, list[dict[str, object]]]:
        graph = await graph_of(bridge.agent().documents, indexer.rules)
        found = graph.named(name)
        edges = (*graph.forward(found.id), *graph.reverse(found.id))
        return found, [plain(edge) for edge in edges]

    found, edges = ask(home, url, work, names=True)
    if json:
        screen.document({**plain(found), "edges": edges})
        return
    screen.line(f"{found.id}  {found.title}")
    said = {"type": found.type, "status": found.status, "priority": found.priority}
    for field, value in (said | {"tags": ", ".join(found.tags), "path": found.path}).items():
        if value:
            screen.line(f"  {field}: {value}")
    screen.line(f"  changed: {found.changed_at:%Y-%m-%d %H:%M}, revision {found.revision}")
    for edge in edges:
        target = edge["target"] or f"{edge['name']} (not indexed)"
        screen.line(f"  {edge['source']} -{edge['relation']}-> {target}")


def sync(
    folder: Annotated[
        Path | None,
        typer.Option(help="Folder of the notes.", show_default="EZRA_BRIDGE_MEMORY_PATH"),
    ] = None,
    pull: Annotated[
        bool, typer.Option(help="Change the folder too; else only tell what is behind.")
    ] = True,
    force: Annotated[
        bool, typer.Option("--force", help="Also remove more than half of the notes of a side.")
    ] = False,
    quiet: Quiet = False,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Keep a folder of Markdown notes and the memory alike, on every machine of the agent.

    A note that both sides have changed is a conflict: the memory's version keeps the name, this
    machine's is kept beside it, and the exit code is 1.
    """
    screen = Screen()
    steps = Steps(screen, "syncing", quiet=quiet or json)
    memory = memory_folder_of(configured(home, url), folder)

    async def work(bridge: Bridge) -> SyncReport:
        try:
            return await sync_memories(
                bridge.agent().documents,
                memory,
                pull=pull,
                force=force,
                begin=steps.begin,
                step=steps.step,
            )
        finally:
            steps.end()

    report = ask(home, url, work, names=True, creates=True)
    if json:
        screen.document({"counts": report.counts, "notes": plain(report.notes)})
    else:
        _show_synced(screen, report, quiet=quiet)
    if report.needs_people:
        raise typer.Exit(1)


def _show_synced(screen: Screen, report: SyncReport, *, quiet: bool) -> None:
    for one in report.notes:
        if one.outcome in ("conflict", "held", "failed"):
            screen.note(_line(one))
        elif one.outcome != "unchanged" and not quiet:
            screen.line(_line(one))
    if not quiet:
        told = ", ".join(f"{count} {name}" for name, count in report.counts.items())
        screen.note(f"{len(report.notes)} notes: {told or 'none'}")


def _line(one: Synced) -> str:
    kept = f", this machine's version is {one.kept_as}" if one.kept_as else ""
    why = f"  ({one.reason}{kept})" if one.reason else ""
    return f"{one.outcome:<9} {one.name}{why}"


def add_to(app: typer.Typer) -> None:
    """Add the commands about notes to the bridge's."""
    examples = "Example: ezra bridge entity search 'login tokens' --mode keyword"
    entity_app.command("search", epilog=examples)(bridge_notes_graph.search)
    examples = "Example: ezra bridge entity health --json"
    entity_app.command("health", epilog=examples)(bridge_notes_graph.health)
    app.add_typer(entity_app, name="entity")
    app.add_typer(bridge_notes_graph.graph_app, name="graph")
    app.command(
        "sync-memories",
        epilog="Examples: ezra bridge sync-memories --folder ~/notes  ·  "
        "ezra bridge sync-memories --no-pull --json",
    )(sync)

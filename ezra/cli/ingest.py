"""``ezra ingest``: files and folders as documents, once or whenever they change."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tiers.errors import UsageError

from ..documents.folders import Found, patterns_of
from ..documents.following import Following, changes_in
from ..documents.ingesting import FileDone, Ingested, Ingestion, Plan
from .command import Answer
from .documents import InDocuments
from .doors import AnyEzra
from .options import stopped_by_signals
from .screen import Advance, Screen

if TYPE_CHECKING:
    from ..app import Ezra

INDEX = "index"
POLL_SECONDS = 0.2
PATIENCE_POLLS = 600
"""So often in a row nothing may have been indexed before it is left to whoever comes next."""


async def ingest(
    at: InDocuments,
    paths: Annotated[list[Path], typer.Argument(show_default=False)],
    shelf: str = "files",
    topic: list[str] | None = None,
    topics_from_folder: bool = False,
    include: list[str] | None = None,
    exclude: list[str] | None = None,
    prune: bool = False,
    force: bool = False,
    dry_run: bool = False,
    even_if_redacted: bool = False,
    watch: bool = False,
) -> Answer:
    """Make documents of files: Markdown, text, HTML, PDF, Word; recall cites heading and page.

    A file that did not change is not written again, and of one that did only the passages that
    are new are embedded. Hidden files and formats that are not read are left out of folders.
    A document that was redacted stays so, and is counted, unless --even-if-redacted is given.
    Exit code 1 when a file could not be read; the others are there.

    Args:
        paths: Files, and folders with all that is in them.
        shelf: What names are unique in.
        topic: A topic of every document; else its own. Repeatable.
        topics_from_folder: The folder in PATH is the topic, where a file says none.
        include: Only such files: '*.md'. Repeatable.
        exclude: No such files: 'drafts/*'. Repeatable.
        prune: Remove documents whose file is gone.
        force: Even if that is more than half of them.
        dry_run: Only say what would be done.
        even_if_redacted: Bring back what was redacted, too.
        watch: Go on with what changes, until Ctrl-C.

    Examples:
        ezra ingest handbook --graph imola --topics-from-folder
        ezra ingest rules.pdf notes --tenant --topic rules --json
        ezra ingest docs --graph imola --exclude 'drafts/*' --prune --dry-run
        ezra ingest docs --graph imola --watch
    """
    if watch and dry_run:
        raise UsageError("--watch", "--dry-run", "one of them: what is watched is written")
    plan = Plan(
        paths=tuple(paths),
        shelf=shelf,
        patterns=patterns_of(include, exclude),
        topics=tuple(topic) if topic else None,
        topics_from_folder=topics_from_folder,
        prune=prune,
        force=force,
        dry_run=dry_run,
        even_if_redacted=even_if_redacted,
    )
    stopped = stopped_by_signals() if watch else None
    ezra = await at.open(background=not dry_run, creates=not dry_run)
    this = _Run(Screen(), plan, json=at.json)
    ingestion = Ingestion(await at.documents(), plan)
    found, done = await this.once(ezra, ingestion)
    this.show(done, lines=watch)
    if stopped is not None:
        await _follow(this, Following(ingestion, found, done), stopped)
        return Answer()
    return Answer(code=1 if any(one.state == "failed" for one in done.files) else 0)


class _Run:
    """One run of the command: what is put, and how it is told."""

    def __init__(self, screen: Screen, plan: Plan, *, json: bool) -> None:
        self.screen = screen
        self.plan = plan
        self._json = json

    async def once(self, ezra: AnyEzra, ingestion: Ingestion) -> tuple[Found, Ingested]:
        """Put all files."""
        found = await ingestion.found()
        with self.screen.progress("files", max(1, len(found.files))) as advance:
            done = await ingestion.run(found, lambda _one: advance())
        if not self.plan.dry_run:
            await _index(ezra, self.screen)
        return found, done

    def show(self, done: Ingested, *, lines: bool = False) -> None:
        """Print what came of it: for programs a document, or a line where there are many."""
        if self._json:
            (self.screen.json_line if lines else self.screen.document)(document_of(done))
            return
        for one in done.files:
            self._file(one)
        for name in done.removed:
            self.screen.line(f"{'removed':<9}  {name}")
        totals = done.totals
        said = ", ".join(
            f"{totals[name]} {name}" for name in ("new", "changed", "unchanged", "failed")
        )
        passages = ", ".join(
            f"{totals[f'passages_{name}']} {name}" for name in ("added", "kept", "retired")
        )
        is_dry = "nothing was written: " if done.dry_run else ""
        removed = f", {totals['removed']} removed" if done.removed else ""
        self.screen.line(f"{is_dry}{said}{removed}; passages: {passages}")
        if totals["redacted"]:
            self.screen.note(
                f"{totals['redacted']} were redacted and stay so; --even-if-redacted brings them"
                " back"
            )
        if done.ignored:
            self.screen.note(f"{done.ignored} files were left out")

    def _file(self, one: FileDone) -> None:
        for warning in one.warnings:
            self.screen.note(f"{one.name}: {warning}")
        if one.state == "failed":
            self.screen.note(f"failed     {one.name}: {one.reason}")
        elif one.state == "redacted":
            self.screen.note(f"redacted   {one.name}")
        elif one.state != "unchanged":
            self.screen.line(f"{one.state:<9}  {one.name}  +{one.added} -{one.retired}")


def document_of(done: Ingested) -> dict[str, Any]:
    """Return what came of it for programs."""
    return {
        "shelf": done.shelf,
        "dry_run": done.dry_run,
        "files": [asdict(one) for one in done.files],
        "removed": list(done.removed),
        "totals": done.totals,
    }


async def _follow(this: _Run, following: Following, stopped: asyncio.Event) -> None:
    """Put what changes until somebody stops it."""
    this.screen.note("watching; stop with Ctrl-C")
    async for _ in changes_in(this.plan.paths, stopped):
        done = await following.look(lambda _one: None, force=this.plan.force)
        if following.held:
            this.screen.note(f"{len(following.held)} files went away at once; --force removes them")
        if done is not None:
            this.show(done, lines=True)
    this.screen.note("stopped; what was put is kept")


async def _index(ezra: AnyEzra, screen: Screen) -> None:
    """Wait until what is new is found by meaning; a server sees to that by itself.

    Where the settings let nobody work in the background there is nobody to wait for: what was
    written is indexed when the command closes its memory.
    """
    from ..app import Ezra

    if not isinstance(ezra, Ezra) or not ezra.settings.background:
        return
    waiting = (await ezra.waiting_work()).get(INDEX, 0)
    if not waiting:
        return
    with screen.progress("passages indexed", waiting) as advance:
        await _waited(ezra, waiting, advance)


async def _waited(ezra: Ezra, waiting: int, advance: Advance) -> None:
    idle = 0
    while waiting and idle < PATIENCE_POLLS:
        await asyncio.sleep(POLL_SECONDS)
        left = (await ezra.waiting_work()).get(INDEX, 0)
        idle = 0 if left < waiting else idle + 1
        advance(max(0, waiting - left))
        waiting = min(waiting, left)

"""The commands of the bridge about itself: set up, status, sync, heartbeat, counts, carrying."""

from __future__ import annotations

import contextlib
import json as json_lines
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import IO, Annotated, Any

import typer

from tiers.errors import UsageError

from ..bridge import carrying, reading
from ..bridge.client import Bridge
from ..bridge.config import bridge_config, state_folder, write_file
from ..bridge.noted import Notes
from ..bridge.notes.watched import roots_of
from ..bridge.outbox import Item, outbox_of
from ..bridge.sending import Sent
from .bridge_door import AWAY, Home, Json, Url, ask, configured
from .screen import Screen
from .standard_input import FROM_INPUT
from .turns import shortened


def add_to(app: typer.Typer) -> None:
    """Add the commands to a group."""
    for name, function, examples in _COMMANDS:
        app.command(name, epilog=examples)(function)


def setup(
    agent: Annotated[str | None, typer.Option(help="What this coding agent is called.")] = None,
    graph: Annotated[
        str | None, typer.Option(help="The session graph; 'bridge' if never given.")
    ] = None,
    machine: Annotated[
        str | None, typer.Option(help="What this machine is called; its host name if never given.")
    ] = None,
    half_life_days: Annotated[
        float | None, typer.Option(help="After so many days a memory counts half; 45.")
    ] = None,
    timeout_seconds: Annotated[
        float | None, typer.Option(help="So long one request may take; 10.")
    ] = None,
    token_file: Annotated[str | None, typer.Option(help="A file with the server's token.")] = None,
    watch_dirs: Annotated[
        str | None,
        typer.Option(help="Folders of Markdown notes, each path or name=path; : between."),
    ] = None,
    memory_path: Annotated[
        str | None, typer.Option(help="Folder of the agent's own notes, for sync-memories.")
    ] = None,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Say who you are and where the memory is; kept in bridge.toml, which variables override.

    Where neither --home nor --url was ever given it is your own, whatever folder you work in:
    $XDG_DATA_HOME/ezra, or ~/.local/share/ezra. What is not given stays; an empty text removes it.
    """
    screen, state = Screen(), state_folder(os.environ)
    changes: dict[str, str | float | None] = {
        "agent": agent,
        "graph": graph,
        "machine": machine,
        "half_life_days": half_life_days,
        "timeout_seconds": timeout_seconds,
        "token_file": _whole(token_file),
        "watch_dirs": _whole_list(watch_dirs),
        "memory_path": _whole(memory_path),
        "url": url,
        "home": None if home is None else _whole(str(home)),
    }
    if home is not None and url is None:
        changes["url"] = ""
    if home is not None and url is not None:
        raise UsageError("--home", str(home), "--home or --url: the data are here or on a server")
    path = write_file(state, changes)
    config = bridge_config()
    if json:
        screen.document({"file": str(path), **_config(config)})
        return
    screen.line(str(path))
    for name, value in _config(config).items():
        screen.line(f"  {name:16} {value if value is not None else '-'}")


def _whole(path: str | None) -> str | None:
    """Return a path that means the same in every folder; an empty text stays one."""
    return str(Path(path).expanduser().absolute()) if path else path


def _whole_list(folders: str | None) -> str | None:
    """Return a list of watched folders that means the same in every folder, and is one."""
    if not folders:
        return folders
    return os.pathsep.join(f"{one.name}={one.path}" for one in roots_of(folders, Path.cwd()))


def _config(config: Any) -> dict[str, Any]:  # noqa: ANN401 - a dataclass
    return {
        name: str(one) if isinstance(one, Path) else one for name, one in asdict(config).items()
    } | {"memory": config.target}


def status(home: Home = None, url: Url = None, json: Json = False) -> None:
    """Show whether the memory answers, what waits, how much there is, and how to begin.

    Exit code 0 also when the memory is away, or there is none yet: it is what was asked.
    """
    screen = Screen()
    found = ask(home, url, reading.status, names=False, is_about_itself=True)
    if json:
        screen.document(found)
        return
    state = "reachable" if found["reachable"] else f"away: {found['reason']}"
    state = state if found["is_there"] else "not made yet"
    screen.line(f"memory      {found['memory']}  {state}")
    screen.line(f"graph       {found['graph']}")
    screen.line(f"agent       {found['agent'] or '-'}")
    screen.line(f"machine     {found['machine']}")
    task = found["current_task"]
    at_hand = "none" if task is None else f"{task['id']}  {task['status']}  {task['title']}"
    screen.line(f"task        {at_hand}")
    screen.line(f"outbox      {found['queued']} queued, {found['refused']} refused")
    for name in ("memories", "unread", "open_tasks"):
        if name in found:
            screen.line(f"{name.replace('_', ' '):12}{found[name]}")
    for agent, seen in found.get("agents", {}).items():
        screen.line(f"            {agent}  last seen {seen[:19]}")
    for one in found["next"]:
        screen.line(f"next        {one}")
    for one in found["other_outboxes"]:
        screen.note(f"an outbox of {one['agent']} for {one['memory']} is not empty")


def sync(
    refused: Annotated[
        bool, typer.Option("--refused", help="Show what was refused, and send nothing.")
    ] = False,
    retry: Annotated[
        list[str] | None, typer.Option(help="Send this refused item again. Repeatable.")
    ] = None,
    drop: Annotated[
        list[str] | None, typer.Option(help="Give up this refused item. Repeatable.")
    ] = None,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Send what waits on this machine, in order, and say what came of each item.

    Exit code 1 when something was refused or still waits, 4 when the memory is away.
    """
    screen = Screen()
    outbox = outbox_of(configured(home, url))
    for given_up in drop or ():
        screen.note(f"gave up {outbox.drop(given_up).kind} {given_up}")
    if refused or (drop and not retry):
        _show_refused(screen, outbox.refused(), json=json)
        return
    for again in retry or ():
        outbox.retry(again)

    async def work(bridge: Bridge) -> Sent:
        return await bridge.sync()

    sent = ask(home, url, work, names=True, creates=True)
    if json:
        screen.document(
            {
                "items": [one.said for one in sent.outcomes],
                "done": sent.count("done"),
                "refused": sent.count("refused"),
                "left": sent.left,
                "reason": sent.away,
            }
        )
    else:
        for one in sent.outcomes:
            reason = f"  {one.reason}" if one.reason else ""
            screen.line(f"{one.state}  {one.item.kind}  {one.id}{reason}")
        counted = f"{sent.count('done')} sent, {sent.count('refused')} refused, {sent.left} wait"
        screen.note(counted)
    if sent.left or sent.count("refused"):
        raise typer.Exit(1)


def _show_refused(screen: Screen, items: tuple[Item, ...], *, json: bool) -> None:
    if json:
        screen.document({"refused": [asdict(one) for one in items]})
        return
    for one in items:
        said = shortened(json_lines.dumps(dict(one.arguments), ensure_ascii=False))
        screen.line(f"{one.id}  {one.at[:19]}  {one.kind}  {said}")
        screen.line(f"    {one.reason}")


def heartbeat(home: Home = None, url: Url = None, json: Json = False) -> None:
    """Give a sign of life, once a minute at most; says nothing when the memory is away.

    Nothing is kept for later: an old sign of life misleads.
    """
    screen = Screen()
    notes = Notes(configured(home, url))
    given = False

    async def work(bridge: Bridge) -> bool:
        if bridge.away is not None:
            return False
        await bridge.agent().heartbeat()
        with contextlib.suppress(OSError):  # then the next one is given at once
            notes.beat()
        return True

    _ = configured(home, url).named_agent
    if notes.is_due():
        try:
            given = ask(home, url, work, names=True, is_about_itself=True)
        except typer.Exit as ended:
            if ended.exit_code != AWAY:
                raise
    if json:
        screen.document({"given": given})


def dashboard(
    days: Annotated[int, typer.Option(help="How many days back, 1 to 3,650.")] = 30,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Show counts of memories, messages, tasks and actions, and day by day what came."""
    screen = Screen()

    async def work(bridge: Bridge) -> reading.Dashboard:
        return await reading.dashboard(bridge, days)

    found = ask(home, url, work, names=False)
    if json:
        screen.document({**asdict(found), "since": found.since.isoformat()})
        return
    for name in ("memories", "memories_by_agent", "unread", "tasks", "actions"):
        counts: dict[str, int] = getattr(found, name)
        told = ", ".join(f"{key} {count}" for key, count in counts.items()) or "none"
        screen.line(f"{name.replace('_', ' '):20}{told}")
    kinds = ("memories", "messages", "tasks", "actions")
    rows = [(day, *(str(of.get(kind, 0)) for kind in kinds)) for day, of in found.days.items()]
    screen.line("")
    screen.table(("day", *kinds), rows)


def export(
    file: Annotated[str, typer.Argument(help="Where to; - for standard output.")] = FROM_INPUT,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Write memories, notes, messages, tasks and actions as NDJSON, oldest first.

    Memories that were forgotten or gave way are among them until their content is destroyed, and
    of notes every revision. Private memories of others are not.
    """
    if json and file == FROM_INPUT:
        raise UsageError("--json", json, "a file to write to: the lines are JSON already")
    screen = Screen()
    lines = ask(home, url, carrying.exported, names=False)
    if file == FROM_INPUT:
        for line in lines:
            screen.json_line(line)
        return
    path = Path(file)
    text = "".join(json_lines.dumps(one, ensure_ascii=False) + "\n" for one in lines)
    draft = path.with_name(f".{path.name}.part")
    try:
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    except OSError as error:
        raise UsageError("FILE", file, f"a file that can be written: {error.strerror}") from error
    if json:
        screen.document({"file": file, "lines": len(lines)})
    else:
        screen.line(f"{len(lines)} lines in {file}")


def import_lines(
    file: Annotated[str, typer.Argument(help="An export; - for standard input.")] = FROM_INPUT,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Read an export in; what is there already stays as it is, so it may be repeated.

    Exit code 1 when lines were refused: they are shown with their numbers, the rest is there.
    """
    screen = Screen()
    lines, unread = _lines(file)

    async def work(bridge: Bridge) -> carrying.Imported:
        return await carrying.imported(bridge, lines)

    done = ask(home, url, work, names=True, creates=True)
    done.refused += len(unread)
    done.problems = [*unread, *done.problems][: carrying.SHOWN_MAX]
    if json:
        screen.document({**done.counts, "refused": done.refused, "problems": done.problems})
    else:
        told = ", ".join(f"{count} of kind {kind}" for kind, count in sorted(done.counts.items()))
        screen.line(f"read: {told or 'nothing'}")
        for problem in done.problems:
            screen.note(f"refused: {problem}")
    if done.refused:
        raise typer.Exit(1)


def _lines(file: str) -> tuple[list[dict[str, Any]], list[str]]:
    """Return what the lines of a file say, and what is wrong with those that are none.

    All of it is read before anything is written.
    """
    lines: list[dict[str, Any]] = []
    unread: list[str] = []
    try:
        with _opened(file) as data:
            for number, line in enumerate(data, 1):
                if number > carrying.LINES_MAX:
                    raise UsageError("FILE", file, f"at most {carrying.LINES_MAX:,} lines")
                try:
                    found = carrying.read_line(number, line)
                except UsageError as error:
                    unread.append(str(error))
                else:
                    lines += [] if found is None else [found]
    except OSError as error:
        raise UsageError("FILE", file, f"a file that can be read: {error.strerror}") from error
    return lines, unread


@contextlib.contextmanager
def _opened(file: str) -> Iterator[IO[bytes]]:
    if file == FROM_INPUT:
        yield sys.stdin.buffer
        return
    with Path(file).open("rb") as data:
        yield data


_COMMANDS: tuple[tuple[str, Callable[..., None], str], ...] = (
    (
        "setup",
        setup,
        (
            "Examples: ezra bridge setup --agent builder --url https://memory.example  ·  "
            "ezra bridge setup --machine laptop --json"
        ),
    ),
    ("status", status, "Examples: ezra bridge status  ·  ezra bridge status --json"),
    (
        "sync",
        sync,
        (
            "Examples: ezra bridge sync  ·  ezra bridge sync --refused --json  ·  "
            "ezra bridge sync --retry 01985a4c-…"
        ),
    ),
    ("heartbeat", heartbeat, "Example: ezra bridge heartbeat --json"),
    ("dashboard", dashboard, "Examples: ezra bridge dashboard  ·  ezra bridge dashboard --json"),
    (
        "export",
        export,
        "Examples: ezra bridge export memory.ndjson --json  ·  ezra bridge export > memory.ndjson",
    ),
    (
        "import",
        import_lines,
        "Examples: ezra bridge import memory.ndjson  ·  ezra bridge import - --json",
    ),
)

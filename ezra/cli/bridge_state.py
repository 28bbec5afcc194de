"""The commands of the bridge about itself: set up, status, sync, heartbeat, counts, carrying."""

from __future__ import annotations

import contextlib
import json as json_lines
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import IO, Annotated, Any

import typer

from tiers.errors import UsageError, refused
from tiers.saved_file import place_of, replace_file

from ..bridge import carrying, reading
from ..bridge.client import Bridge
from ..bridge.config import bridge_config, roots_of, state_folder, write_file
from ..bridge.noted import Notes
from ..bridge.outbox import Item, outbox_of
from ..bridge.sending import Sent
from .bridge_door import AWAY, Door
from .command import Answer, Note, Part, Rows
from .doors import check_one_place
from .options import FROM_INPUT
from .screen import Screen
from .turns import shortened

COUNTED = ("memories", "messages", "tasks", "actions")


def setup(
    door: Door,
    agent: str | None = None,
    graph: str | None = None,
    machine: str | None = None,
    half_life_days: float | None = None,
    timeout_seconds: float | None = None,
    token_file: str | None = None,
    watch_dirs: str | None = None,
    memory_path: str | None = None,
) -> Answer:
    """Say who you are and where the memory is; kept in bridge.toml, which variables override.

    Where neither --home nor --url was ever given it is your own, whatever folder you work in:
    $XDG_DATA_HOME/ezra, or ~/.local/share/ezra. What is not given stays; an empty text removes it.

    Args:
        agent: What this coding agent is called.
        graph: The session graph; 'bridge' if never given.
        machine: What this machine is called; its host name if never given.
        half_life_days: After so many days a memory counts half; 45.
        timeout_seconds: So long one request may take; 10.
        token_file: A file with the server's token.
        watch_dirs: Folders of Markdown notes, each path or name=path; : between.
        memory_path: Folder of the agent's own notes, for sync-memories.

    Examples:
        ezra bridge setup --agent builder --url https://memory.example
        ezra bridge setup --machine laptop --json
    """
    home, url = door.home, door.url
    changes: dict[str, str | float | None] = {
        "agent": agent,
        "graph": graph,
        "machine": machine,
        "half_life_days": half_life_days,
        "timeout_seconds": timeout_seconds,
        "token_file": _whole(token_file),
        "watch_dirs": _whole_list(watch_dirs),
        "memory_path": _whole(memory_path),
        "url": "" if home is not None and url is None else url,
        "home": None if home is None else _whole(str(home)),
    }
    check_one_place(home, url)
    path = write_file(state_folder(os.environ), changes)
    kept = _config(bridge_config())
    lines = [f"  {name:16} {value if value is not None else '-'}" for name, value in kept.items()]
    return Answer({"file": str(path), **kept}, [str(path), *lines])


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


async def status(door: Door) -> Answer:
    """Show whether the memory answers, what waits, how much there is, and how to begin.

    Exit code 0 also when the memory is away, or there is none yet: it is what was asked.

    Examples:
        ezra bridge status
        ezra bridge status --json
    """
    found = await door.about_itself(reading.status, names=False)
    return Answer(found, _status(found))


def _status(found: Mapping[str, Any]) -> Iterator[Part]:
    state = "reachable" if found["reachable"] else f"away: {found['reason']}"
    state = state if found["is_there"] else "not made yet"
    yield f"memory      {found['memory']}  {state}"
    yield f"graph       {found['graph']}"
    yield f"agent       {found['agent'] or '-'}"
    yield f"machine     {found['machine']}"
    task = found["current_task"]
    at_hand = "none" if task is None else f"{task['id']}  {task['status']}  {task['title']}"
    yield f"task        {at_hand}"
    yield f"outbox      {found['queued']} queued, {found['refused']} refused"
    for name in ("memories", "unread", "open_tasks"):
        if name in found:
            yield f"{name.replace('_', ' '):12}{found[name]}"
    for agent, seen in found.get("agents", {}).items():
        yield f"            {agent}  last seen {seen[:19]}"
    for one in found["next"]:
        yield f"next        {one}"
    for one in found["other_outboxes"]:
        yield Note(f"an outbox of {one['agent']} for {one['memory']} is not empty")


async def sync(
    door: Door,
    refused: bool = False,
    retry: list[str] | None = None,
    drop: list[str] | None = None,
) -> Answer:
    """Send what waits on this machine, in order, and say what came of each item.

    Exit code 1 when something was refused or still waits, 4 when the memory is away.

    Args:
        refused: Show what was refused, and send nothing.
        retry: Send this refused item again. Repeatable.
        drop: Give up this refused item. Repeatable.

    Examples:
        ezra bridge sync
        ezra bridge sync --refused --json
        ezra bridge sync --retry 01985a4c-…
    """
    outbox = outbox_of(door.config)
    for given_up in drop or ():
        Screen().note(f"gave up {outbox.drop(given_up).kind} {given_up}")
    if refused or (drop and not retry):
        items = outbox.refused()
        return Answer({"refused": items}, [line for one in items for line in _refused(one)])
    for again in retry or ():
        outbox.retry(again)
    sent = await (await door.bridge(creates=True)).sync()
    document = {
        "items": [one.document for one in sent.outcomes],
        "done": sent.count("done"),
        "refused": sent.count("refused"),
        "left": sent.left,
        "reason": sent.away,
    }
    return Answer(document, _sent(sent), code=1 if sent.left or sent.count("refused") else 0)


def _sent(sent: Sent) -> Iterator[Part]:
    for one in sent.outcomes:
        reason = f"  {one.reason}" if one.reason else ""
        yield f"{one.state}  {one.item.kind}  {one.id}{reason}"
    counted = f"{sent.count('done')} sent, {sent.count('refused')} refused, {sent.left} wait"
    yield Note(counted)


def _refused(one: Item) -> tuple[str, str]:
    said = shortened(json_lines.dumps(dict(one.arguments), ensure_ascii=False))
    return f"{one.id}  {one.at[:19]}  {one.kind}  {said}", f"    {one.reason}"


async def heartbeat(door: Door) -> Answer:
    """Give a sign of life, once a minute at most; says nothing when the memory is away.

    Nothing is kept for later: an old sign of life misleads.

    Examples:
        ezra bridge heartbeat --json
    """
    notes = Notes(door.config)

    async def work(bridge: Bridge) -> bool:
        if bridge.away is not None:
            return False
        await bridge.agent().heartbeat()
        with contextlib.suppress(OSError):  # then the next one is given at once
            notes.beat()
        return True

    _ = door.config.named_agent
    given = False
    if notes.is_due():
        try:
            async with Door(door.home, door.url) as trying:
                given = await trying.about_itself(work, names=True)
        except typer.Exit as ended:
            if ended.exit_code != AWAY:
                raise
    return Answer({"given": given})


async def dashboard(door: Door, days: int = 30) -> Answer:
    """Show counts of memories, messages, tasks and actions, and day by day what came.

    Args:
        days: How many days back, 1 to 3,650.

    Examples:
        ezra bridge dashboard
        ezra bridge dashboard --json
    """
    found = await reading.dashboard(await door.bridge(names=False), days)
    return Answer({**asdict(found), "since": found.since.isoformat()}, _counts(found))


def _counts(found: reading.Dashboard) -> Iterator[Part]:
    for name in ("memories", "memories_by_agent", "unread", "tasks", "actions"):
        counts: dict[str, int] = getattr(found, name)
        listed = ", ".join(f"{key} {count}" for key, count in counts.items()) or "none"
        yield f"{name.replace('_', ' '):20}{listed}"
    yield ""
    rows = [(day, *(str(of.get(kind, 0)) for kind in COUNTED)) for day, of in found.days.items()]
    yield Rows(("day", *COUNTED), rows)


async def export(door: Door, file: Annotated[str, typer.Argument()] = FROM_INPUT) -> Answer:
    """Write memories, notes, messages, tasks and actions as NDJSON, oldest first.

    Memories that were forgotten or gave way are among them until their content is destroyed, and
    of notes every revision. Private memories of others are not.

    Args:
        file: Where to; - for standard output.

    Examples:
        ezra bridge export memory.ndjson --json
        ezra bridge export > memory.ndjson
    """
    if door.json and file == FROM_INPUT:
        raise UsageError("--json", door.json, "a file to write to: the lines are JSON already")
    lines = await carrying.exported(await door.bridge(names=False))
    if file == FROM_INPUT:
        return Answer(..., (_json_line(line) for line in lines))
    path = Path(file)
    text = "".join(json_lines.dumps(one, ensure_ascii=False) + "\n" for one in lines)
    # A path without a name is no OSError.
    with refused(
        lambda why: UsageError("FILE", file, f"a file that can be written: {why}"), ValueError
    ):
        replace_file(place_of(path), text.encode(), mode=0o666)
    return Answer({"file": file, "lines": len(lines)}, f"{len(lines)} lines in {file}")


def _json_line(line: Mapping[str, Any]) -> Part:
    return lambda screen: screen.json_line(line)


async def import_lines(door: Door, file: Annotated[str, typer.Argument()] = FROM_INPUT) -> Answer:
    """Read an export in; what is there already stays as it is, so it may be repeated.

    Exit code 1 when lines were refused: they are shown with their numbers, the rest is there.

    Args:
        file: An export; - for standard input.

    Examples:
        ezra bridge import memory.ndjson
        ezra bridge import - --json
    """
    lines, unread = _lines(file)
    done = await carrying.imported(await door.bridge(creates=True), lines)
    done.refused += len(unread)
    done.problems = [*unread, *done.problems][: carrying.SHOWN_MAX]
    counts = ", ".join(f"{count} of kind {kind}" for kind, count in sorted(done.counts.items()))
    return Answer(
        {**done.counts, "refused": done.refused, "problems": done.problems},
        [f"read: {counts or 'nothing'}", *(Note(f"refused: {one}") for one in done.problems)],
        code=1 if done.refused else 0,
    )


def _lines(file: str) -> tuple[list[dict[str, Any]], list[str]]:
    """Return what the lines of a file say, and what is wrong with those that are none.

    All of it is read before anything is written.
    """
    lines: list[dict[str, Any]] = []
    unread: list[str] = []

    def unreadable(why: str) -> UsageError:
        return UsageError("FILE", file, f"a file that can be read: {why}")

    with refused(unreadable), _opened(file) as data:
        for number, line in enumerate(data, 1):
            if number > carrying.LINES_MAX:
                raise UsageError("FILE", file, f"at most {carrying.LINES_MAX:,} lines")
            try:
                found = carrying.read_line(number, line)
            except UsageError as error:
                unread.append(str(error))
            else:
                lines += [] if found is None else [found]
    return lines, unread


@contextlib.contextmanager
def _opened(file: str) -> Iterator[IO[bytes]]:
    if file == FROM_INPUT:
        yield sys.stdin.buffer
        return
    with Path(file).open("rb") as data:
        yield data

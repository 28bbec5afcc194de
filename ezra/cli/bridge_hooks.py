"""``ezra bridge hooks``: what a coding agent runs by itself, so that nobody has to remember it."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from tiers.errors import ConfigError, EzraError, UsageError, check_within

from ..bridge.config import AGENT_VARIABLE, BridgeConfig, bridge_config
from ..bridge.hook_drain import Drained
from ..bridge.hook_drain import drain as drained
from ..bridge.hook_file import Change, SettingsFile
from ..bridge.hook_log import LINES_MAX, HookLog, log_of
from ..bridge.hook_settings import EVENTS, MODULE, PROGRAM, commands, program_of
from ..bridge.hook_state import HookState
from ..bridge.outbox import outbox_of
from .bridge_door import AWAY, Door
from .command import Answer, NoMemory, Note, Part, command, group

ROUNDS_MAX = 5
"""So often a run looks for what was queued meanwhile; the next hook starts another one."""

_CONFIG_VARIABLE = "CLAUDE_CONFIG_DIR"
_DRAIN = "drain"

hooks_app = group(
    "Hooks of a coding agent: install them, see what they do. They never stop the agent."
)

SettingsPath = Annotated[
    Path | None,
    typer.Option(
        "--settings", metavar="PATH", help="The settings file.", show_default="the user's"
    ),
]
Project = Annotated[
    bool, typer.Option("--project", help="The settings of this folder, .claude/settings.json.")
]


def _settings_file(settings: Path | None, *, project: bool) -> SettingsFile:
    if settings is not None and project:
        raise UsageError("--settings", str(settings), "--settings or --project, not both")
    if settings is not None:
        return SettingsFile(settings)
    return SettingsFile(_project_path() if project else _user_path())


def _project_path() -> Path:
    return Path(".claude") / "settings.json"


def _user_path() -> Path:
    named = os.environ.get(_CONFIG_VARIABLE, "").strip()
    try:
        return (Path(named or "~/.claude").expanduser()) / "settings.json"
    except RuntimeError as error:
        reason = "there is no home directory; name the file with --settings"
        raise ConfigError(_CONFIG_VARIABLE, reason) from error


def _program(*, project: bool) -> str:
    """Return how hooks are called: by its whole path, but by name where others share the file."""
    beside = Path(sys.executable).parent / PROGRAM
    if project and shutil.which(PROGRAM):
        return PROGRAM
    if beside.is_file():
        return shlex.quote(str(beside))
    return shlex.join([sys.executable, "-P", "-m", MODULE])


@command(hooks_app)
def install(
    _: NoMemory,
    settings: SettingsPath = None,
    project: Project = False,
    command: Annotated[str | None, typer.Option(metavar="PATH", show_default="this one's")] = None,
) -> Answer:
    """Put hooks into a coding agent's settings: when a session begins, after writes, when it stops.

    Everything else in the file stays as it is; its former text is kept beside it. Installing again
    changes nothing.

    Args:
        command: The program ezra-hook.

    Examples:
        ezra bridge hooks install
        ezra bridge hooks install --project
        ezra bridge hooks install --settings ~/.claude/settings.local.json --json
    """
    program = _program(project=project) if command is None else shlex.quote(command)
    if program_of(f"{program} stop") is None:
        raise UsageError("--command", command, f"the path of a program called {PROGRAM}")
    change = _settings_file(settings, project=project).install(program, datetime.now(UTC))
    notes = []
    if not _is_there(program):
        notes.append(f"{program} is not there, or is no program: the hooks will do nothing")
    with suppress(ConfigError):
        if bridge_config().agent is None:
            notes.append(
                "the bridge has no agent: the hooks do nothing until you run "
                f"'ezra bridge setup --agent NAME', or set {AGENT_VARIABLE}"
            )
    return _changed(change, "installed", {"command": program}, notes)


def _is_there(program: str) -> bool:
    return shutil.which(shlex.split(program)[0]) is not None


@command(hooks_app)
def uninstall(_: NoMemory, settings: SettingsPath = None, project: Project = False) -> Answer:
    """Take our hooks, and nothing else, out of a coding agent's settings.

    Examples:
        ezra bridge hooks uninstall
        ezra bridge hooks uninstall --project --json
    """
    change = _settings_file(settings, project=project).uninstall(datetime.now(UTC))
    return _changed(change, "uninstalled", {})


def _changed(
    change: Change, done: str, more: Mapping[str, Any], notes: list[str] | None = None
) -> Answer:
    state = done if change.changed else "unchanged"
    backup = None if change.backup is None else str(change.backup)
    about = {"removed": change.removed, "backup": backup, **more}
    gone = ", and the file is gone: nothing else was in it" if change.removed else ""
    parts: list[Part] = [f"{state}  {change.path}{gone}"]
    if backup is not None:
        parts.append(Note(f"its former text: {backup}"))
    return Answer({"file": str(change.path), "state": state, **about}, parts, notes or ())


@command(hooks_app)
def status(door: Door, settings: SettingsPath = None) -> Answer:
    """Show where hooks are installed, what they have queued, and what came of the last run.

    Examples:
        ezra bridge hooks status
        ezra bridge hooks status --json
    """
    files = {"user": _user_path(), "project": _project_path()}
    found = {
        "settings": [
            _installed(name, SettingsFile(path))
            for name, path in (files if settings is None else {"given": settings}).items()
        ],
        **_waiting(door.config),
    }
    return Answer(found, _status(found))


def _status(found: Mapping[str, Any]) -> Iterator[Part]:
    for one in found["settings"]:
        state = one["problem"] or (", ".join(one["events"]) or "no hooks of ours")
        yield f"{one['name']:10}{one['file']}  {state}"
        for event in one["missing"] if one["events"] else ():
            yield Note(f"{event} is missing: run 'ezra bridge hooks install' again")
        for program in one["not_found"]:
            yield Note(f"{program} is not there: its hooks do nothing")
    yield f"{'agent':10}{found['agent'] or '-'}  at {found['memory']}"
    if found["agent"] is None:
        command = f"run 'ezra bridge setup --agent NAME' ({AGENT_VARIABLE})"
        yield Note(f"hooks need a name: {command}")
        return
    counted = f"{found['files']} files, {found['queued']} writes; {found['refused']} refused"
    yield f"{'waiting':10}{counted}"
    last = found["last"] or {}
    state = "running" if found["running"] else last.get("state", "none yet")
    yield f"{'last run':10}{last.get('at', '')[:19]}  {state}".rstrip()
    for path in last.get("failed", ()):
        yield Note(f"not indexed: {path}")
    yield from map(Note, last.get("problems", ()))
    ago = found["handoff_seconds_ago"]
    yield f"{'handoff':10}{'none' if ago is None else f'prepared {ago} s ago'}"


def _installed(name: str, file: SettingsFile) -> dict[str, Any]:
    """Return what is installed in a settings file, or why that cannot be told."""
    found: dict[str, list[str]] = {}
    problem = None
    try:
        found = commands(file.text() or "")
    except UsageError as error:
        problem = str(error)
    programs = {(program_of(one) or [""])[0] for ours in found.values() for one in ours}
    return {
        "name": name,
        "file": str(file.path),
        "events": found,
        "missing": [event for event in EVENTS if event not in found],
        "not_found": sorted(one for one in programs if shutil.which(one) is None),
        "problem": problem,
    }


def _waiting(config: BridgeConfig) -> dict[str, Any]:
    """Return what was queued for the agent, and what came of it."""
    found: dict[str, Any] = {"agent": config.agent, "memory": config.target}
    if config.agent is None:
        return found
    state = HookState(config)
    queued, refused = outbox_of(config).counts()
    handoff = state.handoff(time.time())
    try:
        is_running = state.is_draining()
    except ConfigError:
        is_running = False  # where nothing can be written, nobody drains
    return {
        **found,
        "files": state.waiting(),
        "queued": queued,
        "refused": refused,
        "running": is_running,
        "last": dict(state.last()) or None,
        "handoff_seconds_ago": None if handoff is None else round(handoff[1]),
        "log": [str(path) for path in log_of(os.environ).paths if path.exists()],
    }


@command(hooks_app, "log")
def show_log(
    _: NoMemory,
    limit: Annotated[int, typer.Option(help=f"How many lines, 1 to {LINES_MAX:,}.")] = 50,
) -> Answer:
    """Show what went wrong in hooks and behind them, oldest first.

    Examples:
        ezra bridge hooks log
        ezra bridge hooks log --limit 500 --json
    """
    check_within("--limit", limit, 1, LINES_MAX)
    log = log_of(os.environ)
    lines = log.lines(limit)
    return Answer({"files": [str(one) for one in log.paths], "lines": lines}, lines)


@command(hooks_app)
async def drain(door: Door, quiet: bool = False) -> Answer:
    """Do what hooks have queued: send it, index notes, sync memories, prepare the next handoff.

    Hooks start this by themselves. One at a time: a second one ends at once. Exit code 4 when the
    memory is away.

    Args:
        quiet: Print nothing; what went wrong goes to the log.

    Examples:
        ezra bridge hooks drain
        ezra bridge hooks drain --json
    """
    config = door.config
    _ = config.named_agent
    state, log = HookState(config), log_of(os.environ)
    done: Drained | None = None
    for _round in range(ROUNDS_MAX):
        with state.draining() as is_ours:
            if not is_ours:
                break
            done = await _run(door, state, log)
        # Whoever queued something meanwhile has seen that this one runs, and started none.
        is_empty = done.left > 0 or outbox_of(config).is_empty()
        if done.state == "away" or (is_empty and not state.has_new()):
            break
    if done is None:
        return Answer(notes=[] if quiet else ["another process does it already"])
    return Answer(done, () if quiet else _changes(done), code=AWAY if done.state == "away" else 0)


async def _run(door: Door, state: HookState, log: HookLog) -> Drained:
    """Do one run, and note what came of it."""
    at = datetime.now(UTC).isoformat()
    try:
        async with Door(door.home, door.url) as trying:
            bridge = await trying.bridge(creates=True)
            done = await drained(bridge, state, datetime.now(UTC))
    except typer.Exit as ended:
        if ended.exit_code != AWAY:
            raise
        done = Drained(state="away", reason="it went away")
    except EzraError as error:
        state.write_last({"at": at, "state": "failed", "problems": [type(error).__name__]})
        raise
    state.write_last({"at": at, **asdict(done)})
    if done.state == "away":
        log.note(_DRAIN, "the memory is away; what waits still waits")
    for problem in done.problems:
        log.note(_DRAIN, problem)
    if done.indexed.get("failed"):
        log.note(_DRAIN, f"{done.indexed['failed']} files not indexed; see 'hooks status'")
    if done.refused:
        log.note(_DRAIN, f"{done.refused} writes refused; see 'ezra bridge sync --refused'")
    return done


def _changes(done: Drained) -> Iterator[Part]:
    for path in done.failed:
        yield Note(f"not indexed: {path}")
    yield from map(Note, done.problems)
    indexed = ", ".join(f"{count} {name}" for name, count in sorted(done.indexed.items()))
    yield f"sent      {done.sent}, {done.refused} refused, {done.left} wait"
    yield f"indexed   {indexed or 'none'}"
    memories = ", ".join(f"{count} {name}" for name, count in done.memories.items())
    yield f"memories  {memories or 'none'}"
    yield f"handoff   {'prepared' if done.has_handoff else 'nothing to tell'}"
    if done.reason:
        yield Note(f"away: {done.reason}")

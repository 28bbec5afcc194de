"""Our hooks in the settings of a coding agent: what is there, with them, and without. Pure.

The settings are those of Claude Code: under ``hooks`` there is a list for each event, of groups
with a matcher and the commands to run. Everything else in them, and how it is written, stays.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from tiers.errors import UsageError

from .hook import POST_TOOL_USE, SESSION_START, STOP
from .hook_json import added, without

PROGRAM = "ezra-hook"
MODULE = "ezra.bridge.hook"
TIMEOUT_SECONDS = 10
"""After which the coding agent itself ends a hook; one ends on its own in half of it."""
WRITES = "Write|Edit|MultiEdit|NotebookEdit"

EVENTS: Mapping[str, str] = {
    "SessionStart": SESSION_START,
    "PostToolUse": POST_TOOL_USE,
    "Stop": STOP,
}
"""The coding agent's events, with ours."""

_HOOKS = "hooks"
_EMPTY = "{}\n"
_BYTE_ORDER_MARK = "\ufeff"


def groups(program: str) -> dict[str, dict[str, Any]]:
    """Return what is installed for each of the coding agent's events.

    Args:
        program: How the hook is called, as a shell reads it, without the event.
    """
    return {
        event: {
            **({"matcher": WRITES} if event == "PostToolUse" else {}),
            _HOOKS: [
                {"type": "command", "command": f"{program} {ours}", "timeout": TIMEOUT_SECONDS}
            ],
        }
        for event, ours in EVENTS.items()
    }


def installed(text: str, program: str) -> str:
    """Return settings with our hooks, each once; the same text where they are in place.

    Args:
        text: The settings; empty when there are none yet.
        program: How the hook is called.

    Raises:
        UsageError: The text is no JSON, or has something else where hooks would be.
    """
    mark, body = _parted(text)
    wanted = groups(program)
    settings = _checked(body)
    for event, group in wanted.items():
        there = [settings[_HOOKS][event][place] for place, _ in _places_of_ours(settings, event)]
        if there == [group]:
            continue
        body = _cleared(body, event)
        settings = _checked(body)
        if _HOOKS not in settings:
            body = added(body, (_HOOKS,), {event: [group]})
        elif event not in settings[_HOOKS]:
            body = added(body, (_HOOKS, event), [group])
        else:
            body = added(body, (_HOOKS, event, len(settings[_HOOKS][event])), group)
        settings = _checked(body)
    return mark + body


def uninstalled(text: str) -> str:
    """Return settings without our hooks; what they alone were in goes with them.

    Raises:
        UsageError: The text is no JSON, or has something else where hooks would be.
    """
    mark, body = _parted(text)
    ours = commands(text)
    for event in ours:
        body = _cleared(body, event)
    return mark + body if ours else text


def is_former(text: str, current: str) -> bool:
    """Whether a text, with the hooks that are in the current one, is the current one to the byte.

    Raises:
        UsageError: The current text is no JSON, or has something else where hooks would be.
    """
    program = _program(current)
    if program is None:
        return False
    try:
        return uninstalled(text) == text and installed(text, program) == current
    except UsageError:
        return False  # a broken file was saved, too


def commands(text: str) -> dict[str, list[str]]:
    """Return our commands in settings, by the coding agent's event.

    Raises:
        UsageError: The text is no JSON, or has something else where hooks would be.
    """
    _, body = _parted(text)
    settings = _checked(body)
    found = {
        event: [
            str(settings[_HOOKS][event][group][_HOOKS][hook]["command"])
            for group, hook in _places_of_ours(settings, event)
        ]
        for event in settings.get(_HOOKS, {})
    }
    return {event: ours for event, ours in found.items() if ours}


def program_of(command: str) -> list[str] | None:
    """Return the program that a command of ours runs, in parts; ``None`` for others' commands."""
    try:
        parts = shlex.split(command)
    except ValueError:
        return None
    if len(parts) < 2 or parts[-1] not in EVENTS.values():  # noqa: PLR2004 - a program, an event
        return None
    program = parts[:-1]
    is_script = len(program) == 1 and program[0].rpartition("/")[2] == PROGRAM
    return program if is_script or program[-2:] == ["-m", MODULE] else None


def _program(text: str) -> str | None:
    """Return how the hooks in settings are called, if they all are called alike."""
    names = {command.rpartition(" ")[0] for ours in commands(text).values() for command in ours}
    return names.pop() if len(names) == 1 else None


def _parted(text: str) -> tuple[str, str]:
    """Return a mark at the beginning, and the rest; an object where there is nothing."""
    mark = _BYTE_ORDER_MARK if text.startswith(_BYTE_ORDER_MARK) else ""
    body = text[len(mark) :]
    return mark, body if body.strip() else _EMPTY


def _checked(body: str) -> dict[str, Any]:
    """Return what settings say.

    Raises:
        UsageError: They are no JSON, or hooks are not what they have to be.
    """
    try:
        settings = json.loads(body)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        accepted = f"JSON without comments; {where}: {error.msg}"
        raise UsageError("settings", body[error.pos : error.pos + 20], accepted) from error
    except RecursionError as error:
        raise UsageError("settings", body[:20], "JSON that is not nested so deep") from error
    if not isinstance(settings, dict):
        raise UsageError("settings", settings, "a JSON object")
    hooks = settings.get(_HOOKS, {})
    if not isinstance(hooks, dict):
        raise UsageError("settings: hooks", hooks, "an object with a list for each event")
    for event, listed in hooks.items():
        if not isinstance(listed, list):
            raise UsageError(f"settings: hooks.{event}", listed, "a list of groups")
    return settings


def _places_of_ours(settings: Mapping[str, Any], event: str) -> Iterator[tuple[int, int]]:
    """Yield the places of our hooks of an event: of the group, and in it."""
    for place, group in enumerate(settings.get(_HOOKS, {}).get(event, ())):
        hooks = group.get(_HOOKS) if isinstance(group, dict) else None
        for inner, hook in enumerate(hooks if isinstance(hooks, list) else ()):
            command = hook.get("command") if isinstance(hook, dict) else None
            if isinstance(command, str) and program_of(command) is not None:
                yield place, inner


def _cleared(body: str, event: str) -> str:
    """Return settings without our hooks of an event, and without what becomes empty by that."""
    while True:
        settings = _checked(body)
        ours = next(_places_of_ours(settings, event), None)
        if ours is None:
            return body
        group, hook = ours
        path: list[str | int] = [_HOOKS, event, group, _HOOKS, hook]
        # From the inside: a group without commands, an event without groups, and so on.
        if len(settings[_HOOKS][event][group][_HOOKS]) == 1:
            path = path[:3]
            if len(settings[_HOOKS][event]) == 1:
                path = path[:2]
                if len(settings[_HOOKS]) == 1:
                    path = path[:1]
        body = without(body, path)

"""``ezra-hook EVENT``: what a coding agent runs when a session begins, after writes, at its end.

The event is JSON on standard input. Whatever happens, the exit code is 0 and nothing but context
for a new session is printed: a memory must never stop the agent whose memory it is. What went wrong
stands in a log, see ``ezra bridge hooks log``.

The agent waits for this process. So it only writes down what is to be done and leaves the rest to
another one; and what most calls do not need, it does not import.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from types import FrameType
from typing import Any, NoReturn

SESSION_START = "session-start"
POST_TOOL_USE = "post-tool-use"
STOP = "stop"
EVENTS = (SESSION_START, POST_TOOL_USE, STOP)

INPUT_BYTES_MAX = 8 * 1024 * 1024
"""Of an event: it has the file in it that was written."""
DISCARDED_BYTES_MAX = 64 * 1024 * 1024
"""So much more is read and thrown away, for whoever writes it not to be stopped."""
SECONDS_MAX = 5.0
"""So long it may take in all, however slow the disk is and whoever holds a lock."""

_CHUNK = 65_536
_PROJECT_VARIABLE = "CLAUDE_PROJECT_DIR"
_PATHS = ("file_path", "notebook_path")
_NOTES = (".md", ".markdown")


class UnusableEventError(Exception):
    """An event says nothing that can be used. The message has none of its words."""


def main() -> NoReturn:
    """Do what an event asks for, and end with exit code 0."""
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    try:
        _limit_time(name)
        context = answered(name, _read(sys.stdin.fileno()), os.environ)
        if context:
            sys.stdout.write(context)
            sys.stdout.flush()
    except BaseException as error:  # noqa: BLE001 - the agent must go on, whatever this is
        _log(name, error)
    # At once: what an interpreter does at its end may fail, too.
    os._exit(0)


def answered(name: str, data: bytes, environ: Mapping[str, str]) -> str:
    """Do what an event asks for, and return what the agent should read.

    Args:
        name: Which of ``EVENTS``.
        data: The event, as JSON.
        environ: The environment.

    Raises:
        UnusableEventError: It is none of the events, or says nothing that can be used.
        ConfigError: The bridge is not set up, or its folder cannot be written.
        EzraError: There is no room for what is to be done.
    """
    if name not in EVENTS:
        raise UnusableEventError(f"the event must be one of {', '.join(EVENTS)}")
    event = _event(data)
    written = _written(event) if name == POST_TOOL_USE else ""
    if name == POST_TOOL_USE and not written.casefold().endswith(_NOTES):
        return ""
    _enter_project(event, environ)
    from .hook_events import handled  # noqa: PLC0415 - most writes are of other files

    return handled(name, event, written, environ)


def _limit_time(name: str) -> None:
    def ended(number: int, frame: FrameType | None) -> None:
        del number, frame
        _log(name, UnusableEventError(f"it took longer than {SECONDS_MAX:g} s"))
        os._exit(0)

    signal.signal(signal.SIGALRM, ended)
    # Once more a second later, should writing the log be what takes so long.
    signal.setitimer(signal.ITIMER_REAL, SECONDS_MAX, 1.0)


def _read(descriptor: int) -> bytes:
    """Return what standard input has, to its end."""
    found = bytearray()
    size = 0
    while size < INPUT_BYTES_MAX + DISCARDED_BYTES_MAX:
        chunk = os.read(descriptor, _CHUNK)
        if not chunk:
            break
        size += len(chunk)
        if size <= INPUT_BYTES_MAX:
            found += chunk
    if size > INPUT_BYTES_MAX:
        raise UnusableEventError(f"the event has more than {INPUT_BYTES_MAX:,} bytes")
    return bytes(found)


def _event(data: bytes) -> Mapping[str, Any]:
    try:
        event = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise UnusableEventError("the event is no JSON") from error
    if not isinstance(event, dict):
        raise UnusableEventError("the event is no JSON object")
    return event


def _written(event: Mapping[str, Any]) -> str:
    """Return the path of the file that a tool wrote; empty when it wrote none."""
    given = event.get("tool_input")
    named = [given.get(one) for one in _PATHS] if isinstance(given, dict) else []
    paths = [one for one in named if isinstance(one, str) and "\x00" not in one]
    return paths[0] if paths else ""


def _enter_project(event: Mapping[str, Any], environ: Mapping[str, str]) -> None:
    """Go to the folder of the project: the agent may have gone elsewhere since it began."""
    folder = environ.get(_PROJECT_VARIABLE, "").strip() or event.get("cwd")
    if isinstance(folder, str) and "\x00" not in folder and os.path.isdir(folder):  # noqa: PTH112
        os.chdir(folder)


def _log(name: str, error: BaseException) -> None:
    try:
        from .hook_log import error_words, log_of  # noqa: PLC0415 - what goes well needs no log

        log_of(os.environ).note(name if name in EVENTS else "unknown", error_words(error))
    except BaseException:  # noqa: BLE001, S110 - nobody is left to be told
        pass


__all__: Sequence[str] = ("EVENTS", "POST_TOOL_USE", "SESSION_START", "STOP", "answered", "main")

if __name__ == "__main__":
    # By its own name: errors of this module are to be the same for all that import it.
    from .hook import main as called

    called()

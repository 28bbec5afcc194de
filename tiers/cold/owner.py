"""One process owns a data folder. A second one is told who does.

The lock is the operating system's, so it goes with the process, however that ends. What
``owner.json`` says is for the message only and is never trusted.
"""

from __future__ import annotations

import errno
import json
import os
import platform
import sys
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from filelock import FileLock, Timeout

from ..errors import ConfigError, FolderInUse

LOCK_NAME = "owner.lock"
NOTE_NAME = "owner.json"
_SETTING = "EZRA_HOME"
_FULL = (errno.ENOSPC, errno.EDQUOT)
_NOTE_CHARS_MAX = 4_096


class FolderOwnership:
    """Holds a data folder for the length of a ``with`` or ``async with`` block.

    Nothing waits: entering takes the lock at once or raises ``FolderInUse`` with the owner's
    process, program, host and start. The same process cannot own a folder twice either.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        # Not a singleton: a second owner in this process must be refused, not let in again.
        self._lock = FileLock(folder / LOCK_NAME, timeout=0, thread_local=False)

    def __enter__(self) -> Self:
        with _usable(self._folder):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                self._lock.acquire()
            except Timeout as held:
                raise FolderInUse(_SETTING, _in_use(self._folder)) from held
            try:
                _write_note(self._folder)
            except OSError as error:
                if error.errno not in _FULL:  # on a full disk the lock has to do without
                    self._lock.release()
                    raise
        return self

    def __exit__(self, *exc_info: object) -> None:
        (self._folder / NOTE_NAME).unlink(missing_ok=True)
        self._lock.release()

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(self, *exc_info: object) -> None:
        self.__exit__()


def own_folder(folder: Path) -> FolderOwnership:
    """Return the ownership of ``folder``, to be entered with ``with`` or ``async with``.

    Raises:
        ConfigError: On entering: another owner holds the folder, or it cannot be used.
    """
    return FolderOwnership(folder)


@contextmanager
def _usable(folder: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        if isinstance(error, Timeout):
            raise
        reason = f"cannot use {folder}: {error.strerror or error}"
        raise ConfigError(_SETTING, reason) from error


def _write_note(folder: Path) -> None:
    note = {
        "pid": os.getpid(),
        "program": Path(sys.argv[0]).name or Path(sys.executable).name,
        "host": platform.node(),
        "since": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    draft = folder / f"{NOTE_NAME}.new"
    draft.write_text(json.dumps(note), encoding="utf-8")
    draft.replace(folder / NOTE_NAME)


def _in_use(folder: Path) -> str:
    """Return who holds the folder, as far as the note tells, and what to do about it."""
    advice = "close it, or set EZRA_HOME to another folder"
    try:
        text = (folder / NOTE_NAME).read_text(encoding="utf-8")[:_NOTE_CHARS_MAX]
        note = json.loads(text)
        owner = (
            f"process {note['pid']} (program {note['program']}, host {note['host']}) "
            f"since {note['since']}"
        )
    except (OSError, ValueError, KeyError, TypeError):
        owner = "another process, which left no note of itself"
    return f"{folder} is in use by {owner}; {advice}"

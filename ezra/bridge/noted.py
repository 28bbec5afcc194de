"""What a machine notes for its agent beside the outbox: the task at hand, the last sign of life.

Losing it costs nothing. A hook imports this: it needs the standard library only.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from .config import BridgeConfig

HEARTBEAT_SECONDS = 60.0
"""From one sign of life to the next, however often it is asked for."""

NOTE_BYTES_MAX = 65_536
TITLE_CHARS_MAX = 1_000


@dataclass(frozen=True)
class CurrentTask:
    """The task that an agent is at on this machine.

    Attributes:
        id: Its id.
        title: What it is called.
        status: Its state, as far as this machine knows.
    """

    id: str
    title: str
    status: str


class Notes:
    """The notes of one agent of one graph in one memory.

    Args:
        config: Names them, and the folder.
        seconds: Seconds since the epoch.
    """

    def __init__(self, config: BridgeConfig, seconds: Callable[[], float] = time.time) -> None:
        self._folder = config.state / "notes"
        self._key = config.key
        self._seconds = seconds

    def current(self) -> CurrentTask | None:
        """Return the task at hand; ``None`` when there is none, or the note cannot be read."""
        try:
            with self._file("task").open("rb") as file:
                said = json.loads(file.read(NOTE_BYTES_MAX))
            return CurrentTask(str(said["id"]), str(said["title"]), str(said["status"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def begin(self, task: CurrentTask) -> None:
        """Note the task at hand.

        Raises:
            OSError: The folder cannot be written.
        """
        shown = CurrentTask(task.id, task.title[:TITLE_CHARS_MAX], task.status)
        self._write("task", json.dumps(asdict(shown)))

    def end(self, task_id: str) -> None:
        """Forget the task at hand, if it is that one."""
        found = self.current()
        if found is not None and found.id == task_id:
            self._file("task").unlink(missing_ok=True)

    def is_due(self) -> bool:
        """Whether the last sign of life is ``HEARTBEAT_SECONDS`` ago, or of the future."""
        try:
            ago = self._seconds() - self._file("beat").stat().st_mtime
        except OSError:
            return True
        return not 0 <= ago < HEARTBEAT_SECONDS

    def beat(self) -> None:
        """Note that a sign of life was given.

        Raises:
            OSError: The folder cannot be written.
        """
        self._write("beat", "")
        now = self._seconds()
        os.utime(self._file("beat"), (now, now))

    def _write(self, what: str, text: str) -> None:
        path = self._file(what)
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)

    def _file(self, what: str) -> Path:
        return self._folder / f"{self._key}.{what}"

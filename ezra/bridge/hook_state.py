"""What hooks leave for the process behind them, and what that leaves for them.

It needs the standard library only. One folder for each agent, graph and memory::

    hooks/<key>/files/<name>.json     a note that was written, to be indexed; .taken: it is being
    hooks/<key>/handoff.md            what the next session is told
    hooks/<key>/drain.json            what came of the last run behind the hooks
    hooks/<key>/drain.lock, started, stopped

Every file is there whole or not at all.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from tiers.errors import EzraError
from tiers.saved_file import replace_file

from .config import BridgeConfig
from .own_files import locked, usable

FILES_MAX = 10_000
HANDOFF_CHARS_MAX = 9_500
"""Coding agents cut longer context."""
HANDOFF_DAYS_MAX = 14
"""What is older is not told any more, and removed."""
ENTRY_BYTES_MAX = 65_536
PATH_CHARS_MAX = 8_192

_WAITS, _TAKEN = ".json", ".taken"
_DAY_SECONDS = 86_400
_CUT = "\n… cut; 'ezra bridge graph gen-handoff' has the rest\n"


class TooManyFilesError(EzraError):
    """There is no room for one more file. Nothing was written."""

    def __init__(self) -> None:
        super().__init__(
            f"{FILES_MAX:,} files wait to be indexed; run 'ezra bridge entity index-all'"
        )


@dataclass(frozen=True)
class QueuedFile:
    """A note that was written, to be indexed.

    Attributes:
        path: Where it is.
        digest: SHA-256 of what it had then, in hexadecimal; empty when it could not be read.
        folder: The project's folder: what is watched where nothing else is configured.
        at: When, ISO 8601 in UTC.
    """

    path: str
    digest: str
    folder: str
    at: str

    @property
    def name(self) -> str:
        """Names it in names of files: the same file of the same project has one place."""
        return sha256(os.fsencode(f"{self.folder}\n{self.path}")).hexdigest()[:32]


class HookState:
    """What hooks keep for one agent of one graph in one memory.

    Args:
        config: Names them, and the folder.
    """

    def __init__(self, config: BridgeConfig) -> None:
        self.folder = config.state / "hooks" / config.key
        self._files = self.folder / "files"

    def queue(self, file: QueuedFile) -> None:
        """Keep a file to be indexed; when this returns it is on the disk.

        Raises:
            TooManyFilesError: There is no room.
            ConfigError: The folder cannot be written.
        """
        path = self._files / f"{file.name}{_WAITS}"
        with self._usable():
            self._files.mkdir(parents=True, exist_ok=True, mode=0o700)
            if not path.exists() and len(os.listdir(self._files)) >= FILES_MAX:  # noqa: PTH208
                raise TooManyFilesError
            replace_file(path, json.dumps(asdict(file)).encode())

    def waiting(self) -> int:
        """Return how many files wait, those that are being indexed included."""
        return sum(one.endswith((_WAITS, _TAKEN)) for one in self._names())

    def has_new(self) -> bool:
        """Whether files were queued that nobody has taken yet."""
        return any(one.endswith(_WAITS) for one in self._names())

    def take(self) -> tuple[QueuedFile, ...]:
        """Take all files that wait, and those that somebody took who died; only while draining.

        What is queued again from now on is queued anew.

        Raises:
            ConfigError: The folder cannot be written.
        """
        with self._usable():
            for name in self._names():
                if name.endswith(_WAITS):
                    taken = name.removesuffix(_WAITS) + _TAKEN
                    (self._files / name).replace(self._files / taken)
        found = []
        for name in self._names():
            if name.endswith(_TAKEN):
                one = self._queued(self._files / name)
                if one is not None:
                    found.append(one)
        return tuple(sorted(found, key=lambda one: (one.at, one.path)))

    def done(self, file: QueuedFile) -> None:
        """Forget a file that was taken."""
        with self._usable():
            (self._files / f"{file.name}{_TAKEN}").unlink(missing_ok=True)

    def write_handoff(self, text: str) -> None:
        """Keep what the next session is told; empty text takes it away.

        Raises:
            ConfigError: The folder cannot be written.
        """
        with self._usable():
            if text.strip():
                self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                replace_file(self.folder / "handoff.md", bounded(text).encode("utf-8", "replace"))
            else:
                (self.folder / "handoff.md").unlink(missing_ok=True)

    def handoff(self, seconds: float) -> tuple[str, float] | None:
        """Return what a session is told, and how many seconds ago it was prepared.

        Args:
            seconds: Now, since the epoch. What is older than ``HANDOFF_DAYS_MAX`` is removed.
        """
        path = self.folder / "handoff.md"
        try:
            with path.open("rb") as file:
                data = file.read(4 * HANDOFF_CHARS_MAX)
                ago = max(0.0, seconds - os.fstat(file.fileno()).st_mtime)
        except OSError:
            return None
        if ago > HANDOFF_DAYS_MAX * _DAY_SECONDS:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
            return None
        return bounded(data.decode("utf-8", "replace")), ago

    def write_last(self, said: Mapping[str, Any]) -> None:
        """Note what came of a run.

        Raises:
            ConfigError: The folder cannot be written.
        """
        with self._usable():
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            replace_file(self.folder / "drain.json", json.dumps(said).encode())

    def last(self) -> Mapping[str, Any]:
        """Return what came of the last run; empty when there was none, or it cannot be read."""
        found = _object(self.folder / "drain.json")
        return {} if found is None else found

    def is_new_stop(self, session: str, seconds: float, least: float) -> bool:
        """Whether a session has not stopped within so many seconds; if so, it is noted.

        Raises:
            ConfigError: The folder cannot be written.
        """
        path = self.folder / "stopped"
        with self._usable():
            try:
                was, ago = path.read_text(encoding="utf-8"), seconds - path.stat().st_mtime
            except (FileNotFoundError, UnicodeDecodeError):
                was, ago = None, least
            if was == session and 0 <= ago < least:
                return False
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            replace_file(path, session.encode("utf-8", "replace"))
            os.utime(path, (seconds, seconds))
        return True

    @contextmanager
    def starting(self) -> Iterator[float | None]:
        """Be the one that may start a run; yields when the last was started, since the epoch.

        ``None`` when somebody else is just starting one; 0 when none ever was.

        Raises:
            ConfigError: The folder cannot be written.
        """
        with self._locked("started", 0.0) as is_ours:
            path = self.folder / "started"
            found = path.stat() if is_ours else None
            # It is empty until a first run was noted in it.
            yield None if found is None else found.st_mtime if found.st_size else 0.0

    def note_start(self, seconds: float) -> None:
        """Note that a run is started; only in a block of ``starting``."""
        path = self.folder / "started"
        with self._usable():
            path.write_text("started\n", encoding="ascii")
            os.utime(path, (seconds, seconds))

    @contextmanager
    def draining(self, wait_seconds: float = 1.0) -> Iterator[bool]:
        """Be the only one that does what waits; yields whether that is so.

        Raises:
            ConfigError: The folder cannot be written.
        """
        with self._locked("drain.lock", wait_seconds) as is_ours:
            yield is_ours

    def is_draining(self) -> bool:
        """Whether a process does what waits."""
        with self._locked("drain.lock", 0.0) as is_free:
            return not is_free

    def _names(self) -> list[str]:
        try:
            return os.listdir(self._files)  # noqa: PTH208 - names are all that is needed
        except OSError:
            return []

    def _queued(self, path: Path) -> QueuedFile | None:
        said = _object(path)
        try:
            found = QueuedFile(**{name: str(one) for name, one in (said or {}).items()})
        except TypeError:
            found = None
        if found is None or found.name != path.stem:
            # Nothing that a hook wrote; it would be read at every run.
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
            return None
        return found

    def _locked(self, name: str, wait_seconds: float) -> AbstractContextManager[bool]:
        return locked(self.folder / name, self.folder, wait_seconds)

    def _usable(self) -> AbstractContextManager[None]:
        return usable(self.folder)


def bounded(text: str) -> str:
    """Return text within ``HANDOFF_CHARS_MAX`` characters, cut after a whole line."""
    if len(text) <= HANDOFF_CHARS_MAX:
        return text
    kept = text[: HANDOFF_CHARS_MAX - len(_CUT)]
    return kept[: kept.rfind("\n") + 1 or len(kept)].rstrip("\n") + _CUT


def _object(path: Path) -> dict[str, Any] | None:
    try:
        with path.open("rb") as file:
            said = json.loads(file.read(ENTRY_BYTES_MAX))
    except (OSError, ValueError):
        return None
    return said if isinstance(said, dict) else None

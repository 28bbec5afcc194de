"""What went wrong in hooks, and in what they started: a file of bounded size.

It says which error there was, and of settings also which; never what an event or a record says.
Writing to it never fails: who writes is not to be stopped.
"""

from __future__ import annotations

import contextlib
import os
import stat
import traceback
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from tiers.errors import ConfigError, EzraError

from .config import state_folder
from .hook import UnusableEventError

BYTES_MAX = 256 * 1024
"""Of the file; there may be one former file of the same size."""
LINE_CHARS_MAX = 500
LINES_MAX = 10_000

_NAME = "hooks.log"


class HookLog:
    """The log of hooks on this machine.

    Args:
        folder: Where it is.
        instead: Where it is when that folder cannot be written.
    """

    def __init__(self, folder: Path | None, instead: Path) -> None:
        self._folders = [one for one in (folder, instead) if one is not None]
        self._instead = instead

    @property
    def paths(self) -> tuple[Path, ...]:
        """Where it may be, in the order of preference."""
        return tuple(folder / _NAME for folder in self._folders)

    def note(self, what: str, text: str, at: datetime | None = None) -> None:
        """Write a line; where that is not possible, nothing happens.

        Args:
            what: Which hook it was, or what else.
            text: What happened.
            at: When; now if not given.
        """
        moment = (at or datetime.now(UTC)).isoformat(timespec="milliseconds")
        flat = " ".join(text.split())[:LINE_CHARS_MAX]
        descriptor = self.opened()
        if descriptor is None:
            return
        try:
            os.write(descriptor, f"{moment} {what} {flat}\n".encode("utf-8", "replace"))
        except OSError:
            pass  # the disk is full, for one
        finally:
            os.close(descriptor)

    def opened(self) -> int | None:
        """Return a descriptor to append to, which the caller closes; ``None`` where there is none.

        A file that has become too long is put aside first.
        """
        for folder in self._folders:
            with contextlib.suppress(OSError):
                self._make(folder)
                path = folder / _NAME
                with contextlib.suppress(FileNotFoundError):
                    if path.lstat().st_size > BYTES_MAX:
                        path.replace(path.with_name(f"{_NAME}.1"))
                flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
                return os.open(path, flags, 0o600)
        return None

    def lines(self, limit: int = 50) -> tuple[str, ...]:
        """Return the last lines, oldest first; those of former files are among them."""
        found: list[str] = []
        for path in self.paths:
            for one in (path.with_name(f"{_NAME}.1"), path):
                with contextlib.suppress(OSError), one.open("rb") as file:
                    data = file.read(2 * BYTES_MAX)
                    found += data.decode("utf-8", "replace").splitlines()
        # They begin with the time. What a process printed as it died does not; it stays in place.
        return tuple(found[-limit:] if limit else ())

    def _make(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if folder == self._instead:
            # Everybody may write beside it, and put something in its place.
            found = folder.lstat()
            is_own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
            if not is_own or found.st_mode & 0o022:
                raise PermissionError(str(folder))


def log_of(environ: Mapping[str, str]) -> HookLog:
    """Return the log of the bridge that an environment names."""
    temporary = environ.get("TMPDIR", "").strip() or "/tmp"  # noqa: S108 - its owner is checked
    instead = Path(temporary) / f"ezra-hooks-{os.getuid()}"
    try:
        return HookLog(state_folder(environ) / "hooks", instead)
    except ConfigError:
        return HookLog(None, instead)


def error_words(error: BaseException) -> str:
    """Return what a log says of an error: its words where they are ours, else where it was."""
    kind = type(error).__name__
    if isinstance(error, UnusableEventError | ConfigError):
        return f"{kind}: {error}"
    frames = traceback.extract_tb(error.__traceback__)
    where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "unknown"
    if isinstance(error, EzraError | OSError):
        number = f" {error.errno}" if isinstance(error, OSError) and error.errno else ""
        return f"{kind}{number} in {where}"
    return f"{kind} in {where}"

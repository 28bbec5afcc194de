"""Files that are there as a whole or not at all: exports, downloads, what is replaced."""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path
from typing import IO

from .errors import UsageError, refused


class SavedFile:
    """Writes what comes beside ``path``, and puts it there once it is whole.

    Not a coroutine anywhere: it is for a thread. Until ``finish`` nothing is at ``path``, or what
    was there before; ``close`` leaves nothing of a file that was not finished. The file is only
    its owner's.

    Raises:
        UsageError: ``path`` names no file, as an empty one does.
    """

    def __init__(self, path: Path) -> None:
        if not path.name:
            raise UsageError("path", str(path), "the name of a file")
        self._path = path
        self._draft = self._place = path
        self._file: IO[bytes] | None = None

    def open(self) -> None:
        """Begin the file.

        Raises:
            UsageError: It cannot be written there.
        """
        with refused(self._unwritable, ValueError):
            self._place = place_of(self._path)
            self._draft = _beside(self._place, "part")
            number = os.open(self._draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        self._file = os.fdopen(number, "wb")

    def write(self, chunk: bytes) -> None:
        """Write what comes next.

        Raises:
            UsageError: The disk is full.
        """
        with refused(self._unwritable):
            self._opened.write(chunk)

    def finish(self) -> None:
        """Put the file in its place, durably.

        Raises:
            UsageError: It cannot be written there.
        """
        with refused(self._unwritable):
            self._opened.flush()
            os.fsync(self._opened.fileno())
            self._draft.replace(self._place)
            sync_folder(self._place.parent)

    def close(self) -> None:
        """Leave nothing behind that is not finished. May be repeated."""
        file, self._file = self._file, None
        if file is not None:
            with contextlib.suppress(OSError):  # what a full disk did not take is not wanted now
                file.close()
            self._draft.unlink(missing_ok=True)

    @property
    def _opened(self) -> IO[bytes]:
        if self._file is None:
            raise UsageError("file", "closed", "an open file")
        return self._file

    def _unwritable(self, why: str) -> UsageError:
        return UsageError("path", str(self._path), f"a file that can be written ({why})")


def place_of(path: Path) -> Path:
    """Return where a file goes that somebody names: a link stays, and leads to it.

    Raises:
        OSError: Something is there that is no file, and would be gone for who reads from it; or
            the link leads to itself.
    """
    place = Path(os.path.realpath(path))
    if place.is_symlink():
        raise OSError(errno.ELOOP, "the link leads to itself")
    if place.exists() and not (place.is_file() or place.is_dir()):
        reason = "what is there is no regular file; - is standard output, where that is taken"
        raise OSError(errno.EINVAL, reason)
    return place


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(f".{path.name}.{os.urandom(8).hex()}.{suffix}")


def replace_file(path: Path, content: bytes, *, mode: int = 0o600) -> None:
    """Write a file beside and put it into its place, so that it is old or new at any moment.

    Args:
        path: Where it goes, in the place of whatever is there: of a path that somebody names
            ``place_of``.
        content: All of it.
        mode: Who may read it, as far as the process does not mask it.

    Raises:
        OSError: As the system says.
    """
    draft = _beside(path, "tmp")
    number = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


def sync_folder(folder: Path) -> None:
    """Make names in a folder durable, where the system can."""
    if os.name == "nt":
        return
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)

"""A file that is there when all of it is: an export, or what comes from a server."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path
from typing import IO

from .errors import UsageError
from .history.signing import sync_folder


class SavedFile:
    """Writes what comes beside ``path``, and puts it there once it is whole.

    Not a coroutine anywhere: it is for a thread. Until ``finish`` nothing is at ``path``, or what
    was there before; ``close`` leaves nothing of a file that was not finished. The file is only
    its owner's.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
        self._file: IO[bytes] | None = None

    def open(self) -> None:
        """Begin the file.

        Raises:
            UsageError: It cannot be written there.
        """
        try:
            number = os.open(self._draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except (OSError, ValueError) as error:
            raise self._unwritable(error) from error
        self._file = os.fdopen(number, "wb")

    def write(self, chunk: bytes) -> None:
        """Write what comes next.

        Raises:
            UsageError: The disk is full.
        """
        try:
            self._opened.write(chunk)
        except OSError as error:
            raise self._unwritable(error) from error

    def finish(self) -> None:
        """Put the file in its place, durably.

        Raises:
            UsageError: It cannot be written there.
        """
        try:
            self._opened.flush()
            os.fsync(self._opened.fileno())
            self._draft.replace(self._path)
            sync_folder(self._path.parent)
        except OSError as error:
            raise self._unwritable(error) from error

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

    def _unwritable(self, error: OSError | ValueError) -> UsageError:
        reason = getattr(error, "strerror", None) or str(error)
        return UsageError("path", str(self._path), f"a file that can be written ({reason})")

"""The bridge's files on this machine: who has them, and what cannot be done with them.

It needs the standard library only: hooks import it at every call of their coding agent.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from tiers.errors import ConfigError, refused

_AGAIN_SECONDS = 0.01


def usable(folder: Path) -> AbstractContextManager[None]:
    """Tell of what cannot be done with a folder in the block.

    Raises:
        ConfigError: The folder cannot be read or written; names it.
    """
    return refused(lambda why: ConfigError(str(folder), f"cannot be used: {why}"))


@contextmanager
def locked(path: Path, folder: Path, wait_seconds: float) -> Iterator[bool]:
    """Hold a lock, which ends with the process at the latest; yields whether it is held.

    Args:
        path: The file that is locked; made where it is not there.
        folder: Named where that is not possible.
        wait_seconds: How long another process is waited for.

    Raises:
        ConfigError: The folder cannot be written.
    """
    with usable(folder):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        yield _acquired(number, wait_seconds)
    finally:
        os.close(number)


def open_regular(path: str, flags: int) -> int:
    """Open a file that is no link, and do not wait for who writes to a pipe; an ``opener``."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)


def _acquired(number: int, wait_seconds: float) -> bool:
    until = time.monotonic() + wait_seconds
    while True:
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                return False
            time.sleep(_AGAIN_SECONDS)
        else:
            return True

"""Calls to the file system, and what its refusals are called."""

from __future__ import annotations

import errno
import math
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import DiskFull, TierUnavailable

WRITE_BYTES_MIN = 48 * 2**20
"""Free before anything is written. The engine's files are mapped and have holes: where the disk has
no room for a page of one, the kernel ends the process. A step of writes fills a few MiB of them,
and may begin a segment of the log and a page of each payload index."""

READ_BYTES_MIN = 4 * 2**20
"""Free before anything is read: on a file system in memory, looking at a hole fills it."""

BUILD_BYTES_MIN = 192 * 2**20
"""Free before an index is made: a new one takes about 80 MiB at once."""


AMPLE_BYTES = 2 * 2**30
"""Free room that nothing fills within ``LOOK_SECONDS``: 20 GB a second would."""

LOOK_SECONDS = 0.1
"""So long room that was ample is not looked at again: looking takes as long as a small question."""


class Room:
    """What is free where a folder lies."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ample_until = -math.inf

    def check(self, operation: str, bytes_min: int) -> None:
        """Refuse what could run out of disk in the middle, as ``check_room`` does."""
        now = time.monotonic()
        if now < self._ample_until:
            return
        free = check_room(self._folder, operation, bytes_min)
        self._ample_until = now + LOOK_SECONDS if free >= AMPLE_BYTES else -math.inf


def check_room(folder: Path, operation: str, bytes_min: int) -> int:
    """Refuse what could run out of disk in the middle; return how many bytes are free.

    Raises:
        DiskFull: Less than so much is free.
    """
    with disk_call(operation):
        free = shutil.disk_usage(folder).free
    if free < bytes_min:
        reason = f"{free // 2**20} MiB are free under {folder}, {bytes_min // 2**20} are needed"
        raise DiskFull("warm", operation, reason)
    return free


@contextmanager
def disk_call(operation: str) -> Iterator[None]:
    """Turn what the operating system refuses inside the block into ``TierUnavailable``."""
    try:
        yield
    except OSError as error:
        is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        kind = DiskFull if is_full else TierUnavailable
        raise kind("warm", operation, str(error)) from error

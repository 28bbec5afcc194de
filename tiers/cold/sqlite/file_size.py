"""Whether a database file is as long as it says: one that was emptied is no new memory."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

from ...errors import ConfigError, CorruptRecord

_HEADER_BYTES = 100
_PAGE_BYTES = slice(16, 18)
_CHANGES = slice(24, 28)
_PAGES = slice(28, 32)
_PAGES_VALID_FOR = slice(92, 96)
MADE_NAME = "memory-made"
"""Lies beside the database from its first opening on, and says that there was one.

It holds some room too: on a full disk it is emptied, since SQLite cannot even read without making
two small files.
"""
_ROOM_BYTES = 256 * 1024
_PLENTY_BYTES = 64 * 2**20
_LEFT_BY_MEMORIES = (MADE_NAME, "warm/*/marks.json", "signing-key.pem", "tokens*")
_WHERE_TO = "restore it from a backup, or move the whole folder away to begin anew"


def check_whole(path: Path) -> None:
    """Refuse a database file that was emptied or cut short, before anything is written into it.

    A file that is not there is a new memory, unless there was one (``note_made``) or its log is
    there still; an empty one is none beside anything that a memory leaves in its folder.

    Raises:
        ConfigError: It cannot be looked at.
        CorruptRecord: It was emptied or cut short.
    """
    try:
        is_logged = has_log(path)
        if not path.exists():
            if is_logged or (path.parent / MADE_NAME).exists():
                reason = f"{path} is gone, but the folder had a memory; {_WHERE_TO}"
                raise CorruptRecord("cold", "open", reason)
            return
        size = path.stat().st_size
        with path.open("rb") as file:
            header = file.read(_HEADER_BYTES)
        is_used = is_logged or any(any(path.parent.glob(one)) for one in _LEFT_BY_MEMORIES)
    except OSError as error:
        raise ConfigError("EZRA_HOME", f"{path} cannot be read ({error})") from error
    if not size and is_used:
        reason = f"{path} is empty, but the folder holds a memory's other files; {_WHERE_TO}"
        raise CorruptRecord("cold", "open", reason)
    said = _bytes_said(header)
    if size and not is_logged and size < said:
        reason = f"{path} was cut short: {size:,} of {said:,} bytes are left; {_WHERE_TO}"
        raise CorruptRecord("cold", "open", reason)


def has_log(path: Path) -> bool:
    """Whether a database has changes in its log that are not in its file yet."""
    log = path.with_name(f"{path.name}-wal")
    return log.exists() and log.stat().st_size > 0


def note_made(folder: Path) -> None:
    """Leave the note that there is a memory in a folder, holding room where there is plenty."""
    note = folder / MADE_NAME
    with suppress(OSError):
        note.touch()
        if note.stat().st_size < _ROOM_BYTES and shutil.disk_usage(folder).free > _PLENTY_BYTES:
            note.write_bytes(bytes(_ROOM_BYTES))


def give_room(folder: Path) -> None:
    """Let go of the room that the note holds, where the disk has none to open a database with."""
    note = folder / MADE_NAME
    with suppress(OSError):
        if note.exists() and shutil.disk_usage(folder).free < _ROOM_BYTES:
            os.truncate(note, 0)


def has_no_room(folder: Path) -> bool:
    """Whether a disk is too full to open a database on; SQLite says no more than that it failed."""
    with suppress(OSError):
        return shutil.disk_usage(folder).free < _ROOM_BYTES
    return False


def _bytes_said(header: bytes) -> int:
    """Return how long a file is by its header; 0 where that does not say."""
    if len(header) < _HEADER_BYTES or header[_CHANGES] != header[_PAGES_VALID_FOR]:
        return 0
    page = int.from_bytes(header[_PAGE_BYTES], "big")
    return (65_536 if page == 1 else page) * int.from_bytes(header[_PAGES], "big")

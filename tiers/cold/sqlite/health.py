"""What the SQLite cold tier's file says about itself, for ``ezra doctor``."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import statistics
import time
from contextlib import closing
from pathlib import Path

from pydantic import JsonValue

from ...errors import CorruptRecord, TierError
from ...health import Findings, TierHealth
from .database import SQLITE_VERSION_MIN
from .file_size import check_whole
from .schema import refusal_of
from .store import DATABASE_NAME
from .translation import translated

ROUND_TRIPS = 5
TIMEOUT_SECONDS = 2.0
CHECKED_BYTES_MAX = 1024 * 1024 * 1024
"""A larger file is not compared with its indexes: that would take its time."""

FREE_BYTES_MIN = 256 * 1024 * 1024


async def sqlite_health(folder: Path) -> TierHealth:
    """Look at the database in ``folder``, which may be in use by the process that owns it.

    It is opened for reading only; nothing is made, locked or changed. Whatever is wrong is a
    problem of the answer, not an error.
    """
    return await asyncio.to_thread(_health, folder)


def _health(folder: Path) -> TierHealth:
    path = folder / DATABASE_NAME
    found = Findings("cold", "sqlite", sqlite3.sqlite_version, details={"file": str(path)})
    _look_at_folder(found, folder)
    if not path.exists():
        found.reachable = True
        found.details["schema"] = "none yet: ezra makes it when it opens the folder"
        return found.as_health()
    try:
        check_whole(path)
        with translated("open"), closing(_connection(path)) as connection:
            _look_at_file(found, connection, path)
            found.round_trip_ms = _round_trip_ms(connection)
            found.reachable = True
    except CorruptRecord as error:
        repair = f"restore {path.name} from a backup, or move it away"
        found.problems.append(f"{error.reason}; {repair}")
    except TierError as error:
        found.problems.append(f"{error.reason}; see who else has {path.name} open, and its disk")
    return found.as_health()


def _connection(path: Path) -> sqlite3.Connection:
    address = f"{path.resolve().as_uri()}?mode=ro"
    return sqlite3.connect(address, uri=True, timeout=TIMEOUT_SECONDS)


def _look_at_folder(found: Findings, folder: Path) -> None:
    if sqlite3.sqlite_version_info < SQLITE_VERSION_MIN:
        needed = ".".join(map(str, SQLITE_VERSION_MIN))
        advice = "use a Python that was built with a newer one"
        found.problems.append(f"SQLite {needed} is needed; {advice}")
    there = next(one for one in (folder, *folder.absolute().parents) if one.exists())
    if not os.access(there, os.W_OK | os.X_OK):
        found.problems.append(f"{there} cannot be written; change its owner, or set EZRA_HOME")
    try:
        free = shutil.disk_usage(there).free
    except OSError as error:
        found.problems.append(f"{there} cannot be looked at ({error.strerror})")
        return
    found.details["free_bytes"] = free
    if free < FREE_BYTES_MIN:
        found.problems.append(f"only {free // 2**20} MiB are free on the disk; make room")


def _look_at_file(found: Findings, connection: sqlite3.Connection, path: Path) -> None:
    def pragma(name: str) -> JsonValue:
        value: JsonValue = connection.execute(f"PRAGMA {name}").fetchone()[0]
        return value

    size = path.stat().st_size
    schema, journal = pragma("user_version"), pragma("journal_mode")
    found.details |= {"schema": schema, "journal": journal, "bytes": size}
    refusal = refusal_of(connection)
    if refusal is not None:
        found.problems.append(refusal)
        return
    check = pragma("integrity_check(1)" if size <= CHECKED_BYTES_MAX else "quick_check(1)")
    found.details["check"] = check
    if check != "ok":
        found.problems.append(f"the file is damaged ({check}); restore it from a backup")


def _round_trip_ms(connection: sqlite3.Connection) -> float:
    spent = []
    for _ in range(ROUND_TRIPS):
        started = time.perf_counter()
        connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone()
        spent.append((time.perf_counter() - started) * 1000)
    return statistics.median(spent)

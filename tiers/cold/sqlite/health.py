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
from ...health import TierHealth
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
    details: dict[str, JsonValue] = {"file": str(path)}
    problems = _of_the_folder(folder, details)
    round_trip_ms = None
    if path.exists():
        try:
            check_whole(path)
            with translated("open"), closing(_connection(path)) as connection:
                problems += _of_the_file(connection, path, details)
                round_trip_ms = _round_trip_ms(connection)
        except CorruptRecord as error:
            problems.append(f"{error.reason}; restore {path.name} from a backup, or move it away")
        except TierError as error:
            problems.append(f"{error.reason}; see who else has {path.name} open, and its disk")
    else:
        details["schema"] = "none yet: ezra makes it when it opens the folder"
    return TierHealth(
        tier="cold",
        engine="sqlite",
        version=sqlite3.sqlite_version,
        reachable=not path.exists() or round_trip_ms is not None,
        round_trip_ms=round_trip_ms,
        details=details,
        problems=tuple(problems),
    )


def _connection(path: Path) -> sqlite3.Connection:
    address = f"{path.resolve().as_uri()}?mode=ro"
    return sqlite3.connect(address, uri=True, timeout=TIMEOUT_SECONDS)


def _of_the_folder(folder: Path, details: dict[str, JsonValue]) -> list[str]:
    problems = []
    if sqlite3.sqlite_version_info < SQLITE_VERSION_MIN:
        needed = ".".join(map(str, SQLITE_VERSION_MIN))
        problems.append(f"SQLite {needed} is needed; use a Python that was built with a newer one")
    there = next(one for one in (folder, *folder.absolute().parents) if one.exists())
    if not os.access(there, os.W_OK | os.X_OK):
        problems.append(f"{there} cannot be written; change its owner, or set EZRA_HOME")
    try:
        free = shutil.disk_usage(there).free
    except OSError as error:
        problems.append(f"{there} cannot be looked at ({error.strerror})")
        return problems
    details["free_bytes"] = free
    if free < FREE_BYTES_MIN:
        problems.append(f"only {free // 2**20} MiB are free on the disk; make room")
    return problems


def _of_the_file(
    connection: sqlite3.Connection, path: Path, details: dict[str, JsonValue]
) -> list[str]:
    def pragma(name: str) -> JsonValue:
        value: JsonValue = connection.execute(f"PRAGMA {name}").fetchone()[0]
        return value

    size = path.stat().st_size
    schema, journal = pragma("user_version"), pragma("journal_mode")
    details |= {"schema": schema, "journal": journal, "bytes": size}
    refusal = refusal_of(connection)
    if refusal is not None:
        return [refusal]
    found = pragma("integrity_check(1)" if size <= CHECKED_BYTES_MAX else "quick_check(1)")
    details["check"] = found
    return [] if found == "ok" else [f"the file is damaged ({found}); restore it from a backup"]


def _round_trip_ms(connection: sqlite3.Connection) -> float:
    spent = []
    for _ in range(ROUND_TRIPS):
        started = time.perf_counter()
        connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone()
        spent.append((time.perf_counter() - started) * 1000)
    return statistics.median(spent)

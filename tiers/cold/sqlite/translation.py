"""Where the driver's exceptions become those of ``tiers.errors``."""

from __future__ import annotations

import sqlite3
from types import TracebackType

from ...errors import (
    CorruptRecord,
    DiskFull,
    TierError,
    TierRejected,
    TierTimeout,
    TierUnavailable,
    UsageError,
)

_PRIMARY_CODE = 0xFF  # extended result codes keep the primary one in their lowest byte

_BY_CODE: dict[int, tuple[type[TierError], str]] = {
    sqlite3.SQLITE_BUSY: (TierTimeout, "the database stayed locked"),
    sqlite3.SQLITE_LOCKED: (TierTimeout, "the database stayed locked"),
    sqlite3.SQLITE_INTERRUPT: (TierTimeout, "the operation was interrupted"),
    sqlite3.SQLITE_READONLY: (TierUnavailable, "the database cannot be written"),
    sqlite3.SQLITE_PERM: (TierUnavailable, "access is denied"),
    sqlite3.SQLITE_CANTOPEN: (TierUnavailable, "the database cannot be opened"),
    sqlite3.SQLITE_IOERR: (TierUnavailable, "the disk failed"),
    sqlite3.SQLITE_NOMEM: (TierUnavailable, "no memory is left"),
    sqlite3.SQLITE_CORRUPT: (CorruptRecord, "the database file is damaged"),
    sqlite3.SQLITE_NOTADB: (CorruptRecord, "the file is not a database"),
}


class translated:  # noqa: N801 - a block of work, as a function would make one at thrice the cost
    """Turn what the driver raises inside the block into an ``EzraError`` with the cause chained.

    Text that has no UTF-8 form, and integers beyond 64 bits, are the caller's mistake.

    Args:
        operation: For errors.
    """

    __slots__ = ("_operation",)

    def __init__(self, operation: str) -> None:
        self._operation = operation

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        if isinstance(error, sqlite3.Error):
            raise translation_of(self._operation, error) from error
        if isinstance(error, UnicodeEncodeError):
            raise UsageError("text", error.object, "text without lone surrogates") from error
        if isinstance(error, OverflowError):
            raise UsageError("number", str(error), "integers of at most 64 bits") from error


def translation_of(operation: str, error: sqlite3.Error) -> TierError:
    """Return what the driver's exception is to be raised as, with the cause chained."""
    translation = _translation(operation, error)
    translation.__cause__ = error
    return translation


def _translation(operation: str, error: sqlite3.Error) -> TierError:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & _PRIMARY_CODE
    if code == sqlite3.SQLITE_FULL:
        return DiskFull("cold", operation, str(error))
    if code in _BY_CODE:
        kind, reason = _BY_CODE[code]
        return kind("cold", operation, f"{reason} ({error})")
    if isinstance(error, sqlite3.ProgrammingError) and "closed database" in str(error):
        return TierUnavailable("cold", operation, "the database is closed")
    return TierRejected("cold", operation, f"SQLite refused ({error})")

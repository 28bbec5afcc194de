"""Where the driver's exceptions become those of ``tiers.errors``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from bson.errors import BSONError, InvalidDocument, InvalidStringData
from pymongo import errors

from ...errors import (
    ConfigError,
    EzraError,
    TierError,
    TierRejected,
    TierTimeout,
    TierUnavailable,
    UsageError,
)

_DUPLICATE_KEY = 11000
_ATLAS = 8000
_INVALID_DOCUMENT = 121
_UNAUTHORIZED = frozenset((13, 18))
_TOO_LARGE = frozenset((10334, 17280, 17419, 17420))
_TIMED_OUT = frozenset((50, 64, 112, 262))
_UNAVAILABLE = frozenset((6, 7, 89, 91, 189, 251, 9001, 10107, 11600, 11602, 13435, 13436))
_REASON_CHARS = 200


class DuplicateKey(TierRejected):
    """A unique index refused a document: somebody was first. ``keys`` are the index's fields."""

    def __init__(self, operation: str, keys: tuple[str, ...]) -> None:
        super().__init__("cold", operation, f"another document has the same {', '.join(keys)}")
        self.keys = keys


@contextmanager
def translated(operation: str) -> Iterator[None]:
    """Turn what the driver raises inside the block into an ``EzraError`` with the cause chained.

    Text that has no UTF-8 form, and integers beyond 64 bits, are the caller's mistake.
    """
    try:
        yield
    except errors.PyMongoError as error:
        raise _translation(operation, error) from error
    except (InvalidStringData, UnicodeEncodeError) as error:
        raise UsageError("text", str(error), "text without lone surrogates") from error
    except (InvalidDocument, OverflowError) as error:
        raise UsageError("record", str(error), "what fits into a BSON document") from error
    except BSONError as error:
        raise TierRejected("cold", operation, f"not BSON ({error})") from error


def _translation(operation: str, error: errors.PyMongoError) -> EzraError:
    if isinstance(error, errors.BulkWriteError):
        problems = (error.details or {}).get("writeErrors") or []
        problems += (error.details or {}).get("writeConcernErrors") or []
        first = problems[0] if problems else {}
        return _of_code(operation, first.get("code", 0), first, str(first.get("errmsg", error)))
    if isinstance(error, errors.OperationFailure):
        if isinstance(error, errors.ExecutionTimeout) or error.timeout:
            return TierTimeout("cold", operation, "MongoDB gave up after the time limit")
        return _of_code(operation, error.code or 0, error.details, str(error))
    if isinstance(error, errors.ConfigurationError):
        return ConfigError("EZRA_MONGODB_URI", _brief(str(error)))
    return _of_connection(operation, error)


def _of_connection(operation: str, error: errors.PyMongoError) -> TierError:
    if isinstance(error, errors.ServerSelectionTimeoutError):
        why = _brief(str(error).split(", Timeout:", 1)[0])
        return TierUnavailable("cold", operation, f"no MongoDB server can be reached ({why})")
    if isinstance(error, errors.NotPrimaryError):
        return TierUnavailable("cold", operation, "the server is not the primary any more")
    if error.timeout or isinstance(error, errors.NetworkTimeout | errors.WaitQueueTimeoutError):
        return TierTimeout("cold", operation, "MongoDB did not answer in time")
    if isinstance(error, errors.ConnectionFailure):
        return TierUnavailable("cold", operation, "the connection to MongoDB was lost")
    if isinstance(error, errors.InvalidOperation):
        return TierUnavailable("cold", operation, "the store is closed")
    return TierRejected("cold", operation, f"MongoDB's driver refused ({_brief(str(error))})")


def _of_code(operation: str, code: int, details: object, message: str) -> EzraError:
    """Return the error for what the server answered."""
    found: EzraError
    if code in _UNAUTHORIZED or (code == _ATLAS and "auth" in message.lower()):
        found = ConfigError("EZRA_MONGODB_URI", "the user may not do this, or is not known")
    elif code == _DUPLICATE_KEY:
        found = DuplicateKey(operation, _keys(details))
    elif code in _TOO_LARGE:
        found = UsageError("record", _brief(message), "what fits into a document of 16 MiB")
    elif code in _TIMED_OUT:
        found = TierTimeout("cold", operation, f"MongoDB gave up after the time limit ({code})")
    elif code in _UNAVAILABLE:
        found = TierUnavailable("cold", operation, f"MongoDB is not ready ({code})")
    elif code == _INVALID_DOCUMENT:
        reason = "the document does not fit the collection's schema"
        found = TierRejected("cold", operation, reason)
    else:
        reason = f"MongoDB refused with code {code} ({_brief(message)})"
        found = TierRejected("cold", operation, reason)
    return found


def _keys(details: object) -> tuple[str, ...]:
    pattern = details.get("keyPattern") if isinstance(details, Mapping) else None
    return tuple(pattern) if isinstance(pattern, Mapping) else ("key",)


def _brief(text: str) -> str:
    """Return the start of a driver's message; its rest may repeat whole documents."""
    text = text.split(", full error", 1)[0]
    return text if len(text) <= _REASON_CHARS else f"{text[:_REASON_CHARS]}…"

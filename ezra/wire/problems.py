"""Errors over the wire: RFC 9457 problem documents that name our error, and back again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any

from tiers.errors import (
    BudgetExceeded,
    ConfigError,
    Conflict,
    CorruptRecord,
    EzraError,
    IntegrityError,
    NotFound,
    PolicyDenied,
    TierError,
    TierRejected,
    TierTimeout,
    TierUnavailable,
    UsageError,
    WasRedacted,
    WriteRefused,
)

CONTENT_TYPE = "application/problem+json"
UNKNOWN = "EzraError"
SHOWN_MAX = 100
SHOWN_CHARS_MAX = 1_000
CHARS_MAX = 1_000
SHOWN_MAX = 100
"""So much of a value that is refused goes back to who sent it."""

_FIELDS: Mapping[type[EzraError], tuple[str, ...]] = {
    UsageError: ("field", "value", "accepted"),
    PolicyDenied: ("agent_id", "action", "missing"),
    WriteRefused: ("what", "detectors", "accepted", "held_id"),
    BudgetExceeded: ("whose", "what", "used", "asked", "limit", "stored"),
    NotFound: ("kind", "name"),
    Conflict: ("what", "expected", "found"),
    WasRedacted: ("what",),
    IntegrityError: ("chain", "seq", "reason"),
    ConfigError: ("key", "reason"),
    TierUnavailable: ("tier", "operation", "reason"),
    TierTimeout: ("tier", "operation", "reason"),
    TierRejected: ("tier", "operation", "reason"),
    CorruptRecord: ("tier", "operation", "reason"),
}
_STATUS: Mapping[type[EzraError], int] = {
    UsageError: 422,
    PolicyDenied: 403,
    WriteRefused: 422,
    BudgetExceeded: 429,
    NotFound: 404,
    Conflict: 409,
    WasRedacted: 409,
    IntegrityError: 500,
    ConfigError: 503,
    TierUnavailable: 503,
    TierTimeout: 504,
    TierRejected: 502,
    CorruptRecord: 500,
}
_TITLES: Mapping[type[EzraError], str] = {
    UsageError: "An argument is not acceptable",
    PolicyDenied: "The policy does not allow it",
    WriteRefused: "The write guard keeps it out of memory",
    BudgetExceeded: "A budget is used up",
    NotFound: "It does not exist in this scope",
    Conflict: "What is stored differs from what was assumed",
    WasRedacted: "It was redacted, and comes back only when asked to",
    IntegrityError: "A chain of events does not verify",
    ConfigError: "The configuration does not allow it",
    TierUnavailable: "A tier is not reachable",
    TierTimeout: "A tier did not answer in time; the outcome is unknown",
    TierRejected: "A tier refused",
    CorruptRecord: "Stored data cannot be read back",
}


class RemoteError(EzraError):
    """An error that the server reports and this side has no class for."""


def problem_of(error: EzraError) -> dict[str, Any]:
    """Return the problem document of an error; what it is about comes as strings and numbers."""
    kind = next((one for one in type(error).__mro__ if one in _FIELDS), EzraError)
    shown = {name: _plain(getattr(error, name)) for name in _FIELDS.get(kind, ())}
    return {
        "type": f"urn:ezra:error:{kind.__name__}",
        "title": _TITLES.get(kind, "ezra reports an error"),
        "status": _STATUS.get(kind, 500),
        "detail": _text(str(error)),
        **shown,
    }


def error_of(problem: Mapping[str, Any]) -> EzraError:
    """Return the error that a problem document tells of."""
    name = str(problem.get("type", "")).rpartition(":")[2]
    kind = next((one for one in _FIELDS if one.__name__ == name), None)
    detail = str(problem.get("detail") or problem.get("title") or "no detail")
    if kind is None:
        return RemoteError(detail)
    made = _REBUILT.get(kind, _tier_error)(kind, problem)
    made.args = (detail,)  # word for word what the server said
    return made


def _plain(value: object) -> object:
    """Return what JSON can carry, and no more of it than people read."""
    if isinstance(value, int | None) or (isinstance(value, float) and isfinite(value)):
        return value
    if isinstance(value, tuple | list | set | frozenset):
        return [_plain(one) for one in list(value)[:SHOWN_MAX]]
    return _text(str(value))


def _text(value: str) -> str:
    """Return text that UTF-8 can carry: half a surrogate pair is none."""
    return value[:CHARS_MAX].encode("utf-8", "replace").decode()


def _tier_error(kind: type[Any], problem: Mapping[str, Any]) -> EzraError:
    made: EzraError = kind(*(str(problem.get(name, "")) for name in _FIELDS[kind]))
    return made


def _any(kind: type[Any], problem: Mapping[str, Any]) -> EzraError:
    made: EzraError = kind(*(problem.get(name) for name in _FIELDS[kind]))
    return made


def _denied(_: type[Any], problem: Mapping[str, Any]) -> EzraError:
    missing = tuple(map(str, problem.get("missing") or ()))
    return PolicyDenied(str(problem.get("agent_id")), str(problem.get("action")), missing, "")


def _refused(_: type[Any], problem: Mapping[str, Any]) -> EzraError:
    detectors = tuple(map(str, problem.get("detectors") or ()))
    held_id = problem.get("held_id")
    told = (str(problem.get("what")), detectors, str(problem.get("accepted")))
    return WriteRefused(*told, None if held_id is None else str(held_id))


def _exceeded(_: type[Any], problem: Mapping[str, Any]) -> EzraError:
    whose, what = str(problem.get("whose")), str(problem.get("what"))
    counted = ("used", "asked", "limit", "stored")
    used, asked, limit, stored = (int(problem.get(name) or 0) for name in counted)
    return BudgetExceeded(whose, what, used, asked, limit, stored)


_REBUILT: Mapping[type[EzraError], Callable[[type[Any], Mapping[str, Any]], EzraError]] = {
    UsageError: _any,
    Conflict: _any,
    NotFound: _tier_error,
    ConfigError: _tier_error,
    IntegrityError: _any,
    PolicyDenied: _denied,
    BudgetExceeded: _exceeded,
    WriteRefused: _refused,
}


def status_of(error: EzraError) -> int:
    """Return the HTTP status of an error."""
    status: int = problem_of(error)["status"]
    return status


__all__ = ["CONTENT_TYPE", "RemoteError", "TierError", "error_of", "problem_of", "status_of"]

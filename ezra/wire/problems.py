"""Errors over the wire: RFC 9457 problem documents that name our error, and back again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from tiers.errors import (
    BudgetExceeded,
    ConfigError,
    Conflict,
    CorruptRecord,
    ErasedMeanwhile,
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
_DEEP = (Mapping, tuple, list, set, frozenset)
CHARS_MAX = 1_000
SHOWN_MAX = 100
"""So much of a value that is refused goes back to who sent it."""


@dataclass(frozen=True)
class _Problem:
    """How an error is told: its HTTP status, what it means, and its facts, by attribute."""

    status: int
    title: str
    facts: tuple[str, ...]


_OF_TIER = ("tier", "operation", "reason")

_PROBLEMS: Mapping[type[EzraError], _Problem] = {
    UsageError: _Problem(422, "An argument is not acceptable", ("field", "value", "accepted")),
    PolicyDenied: _Problem(403, "The policy does not allow it", ("agent_id", "action", "missing")),
    WriteRefused: _Problem(
        422,
        "The write guard keeps it out of memory",
        ("what", "detectors", "accepted", "held_id"),
    ),
    BudgetExceeded: _Problem(
        429, "A budget is used up", ("whose", "what", "used", "asked", "limit", "stored")
    ),
    NotFound: _Problem(404, "It does not exist in this scope", ("kind", "name")),
    Conflict: _Problem(
        409, "What is stored differs from what was assumed", ("what", "expected", "found")
    ),
    WasRedacted: _Problem(409, "It was redacted, and comes back only when asked to", ("what",)),
    ErasedMeanwhile: _Problem(
        409, "An erasure that ran while it was open reaches it", ("turn_id", "whose")
    ),
    IntegrityError: _Problem(500, "A chain of events does not verify", ("chain", "seq", "reason")),
    ConfigError: _Problem(503, "The configuration does not allow it", ("key", "reason")),
    TierUnavailable: _Problem(503, "A tier is not reachable", _OF_TIER),
    TierTimeout: _Problem(504, "A tier did not answer in time; the outcome is unknown", _OF_TIER),
    TierRejected: _Problem(502, "A tier refused", _OF_TIER),
    CorruptRecord: _Problem(500, "Stored data cannot be read back", _OF_TIER),
}
_OTHER = _Problem(500, "ezra reports an error", ())


class RemoteError(EzraError):
    """An error that the server reports and this side has no class for."""


def problem_of(error: EzraError, *, near: Sequence[str] = ()) -> dict[str, Any]:
    """Return the problem document of an error; what it is about comes as strings and numbers.

    Args:
        error: The error.
        near: Names that look like one that is not there, as far as who is told may list them.
    """
    kind = next((one for one in type(error).__mro__ if one in _PROBLEMS), EzraError)
    problem = _PROBLEMS.get(kind, _OTHER)
    return {
        "type": f"urn:ezra:error:{kind.__name__}",
        "title": problem.title,
        "status": problem.status,
        "detail": _text(str(error)),
        **{name: _plain(getattr(error, name)) for name in problem.facts},
        **({"near": _plain(near)} if near else {}),
    }


def error_of(problem: Mapping[str, Any]) -> EzraError:
    """Return the error that a problem document tells of."""
    name = str(problem.get("type", "")).rpartition(":")[2]
    kind = next((one for one in _PROBLEMS if one.__name__ == name), None)
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
        some = list(value)[:SHOWN_MAX]
        # What is composed may be as deep as whoever sent it wanted.
        return [type(one).__name__ if isinstance(one, _DEEP) else _plain(one) for one in some]
    return type(value).__name__ if isinstance(value, _DEEP) else _text(str(value))


def _text(value: str) -> str:
    """Return text that UTF-8 can carry: half a surrogate pair is none."""
    return value[:CHARS_MAX].encode("utf-8", "replace").decode()


def _tier_error(kind: type[Any], problem: Mapping[str, Any]) -> EzraError:
    made: EzraError = kind(*(str(problem.get(name, "")) for name in _PROBLEMS[kind].facts))
    return made


def _any(kind: type[Any], problem: Mapping[str, Any]) -> EzraError:
    made: EzraError = kind(*(problem.get(name) for name in _PROBLEMS[kind].facts))
    return made


def _not_found(_: type[Any], problem: Mapping[str, Any]) -> EzraError:
    near = tuple(map(str, problem.get("near") or ()))
    return NotFound(str(problem.get("kind", "")), str(problem.get("name", ""))).note_near(near)


def _denied(_: type[Any], problem: Mapping[str, Any]) -> EzraError:
    missing = tuple(map(str, problem.get("missing") or ()))
    return PolicyDenied(str(problem.get("agent_id")), str(problem.get("action")), missing, "")


def _refused(_: type[Any], problem: Mapping[str, Any]) -> EzraError:
    detectors = tuple(map(str, problem.get("detectors") or ()))
    held_id = problem.get("held_id")
    details = (str(problem.get("what")), detectors, str(problem.get("accepted")))
    return WriteRefused(*details, None if held_id is None else str(held_id))


def _exceeded(_: type[Any], problem: Mapping[str, Any]) -> EzraError:
    whose, what = str(problem.get("whose")), str(problem.get("what"))
    counted = ("used", "asked", "limit", "stored")
    used, asked, limit, stored = (int(problem.get(name) or 0) for name in counted)
    return BudgetExceeded(whose, what, used, asked, limit, stored)


_REBUILT: Mapping[type[EzraError], Callable[[type[Any], Mapping[str, Any]], EzraError]] = {
    UsageError: _any,
    Conflict: _any,
    NotFound: _not_found,
    ConfigError: _tier_error,
    IntegrityError: _any,
    PolicyDenied: _denied,
    BudgetExceeded: _exceeded,
    WriteRefused: _refused,
}


__all__ = ["CONTENT_TYPE", "RemoteError", "TierError", "error_of", "problem_of"]

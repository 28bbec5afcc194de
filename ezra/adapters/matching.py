"""Whether a value meets the filter of a search, as stores of LangGraph understand one. Pure.

``{"kind": "report"}`` asks for equality, ``{"score": {"$gte": 3}}`` compares; a mapping without
operators asks of what is inside, a list of each place. What is not there, or is of another sort, is
neither greater nor less.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tiers.errors import UsageError


def _ordered(value: object, bound: object, is_so: Callable[[Any, Any], bool]) -> bool:
    """Compare two numbers, or two texts."""
    for sort in (int | float, str):
        if isinstance(value, sort) and isinstance(bound, sort):
            return not (isinstance(value, bool) or isinstance(bound, bool)) and is_so(value, bound)
    return False


_OPERATORS: Mapping[str, Callable[[object, object], bool]] = {
    "$eq": lambda value, bound: value == bound,
    "$ne": lambda value, bound: value != bound,
    "$gt": lambda value, bound: _ordered(value, bound, lambda one, two: one > two),
    "$gte": lambda value, bound: _ordered(value, bound, lambda one, two: one >= two),
    "$lt": lambda value, bound: _ordered(value, bound, lambda one, two: one < two),
    "$lte": lambda value, bound: _ordered(value, bound, lambda one, two: one <= two),
}


def check_filter(asked: object) -> None:
    """Refuse a filter that cannot be meant.

    Raises:
        UsageError: It is no mapping, or has an operator that there is not.
    """
    if not isinstance(asked, Mapping):
        raise UsageError("filter", type(asked).__name__, "a mapping")
    for condition in asked.values():
        if not isinstance(condition, Mapping):
            continue
        if not _compares(condition):
            check_filter(condition)
            continue
        unknown = sorted(str(name) for name in condition if name not in _OPERATORS)
        if unknown:
            raise UsageError("filter", unknown[0], ", ".join(_OPERATORS))


def matches(value: Mapping[str, Any], asked: Mapping[str, Any] | None) -> bool:
    """Whether a value meets every condition of a filter."""
    return all(_meets(value.get(name), condition) for name, condition in (asked or {}).items())


def _meets(value: object, condition: object) -> bool:
    if isinstance(condition, Mapping):
        if _compares(condition):
            return all(_OPERATORS[name](value, bound) for name, bound in condition.items())
        return isinstance(value, Mapping) and matches(value, condition)
    if isinstance(condition, list | tuple):
        return (
            isinstance(value, list | tuple)
            and len(value) == len(condition)
            and all(_meets(one, two) for one, two in zip(value, condition, strict=True))
        )
    return value == condition


def _compares(condition: Mapping[Any, Any]) -> bool:
    return any(isinstance(name, str) and name.startswith("$") for name in condition)

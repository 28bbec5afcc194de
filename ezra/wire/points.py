"""Moments and numbers as they come over the wire: in JSON typed, in a query string as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Annotated, TypeAlias

from pydantic import BeforeValidator, Field, Strict
from pydantic_core import PydanticCustomError

from tiers.fields import in_utc

from ..arguments import COUNT_MAX

_DIGITS_MAX = len(str(COUNT_MAX))


def _time(value: object) -> datetime:
    """Return a moment; without its zone it is none."""
    if isinstance(value, str):
        value = _read(value)
    if not isinstance(value, datetime) or value.tzinfo is None:
        raise ValueError("a time of ISO 8601 with its zone")
    return in_utc(value)


def _read(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def whole(value: object) -> object:
    """Return what may become a number; ``True`` is none."""
    if isinstance(value, bool):
        raise ValueError("must be a whole number")
    return value


def _point_in_query(value: object) -> datetime | int:
    """Return a moment or the number of a turn where all is text."""
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value) if len(value) <= _DIGITS_MAX else -1
    return _point(value)


def _point(value: object) -> datetime | int:
    """Return a moment or the number of a turn, each exactly as it was meant.

    Pydantic alone would take the text of a number for seconds since 1970.
    """
    if not isinstance(value, int):
        return _time(value)
    if isinstance(value, bool) or not 0 <= value <= COUNT_MAX:
        raise ValueError("the number of a turn, or a time of ISO 8601 with its zone")
    return value


def _listed(given: object) -> object:
    """Return what is listed, in its order. A text would be a list of letters."""
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise PydanticCustomError("list", "a set, list or tuple")
    return tuple(given)


LISTED = BeforeValidator(_listed)
"""Annotates a tuple that is made of any list, and of nothing else."""

ONE_OR_MORE = BeforeValidator(lambda given: (given,) if isinstance(given, str) else given)
"""Annotates a tuple of words that may be given as one word."""

Time: TypeAlias = Annotated[datetime, BeforeValidator(_time)]
Count: TypeAlias = Annotated[int, Field(ge=0, le=COUNT_MAX), BeforeValidator(whole)]
Number: TypeAlias = Annotated[Count, Strict()]
"""A count in a body: JSON has types, where all of a query string is text."""
Switch: TypeAlias = Annotated[bool, Strict()]
"""True or false in a body."""
Point: TypeAlias = Annotated[datetime | int, BeforeValidator(_point)]
"""A moment of the past: a time, or the number of a turn of the graph."""
PointInQuery: TypeAlias = Annotated[datetime | int, BeforeValidator(_point_in_query)]
"""The same in a query string, where all is text."""

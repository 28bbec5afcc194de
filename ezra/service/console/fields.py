"""What forms and addresses of the console say: names, numbers, times."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, TypeAlias

from pydantic import BeforeValidator, Field, StringConstraints

from tiers.fields import NAME_CHARS_MAX

from ...wire.points import Time

LATEST = 2**53 - 1
"""Behind the last event of every feed, and the last turn: browsers count no further."""

Word: TypeAlias = Annotated[
    str, StringConstraints(max_length=NAME_CHARS_MAX, strip_whitespace=True)
]
Name: TypeAlias = Annotated[Word, StringConstraints(min_length=1)]
Count: TypeAlias = Annotated[int, Field(ge=0, le=LATEST)]
Number: TypeAlias = Annotated[int, Field(ge=1, le=LATEST)]


def _zoned(value: object) -> object:
    """Return a time without a zone, as ``datetime-local`` sends it, as one of UTC."""
    if not isinstance(value, str):
        return value
    try:
        has_zone = datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return value
    return value if has_zone else f"{value}+00:00"


FormTime: TypeAlias = Annotated[Time, BeforeValidator(_zoned)]
"""A moment; UTC where the form says no zone."""

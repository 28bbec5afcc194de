"""Times as a form sends them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, TypeAlias

from pydantic import BeforeValidator

from ...wire.points import Time


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

"""Moments of a graph as people write them: a time, or the number of a turn."""

from __future__ import annotations

from datetime import datetime

from tiers.errors import UsageError

from ..beliefs.commit import Point
from .options import in_utc

ACCEPTED = "a turn such as 15, or a time such as 2026-05-14T15:04"


def point_of(name: str, text: str) -> Point:
    """Return the moment that was written on the command line; a time without a zone is UTC.

    Raises:
        UsageError: It is neither a turn nor a time.
    """
    try:
        if text.strip().isdecimal():
            return int(text)
        moment = in_utc(datetime.fromisoformat(text))
    except ValueError as error:
        raise UsageError(name, text, ACCEPTED) from error
    if moment is None:
        raise UsageError(name, text, ACCEPTED)
    return moment

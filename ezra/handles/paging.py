"""Cursors of lists that are read by time, the latest first: where a page ended."""

from __future__ import annotations

from datetime import UTC, datetime

from tiers.errors import UsageError
from tiers.moments import microseconds, moment
from tiers.recollection import Place

_FIRST = microseconds(datetime.min.replace(tzinfo=UTC))
_LAST = microseconds(datetime.max.replace(tzinfo=UTC))
_DIGITS_MAX = 18


def cursor_of(place: Place) -> str:
    """Return the cursor of a page that ends at a place."""
    return f"{microseconds(place.at)}:{place.id}"


def place_of(cursor: str) -> Place:
    """Return where the page before ended.

    Raises:
        UsageError: No page gave the cursor.
    """
    at, _, record_id = cursor.partition(":")
    digits = at.removeprefix("-")
    is_one = digits.isdecimal() and len(digits) <= _DIGITS_MAX and bool(record_id)
    if not is_one or not _FIRST <= int(at) <= _LAST:
        raise UsageError("after", cursor, "the cursor of a page; empty begins")
    return Place(moment(int(at)), record_id)

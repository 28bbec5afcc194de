"""Pages of an answer, and the cursors that say where the next one begins. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ..errors import UsageError

T = TypeVar("T")


def cursor_of(place: Sequence[object]) -> str:
    """Return the cursor of a place in an order."""
    return json.dumps(place, ensure_ascii=False)


def place_of(cursor: str, kinds: Sequence[type], accepted: str) -> tuple[Any, ...] | None:
    """Return the place behind which a page begins; ``None``: at the beginning.

    Args:
        cursor: Of the page before; ``""`` begins.
        kinds: What the parts of a place are.
        accepted: What would have been a cursor, for the error.

    Raises:
        UsageError: No page gave the cursor.
    """
    if not cursor:
        return None
    try:
        place = json.loads(cursor)
    except (ValueError, RecursionError):
        place = None
    if not isinstance(place, list) or [type(part) for part in place] != list(kinds):
        raise UsageError("cursor", cursor, accepted)
    return tuple(place)


def cut(
    found: Sequence[T], limit: int, place: Callable[[T], str]
) -> tuple[Sequence[T], str | None]:
    """Return what a page has of what was found, and the cursor of the next page.

    Args:
        found: One more than the limit, where there is another page.
        limit: The most that the page has.
        place: Makes the cursor behind a record.
    """
    return found[:limit], place(found[limit - 1]) if len(found) > limit else None

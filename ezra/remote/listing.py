"""Lists as callers give them, and as they go over the wire."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from tiers.errors import UsageError

_T = TypeVar("_T")


def listed(name: str, given: Iterable[_T] | None) -> tuple[_T, ...] | None:
    """Return what is listed; ``None`` where nothing was said.

    Raises:
        UsageError: It is no list. A text would be one of letters.
    """
    if given is None:
        return None
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise UsageError(name, given, "a set, list or tuple")
    return tuple(given)

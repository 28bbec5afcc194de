"""Whom a handle acts for, looked up again at each call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from tiers.records import Scope, Standing


@dataclass(frozen=True)
class Access:
    """Who a handle asks and writes for, looked up again at each call.

    Attributes:
        reading: Returns the scope to read with.
        writing: Returns the scope to write with, and the topics that a new record carries, given
            the topics that are asked for and what for.
        standing: Returns whose budgets count, as it was at the last call.
    """

    reading: Callable[[], Awaitable[Scope]]
    writing: Callable[[Sequence[str] | None, str], Awaitable[tuple[Scope, tuple[str, ...]]]]
    standing: Callable[[], Standing]

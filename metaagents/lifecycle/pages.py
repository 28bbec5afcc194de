"""Reading every row of something that the store gives out by pages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar

from tiers.paging import linked
from tiers.records import Record, Scope
from tiers.upkeep import PAGE_ROWS_MAX, Page

PAGES_MAX = 100_000
"""A store whose pages never end must not hold a pass for ever."""

R = TypeVar("R", bound=Record)


async def rows_of(
    read: Callable[[Scope, str, int], Awaitable[Page[R]]], scope: Scope
) -> AsyncIterator[R]:
    """Give every row of a scope, page by page."""
    pages = linked(lambda cursor: read(scope, cursor, PAGE_ROWS_MAX), PAGES_MAX)
    async for page in pages:
        for row in page.rows:
            yield row

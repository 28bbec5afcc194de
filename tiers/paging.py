"""Much, a part at a time: a sequence that is cut into parts, and what is read on to its end."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from itertools import count
from typing import Protocol, TypeVar

T = TypeVar("T")


class _Linked(Protocol):
    @property
    def cursor(self) -> str | None: ...


L = TypeVar("L", bound=_Linked)


def parts(whole: Sequence[T], most: int) -> Iterator[Sequence[T]]:
    """Cut a sequence into parts of ``most`` at most, in order; nothing into none."""
    for start in range(0, len(whole), most):
        yield whole[start : start + most]


async def pages_of(
    read: Callable[[int, int], Awaitable[tuple[T, ...]]], place: Callable[[T], int], limit: int
) -> AsyncGenerator[tuple[T, ...], None]:
    """Yield what is given out by pages, to its end: a page that is not full. None is empty.

    Args:
        read: Returns what lies behind a place, from 0, ``limit`` at most.
        place: Where a row lies: the next page begins behind the last one's.
        limit: How many rows a page has.
    """
    after = 0
    while True:
        page = await read(after, limit)
        if page:
            yield page
        if len(page) < limit:
            return
        after = place(page[-1])


async def linked(
    read: Callable[[str], Awaitable[L]], most: int | None = None
) -> AsyncGenerator[L, None]:
    """Yield pages of which each says where the next one begins; after the last none does.

    Args:
        read: Returns the page behind a cursor; a blank one begins.
        most: So many pages end it, whatever the last one says; no number if not given.
    """
    cursor: str | None = ""
    for _ in count() if most is None else range(most):
        if cursor is None:
            return
        page = await read(cursor)
        yield page
        cursor = page.cursor

"""Much, a part at a time: a sequence that is cut into parts, and what is read on to its end."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")
P = TypeVar("P")


def parts(whole: Sequence[T], most: int) -> Iterator[Sequence[T]]:
    """Cut a sequence into parts of ``most`` at most, in order; nothing into none."""
    for start in range(0, len(whole), most):
        yield whole[start : start + most]


async def pages_of(
    read: Callable[[P, int], Awaitable[tuple[T, ...]]],
    place: Callable[[T], P],
    after: P,
    limit: int,
) -> AsyncGenerator[tuple[T, ...], None]:
    """Yield what is given out by pages, to its end: a page that is not full. None is empty.

    Args:
        read: Returns what lies behind a place, ``limit`` at most.
        place: Where a row lies: the next page begins behind the last one's.
        after: Behind what the first page begins.
        limit: How many rows a page has.
    """
    while True:
        page = await read(after, limit)
        if page:
            yield page
        if len(page) < limit:
            return
        after = place(page[-1])

"""Bringing the documents of a collection from an older form into the one of today.

Page by page, and each document by one update that only matches while it is as it was left: so it
may be cut off anywhere and done again, and any number of processes may do it at the same time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pymongo import UpdateOne

from ...errors import TierTimeout
from .documents import Document
from .driver import limited
from .schema import BUILDING_SECONDS_MAX
from .translation import translated

PAGE_ROWS, PAGES_MAX = 500, 1_000_000


async def renew(
    collection: Any,  # noqa: ANN401 - of either driver
    lacks: str,
    renewed: Callable[[Document], Document],
    *,
    without: tuple[str, ...] = (),
) -> None:
    """Update every document that lacks a field, in the order in which they were stored.

    Args:
        collection: The driver's collection.
        lacks: The field, which the update has to set.
        renewed: Returns the update for a document.
        without: Fields that it does not look at; they are not fetched.

    Raises:
        TierTimeout: There are more than ``PAGES_MAX`` pages.
        TierError: The server cannot be reached, or refuses.
    """
    lacking: Document = {lacks: {"$exists": False}}
    after: Document = {}
    hidden = dict.fromkeys(without, 0) or None
    for _ in range(PAGES_MAX):
        with page_of(collection.name):
            found = collection.find(lacking | after, hidden).sort("_id", 1).limit(PAGE_ROWS)
            page = await found.to_list(PAGE_ROWS)
            if not page:
                return
            changes = [UpdateOne({"_id": one["_id"]} | lacking, renewed(one)) for one in page]
            await collection.bulk_write(changes, ordered=False)
        after = {"_id": {"$gt": page[-1]["_id"]}}
    raise endless(collection.name)


@contextmanager
def page_of(name: str) -> Iterator[None]:
    """Hold the limit of one page, and translate what the driver raises."""
    with translated(f"upgrade {name}"), limited(BUILDING_SECONDS_MAX):
        yield


def endless(name: str) -> TierTimeout:
    """Return the error for more pages than there can be."""
    return TierTimeout("cold", f"upgrade {name}", f"more than {PAGES_MAX} pages of documents")

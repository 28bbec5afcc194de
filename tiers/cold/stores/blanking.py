"""Blanking receipts: what a turn or a recall saw, without a word of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TypeAlias

from ...records import Receipt, Scope
from ...upkeep import Retiring
from ..conditions import Beyond, Condition, Within
from ..port import Find, RecordStore, Steps, every
from ..redaction import RECEIPTS_PER_PAGE, RETIRED_AUDIT_KIND, blanked, pages
from ..texts import said_in
from .log import RECEIPTS, append_event
from .questions import own
from .rows import replace

Test: TypeAlias = Callable[[Receipt], bool]


async def receipts_that(
    store: RecordStore,
    operation: str,
    scope: Scope,
    is_wanted: Test,
    between: tuple[str, str] = ("", ""),
) -> tuple[str, ...]:
    """Return the receipts of the scope's graph that pass a test; reads them by pages.

    All of them, or those whose ids lie between two; an empty one is no end.
    """
    found: list[str] = []
    after, until = between
    before: tuple[Condition, ...] = (Within("id", until=until),) if until else ()
    while True:
        where = (Beyond(("id",), (after,)), *before)
        find = Find(RECEIPTS, scope, "id", where, ("id",), RECEIPTS_PER_PAGE, reach="own")
        page = await store.read(operation, partial(every, find))
        # Many receipts take longer to look through than the event loop may be held up.
        found += await asyncio.to_thread(_ids_of, page, is_wanted)
        if len(page) < RECEIPTS_PER_PAGE:
            return tuple(found)
        after = page[-1].id


def blank(scope: Scope, ids: Sequence[str], retiring: Retiring | None = None) -> Steps[None]:
    """Blank receipts of the scope's graph, by their ids, inside a transaction.

    With ``retiring`` the audit feed names them.
    """
    for page in pages(ids):
        receipts = yield from every(own(RECEIPTS, scope, page))
        yield from replace(RECEIPTS, scope, *map(blanked, receipts))
    if retiring is not None:
        yield from append_event(scope, RETIRED_AUDIT_KIND, ids, *retiring)


def naming(ids: Iterable[str]) -> Test:
    """Return the test whether a receipt that is not blank names one of some records."""
    names = frozenset(ids)

    def is_naming(receipt: Receipt) -> bool:
        said = said_in(receipt.body, names=True)
        return not names.isdisjoint(said) and receipt != blanked(receipt)

    return is_naming


def _ids_of(page: Sequence[Receipt], is_wanted: Test) -> list[str]:
    return [one.id for one in page if is_wanted(one)]

"""Blanking receipts in SQLite: what a turn or a recall saw, without a word of it."""

# ruff: noqa: S608 - statements are made of constants only; values are always parameters

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...records import Receipt, Scope
from ..redaction import RECEIPTS_PER_PAGE, blanked, pages
from .database import Database, Query, Session
from .rows import record_of, stored
from .scope import as_json, scoped

_PAGE = (
    "SELECT r.* FROM receipts r WHERE $own(r) AND r.id > :after"
    f" ORDER BY r.id LIMIT {RECEIPTS_PER_PAGE}"
)
_AMONG = "SELECT r.* FROM receipts r WHERE $own(r) AND r.id IN (SELECT value FROM json_each(:ids))"
_BLANK = "UPDATE receipts AS r SET query = :asked, body = :saw WHERE $own(r) AND r.id = :id"


def blank(session: Session, scope: Scope, ids: Sequence[str]) -> None:
    """Blank receipts of the scope's graph, by their ids."""
    for page in pages(ids):
        for row in session.all(scoped(_AMONG, scope, ids=as_json(page))):
            after = blanked(record_of(Receipt, row))
            saw = stored(after.body)
            session.run(scoped(_BLANK, scope, id=after.id, asked=after.query, saw=saw))


async def receipts_that(
    database: Database, scope: Scope, is_wanted: Callable[[Receipt], bool]
) -> tuple[str, ...]:
    """Return the receipts of the scope's graph that pass a test; reads them all, by pages."""
    found: list[str] = []
    after = ""
    while True:
        query = scoped(_PAGE, scope, after=after)

        def question(session: Session, query: Query = query) -> tuple[str, list[str]]:
            receipts = [record_of(Receipt, row) for row in session.all(query)]
            last = receipts[-1].id if len(receipts) == RECEIPTS_PER_PAGE else ""
            return last, [one.id for one in receipts if is_wanted(one)]

        after, wanted = await database.read("blank_receipts", question)
        found += wanted
        if not after:
            return tuple(found)

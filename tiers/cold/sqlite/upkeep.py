"""What the only owner of a database may do on opening it, and the walk over all its records."""

# ruff: noqa: S608 - statements are made of constants only; values are always parameters

from __future__ import annotations

from datetime import datetime

from ...errors import UsageError
from ...moments import microseconds
from ...upkeep import PAGE_ROWS_MAX, Page, RecordRef
from ..ownership import SHARED, check_limit
from .database import Database, Query, Session

_FREE_CLAIMS = (
    "UPDATE work SET lease_owner = NULL, due_at = queued_at WHERE lease_owner IS NOT NULL"
)
_FREE_LEASES = "UPDATE leases SET owner = NULL WHERE owner IS NOT NULL"
_CURRENT = " AND r.live = 1 AND (r.expires_at IS NULL OR r.expires_at > :now)"
# The plus keeps the tenant out of the choice of index: by that index every page would read and
# sort all of the tenant's records, by their number it reads on where the last page ended.
_PAGE = (
    "SELECT r.row, r.graph_id, r.id, r.private_to FROM searchable r"
    " WHERE +r.tenant = :tenant AND r.row > :after" + _CURRENT + " ORDER BY r.row LIMIT :limit"
)
_COUNT = "SELECT COUNT(*) AS records FROM searchable r WHERE r.tenant = :tenant" + _CURRENT


class SqliteUpkeep:
    """A ``ColdUpkeep`` in SQLite, for the one process that owns the file: see ``own_folder``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def take_over(self) -> None:
        """Free what an owner that died had claimed, so that it need not wait for its leases.

        Tokens stay, so that nothing the dead owner held could ever be completed.
        """

        def transaction(session: Session) -> None:
            session.run(Query(_FREE_CLAIMS, {}))
            session.run(Query(_FREE_LEASES, {}))

        await self._database.write("take over", transaction)

    async def searchable_after(
        self, tenant: str, cursor: str, limit: int, now: datetime
    ) -> Page[RecordRef]:
        """Return searchable, unexpired, current records after a cursor, in the order stored.

        Args:
            tenant: Whose.
            cursor: Of the page before; ``""`` begins.
            limit: 1 to ``PAGE_ROWS_MAX``.
            now: Records that expire at or before this moment are passed over.

        Raises:
            UsageError: A limit out of range, or a cursor that no page gave.
        """
        check_limit(limit, PAGE_ROWS_MAX)
        query = Query(
            _PAGE,
            {
                "tenant": tenant,
                "after": _row_of(cursor),
                "limit": limit + 1,
                "now": microseconds(now),
            },
            reach="tenant",
        )
        found = await self._database.read("searchable_after", lambda session: session.all(query))
        rows = tuple(
            RecordRef(
                graph_id=row["graph_id"],
                id=row["id"],
                agent_id=None if row["private_to"] == SHARED else row["private_to"],
            )
            for row in found[:limit]
        )
        return Page(rows=rows, cursor=str(found[limit - 1]["row"]) if len(found) > limit else None)

    async def count_searchable(self, tenant: str, now: datetime) -> int:
        """Return how many records ``searchable_after`` has to give."""
        query = Query(_COUNT, {"tenant": tenant, "now": microseconds(now)}, reach="tenant")

        def question(session: Session) -> int:
            return int(session.all(query)[0]["records"])

        return await self._database.read("count_searchable", question)


def _row_of(cursor: str) -> int:
    """Return the number of the row that a cursor stands after."""
    if cursor and not (cursor.isascii() and cursor.isdigit() and len(cursor) < len(str(2**63))):
        raise UsageError("cursor", cursor, "the cursor of a page, or an empty one to begin")
    return int(cursor or 0)

"""The walk over all records of a tenant. There is nothing to take over: many share a database."""

from __future__ import annotations

import json
from datetime import datetime

from bson import ObjectId

from ...errors import UsageError
from ...moments import microseconds
from ...records import Kind
from ...upkeep import PAGE_ROWS_MAX, Page, RecordRef
from ..ownership import SHARED, check_limit
from .conditions import SHELVES
from .database import Database, Session
from .documents import Document
from .scope import of_tenant
from .together import together

_KINDS: tuple[Kind, ...] = tuple(SHELVES)
_FIRST = ObjectId("0" * 24)
_CURSOR_CHARS_MAX = 64


class MongoUpkeep:
    """A ``ColdUpkeep`` in MongoDB, where any number of processes have the database open."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def take_over(self) -> None:
        """Do nothing: nobody can know that the others are dead. Their leases run out.

        What a crash left half done, whoever finds it does: a claim that finds too little work
        queues what records still carry, a question about beliefs brings their projection up to
        date, and the next use or move of a fact catches up with the ones before.
        """

        async def nothing(_: Session) -> None:
            return None

        await self._database.read("take_over", nothing)

    async def searchable_after(
        self, tenant: str, cursor: str, limit: int, now: datetime
    ) -> Page[RecordRef]:
        """Return searchable, unexpired, current records after a cursor: kind by kind, as stored.

        Args:
            tenant: Whose.
            cursor: Of the page before; ``""`` begins.
            limit: 1 to ``PAGE_ROWS_MAX``.
            now: Records that expire at or before this moment are passed over.

        Raises:
            UsageError: A limit out of range, or a cursor that no page gave.
        """
        check_limit(limit, PAGE_ROWS_MAX)
        first, after = _place(cursor)

        async def question(session: Session) -> list[tuple[int, Document]]:
            found: list[tuple[int, Document]] = []
            for number in range(first, len(_KINDS)):
                kind = _KINDS[number]
                begins = after if number == first else _FIRST
                rows = session.collection(SHELVES[kind].collection, whole_tenant=True)
                where = _current(tenant, kind, now) | {"_id": {"$gt": begins}}
                found += [
                    (number, row)
                    for row in await rows.find(
                        where,
                        sort=[("_id", 1)],
                        limit=limit + 1 - len(found),
                        fields=["graph_id", "id", "private_to"],
                    )
                ]
                if len(found) > limit:
                    break
            return found

        found = await self._database.read("searchable_after", question)
        page = found[:limit]
        refs = tuple(
            RecordRef(
                graph_id=row["graph_id"],
                id=row["id"],
                agent_id=None if row["private_to"] == SHARED else row["private_to"],
            )
            for _, row in page
        )
        if len(found) <= limit:
            return Page(rows=refs)
        number, last = page[-1]
        return Page(rows=refs, cursor=json.dumps([number, str(last["_id"])]))

    async def count_searchable(self, tenant: str, now: datetime) -> int:
        """Return how many records ``searchable_after`` has to give."""

        async def question(session: Session) -> int:
            counts = await together(
                session.collection(shelf.collection, whole_tenant=True).count(
                    _current(tenant, kind, now)
                )
                for kind, shelf in SHELVES.items()
            )
            return sum(counts)

        return await self._database.read("count_searchable", question)


def _current(tenant: str, kind: Kind, now: datetime) -> Document:
    where = of_tenant(tenant, live={"$ne": False}, redacted_at=None)
    if kind == "summary":
        later: list[Document] = [{"expires_at": None}, {"expires_at": {"$gt": microseconds(now)}}]
        where["$or"] = later
    return where


def _place(cursor: str) -> tuple[int, ObjectId]:
    """Return at which kind a page begins, and which document it comes after."""
    if not cursor:
        return 0, _FIRST
    try:
        number, last = json.loads(cursor[:_CURSOR_CHARS_MAX])
    except (ValueError, TypeError, RecursionError):
        number, last = None, None
    if type(number) is int and 0 <= number < len(_KINDS) and ObjectId.is_valid(last):
        return number, ObjectId(last)
    raise UsageError("cursor", cursor, "the cursor of a page, or an empty one to begin")

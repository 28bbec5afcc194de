"""Reading everything out of the database, and putting it into another, table by table.

What follows from a record (coverage, consolidation, terms and their totals) is not read out. The
rows that are put in bring it about: see ``arrival``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from bson import ObjectId
from pymongo import ASCENDING

from ...errors import Conflict, UsageError
from ...forms import is_searchable
from ...records import Record
from ...upkeep import PAGE_ROWS_MAX, Page, Table
from ..archive_rows import check_row, check_tenant, core_of
from ..ownership import check_limit
from .arrival import Arrival
from .board import finish_all_cards
from .database import Database, Session
from .documents import Document
from .driver import settled
from .log import audit_key
from .schema import Index
from .scope import of_tenant
from .shelf_changes import finish_all_shelving
from .shelves import SHELVES, Shelf, events_where
from .translation import DuplicateKey, translated
from .word_counts import count_words

ORDER_INDEX = Index((("tenant", ASCENDING), ("_id", ASCENDING)))
"""Each collection of ``BY_STORING`` has it: a page costs what it holds."""


class MongoArchive:
    """A ``ColdArchive`` in MongoDB."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def tenants(self) -> tuple[str, ...]:
        """Return every tenant that has a graph, sorted."""

        async def question(_: Session) -> tuple[str, ...]:
            # The one question that is asked across tenants: it brings back their names alone.
            with translated("tenants"):
                graphs = self._database.raw["graphs"]
                cursor = await settled(graphs.aggregate([{"$group": {"_id": "$tenant"}}]))
                return tuple(sorted([one["_id"] async for one in cursor]))

        return await self._database.read("tenants", question)

    async def export_rows(self, tenant: str, table: Table, cursor: str, limit: int) -> Page[Record]:
        """Return rows after a cursor in the order in which they were stored; ``""`` begins.

        Uses, outcomes, watermarks, receipts and counts of usage are in the order of their key, as
        they are stored under nothing else; belief and audit events graph by graph.

        Raises:
            UsageError: An unknown table, a limit outside 1 to ``PAGE_ROWS_MAX``, or a cursor that
                no page of the table gave.
        """
        shelf = _shelf(table)
        check_tenant(tenant)
        check_limit(limit, PAGE_ROWS_MAX)
        after = _places(cursor, shelf)
        if table == "documents" and not after:
            # What a crash has cut off belongs to the rows of this table and the next.
            await self._database.write(
                "export_rows", lambda session: finish_all_shelving(session, tenant)
            )

        if table == "cards" and not after and not self._database.server.has_transactions:
            # An action that was cut off lies inside the card that it tells of.
            await self._database.write(
                "export_rows",
                lambda session: finish_all_cards(session, tenant),
                alone=audit_key(tenant),
            )

        async def question(session: Session) -> Page[Record]:
            found = await _page(session, tenant, shelf, after, limit + 1)
            last = found[limit - 1] if len(found) > limit else None
            return Page[Record](
                rows=tuple(shelf.read(document) for document in found[:limit]),
                cursor=None if last is None else _cursor(shelf, last),
            )

        return await self._database.read("export_rows", question)

    async def import_rows(self, tenant: str, table: Table, rows: Sequence[Record]) -> int:
        """Store rows as they are, in order, with what follows from them; return how many are new.

        A row that is there already, equal, is passed over.

        Raises:
            Conflict: A row of the same identity is there and differs, or a row contradicts what
                is there: nothing of the call stays.
            UsageError: A row is of another type or tenant.
        """
        shelf = _shelf(table)
        check_tenant(tenant)
        for record in rows:
            check_row(tenant, table, record)
        if not rows:
            return 0
        arrival = Arrival(tenant, table, shelf)

        async def counted(session: Session, new: Sequence[Record]) -> None:
            await count_words(session, *filter(is_searchable, map(core_of, new)))

        try:
            new = await self._database.step(
                "import_rows",
                lambda session: arrival.store(session, rows),
                alone=audit_key(tenant) if table == "audit" else ("import", tenant),
                counted=counted,
            )
        except DuplicateKey as clash:
            fields = ", ".join(clash.keys)
            raise Conflict(f"{table} row", "rows that it fits to", f"the same {fields}") from clash
        return len(new)

    async def count_rows(self, tenant: str, table: Table) -> int:
        """Return how many rows a table has for the tenant."""
        shelf = _shelf(table)
        check_tenant(tenant)

        async def question(session: Session) -> int:
            rows = session.collection(shelf.collection, whole_tenant=True)
            if table != "belief_events":
                return await rows.count(of_tenant(tenant, **shelf.where))
            events = {"_id": None, "found": {"$sum": {"$size": "$events"}}}
            found = await rows.aggregate([{"$match": of_tenant(tenant)}, {"$group": events}])
            return int(found[0]["found"]) if found else 0

        return await self._database.read("count_rows", question)


async def _page(
    session: Session, tenant: str, shelf: Shelf, after: Sequence[object], limit: int
) -> list[Document]:
    """Return at most ``limit`` documents, or events as documents, that come after a place."""
    fields = shelf.order
    if shelf.collection == "belief_log":
        # Changes hold one event or more, so this many hold enough; the first may begin before.
        where = of_tenant(tenant, **beyond(("graph_id", "last_seq"), after))
        sort = [("graph_id", 1), ("last_seq", 1)]
        events = await events_where(session, where, sort=sort, limit=limit)
        later = [one for one in events if not after or (one["graph_id"], one["seq"]) > tuple(after)]
        return later[:limit]
    rows = session.collection(shelf.collection, whole_tenant=True)
    where = of_tenant(tenant, **shelf.where, **beyond(fields, after))
    found = await rows.find(where, sort=[(field, 1) for field in fields], limit=limit)
    return found if shelf.beside is None else await shelf.beside(session, tenant, found)


def beyond(fields: Sequence[str], after: Sequence[object]) -> Document:
    """Return the condition for what comes after a place in the order of some fields."""
    if not after:
        return {}
    steps: list[Document] = [
        dict(zip(fields[:n], after[:n], strict=True)) | {fields[n]: {"$gt": after[n]}}
        for n in range(len(fields))
    ]
    return steps[0] if len(steps) == 1 else {"$or": steps}


def _cursor(shelf: Shelf, document: Document) -> str:
    places = [document[field] for field in shelf.order]
    return json.dumps(
        [str(place) if isinstance(place, ObjectId) else place for place in places],
        ensure_ascii=False,
    )


def _places(cursor: str, shelf: Shelf) -> tuple[object, ...]:
    """Return where a page begins: field by field, what it comes after; nothing for the start."""
    if not cursor:
        return ()
    places: list[object] = []
    try:
        places = json.loads(cursor)
        fits = [type(place) for place in places] == [
            int if field == "seq" else str for field in shelf.order
        ]
    except (ValueError, TypeError, RecursionError):
        fits = False
    if fits and shelf.order == ("_id",):
        fits = ObjectId.is_valid(places[0])
    if not fits:
        raise UsageError("cursor", cursor, "the cursor of a page of the same table")
    return (ObjectId(str(places[0])),) if shelf.order == ("_id",) else tuple(places)


def _shelf(table: Table) -> Shelf:
    if table not in SHELVES:
        raise UsageError("table", table, ", ".join(SHELVES))
    return SHELVES[table]

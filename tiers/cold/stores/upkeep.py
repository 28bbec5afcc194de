"""What the only owner of a store may do on opening it, and the walk over all its records."""

from __future__ import annotations

import json
from datetime import datetime

from ...errors import UsageError
from ...moments import microseconds
from ...records import Scope
from ...upkeep import PAGE_ROWS_MAX, Page, RecordRef
from ..conditions import Absent, Beyond, Condition, Either, Within
from ..ownership import SHARED, check_limit
from ..port import Find, RecordStore, Steps, count, every
from .leases import free_leases
from .words import SEARCHABLE, Filed
from .work import free_claims

_ORDER = ("recorded_at", "graph_id", "id")


class ColdUpkeep:
    """A ``ColdUpkeep`` over any engine; ``take_over`` is for the one process that owns it."""

    def __init__(self, store: RecordStore) -> None:
        self._store = store

    async def take_over(self) -> None:
        """Free what an owner that died had claimed, so that it need not wait for its leases.

        Tokens stay, so that nothing the dead owner held could ever be completed.
        """

        def steps() -> Steps[None]:
            yield from free_claims()
            yield from free_leases()

        await self._store.change("take over", steps, is_brief=False)

    async def searchable_after(
        self, tenant: str, cursor: str, limit: int, now: datetime
    ) -> Page[RecordRef]:
        """Return searchable, unexpired, current records after a cursor, in order of recording.

        Args:
            tenant: Whose.
            cursor: Of the page before; ``""`` begins.
            limit: 1 to ``PAGE_ROWS_MAX``.
            now: Records that expire at or before this moment are passed over.

        Raises:
            UsageError: A limit out of range, or a cursor that no page gave.
        """
        check_limit(limit, PAGE_ROWS_MAX)
        where = (*_unexpired(now), *_after(cursor))
        find = _current(tenant, *where, limit=limit + 1)
        found = await self._store.read("searchable_after", lambda: every(find))
        rows = tuple(map(_ref, found[:limit]))
        return Page(rows=rows, cursor=_cursor(found[limit - 1]) if len(found) > limit else None)

    async def count_searchable(self, tenant: str, now: datetime) -> int:
        """Return how many records ``searchable_after`` has to give."""
        find = _current(tenant, *_unexpired(now))
        return await self._store.read("count_searchable", lambda: count(find))


def _current(tenant: str, *where: Condition, limit: int | None = None) -> Find[Filed]:
    whole = Scope.of_graph(tenant, tenant)
    if limit is None:
        return Find(SEARCHABLE, whole, "current", where, limit=1 << 40, reach="tenant")
    return Find(SEARCHABLE, whole, "current", where, _ORDER, limit, reach="tenant")


def _unexpired(now: datetime) -> tuple[Condition, ...]:
    later = Within("expires_at", since=microseconds(now) + 1)
    return (Either(((Absent("expires_at"),), (later,))),)


def _after(cursor: str) -> tuple[Condition, ...]:
    """Return the place behind which a page begins.

    Raises:
        UsageError: No page gave this cursor.
    """
    if not cursor:
        return ()
    try:
        recorded_at, graph_id, record_id = json.loads(cursor)
        place = (int(recorded_at), str(graph_id), str(record_id))
    except (TypeError, ValueError) as error:
        accepted = "the cursor of a page, or an empty one to begin"
        raise UsageError("cursor", cursor, accepted) from error
    return (Beyond(_ORDER, place),)


def _cursor(last: Filed) -> str:
    place = [microseconds(last.recorded_at), last.graph_id, last.id]
    return json.dumps(place, ensure_ascii=False)


def _ref(filed: Filed) -> RecordRef:
    owner = filed.agent_id if filed.private else SHARED
    return RecordRef(graph_id=filed.graph_id, id=filed.id, agent_id=owner or None)

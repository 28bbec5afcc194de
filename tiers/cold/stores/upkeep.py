"""What the only owner of a store may do on opening it, and the walk over all its records."""

from __future__ import annotations

from datetime import datetime

from ...moments import microseconds
from ...records import Scope
from ...upkeep import PAGE_ROWS_MAX, Page, RecordRef
from ..conditions import Beyond, Condition
from ..cursors import cursor_of, cut, place_of
from ..ownership import SHARED, check_limit
from ..port import Find, Steps, count
from .leases import free_leases
from .over_engine import OverEngine
from .questions import MANY, not_by
from .words import SEARCHABLE, Filed
from .work import free_claims

_ORDER = ("recorded_at", "graph_id", "id")
_PLACE = (int, str, str)


class ColdUpkeep(OverEngine):
    """What the runtime does when it opens, and what building an index needs."""

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
        place = place_of(cursor, _PLACE, "the cursor of a page, or an empty one to begin")
        behind = () if place is None else (Beyond(_ORDER, place),)
        where = (*_unexpired(now), *behind)
        whole = Scope.of_graph(tenant, tenant)
        find = Find(SEARCHABLE, whole, "current", where, _ORDER, limit + 1, reach="tenant")
        found = await self._all("searchable_after", find)
        rows, after = cut(found, limit, _cursor)
        return Page(rows=tuple(map(_ref, rows)), cursor=after)

    async def count_searchable(self, tenant: str, now: datetime) -> int:
        """Return how many records ``searchable_after`` has to give."""
        whole = Scope.of_graph(tenant, tenant)
        where = _unexpired(now)
        find = Find(SEARCHABLE, whole, "current", where, limit=MANY, reach="tenant")
        return await self._store.read("count_searchable", lambda: count(find))


def _unexpired(now: datetime) -> tuple[Condition, ...]:
    return (not_by("expires_at", microseconds(now)),)


def _cursor(last: Filed) -> str:
    return cursor_of((microseconds(last.recorded_at), last.graph_id, last.id))


def _ref(filed: Filed) -> RecordRef:
    owner = filed.agent_id if filed.private else SHARED
    return RecordRef(graph_id=filed.graph_id, id=filed.id, agent_id=owner or None)

"""What happened, by time alone, in MongoDB."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ...forms import hit_of
from ...moments import microseconds
from ...recollection import Place
from ...records import Hit, Kind, Owned, Scope, SearchQuery
from .beliefs import bring_up_to_date
from .believed import active_by_then
from .conditions import SHELVES, searched, shown_fields, stored_kinds
from .database import Database, Session
from .documents import Document, record_of
from .together import together


class _Told(NamedTuple):
    """A record, and when the last of what it tells happened, in microseconds."""

    at: int
    record: Owned


_UNDATED: Document = {"valid_from": None}
_DATED: Document = {"valid_from": {"$ne": None}}
_BY: Mapping[Kind, Mapping[str, Document]] = {
    "turn": {"occurred_at": {}},
    "summary": {"ends_at": {}},
    "episode": {"ends_at": {}},
    "fact": {"valid_from": _DATED, "recorded_at": _UNDATED},
    "rule": {"recorded_at": {}},
    "belief": {"recorded_at": {}},
    "document": {"recorded_at": {}},
}
"""For each kind by which field its records are ordered, and which of them."""


class MongoTimeline:
    """A ``Timeline`` over the MongoDB stores."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def latest(
        self, scope: Scope, query: SearchQuery, *, behind: Place | None = None
    ) -> tuple[Hit, ...]:
        """Return visible live records of the scope's own graph, the latest first, then by id.

        Each kind is asked for its own latest, and the latest of these are returned. Turns are read
        out of an index, and no more of them than are wanted. Ancestors have no timeline here.
        """
        kinds = stored_kinds(query.kinds)
        if query.inherited or not kinds:
            return ()
        if "belief" in kinds:
            await bring_up_to_date(self._database, scope, "latest")

        async def question(session: Session) -> tuple[Hit, ...]:
            held = await active_by_then(session, scope, query, {}) if "belief" in kinds else []
            found = await together(
                _latest(
                    session, scope, query, kind, field, _joined(condition, field, behind), *held
                )
                for kind in kinds
                for field, condition in _BY[kind].items()
            )
            told = [one for of_kind in found for one in of_kind]
            told.sort(key=lambda one: (-one.at, one.record.id))
            return tuple(hit_of(one.record, 0.0, scope.graph_id) for one in told[: query.limit])

        return await self._database.read("latest", question)


def _joined(condition: Document, field: str, behind: Place | None) -> Document:
    """Return a condition with the further one that a record comes after a place."""
    if behind is None:
        return condition
    at = microseconds(behind.at)
    after = {"$or": [{field: {"$lt": at}}, {field: at, "id": {"$gt": behind.id}}]}
    return {"$and": [condition, after]} if condition else after


async def _latest(
    session: Session,
    scope: Scope,
    query: SearchQuery,
    kind: Kind,
    field: str,
    condition: Document,
    *of_beliefs: Document,
) -> list[_Told]:
    """Return the latest of one kind. The scope and all conditions come before the limit."""
    collection, model = SHELVES[kind]
    further = [*([condition] if condition else []), *(of_beliefs if kind == "belief" else ())]
    found = await session.collection(collection).find(
        searched(scope, query, kind, *further),
        sort=[(field, -1), ("id", 1)],
        limit=query.limit,
        fields=shown_fields(model),
    )
    return [_Told(one[field], record_of(model, one)) for one in found]

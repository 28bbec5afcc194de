"""The knowledge graph in MongoDB: names are joined by ``$graphLookup``, steps taken one by one.

``$graphLookup`` has no limit of its own: it would bring every fact of a name into memory, and fail
at 100 MiB, before anything could be cut off. Few facts join names, so there it may look at all of
them; a step is one ``find`` with a limit, in the order of an index. Its filter, as every filter
here, carries the whole scope.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ...knowledge import (
    ALIAS_STEPS_MAX,
    NAMES_MAX,
    NEIGHBOURS_MAX,
    PATH_FACTS_MAX,
    Entity,
    Neighbour,
)
from ...moments import microseconds
from ...recollection import Place
from ...records import Fact, Scope
from ..edges import ALIAS_KEY, Step, at_moment, key_of, keys_of
from ..ownership import check_limit
from ..walking import (
    Joined,
    Said,
    Walk,
    check_neighbour_depth,
    check_path_depth,
    entities_of,
    has_met,
    next_walk,
    shortest,
)
from .conditions import shown_fields
from .database import Database, Session
from .documents import Document, record_of
from .scope import standing_facts
from .search_index import COLLECTION
from .semantic import nearest_first, readable

ROWS_MAX = 10_000
"""So many joined names, or spellings of names, are read at once."""

_ENDS = ("id", "graph_id", "subject_key", "object_key")


class MongoKnowledgeGraph:
    """A ``KnowledgeGraph`` in MongoDB."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def entities(
        self, scope: Scope, names: Sequence[str], limit: int, *, as_of: datetime | None = None
    ) -> tuple[Entity, ...]:
        """Return the entities that some of the names name, in the order in which they do."""
        check_limit(limit, NAMES_MAX)
        keys = keys_of(names)
        if not keys:
            return ()

        async def question(session: Session) -> tuple[Entity, ...]:
            return await _Reading(session, scope, as_of).entities(keys, limit)

        return await self._database.read("entities", question)

    async def neighbours(
        self,
        scope: Scope,
        names: Sequence[str],
        depth: int,
        limit: int,
        *,
        as_of: datetime | None = None,
    ) -> tuple[Neighbour, ...]:
        """Return the facts within some steps of any of the names, nearest first, then by id.

        What is written while it walks may be in or not.
        """
        check_neighbour_depth(depth)
        check_limit(limit, NEIGHBOURS_MAX)
        keys = keys_of(names)

        async def question(session: Session) -> tuple[Neighbour, ...]:
            return await _Reading(session, scope, as_of).neighbours(keys, depth, limit)

        return await self._database.read("neighbours", question)

    async def path(
        self, scope: Scope, start: str, end: str, depth: int, *, as_of: datetime | None = None
    ) -> tuple[Fact, ...] | None:
        """Return a shortest chain of facts from one name to another; ``None`` without one.

        Also when one of its facts ended while it was looked for.
        """
        check_path_depth(depth)
        first, last = key_of(start), key_of(end)
        if not (first and last):
            return None

        async def question(session: Session) -> tuple[Fact, ...] | None:
            return await _Reading(session, scope, as_of).path(first, last, depth)

        return await self._database.read("path", question)

    async def statements(
        self,
        scope: Scope,
        subject: str,
        predicate: str | None = None,
        limit: int = NAMES_MAX,
        *,
        live_only: bool = False,
        behind: Place | None = None,
    ) -> tuple[Fact, ...]:
        """Return what was ever stated of an entity, oldest first: live facts and ended ones."""
        check_limit(limit, NAMES_MAX)
        keys = keys_of([subject])
        narrowed: Document = {"live": True} if live_only else {}
        if predicate is not None:
            narrowed["predicate_key"] = key_of(predicate)
        further: Document = {} if behind is None else _further(behind)

        async def question(session: Session) -> tuple[Fact, ...]:
            names = await _Reading(session, scope, None).names(keys)
            found = await session.collection(COLLECTION).find(
                readable(scope, subject_key={"$in": names}, **narrowed) | further,
                sort=[("recorded_at", 1), ("id", 1)],
                limit=limit,
                fields=shown_fields(Fact),
            )
            return tuple(record_of(Fact, one) for one in found)

        return await self._database.read("statements", question)


def _further(place: Place) -> Document:
    """Return the condition that a fact comes after a place, oldest first."""
    at = microseconds(place.at)
    later: list[Document] = [
        {"recorded_at": {"$gt": at}},
        {"recorded_at": at, "id": {"$gt": place.id}},
    ]
    return {"$and": [{"$or": later}]}


class _Reading:
    """One question to the graph.

    Args:
        session: Reads it.
        scope: Who asks.
        as_of: The moment that is asked about, ``None`` for now.
    """

    def __init__(self, session: Session, scope: Scope, as_of: datetime | None) -> None:
        self._facts = session.collection(COLLECTION)
        self._scope = at_moment(scope, as_of)
        self._as_of = as_of

    async def entities(self, keys: Sequence[str], limit: int) -> tuple[Entity, ...]:
        walk = Walk(keys, 1)
        walk.join(await self._joins(walk.ahead))
        said = [
            Said(one["_id"]["key"], one["_id"]["text"], one["facts"], one["named"])
            for one in await self._facts.aggregate(self._said(walk.names))
        ]
        both: dict[Joined, int] = {}
        if walk.joins:
            found = await self._facts.aggregate(self._both(walk.names))
            both = {(one["_id"]["from"], one["_id"]["to"]): one["facts"] for one in found}
        return entities_of(keys, walk.joins, said, both, limit)

    async def neighbours(
        self, keys: Sequence[str], depth: int, limit: int
    ) -> tuple[Neighbour, ...]:
        walk = Walk(keys, limit)
        while walk.distance < depth and not walk.is_over:
            walk.join(await self._joins(walk.ahead))
            walk.take(await self._steps(walk))
        facts = await self._among(walk.taken)
        return tuple(
            Neighbour(fact=facts[step.id], distance=distance)
            for step, distance in walk.steps
            if step.id in facts
        )

    async def path(self, start: str, end: str, depth: int) -> tuple[Fact, ...] | None:
        one, other = Walk([start], PATH_FACTS_MAX), Walk([end], PATH_FACTS_MAX)
        for walk in (one, other):
            walk.join(await self._joins(walk.ahead))
        while not has_met(one, other):
            further = next_walk(one, other, depth)
            if further is None:
                return None
            further.take(await self._steps(further))
            further.join(await self._joins(further.ahead))
        chain = shortest(one, other, start, end)
        facts = await self._among(chain or ())
        if chain is None or len(facts) < len(chain):
            return None
        return tuple(facts[step_id] for step_id in chain)

    async def names(self, keys: Sequence[str]) -> list[str]:
        walk = Walk(keys, 1)
        walk.join(await self._joins(walk.ahead))
        return list(walk.names)

    async def _joins(self, keys: Sequence[str]) -> list[Joined]:
        """Return the alias facts around names: mostly there are none, and nothing is walked."""
        if not keys:
            return []
        found = await self._facts.aggregate(
            [
                {"$match": self._standing(joins={"$in": list(keys)})},
                {"$unwind": "$joins"},
                {"$group": {"_id": None, "names": {"$addToSet": "$joins"}}},
                {
                    "$graphLookup": {
                        "from": COLLECTION,
                        "startWith": "$names",
                        "connectFromField": "joins",
                        "connectToField": "joins",
                        # The first step is behind it, and its own first one counts as none.
                        "maxDepth": ALIAS_STEPS_MAX - 2,
                        "restrictSearchWithMatch": self._standing(),
                        "as": "found",
                    }
                },
                {"$unwind": "$found"},
                {"$project": {"_id": 0, "joins": "$found.joins"}},
                {"$limit": ROWS_MAX},
            ]
        )
        return [(one["joins"][0], one["joins"][1]) for one in found]

    async def _steps(self, walk: Walk) -> list[Step]:
        if not walk.names:
            return []
        where = self._standing(
            ends={"$in": list(walk.names)}, joins=None, id={"$nin": list(walk.taken)}
        )
        found = await self._facts.find(where, sort=[("id", 1)], limit=walk.room, fields=_ENDS)
        # An id that two graphs of a family have is taken once.
        nearest = {one["id"]: one for one in nearest_first(self._scope, found)[::-1]}
        return [
            Step(one["id"], one["subject_key"], one["object_key"])
            for one in sorted(nearest.values(), key=lambda one: str(one["id"]))
        ]

    async def _among(self, ids: Sequence[str]) -> dict[str, Fact]:
        """Return facts by id; of several with one id, the nearest."""
        if not ids:
            return {}
        where = self._standing(id={"$in": list(ids)})
        found = await self._facts.find(where, fields=shown_fields(Fact))
        facts = nearest_first(self._scope, found)[::-1]
        return {one["id"]: record_of(Fact, one) for one in facts}

    def _said(self, names: Sequence[str]) -> list[Document]:
        """Return the pipeline that counts how often names stand in facts, by spelling."""
        is_alias: Document = {"$eq": ["$predicate_key", ALIAS_KEY]}
        is_loop: Document = {"$eq": ["$subject_key", "$object_key"]}
        facts: Document = {"$cond": [is_alias, 0, 1]}
        subject: Document = {
            "key": "$subject_key",
            "text": "$subject",
            "facts": facts,
            "named": {"$cond": [is_alias, 1, 0]},
        }
        other: Document = {
            "key": {"$cond": [is_loop, None, "$object_key"]},
            "text": "$object",
            "facts": facts,
            "named": {"$literal": 0},
        }
        return [
            {"$match": self._standing(ends={"$in": list(names)})},
            {"$project": {"_id": 0, "said": [subject, other]}},
            {"$unwind": "$said"},
            {"$match": {"said.key": {"$in": list(names)}}},
            {
                "$group": {
                    "_id": {"key": "$said.key", "text": "$said.text"},
                    "facts": {"$sum": "$said.facts"},
                    "named": {"$sum": "$said.named"},
                }
            },
            {"$sort": {"_id": 1}},
            {"$limit": ROWS_MAX},
        ]

    def _both(self, names: Sequence[str]) -> list[Document]:
        """Return the pipeline that counts the facts between two of the names."""
        among: Document = {"$in": list(names)}
        return [
            {"$match": self._standing(subject_key=among, object_key=among, joins=None)},
            {
                "$group": {
                    "_id": {"from": "$subject_key", "to": "$object_key"},
                    "facts": {"$sum": 1},
                }
            },
            {"$limit": ROWS_MAX},
        ]

    def _standing(self, **more: object) -> Document:
        return standing_facts(self._scope, self._as_of, **more)

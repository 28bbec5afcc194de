"""The knowledge graph in SQLite: names are joined by recursive SQL, steps are taken one by one.

Each step is one statement with a limit, all of a question's on one state of the database. One
recursive statement for all steps would have to walk through every fact of a name that has very
many before it could be cut off.
"""

# ruff: noqa: S608 - statements are made of constants only; values are always parameters

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
from .database import Database, Query, Session, Value
from .rows import record_of
from .scope import as_json, scoped
from .semantic import CORE_THEN, READABLE

ROWS_MAX = 10_000
"""So many joined names, or spellings of names, are read at once."""

# What stands at a moment. The scope has its ancestors as of that moment already.
_STANDING = (
    "$inherited(f) AND f.redacted_at IS NULL AND (:as_of IS NULL OR f.recorded_at <= :as_of)"
    " AND (f.superseded_by IS NULL OR f.superseded_at > COALESCE(g.as_of, :as_of))"
    " AND (f.forgotten_at IS NULL OR (g.place = 0 AND f.forgotten_at > :as_of))"
    " AND (g.archival OR (g.as_of IS NULL AND f.tier = 'core')"
    f" OR (g.as_of IS NOT NULL AND {CORE_THEN}))"
)
# CROSS JOIN fixes the order: each graph of the family, each name, and its facts by an index.
_OF_NAMED = "FROM named n CROSS JOIN $family g CROSS JOIN facts f"
_OF_NAMES = "FROM $family g CROSS JOIN json_each(:names) n CROSS JOIN facts f"
_FROM, _TO = "f.subject_key = n.value", "f.object_key = n.value"
_KNOWN = (
    "SELECT DISTINCT n.value FROM $family g CROSS JOIN json_each(:names) n WHERE"
    f" EXISTS (SELECT 1 FROM facts f WHERE {_FROM} AND {_STANDING})"
    f" OR EXISTS (SELECT 1 FROM facts f WHERE {_TO} AND {_STANDING})"
)
_JOINS = (
    "WITH RECURSIVE named (key, step) AS ("
    "SELECT value, 0 FROM json_each(:names)"
    f" UNION SELECT f.object_key, n.step + 1 {_OF_NAMED} WHERE n.step < :steps AND {_STANDING}"
    " AND f.subject_key = n.key AND f.predicate_key = :alias"
    f" UNION SELECT f.subject_key, n.step + 1 {_OF_NAMED} WHERE n.step < :steps AND {_STANDING}"
    " AND f.object_key = n.key AND f.predicate_key = :alias LIMIT :rows)"
    f" SELECT DISTINCT f.subject_key, f.object_key {_OF_NAMED} WHERE {_STANDING}"
    " AND f.subject_key = n.key AND f.predicate_key = :alias LIMIT :rows"
)
_OTHER = " AND f.predicate_key <> :alias AND f.id NOT IN (SELECT value FROM json_each(:taken))"
# An id that two graphs of a family have is taken once.
_STEPS = (
    "SELECT found.id, found.subject_key, found.object_key, MIN(found.place) AS place FROM ("
    f"SELECT g.place, f.id, f.subject_key, f.object_key {_OF_NAMES}"
    f" WHERE {_FROM} AND {_STANDING}{_OTHER}"
    f" UNION ALL SELECT g.place, f.id, f.subject_key, f.object_key {_OF_NAMES}"
    f" WHERE {_TO} AND {_STANDING}{_OTHER}"
    ") AS found GROUP BY found.id ORDER BY found.id LIMIT :room"
)
_FACTS = (
    "SELECT f.*, s.topics FROM $family g CROSS JOIN facts f"
    f" JOIN topic_sets s ON s.id = f.topic_set WHERE {_STANDING}"
    " AND f.id IN (SELECT value FROM json_each(:ids)) ORDER BY g.place DESC"
)
_SAID = (
    "SELECT found.name, found.text, SUM(found.is_fact) AS facts,"
    " SUM(found.is_named) AS named FROM ("
    "SELECT f.subject_key AS name, f.subject AS text, f.predicate_key <> :alias AS is_fact,"
    f" f.predicate_key = :alias AS is_named {_OF_NAMES} WHERE {_FROM} AND {_STANDING}"
    " UNION ALL SELECT f.object_key, f.object, f.predicate_key <> :alias, 0"
    f" {_OF_NAMES} WHERE {_TO} AND {_STANDING} AND f.subject_key <> f.object_key"
    ") AS found GROUP BY found.name, found.text ORDER BY found.name, found.text LIMIT :rows"
)
_BOTH = (
    f"SELECT f.subject_key, f.object_key, COUNT(*) AS facts {_OF_NAMES} WHERE {_FROM}"
    f" AND {_STANDING} AND f.predicate_key <> :alias"
    " AND f.object_key IN (SELECT value FROM json_each(:names))"
    " GROUP BY f.subject_key, f.object_key LIMIT :rows"
)
_STATED = (
    f"SELECT f.*, s.topics {_OF_NAMES} JOIN topic_sets s ON s.id = f.topic_set"
    f" WHERE {_FROM} AND {READABLE}"
)
_OLDEST_FIRST = " ORDER BY f.recorded_at, f.id LIMIT :limit"
_STILL = " AND f.superseded_by IS NULL AND f.forgotten_at IS NULL"
_OF_PREDICATE = " AND f.predicate_key = :predicate"
_BEHIND = " AND (f.recorded_at, f.id) > (:behind_at, :behind_id)"


class SqliteKnowledgeGraph:
    """A ``KnowledgeGraph`` in SQLite."""

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
        return await self._database.read(
            "entities", lambda session: _Reading(session, scope, as_of).entities(keys, limit)
        )

    async def neighbours(
        self,
        scope: Scope,
        names: Sequence[str],
        depth: int,
        limit: int,
        *,
        as_of: datetime | None = None,
    ) -> tuple[Neighbour, ...]:
        """Return the facts within some steps of any of the names, nearest first, then by id."""
        check_neighbour_depth(depth)
        check_limit(limit, NEIGHBOURS_MAX)
        keys = keys_of(names)
        return await self._database.read(
            "neighbours",
            lambda session: _Reading(session, scope, as_of).neighbours(keys, depth, limit),
        )

    async def path(
        self, scope: Scope, start: str, end: str, depth: int, *, as_of: datetime | None = None
    ) -> tuple[Fact, ...] | None:
        """Return a shortest chain of facts from one name to another; ``None`` without one."""
        check_path_depth(depth)
        ends = key_of(start), key_of(end)
        if not all(ends):
            return None
        return await self._database.read(
            "path", lambda session: _Reading(session, scope, as_of).path(*ends, depth)
        )

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
        narrowed = _STATED + (_STILL if live_only else "")
        narrowed += "" if predicate is None else _OF_PREDICATE
        stated: dict[str, Value] = {} if predicate is None else {"predicate": key_of(predicate)}
        if behind is not None:
            narrowed += _BEHIND
            stated |= {"behind_at": microseconds(behind.at), "behind_id": behind.id}

        def question(session: Session) -> tuple[Fact, ...]:
            names = as_json(_Reading(session, scope, None).names(keys))
            query = scoped(
                narrowed + _OLDEST_FIRST, scope, carrying=None, names=names, limit=limit, **stated
            )
            return tuple(record_of(Fact, row) for row in session.all(query))

        return await self._database.read("statements", question)


class _Reading:
    """One question to the graph, on one state of the database.

    Args:
        session: Reads it.
        scope: Who asks.
        as_of: The moment that is asked about, ``None`` for now.
    """

    def __init__(self, session: Session, scope: Scope, as_of: datetime | None) -> None:
        self._session = session
        self._scope = at_moment(scope, as_of)
        self._as_of = None if as_of is None else microseconds(as_of)

    def entities(self, keys: Sequence[str], limit: int) -> tuple[Entity, ...]:
        walk = Walk(self._known(keys), 1)
        walk.join(self._joins(walk.ahead))
        names = as_json(walk.names)
        said = [
            Said(row["name"], row["text"], row["facts"], row["named"])
            for row in self._session.all(self._asked(_SAID, names=names, rows=ROWS_MAX))
        ]
        both: dict[Joined, int] = {}
        if walk.joins:
            rows = self._session.all(self._asked(_BOTH, names=names, rows=ROWS_MAX))
            both = {(row["subject_key"], row["object_key"]): row["facts"] for row in rows}
        return entities_of(keys, walk.joins, said, both, limit)

    def neighbours(self, keys: Sequence[str], depth: int, limit: int) -> tuple[Neighbour, ...]:
        walk = Walk(self._known(keys), limit)
        while walk.distance < depth and not walk.is_over:
            walk.join(self._joins(walk.ahead))
            walk.take(self._steps(walk))
        facts = self._facts(walk.taken)
        return tuple(
            Neighbour(fact=facts[step.id], distance=distance)
            for step, distance in walk.steps
            if step.id in facts  # an id with a NUL, which JSON functions cut, is not read back
        )

    def path(self, start: str, end: str, depth: int) -> tuple[Fact, ...] | None:
        one, other = Walk([start], PATH_FACTS_MAX), Walk([end], PATH_FACTS_MAX)
        for walk in (one, other):
            walk.join(self._joins(walk.ahead))
        while not has_met(one, other):
            further = next_walk(one, other, depth)
            if further is None:
                return None
            further.take(self._steps(further))
            further.join(self._joins(further.ahead))
        chain = shortest(one, other, start, end)
        facts = self._facts(chain or ())
        return None if chain is None else tuple(facts[step_id] for step_id in chain)

    def names(self, keys: Sequence[str]) -> tuple[str, ...]:
        walk = Walk(keys, 1)
        walk.join(self._joins(walk.ahead))
        return walk.names

    def _known(self, keys: Sequence[str]) -> list[str]:
        """Return those that some standing fact names: most of what a question has name nothing."""
        known = self._session.all(self._asked(_KNOWN, names=as_json(keys)))
        there = {row["value"] for row in known}
        return [key for key in keys if key in there]

    def _joins(self, keys: Sequence[str]) -> Iterable[Joined]:
        if not keys:
            return []
        query = self._asked(_JOINS, names=as_json(keys), steps=ALIAS_STEPS_MAX, rows=ROWS_MAX)
        return [(row["subject_key"], row["object_key"]) for row in self._session.all(query)]

    def _steps(self, walk: Walk) -> list[Step]:
        names, taken = as_json(walk.names), as_json(walk.taken)
        query = self._asked(_STEPS, names=names, taken=taken, room=walk.room)
        return [
            Step(row["id"], row["subject_key"], row["object_key"])
            for row in self._session.all(query)
        ]

    def _facts(self, ids: Sequence[str]) -> dict[str, Fact]:
        """Return facts by id; of several with one id, the nearest."""
        params = {"ids": as_json(ids), "as_of": self._as_of}
        rows = self._session.all(scoped(_FACTS, self._scope, carrying=None, **params))
        return {row["id"]: record_of(Fact, row) for row in rows}

    def _asked(self, statement: str, **params: Value) -> Query:
        given = {"alias": ALIAS_KEY, "as_of": self._as_of, **params}
        return scoped(statement, self._scope, carrying=None, **given)

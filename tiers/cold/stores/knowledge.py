"""The knowledge graph: what facts say about names, walked step by step.

Each step is one question to each graph of the family, with a limit, so that what is looked at is
bounded by that and not by how many facts a name has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection as Names
from collections.abc import Iterable, Sequence
from datetime import datetime

from ... import knowledge
from ...errors import check_within
from ...moments import earliest, microseconds
from ...recollection import Place
from ...records import Fact, Scope
from ..conditions import Among, Beyond, Condition, Holds, Is
from ..digests import ALIAS_KEY, Step, edge_of, key_of, keys_of
from ..graph_walk import Joined, Said, Walk, entities_of, has_met, next_walk, shortest
from ..ownership import check_limit
from ..port import RECORDS_MAX, Count, Find, Steps, asked, every
from .statements import FACTS, nearest, of_family, readable, standing
from .store_base import OverEngine, reading

_SPELT = (
    ("ends", "subject_key", "subject"),
    ("ends", "other_key", "object"),
    ("joins", "subject_key", "subject"),
    ("joins", "other_key", "object"),
)
"""Where a name may stand in a fact: the list that has the fact, the name's digest, its spelling."""

JOINS_MAX = 10_000
"""So many facts that join names are read at once."""


class KnowledgeGraph(OverEngine):
    """What facts say about entities and how these hang together."""

    @reading
    def entities(
        self, scope: Scope, names: Sequence[str], limit: int, *, as_of: datetime | None = None
    ) -> Steps[tuple[knowledge.Entity, ...]]:
        """Return the entities that some of the names name, in the order in which they do.

        Each once, however many of the names are its own. What no fact names is left out.

        Args:
            scope: Who asks.
            names: In any spelling, at most ``NAMES_MAX``; blank ones name nothing.
            limit: 1 to ``NAMES_MAX``.
            as_of: Facts as they stood then.
        """
        check_limit(limit, knowledge.NAMES_MAX)
        return _Reading(scope, as_of).entities(keys_of(names), limit)

    @reading
    def neighbours(
        self,
        scope: Scope,
        names: Sequence[str],
        depth: int,
        limit: int,
        *,
        as_of: datetime | None = None,
        without: Names[str] = (),
    ) -> Steps[tuple[knowledge.Neighbour, ...]]:
        """Return the facts within some steps of any of the names, nearest first, then by id.

        A step leads from a name to the facts that have it as subject or object, and from each of
        them to the name at its other end.

        Args:
            scope: Who asks.
            names: As for ``entities``.
            depth: Steps, 1 to ``NEIGHBOUR_DEPTH_MAX``.
            limit: 1 to ``NEIGHBOURS_MAX``. Work ends with it: a name of very many facts costs
                one look at them.
            as_of: As for ``entities``.
            without: Facts that are no step, such as those that a nearer definition hides.
        """
        check_within("depth", depth, 1, knowledge.NEIGHBOUR_DEPTH_MAX)
        check_limit(limit, knowledge.NEIGHBOURS_MAX)
        return _Reading(scope, as_of, without).neighbours(keys_of(names), depth, limit)

    @reading
    def path(
        self,
        scope: Scope,
        start: str,
        end: str,
        depth: int,
        *,
        as_of: datetime | None = None,
        without: Names[str] = (),
    ) -> Steps[tuple[Fact, ...] | None]:
        """Return a shortest chain of facts from one name to another, each sharing a name.

        Of several the one whose ids come first. Empty when both name one entity; ``None`` when
        there is none of at most ``depth`` facts, 1 to ``PATH_DEPTH_MAX``, or none among the
        ``PATH_FACTS_MAX`` facts that are nearest to either end.
        """
        check_within("depth", depth, 1, knowledge.PATH_DEPTH_MAX)
        ends = key_of(start), key_of(end)
        if not all(ends):
            return None
        return (yield from _Reading(scope, as_of, without).path(*ends, depth))

    @reading
    def statements(
        self,
        scope: Scope,
        subject: str,
        predicate: str | None = None,
        limit: int = knowledge.NAMES_MAX,
        *,
        value: str | None = None,
        live_only: bool = False,
        newest_first: bool = False,
        behind: Place | None = None,
    ) -> Steps[tuple[Fact, ...]]:
        """Return what was ever stated of an entity, oldest first: live facts and ended ones.

        Under any name that it has now, ``alias`` facts included; of one predicate, or of all; with
        ``live_only`` what still stands; the other way round with ``newest_first``. Redacted facts
        are left out. ``limit`` is 1 to ``NAMES_MAX``; with ``behind`` only what comes after that
        place in this order, which is when a fact was recorded, and its id. With ``value`` only
        what has it as object, under any name that it has now; a name that ``alias`` gives is that
        name alone.
        """
        check_limit(limit, knowledge.NAMES_MAX)
        keys = keys_of([subject])
        where: list[Condition] = [Is("live", 1)] if live_only else []
        if predicate is not None:
            where.append(Is("predicate_key", key_of(predicate)))
        order = ("-recorded_at", "-id") if newest_first else ("recorded_at", "id")
        if behind is not None:
            where.append(Beyond(order, (microseconds(behind.at), behind.id)))
        now = _Reading(scope, None)
        names = yield from now.names(keys)
        if value is not None:
            values = keys_of([value])
            if predicate is None or key_of(predicate) != ALIAS_KEY:
                values = yield from now.names(values)
            where.append(Among("other_key", values))
        about = (Among("subject_key", names), *where)
        find = Find(FACTS, scope, "subject", about, order, limit, sorts=len(names) > 1)
        found = yield from every(*of_family(find, readable(scope)))
        found.sort(key=lambda fact: (fact.recorded_at, fact.id), reverse=newest_first)
        return tuple(found[:limit])


class _Reading:
    """One question to the graph.

    Args:
        scope: Who asks.
        as_of: The moment that is asked about, ``None`` for now.
        without: Facts that are no step.
    """

    def __init__(self, scope: Scope, as_of: datetime | None, without: Names[str] = ()) -> None:
        self._scope = _at_moment(scope, as_of)
        self._graphs = standing(self._scope, as_of)
        self._without = frozenset(without)
        self._facts: dict[str, Fact] = {}

    def entities(self, keys: Sequence[str], limit: int) -> Steps[tuple[knowledge.Entity, ...]]:
        walk = Walk(keys, 1)
        walk.join((yield from self._joins(walk.ahead)))
        if not walk.names:
            return ()
        said = yield from self._mentions(walk.names)
        both: dict[Joined, int] = {}
        if walk.joins:
            both = yield from self._both(walk.names)
        return entities_of(keys, walk.joins, said, both, limit)

    def neighbours(
        self, keys: Sequence[str], depth: int, limit: int
    ) -> Steps[tuple[knowledge.Neighbour, ...]]:
        walk = Walk(keys, limit)
        while walk.distance < depth and not walk.is_over:
            walk.join((yield from self._joins(walk.ahead)))
            walk.take((yield from self._steps(walk)))
        return tuple(
            knowledge.Neighbour(fact=self._facts[step.id], distance=distance)
            for step, distance in walk.steps
        )

    def path(self, start: str, end: str, depth: int) -> Steps[tuple[Fact, ...] | None]:
        one, other = Walk([start], knowledge.PATH_FACTS_MAX), Walk([end], knowledge.PATH_FACTS_MAX)
        for walk in (one, other):
            walk.join((yield from self._joins(walk.ahead)))
        while not has_met(one, other):
            further = next_walk(one, other, depth)
            if further is None:
                return None
            further.take((yield from self._steps(further)))
            further.join((yield from self._joins(further.ahead)))
        chain = shortest(one, other, start, end)
        return None if chain is None else tuple(self._facts[step_id] for step_id in chain)

    def names(self, keys: Sequence[str]) -> Steps[tuple[str, ...]]:
        """Return names and those that alias facts join to them."""
        walk = Walk(keys, 1)
        walk.join((yield from self._joins(walk.ahead)))
        return walk.names

    def _joins(self, keys: Iterable[str]) -> Steps[list[Joined]]:
        """Return what joins names to others, from step to step: mostly nothing, in one."""
        joins: set[Joined] = set()
        edge = seen = set(keys)
        for _ in range(knowledge.ALIAS_STEPS_MAX):
            facts = yield from every(*self._at("joins", edge, limit=JOINS_MAX))
            new = {(step.subject, step.object) for step in map(_step, facts)}
            joins |= new
            edge = {name for ends in new for name in ends} - seen
            if not edge:
                break
            seen = seen | edge
        return sorted(joins)

    def _steps(self, walk: Walk) -> Steps[list[Step]]:
        """Return the first facts at names that were not taken yet; of one id the nearest."""
        taken = self._without.union(walk.taken)
        limit = walk.room + len(taken)
        finds = self._at("ends", walk.names, order=("id",), limit=limit)
        found = nearest((yield from every(*finds)))
        new = sorted(found.keys() - taken)[: walk.room]
        self._facts |= {fact_id: found[fact_id] for fact_id in new}
        return [_step(found[fact_id]) for fact_id in new]

    def _mentions(self, names: tuple[str, ...]) -> Steps[list[Said]]:
        """Return how often names stand in facts, by spelling; asked at one time."""
        counted = yield from asked(
            *(
                Count(find, (end, text))
                for by, end, text in _SPELT
                for find in self._at(by, names, Among(end, names))
            )
        )
        facts: Counter[tuple[str, str]] = Counter()
        named: Counter[tuple[str, str]] = Counter()
        for number, spelt in enumerate(counted):
            by, end, _ = _SPELT[number // len(self._graphs)]
            facts.update(spelt if by == "ends" else dict.fromkeys(spelt, 0))
            named.update(spelt if (by, end) == ("joins", "subject_key") else {})
        return [Said(*said, number, named[said]) for said, number in sorted(facts.items())]

    def _both(self, names: tuple[str, ...]) -> Steps[dict[Joined, int]]:
        """Return how many facts have two of the names, by subject and object."""
        ends = ("subject_key", "other_key")
        finds = self._at("ends", names, *(Among(end, names) for end in ends))
        counted = yield from asked(*(Count(find, ends) for find in finds))
        return dict(sum(map(Counter, counted), Counter()))

    def _at(
        self,
        by: str,
        names: Names[str],
        *where: Condition,
        order: tuple[str, ...] = (),
        limit: int = RECORDS_MAX,
    ) -> list[Find[Fact]]:
        """Ask every graph of the family for the facts at some names."""
        holds = Holds(by, tuple(sorted(names)))
        sorts = bool(order) and len(names) > 1
        find = Find(FACTS, self._scope, by, (holds, *where), order, limit, sorts=sorts)
        return of_family(find, self._graphs)


def _step(fact: Fact) -> Step:
    """Return a fact as a step; all that are looked up by their ends are edges."""
    edge = edge_of(fact)
    return Step(fact.id, edge.subject if edge else "", edge.object if edge else "")


def _at_moment(scope: Scope, as_of: datetime | None) -> Scope:
    """Return the scope with ancestors that are read as of a moment, or of an earlier one."""
    if as_of is None:
        return scope
    lineage = tuple(
        one.model_copy(update={"as_of": earliest(as_of, one.as_of)}) for one in scope.lineage
    )
    return scope.model_copy(update={"lineage": lineage})

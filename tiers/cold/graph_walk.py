"""Walking the knowledge graph: what to ask next, and what the answers come to. Pure.

An engine is asked for two things only: the alias facts around some names, and the facts at some
names, in the order of ids and no more than there is room for. A walk goes step by step, so that
what it looks at is bounded by its limit and not by how many facts a name has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ..knowledge import ALIAS_STEPS_MAX, Entity
from .digests import Step

Joined = tuple[str, str]
"""The two names that an alias fact joins, as digests: whose name it is, and the other name."""


class Walk:
    """One walk outwards from some names.

    Turn by turn: the engine is asked for the aliases of ``ahead``, which ``join`` takes, then for
    the facts at ``names``, which ``take`` takes.

    Args:
        keys: Where it starts.
        room: How many facts it may take in all.
    """

    def __init__(self, keys: Iterable[str], room: int) -> None:
        self.room = room
        self.distance = 0
        self.is_cut = False
        """Whether there may be more facts than there was room for."""
        self.steps: list[tuple[Step, int]] = []
        self.joins: list[Joined] = []
        self.ahead: tuple[str, ...] = tuple(dict.fromkeys(keys))
        """The names to which the last step led."""
        self.names: tuple[str, ...] = ()
        """Those at which the next facts are looked for: with all that alias facts join to them."""
        self._asked = set(self.ahead)
        self._behind: set[str] = set()

    @property
    def is_over(self) -> bool:
        """Whether there is nowhere to go, or no room."""
        return self.is_cut or not self.ahead

    @property
    def reached(self) -> set[str]:
        """Every name that the walk has come to."""
        return self._behind.union(self.names, self.ahead)

    @property
    def taken(self) -> tuple[str, ...]:
        """The ids of the facts that were taken, nearest first, then by id."""
        return tuple(step.id for step, _ in self.steps)

    def join(self, joins: Iterable[Joined]) -> None:
        """Take the alias facts around the names ahead."""
        new = list(joins)
        self.joins += new
        self.names = tuple(sorted(called(self.ahead, new)))
        self._behind.update(self.names)

    def take(self, found: Sequence[Step]) -> None:
        """Take the facts at the names: by id, as many as there is room for, none of them twice."""
        self.distance += 1
        self.is_cut = len(found) >= self.room
        self.room -= len(found)
        self.steps += [(step, self.distance) for step in found]
        ends = dict.fromkeys(end for step in found for end in (step.subject, step.object))
        self.ahead = tuple(end for end in ends if end not in self._asked)
        self._asked.update(self.ahead)


def next_walk(one: Walk, other: Walk, depth: int) -> Walk | None:
    """Return which of two walks towards each other goes on: the one with fewer names before it.

    ``None`` when there is no way between them of ``depth`` facts, or it would take more room.
    """
    walks = sorted((one, other), key=lambda walk: (len(walk.names), walk.distance))
    is_over = any(walk.is_cut or not walk.names for walk in walks)
    return None if is_over or one.distance + other.distance >= depth else walks[0]


def called(keys: Iterable[str], joins: Iterable[Joined]) -> set[str]:
    """Return names and those that alias facts join to them, ``ALIAS_STEPS_MAX`` facts away."""
    beside = _neighbours(joins)
    found = set(keys)
    edge = found
    for _ in range(ALIAS_STEPS_MAX if beside else 0):
        edge = {other for key in edge for other in beside.get(key, ())} - found
        found = found | edge
    return found


def has_met(one: Walk, other: Walk) -> bool:
    """Whether two walks have come to the same entity."""
    joins = [*one.joins, *other.joins]
    return not called(one.reached, joins).isdisjoint(called(other.reached, joins))


def shortest(one: Walk, other: Walk, start: str, end: str) -> tuple[str, ...] | None:
    """Return the ids of a shortest chain between two names, among what two walks have taken.

    Of several chains the one whose ids come first; ``None`` when there is none.
    """
    steps = sorted({step for walk in (one, other) for step, _ in walk.steps})
    entity = _entities([*one.joins, *other.joins])
    ways: dict[str, list[tuple[str, str]]] = {}
    for step in steps:
        ends = [entity.get(key, key) for key in (step.subject, step.object)]
        for here, there in (ends, ends[::-1]):
            ways.setdefault(here, []).append((step.id, there))
    here, goal = (entity.get(key, key) for key in (start, end))
    far = _distances(goal, ways)
    chain: list[str] = []
    while here != goal:
        if here not in far:
            return None
        # Ways are in the order of ids: the first that leads nearer is the one that comes first.
        step_id, here = next(way for way in ways[here] if far.get(way[1]) == far[here] - 1)
        chain.append(step_id)
    return tuple(chain)


def _distances(goal: str, ways: Mapping[str, Sequence[tuple[str, str]]]) -> dict[str, int]:
    far = {goal: 0}
    edge = [goal]
    while edge:
        there = [other for key in edge for _, other in ways.get(key, ())]
        new = [key for key in dict.fromkeys(there) if key not in far]
        far |= dict.fromkeys(new, far[edge[0]] + 1)
        edge = new
    return far


class Said(NamedTuple):
    """How often a name stands in facts in one spelling.

    Attributes:
        key: The name's digest.
        text: The spelling.
        facts: Facts that have it as subject or object, those that join names aside.
        named: Alias facts that have it as subject: whose names they tell.
    """

    key: str
    text: str
    facts: int
    named: int


def entities_of(
    keys: Sequence[str],
    joins: Sequence[Joined],
    said: Iterable[Said],
    both: Mapping[Joined, int],
    limit: int,
) -> tuple[Entity, ...]:
    """Return the entities that names name, in the order in which they do.

    Args:
        keys: The names that were asked for.
        joins: The alias facts around them.
        said: How often they, and what these join to them, stand in facts.
        both: How many facts have two of these names, by subject and object; each counts once.
        limit: The most entities.
    """
    by_key: dict[str, list[Said]] = {}
    for one in said:
        by_key.setdefault(one.key, []).append(one)
    found: list[Entity] = []
    done: set[str] = set()
    for key in keys:
        if key in done:
            continue
        names = called([key], joins)
        done |= names
        spellings = [one for name in sorted(names) for one in by_key.get(name, ())]
        if spellings and len(found) < limit:
            twice = sum(both.get((a, b), 0) for a in names for b in names if a != b)
            found.append(_entity(spellings, twice))
    return tuple(found)


def _entity(spellings: Sequence[Said], twice: int) -> Entity:
    ranked = sorted(spellings, key=lambda one: (-one.facts, -one.named, one.text))
    uses: Counter[str] = Counter()
    text: dict[str, str] = {}
    for one in ranked:
        uses[one.key] += one.facts
        text.setdefault(one.key, one.text)
    name = text.pop(ranked[0].key)
    aliases = sorted(text, key=lambda key: (-uses[key], text[key]))
    return Entity(
        name=name,
        aliases=tuple(text[key] for key in aliases),
        facts=uses.total() - twice,
    )


def _neighbours(joins: Iterable[Joined]) -> dict[str, set[str]]:
    beside: dict[str, set[str]] = {}
    for one, other in joins:
        beside.setdefault(one, set()).add(other)
        beside.setdefault(other, set()).add(one)
    return beside


def _entities(joins: Iterable[Joined]) -> dict[str, str]:
    """Return by name the one that stands for all that are joined to it."""
    beside = _neighbours(joins)
    found: dict[str, str] = {}
    for key in sorted(beside):
        edge = set() if key in found else {key}
        while edge:
            found |= dict.fromkeys(edge, key)
            edge = {other for one in edge for other in beside[one]} - found.keys()
    return found

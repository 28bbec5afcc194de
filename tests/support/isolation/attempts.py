"""Attempts: calls of the ports that must neither show nor change what is not the caller's."""

from __future__ import annotations

import itertools
import reprlib
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from random import Random
from typing import Any

from tiers.records import ALL_TOPICS, Scope

from .aims import BOUNDARIES, Aim, aimed
from .oracle import Reach
from .worlds import LATER, SEARCHABLE, Corner, House, Planted, PlantedKind, World

Call = Callable[[Any], Awaitable[object]]
"""What is called, on the target's ports."""

FORGED = "forged owner"
INJECTED = "injection"
_MISSES_MAX = 4
_SHORT = reprlib.Repr()  # Python 3.11 takes its limits one by one
_SHORT.maxdict, _SHORT.maxtuple, _SHORT.maxstring, _SHORT.maxother = 12, 4, 60, 80
HOSTILE_SHARE = 0.25
"""How many of the attempts carry syntax in their strings."""


@dataclass(frozen=True)
class Touch:
    """What an attempt may change.

    Everything new, and whatever is no record, in the house (of the agent, if one is named). A
    record that was there before only if ``record_id`` names it.

    Attributes:
        tenant: Of the house.
        graph_id: Of the house; ``None``: any house of the tenant.
        agent_id: Only what belongs to this agent.
        record_id: The record that was there and may change; in ``table`` only, if that is given.
        table: All of whose records that were there may change, if no ``record_id`` is given.
    """

    tenant: str
    graph_id: str | None
    agent_id: str | None = None
    record_id: str | None = None
    table: str | None = None


@dataclass(frozen=True)
class Move:
    """A call, and what it may change.

    Attributes:
        call: What is done.
        touches: What it may change.
        label: The class of attack, where it is not the boundary that is attacked.
        scope: Who really asks, where it is not the aim's scope.
    """

    call: Call
    touches: tuple[Touch, ...] = ()
    label: str = ""
    scope: Scope | None = None


@dataclass(frozen=True)
class Method:
    """A method of a port under attack.

    Attributes:
        name: ``<port>.<method>``.
        reach: How far its answer may go.
        make: Makes a call of it, or says that this aim is nothing for it.
        kinds: What the victim may be.
        boundaries: What may stand between attacker and victim.
        weight: How often it is drawn, compared with others.
    """

    name: str
    reach: Reach
    make: Callable[[Aim], Move | None]
    kinds: Sequence[str] = SEARCHABLE
    boundaries: Sequence[str] = BOUNDARIES
    weight: int = 1


@dataclass(frozen=True)
class Attempt:
    """One call by one attacker."""

    number: int
    label: str
    method: Method
    aim: Aim
    scope: Scope
    call: Call
    touches: tuple[Touch, ...]

    def __str__(self) -> str:
        victim = self.aim.victim
        return (
            f"#{self.number} {self.method.name} ({self.label}) by {shortly(self.scope)}"
            f" after {victim.kind} {victim.id} of {shortly(victim.corner)}"
        )


def of_its_graph(aim: Aim) -> Scope:
    """Return the scope of the attacker's whole graph."""
    return Scope.of_graph(*aim.house)


def asking(
    name: str,
    reach: Reach,
    kinds: Sequence[str],
    boundaries: Sequence[str],
    *asked: object,
    weight: int = 1,
    by: Callable[[Aim], Scope] = attrgetter("scope"),
    adds: bool = False,
    **named: object,
) -> Method:
    """Return a method that is called for a scope or, if it reaches as far, for a tenant.

    It is not where a list that is asked for has nothing in it.

    Args:
        name: As all up to the boundaries and the weight, of a ``Method``.
        reach: How far its answer may go.
        kinds: What the victim may be.
        boundaries: What may stand between attacker and victim.
        asked: What follows whose it is: values, or functions of the aim.
        weight: How often it is drawn.
        by: Who asks.
        adds: Whether the call may add to the graph of who asks.
        named: Likewise what is given by name.
    """
    port, called = name.split(".")

    def make(aim: Aim) -> Move | None:
        scope = by(aim)
        owner = scope.tenant if reach is Reach.TENANT else scope
        values = [given(one, aim) for one in asked]
        more = {field: given(one, aim) for field, one in named.items()}
        if [] in values:
            return None
        return Move(
            lambda ports: getattr(getattr(ports, port), called)(owner, *values, **more),
            graph_of(scope) if adds else (),
            scope=scope,
        )

    return Method(name, reach, make, kinds, boundaries, weight)


def given(one: object, aim: Aim) -> object:
    """Return a value, or what a function makes of the aim."""
    return one(aim) if callable(one) else one


of_graph = partial(asking, by=of_its_graph)
"""The same for the attacker's whole graph."""


def text(plain: str) -> Callable[[Aim], object]:
    """Return what chooses between a text and syntax."""
    return lambda aim: aim.word(plain)


def victims_id(aim: Aim) -> str:
    """Return the victim's id, or syntax."""
    return aim.word(aim.victim.id)


def one_of(*choices: object) -> Callable[[Aim], object]:
    """Return what chooses among values, and functions of the aim."""
    return lambda aim: aim.random.choice([given(one, aim) for one in choices])


def shortly(one: Scope | Corner) -> str:
    """Return a scope or an owner in a form that fits a report."""
    fields = one.model_dump(exclude_defaults=True) if isinstance(one, Scope) else vars(one)
    return _SHORT.repr(fields)


def drawn(
    world: World, methods: Sequence[Method], count: int, seed: int, batch: int
) -> Iterator[list[Attempt]]:
    """Yield batches of attempts, each by attackers of one house, ``count`` in all.

    Every method has its turn before any has a second one. The same numbers give the same
    attempts in the same world.

    Args:
        world: What is attacked.
        methods: By which calls.
        count: How many attempts.
        seed: Chooses among all that is possible.
        batch: The most attempts in one batch.
    """
    random = Random(seed)
    deck = [method for method in methods for _ in range(method.weight)]
    left: list[Method] = []
    made = idle = 0
    for house in itertools.cycle(world.houses):
        attempts: list[Attempt] = []
        misses = 0
        while len(attempts) < min(batch, count - made) and misses < _MISSES_MAX * len(deck):
            left = left or random.sample(deck, len(deck))
            attempt = _attempt(world, random, house, left.pop(), made + len(attempts))
            if attempt is None:
                misses += 1  # this house has no victim for it, or not this time
            else:
                attempts.append(attempt)
        made += len(attempts)
        idle = 0 if attempts else idle + 1
        if attempts:
            yield attempts
        if made == count or idle == len(world.houses):
            return


def _attempt(
    world: World, random: Random, house: House, method: Method, number: int
) -> Attempt | None:
    for boundary in random.sample(list(method.boundaries), len(method.boundaries)):
        hostile = random.random() < HOSTILE_SHARE
        aim = aimed(world, random, house, boundary, method.reach, method.kinds, is_hostile=hostile)
        move = None if aim is None else method.make(aim)
        if aim is not None and move is not None:
            label = move.label or (INJECTED if hostile else boundary)
            scope = move.scope or aim.scope
            return Attempt(number, label, method, aim, scope, move.call, move.touches)
    return None


def answers(found: Any) -> tuple[Any, ...]:
    """Return what a call gave that is no tuple by itself: a careless engine gives several."""
    return found if isinstance(found, tuple) else (found,)


def graph_of(scope: Scope) -> tuple[Touch, ...]:
    """Return the right to add to the scope's graph."""
    return (Touch(scope.tenant, scope.graph_id),)


def own(
    aim: Aim, kind: PlantedKind, record_id: str, mark: str, scope: Scope | None = None
) -> Planted:
    """Note a record that the attacker writes for itself, and return it."""
    writer = scope or aim.scope
    corner = Corner(
        writer.tenant,
        writer.graph_id,
        writer.agent_id or "",
        writer.user_id,
        _writable_topics(writer),
        private=writer.agent_id is not None and aim.random.random() < 0.3,
    )
    return aim.world.note(Planted(kind, corner, mark, record_id, LATER))


def also_of(aim: Aim, planted: Planted, corner: Corner) -> None:
    """Note that what the attacker writes would be somebody else's, if a forgery went through."""
    aim.world.note(replace(planted, corner=corner))


def _writable_topics(scope: Scope) -> tuple[str, ...]:
    held = [one for one in scope.topics if one != ALL_TOPICS and one not in scope.denied]
    return tuple(held[:2])

"""Whom an attempt is made by, and whose records it is after."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Any, get_args

from tiers.records import ALL_TOPICS, Ancestor, Kind, Scope, SearchQuery

from .names import AGENTS, HOSTILE_NAMES, INJECTIONS, TOPICS, USERS, crowd_of_topics, lookalikes
from .oracle import Reach, permitted
from .worlds import LATER, SHARED_WORDS, Corner, House, Planted, World

OUTER = ("tenant", "graph", "lookalike", "lineage")
"""The victim is in another house."""

INNER = ("private", "user", "topic", "denied")
"""The victim is in the same house, and closed to the attacker."""

BOUNDARIES = (*OUTER, *INNER)
KINDS: tuple[Kind, ...] = get_args(Kind)
IDS_MAX = 24

_DRAWS = 40


@dataclass(frozen=True)
class Aim:
    """An attacker, a victim, and what the attacker makes its arguments of.

    Attributes:
        boundary: What stands between the two.
        scope: The attacker's; it must not see the victim.
        victim: A record that lies in the world.
        world: Where.
        random: Decides everything else.
        home: The house whose turn it is; a look-alike asks from another one.
        is_hostile: Whether strings are syntax of some engine.
    """

    boundary: str
    scope: Scope
    victim: Planted
    world: World
    random: Random
    home: House
    is_hostile: bool = False

    @property
    def is_inner(self) -> bool:
        """Whether both are in one house."""
        return self.victim.corner.house == self.house

    @property
    def house(self) -> House:
        """The attacker's."""
        return self.scope.tenant, self.scope.graph_id

    def word(self, plain: str = "zebra") -> str:
        """Return a string for an argument that may be any text."""
        return self.random.choice(INJECTIONS) if self.is_hostile else plain

    def name(self, plain: str = "zebra") -> str:
        """Return a string for an argument that is stored as a name."""
        return self.random.choice(HOSTILE_NAMES) if self.is_hostile else plain

    def text(self) -> str:
        """Return a question that the victim answers best, or that is syntax."""
        exact = self.victim.entry.text if self.victim.is_searchable else self.victim.mark
        return self.word(self.random.choice([exact, self.victim.mark, SHARED_WORDS, "zebra 18"]))

    def query(self, **fields: Any) -> SearchQuery:
        """Return a question with the victim's text or vector, or both."""
        known: dict[str, Any] = {
            "text": self.text(),
            "vector": self.random.choice([self.victim.vector, None]),
            "kinds": KINDS,
            "limit": 200,
            "now": LATER,
        }
        return SearchQuery(**{**known, **fields})

    def ids(self, *, ids_max: int = IDS_MAX) -> list[str]:
        """Return ids of the victim and of others beside it, some of them nonsense."""
        there = self.world.planted_in(self.victim.corner.house)
        beside = [one.id for one in there if one.id != self.victim.id]
        chosen = self.random.sample(beside, min(ids_max, len(beside)))
        more = [self.random.choice(INJECTIONS)] if self.is_hostile else []
        return [*more, self.victim.id, *chosen]

    def foreign_ids(self) -> list[str]:
        """Return those of ``ids`` that nothing in the attacker's own house has."""
        return [one for one in self.ids() if not self.world.holds(self.house, one)]


def aimed(
    world: World,
    random: Random,
    house: House,
    boundary: str,
    reach: Reach,
    kinds: Sequence[str],
    *,
    is_hostile: bool = False,
) -> Aim | None:
    """Return an attacker of a house and a victim that it must not see; ``None``: there is none.

    Args:
        world: Where both are.
        random: Chooses.
        house: Where the attacker is; look-alikes are in a house that is easily taken for another.
        boundary: What stands between them.
        reach: How far the answer may go.
        kinds: What the victim may be.
        is_hostile: Whether strings are to be syntax.
    """
    victims = [
        one
        for place in world.houses
        if _stands(boundary, house, place)
        for one in world.planted_in(place)
        if one.kind in kinds and _is_closed(boundary, one.corner)
    ]
    if boundary == "lineage" and random.random() < 0.5:
        # In the own tenant it is the ancestor itself that must hold back.
        victims = [one for one in victims if one.corner.tenant == house[0]] or victims
    for _ in range(_DRAWS if victims else 0):
        victim = random.choice(victims)
        scope = _SCOPES[boundary](random, world, house, victim.corner)
        if scope is not None and not permitted(reach, scope, victim):
            return Aim(boundary, scope, victim, world, random, house, is_hostile)
    return None


def _strong(random: Random, corner: Corner, house: House) -> Scope:
    """Return the victim's own scope, only in another house, as it is or with everything."""
    tenant, graph_id = house
    topics = random.choice([corner.topics, (ALL_TOPICS,)])
    every_user = ALL_TOPICS in topics and random.random() < 0.4
    return corner.scope(tenant=tenant, graph_id=graph_id, topics=topics, every_user=every_user)


def _elsewhere(random: Random, _world: World, house: House, corner: Corner) -> Scope:
    return _strong(random, corner, house)


def _lookalike(random: Random, world: World, _house: House, corner: Corner) -> Scope | None:
    tenant, graph_id = corner.house
    other = (
        (random.choice(lookalikes(tenant)), graph_id),
        (tenant, random.choice(lookalikes(graph_id))),
        (random.choice(HOSTILE_NAMES), random.choice(HOSTILE_NAMES)),
        # The same characters, cut elsewhere.
        ((f"{tenant}{graph_id}")[: len(tenant) + 1], (f"{tenant}{graph_id}")[len(tenant) + 1 :]),
    )[random.randrange(4)]
    if not all(other) or other in world.houses:
        return None
    try:
        return _strong(random, corner, other)
    except ValueError:
        return None


def _lineage(random: Random, _world: World, house: House, corner: Corner) -> Scope:
    scope = _strong(random, corner, house).model_copy(update={"every_user": False})
    early = LATER - timedelta(days=400)
    ancestor = Ancestor(
        graph_id=corner.graph_id,
        path=(corner.graph_id,),
        as_of=random.choice([None, early]),
        carries=random.choice([("rule", "episode", "fact", "document"), ("rule",), KINDS, ()]),
    )
    changes: dict[str, Any] = {"lineage": (ancestor,)}
    if random.random() < 0.3:
        changes["user_id"] = _another(random, USERS, corner.user_id)
    return scope.model_copy(update=changes)


def _outsider(random: Random, _world: World, _house: House, corner: Corner) -> Scope:
    agent = random.choice([_another(random, AGENTS, corner.agent_id), None])
    return corner.scope(agent_id=agent, topics=random.choice([corner.topics, (ALL_TOPICS,)]))


def _other_user(random: Random, _world: World, _house: House, corner: Corner) -> Scope:
    user = random.choice([_another(random, USERS, corner.user_id), None])
    return corner.scope(user_id=user, topics=random.choice([corner.topics, (ALL_TOPICS,)]))


def _other_topics(random: Random, _world: World, _house: House, corner: Corner) -> Scope:
    topic = random.choice(corner.topics or TOPICS)
    crowd = crowd_of_topics(topic)
    held = random.choice([(), (random.choice(crowd),), crowd, (random.choice(TOPICS),)])
    return corner.scope(topics=held)


def _denied(random: Random, _world: World, _house: House, corner: Corner) -> Scope:
    topic = random.choice(corner.topics or TOPICS)
    crowd = crowd_of_topics(topic)[:-1]
    denied = random.choice([(topic,), (topic, *crowd), corner.topics])
    return corner.scope(topics=random.choice([(ALL_TOPICS,), corner.topics]), denied=denied)


def _another(random: Random, pool: Sequence[str], name: str | None) -> str:
    alike = lookalikes(name) if name else ()
    return random.choice([one for one in (*pool, *alike[:12]) if one != name])


def _stands(boundary: str, house: House, place: House) -> bool:
    """Whether a boundary can be between an attacker of a house and a victim in a place."""
    if boundary in INNER:
        return place == house
    if boundary == "tenant":
        return place[0] != house[0]
    return boundary == "lookalike" or (
        place != house and (boundary == "lineage" or place[0] == house[0])
    )


def _is_closed(boundary: str, corner: Corner) -> bool:
    """Whether an owner's records can be closed to somebody by the boundary."""
    closed = {
        "private": corner.private,
        "user": corner.user_id is not None,
        "topic": bool(corner.topics),
        "denied": bool(corner.topics),
    }
    return closed.get(boundary, True)


_SCOPES: dict[str, Callable[[Random, World, House, Corner], Scope | None]] = {
    "tenant": _elsewhere,
    "graph": _elsewhere,
    "lookalike": _lookalike,
    "lineage": _lineage,
    "private": _outsider,
    "user": _other_user,
    "topic": _other_topics,
    "denied": _denied,
}

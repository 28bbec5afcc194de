"""Random session graphs that inherit from each other, made in a cold store and told as plain data.

A world takes one step a minute, so that no two things happen at one moment, while the moments as
of which graphs are read fall on any of them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random

from tiers.fleet import CATALOG
from tiers.records import ALL_TOPICS, Fact, FactTier, Parent, Rule, Scope, SessionGraph

from .cold_backends import Cold
from .cold_samples import IDS
from .tier_samples import NOW

WORD = "pitstop"
"""What every rule is about."""

TOPICS = ("fuel", "tyres", "wind")
USERS = (None, None, None, "ada", "adam")
AGENTS = ("engineer", "strategist")
KEYS = (("car", "tyre"), ("car", "wing"), ("driver", "pace"))
NEAR = 4
"""Of how many graphs one is chosen to inherit from: few, so that chains get long."""


@dataclass
class Link:
    """A link of a graph to a parent, from when it was made; it may have been revoked since."""

    parent: str
    made: int
    as_of: int | None = None
    carries: frozenset[str] = frozenset()
    revoked: bool = False


@dataclass
class Told:
    """A fact or a rule, and what became of it: when it was core, superseded and redacted."""

    id: str
    graph: str
    agent: str
    user: str | None
    topics: frozenset[str]
    private: bool
    recorded: int
    key: tuple[str, str] | None = None
    core: list[tuple[int, int | None]] = field(default_factory=list)
    superseded: int | None = None
    redacted: bool = False


@dataclass(frozen=True)
class Reader:
    """Who asks."""

    graph: str
    agent: str
    user: str | None
    topics: frozenset[str]
    denied: frozenset[str]


@dataclass(frozen=True)
class Way:
    """How a graph is read: over which graphs, as of when, and what comes besides core facts."""

    path: tuple[str, ...]
    moment: int | None
    carries: frozenset[str]


@dataclass
class World:
    """What there is in one tenant. Lists are in the order in which things came."""

    links: dict[str, list[Link]] = field(default_factory=dict)
    facts: list[Told] = field(default_factory=list)
    rules: list[Told] = field(default_factory=list)

    @property
    def has_catalog(self) -> bool:
        """Whether the tenant has a catalog."""
        return CATALOG in self.links


def minute(number: int) -> datetime:
    """Return the moment of a step."""
    return NOW + timedelta(minutes=number)


def number(moment: datetime | None) -> int | None:
    """Return the step of a moment."""
    return None if moment is None else round((moment - NOW) / timedelta(minutes=1))


class WorldMaker:
    """Makes a world in a store, step by step, and tells what it did.

    Args:
        cold: The store.
        tenant: Whose world; each has one of its own.
        draw: Decides everything.
    """

    def __init__(self, cold: Cold, tenant: str, draw: Random) -> None:
        self.world = World()
        self._cold = cold
        self._tenant = tenant
        self._draw = draw
        self._now = 0
        self._ranks: dict[str, float] = {}
        """A graph inherits from those of higher rank only, made before or after it."""
        self._turned = [0]
        """Moments at which something changed, which are as good as any to look back at."""

    async def make(self, graphs: int, steps: int) -> World:
        """Return a world of so many graphs after so many steps."""
        await self._graph("g0")
        others = [self._step] * steps + [self._next_graph] * (graphs - 1)
        self._draw.shuffle(others)
        if self._draw.random() < 0.5:
            others.insert(self._draw.randrange(len(others) + 1), self._catalog)
        for act in others:
            self._now += 1
            await act()
        return self.world

    def reader(self) -> Reader:
        """Return somebody who asks somewhere, more often in a graph that inherits from many."""
        some = self._draw.choices(list(self.world.links), k=2)
        return Reader(
            graph=min(some, key=lambda name: self._ranks.get(name, 0.0)),
            agent=self._draw.choice(AGENTS),
            user=self._draw.choice(USERS),
            topics=self._draw.choice([frozenset({ALL_TOPICS}), frozenset(TOPICS), self._topics(3)]),
            denied=self._draw.choice([frozenset(), frozenset(), self._topics(1)]),
        )

    def scope(self, reader: Reader) -> Scope:
        """Return the reader's scope, without a lineage."""
        return Scope(
            tenant=self._tenant,
            graph_id=reader.graph,
            agent_id=reader.agent,
            user_id=reader.user,
            topics=tuple(reader.topics),
            denied=tuple(reader.denied),
        )

    async def _step(self) -> None:
        acts: list[tuple[int, Callable[[], Awaitable[None]]]] = [
            (3, self._link),
            (1, self._unlink),
            (8, self._fact),
            (6, self._move),
            (3, self._supersede),
            (1, self._redact),
            (3, self._rule),
        ]
        weights, choices = zip(*acts, strict=True)
        (act,) = self._draw.choices(choices, weights)
        await act()

    def _topics(self, most: int) -> frozenset[str]:
        return frozenset(self._draw.sample(TOPICS, self._draw.randint(0, most)))

    def _whole(self, graph: str) -> Scope:
        return Scope.of_graph(self._tenant, graph)

    async def _catalog(self) -> None:
        await self._graph(CATALOG)

    async def _next_graph(self) -> None:
        await self._graph(f"g{len(self._ranks)}")

    async def _graph(self, name: str) -> None:
        if name != CATALOG:
            self._ranks[name] = self._draw.random()
        above = self._above(name)
        chosen = self._draw.sample(above, min(len(above), self._draw.choice([0, 1, 1, 2, 3])))
        links = [self._new_link(parent) for parent in chosen]
        self.world.links[name] = links
        await self._cold.graphs.create_graph(
            SessionGraph(
                tenant=self._tenant,
                id=name,
                parents=tuple(_parent(link) for link in links),
                created_at=minute(self._now),
            )
        )

    def _above(self, name: str) -> list[str]:
        """Return a few graphs from which one may inherit and does not yet."""
        linked = {link.parent for link in self.world.links.get(name, ()) if not link.revoked}
        rank = self._ranks.get(name, 1.0)
        above = [one for one, its in self._ranks.items() if its > rank and one not in linked]
        return sorted(above, key=self._ranks.__getitem__)[:NEAR]

    def _new_link(self, parent: str) -> Link:
        turned = self._draw.choice(self._turned[-NEAR:])
        any_moment = self._draw.randint(0, self._now + 10)
        as_of = self._draw.choice([None, None, None, turned, turned, any_moment])
        carries = {
            kind
            for kind, share in (("rule", 0.75), ("episode", 0.4))
            if self._draw.random() < share
        }
        return Link(parent, self._now, as_of, frozenset(carries))

    async def _link(self) -> None:
        child = self._draw.choice(list(self._ranks))
        above = self._above(child)
        if above:
            link = self._new_link(self._draw.choice(above))
            self.world.links[child].append(link)
            self._turned.append(self._now)
            await self._cold.graphs.link(self._whole(child), _parent(link))

    async def _unlink(self) -> None:
        held = [(one, link) for one, links in self.world.links.items() for link in links]
        live = [(child, link) for child, link in held if not link.revoked]
        if live:
            child, link = self._draw.choice(live)
            link.revoked = True
            assert await self._cold.graphs.unlink(self._whole(child), link.parent)

    def _told(self, *, key: tuple[str, str] | None = None) -> Told:
        return Told(
            id=IDS.new(),
            graph=self._place(),
            agent=self._draw.choice(AGENTS),
            user=self._draw.choice(USERS),
            topics=self._topics(2),
            private=self._draw.random() < 0.2,
            recorded=self._now,
            key=key,
        )

    def _place(self) -> str:
        """Return a graph to write in, more often one from which others inherit."""
        some = self._draw.choices(list(self.world.links), k=2)
        return max(some, key=lambda name: self._ranks.get(name, 1.0))

    def _writer(self, told: Told) -> Scope:
        whole = self._whole(told.graph).for_agent(told.agent)
        return whole.model_copy(update={"user_id": told.user})

    async def _fact(self) -> None:
        told = self._told(key=self._draw.choice([None, *KEYS]))
        subject, predicate = told.key or (None, None)
        fact = Fact(
            text=f"statement {told.id}",
            subject=subject,
            predicate=predicate,
            topics=tuple(told.topics),
            private=told.private,
            tier=self._draw.choice(["archival", "core", "core"]),
        ).stamped(self._writer(told), told.id, minute(self._now))
        await self._cold.semantic.put_fact(self._writer(told), fact)
        told.core = [(self._now, None)] if fact.tier == "core" else []
        self.world.facts.append(told)

    def _current(self) -> list[Told]:
        return [one for one in self.world.facts if one.superseded is None and not one.redacted]

    async def _move(self) -> None:
        if not self._current():
            return
        told = self._draw.choice(self._current())
        scope = self._writer(told)
        (fact,) = await self._cold.semantic.facts(scope, [told.id])
        tier: FactTier = "archival" if fact.tier == "core" else "core"
        now = minute(self._now)
        assert await self._cold.semantic.set_tier(scope, fact, tier, "as it came", now)
        self._turned.append(self._now)
        if tier == "core":
            told.core.append((self._now, None))
        else:
            told.core[-1] = (told.core[-1][0], self._now)

    async def _supersede(self) -> None:
        pairs = [
            (old, new)
            for old in self._current()
            for new in self._current()
            if old is not new
            and old.graph == new.graph
            and old.agent == new.agent
            and (old.private or not new.private)
        ]
        if pairs:
            old, new = self._draw.choice(pairs)
            now = minute(self._now)
            assert await self._cold.semantic.supersede(self._writer(old), old.id, new.id, now)
            old.superseded = self._now
            self._turned.append(self._now)

    async def _redact(self) -> None:
        left = [one for one in self.world.facts + self.world.rules if not one.redacted]
        if left:
            told = self._draw.choice(left)
            now = minute(self._now)
            await self._cold.redactor.redact(self._whole(told.graph), [told.id], "asked to", now)
            told.redacted = True

    async def _rule(self) -> None:
        told = self._told()
        rule = Rule(
            trigger=WORD,
            steps=(f"step {told.id}",),
            topics=tuple(told.topics),
            private=told.private,
        ).stamped(self._writer(told), told.id, minute(self._now))
        await self._cold.procedural.put_rule(self._writer(told), rule)
        self.world.rules.append(told)


def _parent(link: Link) -> Parent:
    return Parent(
        id=link.parent,
        as_of=None if link.as_of is None else minute(link.as_of),
        rules="rule" in link.carries,
        episodes="episode" in link.carries,
        linked_at=minute(link.made),
    )

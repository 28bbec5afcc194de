"""The knowledge graph from the words of its port alone: plain lists of facts, walked in breadth.

And random worlds of facts to compare the engines with: of several graphs, agents, users and topics,
private ones, facts that ended, and names that others join.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

from tiers.records import ALL_TOPICS, Fact, Scope, Span

from .cold_samples import fact_by, heir_of
from .tier_samples import NOW, scope_of

MINUTE = timedelta(minutes=1)
NAMES = ("Ann", "Bo", "Cy", "Dee", "Ed Fox", "Flo", "Gus", "Hub")
SPELT = (str, str.upper, lambda name: f" {name.replace(' ', '_')} ", lambda name: f"{name}\u200a")


def one_spelling(name: str) -> str:
    """Return a name as names are compared."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().replace("_", " ").split())


def world_of(random: Random, count: int = 60) -> list[Fact]:
    """Return facts of two graphs, with ends at moments of an hour, every sixth a name."""
    facts = []
    for number in range(count):
        graph = random.choice(["race", "race", "race", "monza"])
        scope = scope_of("acme", graph, random.choice(["strategist", "engineer"]))
        user = random.choice([None, None, "ann", "bob"])
        subject, other = (random.choice(SPELT)(name) for name in random.sample(NAMES, 2))
        is_name = number % 6 == 0
        fact = fact_by(
            scope,
            "",
            subject=subject,
            predicate="alias" if is_name else f"says {number}",
            object=f"{subject.strip().lower()} jr {number % 2}" if is_name else other,
            topics=random.choice([(), ("tyres",), ("weather",), ("tyres", "weather")]),
            private=random.random() < 0.15,
            tier=random.choice(["core", "archival"]),
            minute=random.randrange(60),
        )
        facts.append(_ended(fact.model_copy(update={"user_id": user}), random))
    return facts


def _ended(fact: Fact, random: Random) -> Fact:
    """Return a fact with its core span, and with an end of some kind, or with none."""
    end = fact.recorded_at + random.randrange(1, 30) * MINUTE
    way = random.choice(["lives"] * 6 + ["superseded", "forgotten", "redacted"])
    changes: dict[str, object] = {}
    if way == "superseded":
        changes = {"superseded_by": "another", "superseded_at": end, "superseded_as": "natural"}
    elif way == "forgotten":
        changes = {"forgotten_at": end}
    elif way == "redacted":
        changes = {"redacted_at": end}
    if fact.tier == "core":
        over = end if way in {"superseded", "forgotten"} else None
        changes["core_spans"] = (Span(since=fact.recorded_at, until=over),)
    return fact.model_copy(update=changes)


def askers() -> Sequence[Scope]:
    """Return who asks: agents of topics and users, the runtime, and heirs of the other graph."""
    agent = scope_of("acme", "race", "strategist", topics=("tyres",), user_id="ann")
    carried = {"scope": agent, "carries": ("fact",)}
    return (
        agent,
        scope_of("acme", "race", "engineer", topics=(ALL_TOPICS,), denied=("weather",)),
        Scope.of_graph("acme", "race"),
        heir_of("monza", scope=agent),
        heir_of("monza", **carried),
        heir_of("monza", as_of=NOW + 30 * MINUTE, **carried),
        heir_of("monza", scope=agent, as_of=NOW + 30 * MINUTE),
    )


@dataclass(frozen=True)
class Reference:
    """The facts that somebody sees to stand, and what hangs together by them."""

    facts: Sequence[Fact]

    @classmethod
    def seen(cls, facts: Iterable[Fact], scope: Scope, as_of: datetime | None) -> Reference:
        """Return what a scope sees of all facts, now or at a moment."""
        return cls([one for one in facts if _sees(scope, one) and _stands(scope, one, as_of)])

    def same(self, name: str) -> frozenset[str]:
        """Return every name of what a name stands for."""
        found = {one_spelling(name)}
        for _ in self.facts:
            found |= {end for fact in self._names() if found & _ends(fact) for end in _ends(fact)}
        return frozenset(found)

    def _names(self) -> list[Fact]:
        return [fact for fact in self.facts if one_spelling(fact.predicate or "") == "alias"]

    def _told(self) -> list[Fact]:
        return [fact for fact in self.facts if fact not in self._names()]

    def count(self, name: str) -> int:
        """Return how many facts name what a name stands for."""
        return sum(bool(self.same(name) & _ends(fact)) for fact in self._told())

    def spelling(self, name: str) -> str | None:
        """Return the most used spelling of what a name stands for, if a fact tells of it."""
        uses: Counter[str] = Counter()
        for fact in self._told():
            for text in {one_spelling(t): t for t in (fact.object, fact.subject) if t}.values():
                uses[text] += one_spelling(text) in self.same(name)
        return min((-n, text) for text, n in uses.items())[1] if uses.total() else None

    def near(self, names: Iterable[str], depth: int) -> list[tuple[int, str]]:
        """Return distance and id of the facts near names, in order."""
        here = {end for name in names for end in self.same(name)}
        found: dict[str, int] = {}
        for distance in range(1, depth + 1):
            there = [f for f in self._told() if here & _ends(f) and f.id not in found]
            found |= {fact.id: distance for fact in there}
            here = {name for fact in there for end in _ends(fact) for name in self.same(end)}
        return sorted((distance, fact_id) for fact_id, distance in found.items())

    def way(self, start: str, end: str, depth: int) -> list[str] | None:
        """Return the ids of the first of the shortest chains between two names."""
        best: dict[frozenset[str], list[str]] = {self.same(start): []}
        edge = dict(best)
        for _ in range(depth):
            further: dict[frozenset[str], list[str]] = {}
            for here, chain in edge.items():
                for fact in self._told():
                    for one in _ends(fact) if here & _ends(fact) else ():
                        there, longer = self.same(one), [*chain, fact.id]
                        if there not in best and longer < further.get(there, ["~"]):
                            further[there] = longer
            best |= further
            edge = further
        return best.get(self.same(end))


def _ends(fact: Fact) -> set[str]:
    return {one_spelling(fact.subject or ""), one_spelling(fact.object or "")}


def _sees(scope: Scope, fact: Fact) -> bool:
    topics = set(fact.topics)
    return (
        (not topics or ALL_TOPICS in scope.topics or bool(topics & set(scope.topics)))
        and not topics & set(scope.denied)
        and (scope.every_user or fact.user_id in {None, scope.user_id})
        and (not fact.private or (fact.agent_id, fact.graph_id) == (scope.agent_id, scope.graph_id))
    )


def _stands(scope: Scope, fact: Fact, as_of: datetime | None) -> bool:
    moments, is_open = [as_of] if as_of else [], True
    if fact.graph_id != scope.graph_id:
        link = next((one for one in scope.lineage if one.graph_id == fact.graph_id), None)
        if link is None or fact.forgotten_at is not None:
            return False
        moments += [link.as_of] if link.as_of else []
        is_open = "fact" in link.carries
    moment = min(moments, default=None)
    if fact.redacted_at is not None or (moment is not None and fact.recorded_at > moment):
        return False
    ends = [end for end in (fact.superseded_at, fact.forgotten_at) if end is not None]
    is_over = any(moment is None or end <= moment for end in ends)
    return not is_over and (is_open or fact.tier == "core")

"""Which core facts an agent sees where several graphs define the same thing, or deny it.

What is nearer hides what is further away: of one (subject, predicate) the nearest definition is
seen, and what the judge would retire in one graph, because a later statement denies it or says that
it is over, is not seen where a nearer graph has that statement. Nothing is changed in the graph
that is further away.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import TYPE_CHECKING

from metaagents.learning.predicates import is_multi_valued
from metaagents.learning.regexes import compiled
from metaagents.learning.weighing import would_give_way
from tiers.ids import Clock
from tiers.learning import fact_key, may_end_another, said_order, telling_terms
from tiers.records import Fact, Hit, Scope

if TYPE_CHECKING:
    from tiers.cold.stores import SemanticStore

    from ..recaller import Degradation


COMPARED_MAX = 256
"""So many pairs of facts are compared to tell what one ends of the other."""


@dataclass(frozen=True)
class CoreFacts:
    """Core facts an agent sees, and those that something nearer hides."""

    visible: tuple[Fact, ...] = ()
    shadowed: tuple[Fact, ...] = ()


async def core_seen(
    semantic: SemanticStore, scope: Scope, clock: Clock, moment: datetime | None = None
) -> CoreFacts:
    """Return the core facts that a scope sees, and those it does not.

    Args:
        semantic: Where facts are.
        scope: Who reads.
        clock: Tells which definitions hold now.
        moment: Which held then, and how the own graph was then; ``None``: now.
    """
    core = await semantic.core(scope, moment)
    if not scope.lineage:
        return CoreFacts(core)
    nearer = await semantic.nearer(scope, core, moment)
    return await nearest_core(scope, core, nearer, now=moment or clock())


async def nearest_core(
    scope: Scope, core: Sequence[Fact], nearer: Sequence[Fact], *, now: datetime
) -> CoreFacts:
    """Return what ``resolve_core`` does, without what a nearer fact ends besides.

    Args:
        scope: Who reads.
        core: The core facts.
        nearer: As ``SemanticStore.nearer`` returns them for these.
        now: The moment at which facts hold.
    """
    over = await _ended_among(scope, core, (*core, *nearer), now)
    return resolve_core(scope, core, nearer, over, now=now)


async def unhidden(
    semantic: SemanticStore, scope: Scope, hits: Sequence[Hit], clock: Clock, state: Degradation
) -> tuple[Hit, ...]:
    """Return hits without the facts of ancestors that something nearer hides now.

    While the cold tier is away all are returned, and ``state`` says so.
    """
    far = [hit.id for hit in hits if hit.kind == "fact" and hit.graph_id != scope.graph_id]
    if not far:
        return tuple(hits)

    async def hidden() -> frozenset[str]:
        return await hidden_among(semantic, scope, await semantic.facts(scope, far), clock)

    gone = await state.answer("cold", "definitions", hidden(), frozenset())
    return tuple(hit for hit in hits if hit.id not in gone)


async def hidden_among(
    semantic: SemanticStore,
    scope: Scope,
    facts: Sequence[Fact],
    clock: Clock,
    moment: datetime | None = None,
) -> frozenset[str]:
    """Return the ids of facts of ancestors, core and archival, that something nearer hides.

    An archival one is hidden where its predicate has one object at a time; a core one as
    ``resolve_core`` says; either where a nearer fact ends it.

    Args:
        semantic: Where facts are.
        scope: Who reads.
        facts: Of any graph of the family.
        clock: Tells which definitions hold now.
        moment: Which held then; ``None``: now.
    """
    far = [one for one in facts if one.graph_id != scope.graph_id]
    if not far:
        return frozenset()
    core = await semantic.core(scope, moment)
    nearer = await semantic.nearer(scope, far, moment)
    single = [one for one in (*core, *nearer) if not is_multi_valued(one.predicate or "")]
    now, distance = moment or clock(), _distances(scope)
    by_one, by_core = _nearest(single, distance, now), _nearest(core, distance, now)
    hidden = set(await _ended_among(scope, far, (*core, *nearer), now))
    for fact in filter(fact_key, far):
        key, at = fact_key(fact), distance[fact.graph_id]
        nearest = by_one.get(key, at)
        if fact.tier == "core":
            nearest = min(nearest, by_core.get(key, at))
        if nearest < at:
            hidden.add(fact.id)
    return frozenset(hidden)


async def _ended_among(
    scope: Scope, facts: Sequence[Fact], nearer: Sequence[Fact], now: datetime
) -> frozenset[str]:
    """Return the ids of facts that one of a nearer graph ends, as the judge would have it.

    They are compared in a thread: to read a text for the first time takes milliseconds.
    """
    pairs = _to_compare(scope, facts, nearer, now)
    if not pairs:
        return frozenset()
    await compiled()
    return await asyncio.to_thread(_given_way, pairs)


def _given_way(pairs: Sequence[tuple[Fact, Fact]]) -> frozenset[str]:
    return frozenset(far.id for far, near in pairs if would_give_way(far, near))


def _to_compare(
    scope: Scope, facts: Sequence[Fact], nearer: Sequence[Fact], now: datetime
) -> list[tuple[Fact, Fact]]:
    """Return facts, each with one of a nearer graph that may end it: what was said last first.

    They share half of what the shorter one says, and the nearer one has a word by which something
    is over. ``COMPARED_MAX`` pairs at most.
    """
    distance = _distances(scope)
    ending = sorted(
        (one for one in nearer if may_end_another(one) and _holds(one, now)),
        key=said_order,
        reverse=True,
    )
    if not ending:
        return []
    far = [(one, telling_terms(one)) for one in facts if distance[one.graph_id]]
    saying: dict[str, list[int]] = defaultdict(list)
    for place, (_, terms) in enumerate(far):
        for term in terms:
            saying[term].append(place)
    pairs: list[tuple[Fact, Fact]] = []
    for near in ending:
        said = telling_terms(near)
        for place, shared in Counter(chain(*(saying.get(one, ()) for one in said))).items():
            fact, terms = far[place]
            is_nearer = distance[near.graph_id] < distance[fact.graph_id]
            if is_nearer and 2 * shared >= min(len(said), len(terms)):
                pairs.append((fact, near))
    return [(_as_said(fact), _as_said(near)) for fact, near in pairs[:COMPARED_MAX]]


def _as_said(fact: Fact) -> Fact:
    """Return a fact without how often it was used, which changes with each turn."""
    return fact.model_copy(update={"uses": 0, "earned_from": 0, "last_used_at": None})


def resolve_core(
    scope: Scope,
    facts: Sequence[Fact],
    nearer: Sequence[Fact] = (),
    over: Collection[str] = (),
    *,
    now: datetime,
) -> CoreFacts:
    """Let the nearest graph's definition of a (subject, predicate) hide those further away.

    Args:
        scope: Who reads: the own graph is the nearest, then come those of the lineage in order.
        facts: The core facts.
        nearer: Archival facts, which are not seen here. They define, too: of a predicate that has
            one object at a time.
        over: The ids of those that a nearer fact ends.
        now: The moment at which definitions hold.

    Facts of one graph never hide each other, and a fact without subject and predicate hides
    nothing. Neither does what is over, or is only to hold from a later day.
    """
    if not scope.lineage:
        return CoreFacts(tuple(facts))
    distance = _distances(scope)
    defining = [*facts, *(one for one in nearer if not is_multi_valued(one.predicate or ""))]
    defined_at = _nearest(defining, distance, now)
    visible: list[Fact] = []
    shadowed: list[Fact] = []
    for fact in facts:
        key, at = fact_key(fact), distance[fact.graph_id]
        is_nearest = key is None or at <= defined_at.get(key, at)
        (visible if is_nearest and fact.id not in over else shadowed).append(fact)
    return CoreFacts(tuple(visible), tuple(shadowed))


def _distances(scope: Scope) -> dict[str, int]:
    """Return how far each graph of a family is; the own one is the nearest."""
    graphs = (scope.graph_id, *(one.graph_id for one in scope.lineage))
    return {one: at for at, one in enumerate(graphs)}


def _nearest(
    defining: Iterable[Fact], distance: Mapping[str, int], now: datetime
) -> dict[tuple[str, str] | None, int]:
    """Return how far the nearest definition is that holds, by what is defined."""
    found: dict[tuple[str, str] | None, int] = {}
    for fact in defining:
        key = fact_key(fact)
        if key is not None and _holds(fact, now):
            at = distance[fact.graph_id]
            found[key] = min(at, found.get(key, at))
    return found


def _holds(fact: Fact, now: datetime) -> bool:
    """Whether a fact is true at a moment, as far as it says from when until when it is."""
    has_begun = fact.valid_from is None or fact.valid_from <= now
    return has_begun and (fact.valid_to is None or now < fact.valid_to)

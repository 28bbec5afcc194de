"""Which core facts an agent sees where several graphs define the same thing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from metaagents.learning.predicates import is_multi_valued
from tiers.ids import Clock
from tiers.learning import fact_key
from tiers.records import Fact, Hit, Scope

if TYPE_CHECKING:
    from tiers.cold.stores import SemanticStore

    from ..recaller import Degradation


@dataclass(frozen=True)
class CoreFacts:
    """Core facts an agent sees, and those hidden behind a nearer definition."""

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
    return resolve_core(scope, core, nearer, now=moment or clock())


async def unhidden(
    semantic: SemanticStore, scope: Scope, hits: Sequence[Hit], clock: Clock, state: Degradation
) -> tuple[Hit, ...]:
    """Return hits without the facts of ancestors that a nearer definition hides now.

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
    """Return the ids of facts of ancestors, core and archival, that a nearer definition hides.

    An archival one is hidden where its predicate has one object at a time; a core one as
    ``resolve_core`` says.

    Args:
        semantic: Where facts are.
        scope: Who reads.
        facts: Of any graph of the family.
        clock: Tells which definitions hold now.
        moment: Which held then; ``None``: now.
    """
    defined = [one for one in facts if one.graph_id != scope.graph_id and fact_key(one)]
    if not defined:
        return frozenset()
    core = await semantic.core(scope, moment)
    nearer = await semantic.nearer(scope, defined, moment)
    single = [one for one in (*core, *nearer) if not is_multi_valued(one.predicate or "")]
    now, distance = moment or clock(), _distances(scope)
    by_one, by_core = _nearest(single, distance, now), _nearest(core, distance, now)
    hidden: set[str] = set()
    for fact in defined:
        key, at = fact_key(fact), distance[fact.graph_id]
        nearest = by_one.get(key, at)
        if fact.tier == "core":
            nearest = min(nearest, by_core.get(key, at))
        if nearest < at:
            hidden.add(fact.id)
    return frozenset(hidden)


def resolve_core(
    scope: Scope, facts: Sequence[Fact], nearer: Sequence[Fact] = (), *, now: datetime
) -> CoreFacts:
    """Let the nearest graph's definition of a (subject, predicate) hide those further away.

    Args:
        scope: Who reads: the own graph is the nearest, then come those of the lineage in order.
        facts: The core facts.
        nearer: Archival facts, which are not seen here. They define, too: of a predicate that has
            one object at a time.
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
        (visible if is_nearest else shadowed).append(fact)
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

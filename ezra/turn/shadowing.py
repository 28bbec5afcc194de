"""Which core facts an agent sees where several graphs define the same thing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from metaagents.learning.predicates import is_multi_valued
from tiers.ids import Clock
from tiers.learning import fact_key
from tiers.records import Fact, Scope

if TYPE_CHECKING:
    from tiers.cold.stores import SemanticStore


@dataclass(frozen=True)
class CoreFacts:
    """Core facts an agent sees, and those hidden behind a nearer definition."""

    visible: tuple[Fact, ...] = ()
    shadowed: tuple[Fact, ...] = ()


async def core_seen(
    semantic: SemanticStore, scope: Scope, clock: Clock, moment: datetime | None = None
) -> CoreFacts:
    """Return the core facts that a scope sees, and those it does not, as they are stored now.

    Args:
        semantic: Where facts are.
        scope: Who reads.
        clock: Tells which definitions hold now.
        moment: Which held then, and facts of the own graph that were recorded by then; ``None``:
            now.
    """

    def is_told(fact: Fact) -> bool:
        return moment is None or fact.graph_id != scope.graph_id or fact.recorded_at <= moment

    core = tuple(filter(is_told, await semantic.core(scope)))
    if not scope.lineage:
        return CoreFacts(core)
    nearer = tuple(filter(is_told, await semantic.nearer(scope, core)))
    return resolve_core(scope, core, nearer, now=moment or clock())


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
    graphs = (scope.graph_id, *(one.graph_id for one in scope.lineage))
    distance = {one: at for at, one in enumerate(graphs)}
    defined_at: dict[tuple[str, str], int] = {}
    defining = [*facts, *(one for one in nearer if not is_multi_valued(one.predicate or ""))]
    for fact in defining:
        key = fact_key(fact)
        if key is not None and _holds(fact, now):
            at = distance[fact.graph_id]
            defined_at[key] = min(at, defined_at.get(key, at))
    visible: list[Fact] = []
    shadowed: list[Fact] = []
    for fact in facts:
        key, at = fact_key(fact), distance[fact.graph_id]
        is_nearest = key is None or at <= defined_at.get(key, at)
        (visible if is_nearest else shadowed).append(fact)
    return CoreFacts(tuple(visible), tuple(shadowed))


def _holds(fact: Fact, now: datetime) -> bool:
    """Whether a fact is true at a moment, as far as it says from when until when it is."""
    has_begun = fact.valid_from is None or fact.valid_from <= now
    return has_begun and (fact.valid_to is None or now < fact.valid_to)

"""Which core facts an agent sees where several graphs define the same thing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from metaagents.learning.predicates import is_multi_valued
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
    semantic: SemanticStore, scope: Scope, moment: datetime | None = None
) -> CoreFacts:
    """Return the core facts that a scope sees, and those it does not, as they are stored now.

    Args:
        semantic: Where facts are.
        scope: Who reads.
        moment: Facts of the own graph count that were recorded by then; ``None``: all.
    """

    def is_told(fact: Fact) -> bool:
        return moment is None or fact.graph_id != scope.graph_id or fact.recorded_at <= moment

    core = await semantic.core(scope)
    nearer = await semantic.nearer(scope, core) if scope.lineage else ()
    return resolve_core(scope, [*filter(is_told, core)], [*filter(is_told, nearer)])


def resolve_core(scope: Scope, facts: Sequence[Fact], nearer: Sequence[Fact] = ()) -> CoreFacts:
    """Let the nearest graph's definition of a (subject, predicate) hide those further away.

    Args:
        scope: Who reads: the own graph is the nearest, then come those of the lineage in order.
        facts: The core facts.
        nearer: Archival facts, which are not seen here. They define, too: of a predicate that has
            one object at a time, and unless somebody said when it ended.

    Facts of one graph never hide each other, and a fact without subject and predicate hides
    nothing.
    """
    if not scope.lineage:
        return CoreFacts(tuple(facts))
    graphs = (scope.graph_id, *(one.graph_id for one in scope.lineage))
    distance = {one: at for at, one in enumerate(graphs)}
    defined_by: dict[tuple[str, str], str] = {}
    for fact in sorted((*facts, *filter(_defines, nearer)), key=lambda one: distance[one.graph_id]):
        key = fact_key(fact)
        if key is not None:
            defined_by.setdefault(key, fact.graph_id)
    visible: list[Fact] = []
    shadowed: list[Fact] = []
    for fact in facts:
        key = fact_key(fact)
        is_nearest = key is None or defined_by[key] == fact.graph_id
        (visible if is_nearest else shadowed).append(fact)
    return CoreFacts(tuple(visible), tuple(shadowed))


def _defines(fact: Fact) -> bool:
    return fact.valid_to is None and not is_multi_valued(fact.predicate or "")

"""Which core facts an agent sees where several graphs define the same thing. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tiers.records import Fact


@dataclass(frozen=True)
class CoreFacts:
    """Core facts an agent sees, and those hidden behind a nearer definition."""

    visible: tuple[Fact, ...] = ()
    shadowed: tuple[Fact, ...] = ()


def resolve_core(facts: Sequence[Fact]) -> CoreFacts:
    """Let the nearest graph's definition of a (subject, predicate) hide those further away.

    Args:
        facts: Own graph first, then the lineage in order.

    Facts of one graph never hide each other, and a fact without subject and predicate hides
    nothing.
    """
    defined_by: dict[tuple[str, str], str] = {}
    visible: list[Fact] = []
    shadowed: list[Fact] = []
    for fact in facts:
        if fact.subject is None or fact.predicate is None:
            visible.append(fact)
            continue
        key = (fact.subject.casefold().strip(), fact.predicate.casefold().strip())
        nearest = defined_by.setdefault(key, fact.graph_id)
        (visible if nearest == fact.graph_id else shadowed).append(fact)
    return CoreFacts(tuple(visible), tuple(shadowed))

"""The conditions of ``filters`` in the embedded engine's own terms."""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias

from qdrant_edge import (
    FieldCondition,
    Filter,
    HasIdCondition,
    HasVectorCondition,
    IsEmptyCondition,
    IsNullCondition,
    MatchAny,
    MatchValue,
    NestedCondition,
    RangeFloat,
)

from .filters import (
    Absent,
    After,
    AnyOf,
    Between,
    Condition,
    Either,
    NoneOf,
    PointIds,
    Predicate,
    UpTo,
)

CONDITIONS_REMEMBERED = 2_000
"""Of names: those of a scope come with each of its questions."""


Part: TypeAlias = (
    FieldCondition
    | IsEmptyCondition
    | IsNullCondition
    | HasIdCondition
    | HasVectorCondition
    | NestedCondition
    | Filter
)
"""What the engine takes as a condition."""


def rendered(predicate: Predicate) -> Filter:
    """Return the engine's filter."""
    return Filter(must=parts(predicate))


def parts(predicate: Predicate) -> list[Part]:
    """Return what must hold, each in the engine's terms."""
    return [_condition(condition) for condition in predicate]


def _condition(condition: Condition) -> Part:
    match condition:
        case AnyOf(key, values, common):
            return _any_of(key, values, common=common)
        case NoneOf(key, values):
            return Filter(must_not=[_equal(key, values)])
        case After() | UpTo() | Between():
            return FieldCondition(condition.key, range=_range(condition))
        case Absent(key):
            return FieldCondition(key, is_empty=True)
        case PointIds(ids):
            return HasIdCondition(set(ids))
        case Either(alternatives):
            return Filter(should=[rendered(one) for one in alternatives])


def _range(condition: After | UpTo | Between) -> RangeFloat:
    match condition:
        case After(_, bound):
            return RangeFloat(gt=bound)
        case UpTo(_, bound):
            return RangeFloat(lte=bound)
        case Between(_, since, until):
            return RangeFloat(gte=since, lt=until)


@lru_cache(maxsize=CONDITIONS_REMEMBERED)
def _any_of(key: str, values: tuple[str, ...], *, common: bool) -> FieldCondition | Filter:
    found = _equal(key, values)
    return _not_to_begin_with(found) if common and len(values) > 1 else found


def _not_to_begin_with(condition: FieldCondition) -> Filter:
    """Return what means the same, and is only looked at in what other conditions have found.

    The engine begins with the condition that seems to let the fewest pass. One of several values
    that lets most pass seems no worse than the graph's, and is far: it collects the points of all
    values and drops repeated ones. In a graph of 100,000 a search took 46 ms of processor time
    that way, 19 ms this way.
    """
    return Filter(must_not=[Filter(must_not=[condition])])


def _equal(key: str, values: tuple[str, ...]) -> FieldCondition:
    if len(values) == 1:
        return FieldCondition(key, match=MatchValue(values[0]))
    return FieldCondition(key, match=MatchAny(list(values)))

"""The conditions of ``filters`` in the embedded engine's own terms."""

from __future__ import annotations

from qdrant_edge import FieldCondition, Filter, HasIdCondition, MatchAny, MatchValue, RangeFloat

from .filters import After, AnyOf, Condition, Either, NoneOf, PointIds, Predicate, UpTo


def rendered(predicate: Predicate) -> Filter:
    """Return the engine's filter."""
    return Filter(must=[_condition(condition) for condition in predicate])


def of_tenant(tenant: str) -> Filter:
    """Return the condition for a tenant's entries of every graph: for moving and removing."""
    return Filter(must=[_equal("tenant", (tenant,))])


def of_tenant_among(tenant: str, point_ids: set[str]) -> Filter:
    """Return the condition for those of a tenant's entries that have one of these ids."""
    return Filter(must=[_equal("tenant", (tenant,)), HasIdCondition(set(point_ids))])


def _condition(condition: Condition) -> FieldCondition | HasIdCondition | Filter:
    match condition:
        case AnyOf(key, values):
            return _equal(key, values)
        case NoneOf(key, values):
            return Filter(must_not=[_equal(key, values)])
        case After(key, bound):
            return FieldCondition(key, range=RangeFloat(gt=bound))
        case UpTo(key, bound):
            return FieldCondition(key, range=RangeFloat(lte=bound))
        case PointIds(ids):
            return HasIdCondition(set(ids))
        case Either(alternatives):
            return Filter(should=[rendered(one) for one in alternatives])


def _equal(key: str, values: tuple[str, ...]) -> FieldCondition:
    if len(values) == 1:
        return FieldCondition(key, match=MatchValue(values[0]))
    return FieldCondition(key, match=MatchAny(list(values)))

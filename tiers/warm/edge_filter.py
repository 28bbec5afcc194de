"""The conditions of ``filters`` in the embedded engine's own terms."""

from __future__ import annotations

from qdrant_edge import FieldCondition, Filter, HasIdCondition, MatchAny, MatchValue, RangeFloat

from ..records import Scope
from .filters import After, AnyOf, Condition, PointIds, Predicate, UpTo, check_scoped


def rendered(scope: Scope, predicate: Predicate) -> Filter:
    """Return the engine's filter; the only way conditions get to the engine.

    Raises:
        UsageError: The predicate does not hold to the scope's tenant and graph.
    """
    check_scoped(scope, predicate)
    return Filter(must=[_condition(condition) for condition in predicate])


def _condition(condition: Condition) -> FieldCondition | HasIdCondition:
    match condition:
        case AnyOf(key, (value,)):
            return FieldCondition(key, match=MatchValue(value))
        case AnyOf(key, values):
            return FieldCondition(key, match=MatchAny(list(values)))
        case After(key, value):
            return FieldCondition(key, range=RangeFloat(gt=value))
        case UpTo(key, value):
            return FieldCondition(key, range=RangeFloat(lte=value))
        case PointIds(ids):
            return HasIdCondition(set(ids))

"""The conditions of ``filters`` in the terms of a Qdrant server."""

from __future__ import annotations

from qdrant_client import models

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


def rendered(predicate: Predicate) -> models.Filter:
    """Return the engine's filter."""
    return models.Filter(must=[_condition(condition) for condition in predicate])


def _equal(key: str, values: tuple[str, ...]) -> models.FieldCondition:
    """Return the condition that a key, or one of its elements, equals one of the values."""
    if len(values) == 1:
        return models.FieldCondition(key=key, match=models.MatchValue(value=values[0]))
    return models.FieldCondition(key=key, match=models.MatchAny(any=list(values)))


def _condition(condition: Condition) -> models.Condition:
    match condition:
        case AnyOf(key, values):
            return _equal(key, values)
        case NoneOf(key, values):
            return models.Filter(must_not=[_equal(key, values)])
        case After() | UpTo() | Between():
            return models.FieldCondition(key=condition.key, range=_range(condition))
        case Absent(key):
            return models.FieldCondition(key=key, is_empty=True)
        case PointIds(ids):
            return models.HasIdCondition(has_id=list(ids))
        case Either(alternatives):
            return models.Filter(should=[rendered(one) for one in alternatives])


def _range(condition: After | UpTo | Between) -> models.Range:
    match condition:
        case After(_, bound):
            return models.Range(gt=bound)
        case UpTo(_, bound):
            return models.Range(lte=bound)
        case Between(_, since, until):
            return models.Range(gte=since, lt=until)

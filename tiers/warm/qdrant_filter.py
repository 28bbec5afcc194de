"""The conditions of ``filters`` in the terms of a Qdrant server."""

from __future__ import annotations

from qdrant_client import models

from ..records import Scope
from .filters import After, AnyOf, Condition, PointIds, Predicate, UpTo, check_scoped

NO_GRAPH = ""
"""The graph of points that are no entries; no scope can name it."""


def rendered(scope: Scope, predicate: Predicate) -> models.Filter:
    """Return the engine's filter; the only way a scope's conditions get to the engine.

    Raises:
        UsageError: The predicate does not hold to the scope's tenant and graph.
    """
    check_scoped(scope, predicate)
    return models.Filter(must=[_condition(condition) for condition in predicate])


def _condition(condition: Condition) -> models.Condition:
    match condition:
        case AnyOf(key, (value,)):
            return equal(key, value)
        case AnyOf(key, values):
            return models.FieldCondition(key=key, match=models.MatchAny(any=list(values)))
        case After(key, bound):
            return models.FieldCondition(key=key, range=models.Range(gt=bound))
        case UpTo(key, bound):
            return models.FieldCondition(key=key, range=models.Range(lte=bound))
        case PointIds(ids):
            return models.HasIdCondition(has_id=list(ids))


def of_tenant(tenant: str) -> models.Filter:
    """Return the condition for a tenant's entries of every graph: for moving and removing."""
    return models.Filter(must=[equal("tenant", tenant)], must_not=[marks()])


def marks() -> models.FieldCondition:
    """Return the condition for what is no entry but says how far an index has come."""
    return equal("graph", NO_GRAPH)


def equal(key: str, value: str) -> models.FieldCondition:
    """Return the condition that a key, or one of its elements, equals a value."""
    return models.FieldCondition(key=key, match=models.MatchValue(value=value))

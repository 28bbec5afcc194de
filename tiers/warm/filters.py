"""Who may see, count and remove what: the scope as conditions, for any engine to render.

This is the only place that turns a scope into conditions. An adapter renders them into its
engine's own filter, so that the engine never ranks what the asker may not see.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from ..errors import UsageError
from ..records import Kind, Scope, SearchQuery
from .payload import NO_TIER, NO_TOPIC, SHARED, expiry


@dataclass(frozen=True, slots=True)
class AnyOf:
    """The key, or one of its elements when it is a list, equals one of ``values``."""

    key: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class After:
    """The integer under the key is greater than ``value``."""

    key: str
    value: int


@dataclass(frozen=True, slots=True)
class UpTo:
    """The integer under the key is ``value`` or less."""

    key: str
    value: int


@dataclass(frozen=True, slots=True)
class PointIds:
    """The point's id is one of these."""

    ids: tuple[str, ...]


Condition: TypeAlias = AnyOf | After | UpTo | PointIds
Predicate: TypeAlias = tuple[Condition, ...]
"""Conditions that must all hold."""


def of_graph(scope: Scope) -> Predicate:
    """Everything the scope's tenant and graph hold: for counting, removing, and word statistics."""
    return (AnyOf("tenant", (scope.tenant,)), AnyOf("graph", (scope.graph_id,)))


def visible(scope: Scope, query: SearchQuery) -> Predicate:
    """What a search may find.

    The graph's entries of the asked kinds (for facts of the asked tier, and of the asked user)
    that have not expired at ``query.now``, are shared or the asking agent's own, and have no
    topic or one that the scope holds.
    """
    conditions: list[Condition] = [
        *of_graph(scope),
        AnyOf("kind", query.kinds),
        AnyOf("private_to", (SHARED, scope.agent_id) if scope.agent_id else (SHARED,)),
        After("expires_at", expiry(query.now)),
    ]
    if not scope.sees_all_topics:
        conditions.append(AnyOf("topics", (NO_TOPIC, *scope.topics)))
    if query.tier is not None:
        conditions.append(AnyOf("tier", (query.tier, NO_TIER)))
    if query.user_id is not None:
        conditions.append(AnyOf("user_id", (query.user_id,)))
    return tuple(conditions)


def of_kind(scope: Scope, kind: Kind | None) -> Predicate:
    """Everything the graph holds, or everything of one kind."""
    return of_graph(scope) if kind is None else (*of_graph(scope), AnyOf("kind", (kind,)))


def expired(scope: Scope, now: datetime) -> Predicate:
    """What the graph holds that had expired by ``now``."""
    return (*of_graph(scope), UpTo("expires_at", expiry(now)))


def among(scope: Scope, point_ids: Sequence[str]) -> Predicate:
    """What the graph holds under these ids of the engine."""
    return (*of_graph(scope), PointIds(tuple(point_ids)))


def check_scoped(scope: Scope, predicate: Predicate) -> None:
    """Refuse a predicate that does not hold to the scope's tenant and graph.

    The second lock on the same door: adapters call it just before they render, so that a
    predicate made anywhere else, or made wrongly here, finds nothing instead of everything.

    Raises:
        UsageError: A condition on tenant or graph is missing.
    """
    missing = [condition for condition in of_graph(scope) if condition not in predicate]
    if missing:
        raise UsageError("predicate", predicate, "conditions on the scope's tenant and graph")

"""Who may see, count and remove what: the scope as conditions, for any engine to render.

This is the only place that turns a scope into conditions. An adapter renders them into its
engine's own filter, so that the engine never ranks what the asker may not see. What was rendered
is looked at once more by ``guard`` before it leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import product
from typing import NamedTuple, TypeAlias, get_args

from ..moments import microseconds
from ..records import ALL_TOPICS, Grain, Kind, Scope, SearchQuery
from . import payload

_EVERY_KIND = frozenset(get_args(Kind)) - {"tool_output"}  # what has tool outputs is a turn


@dataclass(frozen=True, slots=True)
class AnyOf:
    """The key, or one of its elements when it is a list, equals one of ``values``.

    ``common`` is a hint: most entries of a graph do, so looking for those that do narrows nothing.
    """

    key: str
    values: tuple[str, ...]
    common: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class NoneOf:
    """Neither the key, nor any of its elements when it is a list, equals one of ``values``."""

    key: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Between:
    """The integer under the key is ``since`` or more, and less than ``until``, as far as given."""

    key: str
    since: int | None
    until: int | None


@dataclass(frozen=True, slots=True)
class Absent:
    """There is nothing under the key."""

    key: str


@dataclass(frozen=True, slots=True)
class PointIds:
    """The point's id is one of these."""

    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """All conditions of one of the alternatives hold; there are at least two.

    Without any, engines take it for no condition at all.
    """

    alternatives: tuple[tuple[Condition, ...], ...]


Condition: TypeAlias = AnyOf | NoneOf | Between | Absent | PointIds | Either
Predicate: TypeAlias = tuple[Condition, ...]
"""Conditions that must all hold."""


class Reach(NamedTuple):
    """What a search reaches.

    Attributes:
        counted: Everything that the searched graphs hold, or held at the moment that is asked
            about: how rare a word is, is counted here.
        visible: What may be found.
    """

    counted: Predicate
    visible: Predicate


class _Portion(NamedTuple):
    """Ancestors of a tenant that are read alike: the same kinds, as of the same moment."""

    tenant: str
    graph_ids: tuple[str, ...]
    kinds: tuple[Kind, ...]
    grains: tuple[Grain, ...]
    as_of: datetime | None

    @property
    def stored(self) -> Predicate:
        return (_owned(self.tenant, self.graph_ids), *_recorded(self.as_of))

    @property
    def asked(self) -> Predicate:
        kinds = _of_kinds(self.tenant, self.graph_ids, self.kinds, self.grains)
        return (*kinds, *_recorded(self.as_of))


def of_tenant(tenant: str) -> Predicate:
    """Everything a tenant's graphs hold, marks left out: for moving and removing."""
    return (AnyOf("tenant", (tenant,)), NoneOf("graph", (payload.NO_GRAPH,)))


def mark_of(tenant: str) -> Predicate:
    """What is no entry but says how far a tenant's index has come."""
    return (AnyOf("tenant", (tenant,)), AnyOf("graph", (payload.NO_GRAPH,)))


def of_graph(scope: Scope) -> Predicate:
    """Everything the scope's tenant and graph hold: for counting, removing, and word statistics."""
    return (_owned(scope.tenant, (scope.graph_id,)),)


def reach(scope: Scope, query: SearchQuery) -> Reach | None:
    """What a search may find: in the own graph, or in its ancestors when those are asked.

    ``None`` when nothing can be found whatever is stored: no kind is asked, or none that an
    ancestor carries. Of ancestors come shared entries only, and no core facts, which every
    context has without being searched for.
    """
    if query.inherited:
        return _inherited(scope, query)
    if not query.kinds:
        return None
    writers = (payload.SHARED, scope.agent_id) if scope.agent_id else (payload.SHARED,)
    shown = AnyOf("private_to", writers, common=True)
    kinds = _of_kinds(scope.tenant, (scope.graph_id,), query.kinds, query.grains)
    return Reach(
        (*of_graph(scope), *_recorded(query.as_of)),
        (*kinds, shown, *_visible(scope, query), *_narrowing(query), *_named(scope, query)),
    )


def of_kind(scope: Scope, kind: Kind | None) -> Predicate:
    """Everything the graph holds, or everything of one kind."""
    labels = () if kind is None else (kind,)
    return (_owned(scope.tenant, (scope.graph_id,), labels),)


def expired(scope: Scope, now: datetime) -> Predicate:
    """What the graph holds that had expired by ``now``."""
    return (*of_graph(scope), Between("expires_at", None, payload.expiry(now) + 1))


def among(scope: Scope, point_ids: Sequence[str]) -> Predicate:
    """What the graph holds under these ids of the engine."""
    return (*of_graph(scope), PointIds(tuple(point_ids)))


def _inherited(scope: Scope, query: SearchQuery) -> Reach | None:
    portions = _portions(scope, query)
    if not portions or query.ids:
        return None
    shared: Predicate = (AnyOf("private_to", (payload.SHARED,)),)
    if "fact" in query.kinds:
        shared += (AnyOf("tier", (payload.ARCHIVAL, payload.NO_TIER), common=True),)
    asked = _one_of([portion.asked for portion in portions])
    return Reach(
        (*_one_of([portion.stored for portion in portions]), *_recorded(query.as_of)),
        (*asked, *shared, *_visible(scope, query), *_narrowing(query)),
    )


def _portions(scope: Scope, query: SearchQuery) -> list[_Portion]:
    """Return the ancestors that carry something asked, those together that are read alike."""
    found: dict[tuple[tuple[Kind, ...], datetime | None], list[str]] = {}
    for one in scope.carrying(*query.kinds):
        kinds = tuple(kind for kind in query.kinds if kind in one.carries)
        found.setdefault((kinds, one.as_of), []).append(one.graph_id)
    return [
        _Portion(scope.tenant, tuple(ids), kinds, query.grains, as_of)
        for (kinds, as_of), ids in found.items()
    ]


def _one_of(alternatives: Sequence[Predicate]) -> Predicate:
    """Return the alternatives as conditions; a single one, which is the usual case, as it is."""
    return alternatives[0] if len(alternatives) == 1 else (Either(tuple(alternatives)),)


def _owned(tenant: str, graph_ids: Sequence[str], labels: Sequence[str] = ()) -> AnyOf:
    """Entries of these graphs, of these kinds where some are named."""
    kinds: list[tuple[str, ...]] = [(label,) for label in labels] or [()]
    names = (payload.owner_of(tenant, graph, *kind) for graph, kind in product(graph_ids, kinds))
    return AnyOf("owner", tuple(names))


def _of_kinds(
    tenant: str, graph_ids: Sequence[str], kinds: Sequence[Kind], grains: Sequence[Grain]
) -> Predicate:
    """Entries of these graphs and kinds, episodes of these grains.

    Turns are the bulk of a graph: whoever asks for them and others has most of it.
    """
    if not grains and frozenset(kinds) >= _EVERY_KIND:
        return (_owned(tenant, graph_ids),)
    labels: list[str] = []
    for kind in kinds:
        graded = kind == "episode" and grains
        labels += (payload.label_of(grain) for grain in grains) if graded else (kind,)
    if "turn" in kinds and len(labels) > 1:
        return (_owned(tenant, graph_ids), AnyOf("kind", tuple(labels), common=True))
    return (_owned(tenant, graph_ids, labels),)


def _recorded(by: datetime | None) -> Predicate:
    return () if by is None else (Between("recorded_at", None, microseconds(by) + 1),)


def _visible(scope: Scope, query: SearchQuery) -> Predicate:
    """What holds in every graph: lifetime, topics and users."""
    lasting = Between("expires_at", payload.expiry(query.now) + 1, None)
    conditions: list[Condition] = [lasting, *_topics(scope)]
    if not scope.every_user:
        users = (payload.NO_USER, scope.user_id) if scope.user_id else (payload.NO_USER,)
        conditions.append(AnyOf("user_id", users, common=True))
    return tuple(conditions)


def _narrowing(query: SearchQuery) -> Predicate:
    """What the question leaves out, beside kinds: each narrows what is seen, none widens it."""
    conditions: list[Condition] = [*_recorded(query.as_of), *_happened(query)]
    if query.tier is not None:
        conditions.append(AnyOf("tier", (query.tier, payload.NO_TIER), common=True))
    if query.user_id is not None:
        conditions.append(AnyOf("user_id", (query.user_id,)))
    if query.topics:
        conditions.append(AnyOf("topics", query.topics))
    conditions += (AnyOf("topics", (topic,)) for topic in query.all_topics)
    if query.writer_id is not None:
        conditions.append(AnyOf("agent_id", (query.writer_id,)))
    return tuple(conditions)


def _named(scope: Scope, query: SearchQuery) -> Predicate:
    """The records of the own graph that the question is kept to."""
    if not query.ids:
        return ()
    return (PointIds(tuple(payload.point_id(scope, one) for one in query.ids)),)


def _happened(query: SearchQuery) -> Predicate:
    """When it happened, or where that is not known, when it was recorded.

    Of two stored moments instead of a third one.
    """
    if query.since is None and query.until is None:
        return ()
    since = None if query.since is None else microseconds(query.since)
    until = None if query.until is None else microseconds(query.until)
    known = (Between("occurred_at", since, until),)
    unknown = (Absent("occurred_at"), Between("recorded_at", since, until))
    return (Either((known, unknown)),)


def _topics(scope: Scope) -> Predicate:
    """No topic, or one that the scope holds; and none that is denied to it, which goes first."""
    if ALL_TOPICS in scope.denied:
        return (AnyOf("topics", (payload.NO_TOPIC,)),)
    denied = (NoneOf("topics", scope.denied),) if scope.denied else ()
    if scope.sees_all_topics:
        return denied
    return (AnyOf("topics", (payload.NO_TOPIC, *scope.topics), common=True), *denied)

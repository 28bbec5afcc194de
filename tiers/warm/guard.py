"""The way out of the warm tier: every command is looked at once more before it leaves.

What is looked at is the filter as the engine gets it, and the point as it is stored. Both are
taken apart here by other means than those that made them in ``filters`` and ``payload``, so that
no single mistake lets a command reach the entries of somebody else. What is not understood does
not leave.

The classes of the two engines are different, but called alike and of one shape. So one guard
reads both, by their names, and imports neither driver.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from ..errors import TierRejected
from ..ids import derived_id
from ..records import UNRECORDED, Scope, SearchQuery

Rendered: TypeAlias = Any
"""A filter, a condition or a point of either engine."""

_Owner: TypeAlias = tuple[str, str]
"""A tenant and one of its graphs."""

_READERS_KEY = "readers"
_OWNER_KEYS = frozenset({"owner", "tenant", "graph", _READERS_KEY})
_NO_GRAPH = ""
"""Of marks, which are no entries: no graph of a scope is called that."""

_OWNERS_REMEMBERED = 2_000
"""Names of owners: those of a graph come with each of its entries."""

_ALTERNATIVES_TO_MATCH = (
    "range",
    "values_count",
    "is_empty",
    "is_null",
    "geo_bounding_box",
    "geo_radius",
    "geo_polygon",
)
"""What else a condition on a key may hold: engines let one of them be enough."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Whose points a command may touch.

    Attributes:
        tenant: This one; ``None`` for all, which only ``every_mark`` has.
        graphs: One or more of these; ``None`` for all, which only ``whole_tenant`` has.
    """

    tenant: str | None
    graphs: frozenset[str] | None


def own_graph(scope: Scope) -> Bounds:
    """Return the bounds of everything but inheriting."""
    return Bounds(scope.tenant, frozenset({scope.graph_id}))


def of_search(scope: Scope, query: SearchQuery) -> Bounds:
    """Return the own graph, or the ancestors when those are asked."""
    if not query.inherited:
        return own_graph(scope)
    return Bounds(scope.tenant, frozenset(one.graph_id for one in scope.lineage))


def whole_tenant(tenant: str) -> Bounds:
    """Return the bounds of moving or removing a tenant, with all its graphs."""
    return Bounds(tenant, None)


def marks_of(tenant: str) -> Bounds:
    """Return the bounds of what is written down about a tenant's index."""
    return Bounds(tenant, frozenset({_NO_GRAPH}))


def every_mark() -> Bounds:
    """Return the bounds of what is written down about any tenant's index; no entry is in them."""
    return Bounds(None, frozenset({_NO_GRAPH}))


def check_filter(operation: str, bounds: Bounds, condition: Rendered) -> None:
    """Refuse a filter that does not hold to exactly one tenant and to graphs of the bounds.

    Entries are asked for by the names of their owners alone; whole tenants, and marks, which have
    no owners, by tenant and graph.

    Raises:
        TierRejected: It does not, or is not understood; nothing was sent.
    """
    try:
        demands = _demands(condition)
    except _NotUnderstood as error:
        raise _refusal(operation, f"a filter with {error}") from error
    tenants = [] if bounds.tenant is None else [frozenset({bounds.tenant})]
    if bounds.graphs is None:
        holds = demands == _Demands([], tenants, [])
    elif bounds.graphs == {_NO_GRAPH}:
        holds = demands == _Demands([], tenants, [bounds.graphs])
    else:
        theirs = frozenset((bounds.tenant, graph) for graph in bounds.graphs)
        owners = demands.owners[0] if demands.owners else frozenset()
        holds = demands == _Demands([owners], [], []) and frozenset() < owners <= theirs
    if not holds:
        raise _refusal(operation, "a filter that does not hold to its one tenant and its graphs")


def check_points(operation: str, bounds: Bounds, points: Iterable[Rendered]) -> None:
    """Refuse points that are somebody else's, or would take the place of somebody else's.

    Raises:
        TierRejected: There is one; none was sent.
    """
    for point in points:
        if str(point.id) != derived_id(UNRECORDED, *_owner(operation, bounds, point.payload or {})):
            raise _refusal(operation, "a point under an id that is not its own")


def check_found(operation: str, bounds: Bounds, payloads: Iterable[Mapping[str, Any]]) -> None:
    """Refuse points that were read by their ids alone and are somebody else's.

    Raises:
        TierRejected: There is one; it was not handed on.
    """
    passed: list[tuple[object, ...]] = []
    for payload in payloads:
        # What is found in one go is mostly one owner's: what says the same is looked at once.
        whose = (payload.get("tenant"), payload.get("graph"), payload.get("owner", []))
        if whose not in passed or not isinstance(payload.get("id"), str):
            _owner(operation, bounds, payload)
            passed.append(whose)


class _NotUnderstood(Exception):
    """A filter has something of which it is not known that it keeps to its owners."""


class _Demands(NamedTuple):
    """What must hold of owner, tenant and graph: for each demand, the values that pass."""

    owners: list[frozenset[_Owner]]
    tenants: list[frozenset[str]]
    graphs: list[frozenset[str]]


class _Clauses(NamedTuple):
    must: list[Rendered]
    should: list[Rendered]
    must_not: list[Rendered]


def _demands(condition: Rendered) -> _Demands:
    """Return what a filter demands of owner, tenant and graph; it says nothing else about them."""
    clauses = _clauses_of(condition)
    for one in clauses.must_not:
        if _names_owner(one) and not _is_mark(one):
            raise _NotUnderstood("owners that are left out")
    found = _Demands([], [], [])
    if clauses.should:
        found.owners.append(frozenset().union(*map(_owners_of_readers, clauses.should)))
    for one in clauses.must:
        if not _names_owner(one) or _leaves_out_marks(one):
            continue
        if _kind(one) == "Filter":
            found.owners.append(_owners_of_alternatives(one))
        elif one.key == "owner":
            found.owners.append(_owners(tuple(_values(one))))
        elif one.key == _READERS_KEY:
            raise _NotUnderstood("names of readers that are no alternatives")
        elif one.key == "tenant":
            found.tenants.append(_values(one))
        else:
            found.graphs.append(_values(one))
    return found


def _owners_of_alternatives(condition: Rendered) -> frozenset[_Owner]:
    """Return the owners of all alternatives, each of which must name its own."""
    clauses = _clauses_of(condition)
    if clauses.must or clauses.must_not or not clauses.should:
        raise _NotUnderstood("owners inside a condition that is no list of alternatives")
    owners: set[_Owner] = set()
    for one in clauses.should:
        demanded, tenants, graphs = _demands(one)
        if tenants or graphs or len(demanded) != 1 or not demanded[0]:
            raise _NotUnderstood("an alternative without owners of its own")
        owners |= demanded[0]
    return frozenset(owners)


def _owners_of_readers(condition: Rendered) -> frozenset[_Owner]:
    """Return the owners in the names of readers, of which one is enough."""
    if _kind(condition) != "FieldCondition" or condition.key != _READERS_KEY:
        raise _NotUnderstood("alternatives that are not a condition of their own")
    return frozenset(map(_read_reader, _values(condition)))


@lru_cache(maxsize=_OWNERS_REMEMBERED)
def _owners(names: tuple[str, ...]) -> frozenset[_Owner]:
    """Return the tenants and graphs that names of owners stand for."""
    return frozenset(map(_read_owner, names))


def _read_owner(name: str) -> _Owner:
    try:
        tenant, graph, *label = json.loads(name)
    except (TypeError, ValueError) as error:
        raise _NotUnderstood("an owner that cannot be read") from error
    if len(label) > 1 or name != json.dumps([tenant, graph, *label]):
        raise _NotUnderstood("an owner that is written in another way")
    return tenant, graph


@lru_cache(maxsize=_OWNERS_REMEMBERED)
def _read_reader(name: str) -> _Owner:
    """Return the owner a name of readers begins with; writer, user and topic come after it."""
    try:
        _, end = json.JSONDecoder().raw_decode(name)
        writer, user, topic = json.loads(name[end:])
    except (TypeError, ValueError) as error:
        raise _NotUnderstood("readers that cannot be read") from error
    if name[end:] != json.dumps([writer, user, topic]):
        raise _NotUnderstood("readers that are written in another way")
    return _read_owner(name[:end])


def _clauses_of(condition: Rendered) -> _Clauses:
    if _kind(condition) != "Filter":
        raise _NotUnderstood(f"{_kind(condition)} in place of a filter")
    if condition.min_should is not None:
        raise _NotUnderstood("min_should")
    given = (condition.must, condition.should, condition.must_not)
    return _Clauses(*([] if part is None else part for part in given))


def _names_owner(condition: Rendered) -> bool:
    """Whether it says anything about tenant or graph, at whatever depth."""
    kind = _kind(condition)
    if kind == "FieldCondition":
        return condition.key in _OWNER_KEYS
    if kind == "Filter":
        inside = [_names_owner(one) for part in _clauses_of(condition) for one in part]
        return any(inside)
    if kind == "HasIdCondition":
        return False
    raise _NotUnderstood(kind)


def _leaves_out_marks(condition: Rendered) -> bool:
    if _kind(condition) != "Filter":
        return False
    must, should, must_not = _clauses_of(condition)
    return not must and not should and all(_is_mark(one) for one in must_not)


def _is_mark(condition: Rendered) -> bool:
    return (
        _kind(condition) == "FieldCondition"
        and condition.key == "graph"
        and _values(condition) == {_NO_GRAPH}
    )


def _values(condition: Rendered) -> frozenset[str]:
    """Return the values that pass a condition on a key."""
    if any(getattr(condition, name) is not None for name in _ALTERNATIVES_TO_MATCH):
        raise _NotUnderstood(f"more than a match of {condition.key}")
    match = condition.match
    if _kind(match) == "MatchValue":
        return frozenset({match.value})
    if _kind(match) == "MatchAny":
        return frozenset(match.any if hasattr(match, "any") else match.value)
    raise _NotUnderstood(f"{_kind(match)} of {condition.key}")


def _kind(rendered: Rendered) -> str:
    return type(rendered).__name__


def _owner(operation: str, bounds: Bounds, payload: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return tenant, graph and id as a point's payload has them."""
    tenant, graph, name = payload.get("tenant"), payload.get("graph"), payload.get("id")
    if not isinstance(tenant, str) or not isinstance(graph, str) or not isinstance(name, str):
        raise _refusal(operation, "a point that does not say whose it is")
    if tenant != bounds.tenant or bounds.graphs is None or graph not in bounds.graphs:
        raise _refusal(operation, "a point of another tenant or graph")
    names = payload.get("owner", [])
    try:
        owners = _owners(tuple(map(str, names)) if isinstance(names, list) else (str(names),))
        readers = {_read_reader(str(name)) for name in payload.get(_READERS_KEY, ())}
    except _NotUnderstood as error:
        raise _refusal(operation, f"a point with {error}") from error
    if owners != ({(tenant, graph)} if graph != _NO_GRAPH else set()) or not readers <= owners:
        raise _refusal(operation, "a point that is found by somebody else's name")
    return tenant, graph, name


def _refusal(operation: str, what: str) -> TierRejected:
    # Names and texts stay out of it: they may be somebody else's.
    return TierRejected("warm", operation, f"{what}; the guard let nothing through")

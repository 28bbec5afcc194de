"""The only place that turns a ``Scope`` into SQL.

A statement says where the scope goes, and ``scoped`` puts the predicate there:

* ``$own(t)``: of the scope's tenant and graph; for the runtime's own upkeep and for counting;
* ``$visible(t)``: of those, what the asker may see;
* ``$audited(t)``: the same for what was, where who asks for a whole graph is told all of it;
* ``$inherited(t)``: the same over the graphs of ``$family``, of each as it is read from here.

``t`` is the alias of a table with the owner columns. ``$family g`` stands after ``FROM`` and must
be called ``g``: the own graph and its ancestors, a row each, with ``place`` (0 is the own graph,
then nearest first), ``graph_id``, ``as_of`` and ``archival``, which says whether archival facts
come through. The values are parameters, always.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from ...errors import TierRejected
from ...moments import microseconds
from ...records import ALL_TOPICS, Kind, Scope
from ..ownership import NO_TOPIC, SHARED
from .database import Query, Value

_PLACE = re.compile(r"\$(own|visible|audited|inherited)\((\w+)\)|\$family\b")

_FAMILY = (
    "(SELECT key AS place, json_extract(value, '$[0]') AS graph_id,"
    " json_extract(value, '$[1]') AS as_of, json_extract(value, '$[2]') AS archival"
    " FROM json_each(:family))"
)
_OWN = "@.tenant = :tenant AND @.graph_id = :graph_id"
_KIN = (
    "@.tenant = :tenant AND @.graph_id = g.graph_id"
    " AND (g.as_of IS NULL OR @.recorded_at <= g.as_of)"
)
_SHARED_OR_MINE = "@.private_to IN ('', :agent_id)"
# An agent of the same id in another graph is another writer.
_SHARED_OR_MINE_HERE = (
    "(@.private_to = '' OR (@.private_to = :agent_id AND @.graph_id = :graph_id))"
)
# Not called user_id: recall has a parameter of that name, which narrows what is seen here.
_NOBODYS_OR_MINE = "(@.user_id IS NULL OR @.user_id = :asking_user)"
_TOPICS_MEET = (
    "EXISTS (SELECT 1 FROM topic_members m WHERE m.topic_set = @.topic_set"
    " AND m.topic IN (SELECT value FROM json_each(:topics)))"
)
_NONE_DENIED = (
    "NOT EXISTS (SELECT 1 FROM topic_members m WHERE m.topic_set = @.topic_set"
    " AND m.topic IN (SELECT value FROM json_each(:denied)))"
)


class _Sight(NamedTuple):
    """What of the predicate a scope needs; the rest is left out, for the planner's sake."""

    every_topic: bool
    every_user: bool
    denies: bool
    audits: bool


def scoped(template: str, scope: Scope, *, carrying: Kind | None = None, **params: Value) -> Query:
    """Return the statement with the scope's predicate in every place, and all its parameters.

    Args:
        template: The statement.
        scope: Who asks.
        carrying: Leaves in ``$family`` the ancestors through which this kind comes; ``None``
            leaves all of them there.
        params: The statement's further parameters.

    Raises:
        TierRejected: One of them would take the place of the scope's own.
    """
    nothing = ALL_TOPICS in scope.denied
    values: dict[str, Value] = {
        "tenant": scope.tenant,
        "graph_id": scope.graph_id,
        "agent_id": scope.agent_id or SHARED,
        "asking_user": scope.user_id,
        "topics": as_json((NO_TOPIC, *(() if nothing else scope.topics))),
        "denied": as_json(scope.denied),
    }
    if "$family" in template:
        values["family"] = _family(scope, carrying)
    if not values.keys().isdisjoint(params):
        raise TierRejected("cold", "scope guard", f"parameters of the scope's own: {template}")
    sight = _Sight(
        every_topic=scope.sees_all_topics and not nothing,
        every_user=scope.every_user,
        denies=bool(scope.denied) and not nothing,
        audits=scope.agent_id is None and scope.every_user,
    )
    return Query(_placed(template, sight), values | params)


def _family(scope: Scope, carrying: Kind | None) -> str:
    """Return the own graph and its ancestors as the rows of ``$family``, in the order of place."""
    kin = scope.lineage if carrying is None else scope.carrying(carrying)
    members: list[tuple[str, int | None, int]] = [(scope.graph_id, None, 1)]
    for one in kin:
        as_of = None if one.as_of is None else microseconds(one.as_of)
        members.append((one.graph_id, as_of, int("fact" in one.carries)))
    return json.dumps(members, ensure_ascii=False)


@lru_cache(maxsize=512)
def _placed(template: str, sight: _Sight) -> str:
    limits = []
    if not sight.every_user:
        limits.append(_NOBODYS_OR_MINE)
    if not sight.every_topic:
        limits.append(_TOPICS_MEET)
    if sight.denies:
        limits.append(_NONE_DENIED)
    seen = {
        "own": [_OWN],
        "visible": [_OWN, _SHARED_OR_MINE, *limits],
        "audited": [_OWN] if sight.audits else [_OWN, _SHARED_OR_MINE, *limits],
        "inherited": [_KIN, _SHARED_OR_MINE_HERE, *limits],
    }

    def predicate(place: re.Match[str]) -> str:
        if place[1] is None:
            return _FAMILY
        return " AND ".join(seen[place[1]]).replace("@", place[2])

    return _PLACE.sub(predicate, template)


def as_json(values: Sequence[str]) -> str:
    """Return strings as a JSON list; not escaped to ASCII, so that a lone surrogate is refused."""
    return json.dumps(list(values), ensure_ascii=False)

"""The only place that turns a ``Scope`` into SQL.

A statement says where the scope goes, and ``scoped`` puts the predicate there:

* ``$own(t)``: of the scope's tenant and graph; for the runtime's own upkeep and for counting;
* ``$visible(t)``: of those, what the asking agent may see;
* ``$inherited(t)``: the same over the scope's graph and its lineage.

``t`` is the alias of a table with the owner columns. The values are parameters, always.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import lru_cache

from ...records import Scope
from ..ownership import NO_TOPIC, SHARED
from .database import Query, Value

_PLACE = re.compile(r"\$(own|visible|inherited)\((\w+)\)")

_OWN = "@.tenant = :tenant AND @.graph_id = :graph_id"
_FAMILY = "@.tenant = :tenant AND @.graph_id IN (SELECT value FROM json_each(:graphs))"
_SHARED_OR_MINE = "@.private_to IN ('', :agent_id)"
# An agent of the same id in another graph is another writer.
_SHARED_OR_MINE_HERE = (
    "(@.private_to = '' OR (@.private_to = :agent_id AND @.graph_id = :graph_id))"
)
_TOPICS_MEET = (
    "EXISTS (SELECT 1 FROM topic_members m WHERE m.topic_set = @.topic_set"
    " AND m.topic IN (SELECT value FROM json_each(:topics)))"
)


def scoped(template: str, scope: Scope, **params: Value) -> Query:
    """Return the statement with the scope's predicate in every place, and all its parameters."""
    values: dict[str, Value] = {
        "tenant": scope.tenant,
        "graph_id": scope.graph_id,
        "agent_id": scope.agent_id or SHARED,
        "graphs": as_json((scope.graph_id, *scope.lineage)),
        "topics": as_json((NO_TOPIC, *scope.topics)),
    }
    return Query(_placed(template, scope.sees_all_topics), values | params)


@lru_cache(maxsize=256)
def _placed(template: str, every_topic: bool) -> str:  # noqa: FBT001 - a cache key
    seen = {
        "own": [_OWN],
        "visible": [_OWN, _SHARED_OR_MINE],
        "inherited": [_FAMILY, _SHARED_OR_MINE_HERE],
    }
    if not every_topic:
        seen["visible"].append(_TOPICS_MEET)
        seen["inherited"].append(_TOPICS_MEET)

    def predicate(place: re.Match[str]) -> str:
        return " AND ".join(seen[place[1]]).replace("@", place[2])

    return _PLACE.sub(predicate, template)


def as_json(values: Sequence[str]) -> str:
    """Return strings as a JSON list; not escaped to ASCII, so that a lone surrogate is refused."""
    return json.dumps(list(values), ensure_ascii=False)

"""The only place that turns a ``Scope`` into a MongoDB filter, and the guard behind it.

* ``own``: of the scope's tenant and graph; for the runtime's own upkeep and for counting;
* ``visible``: of those, what the asking agent may see;
* ``audited``: the same for what was, where who asks for a whole graph is told all of it;
* ``inherited``: the same over the scope's graph and the ancestors that carry a kind;
* ``core``: core facts, over the scope's graph and all of its ancestors;
* ``readable_facts``: every fact that may be read by its id;
* ``standing_facts``: of these the ones that stand, now or at a moment;
* ``of_tenant``: every graph of a tenant; for upkeep and archives only.

A family of graphs is one filter: its ids stand at the top in one ``$in``, and what else holds of
some of them, because they are read as of a moment, in an ``$and``. Ancestors that are read as
they are take one place together, those that are pinned to the same moment another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ...errors import TierRejected
from ...moments import microseconds
from ...records import ALL_TOPICS, Ancestor, Kind, Scope
from ..ownership import NO_TOPIC, SHARED
from .documents import NO_USER, Document


def own(scope: Scope, **more: object) -> Document:
    """Return the filter for everything of the scope's graph."""
    return {"tenant": scope.tenant, "graph_id": scope.graph_id} | more


def visible(scope: Scope, **more: object) -> Document:
    """Return the filter for what the scope's agent may see of its own graph."""
    owners = [SHARED, scope.agent_id] if scope.agent_id else [SHARED]
    return own(scope) | {"private_to": {"$in": owners}} | _sight(scope) | more


def audited(scope: Scope, **more: object) -> Document:
    """Return the filter for what the asker may know of what was.

    Who asks for a whole graph audits it: an answer that left private records out would be wrong.
    """
    audits = scope.agent_id is None and scope.every_user
    return own(scope, **more) if audits else visible(scope, **more)


def inherited(scope: Scope, kind: Kind, **more: object) -> Document:
    """Return the filter for what may be seen of the own graph and of those that carry ``kind``.

    Of a graph that is read as of a moment: what was recorded by then. ``more`` must hold neither
    ``$or`` nor ``$and``.
    """
    live, pinned = _by_moment(scope.carrying(kind))
    places = [_of_graphs(scope.graph_id, *live)]
    places += [_of_graphs(*names, recorded_at={"$lte": at}) for at, names in pinned.items()]
    return _family(scope, places) | more


def core(scope: Scope, **more: object) -> Document:
    """Return the filter for the core facts that may be seen of the own graph and its ancestors.

    Of a graph that is read as of a moment: the facts that were core then, and not superseded yet.
    ``more`` is as for ``inherited``.
    """
    live, pinned = _by_moment(scope.lineage)
    places = [_of_graphs(scope.graph_id, *live, **_CORE_NOW)]
    places += [_of_graphs(*names, **_core_at(at)) for at, names in pinned.items()]
    return _family(scope, places) | more


def readable_facts(scope: Scope, **more: object) -> Document:
    """Return the filter for the facts that may be read by their ids.

    Of the own graph and of ancestors that carry ``fact`` all, superseded ones included; of other
    ancestors the core facts, as ``core`` has them. ``more`` is as for ``inherited``.
    """
    whole, whole_then = _by_moment(scope.carrying("fact"))
    live, pinned = _by_moment(scope.lineage)
    places = [_of_graphs(scope.graph_id, *whole)]
    places += [_of_graphs(*live, **_CORE_NOW)] if live else []
    places += [_of_graphs(*names, recorded_at={"$lte": at}) for at, names in whole_then.items()]
    places += [_of_graphs(*names, **_core_at(at)) for at, names in pinned.items()]
    return _family(scope, places) | more


def standing_facts(scope: Scope, as_of: datetime | None, **more: object) -> Document:
    """Return the filter for the facts that may be read and stand, now or at a moment.

    Those that were recorded by then and neither superseded nor forgotten. What an ancestor has
    forgotten is so at every moment. ``more`` is as for ``inherited``.

    Args:
        scope: Who asks, with ancestors that are read as of that moment or an earlier one.
        as_of: The moment; ``None``: now.
        more: Further conditions.
    """
    whole, whole_then = _by_moment(scope.carrying("fact"))
    live, pinned = _by_moment(scope.lineage)
    if as_of is None:
        places = [_of_graphs(scope.graph_id, *whole, live=True)]
    else:
        places = [_of_graphs(scope.graph_id, **_standing_at(microseconds(as_of)))]
    places += [_of_graphs(*live, **_CORE_NOW)] if live else []
    kept: Document = {"forgotten_at": None}
    places += [_of_graphs(*names, **_standing_at(at), **kept) for at, names in whole_then.items()]
    places += [_of_graphs(*names, **_core_at(at), **kept) for at, names in pinned.items()]
    return _family(scope, places) | {"redacted_at": None} | more


def of_tenant(tenant: str, **more: object) -> Document:
    """Return the filter for every graph of a tenant."""
    return {"tenant": tenant} | more


def check_scoped(operation: str, where: Mapping[str, Any], *, whole_tenant: bool) -> None:
    """Refuse a filter or a document that does not name one tenant, and its graph or graphs.

    The second lock on the scope's door: every command to a collection of records passes here
    before it leaves, whoever made it. Both must be named at the top, where all the rest of the
    filter can only narrow: the tenant by itself, graphs by themselves or in an ``$in``.

    Raises:
        TierRejected: The tenant is missing, or the graph.
    """
    if not _is_name(where.get("tenant")):
        raise TierRejected("cold", "scope guard", f"{operation} without a tenant")
    if not (whole_tenant or _names_graphs(where.get("graph_id"))):
        raise TierRejected("cold", "scope guard", f"{operation} without a graph")


def _names_graphs(graph: object) -> bool:
    if not isinstance(graph, dict):
        return _is_name(graph)
    names = graph.get("$in")
    return set(graph) == {"$in"} and isinstance(names, list) and bool(names) and _all_names(names)


def _all_names(names: Sequence[object]) -> bool:
    return all(map(_is_name, names))


def _is_name(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _sight(scope: Scope) -> Document:
    """Return what holds of every record that the scope sees, in whatever graph it is."""
    users = {} if scope.every_user else {"for_user": {"$in": [NO_USER, *_asking(scope)]}}
    topics: Document = {}
    if ALL_TOPICS in scope.denied:
        topics["$in"] = [NO_TOPIC]
    elif not scope.sees_all_topics:
        topics["$in"] = [NO_TOPIC, *scope.topics]
    if scope.denied:
        topics["$nin"] = list(scope.denied)
    return users | ({"topics": topics} if topics else {})


def _asking(scope: Scope) -> Sequence[str]:
    return () if scope.user_id is None else (scope.user_id,)


def _family(scope: Scope, places: Sequence[Document]) -> Document:
    """Return the filter for what may be seen of several graphs, each place under its conditions.

    An agent of the same id in another graph is another writer.
    """
    seen: list[Document] = [{"private_to": SHARED}]
    if scope.agent_id:
        seen.append({"private_to": scope.agent_id, "graph_id": scope.graph_id})
    graphs = dict.fromkeys(name for place in places for name in place["graph_id"]["$in"])
    family = {"tenant": scope.tenant, "graph_id": {"$in": list(graphs)}, "$or": seen}
    # A single place stands at the top as well, where an index has use for its conditions.
    where = places[0] if len(places) == 1 else {"$and": [{"$or": list(places)}]}
    return family | where | _sight(scope)


def _of_graphs(*names: str, **more: object) -> Document:
    return {"graph_id": {"$in": list(names)}} | more


def _by_moment(
    ancestors: Sequence[Ancestor],
) -> tuple[list[str], dict[int, list[str]]]:
    """Return the ids of ancestors that are read as they are, and the others by their moment."""
    live: list[str] = []
    pinned: dict[int, list[str]] = {}
    for one in ancestors:
        names = live if one.as_of is None else pinned.setdefault(microseconds(one.as_of), [])
        names.append(one.graph_id)
    return live, pinned


_CORE_NOW: Mapping[str, object] = {"tier": "core", "live": True}


def _standing_at(at: int) -> Document:
    """Return what holds of a fact that was recorded, and neither superseded nor forgotten then."""
    over: list[Document] = [
        # What was superseded before the moments of it were kept was so at every one.
        {"superseded_by": {"$ne": None}, "superseded_at": None},
        {"superseded_at": {"$lte": at}},
        {"forgotten_at": {"$lte": at}},
    ]
    return {"recorded_at": {"$lte": at}, "$nor": over}


def _core_at(at: int) -> Document:
    """Return what holds of a fact that was recorded, core and not superseded at a moment."""
    span = {"since": {"$lte": at}, "until": {"$not": {"$lte": at}}}
    # What was superseded before the moments of it were kept counts as superseded at every one.
    standing: list[Document] = [{"superseded_by": None}, {"superseded_at": {"$gt": at}}]
    return {
        "recorded_at": {"$lte": at},
        "core_spans": {"$elemMatch": span},
        "$or": standing,
    }

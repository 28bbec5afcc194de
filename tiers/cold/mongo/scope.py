"""The only place that turns a ``Scope`` into a MongoDB filter, and the guard behind it.

* ``own``: of the scope's tenant and graph; for the runtime's own upkeep and for counting;
* ``visible``: of those, what the asking agent may see;
* ``inherited``: the same over the scope's graph and its lineage;
* ``of_tenant``: every graph of a tenant; for upkeep and archives only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...errors import TierRejected
from ...records import Scope
from ..ownership import NO_TOPIC, SHARED
from .documents import Document


def own(scope: Scope, **more: object) -> Document:
    """Return the filter for everything of the scope's graph."""
    return {"tenant": scope.tenant, "graph_id": scope.graph_id} | more


def visible(scope: Scope, **more: object) -> Document:
    """Return the filter for what the scope's agent may see of its own graph."""
    owners = [SHARED, scope.agent_id] if scope.agent_id else [SHARED]
    return own(scope) | {"private_to": {"$in": owners}} | _topics(scope) | more


def inherited(scope: Scope, **more: object) -> Document:
    """Return the filter for what the scope's agent may see of its graph and the lineage.

    An agent of the same id in another graph is another writer. ``more`` must not hold ``$or``.
    """
    seen: list[Document] = [{"private_to": SHARED}]
    if scope.agent_id:
        seen.append({"private_to": scope.agent_id, "graph_id": scope.graph_id})
    graphs = {"$in": [scope.graph_id, *scope.lineage]}
    family: Document = {"tenant": scope.tenant, "graph_id": graphs, "$or": seen}
    return family | _topics(scope) | more


def of_tenant(tenant: str, **more: object) -> Document:
    """Return the filter for every graph of a tenant."""
    return {"tenant": tenant} | more


def check_scoped(operation: str, where: Mapping[str, Any], *, whole_tenant: bool) -> None:
    """Refuse a filter or a document that does not name one tenant, and its graph or graphs.

    The second lock on the scope's door: every command to a collection of records passes here
    before it leaves, whoever made it.

    Raises:
        TierRejected: The tenant is missing, or the graph.
    """
    tenant, graph = where.get("tenant"), where.get("graph_id")
    if not isinstance(tenant, str) or not tenant:
        raise TierRejected("cold", "scope guard", f"{operation} without a tenant")
    if whole_tenant or (isinstance(graph, str) and graph):
        return
    if not isinstance(graph, dict) or not graph.get("$in") or set(graph) != {"$in"}:
        raise TierRejected("cold", "scope guard", f"{operation} without a graph")


def _topics(scope: Scope) -> Document:
    return {} if scope.sees_all_topics else {"topics": {"$in": [NO_TOPIC, *scope.topics]}}

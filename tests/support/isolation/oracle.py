"""Who may see what, in the words of the records: written from them alone, knowing no engine."""

from __future__ import annotations

from enum import Enum

from tiers.records import ALL_TOPICS, Ancestor, Scope

from .worlds import Planted


class Reach(Enum):
    """How far an answer may go."""

    RING = "what is kept for the scope's agent, as far as the scope sees it"
    VISIBLE = "what the scope sees of its own graph"
    FAMILY = "that, and what comes through from its ancestors"
    GRAPH = "everything of the graph: for the runtime"
    TENANT = "everything of the tenant: for the runtime"


def permitted(reach: Reach, scope: Scope, one: Planted) -> bool:
    """Whether an answer to ``scope`` may hold the record."""
    corner = one.corner
    if corner.tenant != scope.tenant:
        return False
    if reach is Reach.TENANT:
        return True
    if corner.graph_id == scope.graph_id:
        if reach is Reach.RING and corner.agent_id != scope.agent_id:
            return False
        return reach is Reach.GRAPH or sees(scope, one)
    return reach is Reach.FAMILY and any(_through(scope, each, one) for each in scope.lineage)


def sees(scope: Scope, one: Planted) -> bool:
    """Whether the scope sees a record of its own graph."""
    corner = one.corner
    mine = not corner.private or corner.agent_id == scope.agent_id
    return mine and _of_its_people(scope, one)


def _of_its_people(scope: Scope, one: Planted) -> bool:
    corner = one.corner
    topics = set(corner.topics)
    meet = ALL_TOPICS in scope.topics or not topics or bool(topics & set(scope.topics))
    allowed = not topics & set(scope.denied)
    own_user = scope.every_user or corner.user_id in {None, scope.user_id}
    return meet and allowed and own_user


def _through(scope: Scope, ancestor: Ancestor, one: Planted) -> bool:
    carried = {
        "core": True,
        "archival": "fact" in ancestor.carries,
        "passage": "document" in ancestor.carries,
    }
    return (
        one.corner.graph_id == ancestor.graph_id
        and not one.corner.private
        and _of_its_people(scope, one)
        and carried.get(one.kind, one.kind in ancestor.carries)
        and (ancestor.as_of is None or one.recorded_at <= ancestor.as_of)
    )

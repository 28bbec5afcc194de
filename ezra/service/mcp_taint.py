"""What an agent may be told of what came of a record: the trace tells of whole graphs."""

from __future__ import annotations

from tiers.errors import NotFound
from tiers.history.sight import sees
from tiers.owned import Owned
from tiers.records import AgentRecord, Scope

from ..erasure.taint.tracing import PAGE_MAX
from ..erasure.taint.walk import TaintNode
from ..handles.graph import Graph
from ..rights.policy import scope_of
from .mcp_answers import TaintedRecord, TaintTraced


async def traced(graph: Graph, member: AgentRecord, record_id: str, limit: int) -> TaintTraced:
    """Return what came of a record, of that what a member sees; of receipts its own.

    Raises:
        NotFound: There is no such record, or the member does not see it.
    """
    found = await graph.taint.trace(record_id, limit=PAGE_MAX)
    scope = scope_of(member)
    seen = [one for one in found.nodes if _sees(scope, one)]
    if not any(one.exposure == "root" for one in seen):
        raise NotFound("record", record_id)
    shown = tuple(map(_told, seen[:limit]))
    known = {one.id for one in shown}
    return TaintTraced(
        record_id=record_id,
        # What a record comes of may be what the member does not see.
        records=tuple(
            one if one.parent_id in known else one.model_copy(update={"parent_id": ""})
            for one in shown
        ),
        hidden=len(found.nodes) - len(seen),
        more=len(seen) > limit or found.cursor is not None or not found.is_whole,
    )


def _sees(scope: Scope, node: TaintNode) -> bool:
    if node.kind == "receipt":
        return node.agent_id == scope.agent_id and node.graph_id == scope.graph_id
    told = node.model_dump(include={"id", "graph_id", "agent_id", "user_id", "topics", "private"})
    return sees(scope, Owned(tenant=scope.tenant, **told))


def _told(node: TaintNode) -> TaintedRecord:
    return TaintedRecord(**node.model_dump(include=set(TaintedRecord.model_fields)))

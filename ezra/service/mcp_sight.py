"""What an agent may be told of a belief or a trace, which tell of whole graphs: what it sees."""

from __future__ import annotations

from collections.abc import Sequence

from tiers.errors import NotFound
from tiers.history.sight import sees
from tiers.owned import Owned
from tiers.records import AgentRecord, HistoricBelief, Scope

from ..beliefs.spans import Explanation
from ..erasure.taint.tracing import PAGE_MAX
from ..erasure.taint.walk import TaintNode
from ..handles.graph import Graph
from ..rights.policy import scope_of
from ..wire.tool_answers import IDS_MAX, Belief
from .mcp_answers import Change, Explained, TaintedRecord, TaintTraced


async def explained(graph: Graph, member: AgentRecord, belief_id: str) -> Explained:
    """Return where a belief came from and what became of it, as far as a member sees it.

    Raises:
        NotFound: There is no such belief, or the member does not see it.
    """
    found = await graph.beliefs.explain(belief_id)
    if not _seen(member, [found.belief]):
        raise NotFound("belief", belief_id)
    return _as_shown(member, found)


def _as_shown(member: AgentRecord, found: Explanation) -> Explained:
    belief = found.belief
    superseded = _seen(member, found.superseded)
    successor = _seen(member, [found.superseded_by] if found.superseded_by else [])
    related = len(found.superseded) + (found.superseded_by is not None)
    shown = Belief.of(belief)
    if not successor:
        shown = shown.model_copy(update={"superseded_by": None})
    return Explained(
        belief=shown,
        # Those of rivals, which name it too, are told by the rivals.
        events=tuple(
            Change.of(one.event) for one in found.events if one.event.belief_id == belief.id
        )[-IDS_MAX:],
        superseded=tuple(map(Belief.of, superseded))[-IDS_MAX:],
        superseded_by=Belief.of(successor[0]) if successor else None,
        hidden=related - len(superseded) - len(successor),
        source_ids=belief.source_ids,
        turn_id=belief.turn_id,
        receipt_id=belief.receipt_id,
        trust_today=found.trust,
    )


def _seen(member: AgentRecord, beliefs: Sequence[HistoricBelief]) -> list[HistoricBelief]:
    scope = scope_of(member)
    return [one for one in beliefs if sees(scope, one)]


async def traced(graph: Graph, member: AgentRecord, record_id: str, limit: int) -> TaintTraced:
    """Return what came of a record, of that what a member sees; of receipts its own.

    Raises:
        NotFound: There is no such record, or the member does not see it.
    """
    found = await graph.taint.trace(record_id, limit=PAGE_MAX)
    scope = scope_of(member)
    seen = [one for one in found.nodes if _sees_node(scope, one)]
    if not any(one.exposure == "root" for one in seen):
        raise NotFound("record", record_id)
    shown = tuple(map(TaintedRecord.of, seen[:limit]))
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


def _sees_node(scope: Scope, node: TaintNode) -> bool:
    if node.kind == "receipt":
        return node.agent_id == scope.agent_id and node.graph_id == scope.graph_id
    told = node.model_dump(include={"id", "graph_id", "agent_id", "user_id", "topics", "private"})
    return sees(scope, Owned(tenant=scope.tenant, **told))

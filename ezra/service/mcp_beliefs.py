"""What an agent may be told of a belief: the history answers for the whole graph, it must not."""

from __future__ import annotations

from collections.abc import Sequence

from tiers.errors import NotFound
from tiers.history.sight import sees
from tiers.records import AgentRecord, HistoricBelief

from ..beliefs.spans import Explanation
from ..handles.graph import Graph
from ..rights.policy import scope_of
from ..wire.tool_answers import IDS_MAX, Belief
from .mcp_answers import Change, Explained


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
            Change(
                kind=one.event.kind,
                agent_id=one.event.agent_id,
                turn=one.event.turn,
                recorded_at=one.event.recorded_at,
            )
            for one in found.events
            if one.event.belief_id == belief.id
        )[-IDS_MAX:],
        superseded=tuple(map(Belief.of, superseded))[-IDS_MAX:],
        superseded_by=Belief.of(successor[0]) if successor else None,
        hidden=related - len(superseded) - len(successor),
        source_ids=belief.source_ids[:IDS_MAX],
        turn_id=belief.turn_id,
        receipt_id=belief.receipt_id,
        trust_today=found.trust,
    )


def _seen(member: AgentRecord, beliefs: Sequence[HistoricBelief]) -> list[HistoricBelief]:
    scope = scope_of(member)
    return [one for one in beliefs if sees(scope, one)]

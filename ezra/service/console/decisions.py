"""What a person decides about single records: facts, beliefs and turns, each with a reason.

Every form stands on the page that shows the record, behind a button that says what happens.
"""

from __future__ import annotations

from tiers.records import Text

from ...handles.graph import Graph
from .pages import Query, Sent, href, pages
from .turns import turn_of


class ReasonAsked(Query):
    """Why."""

    reason: Text


class CorrectAsked(ReasonAsked):
    """What is right: in one text, or in three parts."""

    text: Text | None = None
    subject: Text | None = None
    predicate: Text | None = None
    object: Text | None = None


@pages.action("/graphs/{graph_id}/facts/{fact_id}/forget", needs="operate")
async def forget(graph: Graph, fact_id: str, asked: ReasonAsked) -> Sent:
    """Forget a fact."""
    await graph.forget(fact_id, reason=asked.reason)
    return _at(graph, "facts", fact_id)


@pages.action("/graphs/{graph_id}/facts/{fact_id}/correct", needs="operate")
async def correct(graph: Graph, fact_id: str, asked: CorrectAsked) -> Sent:
    """Put a right statement in the place of a fact; leads to the new one."""
    said = asked.model_dump(include={"text", "subject", "predicate", "object"})
    new_id = await graph.correct(fact_id, reason=asked.reason, **said)
    return _at(graph, "facts", new_id)


@pages.action("/graphs/{graph_id}/facts/{fact_id}/promote", needs="operate")
async def promote(graph: Graph, fact_id: str, asked: ReasonAsked) -> Sent:
    """Make a fact core."""
    await graph.promote(fact_id, reason=asked.reason)
    return _at(graph, "facts", fact_id)


@pages.action("/graphs/{graph_id}/facts/{fact_id}/demote", needs="operate")
async def demote(graph: Graph, fact_id: str, asked: ReasonAsked) -> Sent:
    """Make a fact archival."""
    await graph.demote(fact_id, reason=asked.reason)
    return _at(graph, "facts", fact_id)


@pages.action("/graphs/{graph_id}/beliefs/{belief_id}/pin", needs="operate")
async def pin(graph: Graph, belief_id: str) -> Sent:
    """Let a belief come first in contexts."""
    await graph.beliefs.pin(belief_id)
    return _at(graph, "beliefs", belief_id)


@pages.action("/graphs/{graph_id}/beliefs/{belief_id}/unpin", needs="operate")
async def unpin(graph: Graph, belief_id: str) -> Sent:
    """Let a belief no longer come first."""
    await graph.beliefs.unpin(belief_id)
    return _at(graph, "beliefs", belief_id)


@pages.action("/graphs/{graph_id}/beliefs/{belief_id}/revert", needs="operate")
async def revert(graph: Graph, belief_id: str, asked: ReasonAsked) -> Sent:
    """Take a belief back."""
    await graph.beliefs.revert(belief_id, reason=asked.reason)
    return _at(graph, "beliefs", belief_id)


@pages.action("/graphs/{graph_id}/agents/{agent_id}/turns/{seq}/forget", needs="operate")
async def forget_turn(graph: Graph, agent_id: str, seq: str, asked: ReasonAsked) -> Sent:
    """Destroy what was said in a turn, and what was made of it."""
    turn = await turn_of(graph, agent_id, seq)
    await graph.redact([turn.id], reason=asked.reason)
    return _at(graph, "agents", agent_id, "turns", seq)


def _at(graph: Graph, *parts: str) -> Sent:
    return Sent(href("graphs", graph.id, *parts))

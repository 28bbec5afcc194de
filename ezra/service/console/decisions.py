"""What a person decides about single records: facts, beliefs and turns, each with a reason.

Every form stands on the page that shows the record, behind a button that says what happens.
"""

from __future__ import annotations

from tiers.records import Text

from ..caller import Caller
from ..desk import Desk
from .pages import Names, Query, Sent, href, pages
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
async def forget(desk: Desk, _: Caller, names: Names, asked: ReasonAsked) -> Sent:
    """Forget a fact."""
    graph = await desk.graph(names["graph_id"])
    await graph.forget(names["fact_id"], reason=asked.reason)
    return _at_fact(graph.id, names["fact_id"])


@pages.action("/graphs/{graph_id}/facts/{fact_id}/correct", needs="operate")
async def correct(desk: Desk, _: Caller, names: Names, asked: CorrectAsked) -> Sent:
    """Put a right statement in the place of a fact; leads to the new one."""
    graph = await desk.graph(names["graph_id"])
    said = asked.model_dump(include={"text", "subject", "predicate", "object"})
    new_id = await graph.correct(names["fact_id"], reason=asked.reason, **said)
    return _at_fact(graph.id, new_id)


@pages.action("/graphs/{graph_id}/facts/{fact_id}/promote", needs="operate")
async def promote(desk: Desk, _: Caller, names: Names, asked: ReasonAsked) -> Sent:
    """Make a fact core."""
    graph = await desk.graph(names["graph_id"])
    await graph.promote(names["fact_id"], reason=asked.reason)
    return _at_fact(graph.id, names["fact_id"])


@pages.action("/graphs/{graph_id}/facts/{fact_id}/demote", needs="operate")
async def demote(desk: Desk, _: Caller, names: Names, asked: ReasonAsked) -> Sent:
    """Make a fact archival."""
    graph = await desk.graph(names["graph_id"])
    await graph.demote(names["fact_id"], reason=asked.reason)
    return _at_fact(graph.id, names["fact_id"])


@pages.action("/graphs/{graph_id}/beliefs/{belief_id}/pin", needs="operate")
async def pin(desk: Desk, _: Caller, names: Names, __: Query) -> Sent:
    """Let a belief come first in contexts."""
    graph = await desk.graph(names["graph_id"])
    await graph.beliefs.pin(names["belief_id"])
    return _at_belief(names)


@pages.action("/graphs/{graph_id}/beliefs/{belief_id}/unpin", needs="operate")
async def unpin(desk: Desk, _: Caller, names: Names, __: Query) -> Sent:
    """Let a belief no longer come first."""
    graph = await desk.graph(names["graph_id"])
    await graph.beliefs.unpin(names["belief_id"])
    return _at_belief(names)


@pages.action("/graphs/{graph_id}/beliefs/{belief_id}/revert", needs="operate")
async def revert(desk: Desk, _: Caller, names: Names, asked: ReasonAsked) -> Sent:
    """Take a belief back."""
    graph = await desk.graph(names["graph_id"])
    await graph.beliefs.revert(names["belief_id"], reason=asked.reason)
    return _at_belief(names)


@pages.action("/graphs/{graph_id}/agents/{agent_id}/turns/{seq}/forget", needs="operate")
async def forget_turn(desk: Desk, _: Caller, names: Names, asked: ReasonAsked) -> Sent:
    """Destroy what was said in a turn, and what was made of it."""
    graph = await desk.graph(names["graph_id"])
    turn = await turn_of(graph, names["agent_id"], names["seq"])
    await graph.redact([turn.id], reason=asked.reason)
    return Sent(href("graphs", graph.id, "agents", names["agent_id"], "turns", names["seq"]))


def _at_fact(graph_id: str, fact_id: str) -> Sent:
    return Sent(href("graphs", graph_id, "facts", fact_id))


def _at_belief(names: Names) -> Sent:
    return Sent(href("graphs", names["graph_id"], "beliefs", names["belief_id"]))

"""The playground of an agent: say something, see its context, then what a model makes of it.

A turn is opened as for any caller: it has a receipt and is charged. It becomes part of the memory
when somebody asks for that, and not before.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from tiers.records import Text

from ...handles.agent import Agent
from ...handles.turn import OpenTurn
from ..caller import Caller
from ..handle_pool import HandlePool
from .pages import Number, Query, Sent, View, Word, href, pages
from .turns import shares_of

WHY: Mapping[str, str] = {
    "system": "who it is, and how to read what follows: in every context",
    "belief": "an active belief that it may see; pinned ones come first",
    "core": "a core fact: in every context of who may see it",
    "rule": "a playbook whose trigger is about the message",
    "injected": "known about the message, brought unasked as the agent was spawned",
    "archival": "a fact that is about the message",
    "warm": "a summary or an older turn that is about the message",
    "hot": "said in the last turns of the conversation",
    "mesh": "a live source told it",
    "input": "the message itself",
}
"""Why a slot of a kind is in a context."""


class PlaygroundQuery(Query):
    """Which turn has just been remembered."""

    kept: Number | None = None


class SaidAsked(Query):
    """What is said to the agent, and by whom."""

    message: Text
    speaker: Word | None = None


class RememberAsked(Query):
    """Which turn is remembered, and with which answer."""

    turn: str
    answer: str = ""


@pages.page(
    "/graphs/{graph_id}/agents/{agent_id}/playground",
    needs="act",
    label="Playground",
    key="y",
)
async def playground(pool: HandlePool, agent: Agent, query: PlaygroundQuery) -> View:
    """Ask what is said to the agent."""
    return _view(pool, agent, None, None, query.kept)


@pages.action("/graphs/{graph_id}/agents/{agent_id}/playground", needs="act")
async def say(pool: HandlePool, caller: Caller, agent: Agent, asked: SaidAsked) -> View:
    """Show the context that the agent has for a message; the answer follows when it is there."""
    turn = await agent.turn(asked.message, speaker=asked.speaker)
    pool.keep(caller, agent.graph_id, agent.id, turn)
    return _view(pool, agent, asked, turn)


@pages.action("/graphs/{graph_id}/agents/{agent_id}/playground/remember", needs="act")
async def remember(pool: HandlePool, caller: Caller, agent: Agent, asked: RememberAsked) -> Sent:
    """Make a turn part of the memory; leads to it, or back, as the caller may see."""
    written = await pool.turn(agent.graph_id, agent.id, asked.turn).reply(asked.answer)
    pool.settle(agent.graph_id, agent.id, asked.turn, written.turn.id)
    at = ("graphs", agent.graph_id, "agents", agent.id)
    if caller.may("read", agent.graph_id, agent.id):
        return Sent(href(*at, "turns", str(written.turn.seq)))
    return Sent(href(*at, "playground", kept=written.turn.seq))


def _view(
    pool: HandlePool,
    agent: Agent,
    asked: SaidAsked | None,
    turn: OpenTurn | None,
    kept: int | None = None,
) -> View:
    async def answer(opened: OpenTurn) -> View:
        values = {"turn": opened, "answer": await opened.complete()}
        return View("playground_answer.html", values)

    budget = pool.ezra.settings.context_tokens
    values = {
        "asked": asked,
        "turn": turn,
        "kept": kept,
        "model": pool.ezra.model,
        "why": WHY,
        "budget": budget,
        "shares": () if turn is None else shares_of(turn.slots, max(budget, turn.tokens)),
    }
    title = f"Playground of {agent.id}"
    later = None if turn is None else partial(answer, turn)
    return View("playground.html", values, title, later=later)

"""Does what is asked of agents: turns, memories, beliefs."""

from __future__ import annotations

from typing import Any

from ..handles.agent import Agent
from ..handles.turn import OpenTurn, TurnAnswer
from ..wire import agents as wire
from ..wire.handles import AGENT
from .caller import Caller
from .handle_pool import HandlePool, check_acting
from .routes import handlers
from .taking import Names


@handlers.does(AGENT.offered["turn"].operation)
async def turn(pool: HandlePool, caller: Caller, agent: Agent, asked: Any) -> TurnAnswer:  # noqa: ANN401
    """Open a turn and keep it until it is replied to."""
    opened = await agent.turn(**asked.said)
    pool.keep(caller, agent.graph_id, agent.id, opened)
    return opened.answer


@handlers.does(wire.TURN_REPLY)
async def reply(
    pool: HandlePool, caller: Caller, names: Names, turn_id: str, asked: wire.ReplyAsked
) -> wire.ReplyAnswer:
    """Remember a turn."""
    found = await _open_turn(pool, caller, names, turn_id)
    written = await found.reply(**asked.said)
    pool.settle(names["graph_id"], names["agent_id"], found.id, written.turn.id)
    return wire.ReplyAnswer(written=written, course=found.answer.course)


@handlers.does(wire.TURN_COMPLETE)
async def complete_turn(
    pool: HandlePool, caller: Caller, names: Names, turn_id: str
) -> wire.ResponseAnswer:
    """Ask the model about an open turn."""
    found = await _open_turn(pool, caller, names, turn_id)
    response = await found.complete()
    return wire.ResponseAnswer(response=response, course=found.answer.course)


async def _open_turn(pool: HandlePool, caller: Caller, names: Names, turn_id: str) -> OpenTurn:
    """Return a turn that waits for its reply, also where its agent has left meanwhile.

    What it thought is said then, and kept, as it is in process.
    """
    await check_acting(pool, caller, names)
    return pool.turn(names["graph_id"], names["agent_id"], turn_id)


@handlers.does(AGENT.offered["complete"].operation)
async def complete(
    pool: HandlePool,
    caller: Caller,
    agent: Agent,
    asked: Any,  # noqa: ANN401
) -> wire.CompletionAnswer:
    """Open a turn, ask the model, remember it."""
    done = await agent.complete(**asked.said)
    pool.keep(caller, agent.graph_id, agent.id, done.turn)
    pool.settle(agent.graph_id, agent.id, done.turn.id, done.written.turn.id)
    return wire.CompletionAnswer(
        response=done.response, model=done.model, turn=done.turn.answer, written=done.written
    )

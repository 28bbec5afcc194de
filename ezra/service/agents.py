"""Does what is asked of agents: turns, memories, beliefs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from ..handles.recording import Recorded
from ..handles.tool_outputs import OutputRange
from ..handles.turn import OpenTurn, TurnAnswer
from ..wire import Nothing
from ..wire import agents as wire
from .caller import Caller
from .desk import Desk, acting
from .routes import handlers

Names: TypeAlias = Mapping[str, str]


async def _open(desk: Desk, caller: Caller, names: Names) -> OpenTurn:
    """Return a turn that waits for its reply."""
    await acting(desk, caller, names)
    return desk.turn(names["graph_id"], names["agent_id"], names["turn_id"])


@handlers.does(wire.TURN)
async def turn(desk: Desk, caller: Caller, names: Names, asked: wire.TurnAsked) -> TurnAnswer:
    """Open a turn and keep it until it is replied to."""
    agent = await acting(desk, caller, names)
    opened = await agent.turn(**asked.said)
    desk.keep(caller, names["graph_id"], names["agent_id"], opened)
    return opened.answer


@handlers.does(wire.TURN_REPLY)
async def reply(
    desk: Desk, caller: Caller, names: Names, asked: wire.ReplyAsked
) -> wire.ReplyAnswer:
    """Remember a turn."""
    found = await _open(desk, caller, names)
    written = await found.reply(**asked.said)
    desk.settle(names["graph_id"], names["agent_id"], found.id, written.turn.id)
    return wire.ReplyAnswer(written=written, course=found.answer.course)


@handlers.does(wire.TURN_COMPLETE)
async def complete_turn(
    desk: Desk, caller: Caller, names: Names, _: Nothing
) -> wire.ResponseAnswer:
    """Ask the model about an open turn."""
    found = await _open(desk, caller, names)
    response = await found.complete()
    return wire.ResponseAnswer(response=response, course=found.answer.course)


@handlers.does(wire.RECORD)
async def record(desk: Desk, caller: Caller, names: Names, asked: wire.RecordAsked) -> Recorded:
    """Record turns that were had elsewhere."""
    return await (await acting(desk, caller, names)).record(asked.turns)


@handlers.does(wire.TOOL_OUTPUT)
async def read_tool_output(
    desk: Desk, caller: Caller, names: Names, asked: wire.ToolOutputAsked
) -> OutputRange:
    """Return a range of what a tool returned."""
    agent = await acting(desk, caller, names)
    length = None if asked.length == "all" else asked.length
    return await agent.read_tool_output(names["key"], asked.index, asked.start, length)


@handlers.does(wire.COMPLETE)
async def complete(
    desk: Desk, caller: Caller, names: Names, asked: wire.CompleteAsked
) -> wire.CompletionAnswer:
    """Open a turn, ask the model, remember it."""
    done = await (await acting(desk, caller, names)).complete(**asked.said)
    desk.keep(caller, names["graph_id"], names["agent_id"], done.turn)
    desk.settle(names["graph_id"], names["agent_id"], done.turn.id, done.written.turn.id)
    return wire.CompletionAnswer(
        response=done.response, model=done.model, turn=done.turn.answer, written=done.written
    )

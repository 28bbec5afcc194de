"""The tools of MCP: those that methods of handles are offered as, and what is not one such call.

The docstring of a method of ``MemoryTools`` is what a model reads before it calls the tool.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from copy import deepcopy
from functools import cache, partial
from types import MethodType
from typing import Annotated, Any, Literal

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import ToolAnnotations
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tiers.board import EVERYBODY, RECIPIENTS_MAX, Priority
from tiers.errors import EzraError, PolicyDenied, UsageError
from tiers.fields import OUTPUT_CHARS_MAX
from tiers.records import AgentRecord

from ..handles.agent import Agent
from ..handles.cards import SEVERAL, Tags
from ..handles.graph import Graph
from ..handles.lookup import known_member
from ..operations import Id, Long, Name, Topics, Words
from ..turn.output_checks import USAGE_MAX, ToolOutputLike
from ..wire import Need
from ..wire.agent_tools import AgentTools, lends
from ..wire.operation import shown
from ..wire.tool_answers import CardShown
from ..wire.tools import ToolSpec, all_tools, argument_refusal, error_line
from .handle_pool import HandlePool
from .mcp_agents import Seat, Seats
from .mcp_answers import (
    Explained,
    Finished,
    Handoff,
    Started,
    TaintTraced,
    explained,
    handoff_of,
    traced,
)

OUTPUTS_MAX = 64


class ToolOutputGiven(BaseModel):
    """What a tool returned on the way to an answer."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tool: Id
    output: Annotated[str, Field(max_length=OUTPUT_CHARS_MAX)]


class MemoryTools(AgentTools):
    """The tools over one pool of handles that are written by hand.

    Args:
        pool: Hands out handles, and keeps turns that wait for their reply.
        seats: Finds the agent of a caller.
        seat: Returns the agent of whoever is asking now.
    """

    def __init__(self, pool: HandlePool, seats: Seats, seat: Callable[[], Awaitable[Seat]]) -> None:
        async def agent() -> Agent:
            return (await seat()).agent

        super().__init__(agent)
        self._pool = pool
        self._seats = seats
        self._seat = seat

    @lends("adds")
    async def send_message(
        self,
        text: Words,
        to: Annotated[
            tuple[Id, ...],
            Field(max_length=RECIPIENTS_MAX, description="Agents; nobody named: everybody."),
            SEVERAL,
        ] = (),
        subject: Name = "",
        reply_to: Annotated[Name, Field(description="Id of the message that you answer.")] = "",
        priority: Priority = "normal",
        tags: Annotated[Tags, Field(description="For finding it.")] = (),
    ) -> CardShown:
        """Send a message to other agents of this graph, or answer one in its thread.

        An answer goes to who wrote the message; leave `to` and `subject` out then.
        """
        board = (await self.agent()).board
        if reply_to:
            sent = await board.reply(reply_to, text, priority=priority, tags=tags)
        else:
            whom = to or EVERYBODY
            sent = await board.send(whom, text, subject=subject, priority=priority, tags=tags)
        return CardShown.of(sent)

    @lends("adds")
    async def update_task(
        self,
        task_id: Annotated[Id, Field(description="The id of a task, as list_tasks shows it.")],
        status: Annotated[
            Literal["in_progress", "suspended", "completed", "failed", ""],
            Field(description="Its new state; completed and failed are final."),
        ] = "",
        note: Annotated[
            Long, Field(description="What is to be said of it; how it ended, at its end.")
        ] = "",
    ) -> CardShown:
        """Say that a task is worked on, suspended, completed or failed, or note something of it."""
        board, about = (await self.agent()).board, note or None
        if status == "completed":
            return CardShown.of(await board.finish_task(task_id, about))
        if status == "failed":
            return CardShown.of(await board.fail_task(task_id, about))
        return CardShown.of(await board.update_task(task_id, status=status or None, note=about))

    @lends("reads")
    async def explain_belief(self, belief_id: Id) -> Explained:
        """Say where a belief came from, what it replaced, and what replaced it."""
        return await explained(*await self._member(), belief_id)

    @lends("adds")
    async def start_turn(
        self,
        message: Annotated[Long, Field(min_length=1, description="What was said to you.")],
        speaker: Annotated[Name, Field(description="Who said it.")] = "",
        topics: Topics = (),
        *,
        private: Annotated[bool, Field(description="Whether only you may see the turn.")] = False,
        ref: Annotated[Name, Field(description="Your name for the turn.")] = "",
    ) -> Started:
        """Open a turn: returns the messages to answer from, with what memory knows put in.

        Answer them, then call finish_turn with the turn_id. A turn that is not finished within
        an hour is not remembered.
        """
        seat = await self._seat()
        turn = await seat.agent.turn(
            message,
            speaker=speaker or None,
            topics=topics or None,
            private=private,
            ref=ref or None,
        )
        self._pool.keep(seat.caller, seat.graph_id, seat.agent.id, turn)
        return Started.of(turn)

    @lends("adds")
    async def finish_turn(
        self,
        turn_id: Id,
        response: Annotated[Long, Field(description="What you answered.")],
        tool_outputs: Annotated[
            tuple[ToolOutputGiven, ...],
            Field(max_length=OUTPUTS_MAX, description="What tools returned on the way, whole."),
        ] = (),
        usage_tokens: Annotated[
            int | None, Field(ge=0, le=USAGE_MAX, description="Tokens that you read and wrote.")
        ] = None,
    ) -> Finished:
        """Remember a turn that start_turn opened: your answer, and what tools returned."""
        seat = await self._seat()
        turn = self._pool.turn(seat.graph_id, seat.agent.id, turn_id)
        outputs: list[ToolOutputLike] = [one.model_dump() for one in tool_outputs]
        written = await turn.reply(response, outputs, usage_tokens=usage_tokens)
        self._pool.settle(seat.graph_id, seat.agent.id, turn.id, written.turn.id)
        return Finished(turn_id=written.turn.id, seq=written.turn.seq, was_new=written.was_new)

    @lends("reads")
    async def trace_taint(
        self,
        record_id: Id,
        limit: Annotated[int, Field(ge=1, le=200, description="How many records at most.")] = 50,
    ) -> TaintTraced:
        """Show what came of a record that may be wrong: facts, beliefs, summaries, turns.

        Changes nothing; people take it back with 'ezra taint roll-back'.
        """
        return await traced(*await self._member(), record_id, limit)

    @lends("reads")
    async def session_handoff(
        self, turns: Annotated[int, Field(ge=1, le=20, description="How many last turns.")] = 5
    ) -> Handoff:
        """Summarise this session for the next one: active beliefs, core facts, last turns."""
        return await handoff_of(await self._seat(), turns)

    async def _member(self) -> tuple[Graph, AgentRecord]:
        """Return the graph of whoever is asking, and what is stored of that agent."""
        seat = await self._seat()
        graph = await self._seats.graph(seat)
        return graph, await known_member(graph, seat.agent.id)


class MemoryTool(Tool):
    """A tool that refuses unknown arguments, and whose problems are told in one short line."""

    drop: Callable[[], None] = Field(exclude=True)
    check: Callable[[], None] = Field(exclude=True)

    async def run(
        self,
        arguments: dict[str, Any],
        context: Context[Any, Any],
        convert_result: bool = False,  # noqa: FBT001, FBT002 - as the SDK calls it
    ) -> Any:  # noqa: ANN401 - as the SDK declares it
        """Run the tool.

        Raises:
            ToolError: What was asked is not acceptable, or an error of ezra.
        """
        known = self.parameters.get("properties", {})
        unknown = sorted(set(arguments) - set(known))
        if unknown:
            first, accepted = (
                unknown[0],
                f"no such argument; there are {', '.join(known) or 'none'}",
            )
            raise ToolError(error_line(UsageError(first, shown(arguments[first]), accepted)))
        try:
            self.check()
        except PolicyDenied as denied:
            raise self._tool_error(denied) from denied
        try:
            return await super().run(arguments, context, convert_result)
        except UnexpectedToolError as crash:
            if not isinstance(crash.__cause__, EzraError):
                raise
            raise self._tool_error(crash.__cause__) from crash.__cause__
        except ToolError as refused:
            if not isinstance(refused.__cause__, ValidationError):
                raise
            problem = argument_refusal(refused.__cause__)
            raise ToolError(error_line(problem)) from refused.__cause__

    def _tool_error(self, error: EzraError) -> ToolError:
        if isinstance(error, UsageError) and error.field == "agent":
            self.drop()
        return ToolError(error_line(error))


def tools_of(
    tools: MemoryTools, drop: Callable[[], None], check: Callable[[Need, str], None]
) -> list[Tool]:
    """Return the tools as the SDK takes them.

    Args:
        tools: What they do.
        drop: Forgets the handle of whoever asks: its agent has left.
        check: Refuses whoever asks what a tool needs, unless they may.
    """
    return [_bound(described, tools, drop, check) for described in _described()]


@cache
def _described() -> tuple[tuple[ToolSpec, Tool], ...]:
    """Return every tool with what the SDK makes of it, once per process.

    The schemas take a second or two, and say nothing of who asks.
    """
    return tuple((spec, _of_sdk(spec)) for spec in all_tools(MemoryTools))


def _of_sdk(spec: ToolSpec) -> Tool:
    hints = ToolAnnotations(
        read_only_hint=spec.effect == "reads",
        destructive_hint=spec.effect == "ends",
        idempotent_hint=spec.is_repeatable,
        # What is remembered is all that there is: nothing is asked of the world.
        open_world_hint=False,
    )
    # Only the signature counts: the SDK is to leave out the first argument, whatever that is.
    method = MethodType(spec.method, MemoryTools)
    return Tool.from_function(method, description=spec.description, annotations=hints)


def _bound(
    described: tuple[ToolSpec, Tool],
    tools: MemoryTools,
    drop: Callable[[], None],
    check: Callable[[Need, str], None],
) -> MemoryTool:
    spec, made = described
    parts = {name: getattr(made, name) for name in Tool.model_fields}
    parts["fn"] = MethodType(spec.method, tools)
    # Each server has its own copy, to keep and change.
    parts["parameters"] = {**deepcopy(made.parameters), "additionalProperties": False}
    return MemoryTool(**parts, drop=drop, check=partial(check, spec.needs, spec.name))

"""Pydantic AI: a toolset over an agent's memory, and turns as message history.

Install ``ezra[pydantic-ai]``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from tiers.errors import EzraError
from tiers.extras import needs
from tiers.records import ToolOutput

from ..checks import checked
from ..handles.agent import Agent
from ..handles.turn import OpenTurn
from ..wire.tools import ToolSpec, agent_tools, error_line
from .keeping import encodable

with needs("pydantic-ai", "ezra.adapters.pydantic_ai"):
    from pydantic_ai import RunContext, Tool, ToolFailed, ToolReturn
    from pydantic_ai.messages import (
        ModelMessage,
        ModelRequest,
        ModelRequestPart,
        ModelResponse,
        SystemPromptPart,
        TextPart,
        ToolReturnPart,
        UserPromptPart,
    )
    from pydantic_ai.toolsets import FunctionToolset

D = TypeVar("D")

_OWN = {"memory": "ezra"}
"""What is noted beside the answers of a ``MemoryToolset``; models are not shown it."""

_FAILED = "ezra memory: "
"""What its failures begin with: nothing can be noted beside them."""


class MemoryToolset(FunctionToolset[D]):
    """The tools over an agent's memory, for the ``toolsets`` of a Pydantic AI agent.

    What is refused is told to the model as the tool's failure: it may call again with something
    else, as often as it likes, and the run goes on.

    Args:
        agent: The agent, in process or on a server; or a function that takes the run's ``deps`` and
            returns it, where one Pydantic AI agent serves many.
        id: Names the toolset where something has to find it again, such as durable execution.
    """

    def __init__(
        self,
        agent: Agent | Callable[[D], Agent],
        *,
        id: str | None = None,  # noqa: A002 - as the framework calls it
    ) -> None:
        super().__init__(id=id)
        self._whose = agent
        for spec in agent_tools():
            self.add_tool(self._tool(spec))

    def _tool(self, spec: ToolSpec) -> Tool[D]:
        async def call(ctx: RunContext[D], /, **arguments: Any) -> ToolReturn:  # noqa: ANN401
            try:
                answer = await spec.call(self._agent(ctx), arguments)
            except EzraError as error:
                raise ToolFailed(_FAILED + error_line(error)) from error
            return ToolReturn(answer.model_dump(mode="json"), metadata=_OWN)

        tool: Tool[D] = Tool.from_schema(
            call, spec.name, spec.description, spec.parameters, takes_ctx=True
        )
        tool.metadata = {"effect": spec.effect}
        return tool

    def _agent(self, ctx: RunContext[D]) -> Agent:
        if isinstance(self._whose, Agent):
            return self._whose
        return self._whose(ctx.deps)


def message_history(turn: OpenTurn) -> list[ModelMessage]:
    """Return the context of a turn as ``message_history`` of a run, all but its last message.

    That is what was said now, which the run is asked with: ``bot.run(message,
    message_history=message_history(turn))``. With a history a run makes no system prompt of its
    own: the turn's says who the agent is; ``instructions`` are added to it.
    """
    history: list[ModelMessage] = []
    for said in turn.messages[:-1]:
        role, content = said["role"], said["content"]
        if role == "assistant":
            history.append(ModelResponse(parts=[TextPart(content)]))
            continue
        part: ModelRequestPart = (
            SystemPromptPart(content) if role == "system" else UserPromptPart(content)
        )
        history.append(ModelRequest(parts=[part]))
    return history


def tool_outputs(messages: Iterable[ModelMessage]) -> list[ToolOutput]:
    """Return what tools returned in a run, for ``turn.reply``: of ``run.new_messages()``.

    What a ``MemoryToolset`` returned is left out: it is remembered already. Half of a character,
    such as of an emoji that a program cut in two, is a question mark.

    Raises:
        UsageError: One is longer than a turn can hold.
    """
    parts = (part for message in messages for part in message.parts)
    return [
        checked(ToolOutput, tool=part.tool_name, output=encodable(part.model_response_str()))
        for part in parts
        if isinstance(part, ToolReturnPart) and not _is_own(part)
    ]


def _is_own(part: ToolReturnPart) -> bool:
    """Whether a ``MemoryToolset`` returned this, or failed with it."""
    if part.outcome == "failed":
        return isinstance(part.content, str) and part.content.startswith(_FAILED)
    return bool(part.metadata == _OWN)

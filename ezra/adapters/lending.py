"""What the adapters' tools share: whose memory a model is lent, and how it is told of a problem."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tiers.errors import EzraError

from ..handles.agent import Agent
from ..wire.tools import ToolSpec, problem_told


async def answered(
    spec: ToolSpec, agent: Agent, arguments: Mapping[str, Any] | str
) -> dict[str, Any]:
    """Return what a tool answers a model, as JSON has it; ``{"error": …}`` where it was refused.

    A model mends a call that was refused; the run of which it is a part goes on.

    Args:
        spec: Which tool.
        agent: As whom it is called.
        arguments: What the model gave: by name, or their JSON.
    """
    try:
        answer = await spec.call(agent, arguments)
    except EzraError as error:
        return {"error": problem_told(error)}
    return answer.model_dump(mode="json")

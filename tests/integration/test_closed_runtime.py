"""A runtime that is closed says so, whatever its handles are asked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from support.runtime import running

from ezra import TierUnavailable

OPERATIONS: dict[str, Callable[[Any, Any], Awaitable[object]]] = {
    "turn": lambda agent, _: agent.turn("How long do mediums last?"),
    "recall": lambda agent, _: agent.recall("mediums"),
    "search_memory": lambda agent, _: agent.search_memory(),
    "inject": lambda agent, _: agent.inject("mediums"),
    "beliefs": lambda agent, _: agent.beliefs(),
    "remember": lambda agent, _: agent.remember("Mediums last 18 laps."),
    "complete": lambda _, turn: turn.complete(),
    "reply": lambda _, turn: turn.reply("18 laps."),
}


@pytest.mark.parametrize("name", OPERATIONS)
async def test_a_closed_runtime_answers_nothing(tmp_path: Path, name: str) -> None:
    """What has no answer is no answer with gaps: each operation says that the store is closed."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("strategist", topics={"tyres"})
        turn = await agent.turn("How long do mediums last?")
    with pytest.raises(TierUnavailable, match=r"cold tier, .*: the store is closed"):
        await OPERATIONS[name](agent, turn)

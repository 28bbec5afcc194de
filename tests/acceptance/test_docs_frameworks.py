"""What the pages show for each framework, run by the framework with a scripted model."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from agents import Agent as OpenAIAgent
from agents import set_tracing_disabled
from agents.testing import ScriptedModel, assistant_message
from google.adk.agents import LlmAgent
from google.adk.sessions.in_memory_session_service import InMemorySessionService
from pydantic_ai.models.test import TestModel
from support.pages import lived, page
from support.runtime import running

from ezra.wire.tools import agent_tools

BESIDE = {"run", "run_async", "ainvoke"}
"""What a framework calls, and no tool."""


async def shown(mark: str, given: dict[str, Any]) -> dict[str, Any]:
    """Run the block with a mark in it, given what it takes for granted; return its names."""
    (block,) = [one for one in page("frameworks").blocks("python") if mark in one]
    return await lived([block], given)


async def test_langgraph_as_shown(tmp_path: Path) -> None:
    """An item is put and found by its meaning and its fields."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("monza")
        names = await shown("EzraStore(agent)", {"agent": await graph.spawn_agent("pit")})
    assert [one.key for one in names["found"]] == ["style"]
    assert {"recall", "forget"} <= {one.name for one in names["tools"]}


async def test_pydantic_ai_as_shown(tmp_path: Path) -> None:
    """The model calls a tool, and the turn keeps what it said."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("monza")
        agent = await graph.spawn_agent("pit", topics={"a"})
        given = {"agent": agent, "model": TestModel(call_tools=["recall"])}
        names = await shown("MemoryToolset(agent)", given)
        (turn,) = await graph.turns("pit")
    assert turn.response == names["run"].output


async def test_google_adk_as_shown(tmp_path: Path) -> None:
    """The runner takes the memory service, and an agent the toolset."""
    async with running(tmp_path) as ezra:
        bot = LlmAgent(name="pit", model="none")
        given = {"ezra": ezra, "bot": bot, "sessions": InMemorySessionService()}
        names = await shown("EzraMemoryService(ezra)", given)
        assert names["runner"].memory_service is names["memory"]
        LlmAgent(name="second", model="none", tools=[names["toolset"]])
        await names["runner"].close()


async def test_the_openai_agents_sdk_as_shown(tmp_path: Path) -> None:
    """What was said is in the session word for word."""
    set_tracing_disabled(disabled=True)
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("monza")
        agent = await graph.spawn_agent("pit")
        bot = OpenAIAgent(name="pit", model=ScriptedModel([[assistant_message("Stay out.")]]))
        names = await shown("EzraSession(", {"agent": agent, "bot": bot})
        from ezra.adapters.openai_agents import EzraSession

        items = await EzraSession("talk", agent).get_items()
    assert names["done"].final_output == "Stay out."
    assert items[0] == {"role": "user", "content": "Box now?"}


def test_no_framework_is_shown_that_nothing_runs() -> None:
    """A new block needs a test above."""
    marks = ("EzraStore(agent)", "MemoryToolset(agent)", "EzraMemoryService(ezra)", "EzraSession(")
    blocks = page("frameworks").blocks("python")
    assert len(blocks) == len(marks)
    assert all(any(mark in block for block in blocks) for mark in marks)


def test_the_tools_that_a_framework_is_shown_are_named() -> None:
    """All of them, and none besides."""
    introduction = page("frameworks").text.partition("## LangGraph")[0]
    named = {one for one in re.findall(r"`(\w+)`", introduction) if one not in BESIDE}
    assert named == {tool.name for tool in agent_tools()}

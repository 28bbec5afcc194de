"""The Pydantic AI toolset, by runs of its agents with models made of functions; both doors."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic_ai import Agent, ToolFailed
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel
from support.two_doors import House

from ezra.adapters.pydantic_ai import MemoryToolset, message_history, tool_outputs
from tiers.errors import UsageError

pytestmark = pytest.mark.asyncio(loop_scope="module")


class Script:
    """A model that says one thing after the other, and notes what it was shown."""

    def __init__(self, *says: ToolCallPart | str) -> None:
        self._says = list(says)
        self.shown: list[list[ModelMessage]] = []
        self.tools: set[str] = set()
        self.model = FunctionModel(self._answer)

    def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.shown.append(list(messages))
        self.tools = {tool.name for tool in info.function_tools}
        said = self._says.pop(0)
        return ModelResponse(parts=[TextPart(said) if isinstance(said, str) else said])


def returned(messages: Sequence[ModelMessage]) -> list[ToolReturnPart]:
    """Return what tools returned."""
    return [part for one in messages for part in one.parts if isinstance(part, ToolReturnPart)]


async def test_a_run_remembers_and_recalls(home: House) -> None:
    """Structured answers, arguments as JSON or as they are; the tools are those of every door."""
    script = Script(
        ToolCallPart("remember_fact", {"text": "Mediums last 18 laps."}),
        ToolCallPart("recall", '{"query": "mediums", "kinds": ["fact"]}'),
        "18 laps.",
    )
    bot = Agent(script.model, toolsets=[MemoryToolset(await home.agent())])
    run = await bot.run("How long do the mediums last?")
    remembered, recalled = (part.content for part in returned(run.all_messages()))
    assert [one["id"] for one in recalled["items"]] == [remembered["id"]]
    assert json.dumps(recalled)
    assert run.output == "18 laps."
    names = {"recall", "remember_fact", "read_tool_output", "commit_belief", "beliefs", "forget"}
    assert names <= script.tools


@dataclass
class Deps:
    """What a run is given."""

    memory: Any


async def test_one_bot_serves_many_by_its_deps(home: House) -> None:
    """Each run has the memory of its own; several at once do not get each other's."""
    bots = [await home.agent(), await home.agent()]
    toolset: MemoryToolset[Deps] = MemoryToolset(lambda deps: deps.memory, id="memory")
    assert toolset.id == "memory"
    for number, memory in enumerate(bots):
        script = Script(
            ToolCallPart("remember_fact", {"text": f"I am {number}."}),
            ToolCallPart("beliefs", {}),
            "Done.",
        )
        bot = Agent(script.model, deps_type=Deps, toolsets=[toolset])
        await bot.run("Remember.", deps=Deps(memory))
    for number, memory in enumerate(bots):
        assert [one.text for one in (await memory.recall("I am")).items] == [f"I am {number}."]


async def test_what_is_refused_is_told_and_the_run_goes_on(home: House) -> None:
    """Arguments that do not fit, topics of others, turns that are not there; again and again."""
    script = Script(
        ToolCallPart("recall", {"query": "x", "limit": 0}),
        ToolCallPart("recall", {"query": "x", "colour": "red"}),
        ToolCallPart("recall", {"query": "x", "ctx": "mine", "self": "me"}),
        ToolCallPart("recall", {"query": "x"}),
        ToolCallPart("remember_fact", {"text": "x", "topics": ["money"]}),
        ToolCallPart("read_tool_output", {"turn_id": "nobody"}),
        "So be it.",
    )
    bot = Agent(script.model, toolsets=[MemoryToolset(await home.agent())])
    run = await bot.run("Go on.")
    told = returned(run.all_messages())
    assert [part.outcome for part in told] == [*["failed"] * 3, "success", *["failed"] * 2]
    for part, problem in zip(
        told, ("limit", "colour", "'ctx'", "", "PolicyDenied", "NotFound"), strict=True
    ):
        assert problem in str(part.content)
    assert run.output == "So be it."


async def test_what_memory_refused_is_no_output_of_a_turn(home: House) -> None:
    """What an application's own tool failed with is one, whatever it is called; also from JSON."""

    def radio() -> str:
        """Ask the radio."""
        raise ToolFailed("No signal.")

    script = Script(
        ToolCallPart("recall", {"query": "x", "limit": 0}), ToolCallPart("radio", {}), "Silence."
    )
    bot = Agent(script.model, tools=[radio], toolsets=[MemoryToolset(await home.agent())])
    run = await bot.run("Go on.")
    stored = ModelMessagesTypeAdapter.validate_json(run.new_messages_json())
    for messages in (run.new_messages(), stored):
        (output,) = tool_outputs(messages)
        assert (output.tool, output.output) == ("radio", '{"error":"No signal."}')


async def test_every_tool_can_be_called_as_its_schema_says(home: House) -> None:
    """The framework's own test model makes arguments up from the schemas, and calls them all."""
    agent = await home.agent(topics={"a", "tyres"})
    toolset: MemoryToolset[None] = MemoryToolset(agent)
    run = await Agent(TestModel(), toolsets=[toolset]).run("Go on.")
    told = returned(run.all_messages())
    assert {part.tool_name for part in told} == set(toolset.tools)
    done = {part.tool_name for part in told if part.outcome == "success"}
    assert {"recall", "search_memory", "remember_rule", "commit_belief"} <= done


async def test_a_turn_is_the_history_of_a_run_and_a_run_is_remembered(home: House) -> None:
    """What is known comes first, then the last turns; what tools returned is kept, memory's not."""
    memory = await home.agent(role="You watch the tyres.")
    first = await memory.turn("Hello.")
    await first.reply("Good morning.")
    await memory.remember("Mediums last 18 laps.")
    turn = await memory.turn("How long do the mediums last?")
    script = Script(
        ToolCallPart("recall", {"query": "mediums"}), ToolCallPart("laps", {}), "About 18 laps."
    )
    bot = Agent(script.model, instructions="Be brief.", toolsets=[MemoryToolset(memory)])

    @bot.tool_plain
    def laps() -> dict[str, int]:
        """Return the laps."""
        return {"laps": 18}

    run = await bot.run("How long do the mediums last?", message_history=message_history(turn))
    seen = script.shown[0]
    told = [(part.part_kind, getattr(part, "content", "")) for one in seen for part in one.parts]
    assert told[0][0] == "system-prompt"
    assert "Mediums last 18 laps." in told[0][1]
    assert told[1:] == [
        ("user-prompt", "Hello."),
        ("text", "Good morning."),
        ("user-prompt", "How long do the mediums last?"),
    ]
    assert isinstance(seen[-1], ModelRequest)
    assert seen[-1].instructions == "Be brief."
    written = await turn.reply(run.output, tool_outputs(run.new_messages()))
    assert [(one.tool, one.output) for one in written.turn.tool_outputs] == [
        ("laps", '{"laps":18}')
    ]
    shown = await memory.read_tool_output(written.turn.id)
    assert shown.text == '{"laps":18}'


async def test_an_output_that_no_turn_can_hold_is_refused() -> None:
    """Before anything is written."""
    part = ToolReturnPart("radio", "x" * 1_000_001, "call-1")
    with pytest.raises(UsageError, match="output"):
        tool_outputs([ModelRequest(parts=[part])])


async def test_half_of_a_character_keeps_no_output_from_memory(home: House) -> None:
    """A program that cut an emoji in two does not fail the turn in which it was called."""
    agent = await home.agent()
    turn = await agent.turn("Box now?")
    part = ToolReturnPart("radio", "dry \ud83d now", "call-1")
    written = await turn.reply("No.", tool_outputs([ModelRequest(parts=[part])]))
    assert (await agent.read_tool_output(written.turn.id)).text == "dry ? now"

"""A request to an assistant is answered from what the user said, not from its old advice."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from support.runtime import running

from ezra import Agent
from ezra.wire.tools import agent_tools

FIRST = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
SAID = (
    (
        "My garden faces north and the soil is heavy clay, so last autumn I dug in two loads of "
        "grit and planted ferns under the pear tree because nothing else survived. What else grows?"
    ),
    "I only own hand tools for the garden, no petrol or battery machines, and want it to stay so.",
    "The garden pond froze last week and two of my goldfish died.",
)
ADVICE = (
    "For a garden in the shade I suggest hostas, and tools such as a spade, a fork and a hoe.",
    "Garden tools should be cleaned; you may list the tools that you use and suggest an order.",
    "For ponds I suggest a floating heater; list the order of works for the garden before winter.",
)


async def _talk(agent: Agent) -> None:
    for number, (said, advice) in enumerate(zip(SAID, ADVICE, strict=True)):
        at = FIRST + timedelta(days=9 * number)
        turn = await agent.turn(said, at=at, speaker="user")
        await turn.reply("I see.")
        turn = await agent.turn(advice, at=at + timedelta(minutes=1), speaker="assistant")
        await turn.reply("Noted.")


async def _found(agent: Agent, question: str) -> list[str]:
    found = await agent.recall(question, kinds=("turn",), limit=3)
    return [hit.text.partition("\n")[0].partition(": ")[2] or hit.text for hit in found.items]


async def test_r9_12_requests_find_what_the_user_said(tmp_path: Path) -> None:
    """In which order something was brought up, and what to use now, are the user's to have said."""
    async with running(tmp_path) as ezra:
        agent = await (await ezra.create_session_graph("home")).spawn_agent("helper")
        await _talk(agent)
        for question in (
            "What did I bring up, in which order?",
            "Can you list in which order I brought up different aspects of my garden?",
        ):
            assert sorted(await _found(agent, question)) == sorted(SAID), question
        best = await _found(agent, "What garden tools would you suggest I use?")
        assert best[0] == SAID[1]
        best = await _found(agent, "Which plants did you suggest for the shade of the garden?")
        assert best[0] == ADVICE[0]


async def test_r9_12_who_asks_in_which_order_reads_it_in_that_order(tmp_path: Path) -> None:
    """Recall has the best first; what people and models read of it begins with the oldest."""
    async with running(tmp_path, ring_capacity=1) as ezra:
        agent = await (await ezra.create_session_graph("home")).spawn_agent("helper")
        await _talk(agent)
        await ezra.drain_learning()
        question = "Can you list in which order I brought up different aspects of my garden?"
        found = await agent.recall(question, kinds=("turn",), limit=3)
        scores = [hit.score for hit in found.items]
        assert scores == sorted(scores, reverse=True)
        (tool,) = (one for one in agent_tools() if one.name == "recall")
        asked = json.dumps({"query": question, "kinds": ["turn"], "limit": 3})
        answer: Any = await tool.call(agent, asked)
        brought = (await agent.inject(question)).text
        context = (await agent.turn(question)).messages[0]["content"]
        read = "\n".join(one.text for one in answer.items)
        for shown, least in ((read, 3), (brought, 3), (context, 2)):
            places = [shown.find(said[:40]) for said in SAID]
            found_at = [place for place in places if place >= 0]
            assert len(found_at) >= least
            assert found_at == sorted(found_at)

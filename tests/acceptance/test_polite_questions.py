"""A request to an assistant is answered from what the user said, not from its old advice."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from support.runtime import running

from ezra import Agent

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

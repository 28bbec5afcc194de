"""A context tells who asks what is nearest to the question, however little is like it."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.runtime import running

from ezra import Agent

SMALL_TALK = [f"Look at the number {number} for me." for number in range(9)]
"""More than the ring holds: what was said before it is in a context only if memory brings it."""


async def _said(agent: Agent, *texts: str) -> None:
    for text in texts:
        await (await agent.turn(text)).reply("Okay.")


async def _turns_told(agent: Agent, message: str) -> list[str]:
    turn = await agent.turn(message)
    return [slot.text for slot in turn.slots if slot.record == "turn" and slot.kind == "warm"]


@pytest.mark.parametrize("asked", ["What is my dog called?", "tell me my dog's name"])
async def test_who_asks_is_told_the_nearest_though_nothing_in_it_is_like_the_question(
    tmp_path: Path, asked: str
) -> None:
    """No word and little meaning of the answer is in the question."""
    async with running(tmp_path, embedder="required") as ezra:
        agent = await (await ezra.create_session_graph("home")).spawn_agent("aide")
        await _said(agent, "We're getting a dog at last, a greyhound.", "Biscuit fears stairs.")
        await _said(agent, *SMALL_TALK)
        await ezra.drain_learning()

        told = await _turns_told(agent, asked)

        assert any("Biscuit" in text for text in told)


async def test_who_says_something_is_told_only_what_is_about_it(tmp_path: Path) -> None:
    """What is near in nothing but rank would only fill the context."""
    async with running(tmp_path, embedder="required") as ezra:
        agent = await (await ezra.create_session_graph("home")).spawn_agent("aide")
        await _said(agent, "We're getting a dog at last, a greyhound.", "Biscuit fears stairs.")
        await _said(agent, *SMALL_TALK)
        await ezra.drain_learning()

        assert await _turns_told(agent, "The invoice was paid by card.") == []


async def test_what_the_conversation_shows_takes_no_place_among_the_nearest(tmp_path: Path) -> None:
    """All that was said before the ring is told, though the ring is nearer to the question."""
    async with running(tmp_path, embedder="required") as ezra:
        agent = await (await ezra.create_session_graph("home")).spawn_agent("aide")
        before = [f"Look at the letter {letter} for me." for letter in "ABCDEF"]
        ring = [f"My dog is called when it is {hour} o'clock." for hour in range(1, 9)]
        await _said(agent, *before, *ring)
        await ezra.drain_learning()

        told = await _turns_told(agent, "What is my dog called?")

        assert sorted(text.partition(": ")[2].partition("\n")[0] for text in told) == before

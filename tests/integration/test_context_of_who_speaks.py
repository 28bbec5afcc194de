"""What is known of who speaks reaches a context though they say nothing of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.runtime import running

from ezra import Agent, Graph

SMALL_TALK = [f"Look at the number {number} for me." for number in range(9)]
"""More than the ring holds: what was said before it is in a context only if memory brings it."""


async def _said(agent: Agent, *texts: str, speaker: str | None = None) -> None:
    for text in texts:
        turn = await agent.turn(text, speaker=speaker)
        await turn.reply("Okay.")


async def _told(agent: Agent, text: str, speaker: str | None = None) -> list[str]:
    """Return the facts that a context has beside the core ones."""
    turn = await agent.turn(text, speaker=speaker)
    return [slot.text for slot in turn.slots if slot.kind == "archival"]


@pytest.mark.parametrize("embedder", ["off", "required"])
async def test_what_counts_for_every_answer_is_told_whatever_is_asked(
    tmp_path: Path, embedder: str
) -> None:
    """A wish and an allergy of long ago stand in a context about something else."""
    async with running(tmp_path, embedder=embedder) as ezra:
        graph = await ezra.create_session_graph("home")
        agent = await graph.spawn_agent("aide", user_id="sam")
        await _said(agent, "Please always answer in German.", "I'm allergic to peanuts.")
        await _said(agent, *SMALL_TALK)
        await ezra.drain_learning()

        told = await _told(agent, "Summarise the article on solar panels.")

        assert set(told) == {
            "sam asks the assistant always to answer in German",
            "sam is allergic to peanuts",
        }


async def test_what_is_near_what_somebody_says_is_told_though_no_word_is_shared(
    tmp_path: Path,
) -> None:
    """Meaning alone brings it, far below what makes a fact be about a message."""
    async with running(tmp_path, embedder="required") as ezra:
        graph = await ezra.create_session_graph("home")
        agent = await graph.spawn_agent("aide", user_id="sam")
        await _said(agent, "We have two cats, Miso and Tofu.", "I use Neovim on Arch Linux.")
        await _said(agent, *SMALL_TALK)
        await ezra.drain_learning()

        told = await _told(agent, "How do I set up my editor for Rust?")

        assert told == ["sam uses Neovim on Arch Linux"]


@pytest.mark.parametrize("embedder", ["off", "required"])
async def test_in_a_large_memory_too(tmp_path: Path, embedder: str) -> None:
    """Where more is known than is looked at, what counts for every answer is looked up."""
    async with running(tmp_path, embedder=embedder) as ezra:
        graph = await ezra.create_session_graph("home")
        agent = await graph.spawn_agent("aide", user_id="sam")
        await _said(agent, "Never use emojis.", "I'm not allowed to eat nuts.")
        for number in range(40):
            await agent.remember(f"sam owns the book Volume {number}")
        await _said(agent, *SMALL_TALK)
        await ezra.drain_learning()

        told = await _told(agent, "Which book shall I read?")

        assert {
            "sam asks the assistant never to use emojis",
            "sam is not allowed to eat nuts",
        } <= set(told)


async def test_of_each_who_speaks_their_own(tmp_path: Path) -> None:
    """Names that begin alike are not confused, and who is new is told nothing of others."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("office")
        agent = await graph.spawn_agent("aide")
        await _said(agent, "Please always answer in French.", "I'm vegan.", speaker="Ada")
        await _said(agent, "Please always answer in German.", speaker="Adam")
        await _said(agent, *SMALL_TALK, speaker="Ada")
        await ezra.drain_learning()

        asked = "Order lunch for the two of us."

        assert set(await _told(agent, asked, speaker="Ada")) == {
            "Ada asks the assistant always to answer in French",
            "Ada is vegan",
        }
        assert await _told(agent, asked, speaker="Adam") == [
            "Adam asks the assistant always to answer in German"
        ]
        assert await _told(agent, asked, speaker="Bo") == []


async def test_of_a_user_what_their_agents_learnt_and_of_no_other(tmp_path: Path) -> None:
    """One person's chats share what they taught; another's do not see it in their contexts."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("home")
        first = await graph.spawn_agent("monday", user_id="sam")
        await _said(first, "I'm allergic to peanuts.")
        await ezra.drain_learning()
        second = await graph.spawn_agent("tuesday", user_id="sam")
        other = await graph.spawn_agent("guest", user_id="kim")

        assert await _told(second, "Plan a picnic.") == ["sam is allergic to peanuts"]
        assert await _told(other, "Plan a picnic.") == []


async def test_what_the_conversation_shows_is_not_told_again(tmp_path: Path) -> None:
    """While the ring shows the words themselves, the fact made of them adds nothing."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("home")
        agent = await graph.spawn_agent("aide", user_id="sam")
        await _said(agent, "I'm allergic to peanuts.")
        await ezra.drain_learning()

        assert await _told(agent, "Plan a picnic.") == []


async def _uses(graph: Graph) -> list[int]:
    return [fact.uses for fact in (await graph.latest_facts()).rows]


async def test_to_be_told_unasked_is_no_use_and_a_receipt_shows_it(tmp_path: Path) -> None:
    """Uses count towards core: who was never asked of stays archival, and is on record as shown."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("home")
        agent = await graph.spawn_agent("aide", user_id="sam")
        await _said(agent, "I'm allergic to peanuts.", *SMALL_TALK)
        await ezra.drain_learning()
        for _ in range(4):
            turn = await agent.turn("Plan a picnic.")
            await ezra.drain_learning()

        assert await _uses(graph) == [0]
        rebuilt = await graph.replay_context(turn.receipt_id)
        assert "sam is allergic to peanuts" in str(rebuilt.messages)
        receipt = await graph.receipt(turn.receipt_id)
        assert receipt.body["unasked"] == [fact.id for fact in (await graph.latest_facts()).rows]

        await agent.turn("Am I allergic to peanuts?")
        await ezra.drain_learning()
        assert await _uses(graph) == [1]


async def test_what_was_forgotten_is_not_told(tmp_path: Path) -> None:
    """What is looked up stands, like everything that is found."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("home")
        agent = await graph.spawn_agent("aide", user_id="sam")
        await _said(agent, "Please always answer in German.", *SMALL_TALK)
        await ezra.drain_learning()
        (wish,) = (await graph.latest_facts()).rows
        await agent.forget(wish.id, reason="changed my mind")

        assert await _told(agent, "Plan a picnic.") == []


async def test_in_a_branch_what_was_said_before_it(tmp_path: Path) -> None:
    """What a branch inherits counts as what its own graph holds."""
    async with running(tmp_path, embedder="required") as ezra:
        graph = await ezra.create_session_graph("home")
        agent = await graph.spawn_agent("aide", user_id="sam")
        await _said(agent, "Please always answer in German.", *SMALL_TALK)
        await ezra.drain_learning()
        branch = await graph.branch(session_graph_id="what-if")
        there = await branch.spawn_agent("aide", user_id="sam")

        assert await _told(there, "Summarise the article on solar panels.") == [
            "sam asks the assistant always to answer in German"
        ]


async def test_who_gives_no_name_is_told_theirs(tmp_path: Path) -> None:
    """A first program names nobody: what was learnt is of "the user", who speaks."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("home")
        agent = await graph.spawn_agent("aide")
        await _said(agent, "I'm allergic to peanuts.", *SMALL_TALK)
        await ezra.drain_learning()

        assert await _told(agent, "Plan a picnic.") == ["user is allergic to peanuts"]

"""A context tells when things were said, and what was said when somebody asks about a time."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from support.runtime import MovingClock, running

from ezra import Agent, Graph
from ezra.handles.recording import PastTurn

NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)  # a Monday
DIARY = (
    "I took the cat to the vet.",  # Friday
    "I played chess with Omar.",
    "I watched a film about Mars.",  # Sunday
)


@asynccontextmanager
async def _diary(
    home: Path, *, is_told_in_short: bool = False, **settings: object
) -> AsyncIterator[tuple[Graph, Agent]]:
    """Give an agent that was told a sentence a day, at half past eleven at night, UTC."""
    clock = MovingClock(NOW)
    async with running(home, clock, **settings) as ezra:
        graph = await ezra.create_session_graph("home")
        agent = await graph.spawn_agent("aide", user_id="sam")
        late = NOW.replace(hour=23, minute=30)
        told = [
            PastTurn(message=text, response="Nice.", speaker="sam", at=late - timedelta(days=ago))
            for ago, text in zip((3, 2, 1), DIARY, strict=True)
        ]
        asked = [
            PastTurn(message=f"Look at {number}.", response="Yes.", speaker="sam", at=NOW)
            for number in range(9)
        ]
        await agent.record([*told, *asked])
        await ezra.drain_learning()
        if is_told_in_short:
            clock.move(minutes=16)
            await ezra.run_lifecycle_tick("home")
        yield graph, agent


async def _recalled(agent: Agent, text: str) -> list[str]:
    turn = await agent.turn(text)
    return [slot.text for slot in turn.slots if slot.record == "turn" and slot.kind == "warm"]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("What did I do yesterday?", DIARY[2]),
        ("What did I do the day before yesterday?", DIARY[1]),
        ("Tell me what happened on Friday.", DIARY[0]),
        ("What happened on November 27?", DIARY[0]),
        ("What did I do 3 days ago?", DIARY[0]),
        ("What did I do before 28 November?", DIARY[0]),
    ],
)
async def test_who_asks_about_a_time_is_told_what_was_said_then(
    tmp_path: Path, asked: str, told: str
) -> None:
    """No word of the question stands in what answers it."""
    async with _diary(tmp_path) as (_, agent):
        assert await _recalled(agent, asked) == [f"sam: {told}\nNice."]


async def test_an_open_time_hides_nothing(tmp_path: Path) -> None:
    """What lies in it comes first; "before" a day is not on it, and what was said then is found."""
    async with _diary(tmp_path) as (_, agent):
        for asked, first in (
            ("What did I do before 29 November?", set(DIARY[:2])),
            ("Which film did I watch before 29 November?", {DIARY[2]}),
        ):
            found = await agent.recall(asked, kinds=("turn",))
            told = [hit.text.removeprefix("sam: ").partition("\n")[0] for hit in found.items]
            assert set(told[: len(first)]) == first


@pytest.mark.parametrize(
    "said", ["I slept well yesterday.", "What shall we do tomorrow?", "How are you?"]
)
async def test_who_asks_of_no_past_time_is_told_nothing_of_one(tmp_path: Path, said: str) -> None:
    """What is told, what is to come and small talk bring no diary."""
    async with _diary(tmp_path) as (_, agent):
        assert await _recalled(agent, said) == []


async def test_a_week_brings_no_more_than_fits(tmp_path: Path) -> None:
    """Oldest first is not promised; that all three days are there is."""
    async with _diary(tmp_path) as (_, agent):
        found = await _recalled(agent, "What have I been up to last week?")

        assert sorted(found) == sorted(f"sam: {text}\nNice." for text in DIARY)


async def test_a_fact_that_was_found_stands_with_the_day_on_which_it_was_said(
    tmp_path: Path,
) -> None:
    """Of two facts that disagree a model can tell which is newer; a receipt tells it as well."""
    async with running(tmp_path, MovingClock(NOW)) as ezra:
        graph = await ezra.create_session_graph("home")
        agent = await graph.spawn_agent("aide", user_id="sam")
        said = PastTurn(message="I have a cat called Miso.", speaker="sam", at=NOW.replace(month=8))
        await agent.record([said])
        await agent.remember("sam has a cat called Tofu")
        await ezra.drain_learning()
        turn = await agent.turn("Which cat do I have?")

        told = turn.messages[0]["content"]
        assert "- [fact of 2026-08-30] sam has a cat called Miso" in told
        assert "- [fact] sam has a cat called Tofu" in told
        rebuilt = await graph.replay_context(turn.receipt_id)
        assert rebuilt.is_exact, rebuilt.reason


async def test_what_a_turn_tells_a_week_beside_it_leaves_out(tmp_path: Path) -> None:
    """The rest of it stands there with its days, and a receipt knows what was left out."""
    async with _diary(tmp_path, is_told_in_short=True) as (graph, agent):
        turn = await agent.turn("Was it a film about Mars, or chess with Omar?")

        messages = str(turn.messages)
        assert [messages.count(said.rstrip(".")) for said in DIARY] == [1, 1, 1]
        assert any(slot.left_out for slot in turn.slots)
        rebuilt = await graph.replay_context(turn.receipt_id)
        assert rebuilt.is_exact, rebuilt.reason
        assert list(rebuilt.messages) == turn.messages


@pytest.mark.parametrize(("zone", "day"), [("UTC", "2026-11-27"), ("Europe/Vienna", "2026-11-28")])
async def test_a_turn_that_was_found_stands_with_its_day(
    tmp_path: Path, zone: str, day: str
) -> None:
    """A model cannot tell when something was from what was said; days are those of the zone."""
    async with _diary(tmp_path, time_zone=zone) as (graph, agent):
        turn = await agent.turn("When did I take the cat to the vet?")

        assert f"- [turn of {day}] sam: I took the cat" in turn.messages[0]["content"]
        rebuilt = await graph.replay_context(turn.receipt_id)
        assert rebuilt.is_exact, rebuilt.reason
        assert list(rebuilt.messages) == turn.messages

"""Of two statements the one that was said later holds, whenever and in whatever order learnt."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from support.runtime import MovingClock, running

from ezra import Agent, Ezra
from ezra.handles.graph import Graph
from tiers.ids import SteadyClock
from tiers.records import Fact, Hit

FIRST = datetime(2025, 11, 3, 10, 0, tzinfo=UTC)
MOVES = ("Berlin", "Lisbon", "Porto", "Berlin", "Oslo", "Turin")


async def _tell(agent: Agent, *said: str, at: datetime | None = None) -> None:
    for text in said:
        turn = await agent.turn(text, at=at)
        await turn.reply("Noted.")


async def _homes(ezra: Ezra, agent: Agent) -> list[str]:
    """Return where the memory says that the user lives, after all that is due was learnt."""
    for _ in range(4):
        await ezra.drain_learning()
    found = await agent.recall("Where does ada live?", kinds=("fact",), limit=20)
    return sorted(_place(hit) for hit in found.items if " lives in " in hit.text)


def _place(hit: Hit) -> str:
    return hit.text.rpartition(" ")[2]


async def _agents(ezra: Ezra, *names: str) -> Sequence[Agent]:
    graph = await ezra.create_session_graph("home")
    return [await graph.spawn_agent(name, user_id="ada") for name in names]


@pytest.mark.parametrize("number", range(6))
async def test_r9_10_the_later_of_two_statements_of_a_pass_wins(
    tmp_path: Path, number: int
) -> None:
    """Said in two turns one after the other, learnt in one go: by chance it was the earlier."""
    cities = random.Random(number).sample(sorted(set(MOVES)), 2)
    async with running(tmp_path) as ezra:
        (scout,) = await _agents(ezra, f"scout-{number}")
        await _tell(scout, *(f"I live in {city}." for city in cities))
        assert await _homes(ezra, scout) == [cities[1]]


@pytest.mark.parametrize(
    "said",
    [
        "I live in Berlin. Sorry, no. I live in Potsdam.",
        "I live in Berlin. Oops, I mean I live in Potsdam.",
        "I live in Potsdam. I live in Berlin. No wait, I live in Potsdam.",
    ],
)
async def test_r9_10_the_later_place_of_a_text_wins(tmp_path: Path, said: str) -> None:
    """Whoever corrects themselves in the same breath means the correction."""
    async with running(tmp_path) as ezra:
        (scout,) = await _agents(ezra, "scout")
        await _tell(scout, said)
        assert await _homes(ezra, scout) == ["Potsdam"]


async def _learnt(ezra: Ezra, graph: Graph, *said: str) -> set[str]:
    """Return the current facts after texts were said one after the other."""
    agent = await graph.spawn_agent("bot", topics={"*"}, user_id="ada")
    for text in said:
        turn = await agent.turn(text, speaker="Ada")
        await turn.reply("Noted.")
        await ezra.drain_learning()
    return {fact.text for fact in (await graph.latest_facts()).rows}


@pytest.mark.parametrize(
    ("said", "current"),
    [
        (
            ("I live in London.", "I don't live in London, Ontario."),
            {"Ada lives in London", "Ada doesn't live in London, Ontario"},
        ),
        (
            ("I run 5 km every morning.", "I don't run any more."),
            {"Ada doesn't run any more"},
        ),
        (
            ("I am married to Tom.", "Tom and I got divorced."),
            {"Tom and Ada got divorced"},
        ),
        (
            ("My email is a@x.org.", "My new email is b@x.org."),
            {"Ada's email is b@x.org"},
        ),
        (
            ("My phone is 555 0100.", "My new phone is 555 0199."),
            {"Ada's phone is 555 0199"},
        ),
        (
            ("My job title is analyst.", "My new job title is manager."),
            {"Ada's job title is manager"},
        ),
        (
            ("My address is 5 Elm Street.", "My new address is 9 Oak Road."),
            {"Ada's address is 9 Oak Road"},
        ),
    ],
)
async def test_a_denial_ends_what_it_denies_and_nothing_else(
    tmp_path: Path, said: Sequence[str], current: set[str]
) -> None:
    """What is said of a namesake leaves the fact alone."""
    async with running(tmp_path) as ezra:
        assert await _learnt(ezra, await ezra.create_session_graph("home"), *said) == current


async def test_r9_10_a_correction_within_a_pass_wins(tmp_path: Path) -> None:
    """In a turn of its own, and where the first home was known before."""
    async with running(tmp_path) as ezra:
        (scout,) = await _agents(ezra, "scout")
        await _tell(scout, "I live in Berlin.", "Sorry, no. I live in Potsdam.")
        assert await _homes(ezra, scout) == ["Potsdam"]
        await _tell(scout, "I live in Berlin.", "No, sorry, I live in Potsdam.")
        assert await _homes(ezra, scout) == ["Potsdam"]


async def test_r9_10_who_comes_back_within_a_pass_is_back(tmp_path: Path) -> None:
    """What is known already and said again after something else is the later statement."""
    async with running(tmp_path) as ezra:
        (scout,) = await _agents(ezra, "scout")
        await _tell(scout, "I live in Berlin.")
        assert await _homes(ezra, scout) == ["Berlin"]
        await _tell(scout, "I live in Potsdam.", "I live in Berlin.")
        assert await _homes(ezra, scout) == ["Berlin"]


async def test_r9_10_six_monthly_moves_end_in_the_last(tmp_path: Path) -> None:
    """Played in from a log in any order of months, at once or one by one."""
    async with running(tmp_path, MovingClock(FIRST + timedelta(days=400))) as ezra:
        graph = await ezra.create_session_graph("home")
        for number in range(3):
            user = f"ada{number}"
            scout = await graph.spawn_agent(f"scout{number}", user_id=user)
            months = list(enumerate(MOVES))
            random.Random(number).shuffle(months)
            for month, city in months:
                await _tell(scout, f"I live in {city}.", at=FIRST + timedelta(days=30 * month))
                if number == 1:
                    await ezra.drain_learning()
            assert await _homes(ezra, scout) == [MOVES[-1]], (number, months)


async def test_r9_10_what_is_learnt_late_replaces_nothing_that_was_said_later(
    tmp_path: Path,
) -> None:
    """Another agent's older history, and what somebody remembered themselves, count by their time.

    A home that was named again after the older one stays as well.
    """
    clock = MovingClock(FIRST + timedelta(days=400))
    async with running(tmp_path, clock) as ezra:
        one, two = await _agents(ezra, "one", "two")
        await _tell(one, "I live in Berlin.", at=FIRST)
        await _tell(one, "I live in Berlin.", at=FIRST + timedelta(days=60))
        assert await _homes(ezra, one) == ["Berlin"]
        await _tell(two, "I live in Lisbon.", at=FIRST + timedelta(days=30))
        assert await _homes(ezra, two) == ["Berlin"]
        await _tell(two, "I live in Oslo.", at=FIRST + timedelta(days=90))
        assert await _homes(ezra, two) == ["Oslo"]
        clock.move(minutes=1)
        await two.remember(Fact(subject="ada", predicate="lives in", object="Turin"))
        await _tell(one, "I live in Porto.", at=FIRST + timedelta(days=120))
        assert await _homes(ezra, one) == ["Turin"]


async def test_a_clock_that_is_set_back_turns_no_order_round(tmp_path: Path) -> None:
    """Told to learn, recorded or remembered: what a runtime was told later holds.

    A moment that somebody states counts as it is stated, and so does a clock that was wrong by
    more than a day.
    """
    clock = MovingClock(FIRST)
    async with running(tmp_path, clock) as ezra:
        (scout,) = await _agents(ezra, "scout")
        await _tell(scout, "I live in Berlin.")
        clock.move(minutes=-5)
        await _tell(scout, "I live in Lisbon.")
        assert await _homes(ezra, scout) == ["Lisbon"]
        clock.move(hours=-2)
        await scout.record([{"message": "I live in Porto."}])
        assert await _homes(ezra, scout) == ["Porto"]
        for colour in ("red", "blue"):
            clock.move(seconds=-1)
            await scout.remember(Fact(subject="car", predicate="has colour", object=colour))
        await _tell(scout, "I live in Berlin.", at=FIRST - timedelta(hours=1))
        assert await _homes(ezra, scout) == ["Porto"]
        clock.move(days=-2)
        await _tell(scout, "I live in Turin.")
        assert await _homes(ezra, scout) == ["Porto"]
        found = await scout.recall("Which colour has the car?", kinds=("fact",))
        assert [hit.text for hit in found.items if "colour" in hit.text] == ["car has colour blue"]


async def test_undoing_what_ended_some_of_a_list_brings_all_of_it_back(tmp_path: Path) -> None:
    """What was left of it rests on the ending, and goes with that."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("home")
        agent = await graph.spawn_agent("scout", user_id="ada")
        for text in ("I take aspirin, metformin and vitamin D.", "I stopped taking aspirin."):
            await _tell(agent, text)
            await ezra.drain_learning()
        facts = {one.text: one for one in (await agent.latest_facts()).rows}
        assert set(facts) == {"ada takes metformin and vitamin D", "ada stopped taking aspirin"}
        ending = facts["ada stopped taking aspirin"].source_ids[0]
        await graph.taint.roll_back(ending, reason="it was a joke")
        texts = [one.text for one in (await agent.latest_facts()).rows]
        assert texts == ["ada takes aspirin, metformin and vitamin D"]


def test_a_steady_clock_goes_on_from_its_last_reading() -> None:
    """It stands where the clock below stands, and never holds on for longer than a day."""
    readings = [FIRST, FIRST, FIRST - timedelta(hours=3), FIRST - timedelta(hours=2)]
    readings += [FIRST + timedelta(hours=1), FIRST - timedelta(days=3), FIRST]
    step = timedelta(microseconds=1)
    held = [FIRST, FIRST, FIRST + step, FIRST + 2 * step]
    steady = SteadyClock(iter(readings).__next__)
    assert [steady() for _ in readings] == [*held, *readings[4:]]

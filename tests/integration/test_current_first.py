"""Of what was said and said otherwise since, recall answers what holds now first."""

from __future__ import annotations

from pathlib import Path

from support.runtime import MovingClock, running

from ezra import Agent, Ezra


async def _say(ezra: Ezra, agent: Agent, *said: str) -> None:
    for text in said:
        turn = await agent.turn(text)
        await turn.reply("Okay.")
        await ezra.drain_learning()


async def _agent(ezra: Ezra) -> Agent:
    graph = await ezra.create_session_graph("home")
    return await graph.spawn_agent("scout", topics={"*"}, user_id="sam")


async def _turns(agent: Agent, asked: str, **fields: object) -> list[str]:
    found = await agent.recall(asked, kinds=("turn",), **fields)  # type: ignore[arg-type]
    return [hit.text for hit in found.items]


async def test_what_holds_now_is_answered_before_what_was_said_once(tmp_path: Path) -> None:
    """Also where the question has the words of the old; both stay, one behind the other."""
    async with running(tmp_path) as ezra:
        agent = await _agent(ezra)
        await _say(
            ezra,
            agent,
            "I keep my old sneakers under my bed.",
            *(f"Tell me about volcano number {number}." for number in range(9)),
            "I moved my old sneakers to the shoe rack in the closet.",
            *(f"Tell me about glacier number {number}." for number in range(9)),
        )
        now, then, *_ = await _turns(agent, "Where do I keep my old sneakers, under what?")
        assert "shoe rack" in now
        assert "under my bed" in then
        was, *_ = await _turns(agent, "Where did I use to keep my old sneakers, under what?")
        assert "under my bed" in was


async def test_a_turn_of_which_something_holds_keeps_its_place(tmp_path: Path) -> None:
    """It may be asked about the rest."""
    async with running(tmp_path) as ezra:
        agent = await _agent(ezra)
        await _say(ezra, agent, "I live in Rome. I have a dog called Rex.", "I moved to Oslo.")
        first, *_ = await _turns(agent, "Do I have a dog?")
        assert "Rex" in first


async def test_a_moment_before_the_change_is_answered_as_it_was(tmp_path: Path) -> None:
    """Nobody had said otherwise by then."""
    clock = MovingClock()
    async with running(tmp_path, clock=clock) as ezra:
        agent = await _agent(ezra)
        await _say(ezra, agent, "My commute takes 45 minutes each way.")
        then = clock()
        clock.move(hours=1)
        await _say(ezra, agent, "My commute takes 30 minutes now that the bridge is open.")
        asked = "How long is my commute each way?"
        assert ["30" in text for text in await _turns(agent, asked)] == [True, False]
        assert ["45" in text for text in await _turns(agent, asked, as_of=then)] == [True]

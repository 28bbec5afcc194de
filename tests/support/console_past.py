"""A graph with a past for the console's tests: turns that were cut, beliefs that gave way."""

from __future__ import annotations

from ezra import Agent, Conflict, Ezra, Graph

from .console import HOSTILE
from .runtime import MovingClock

GRAPH, BRANCH = "mugello", "mugello-what-if"
LONG = "tyre temperature 98.4 degrees at turn 9, " * 1_500
LIFE = ("medium", "life")


async def with_past(ezra: Ezra, clock: MovingClock) -> Graph:
    """Return the graph ``mugello``; made at the first call of a run.

    Six turns of its ``strategist``, of which the second answers more than a context holds. Beliefs:
    two keys that were settled, one that was taken back, one redacted, a claim with markup, and a
    branch that adopted what was active.
    """
    try:
        graph = await ezra.create_session_graph(GRAPH)
    except Conflict:
        return await ezra.session_graph(GRAPH)
    strategist = await graph.spawn_agent("strategist", topics={"tyres", "weather"})
    engineer = await graph.spawn_agent("engineer", topics={"tyres"})
    await strategist.remember("Mugello has fifteen corners.", topics=["tyres"])
    for number in range(6):
        clock.move(minutes=3)
        turn = await strategist.turn(f"Lap {number}: how are the mediums? {HOSTILE}")
        if number in (1, 3):
            await _life(strategist, str(18 - number))
        await turn.reply(LONG if number == 1 else f"Fine on lap {number}. {HOSTILE}")
        if number == 4:
            await _life(engineer, "12")
    await _more(graph, strategist, clock)
    return graph


async def _life(agent: Agent, laps: str) -> None:
    await agent.commit(f"Mediums last {laps} laps.", topic="tyres", key=LIFE, value=laps)


async def _more(graph: Graph, strategist: Agent, clock: MovingClock) -> None:
    """Let the other things happen that a history can tell of."""
    clock.move(minutes=3)
    await strategist.commit(f"Rain is near. {HOSTILE}", topic="weather", key=("rain", HOSTILE))
    wrong = await strategist.commit("It will snow.", topic="weather", key=("snow", "chance"))
    clock.move(minutes=3)
    await graph.beliefs.revert(wrong.id, reason="it is May")
    secret = await strategist.commit("Ada is ill.", topic="weather", key=("Ada", "health"))
    clock.move(minutes=3)
    await graph.beliefs.redact(secret.id, reason="asked for")
    await graph.branch(session_graph_id=BRANCH)
    clock.move(minutes=3)

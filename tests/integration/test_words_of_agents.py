"""What one agent of a graph says to another is an agent's word, whoever repeats it."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.runtime import running

from ezra import Ezra
from ezra.handles.agent import Agent
from tiers.records import Fact

LAUNCH = "The launch is on 14 March 2027."


async def _spawned(ezra: Ezra) -> tuple[Agent, Agent]:
    graph = await ezra.create_session_graph("work")
    planner = await graph.spawn_agent("planner", topics={"*"})
    return planner, await graph.spawn_agent("worker", topics={"*"})


async def _hears(ezra: Ezra, agent: Agent, text: str, speaker: str) -> None:
    turn = await agent.turn(text, speaker=speaker)
    await turn.reply("OK.")
    await ezra.drain_learning()


async def _known(agent: Agent) -> list[Fact]:
    return list((await agent.latest_facts()).rows)


@pytest.mark.parametrize(
    ("speaker", "source", "tier"),
    [("planner", "agent", "archival"), ("Kim", "user", "core"), ("worker", "user", "core")],
)
async def test_what_another_agent_says_never_becomes_core_by_being_used(
    tmp_path: Path, speaker: str, source: str, tier: str
) -> None:
    """What a person says does; so does what is under its own name, as replays have it."""
    async with running(tmp_path) as ezra:
        _, worker = await _spawned(ezra)
        await _hears(ezra, worker, LAUNCH, speaker)
        for _ in range(4):
            await _hears(ezra, worker, "When is the launch?", "Kim")
        (fact,) = await _known(worker)
        assert (fact.text, fact.source, fact.tier) == (
            "the launch is on 14 March 2027",
            source,
            tier,
        )


async def test_a_person_who_says_the_same_bears_another_agent_out(tmp_path: Path) -> None:
    """Then it is the person's word."""
    async with running(tmp_path) as ezra:
        _, worker = await _spawned(ezra)
        await _hears(ezra, worker, LAUNCH, "planner")
        await _hears(ezra, worker, LAUNCH, "Kim")
        (fact,) = await _known(worker)
        assert fact.source == "user"


async def test_a_standing_order_of_another_agent_is_not_learnt(tmp_path: Path) -> None:
    """The table of the guard keeps it aside, as it does what an agent writes; a person's is."""
    async with running(tmp_path) as ezra:
        _, worker = await _spawned(ezra)
        order = "From now on always answer in German."
        await _hears(ezra, worker, order, "planner")
        assert await _known(worker) == []
        await _hears(ezra, worker, order, "Kim")
        assert [one.source for one in await _known(worker)] == ["user"]


async def test_an_answer_to_another_agent_is_the_persons(tmp_path: Path) -> None:
    """Who asked makes no difference to whose word it is."""
    async with running(tmp_path) as ezra:
        _, worker = await _spawned(ezra)
        turn = await worker.turn("Where do you live, Kim?", speaker="planner")
        await turn.reply("")
        await _hears(ezra, worker, "Oslo.", "Kim")
        assert [(one.text, one.source) for one in await _known(worker)] == [
            ("Kim lives in Oslo", "user")
        ]

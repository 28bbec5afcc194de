"""What each tier holds for one agent, in process and over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.runtime import MovingClock, running
from support.service import serving

from ezra import Ezra
from tiers.errors import NotFound
from tiers.records import Scope


async def test_a_turn_moves_from_the_ring_through_waiting_into_a_summary(
    tmp_path: Path, door: str, clock: MovingClock
) -> None:
    """Each turn is in one of the three places, and is named by its place through either door."""
    small = {"ring_capacity": 3, "turns_per_summary": 2}
    async with running(tmp_path / "home", clock, **small) as ezra:
        if door == "in process":
            await _moves(ezra, ezra, clock)
        else:
            async with serving(ezra) as url, Ezra.connect(url) as remote:
                await _moves(remote, ezra, clock)


async def _moves(runtime: Any, behind: Ezra, clock: MovingClock) -> None:
    graph = await runtime.create_session_graph("imola")
    agent = await graph.spawn_agent("strategist", topics={"tyres"}, role="strategist")
    other = await graph.spawn_agent("engineer")
    await (await other.turn("not mine")).reply("no")
    for number in range(6):
        clock.move(minutes=1)
        await (await agent.turn(f"lap {number}", private=number == 0)).reply(f"answer {number}")

    before = await graph.memory_of("strategist")
    assert (before.agent.role, before.capacity, before.turns) == ("strategist", 3, 6)
    assert [turn.input for turn in before.ring] == ["lap 3", "lap 4", "lap 5"]
    assert [turn.input for turn in before.waiting] == ["lap 0", "lap 1", "lap 2"]
    assert before.summaries == ()
    assert before == await (await behind.session_graph("imola")).memory_of("strategist")

    await behind.run_lifecycle_tick("imola")
    after = await graph.memory_of("strategist")
    covered = {turn_id for one in after.summaries for turn_id in one.covers}
    assert covered | {turn.id for turn in after.waiting} == {turn.id for turn in before.waiting}
    assert len(covered) >= 2
    assert after.ring == before.ring

    scope = Scope.of_graph(behind._runtime.settings.tenant, "imola").for_agent("strategist")
    await behind._runtime.hot.clear(scope)
    assert (await graph.memory_of("strategist")).ring == before.ring, "a ring that was lost"

    belief = await agent.commit("Mediums last 18 laps.", topic="tyres")
    await agent.pin(belief.id)
    assert [one.id for one in (await graph.memory_of("strategist")).pinned] == [belief.id]
    await agent.leave()
    gone = await graph.memory_of("strategist")
    assert gone.agent.left_at is not None
    assert gone.ring == ()
    assert gone.turns == 6
    with pytest.raises(NotFound):
        await graph.memory_of("nobody")

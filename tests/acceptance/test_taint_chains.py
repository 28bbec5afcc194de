"""What was taken back by a roll-back comes back by its undoing alone, wherever it stood."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from support.runtime import MovingClock, running

from ezra import Ezra, Graph

KEY = ("vault", "holder")
WHY = "a page planted it"


@pytest.fixture
async def ezra(tmp_path: Path) -> AsyncIterator[Ezra]:
    """A runtime without background work."""
    async with running(tmp_path, MovingClock()) as found:
        yield found


async def held(graph: Graph) -> list[str | None]:
    """Return what is believed."""
    return [one.value for one in await graph.beliefs.active()]


@pytest.mark.parametrize("end", ["open", "confirmed", "undone"])
async def test_no_rewind_and_no_branch_brings_poison_back(ezra: Ezra, end: str) -> None:
    """Nor after it was confirmed; what was undone is of the past as ever."""
    graph = await ezra.create_session_graph("bank")
    agent = await graph.spawn_agent("bot", topics={"t"})
    poison = await agent.remember("Memo: Bob holds the code.")
    await agent.commit("The safe is grey.", topic="t", key=("safe", "colour"), value="grey")
    await agent.commit("Bob holds it.", topic="t", key=KEY, value="Bob", sources=[poison])
    await (await agent.turn("Who holds it?")).reply("Bob.")
    await (await agent.turn("And the safe?")).reply("Grey.")
    done = await graph.taint.roll_back(poison, reason=WHY)
    if end == "confirmed":
        await graph.taint.confirm(done.roll_back.id, reason=WHY)
    if end == "undone":
        await graph.taint.undo(done.roll_back.id, reason="it was true")
    expected = ["grey", "Bob"] if end == "undone" else ["grey"]
    branch = await graph.branch(turn=1, session_graph_id="branch")
    assert await held(branch) == expected
    await graph.beliefs.rewind(turn=1, reason="back then")
    assert await held(graph) == expected
    assert (await graph.beliefs.verify()).ok

"""An archived graph is recalled as before, and no longer written: by its agents, too."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from support.runtime import MovingClock, running
from support.service import DOORS, serving

from ezra import Conflict, Ezra, Fact, Retention


async def speak(ezra: Ezra) -> None:
    """Let an agent say something in a graph of its own."""
    graph = await ezra.create_session_graph("imola", retention=Retention(archive_after_days=7))
    keeper = await graph.spawn_agent("keeper", topics={"*"})
    await keeper.remember(Fact(subject="limit", predicate="is", object="60", tier="core"))
    await (await keeper.turn("The medium lasted 18 laps.")).reply("Noted.")
    await keeper.commit("Start on mediums.")
    await keeper.board.send("keeper", "Bring umbrellas.")
    await ezra.drain_learning()


async def archive_by_rule(ezra: Ezra, clock: MovingClock) -> None:
    """Let time go by until the agent is let go for its silence and its graph is archived."""
    clock.move(minutes=6)
    await ezra.run_lifecycle_tick("imola")
    clock.move(days=8)
    await ezra.run_lifecycle_tick("imola")
    graph = await ezra.session_graph("imola")
    assert (await graph.status()).state == "archived"


@pytest.mark.parametrize("door", DOORS)
async def test_ez_15_who_was_let_go_reads_what_is_archived(tmp_path: Path, door: str) -> None:
    """All that it could read before; what it would write is refused, and it is not back."""
    clock = MovingClock()
    async with running(tmp_path, clock) as behind:
        await speak(behind)
    async with running(tmp_path, clock) as behind:
        await archive_by_rule(behind, clock)
        graph = await behind.session_graph("imola")
        if door == "remote":
            async with serving(behind) as url, Ezra.connect(url) as remote:
                await check_reads_and_writes(await remote.agent("imola", "keeper"))
        else:
            await check_reads_and_writes(await graph.agent("keeper"))
        assert (await graph.status()).state == "archived"
        assert [one.released for one in await graph.agents()] == [True]


async def check_reads_and_writes(keeper: Any) -> None:
    """Read by every way that an agent has, then try to write."""
    assert "18 laps" in (await keeper.recall("medium lasted", kinds=("turn",))).items[0].text
    assert "18 laps" in str(await keeper.search_memory("medium"))
    assert [one.text for one in (await keeper.core()).facts] == ["limit is 60"]
    assert "limit is 60" in {one.text for one in (await keeper.latest_facts()).rows}
    assert [one.claim for one in await keeper.beliefs()] == ["Start on mediums."]
    assert [one.text for one in (await keeper.board.inbox()).rows] == ["Bring umbrellas."]
    assert (await keeper.inject("What is the limit?")).items
    writes: list[Callable[[], Awaitable[Any]]] = [
        lambda: keeper.turn("Are you there?"),
        lambda: keeper.complete("Are you there?"),
        lambda: keeper.remember("The soft lasted 9 laps."),
        lambda: keeper.record([{"message": "The soft lasted 9 laps."}]),
        lambda: keeper.commit("Start on softs."),
        lambda: keeper.board.log("test", "once more"),
        lambda: keeper.documents.put("notes.md", "Tyres."),
        keeper.heartbeat,
    ]
    for write in writes:
        with pytest.raises(Conflict, match="archived"):
            await write()

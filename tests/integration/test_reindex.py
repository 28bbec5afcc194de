"""The warm index is rebuilt from cold when it is new, and when a model arrives."""

from __future__ import annotations

import shutil
from pathlib import Path

from support.runtime import MovingClock, running

from ezra import Ezra


async def remembered(ezra: Ezra) -> None:
    """Remember something, shared and private, and index it."""
    graph = await ezra.create_session_graph("imola")
    agent = await graph.spawn_agent("a", topics={"t"})
    await agent.remember("The physician examined the driver.")
    await agent.remember("The doctor is a friend.", private=True)
    await ezra.drain_learning()


async def test_memories_from_before_the_model_are_found_by_meaning(tmp_path: Path) -> None:
    """Installing the model later embeds what was remembered without it."""
    async with running(tmp_path) as ezra:
        await remembered(ezra)
        agent = await (await ezra.session_graph("imola")).spawn_agent("a", topics={"t"})
        assert (await agent.recall("hospital visit")).items == ()
    async with running(tmp_path, embedder="required") as ezra:
        assert (await ezra.waiting_work())["index"] == 2
        await ezra.drain_learning()
        agent = await (await ezra.session_graph("imola")).spawn_agent("a", topics={"t"})
        found = await agent.recall("hospital visit")
        assert found.degraded == ()
        assert {hit.text for hit in found.items} == {
            "The physician examined the driver.",
            "The doctor is a friend.",
        }
    async with running(tmp_path, embedder="required") as ezra:
        assert (await ezra.waiting_work())["index"] == 0


async def test_a_lost_index_is_rebuilt(tmp_path: Path) -> None:
    """Removing the warm folder loses nothing."""
    async with running(tmp_path) as ezra:
        await remembered(ezra)
    shutil.rmtree(tmp_path / "warm")
    async with running(tmp_path) as ezra:
        graph = await ezra.session_graph("imola")
        assert (await graph.status()).warm == 0
        await ezra.drain_learning()
        assert (await graph.status()).warm == 2


async def test_work_claimed_by_a_killed_owner_is_free_at_once(tmp_path: Path) -> None:
    """The next owner is alone, so it need not wait for the leases of the last."""
    moving = MovingClock()
    async with running(tmp_path, moving) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("a", topics={"t"})
        await agent.remember("Mediums last 18 laps.")
        queue, clock = ezra._parts.queue, ezra._parts.clock
        assert len(await queue.claim(["index"], "killed", 10, 3600, clock())) == 1
        assert (await ezra.drain_learning()).claimed == 0
    async with running(tmp_path, moving) as ezra:
        assert (await ezra.drain_learning()).completed == {"index": 1}

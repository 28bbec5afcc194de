"""A runtime on servers, of which one is killed and started again in the middle of a run.

Redis is real and keeps no data. Qdrant and MongoDB are the stand-ins, whose connections are cut.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

import pytest
from support.mongo_server import running_mongo
from support.qdrant_shim import running_shim
from support.redis_server import RedisServer, running_redis
from support.runtime import MovingClock, running

from ezra import Agent, Ezra, TierError


@dataclass(frozen=True)
class Servers:
    """Three servers of one test's own, and how each is killed and started again."""

    redis: RedisServer
    kill: dict[str, Callable[[], None]]
    start: dict[str, Callable[[], None]]


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Servers]:
    """Servers that the settings name."""
    with running_redis() as redis, running_shim() as qdrant, running_mongo() as mongo:
        monkeypatch.setenv("EZRA_REDIS_URL", redis.url)
        monkeypatch.setenv("EZRA_QDRANT_URL", qdrant.url)
        monkeypatch.setenv("EZRA_MONGODB_URI", mongo.uri)
        monkeypatch.setenv("EZRA_SERVER_TIMEOUT_SECONDS", "1.5")
        monkeypatch.setenv("EZRA_STEP_TIMEOUT_SECONDS", "1.0")
        yield Servers(
            redis=redis,
            kill={"hot": redis.kill, "warm": qdrant.stop, "cold": mongo.stop},
            start={"hot": redis.start, "warm": qdrant.start, "cold": mongo.start},
        )


@pytest.fixture
async def ezra(servers: Servers, tmp_path: Path) -> AsyncIterator[Ezra]:
    """A runtime on the servers."""
    async with running(tmp_path, MovingClock(), ring_capacity=2) as opened:
        yield opened


async def _agent(ezra: Ezra) -> Agent:
    return await (await ezra.create_session_graph("imola")).spawn_agent("a", topics={"tyres"})


async def _say(agent: Agent, text: str) -> tuple[str, ...]:
    turn = await agent.turn(text)
    await turn.reply("Noted.")
    return turn.degraded


async def _said(agent: Agent) -> list[str]:
    turn = await agent.turn("What was said?")
    return [slot.text.partition("\n")[0] for slot in turn.slots if slot.kind == "hot"]


async def test_without_redis_turns_go_on_and_say_so(servers: Servers, ezra: Ezra) -> None:
    """Nothing is lost with it: the ring is filled again from cold."""
    agent = await _agent(ezra)
    await _say(agent, "Mediums on.")
    servers.kill["hot"]()
    assert "hot" in await _say(agent, "Box this lap.")
    servers.start["hot"]()
    assert "hot" not in await _say(agent, "Out again.")
    assert await _said(agent) == ["Box this lap.", "Out again."]


async def test_a_frozen_redis_is_waited_for_once(servers: Servers, ezra: Ezra) -> None:
    """Not by each call; and the ring has afterwards what could not be appended meanwhile."""
    agent = await _agent(ezra)
    await _say(agent, "Mediums on.")
    await _say(agent, "Box this lap.")
    with servers.redis.frozen():
        started = monotonic()
        for said in ("Out again.", "Pushing now."):
            turn = await agent.turn(said)
            await turn.reply("Noted.")
            assert "hot" in turn.degraded
            assert "append to the ring: not asked: it was late a moment ago" in turn.skipped
        assert monotonic() - started < 1.9, "the deadline of one leg, and not of four"
    ezra._runtime.news.clock = lambda: monotonic() + 60  # the moment is over
    assert await _said(agent) == ["Out again.", "Pushing now."]
    assert "hot" not in await _say(agent, "In clean air.")
    assert await _said(agent) == ["Pushing now.", "In clean air."]


async def test_without_qdrant_turns_go_on_and_are_indexed_later(
    servers: Servers, ezra: Ezra
) -> None:
    """What could not be indexed waits in the queue, and is found by meaning's index afterwards."""
    agent = await _agent(ezra)
    await _say(agent, "Mediums on.")
    await ezra.drain_learning()
    servers.kill["warm"]()
    assert "warm" in await _say(agent, "The gearbox jumps out of third.")
    hits = await agent.recall("gearbox")
    assert "gearbox" in hits.items[0].text
    assert hits.degraded == ("dense",), "without vectors the words of cold are all there is"
    report = await ezra.drain_learning()
    assert report.failed["index"] >= 1
    assert all("TierUnavailable" in problem for problem in report.problems)
    servers.start["warm"]()
    graph = await ezra.session_graph("imola")
    assert (await graph.status()).warm == 1
    ezra._runtime.clock.move(minutes=10)
    report = await ezra.drain_learning()
    assert not report.problems
    assert (await graph.status()).warm == 2
    hits = await agent.recall("gearbox")
    assert "gearbox" in hits.items[0].text
    assert "warm" not in await _say(agent, "It is fixed.")


async def test_without_mongodb_a_turn_fails_typed_and_what_was_acknowledged_stays(
    servers: Servers, ezra: Ezra
) -> None:
    """Cold is the truth: without it nothing is acknowledged; with it again, all goes on."""
    agent = await _agent(ezra)
    await _say(agent, "Mediums on.")
    turn = await agent.turn("Box this lap.")
    servers.kill["cold"]()
    with pytest.raises(TierError) as caught:
        await turn.reply("Noted.")
    assert caught.value.tier == "cold"
    with pytest.raises(TierError):
        await agent.commit("Stop on lap 20.", topic="tyres")
    servers.start["cold"]()
    await turn.reply("Noted.")
    await _say(agent, "Out again.")
    assert await _said(agent) == ["Box this lap.", "Out again."]
    assert await agent.beliefs() == ()
    status = await (await ezra.session_graph("imola")).status()
    assert status.cold["turns"] == 3

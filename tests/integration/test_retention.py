"""Retention of beliefs through the runtime: what ended is forgotten, in every store."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from support.raw_stores import everything, where
from support.runtime import MovingClock, running

from ezra import Ezra
from ezra.erasure.redaction import redact
from metaagents.lifecycle.retention import BeliefRetention
from tiers.records import AuditFilter, Retention, Scope

WORD = "xylograph"


async def retired(ezra: Ezra) -> int:
    """Let retention look at the graph now."""
    runtime = ezra._runtime
    graph = await runtime.graphs.graph("default", "imola")
    assert graph is not None

    async def erase(scope: Scope, ids: Sequence[str], reason: str) -> None:
        await redact(runtime, scope, ids, reason)

    return await BeliefRetention(runtime.history).retire(graph, runtime.clock(), erase)


async def test_a_belief_that_ended_is_forgotten_when_its_time_is_over(tmp_path: Path) -> None:
    """Not a day before, and only its content: the chain has one event more, and still holds."""
    clock = MovingClock()
    async with running(tmp_path, clock) as ezra:
        graph = await ezra.create_session_graph("imola", retention=Retention(beliefs_days=30))
        agent = await graph.spawn_agent("keeper", topics={"t"})
        key = ("code", "word")
        former = await agent.commit(f"The code is {WORD}.", topic="t", key=key, value=WORD)
        await agent.pin(former.id)
        clock.move(days=29)
        now = await agent.commit("The code is narwhal.", topic="t", key=key, value="narwhal")
        held = await agent.commit("It will rain.", topic="t")
        await agent.pin(held.id)
        await ezra.drain_learning()
        clock.move(days=29)
        assert await retired(ezra) == 0
        assert "cold" in where(await everything(ezra, tmp_path), WORD)
        clock.move(days=1)
        assert await retired(ezra) == 1
        assert await retired(ezra) == 0
        await ezra.drain_learning()
        assert where(await everything(ezra, tmp_path), WORD) == set()
        assert {one.id for one in await agent.beliefs()} == {now.id, held.id}
        last = (await ezra._runtime.history.events(Scope.of_graph("default", "imola")))[-1]
        assert (last.kind, last.belief_id) == ("redacted", former.id)
        told = await graph.audit(only=AuditFilter(kinds=("redacted",)))
        assert [one.reason for one in told] == ["retention: kept for 30 days after its end"]

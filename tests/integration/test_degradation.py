"""A tier that is away or late is left out and named; a runtime that is closed says so."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest
from support.runtime import MovingClock, running

from ezra import Agent, Ezra, MeshResult, Settings, TierRejected, TierUnavailable
from ezra.rights.policy import scope_of
from tiers.records import Scope

# A tier that is away or late is left out, and the answer says so; nothing acknowledged is lost.

PATIENCE_SECONDS = 15.0
"""Far more than a deadline of 0.05 s needs on a busy machine, far less than a thousand of them."""


async def agent_with_memory(ezra: Ezra) -> Agent:
    """Return an agent that has said, learnt and decided something."""
    graph = await ezra.create_session_graph("imola")
    agent = await graph.spawn_agent("strategist", topics={"tyres"})
    await agent.remember("Mediums last 18 laps.")
    await (await agent.turn("We start on mediums.")).reply("Agreed.")
    await ezra.drain_learning()
    return agent


async def test_without_the_warm_tier_words_still_answer(tmp_path: Path) -> None:
    """Archival facts are found in cold, summaries are left out, both said."""
    async with running(tmp_path) as ezra:
        agent = await agent_with_memory(ezra)
        ezra._runtime.warm.serving.store.close()  # type: ignore[attr-defined]
        turn = await agent.turn("How long do mediums last?")
        assert set(turn.degraded) == {"dense", "warm"}
        assert [slot.text for slot in turn.slots if slot.kind == "archival"] == [
            "Mediums last 18 laps."
        ]
        assert any(reason.startswith("warm: ") for reason in turn.skipped)
        found = await agent.recall("mediums")
        assert found.degraded == ("dense",), "without vectors the words of cold are all there is"
        assert set(found.tiers_used) == {"hot", "cold"}
        assert {hit.kind for hit in found.items} == {"fact", "turn"}
        status = await (await ezra.session_graph("imola")).status()
        assert (status.hot, status.warm, status.cold["turns"]) == (1, None, 1)


async def test_without_the_hot_tier_turns_are_kept(tmp_path: Path) -> None:
    """The reply is durable, and the next context takes the last turns from cold."""
    async with running(tmp_path) as ezra:
        agent = await agent_with_memory(ezra)
        await ezra._runtime.hot.aclose()  # type: ignore[attr-defined]
        turn = await agent.turn("Still there?")
        assert "hot" in turn.degraded
        written = await turn.reply("Yes.")
        assert written.was_new
        assert "hot" in turn.degraded
        assert written.turn.seq == 2
        status = await (await ezra.session_graph("imola")).status()
        assert (status.hot, status.cold["turns"]) == (None, 2)
    async with running(tmp_path) as ezra:
        again = await (await ezra.session_graph("imola")).spawn_agent(
            "strategist", topics={"tyres"}
        )
        turn = await again.turn("And now?")
        assert [slot.text for slot in turn.slots if slot.kind == "hot"] == [
            "We start on mediums.\nAgreed.",
            "Still there?\nYes.",
        ]


async def test_without_the_cold_tier_nothing_is_acknowledged(tmp_path: Path) -> None:
    """The context comes from what is left; the reply fails instead of pretending."""
    async with running(tmp_path) as ezra:
        agent = await agent_with_memory(ezra)
        turn = await agent.turn("Before.")
        await ezra._runtime.turns._store._database.close()  # type: ignore[attr-defined]
        with pytest.raises(TierUnavailable, match="cold tier"):
            await turn.reply("Lost?")
        ezra._runtime.names.forget(scope_of(agent._record))
        late = await agent.turn("After.")
        assert "cold" in late.degraded
        assert late.receipt_id is None
        assert [slot.kind for slot in late.slots] == ["system", "hot", "input"]


async def never(*_args: object, **_options: object) -> NoReturn:
    """Hang as a server does that took the request and says nothing."""
    await asyncio.Event().wait()
    raise AssertionError


async def test_a_late_connector_is_left_out_in_time(tmp_path: Path) -> None:
    """The turn does not wait longer than its deadline."""

    async def late(message: str, scope: Scope) -> MeshResult:
        await never(message, scope)

    settings = Settings(home=tmp_path, embedder="off", background=False, step_timeout_seconds=0.05)
    async with Ezra.open(settings, connectors={"timing": late}, clock=MovingClock()) as ezra:
        agent = await (await ezra.create_session_graph("g")).spawn_agent("a")
        async with asyncio.timeout(PATIENCE_SECONDS):
            turn = await agent.turn("Where are we?", mesh="timing")
        assert "mesh" in turn.degraded
        assert "mesh source timing: no answer within 0.05 s" in turn.skipped


async def test_a_connector_that_answers_nonsense_is_left_out(tmp_path: Path) -> None:
    """It is named; one that answers at once, without being awaited, is as good as any."""
    clock = MovingClock()

    async def nonsense(message: str, scope: Scope) -> Any:
        del message, scope
        return {"text": "lap 12"}

    def plain(message: str, scope: Scope) -> Any:
        del scope
        return MeshResult(source="plain", text=f"lap 12: {message}", queried_at=clock())

    settings = Settings(home=tmp_path, embedder="off", background=False)
    sources = {"nonsense": nonsense, "plain": plain}
    async with Ezra.open(settings, connectors=sources, clock=clock) as ezra:
        agent = await (await ezra.create_session_graph("g")).spawn_agent("a")
        turn = await agent.turn("Where are we?", mesh="nonsense")
        assert "mesh" in turn.degraded
        assert any("nonsense: it answered dict, no MeshResult" in one for one in turn.skipped)
        with pytest.raises(TierRejected, match="it answered dict"):
            await agent.ask_mesh("nonsense", message="Where are we?")
        turn = await agent.turn("Where are we?", mesh="plain")
        (told,) = [slot.text for slot in turn.slots if slot.kind == "mesh"]
        assert told.endswith("lap 12: Where are we?")


@pytest.mark.parametrize(
    ("part", "call", "leg"),
    [
        ("hot", "turn", "hot"),
        ("warm", "turn", "warm"),
        ("words", "turn", "live"),
        ("words", "recall", "words"),
        ("semantic", "turn", "archival"),
        ("desk", "turn", "opening"),
        ("desk", "turn", "receipt"),
    ],
)
async def test_r9_41_a_leg_that_hangs_ends_at_its_deadline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str, call: str, leg: str
) -> None:
    """Whatever hangs is waited for as long as the settings say, by the clock on the wall."""
    settings = Settings(home=tmp_path, embedder="off", background=False, step_timeout_seconds=0.05)
    async with Ezra.open(settings, clock=MovingClock()) as ezra:
        agent = await agent_with_memory(ezra)
        runtime = ezra._runtime
        apart = {"warm": runtime.warm.serving.store, "desk": runtime.router.ledger.desk}
        store = apart[part] if part in apart else getattr(runtime, part)
        with monkeypatch.context() as hanging:
            for name, _ in inspect.getmembers(store, inspect.iscoroutinefunction):
                if not name.startswith("_"):
                    hanging.setattr(store, name, never)
            async with asyncio.timeout(PATIENCE_SECONDS):
                answer = await getattr(agent, call)("How long do mediums last?")
        assert f"{leg}: no answer within 0.05 s" in answer.skipped


async def test_a_cancelled_turn_leaves_nothing_half_done(tmp_path: Path) -> None:
    """Cancelling at any await of a turn or reply loses the call, not the store."""
    async with running(tmp_path) as ezra:
        agent = await agent_with_memory(ezra)

        async def speak(number: int) -> None:
            await (await agent.turn(f"message {number}")).reply("yes")

        for number in range(40):
            task = asyncio.create_task(speak(number))
            for _ in range(number):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task])
        await speak(99)  # after it nothing is being written any more: what was under way went first
        graph = await ezra.session_graph("imola")
        status = await graph.status()
        turns = await ezra._runtime.turns.recent_turns(scope_of(agent._record), 100)
        assert [turn.seq for turn in turns] == list(range(1, status.cold["turns"] + 1))
        await ezra.drain_learning()
        assert await ezra.parked_work() == ()


# A runtime that is closed says so, whatever its handles are asked.

OPERATIONS: dict[str, Callable[[Any, Any], Awaitable[object]]] = {
    "turn": lambda agent, _: agent.turn("How long do mediums last?"),
    "recall": lambda agent, _: agent.recall("mediums"),
    "search_memory": lambda agent, _: agent.search_memory(),
    "inject": lambda agent, _: agent.inject("mediums"),
    "beliefs": lambda agent, _: agent.beliefs(),
    "remember": lambda agent, _: agent.remember("Mediums last 18 laps."),
    "complete": lambda _, turn: turn.complete(),
    "reply": lambda _, turn: turn.reply("18 laps."),
}


async def test_a_closed_runtime_answers_nothing(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """What has no answer is no answer with gaps: each operation says that the store is closed."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("strategist", topics={"tyres"})
        turn = await agent.turn("How long do mediums last?")
    for name, asked in OPERATIONS.items():
        closed = pytest.raises(TierUnavailable, match=r"cold tier, .*: the store is closed")
        with subtests.test(name), closed:
            await asked(agent, turn)

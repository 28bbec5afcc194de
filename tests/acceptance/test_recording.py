"""A history is recorded in bulk: what is stored is what turn by turn would have been."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from support.runtime import MovingClock, running

from ezra import (
    Agent,
    BudgetExceeded,
    Conflict,
    Ezra,
    PastTurn,
    PolicyDenied,
    TierUnavailable,
    Turn,
    UsageError,
)
from ezra.handles.recording import BATCH_TURNS, PAST_TURNS_MAX, Recorded
from tiers.records import Budget

BEGAN = datetime(2025, 3, 1, 10, 0, tzinfo=UTC)
LATER = {"id", "recorded_at", "rules", "tail"}
"""What a turn has of the moment at which it was stored, and of the context that it had."""


def history(count: int, **more: Any) -> list[dict[str, Any]]:
    """Return turns that somebody had elsewhere."""
    return [
        {
            "message": f"Lap {n}: how did sector {n % 3} go?",
            "response": f"It took {n * 7 % 31} seconds.",
            "at": BEGAN + timedelta(minutes=n),
            "ref": f"log:{n}",
            **more,
        }
        for n in range(count)
    ]


async def stored(agent: Agent) -> tuple[Turn, ...]:
    """Return all turns of an agent, oldest first."""
    runtime = agent._runtime
    return await runtime.turns.recent_turns(await agent._scope(), 1_000)


async def spawned(ezra: Ezra, graph_id: str = "imola", **more: Any) -> Agent:
    """Return a new agent of a new graph."""
    graph = await ezra.create_session_graph(graph_id, **more)
    return await graph.spawn_agent("strategist", topics={"tyres", "fuel"}, user_id="team")


async def test_a_recorded_history_is_the_one_that_turns_and_replies_leave(tmp_path: Path) -> None:
    """The same turns, numbers, texts that are found, summaries, costs of writing and work."""
    told: list[dict[str, Any]] = [
        *history(9),
        {"message": "No more than that?", "private": True, "topics": {"Fuel"}},
        {"message": "Ask the scale.", "speaker": "Ada", "topics": []},
        {
            "message": "What does the scale say?",
            "tool_outputs": [{"tool": "scale", "output": "103.4 kg\n" * 400}],
        },
    ]
    async with running(tmp_path, MovingClock(), ring_capacity=4) as ezra:
        spoke, wrote = await spawned(ezra, "spoken"), await spawned(ezra, "written")
        for one in told:
            opened = {name: value for name, value in one.items() if name in TURN_ARGUMENTS}
            turn = await spoke.turn(**opened)
            await turn.reply(one.get("response", ""), one.get("tool_outputs", ()))
        done = await wrote.record(told)
        assert [turn.id for turn in await stored(wrote)] == list(done.ids)
        assert done.new == len(told)
        assert bared(await stored(spoke)) == bared(await stored(wrote))
        work = [await ezra._runtime.queue.waiting(await one._scope()) for one in (spoke, wrote)]
        assert (work[0]["index"], work[0]["extract"]) == (work[1]["index"], work[1]["extract"])
        assert work[0]["compress"] == work[1]["compress"] == 1
        costs = await wrote.usage()
        assert costs.writes == (await spoke.usage()).writes == len(told)
        assert costs.tokens == sum(turn.tokens for turn in await stored(wrote))
        await ezra.drain_learning()
        for one in (spoke, wrote):
            await ezra.run_lifecycle_tick(one.graph_id)
        for asked in ("how did lap 7 go?", "scale", "What did Ada say about the scale?"):
            ours, theirs = await spoke.recall(asked), await wrote.recall(asked)
            assert [hit.text for hit in ours.items] == [hit.text for hit in theirs.items]
            assert ours.items
        ring = [(await ezra._runtime.hot.read(await one._scope())).turns for one in (spoke, wrote)]
        assert bared(ring[0]) == bared(ring[1])
        assert [turn.seq for turn in ring[1]] == [9, 10, 11, 12]


TURN_ARGUMENTS = {"message", "at", "speaker", "topics", "private", "ref"}


def bared(turns: Sequence[Turn]) -> list[dict[str, Any]]:
    """Return what turns say, without what differs from one storing to the next."""
    left = [turn.model_dump(exclude={*LATER, "graph_id"}) for turn in turns]
    for one, turn in zip(left, turns, strict=True):
        one["occurred_at"] = one["occurred_at"] if turn.ref else None  # none was given: now
        for output in one["tool_outputs"]:
            output["output"] = output["output"].replace(turn.id, "ID")
    return left


async def test_what_is_known_is_stored_once_and_a_history_goes_on(tmp_path: Path) -> None:
    """Repeated whole, repeated longer, and twice in one call: each ``ref`` is one turn."""
    async with running(tmp_path) as ezra:
        agent = await spawned(ezra)
        first = await agent.record(history(BATCH_TURNS + 30))
        assert first.new == BATCH_TURNS + 30
        assert await agent.record(history(BATCH_TURNS + 30)) == Recorded(first.ids, 0)
        longer = await agent.record([PastTurn(**one) for one in history(BATCH_TURNS + 40)])
        assert longer.new == 10
        assert longer.ids[: BATCH_TURNS + 30] == first.ids
        twice = await agent.record([*history(2), *history(2)])
        assert (twice.ids, twice.new) == (first.ids[:2] * 2, 0)
        turns = await stored(agent)
        assert [turn.seq for turn in turns] == list(range(1, BATCH_TURNS + 41))
        assert (await agent.usage()).writes == len(turns)
        opened = await agent.turn("And now?")
        shown = [slot.text for slot in opened.slots if slot.kind == "hot"]
        assert f"Lap {BATCH_TURNS + 39}" in shown[-1]  # known turns did not come back into it


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"message": "  "}, "message"),
        ({"message": 7}, "message"),
        ({"message": "Hm?", "text": "Hm?"}, "text"),
        ({"message": "Hm?", "topics": "tyres"}, "topics"),
        ({"message": "Hm?", "topics": ["*"]}, "topics"),
        ({"message": "Hm?", "at": datetime(2025, 3, 1)}, "at"),  # noqa: DTZ001 - it is what is wrong
        ({"message": "Hm?", "ref": ""}, "ref"),
        ({"message": "Hm?", "response": "x" * 200_001}, "response"),
        ({"message": "Hm?", "tool_outputs": "text"}, "tool_outputs"),
        (
            {"message": "Hm?", "tool_outputs": [{"tool": "a", "output": 1}]},
            "tool_outputs[0].output",
        ),
        ("Hm?", ""),
        (None, ""),
    ],
)
async def test_a_mistake_is_named_and_nothing_is_stored(
    tmp_path: Path, wrong: Any, field: str
) -> None:
    """By its place among all of them, wherever that is."""
    async with running(tmp_path) as ezra:
        agent = await spawned(ezra)
        told = [*history(BATCH_TURNS + 2), wrong]
        with pytest.raises(UsageError) as caught:
            await agent.record(told)
        place = f"turns[{BATCH_TURNS + 2}]"
        assert caught.value.field == (f"{place}.{field}" if field else place)
        assert caught.value.accepted
        assert await stored(agent) == ()


async def test_denials_and_contradictions_store_nothing(tmp_path: Path) -> None:
    """A topic of others, two that say different things under one ``ref``, too many."""
    async with running(tmp_path) as ezra:
        agent = await spawned(ezra)
        told = history(BATCH_TURNS + 2)
        with pytest.raises(PolicyDenied, match=r"turns\[102\].topics: missing topic weather"):
            await agent.record([*told, {"message": "Rain?", "topics": {"weather"}}])
        with pytest.raises(Conflict, match=r"turns\[102\].ref log:1"):
            await agent.record([*told, {"message": "Another.", "ref": "log:1"}])
        with pytest.raises(UsageError, match="at most 10,000"):
            await agent.record({"message": "Hm?"} for _ in range(PAST_TURNS_MAX + 1))
        for wrong in ("turns", {"message": "Hm?"}, 7):
            with pytest.raises(UsageError, match=r"^turns: "):
                await agent.record(wrong)  # type: ignore[arg-type]
        assert await stored(agent) == ()
        graph = await ezra.session_graph("imola")
        assert [one.kind for one in await graph.audit() if one.kind == "denied"] == ["denied"]
        assert await agent.record([]) == Recorded((), 0)


async def test_a_ref_of_another_turn_takes_its_batch_back_and_leaves_those_before(
    tmp_path: Path,
) -> None:
    """What was stored stays, and the corrected history goes on from there."""
    async with running(tmp_path) as ezra:
        agent = await spawned(ezra)
        await (await agent.turn("Mine.", ref=f"log:{BATCH_TURNS + 5}")).reply("Yours.")
        told = history(BATCH_TURNS + 10)
        with pytest.raises(Conflict, match="log:105"):
            await agent.record(told)
        assert len(await stored(agent)) == 1 + BATCH_TURNS
        del told[BATCH_TURNS + 5]
        assert (await agent.record(told)).new == 9
        assert [turn.seq for turn in await stored(agent)] == list(range(1, BATCH_TURNS + 11))


async def test_a_budget_refuses_a_batch_as_a_whole_and_says_how_many_went_before(
    tmp_path: Path,
) -> None:
    """Of writes, the agent's or the graph's. Tokens were used elsewhere and refuse nothing."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("imola", budget=Budget(writes=BATCH_TURNS + 50))
        agent = await graph.spawn_agent("strategist", topics={"tyres"}, budget=Budget(tokens=10))
        told = history(BATCH_TURNS + 60)
        with pytest.raises(BudgetExceeded, match="; 100 were stored before") as caught:
            await agent.record(told)
        assert caught.value.stored == len(await stored(agent)) == BATCH_TURNS
        assert (await agent.usage()).writes == BATCH_TURNS
        assert [one.kind for one in await graph.audit()][-1] == "denied"
        assert (await agent.record(told[:-10])).new == 50
        with pytest.raises(BudgetExceeded) as caught:
            await agent.record([{"message": "One more."}])
        assert caught.value.stored == 0
        with pytest.raises(BudgetExceeded, match="tokens"):
            await agent.turn("What did it cost?")


async def test_who_may_not_write_records_nothing(tmp_path: Path) -> None:
    """Who has left, and every agent of an archived graph."""
    async with running(tmp_path) as ezra:
        agent = await spawned(ezra)
        graph = await ezra.session_graph("imola")
        other = await graph.spawn_agent("engineer")
        await other.leave()
        for told in ([], history(1)):
            with pytest.raises(UsageError, match="has not left"):
                await other.record(told)
        await graph.archive()  # all have left by it
        with pytest.raises(UsageError, match="has not left"):
            await agent.record(history(3))
        with pytest.raises(Conflict, match="archived"):
            await graph.spawn_agent("strategist")


@pytest.mark.parametrize("fails_at", [1, 2, 3])
async def test_a_recording_that_breaks_off_goes_on_where_it_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails_at: int
) -> None:
    """The tier fails in one of three batches: those before it are whole, and none is doubled."""
    async with running(tmp_path) as ezra:
        agent = await spawned(ezra)
        desk, batches = ezra._runtime.desk, 0
        keeps = type(desk).keep_turns

        async def keep_turns(self: Any, writes: Any) -> Any:
            nonlocal batches
            batches += 1
            if batches == fails_at:
                raise TierUnavailable("cold", "keep_turns", "cut off")
            return await keeps(self, writes)

        monkeypatch.setattr(type(desk), "keep_turns", keep_turns)
        told = history(2 * BATCH_TURNS + 20)
        with pytest.raises(TierUnavailable):
            await agent.record(told)
        before = BATCH_TURNS * (fails_at - 1)
        assert len(await stored(agent)) == before
        done = await agent.record(told)
        assert done.new == len(told) - before
        turns = await stored(agent)
        assert [turn.ref for turn in turns] == [one["ref"] for one in told]
        assert [turn.seq for turn in turns] == list(range(1, len(told) + 1))
        assert (await agent.usage()).writes == len(told)


async def test_a_hot_tier_that_is_away_costs_no_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was recorded without it is shown by the next context all the same."""
    async with running(tmp_path) as ezra:
        agent = await spawned(ezra)

        async def away(*_: Any, **__: Any) -> None:
            raise TierUnavailable("hot", "restore", "away")

        with monkeypatch.context() as patched:
            patched.setattr(type(ezra._runtime.hot), "restore", away)
            assert (await agent.record(history(20))).new == 20
        shown = [slot.text for slot in (await agent.turn("And now?")).slots if slot.kind == "hot"]
        assert "Lap 19" in shown[-1]


async def test_recordings_and_turns_of_one_agent_race_without_gaps(tmp_path: Path) -> None:
    """Three recordings and single turns at the same time: every turn once, numbered in a row."""
    async with running(tmp_path) as ezra:
        agent = await spawned(ezra)

        async def say(number: int) -> None:
            await (await agent.turn(f"Alone {number}.")).reply("Yes.")

        parts = [[{**one, "ref": f"{part}/{one['ref']}"} for one in history(130)] for part in "abc"]
        await asyncio.gather(*map(agent.record, parts), *map(say, range(5)))
        turns = await stored(agent)
        assert [turn.seq for turn in turns] == list(range(1, 396))
        for part in "abc":
            refs = [turn.ref for turn in turns if turn.ref and turn.ref.startswith(part)]
            assert refs == [f"{part}/log:{n}" for n in range(130)]


async def test_what_follows_is_noted_with_the_last_recorded_turn(tmp_path: Path) -> None:
    """A belief is committed in it; what was said is found by its speaker's name."""
    async with running(tmp_path) as ezra:
        agent = await spawned(ezra)
        told = [{"message": "My dog is called Rex.", "speaker": "Ada"}, {"message": "Noted?"}]
        done = await agent.record(told)
        belief = await agent.commit("Start on mediums.", topic="tyres")
        assert (belief.turn_id, belief.receipt_id) == (done.ids[-1], None)
        await ezra.drain_learning()
        assert (await ezra.waiting_work())["extract"] == 0
        found = await agent.recall("dog Rex", kinds=("turn",))
        assert found.items[0].text == "Ada: My dog is called Rex."

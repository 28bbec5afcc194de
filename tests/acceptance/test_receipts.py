"""Receipts through the public API: row NE-02."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from support.receipt_life import living
from support.runtime import MovingClock, running

from ezra import Ezra, Fact, Rule


async def test_ne_02_past_contexts_are_rebuilt_byte_for_byte(tmp_path: Path) -> None:
    """Random turns, random changes after each, an upheaval at the end: every receipt rebuilds."""
    async with living(tmp_path, seed=3) as life:
        await life.live(12)
        await life.upheaval()
        assert len(life.told) == 12
        assert await life.differing() == {}


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_ne_02_two_hundred_random_turns_are_rebuilt(tmp_path: Path) -> None:
    """The number that the row names."""
    async with living(tmp_path, seed=5) as life:
        await life.live(200)
        await life.upheaval()
        assert len(life.told) == 200
        assert await life.differing() == {}


async def test_ne_02_a_receipt_outlives_its_process(tmp_path: Path) -> None:
    """By its id alone, in a runtime that was opened anew, with what differs today."""
    clock = MovingClock()
    async with running(tmp_path, clock) as ezra:
        receipt_id, messages, old, new = await told(ezra)
    clock.move(days=40)
    async with running(tmp_path, clock) as ezra:
        again = await ezra.replay_context(receipt_id, today=True)
        assert again.is_exact
        assert json.dumps(again.messages) == messages
        assert (again.graph_id, again.agent_id) == ("imola", "strategist")
        assert again.query == "How long do mediums last?"
        assert again.at - datetime(2026, 5, 14, 9, 0, tzinfo=UTC) < timedelta(minutes=1)
        assert again.today is not None
        assert (old, f"superseded by {new}") in {(one.was.id, one.why) for one in again.today.gone}
        assert new in {slot.source_ids[0] for slot in again.today.new if slot.source_ids}


async def told(ezra: Ezra) -> tuple[str, str, str, str]:
    """Take a turn whose context is superseded afterwards; return what it was."""
    before = await ezra.create_session_graph("monaco")
    elder = await before.spawn_agent("veteran", topics={"tyres"})
    await elder.remember(Fact(text="Pit stops cost 22 s.", tier="core"))
    graph = await ezra.create_session_graph("imola", inherits_from=["monaco"])
    agent = await graph.spawn_agent("strategist", topics={"tyres"}, role="Plans stints.")
    old = await agent.remember("Mediums last 18 laps.")
    await agent.remember(Rule(trigger="mediums last", steps=("Box.",)))
    await agent.commit("Start on mediums.", topic="tyres", key=("start", "tyre"), value="mediums")
    turn = await agent.turn("How long do mediums last?")
    await turn.reply("About 18 laps.")
    await agent.commit("Start on hards.", topic="tyres", key=("start", "tyre"), value="hards")
    new = await agent.remember("Mediums last 21 laps.", supersedes=old)
    await elder.remember(Fact(text="Pit stops cost 19 s.", tier="core"))
    await graph.spawn_agent("strategist", topics={"tyres"}, role="Retired.")
    assert {slot.kind for slot in turn.slots} == {
        "system", "belief", "core", "rule", "archival", "input",
    }  # fmt: skip
    return str(turn.receipt_id), json.dumps(turn.messages), old, new


async def test_ne_02_what_was_redacted_cannot_be_rebuilt(tmp_path: Path) -> None:
    """Every receipt that named it is blank, in graphs that inherit it too; the others stand."""
    async with running(tmp_path) as ezra:
        before = await ezra.create_session_graph("monaco")
        elder = await before.spawn_agent("veteran", topics={"tyres"})
        graph = await ezra.create_session_graph("imola", inherits_from=["monaco"])
        agent = await graph.spawn_agent("strategist", topics={"tyres"})
        plain = await agent.turn("Box?")
        pin = await elder.remember(Fact(text="The pin is 1234.", tier="core"))
        seen = await agent.turn("What is the pin?")
        await before.redact([pin], reason="asked to")
        again = await graph.replay_context(str(seen.receipt_id))
        assert not again.is_exact
        assert all("redacted" in one.why for one in again.missing)
        assert "1234" not in repr(again)
        assert (await graph.replay_context(str(plain.receipt_id))).is_exact

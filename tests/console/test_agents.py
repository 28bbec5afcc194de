"""One agent's memory as it moves."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from playwright.async_api import expect
from support.console import HOSTILE, House

from ezra.handles.agent_memory import AgentMemory
from ezra.service.console.agents import MOVES_SHOWN, moves_of
from tiers.records import AgentRecord, AuditEvent, Summary, Turn

pytestmark = pytest.mark.asyncio(loop_scope="session")

NOW = datetime(2026, 5, 14, tzinfo=UTC)


async def test_a_page_follows_its_agent(house: House, tabs: Any) -> None:
    """What it says stands in the ring, pushes out the oldest, and is compressed, without a reload.

    Meanwhile the focus stays where it was.
    """
    graph = await house.ezra.create_session_graph("live")
    agent = await graph.spawn_agent("speaker", role="speaker")
    await (await agent.turn("lap 0")).reply("yes")
    page = await tabs.open(f"{house.url}/console/graphs/live/agents/speaker")
    ring = page.locator('ol[aria-label="Turns in the ring"] li.full')
    await expect(ring).to_have_text(["1"])
    await page.locator("a.num", has_text="turn 1").focus()
    await page.evaluate("window.here = true")
    for number in range(1, 4):
        await (await agent.turn(f"lap {number}")).reply("yes")
    await expect(ring).to_have_text(["1", "2", "3", "4"])
    assert await page.evaluate("document.activeElement.textContent") == "turn 1"
    await (await agent.turn("lap 4")).reply("yes")
    await expect(ring).to_have_text(["2", "3", "4", "5"])
    waiting = page.locator('ol[aria-label="Turns that wait to be compressed"] li')
    await expect(waiting).to_have_text(["1"])
    moved = page.locator(".panel", has=page.get_by_role("heading", name="What moved, and why"))
    await expect(moved).to_contain_text("turn 1 is older than the last 4; it waits")
    for number in range(5, 8):
        await (await agent.turn(f"lap {number}")).reply("yes")
    await house.ezra.run_lifecycle_tick("live")
    await expect(ring).to_have_text(["5", "6", "7", "8"])
    await expect(waiting).to_have_count(0)
    await expect(moved).to_contain_text("made of 4 turns that were older than the last 4")
    assert await page.evaluate("window.here"), "the page was not loaded again"


async def test_promotions_say_why_and_lead_to_the_fact(house: House, tabs: Any) -> None:
    """What became core says by how many uses, and its id leads to its story."""
    page = await tabs.open(f"{house.url}/console/graphs/imola/agents/strategist", js=False)
    promoted = page.locator("li", has_text="promoted").first
    assert "used 1 times, threshold 1, by strategist" in await promoted.inner_text()
    address = await promoted.locator("a").get_attribute("href")
    assert address is not None
    assert address.startswith("/console/graphs/imola/facts/")
    body = await page.locator("main").inner_text()
    for said in ("Mediums last about 18 laps", "race strategist", "Team orders", "from monaco"):
        assert said in body, said


async def test_what_people_said_stays_text(house: House, tabs: Any) -> None:
    """A script in a turn is shown as it was written and does nothing."""
    page = await tabs.open(f"{house.url}/console/graphs/imola/agents/strategist")
    body = await page.locator("main").inner_text()
    assert HOSTILE in body
    assert await page.evaluate("window.pwned === undefined")
    assert await page.locator("main script, main img").count() == 0


async def test_an_agent_that_left_is_told_of_without_a_ring(house: House, tabs: Any) -> None:
    """Its ring was cleared; its record, and what was compressed, is there."""
    graph = await house.ezra.create_session_graph("farewell")
    agent = await graph.spawn_agent("guest", role="guest engineer")
    await graph.spawn_agent("host")
    await (await agent.turn("goodbye")).reply("see you")
    await agent.leave()
    page = await tabs.open(f"{house.url}/console/graphs/farewell/agents/guest")
    body = await page.locator("main").inner_text()
    assert "It has left: its ring was cleared." in body
    assert "guest engineer" in body
    await page.goto(f"{house.url}/console/graphs/farewell")
    rows = page.locator("table", has_text="1 agent present").locator("tbody th")
    assert await rows.all_inner_texts() == ["host", "guest"], "who is present comes first"


async def test_moves_are_the_latest_of_all_that_moved() -> None:
    """Turns that left the ring, summaries and events in one order, so many at most."""
    owner = {"tenant": "t", "graph_id": "g", "agent_id": "a"}
    at = [NOW.replace(minute=minute) for minute in range(60)]
    turn = Turn(id="t1", seq=3, recorded_at=at[1], **owner)
    summary = Summary(
        id="s1", text="x", covers=("t0", "t9"), starts_at=NOW, ends_at=NOW, lost=2,
        recorded_at=at[2], **owner,
    )  # fmt: skip
    memory = AgentMemory(
        agent=AgentRecord(tenant="t", graph_id="g", id="a", spawned_at=NOW),
        ring=(),
        capacity=4,
        pinned=(),
        mesh=None,
        turns=3,
        waiting=(turn,),
        summaries=(summary,),
    )
    events = [
        AuditEvent(
            seq=seq,
            tenant="t",
            graph_id="g",
            agent_id=None,
            kind="demoted",
            record_ids=("f/1",),
            reason="no room",
            recorded_at=at[seq],
        )
        for seq in range(3, 50)
    ]
    moves = moves_of(memory, events)
    assert len(moves) == MOVES_SHOWN
    assert [move.at for move in moves] == sorted((move.at for move in moves), reverse=True)
    assert (moves[0].why, moves[0].to) == ("no room", "/console/graphs/g/facts/f%2F1")
    few = moves_of(memory, events[:1])
    assert [move.kind for move in few] == ["demoted", "compressed", "left the ring"]
    assert "2 turns that were older than the last 4" in few[1].why
    assert "leaves out 2 statements" in few[1].why
    assert few[2].to == "/console/graphs/g/agents/a/turns/3"

"""One agent's memory as it moves, and its turns, slot by slot, in a real browser."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from playwright.async_api import expect
from support.console import HOSTILE, House
from support.console_past import GRAPH, with_past

from ezra import Graph
from ezra.handles.agent_memory import AgentMemory
from ezra.service.console import turns
from ezra.service.console.agents import MOVES_SHOWN, moves_of
from ezra.service.console.turns import shown_context
from tiers.records import AgentRecord, AuditEvent, Summary, Turn

from .conftest import PHONE, Shots, Tabs

# One agent's memory as it moves.

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


# Turns: the list, one context slot by slot, and how it is today, in a real browser.

AGENT = f"/console/graphs/{GRAPH}/agents/strategist"


async def graph_of(house: House) -> Graph:
    """Return the graph with a past."""
    return await with_past(house.ezra, house.clock)


async def number_in(page: Any, selector: str) -> list[int]:
    """Return the numbers that a page shows in some elements."""
    return [int(one.replace(",", "")) for one in await page.locator(selector).all_inner_texts()]


async def test_turns_are_listed_with_what_their_contexts_cost(
    house: House, tabs: Tabs, shots: Shots
) -> None:
    """The last first; tokens, slots and cuts are those of the receipts; markup is text."""
    graph = await graph_of(house)
    page = await tabs.open(f"{house.url}{AGENT}/turns")
    listed = await graph.turns("strategist")
    assert await number_in(page, "tbody th") == [turn.seq for turn in listed]
    receipts = await graph.receipts_of([turn.id for turn in listed])
    bodies = [receipts[turn.id].body for turn in listed]
    shown = await number_in(page, 'td[data-label="Context tokens"]')
    assert shown == [body["tokens"] for body in bodies]
    assert await number_in(page, 'td[data-label="Cut"]') == [len(one["dropped"]) for one in bodies]
    assert sum(len(one["dropped"]) for one in bodies) > 0
    assert HOSTILE in await page.locator("tbody").inner_text()
    assert await page.evaluate("window.pwned") is None
    await shots("turns-desktop", page)


async def test_turns_go_on_page_by_page(
    house: House, tabs: Tabs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As they are scrolled, and by links where there is no script: every turn once."""
    await graph_of(house)
    monkeypatch.setattr(turns, "TURNS_PER_PAGE", 4)
    page = await tabs.open(f"{house.url}{AGENT}/turns")
    await expect(page.locator("tbody th")).to_have_count(6)
    assert await number_in(page, "tbody th") == [6, 5, 4, 3, 2, 1]
    plain = await tabs.open(f"{house.url}{AGENT}/turns", js=False)
    assert await number_in(plain, "tbody th") == [6, 5, 4, 3]
    await plain.get_by_role("link", name="Show more").click()
    assert await number_in(plain, "tbody th") == [2, 1]


async def test_a_context_is_shown_slot_by_slot(house: House, tabs: Tabs, shots: Shots) -> None:
    """Kinds, texts and tokens of each slot, their sum, what was cut: as the handle says."""
    graph = await graph_of(house)
    (turn,) = await graph.turns("strategist", before=4, limit=1)
    receipt = (await graph.receipts_of([turn.id]))[turn.id]
    told = await graph.replay_context(receipt.id)
    page = await tabs.open(f"{house.url}{AGENT}/turns/3")
    given = page.locator("section[data-slots]")
    assert await given.get_attribute("data-slots") == str(len(told.slots))
    tokens = await number_in(page, ".slot-tokens")
    assert tokens == [slot.tokens for slot in told.slots]
    missing = sum(one.slot.tokens for one in told.missing)
    assert sum(tokens) + missing == receipt.body["tokens"]
    assert await given.get_attribute("data-tokens") == str(receipt.body["tokens"])
    kinds = await page.locator(".slots tbody td:first-child").all_inner_texts()
    assert kinds == [slot.kind for slot in told.slots]
    dropped = page.locator("table", has_text="Dropped: did not fit")
    assert await dropped.locator("tbody tr").count() == len(told.dropped) == 1
    assert await number_in(dropped, 'td[data-label="Tokens"]') == [told.dropped[0].tokens]
    assert HOSTILE in await page.locator(".slots").inner_text()
    assert await page.evaluate("window.pwned") is None
    await shots("turn-desktop", page)
    phone = await tabs.open(f"{house.url}{AGENT}/turns/3", size=PHONE, scheme="dark")
    assert await phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await shots("turn-phone-dark", phone)


async def test_a_context_is_compared_with_today(house: House, tabs: Tabs, shots: Shots) -> None:
    """On demand, and as many slots the same, changed, gone and new as the handle finds."""
    graph = await graph_of(house)
    (turn,) = await graph.turns("strategist", before=4, limit=1)
    receipt = (await graph.receipts_of([turn.id]))[turn.id]
    page = await tabs.open(f"{house.url}{AGENT}/turns/3")
    before = len(await graph.audit(limit=10_000))
    await page.get_by_role("link", name="Compare with today").click()
    today = (await graph.replay_context(receipt.id, today=True)).today
    assert today is not None
    counts = [len(one) for one in (today.kept, today.changed, today.gone, today.new)]
    shown = await number_in(page, "#now .stat .value")
    assert shown == counts
    assert sum(counts[1:]) > 0
    assert await page.locator("#now tbody tr").count() == sum(counts[1:])
    assert len(await graph.audit(limit=10_000)) == before
    await shots("turn-today", page)


async def test_turns_lead_to_those_beside_them(house: House, tabs: Tabs) -> None:
    """The first has none before it, and the last none behind it."""
    await graph_of(house)
    for seq, ways in ((1, ["Later"]), (3, ["Earlier", "Later"]), (6, ["Earlier"])):
        page = await tabs.open(f"{house.url}{AGENT}/turns/{seq}", js=False)
        told = page.get_by_role("link", name=re.compile("^(Earlier|Later)$"))
        assert await told.all_inner_texts() == ways


async def test_what_is_not_there_is_said(house: House, tabs: Tabs) -> None:
    """An unknown number, a word for one, an unknown receipt: an error page, and no trouble."""
    await graph_of(house)
    nobody = f"/console/graphs/{GRAPH}/agents/nobody/turns"
    for where in (
        *(nobody, f"{AGENT}/turns/99", f"{AGENT}/turns/x"),
        f"/console/graphs/{GRAPH}/receipts/x",
    ):
        page = await tabs.open(f"{house.url}{where}")
        await expect(page.get_by_role("alert")).to_be_visible()
    assert len(tabs.problems) == 4
    assert all("404" in one for one in tabs.problems)
    tabs.problems.clear()


async def test_shares_of_a_context_fill_the_budget(house: House) -> None:
    """What each kind takes and what is left make up the whole bar."""
    graph = await graph_of(house)
    for receipt in (
        await graph.receipts_of([t.id for t in await graph.turns("strategist")])
    ).values():
        shown = shown_context(await graph.replay_context(receipt.id))
        assert shown.budget is not None
        assert shown.free is not None
        assert sum(one.tokens for one in shown.shares) == shown.tokens == receipt.body["tokens"]
        used = sum(one.width for one in shown.shares)
        assert used + 100 * shown.free / shown.budget == pytest.approx(100, abs=0.2)


async def test_what_is_opened_stays_open_while_its_section_is_renewed(
    house: House, tabs: Any
) -> None:
    """A long text of a row that has no name of its own, and the keyboard stays on it."""
    page = await tabs.open(f"{house.url}/console/graphs/imola/agents/strategist")
    live = page.locator("section[data-live$='/live']")
    fold = live.locator("[data-id] details.said").last
    text = await fold.locator("div").text_content()
    await page.evaluate(
        "addEventListener('console:replaced', () => { document.body.dataset.renewed = '1' })"
    )
    await fold.locator("summary").focus()
    await page.keyboard.press("Enter")
    await page.wait_for_selector("body[data-renewed]")
    opened = live.locator("details[open]")
    await expect(opened).to_have_count(1)
    assert await opened.locator("div").text_content() == text
    assert await opened.locator("summary").evaluate("one => one === document.activeElement")

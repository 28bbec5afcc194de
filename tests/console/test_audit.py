"""The audit feed: newest first, filtered, paged, live."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest
from playwright.async_api import expect
from support.console import House
from support.console_past import GRAPH, with_past

from ezra.service.caller import Caller
from ezra.service.console import audit, pages
from tiers.records import AuditFilter

from .conftest import PHONE, Shots, Tabs

pytestmark = pytest.mark.asyncio(loop_scope="session")

FEED = f"/console/graphs/{GRAPH}/audit"


async def kinds_of(page: Any) -> list[str]:
    """Return the kinds of the events that a page shows."""
    return await page.locator(".event .badge").all_inner_texts()


async def test_the_feed_begins_with_what_happened_last(
    house: House, tabs: Tabs, shots: Shots
) -> None:
    """The same events as the handle gives, of a graph and of the tenant."""
    graph = await with_past(house.ezra, house.clock)
    page = await tabs.open(f"{house.url}{FEED}")
    events = (await graph.audit(limit=10_000))[::-1]
    shown = [int(one) for one in await page.locator(".event .num").all_inner_texts()]
    assert shown == [one.seq for one in events[: len(shown)]]
    assert await kinds_of(page) == [one.kind for one in events[: len(shown)]]
    await shots("audit-desktop", page)
    phone = await tabs.open(f"{house.url}/console/audit", size=PHONE)
    assert await phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
    last = (await house.ezra.audit(0, 1, only=AuditFilter(before=2**53 - 1)))[0]
    assert (await phone.locator(".event .num").first.inner_text()) == f"{last.position:,}"
    await shots("audit-phone", phone)


async def test_the_feed_is_filtered(house: House, tabs: Tabs) -> None:
    """By kind, agent, record and time, through the form and by the links of records."""
    graph = await with_past(house.ezra, house.clock)
    page = await tabs.open(f"{house.url}{FEED}")
    await page.get_by_label("Kind").fill("committed")
    await page.get_by_label("Agent").fill("engineer")
    await page.get_by_role("button", name="Show").click()
    wanted = await graph.audit(only=AuditFilter(kinds=("committed",), agent_id="engineer"))
    assert len(wanted) == 1
    assert await kinds_of(page) == ["committed"]
    await page.locator(".event .hint a").first.click()
    about = await graph.audit(only=AuditFilter(record_id=wanted[0].record_ids[0], before=10**6))
    await expect(page.locator(".event .badge")).to_have_count(
        len(about)
    )  # the link has been followed
    assert await kinds_of(page) == [one.kind for one in about]
    assert len(about) > 1
    since = quote(about[0].recorded_at.isoformat())
    page = await tabs.open(f"{house.url}{FEED}?since={since}&until={since}")
    await expect(page.get_by_text("No such events.")).to_be_visible()
    page = await tabs.open(f"{house.url}{FEED}?since=soon")
    await expect(page.get_by_role("alert")).to_contain_text("since")
    page = await tabs.open(f"{house.url}{FEED}?kind=commit")
    await expect(page.get_by_role("alert")).to_contain_text("kind: 'commit' is not accepted")
    assert len(tabs.problems) == 2
    tabs.problems.clear()


async def test_the_feed_goes_on_page_by_page(
    house: House, tabs: Tabs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scrolled or linked, every event comes once."""
    graph = await with_past(house.ezra, house.clock)
    monkeypatch.setattr(audit, "EVENTS_PER_PAGE", 7)
    everything = [f"{one.seq}" for one in (await graph.audit(limit=10_000))[::-1]]
    page = await tabs.open(f"{house.url}{FEED}")
    rows = page.locator("[data-rows] .event .num")
    for _ in everything:
        if await rows.count() >= len(everything):
            break
        await page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
        await page.wait_for_timeout(100)
    assert await rows.all_inner_texts() == everything
    plain = await tabs.open(f"{house.url}{FEED}", js=False)
    seen: list[str] = []
    for _ in everything:
        seen += await plain.locator(".event .num").all_inner_texts()
        more = plain.get_by_role("link", name="Show more")
        if await more.count() == 0:
            break
        await more.click()
    assert seen == everything


async def test_new_events_come_by_themselves(house: House, tabs: Tabs) -> None:
    """What happens while the page is open appears above, once, and only if it is asked for."""
    graph = await with_past(house.ezra, house.clock)
    page = await tabs.open(f"{house.url}{FEED}")
    other = await tabs.open(f"{house.url}{FEED}?kind=denied")
    await graph.spawn_agent("late")
    await expect(page.locator(".events.new .event")).to_have_count(1, timeout=10_000)
    await expect(page.locator(".events.new .badge")).to_have_text("spawned")
    await expect(page.locator(".event", has_text="late")).to_have_count(1)
    assert await kinds_of(other) == []


async def test_no_page_of_the_past_is_an_agents() -> None:
    """Whole graphs are read by readers, one bound to a graph reads that one and not the tenant."""
    modules = {
        f"ezra.service.console.{name}" for name in ("audit", "beliefs", "belief_story", "turns")
    }
    ours = [page for page in pages if page.function.__module__ in modules]
    assert len(ours) > 15
    for page in ours:
        held = {"graph_id": "imola", "agent_id": "scout"}
        names = {name: held.get(name, "1") for name in page.names}
        bound = Caller("r", "reader", graph_id="imola")
        assert page.is_for(bound, names) == ("graph_id" in names)
        assert not page.is_for(Caller("a", "agent"), names)
        assert not page.is_for(Caller("r", "reader", graph_id="monza"), names)

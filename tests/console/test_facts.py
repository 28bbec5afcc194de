"""The pages of facts and playbooks: what they show is what the handles give."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect
from support.console import HOSTILE, House
from support.console_facts import GRAPH, Told, cursor_at, many_facts, told

from ezra.service.console.facts import MOVES, ROWS
from ezra.service.console.pages import LATEST
from tiers.records import AuditFilter, Fact

from .conftest import LOOKS, Shots, Tabs

pytestmark = pytest.mark.asyncio(loop_scope="session")


TRIES_MAX = 20
"""A machine that does other work besides slows some tries down, but not all of them."""

IN_THE_DOCUMENT_MAX = 500 + ROWS
"""The list keeps 500 rows, and the portion that has just come."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def known(house: House) -> Told:
    """A graph with facts of every fate."""
    return await told(house.ezra, house.clock)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def long_list(house: House) -> str:
    """A graph of a few thousand facts."""
    await many_facts(house.ezra, "many-facts", 2_000)
    return f"{house.url}/console/graphs/many-facts/facts"


def _place(house: House, *parts: str) -> str:
    return "/".join((house.url, "console/graphs", GRAPH, *parts))


async def _rows(page: Page) -> list[str]:
    rows = page.locator("[data-rows] > [data-id]")
    found: list[str] = await rows.evaluate_all("all => all.map(one => one.dataset.id)")
    return found


async def _is_within(page: Page) -> bool:
    """Whether nothing sticks out of the window."""
    found: bool = await page.evaluate(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )
    return found


def _ids(facts: Sequence[Fact]) -> list[str]:
    return [one.id for one in facts]


async def test_the_list_shows_what_the_graph_holds(house: House, known: Told, tabs: Tabs) -> None:
    """Live shared facts, the latest first; a tier and a topic narrow them."""
    graph = await house.ezra.session_graph(GRAPH)
    page = await tabs.open(_place(house, "facts"))
    facts = (await graph.latest_facts()).rows
    assert await _rows(page) == _ids(facts)
    row = page.locator(f'[data-id="{known.core}"]')
    await expect(row.locator("th")).to_have_text("Softs last 12 laps.")
    assert await row.locator("td").all_text_contents() != []
    await expect(row.locator('[data-label="Tier"]')).to_have_text("core")
    await expect(row.locator('[data-label="Uses"]')).to_have_text("3")
    await page.get_by_label("Tier").select_option("archival")
    await page.get_by_label("Topic").fill("weather")
    await page.get_by_role("button", name="Show").click()
    wanted = await graph.latest_facts(tier="archival", topics=["weather"])
    assert 0 < len(wanted.rows) < len(facts)
    await expect(page.locator("[data-rows] > [data-id]")).to_have_count(len(wanted.rows))
    assert await _rows(page) == _ids(wanted.rows)
    await expect(page.get_by_label("Topic")).to_have_value("weather")


async def test_a_fact_tells_its_story(house: House, known: Told, tabs: Tabs) -> None:
    """Promoted and why, superseded and by what; what is private is not there."""
    story = await house.ezra.explain(known.core)
    page = await tabs.open(_place(house, "facts", known.core))
    await expect(page.locator("main h2").first).to_have_text("Softs last 12 laps.")
    for line in story.lines:
        await expect(page.get_by_text(line, exact=True)).to_be_visible()
    events = page.locator(".story > li")
    await expect(events).to_have_count(1 + len(story.events))
    await expect(events.last).to_contain_text("promoted by ezra 3 uses")
    await expect(page.locator(".spans .core")).to_have_count(0)  # it is core since just now

    await page.goto(_place(house, "facts", known.gave_way))
    await expect(page.get_by_text("superseded", exact=True).first).to_be_visible()
    await page.locator("dl a", has_text="Max drives for Ferrari").click()
    await expect(page).to_have_url(_place(house, "facts", known.instead))
    await expect(page.locator("main h2").first).to_have_text("Max drives for Ferrari")

    private = await _private_fact(house)
    answer = await page.goto(_place(house, "facts", private))
    assert answer is not None
    assert answer.status == 404
    assert "Only the analyst" not in await page.content()
    tabs.problems.clear()  # the browser tells of the 404


async def _private_fact(house: House) -> str:
    agent = await (await house.ezra.session_graph(GRAPH)).agent("analyst")
    found = await agent.recall("Only the analyst knows.", kinds=["fact"])
    return next(hit.id for hit in found.items if "Only the analyst" in hit.text)


async def test_what_became_of_facts_is_the_audit_feed(
    house: House, known: Told, tabs: Tabs
) -> None:
    """Promoted, superseded, forgotten, the last first, with the facts as they are now."""
    graph = await house.ezra.session_graph(GRAPH)
    events = await graph.audit(only=AuditFilter(kinds=MOVES, before=LATEST))
    page = await tabs.open(_place(house, "fact-moves"))
    assert await _rows(page) == [str(event.seq) for event in events]
    assert {event.kind for event in events} >= {"promoted", "superseded", "forgotten"}
    kinds = page.locator('[data-label="What"]')
    assert [one.strip() for one in await kinds.all_text_contents()] == [one.kind for one in events]
    gone = page.locator("tr", has_text="forgotten")
    await expect(gone).to_contain_text("It never rains.")
    await expect(gone).to_contain_text("it did")
    assert known.forgotten in {one for event in events for one in event.record_ids}


async def test_playbooks_show_how_they_did(house: House, known: Told, tabs: Tabs) -> None:
    """Trigger, steps, outcomes, and the steps of former versions."""
    page = await tabs.open(_place(house, "rules"))
    rule = page.locator(f'[data-id="{known.rule}"]')
    await expect(rule.locator("h3")).to_have_text(f"When rain {HOSTILE}")
    assert await rule.locator(".steps").first.locator("li").all_text_contents() == [
        "box",
        "fit wets",
    ]
    for badge in ("confirmed 1", "rejected 0", "version 2"):
        await expect(rule.get_by_text(badge, exact=True)).to_be_visible()
    await rule.locator("summary").click()
    await expect(rule.get_by_text("fit inters")).to_be_visible()


async def test_hostile_text_is_text(house: House, known: Told, tabs: Tabs) -> None:
    """Markup that somebody remembered is shown as it was written, on every page of facts."""
    page = await tabs.open(_place(house, "facts"))
    for place in (("facts",), ("fact-moves",), ("facts", known.hostile)):
        await page.goto(_place(house, *place))
        assert await page.evaluate("window.pwned") is None
        assert await page.locator("main script, main img").count() == 0
    await expect(page.locator("main h2").first).to_have_text(f"{HOSTILE} says {HOSTILE} Max")


async def test_a_long_list_stays_small_while_it_is_scrolled(
    long_list: str, house: House, tabs: Tabs
) -> None:
    """Rows come in portions; those far away give room to a space, and come back."""
    page = await tabs.open(long_list)
    graph = await house.ezra.session_graph("many-facts")
    wanted: list[str] = []
    cursor: str | None = ""
    while cursor is not None and len(wanted) < 1_000:
        found = await graph.latest_facts(after=cursor, limit=100)
        wanted += _ids(found.rows)
        cursor = found.cursor
    assert await _rows(page) == wanted[:ROWS]
    last = ""
    most = 0
    for _ in range(60):
        await page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
        await page.wait_for_function(
            "before => [...document.querySelectorAll('[data-rows] > [data-id]')].at(-1)"
            ".dataset.id !== before",
            arg=last,
        )
        shown = await _rows(page)
        last = shown[-1]
        most = max(most, len(shown))
        assert len(shown) <= IN_THE_DOCUMENT_MAX
        if last in wanted and wanted.index(last) >= 700:
            break
    place = wanted.index(last)
    assert place >= 700
    assert wanted[0] not in shown, "what is far above is not in the document"
    assert shown == wanted[place + 1 - len(shown) : place + 1], "without a gap, in order"
    await page.evaluate("window.scrollTo(0, 0)")
    await page.wait_for_selector(f'[data-rows] > [data-id="{wanted[0]}"]')
    assert len(await _rows(page)) <= IN_THE_DOCUMENT_MAX
    assert most > ROWS


async def test_without_script_a_link_leads_on(long_list: str, tabs: Tabs) -> None:
    """The next rows are a page of their own."""
    page = await tabs.open(long_list, js=False)
    first = await page.locator("tbody th a").all_text_contents()
    assert first[0] == "Fact number 1998 of the track log.", "of three at one moment the first id"
    await page.get_by_text("Show more").click()
    then = await page.locator("tbody th a").all_text_contents()
    assert len(first) == len(then) == ROWS
    assert not set(first) & set(then)


@pytest.mark.parametrize(("size", "scheme"), LOOKS)
async def test_pages_fit_a_desk_and_a_phone(
    house: House, known: Told, tabs: Tabs, shots: Shots, size: tuple[int, int], scheme: str
) -> None:
    """Nothing sticks out of the window; screenshots are kept."""
    page = await tabs.open(_place(house, "facts"), size=size, scheme=scheme)
    places = {
        "fact": ("facts", known.gave_way),
        "fact-moves": ("fact-moves",),
        "rules": ("rules",),
        "facts": ("facts",),
    }
    for name, place in places.items():
        await page.goto(_place(house, *place))
        await shots(f"{name}-{size[0]}-{scheme}", page)
        assert await _is_within(page), name


@pytest.mark.slow
@pytest.mark.timeout(900)  # to import them takes longest
async def test_a_hundred_thousand_facts_take_no_longer(house: House, tabs: Tabs) -> None:
    """A page of them is there in under a second, the first one and one in the middle."""
    await many_facts(house.ezra, "huge", 100_000)
    page = await tabs.open(f"{house.url}/console")
    graph = await house.ezra.session_graph("huge")
    middle = (await graph.latest_facts(after=cursor_at(50_000), limit=1)).cursor
    assert middle is not None
    for query in ("", "?tier=core", "?topic=weather", f"?after={middle}"):
        took = [math.inf]
        while min(took) >= 1.0 and len(took) <= TRIES_MAX:
            begun = time.monotonic()
            await page.goto(f"{house.url}/console/graphs/huge/facts{query}")
            await page.wait_for_selector("html[data-ready]")
            took.append(time.monotonic() - begun)
            assert len(await _rows(page)) == ROWS
        assert min(took) < 1.0, (query, took)

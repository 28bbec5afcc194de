"""Graphs as they are drawn and listed, one graph, and what every page can do."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest
from playwright.async_api import expect
from support.console import House

from ezra.service.console.layout import BOX_HEIGHT, BOX_WIDTH, around, families, layered, sheets

pytestmark = pytest.mark.asyncio(loop_scope="session")

PHONE = (390, 844)
CONTRAST_MIN = 4.5


async def test_pages_look_right_on_desk_and_phone_by_day_and_night(
    house: House, tabs: Any, shots: Any
) -> None:
    """Nothing is wider than a phone, and words stand out from what is behind them."""
    agent = "/graphs/imola/agents/strategist"
    pages = {"overview": "", "graphs": "/graphs", "graph": "/graphs/imola", "agent": agent}
    for size, scheme in (((1280, 800), "light"), (PHONE, "dark")):
        page = await tabs.open(f"{house.url}/console", size=size, scheme=scheme)
        for name, path in pages.items():
            await page.goto(f"{house.url}/console{path}")
            await shots(f"{name}-{size[0]}-{scheme}", page)
            assert await page.evaluate("document.documentElement.scrollWidth") <= size[0], name
            assert len(await page.locator("h1").all()) == 1
        for front, back in (("text", "back"), ("soft", "back"), ("soft", "sunken"), *_TONES):
            ratio = await page.evaluate(_CONTRAST, [front, back])
            assert ratio >= CONTRAST_MIN, (scheme, front, back, ratio)


_TONES = [
    *((tone, f"{tone}-back") for tone in ("good", "warn", "bad", "accent")),
    *((tone, back) for tone in ("hot", "warm", "cold") for back in ("paper", "sunken")),
    ("on-accent", "accent"),
]

_CONTRAST = """([front, back]) => {
    const style = getComputedStyle(document.documentElement);
    const bright = (name) => {
        const hex = style.getPropertyValue('--' + name).trim().slice(1);
        const parts = [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255);
        const [r, g, b] = parts.map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const [high, low] = [bright(front), bright(back)].sort((a, b) => b - a);
    return (high + 0.05) / (low + 0.05);
}"""


async def test_inheritance_is_drawn_with_what_comes_through(house: House, tabs: Any) -> None:
    """A box for each graph, a broken line for a moment of the past, and words for both."""
    page = await tabs.open(f"{house.url}/console/graphs/imola", js=False)
    boxes = page.locator(".dag .box")
    assert {await one.get_attribute("href") for one in await boxes.all()} >= {
        "/console/graphs/imola",
        "/console/graphs/monaco",
    }
    link = page.locator(".dag .link.past title").first
    text = await link.text_content()
    assert text is not None
    assert text.startswith("imola reads monaco: core facts, rules, as of 2026-05-15")
    reads = page.locator("table", has_text="What it reads")
    assert "2026-05-15" in await reads.inner_text()
    assert "core facts, rules" in await reads.inner_text()
    assert "200,000" in await page.locator("main").inner_text(), "the budget"
    members = page.locator("table", has_text="agents present")
    assert "strategist" in await members.inner_text()


async def test_the_list_follows_what_is_typed(house: House, tabs: Any) -> None:
    """The answer is there without a button, the address says it, and the field keeps the focus."""
    page = await tabs.open(f"{house.url}/console/graphs")
    await page.keyboard.press("/")
    await page.keyboard.type("mona")
    await page.wait_for_url("**/graphs?q=mona")
    rows = page.locator("#graphs-list tbody tr")
    await expect(rows).to_have_count(1)
    assert "monaco" in await rows.inner_text()
    assert await page.evaluate("document.activeElement.id") == "q"
    await page.keyboard.type("zzz")
    await expect(page.locator("#graphs-list .empty")).to_be_visible()
    plain = await tabs.open(f"{house.url}/console/graphs", js=False)
    await plain.fill("#q", "imo")
    await plain.keyboard.press("Enter")
    await expect(plain.locator("#graphs-list tbody tr")).to_have_count(1)


async def test_the_keyboard_reaches_everything(house: House, tabs: Any) -> None:
    """The skip link comes first, letters lead to pages, rows are stepped through, keys are told."""
    page = await tabs.open(f"{house.url}/console/graphs/imola")
    await page.keyboard.press("Tab")
    assert await page.evaluate("document.activeElement.className") == "skip"
    await page.keyboard.press("Enter")
    assert await page.evaluate("document.activeElement.id") == "main"
    await page.keyboard.press("?")
    keys = page.locator("dialog#keys")
    await expect(keys).to_be_visible()
    assert re.search(r"g\s+g\s+Graphs", await keys.inner_text())
    await page.keyboard.press("Escape")
    await expect(keys).to_be_hidden()
    await page.keyboard.press("j")
    assert await page.evaluate("document.activeElement.textContent") == "strategist"
    await page.keyboard.press("j")
    assert await page.evaluate("document.activeElement.textContent") == "engineer"
    await page.keyboard.press("k")
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/agents/strategist")
    await page.wait_for_selector("html[data-ready]")
    await page.keyboard.press("g")
    await page.keyboard.press("g")
    await page.wait_for_url("**/console/graphs")


async def test_a_list_of_thousands_keeps_few_rows_in_the_page(house: House, tabs: Any) -> None:
    """Rows come as the list is scrolled, those far away give room, and come back above."""
    page = await tabs.open(f"{house.url}/console")
    made = itertools.count(1)

    async def portion(route: Any) -> None:
        number = next(made)
        rows = "".join(
            f"<tr><th scope=row><a href='#{number}-{row}'>row {number}-{row}</a></th></tr>"
            for row in range(100)
        )
        more = (
            "<tr class=more><td><a href='#' data-more='/console/graphs-rows?n=x'>more</a></td></tr>"
        )
        await route.fulfill(body=rows + (more if number < 20 else ""), content_type="text/html")

    await page.route("**/console/graphs-rows*", portion)
    await page.goto(f"{house.url}/console/graphs")
    await page.route("**/console/graphs-list*", lambda route: route.fulfill(body=_ENDLESS))
    await page.fill("#q", "i")
    await page.wait_for_selector("text=row 1-0")
    most = 0
    for _ in range(60):
        await page.mouse.wheel(0, 4_000)
        await page.wait_for_timeout(30)
        most = max(most, await page.locator("[data-rows] > tr:not(.spacer)").count())
        if await page.locator("text=row 20-99").count():
            break
    assert await page.locator("text=row 20-99").count() == 1, "the end was reached"
    assert most <= 700
    assert await page.locator("[data-rows] > tr.spacer").count() >= 10
    await page.evaluate("scrollTo(0, 0)")
    await page.wait_for_selector("text=row 1-0")
    assert await page.locator("[data-rows] > tr:not(.spacer)").count() <= 700


_ENDLESS = (
    "<table><tbody data-rows><tr><th><a href='#first'>first</a></th></tr><tr class=more><td>"
    "<a href='#' data-more='/console/graphs-rows'>more</a></td></tr></tbody></table>"
)


async def test_graphs_of_any_name_can_be_opened(house: House, tabs: Any) -> None:
    """A slash and a step upwards lead to the graph, not somewhere else."""
    for name in ("practice/1", ".."):
        await house.ezra.create_session_graph(name)
    page = await tabs.open(f"{house.url}/console/graphs")
    for name in ("practice/1", ".."):
        await page.goto(f"{house.url}/console/graphs")
        await page.locator("#graphs-list").get_by_role("link", name=name, exact=True).click()
        await expect(page.locator("h1")).to_have_text(name)


async def test_a_drawing_has_heirs_right_of_all_they_read_and_nothing_upon_another() -> None:
    """In a family of 60, links lead rightwards and no two boxes touch."""
    ids = [f"g{number}" for number in range(60)]
    links = [(ids[number // 3], ids[number]) for number in range(1, 60)]
    links += [(ids[0], ids[number]) for number in (40, 55)] + [("g1", "g50"), ("gone", "g3")]
    drawing = layered(ids, links)
    at = {box.id: box for box in drawing.boxes}
    assert set(at) == set(ids)
    assert len(drawing.lines) == len(links) - 1, "a link to what is not drawn is left out"
    for parent, child in links[:-1]:
        assert at[parent].x + BOX_WIDTH < at[child].x
    for one, other in itertools.combinations(drawing.boxes, 2):
        assert one.x != other.x or abs(one.y - other.y) >= BOX_HEIGHT, (one, other)
    assert all(box.x >= 0 and box.x + BOX_WIDTH <= drawing.width for box in drawing.boxes)
    assert all(box.y >= 0 and box.y + BOX_HEIGHT <= drawing.height for box in drawing.boxes)


async def test_a_long_link_is_led_around_the_boxes_between() -> None:
    """From the first layer to the third, a line passes beside the box of the second."""
    drawing = layered(["a", "b", "c"], [("a", "b"), ("b", "c"), ("a", "c")])
    at = {box.id: box for box in drawing.boxes}
    long = next(line for line in drawing.lines if (line.parent, line.child) == ("a", "c"))
    passing = re.search(r" (\d+) H", long.path)
    assert passing is not None
    assert not at["b"].y <= int(passing[1]) <= at["b"].y + BOX_HEIGHT
    assert layered([], []).boxes == ()


async def test_a_few_hundred_graphs_are_drawn_sheet_by_sheet() -> None:
    """Every linked graph is on one sheet, none has too many, and small families share one."""
    ids = [f"g{number}" for number in range(300)]
    links = [(ids[number // 2], ids[number]) for number in range(1, 200)]
    links += [(ids[number], ids[number + 1]) for number in range(210, 290, 2)]
    found = sheets(ids, links, 60)
    drawn = [one for sheet in found for one in sheet]
    linked = {end for link in links for end in link}
    assert len(drawn) == len(set(drawn))
    assert set(drawn) == linked
    assert max(map(len, found)) <= 60
    assert len(found) <= 7
    assert sheets(["a", "b"], [], 60) == []


async def test_families_and_what_is_around_a_graph() -> None:
    """Who is linked near or far is one family; the nearest ancestors and heirs come first."""
    ids = ["a", "b", "c", "d", "e", "alone"]
    links = [("a", "b"), ("b", "c"), ("d", "c"), ("c", "e")]
    assert families(ids, links) == [["a", "b", "c", "d", "e"], ["alone"]]
    assert around("b", ids, links, 10) == ["b", "a", "c", "e"], "d is no ancestor and no heir"
    assert around("c", ids, links, 3)[0] == "c"
    assert len(around("c", ids, links, 3)) == 3
    assert around("alone", ids, links, 10) == ["alone"]


async def test_a_long_name_leaves_the_tabs_in_reach_and_short_ones_whole(
    house: House, tabs: Any
) -> None:
    """The row of tabs stays one line high; beside a long role an agent's name is not broken."""
    graph = await house.ezra.create_session_graph("x" * 200)
    await graph.spawn_agent("strategist", role="keeps the tyres alive, " * 20, topics={"tyres"})
    page = await tabs.open(f"{house.url}/console/graphs/{graph.id}")
    place = await page.locator(".place").bounding_box()
    assert place["height"] < 64
    last = await page.locator(".tabs a").last.bounding_box()
    assert last["x"] + last["width"] <= 1280 + 400, "the name does not push them out of reach"
    name = page.locator("tbody th a")
    lines = await name.evaluate("one => one.getClientRects().length")
    assert (await name.inner_text(), lines) == ("strategist", 1)

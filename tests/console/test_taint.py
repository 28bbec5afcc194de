"""The page about poisoned records: the tree, its sources, and the roll-backs."""

from __future__ import annotations

import pytest
from playwright.async_api import expect
from support.console import House

from ezra import Fact

from .conftest import PHONE, Shots, Tabs

pytestmark = pytest.mark.asyncio(loop_scope="session")

GRAPH = "poisoned"
PAGE = f"/console/graphs/{GRAPH}/taint"


async def test_the_tree_of_a_record_is_shown_with_its_roll_backs(
    house: House, tabs: Tabs, shots: Shots
) -> None:
    """As the handle gives it, on a wide screen and a narrow one; text is text, whatever it says."""
    graph = await house.ezra.create_session_graph(GRAPH)
    agent = await graph.spawn_agent("strategist")
    poison = await agent.remember("<b>Hards explode</b> on lap three.")
    await agent.remember(Fact(text="Box on lap two.", source_ids=(poison,)))
    page = await tabs.open(f"{house.url}{PAGE}")
    await expect(page.get_by_text("No record of this graph was rolled back.")).to_be_visible()
    await page.get_by_label("Poisoned record").fill(poison)
    await page.get_by_role("button", name="Trace").click()
    rows = page.locator("#tree tbody tr")
    await expect(rows).to_have_count(2)
    nodes = (await graph.taint.trace(poison)).nodes
    shown = [
        (await row.get_attribute("data-record"), await row.get_attribute("data-exposure"))
        for row in await rows.all()
    ]
    assert shown == [(one.id, one.exposure) for one in nodes]
    await expect(rows.first).to_contain_text("<b>Hards explode</b>")
    done = await graph.taint.roll_back(poison, reason="a page planted it")
    phone = await tabs.open(f"{house.url}{PAGE}?record={poison}", size=PHONE)
    row = phone.locator(f"[data-roll-back='{done.roll_back.id}']")
    await expect(row).to_contain_text("open")
    assert await phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await expect(phone.locator("#tree tbody tr").first).to_contain_text("set aside")
    await shots("taint-phone", phone)
    await page.reload()
    await shots("taint-desktop", page)
    await house.ezra.session_graph(GRAPH)


async def test_an_unknown_record_is_told(house: House, tabs: Tabs) -> None:
    """The page says so."""
    await house.ezra.create_session_graph("clean")
    page = await tabs.open(f"{house.url}/console/graphs/clean/taint?record=nothing")
    await expect(page.get_by_role("alert")).to_contain_text("nothing")
    tabs.problems.clear()

"""One question to every graph: answers by graph, each once, and what did not take part is named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.async_api import expect
from support.console import HOSTILE, House
from support.runtime import MovingClock, running
from support.service import bearer, inside

from ezra import Fact
from ezra.service.console import searching
from ezra.service.console.searching import PER_GRAPH
from ezra.service.tokens import TokenFile

from .conftest import PHONE, Shots, Tabs

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_answers_stand_by_their_graph_each_once(
    house: House, tabs: Tabs, shots: Shots
) -> None:
    """An inherited one at its own graph alone; nothing private; text is text; links lead on."""
    past = await house.ezra.create_session_graph("zandvoort-past")
    scout = await past.spawn_agent("scout")
    core = await scout.remember(Fact(text="Banked turns at Zandvoort eat softs.", tier="core"))
    graph = await house.ezra.create_session_graph("zandvoort", inherits_from=["zandvoort-past"])
    agent = await graph.spawn_agent("strategist")
    own = await agent.remember(f"Zandvoort softs last nine laps. {HOSTILE}")
    await agent.remember("Zandvoort softs are secretly bad.", private=True)
    page = await tabs.open(f"{house.url}/console")
    await page.keyboard.press("g")
    await page.keyboard.press("r")
    await page.wait_for_url("**/console/search")
    await page.get_by_label("Question").fill("Zandvoort softs")
    await page.get_by_role("button", name="Search", exact=True).click()
    first = page.locator("section[data-graph='zandvoort'] li[data-id]")
    assert [await one.get_attribute("data-id") for one in await first.all()] == [own]
    second = page.locator("section[data-graph='zandvoort-past'] li[data-id]")
    assert [await one.get_attribute("data-id") for one in await second.all()] == [core]
    assert "secretly" not in await page.content()
    assert await page.evaluate("window.pwned") is None
    await shots("search-all-desktop", page)
    story = f"/console/graphs/zandvoort-past/facts/{core}"
    assert await second.locator("a").first.get_attribute("href") == story
    await page.locator("section[data-graph='zandvoort']").get_by_role("button").click()
    await page.wait_for_url("**/graphs/zandvoort/search?asked=*")
    await expect(page.locator(f"li[data-id='{own}']")).to_contain_text("words")


async def test_it_fits_a_phone_and_says_that_nothing_was_found(
    house: House, tabs: Tabs, shots: Shots
) -> None:
    """In the dark and without scripts."""
    page = await tabs.open(f"{house.url}/console/search", size=PHONE, scheme="dark", js=False)
    await page.get_by_label("Question").fill("quokka")
    await page.get_by_label("Kind").select_option("belief")
    await page.get_by_role("button", name="Search", exact=True).click()
    await expect(page.locator("main")).to_contain_text("No graph knows anything about it.")
    wide = await page.locator("main").evaluate("one => one.scrollWidth - one.clientWidth")
    assert wide <= 0
    await shots("search-all-phone", page)


async def test_what_is_not_asked_is_named_and_who_may_not_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bounded to the latest graphs and the best answers; a token of one graph asks that one."""
    monkeypatch.setattr(searching, "GRAPHS_MAX", 2)
    clock = MovingClock()
    async with running(tmp_path / "home", clock) as ezra:
        for name in ("one", "two", "three"):
            agent = await (await ezra.create_session_graph(name)).spawn_agent("writer")
            for number in range(PER_GRAPH + 2):
                await agent.remember(f"Tyre note number {number} of {name}.")
            clock.move(minutes=1)
        tokens = TokenFile(tmp_path / "tokens.json", clock)
        reader = bearer(tokens, role="reader")
        bound = (bearer(tokens, role="reader", graph_id="one"), bearer(tokens, role="agent"))
        async with inside(ezra, tokens) as http:
            form = (await http.get("/console/search", headers=reader)).text
            csrf = re.search(r'name="csrf" value="([^"]+)"', form)
            assert csrf is not None
            said = {"csrf": csrf[1], "query": "tyre note"}
            answer = await http.post(
                "/console/search", data=said, headers=reader, follow_redirects=True
            )
            shown = answer.text
            assert re.findall(r'<section class="panel" data-graph="(\w+)"', shown) != []
            assert set(re.findall(r'data-graph="(\w+)"', shown)) == {"two", "three"}
            assert shown.count('<li data-id="') == 2 * PER_GRAPH
            missing = shown.partition('id="missing"')[2]
            assert "/console/graphs/one" in missing.partition("</details>")[0]
            none = {**said, "query": " "}
            blank = await http.post(
                "/console/search", data=none, headers=reader, follow_redirects=True
            )
            assert blank.status_code == 422
            for who in bound:
                assert (await http.get("/console/search", headers=who)).status_code == 403
                assert (
                    await http.post("/console/search", data=said, headers=who)
                ).status_code == 403


async def test_a_graph_that_is_late_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answers of the others are shown, and nothing goes on in the background."""
    monkeypatch.setattr(searching, "SECONDS_MAX", 0.0)
    async with running(tmp_path / "home") as ezra:
        agent = await (await ezra.create_session_graph("one")).spawn_agent("writer")
        await agent.remember("Tyre note.")
        async with inside(ezra) as http:
            csrf = re.search(
                r'name="csrf" value="([^"]+)"', (await http.get("/console/search")).text
            )
            assert csrf is not None
            said = {"csrf": csrf[1], "query": "tyre note"}
            answer = await http.post("/console/search", data=said, follow_redirects=True)
            shown = answer.text
            assert "no answer within 0 s" in shown

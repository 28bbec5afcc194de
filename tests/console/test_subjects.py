"""A person's page: what is held of somebody is shown, erased after confirming, and receipted."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from playwright.async_api import Page, expect
from support.console import House
from support.runtime import MovingClock, running
from support.service import bearer, inside

from ezra.service.tokens import TokenFile
from tiers.history.receipts import ErasureReceipt

from .conftest import PHONE, Shots, Tabs

pytestmark = pytest.mark.asyncio(loop_scope="session")

GRAPH = "people"
WHO = "Jane Miller"


async def _ask(page: Page, name: str) -> None:
    await page.get_by_label("Who").fill(name)
    await page.get_by_role("button", name="Show what is held").click()


async def test_a_person_is_found_everywhere_and_erased(
    house: House, tabs: Tabs, shots: Shots
) -> None:
    """From the tenant's page to the graph's; a wrong name erases nothing; nothing is left then."""
    graph = await house.ezra.create_session_graph(GRAPH)
    agent = await graph.spawn_agent("concierge")
    fact = await agent.remember(f"{WHO} likes <b>window</b> seats.")
    other = await agent.remember("Ada Byron likes the aisle.")
    turn = await agent.turn("Where does Jane Miller sit?")
    await turn.reply("By the window.")
    page = await tabs.open(f"{house.url}/console/subject")
    await _ask(page, WHO)
    found = page.locator(f"#graphs li[data-graph='{GRAPH}']")
    await expect(found).to_contain_text("fact: 1")
    await found.get_by_role("button", name="Show").click()
    rows = page.locator("#held tbody tr")
    held = (await graph.holding(subject=WHO)).records
    assert {await row.get_attribute("data-record") for row in await rows.all()} == {
        one.id for one in held
    }
    assert fact in {one.id for one in held}
    await expect(page.locator(f"tr[data-record='{fact}']")).to_contain_text("<b>window</b>")
    await shots("subject-desktop", page)
    await page.locator(f"tr[data-record='{fact}'] a", has_text="who read it").click()
    shown = page.locator("#readings tbody tr")
    readings = (await graph.readings(fact)).readings
    assert readings, "the turn was shown it"
    await expect(shown).to_have_count(len(readings))
    assert [await row.get_attribute("data-receipt") for row in await shown.all()] == [
        one.receipt_id for one in readings
    ]
    await shots("readings-desktop", page)
    await page.goto(f"{house.url}/console/graphs/{GRAPH}/subject")
    await _ask(page, WHO)
    erase = page.locator("#erase")
    await erase.get_by_label("Why").fill("asked to")
    await erase.get_by_label("The name once more").fill("Jane Mueller")
    await erase.get_by_role("button", name="Erase for good").click()
    await expect(page.get_by_role("alert")).to_contain_text("another one")
    await expect(rows).to_have_count(len(held))
    assert (await graph.holding(subject=WHO)).records == held
    await _ask(page, WHO)
    await erase.get_by_label("Why").fill("asked to")
    await erase.get_by_label("The name once more").fill(WHO)
    await erase.get_by_role("button", name="Erase for good").click()
    await expect(page.locator("#erased")).to_contain_text("fact: ")
    await expect(page.locator("#erased pre")).to_contain_text('"asked_by": "subject"')
    async with page.expect_download() as downloading:
        await page.locator("#receipt").press("Enter")
    download = await downloading.value
    assert re.fullmatch(rf"erasure-{GRAPH}-\d{{8}}T\d{{6}}Z\.json", download.suggested_filename)
    content = await asyncio.to_thread((await download.path()).read_bytes)
    receipt = ErasureReceipt.model_validate_json(content)
    assert (receipt.graph_id, receipt.reason) == (GRAPH, "asked to")
    assert fact in receipt.ids["fact"]
    assert (await graph.holding(subject=WHO)).records == ()
    assert [one.id for one in (await graph.holding(agent_id="concierge")).records] == [other]


async def test_it_fits_a_phone_and_works_without_scripts(
    house: House, tabs: Tabs, shots: Shots
) -> None:
    """Nothing scrolls sideways, dark or light, and nobody known is said so."""
    await house.ezra.create_session_graph("nobody")
    phone = await tabs.open(f"{house.url}/console/graphs/nobody/subject", size=PHONE, scheme="dark")
    await _ask(phone, "Nobody " + "x" * 200)
    await expect(phone.locator("#held")).to_contain_text("Nothing is held of Nobody")
    assert await phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await shots("subject-phone", phone)
    plain = await tabs.open(f"{house.url}/console/graphs/nobody/subject", js=False)
    await _ask(plain, "Nobody")
    await expect(plain.locator("#held")).to_contain_text("Nothing is held of Nobody.")


async def test_who_may_only_look_erases_nothing_and_others_do_not_look(tmp_path: Path) -> None:
    """A reader of the graph sees what is held; one of another graph, or an agent, is refused."""
    clock = MovingClock()
    async with running(tmp_path / "home", clock) as ezra:
        graph = await ezra.create_session_graph("imola")
        await ezra.create_session_graph("monaco")
        agent = await graph.spawn_agent("concierge")
        fact = await agent.remember(f"{WHO} likes window seats.")
        tokens = TokenFile(tmp_path / "tokens.json", clock)
        reader = bearer(tokens, role="reader", graph_id="imola")
        page = "/console/graphs/imola/subject"
        async with inside(ezra, tokens) as http:

            async def ask(path: str, who: dict[str, str], **more: str) -> tuple[int, str]:
                form = await http.get(page, headers=reader)
                csrf = re.search(r'name="csrf" value="([^"]+)"', form.text)
                data = {"csrf": csrf[1] if csrf else "", "name": WHO, **more}
                answer = await http.post(path, data=data, headers=who, follow_redirects=True)
                return answer.status_code, answer.text

            status, shown = await ask(page, reader)
            assert status == 200
            assert fact in shown
            assert 'id="erase"' not in shown
            status, _ = await ask(f"{page}/erase", reader, reason="mine", confirmed=WHO)
            assert status == 403
            assert (await graph.holding(subject=WHO)).records
            readings = f"/console/graphs/imola/records/{fact}/readings"
            assert (await http.get(readings, headers=reader)).status_code == 200
            assert (await http.get("/console/subject", headers=reader)).status_code == 403
            others = (
                bearer(tokens, role="reader", graph_id="monaco"),
                bearer(tokens, role="agent", graph_id="imola", agent_id="concierge"),
            )
            for other in others:
                assert (await ask(page, other))[0] == 403
                for path in (page, readings):
                    assert (await http.get(path, headers=other)).status_code == 403


async def test_who_read_it_is_one_step_from_a_turn_a_summary_and_an_answer(
    house: House, tabs: Tabs
) -> None:
    """Each place that shows a record leads to its readers, and a graph's page to its proof."""
    graph = await house.ezra.session_graph("imola")
    (turn, *_) = await graph.turns("strategist", limit=1)
    summary = (await graph.memory_of("strategist")).summaries[-1]
    at = f"{house.url}/console/graphs/imola"
    page = await tabs.open(f"{at}/agents/strategist/turns/{turn.seq}")
    await expect(page.locator(f"a[href$='/records/{turn.id}/readings']").first).to_be_visible()
    await page.goto(f"{at}/agents/strategist")
    await page.locator(f"li[data-id='{summary.id}'] a[href$='/readings']").click()
    await expect(page.locator("#readings")).to_be_visible()
    await page.goto(f"{at}/search")
    await page.get_by_label("Question").fill("How long do mediums last?")
    await page.get_by_role("button", name="Search", exact=True).click()
    answers = page.locator(".answers > li")
    assert await answers.count() == await answers.locator("a[href$='/readings']").count() > 0
    await page.goto(at)
    await page.get_by_role("link", name="Proof").click()
    await expect(page).to_have_url(f"{at}/proof")


async def test_what_a_roll_back_keeps_is_held(house: House, tabs: Tabs) -> None:
    """Its words are still there while it is open, so they are shown; no retention took them."""
    graph = await house.ezra.create_session_graph("kept-aside")
    agent = await graph.spawn_agent("concierge")
    fact = await agent.remember(f"{WHO} snores.")
    await graph.taint.roll_back(fact, reason="somebody planted it")
    (held,) = [one for one in (await graph.holding(subject=WHO)).records if one.id == fact]
    assert held.text == f"{WHO} snores."
    page = await tabs.open(f"{house.url}/console/graphs/kept-aside/subject")
    await _ask(page, WHO)
    row = page.locator(f"tr[data-record='{fact}']")
    await expect(row).to_contain_text(f"{WHO} snores.")
    await expect(row).not_to_contain_text("retention")

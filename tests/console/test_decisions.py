"""What a person decides about one record, and the page about poisoned ones."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.async_api import Page, expect
from support.console import House
from support.runtime import MovingClock, running
from support.service import bearer, inside

from ezra import Fact
from ezra.service.tokens import TokenFile

from .conftest import PHONE, Shots, Tabs

# What a person decides about one record, on the page that shows it: told first, with a reason.

pytestmark = pytest.mark.asyncio(loop_scope="session")

GRAPH = "decided"


async def _decide(page: Page, ask: str, label: str, reason: str = "") -> None:
    """Open a decision, as a keyboard does, and take it."""
    await page.locator(".decision > summary", has_text=ask).press("Enter")
    form = page.locator(".decision[open] form")
    await expect(form.locator(".hint")).to_be_visible()
    if reason:
        await form.get_by_label("Why").fill(reason)
    await form.get_by_role("button", name=label).click()
    await page.wait_for_selector("html[data-ready]")


async def test_a_fact_is_promoted_corrected_demoted_and_forgotten(
    house: House, tabs: Tabs, shots: Shots
) -> None:
    """Each leads back to the page of the fact as it is then, and the feed has the reasons."""
    graph = await house.ezra.create_session_graph(GRAPH)
    agent = await graph.spawn_agent("strategist", topics={"tyres"})
    first = await agent.remember("Hards last <b>40</b> laps.")
    page = await tabs.open(f"{house.url}/console/graphs/{GRAPH}/facts/{first}")
    await _decide(page, "Promote to core", "Make it core", "everybody asks")
    assert (await graph.facts([first]))[0].tier == "core"
    correction = page.locator(".decision", has_text="Correct")
    await correction.locator("summary").click()
    await expect(correction.get_by_label("What is right")).to_have_value(
        "Hards last <b>40</b> laps."
    )
    await shots("decision-desktop", page)
    await correction.get_by_label("What is right").fill("Hards last 30 laps.")
    await correction.get_by_label("Why").fill("measured")
    await correction.get_by_role("button").click()
    await expect(page.locator("main h2").first).to_have_text("Hards last 30 laps.")
    (was,) = await graph.facts([first])
    assert page.url.endswith(f"/facts/{was.superseded_by}")
    await expect(page.locator("dl").first).to_contain_text("an operator")
    await _decide(page, "Demote", "Take it out of core", "nobody asks")
    await expect(page.get_by_text("Promote to core")).to_be_visible()
    await _decide(page, "Forget", "Forget it", "it rains")
    await expect(page.get_by_text("forgotten", exact=True).first).to_be_visible()
    await expect(page.locator(".decision")).to_have_count(0)
    reasons = {one.kind: one.reason for one in await graph.audit()}
    wanted = {"promoted": "everybody asks", "corrected": "measured", "demoted": "nobody asks"}
    assert {**reasons, **wanted, "forgotten": "it rains"} == reasons
    assert (await graph.latest_facts()).rows == ()


async def test_a_statement_is_corrected_part_by_part(house: House, tabs: Tabs) -> None:
    """On a phone, in the dark; nothing sticks out."""
    graph = await house.ezra.create_session_graph("decided-parts")
    agent = await graph.spawn_agent("strategist")
    old = await agent.remember(Fact(subject="Car 16", predicate="starts on", object="mediums"))
    page = await tabs.open(
        f"{house.url}/console/graphs/decided-parts/facts/{old}", size=PHONE, scheme="dark"
    )
    await page.locator(".decision > summary", has_text="Correct").click()
    await page.get_by_label("Object").fill("softs")
    await page.locator(".decision[open]").get_by_label("Why").fill("a slip")
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await page.get_by_role("button", name="Put it right").click()
    await expect(page.locator("main h2").first).to_have_text("Car 16 starts on softs")
    (found,) = await graph.knowledge.history("Car 16", live_only=True)
    assert found.object == "softs"


async def test_a_belief_is_pinned_unpinned_and_taken_back(house: House, tabs: Tabs) -> None:
    """From its page; what is taken back offers nothing more."""
    graph = await house.ezra.create_session_graph("decided-beliefs")
    agent = await graph.spawn_agent("strategist", topics={"tyres"})
    belief = (await agent.commit("Box on lap nine.", topic="tyres")).id
    page = await tabs.open(f"{house.url}/console/graphs/decided-beliefs/beliefs/{belief}")
    await _decide(page, "Pin", "Pin it")
    assert [one.pinned for one in await graph.beliefs.active()] == [True]
    await _decide(page, "Unpin", "Let it go")
    assert [one.pinned for one in await graph.beliefs.active()] == [False]
    await _decide(page, "Take back", "Take it back", "it was lap ten")
    assert await graph.beliefs.active() == ()
    await expect(page.locator(".decision")).to_have_count(0)


async def test_a_turn_is_forgotten_with_what_was_made_of_it(house: House, tabs: Tabs) -> None:
    """Its words are nowhere; without scripts as well."""
    graph = await house.ezra.create_session_graph("decided-turns")
    agent = await graph.spawn_agent("strategist")
    await (await agent.turn("My locker code is 4711.")).reply("Noted: 4711.")
    address = f"{house.url}/console/graphs/decided-turns/agents/strategist/turns/1"
    page = await tabs.open(address, js=False)
    await page.locator(".decision > summary").click()
    await page.get_by_label("Why").fill("a secret")
    await page.get_by_role("button", name="Destroy it for good").click()
    await expect(page.locator("dl").first).to_contain_text("redacted")
    assert "4711" not in await page.content()
    (turn,) = await graph.turns("strategist")
    assert turn.redacted_at is not None


async def test_who_may_not_act_is_offered_nothing_and_refused(tmp_path: Path) -> None:
    """A reader sees no form, and one that is made up is refused; so is one without its secret."""
    async with running(tmp_path / "home", MovingClock()) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("strategist")
        fact = await agent.remember("Hards last 40 laps.")
        tokens = TokenFile(tmp_path / "tokens.json")
        reader, operator = bearer(tokens, role="reader"), bearer(tokens)
        async with inside(ezra, tokens) as http:
            place = f"/console/graphs/imola/facts/{fact}"
            shown = (await http.get(place, headers=reader)).text
            assert "An operator's token may" in shown
            assert 'class="decision"' not in shown
            found = re.search(
                r'name="csrf" value="([^"]+)"', (await http.get(place, headers=operator)).text
            )
            assert found is not None
            said = {"reason": "mine", "csrf": found[1]}
            for way in ("forget", "correct", "promote", "demote"):
                answer = await http.post(
                    f"{place}/{way}", data={**said, "text": "x"}, headers=reader
                )
                assert answer.status_code == 403, way
            bare = await http.post(f"{place}/forget", data={"reason": "mine"}, headers=operator)
            foreign = await http.post(
                f"{place}/forget", data=said, headers={**operator, "origin": "https://evil.example"}
            )
            blank = await http.post(
                f"{place}/forget", data={**said, "reason": " "}, headers=operator
            )
            assert [one.status_code for one in (bare, foreign, blank)] == [422] * 3
            assert (await graph.facts([fact]))[0].forgotten_at is None
            done = await http.post(f"{place}/forget", data=said, headers=operator)
            assert done.status_code == 303
            assert (await graph.facts([fact]))[0].forgotten_at is not None


# The page about poisoned records: the tree, its sources, and the roll-backs.

POISONED = "poisoned"
PAGE = f"/console/graphs/{POISONED}/taint"


async def test_the_tree_of_a_record_is_shown_with_its_roll_backs(
    house: House, tabs: Tabs, shots: Shots
) -> None:
    """As the handle gives it, on a wide screen and a narrow one; text is text, whatever it says."""
    graph = await house.ezra.create_session_graph(POISONED)
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
    await expect(page.locator("#tree")).to_contain_text("ezra taint roll-back")
    done = await graph.taint.roll_back(poison, reason="a page planted it")
    phone = await tabs.open(f"{house.url}{PAGE}?record={poison}", size=PHONE)
    row = phone.locator(f"[data-roll-back='{done.roll_back.id}']")
    await expect(row).to_contain_text("open")
    assert await phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await expect(phone.locator("#tree tbody tr").first).to_contain_text("set aside")
    await expect(phone.locator("#tree")).not_to_contain_text("ezra taint roll-back")
    await shots("taint-phone", phone)
    await page.reload()
    await shots("taint-desktop", page)
    await house.ezra.session_graph(POISONED)


async def test_an_unknown_record_is_told(house: House, tabs: Tabs) -> None:
    """The page says so."""
    await house.ezra.create_session_graph("clean")
    page = await tabs.open(f"{house.url}/console/graphs/clean/taint?record=nothing")
    await expect(page.get_by_role("alert")).to_contain_text("nothing")
    tabs.problems.clear()

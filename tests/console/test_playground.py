"""The playground of an agent: its context slot by slot, an answer, and a turn only if asked for."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import get_args

import httpx2
import pytest
from playwright.async_api import expect
from support.console import HOSTILE, House
from support.runtime import MovingClock
from support.service import Slow, bearer, inside, serving

from ezra import Ezra, Settings
from ezra.service.console.playground import WHY
from ezra.service.tokens import TokenFile
from ezra.turn.slots import SlotKind

from .conftest import PHONE, Shots, Tabs

pytestmark = pytest.mark.asyncio(loop_scope="session")

GRAPH = "played"
PLACE = f"/console/graphs/{GRAPH}/agents/strategist/playground"


async def test_what_is_said_shows_its_context_and_is_remembered_only_if_asked_for(
    house: House, tabs: Tabs, shots: Shots
) -> None:
    """Every slot with its reason and tokens; the echo says that it is one; the turn comes last."""
    graph = await house.ezra.create_session_graph(GRAPH)
    agent = await graph.spawn_agent("strategist", topics={"tyres"})
    fact = await agent.remember("Mediums last 18 laps.", topics=["tyres"])
    await agent.commit(f"We stop once. {HOSTILE}", topic="tyres")
    page = await tabs.open(f"{house.url}{PLACE}")
    await expect(page.get_by_text("no language model configured").first).to_be_visible()
    await page.get_by_label("Say to strategist").fill("How many laps do mediums last?")
    await page.get_by_label("As").fill("pit wall")
    await page.get_by_role("button", name="Say it").click()
    rows = page.locator("#context .slots tbody tr")
    kinds = await rows.locator(".badge[class*=kind-]").all_text_contents()
    assert {"system", "belief", "archival", "input"} <= set(kinds)
    about = rows.filter(has=page.get_by_text("archival", exact=True))
    await expect(about).to_contain_text("a fact that is about the message, score")
    await expect(about.locator(f"a[href$='/facts/{fact}']")).to_be_visible()
    tokens = [int(one) for one in await rows.locator(".slot-tokens").all_text_contents()]
    assert sum(tokens) == int(await page.locator("#context").get_attribute("data-tokens") or 0)
    await expect(page.locator("#said")).to_contain_text("[echo (no language model configured)]")
    assert await page.evaluate("window.pwned") is None
    await shots("playground-desktop", page)
    assert await graph.turns("strategist") == ()
    await page.get_by_label("Remember it with this answer").fill("About 18 laps.")
    await page.get_by_role("button", name="Remember this turn").click()
    await page.wait_for_url("**/agents/strategist/turns/1")
    (turn,) = await graph.turns("strategist")
    assert (turn.speaker, turn.response) == ("pit wall", "About 18 laps.")


async def test_it_fits_a_phone_and_works_without_scripts(
    house: House, tabs: Tabs, shots: Shots
) -> None:
    """In the dark, nothing sticks out."""
    graph = await house.ezra.create_session_graph("played-small")
    await graph.spawn_agent("strategist")
    place = f"{house.url}/console/graphs/played-small/agents/strategist/playground"
    page = await tabs.open(place, size=PHONE, scheme="dark", js=False)
    await page.get_by_label("Say to strategist").fill("Is it raining?")
    await page.get_by_role("button", name="Say it").click()
    await expect(page.locator("#said")).to_contain_text("Is it raining?")
    wide = await page.locator("main").evaluate("one => one.scrollWidth - one.clientWidth")
    assert wide <= 0
    await shots("playground-phone", page)


async def test_the_context_is_there_before_the_answer(tmp_path: Path) -> None:
    """A model may take its time; what it is asked with is shown meanwhile."""
    model = Slow()
    settings = Settings(home=tmp_path / "home", embedder="off", background=False)
    async with (
        Ezra.open(settings, model=model, clock=MovingClock()) as ezra,
        serving(ezra) as url,
        httpx2.AsyncClient(base_url=url) as http,
    ):
        await (await ezra.create_session_graph(GRAPH)).spawn_agent("strategist")
        csrf = re.search(r'name="csrf" value="([^"]+)"', (await http.get(PLACE)).text)
        assert csrf is not None
        said = {"csrf": csrf[1], "message": "How long?"}
        async with http.stream("POST", PLACE, data=said) as answer:
            parts = answer.aiter_text()
            shown = ""
            while "Answer" not in shown:
                shown += await asyncio.wait_for(anext(parts), 20)
            assert "kind-input" in shown
            assert "eighteen laps" not in shown
            await model.asked.wait()
            model.let.set()
            rest = "".join([part async for part in parts])
        assert "eighteen laps" in rest
        assert rest.rstrip().endswith("</html>")


async def test_a_model_that_fails_is_told_in_the_place_of_its_answer(tmp_path: Path) -> None:
    """The page is whole, with its context; nothing was remembered."""
    settings = Settings(
        home=tmp_path / "home", embedder="off", background=False, model_timeout_seconds=0.05
    )
    async with Ezra.open(settings, model=Slow(), clock=MovingClock()) as ezra:
        graph = await ezra.create_session_graph(GRAPH)
        await graph.spawn_agent("strategist")
        async with inside(ezra) as http:
            csrf = re.search(r'name="csrf" value="([^"]+)"', (await http.get(PLACE)).text)
            assert csrf is not None
            answer = await http.post(PLACE, data={"csrf": csrf[1], "message": "How long?"})
        assert "no answer within 0.05 s" in answer.text
        assert "kind-input" in answer.text
        assert answer.text.rstrip().endswith("</html>")
        assert await graph.turns("strategist") == ()


async def test_only_who_may_act_as_the_agent_plays(tmp_path: Path) -> None:
    """A reader does not; the agent's own token does, and is led to no page that it may not see."""
    clock = MovingClock()
    settings = Settings(home=tmp_path / "home", embedder="off", background=False)
    async with Ezra.open(settings, clock=clock) as ezra:
        graph = await ezra.create_session_graph(GRAPH)
        await graph.spawn_agent("strategist")
        await graph.spawn_agent("engineer")
        tokens = TokenFile(tmp_path / "tokens.json", clock)
        reader = bearer(tokens, role="reader")
        own = bearer(tokens, role="agent", graph_id=GRAPH, agent_id="strategist")
        other = bearer(tokens, role="agent", graph_id=GRAPH, agent_id="engineer")
        async with inside(ezra, tokens) as http:
            page = await http.get(PLACE, headers=own)
            found = re.search(r'name="csrf" value="([^"]+)"', page.text)
            assert found is not None
            said = {"csrf": found[1], "message": "How long?"}
            for who in (reader, other):
                assert (await http.get(PLACE, headers=who)).status_code == 403
                assert (await http.post(PLACE, data=said, headers=who)).status_code == 403
            shown = (await http.post(PLACE, data=said, headers=own)).text
            turn = re.search(r'name="turn" value="([^"]+)"', shown)
            assert turn is not None
            kept = {"csrf": found[1], "turn": turn[1], "answer": "Long."}
            assert (
                await http.post(f"{PLACE}/remember", data=kept, headers=other)
            ).status_code == 403
            done = await http.post(f"{PLACE}/remember", data=kept, headers=own)
            assert done.headers["location"] == f"{PLACE}?kept=1"
            again = await http.post(f"{PLACE}/remember", data=kept, headers=own)
            assert again.status_code == 409
            assert "Remembered as turn 1" in (await http.get(f"{PLACE}?kept=1", headers=own)).text


async def test_every_kind_of_slot_has_its_reason() -> None:
    """None is shown without one."""
    assert set(WHY) == set(get_args(SlotKind)) - {"recalled"}

"""Questions that are asked by a form: their answers have addresses, which tell nothing."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest
from playwright.async_api import expect
from support.console import House

from ezra.service.console.signing_in import (
    CHARS_MAX,
    IDLE_SECONDS,
    QUESTIONS_MAX,
    Questions,
    Session,
)

from .conftest import Tabs

pytestmark = pytest.mark.asyncio(loop_scope="session")

MINE, OTHER = Session("token", "one"), Session("token", "two")
ASKED = [("query", "softs")]


@pytest.mark.parametrize("js", [True, False], ids=["script", "no-script"])
@pytest.mark.parametrize(
    ("path", "label", "said", "button", "shown"),
    [
        ("/search", "Question", "mediums", "Search", "#told"),
        ("/graphs/imola/search", "Question", "mediums", "Search", ".answers"),
        ("/subject", "Who", "Jane Miller", "Show what is held", "#graphs"),
        ("/graphs/imola/subject", "Who", "mediums", "Show what is held", "#held"),
        ("/graphs/imola/knowledge", "Name", "Imola", "Show", "#around"),
        ("/graphs/imola/proof", "", "", "Verify", "text=Intact."),
    ],
)
async def test_one_can_go_back_to_an_answer(
    house: House, tabs: Tabs, path: str, label: str, said: str, button: str, shown: str, *, js: bool
) -> None:
    """Back and reload ask again; no address says what was asked."""
    page = await tabs.open(f"{house.url}/console{path}", js=js)
    if label:
        await page.locator("main").get_by_label(label, exact=True).fill(said)
    await page.locator("main").get_by_role("button", name=button, exact=True).click()
    await expect(page.locator(shown).first).to_be_visible()
    at = page.url
    assert "mediums" not in at
    assert "Jane" not in at
    await page.goto(f"{house.url}/console/graphs")
    await page.go_back()
    await expect(page.locator(shown).first).to_be_visible()
    assert page.url == at
    answer = await page.reload()
    assert answer is not None
    assert (answer.status, answer.request.method) == (200, "GET")
    await page.go_back()
    assert urlsplit(page.url).query == ""
    await expect(
        page.locator("main").get_by_role("button", name=button, exact=True)
    ).to_be_visible()


async def test_an_address_that_nobody_knows_asks_anew(house: House, tabs: Tabs) -> None:
    """Of another page, another server or another time: the form stands there, empty."""
    page = await tabs.open(f"{house.url}/console/search")
    await page.get_by_label("Question").fill("mediums")
    await page.get_by_role("button", name="Search", exact=True).click()
    asked = urlsplit(page.url).query
    assert re.fullmatch(r"asked=[\w-]{22}", asked)
    for path in ("/search?asked=x", f"/subject?{asked}", f"/graphs/imola/search?{asked}"):
        await page.goto(f"{house.url}/console{path}")
        await expect(page.locator("main form").first).to_be_visible()
        assert "mediums" not in (await page.locator("main").inner_text()).casefold()


async def test_a_long_question_is_answered_where_it_is_asked(house: House, tabs: Tabs) -> None:
    """It is not kept."""
    page = await tabs.open(f"{house.url}/console/search")
    await page.get_by_label("Question").fill("mediums " * (CHARS_MAX // 8))
    await page.get_by_role("button", name="Search", exact=True).click()
    await expect(page.locator("#told, [role=alert]").first).to_be_visible()
    assert urlsplit(page.url).query == ""


async def test_a_question_is_kept_for_who_asked_it() -> None:
    """For the session, at the address; a thousand of them, for twelve hours after the last use."""
    now = 0.0
    kept = Questions(lambda: now)
    key = kept.keep(MINE, "/console/search", ASKED)
    assert key is not None
    assert kept.find(MINE, "/console/search", key) == ASKED
    assert kept.find(OTHER, "/console/search", key) is None
    assert kept.find(MINE, "/console/subject", key) is None
    now = IDLE_SECONDS
    assert kept.find(MINE, "/console/search", key) == ASKED
    now += IDLE_SECONDS + 1
    assert kept.find(MINE, "/console/search", key) is None
    first, *_ = [kept.keep(MINE, "/console/search", ASKED) for _ in range(QUESTIONS_MAX + 1)]
    assert first is not None
    assert kept.find(MINE, "/console/search", first) is None
    assert kept.keep(MINE, "/console/search", [("query", "x" * CHARS_MAX)]) is None

"""Questions: those asked by a form, and thirty that each have their page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect
from support.console import House
from support.console_questions import QUESTIONS, Question, Step, told
from support.runtime import MovingClock, running
from support.service import serving

from ezra.service.console.signing_in import (
    CHARS_MAX,
    IDLE_SECONDS,
    QUESTIONS_MAX,
    Questions,
    Session,
)

from .conftest import PHONE, Tabs

# Questions that are asked by a form: their answers have addresses, which tell nothing.

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


# What an auditor, an operator and a developer ask: each question has its page, and its answer.

QUESTIONS_LEAST = 30


@dataclass(frozen=True)
class Asked:
    """A server, and ids of what was told on it."""

    url: str
    ids: dict[str, str]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def asked(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Asked]:
    """A server of its own: nobody else's graphs stand on its pages."""
    clock = MovingClock()
    home = tmp_path_factory.mktemp("questions")
    async with running(home, clock, ring_capacity=4, turns_per_summary=2) as ezra:
        ids = await told(ezra, clock)
        async with serving(ezra) as url:
            yield Asked(url, ids)


async def _done(page: Page, step: Step) -> None:
    way, name, value = step
    if way == "fill":
        await page.locator("main").get_by_label(name, exact=True).fill(value)
    elif way == "press":
        await page.locator("main").get_by_role("button", name=name, exact=True).click()
    else:
        await page.locator("main summary", has_text=name).last.press("Enter")


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda one: one.asks)
async def test_the_page_answers_the_question(asked: Asked, tabs: Tabs, question: Question) -> None:
    """It is there, a few steps do, what must be seen is seen, and it fits a phone."""
    path = question.path.format(**asked.ids)
    page = await tabs.open(f"{asked.url}/console{path}", size=PHONE)
    for step in question.steps:
        await _done(page, step)
    place = page.locator(question.within).first
    for text in question.sees:
        await expect(place).to_contain_text(text)
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


async def test_all_three_ask() -> None:
    """Thirty questions, none twice, and of each of the three enough."""
    assert len({one.asks for one in QUESTIONS}) == len(QUESTIONS) >= QUESTIONS_LEAST
    assert min(Counter(one.who for one in QUESTIONS).values()) >= 5

"""What an auditor, an operator and a developer ask: each question has its page, and its answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect
from support.console_questions import QUESTIONS, Question, Step, told
from support.runtime import MovingClock, running
from support.service import serving

from .conftest import PHONE, Tabs

pytestmark = pytest.mark.asyncio(loop_scope="session")

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

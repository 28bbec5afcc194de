"""One server over a runtime with something in it, and one Chromium, for the console's tests."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, Page, async_playwright
from support.console import House, furnished
from support.runtime import MovingClock, running
from support.service import serving

CHROMIUM = "/usr/bin/chromium"
DESKTOP, PHONE = (1280, 800), (390, 844)
_QUIET = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run"
    " --disable-background-networking --disable-component-update --disable-sync"
)

Shots = Callable[[str, Page], Awaitable[None]]


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    """A server that needs no token, its runtime and its clock; nobody may rely on being first."""
    home = tmp_path_factory.mktemp("console")
    clock = MovingClock()
    async with running(
        home / "home", clock, ring_capacity=4, turns_per_summary=4, promote_at_uses=1
    ) as ezra:
        await furnished(ezra, clock)
        async with serving(ezra) as url:
            yield House(url, ezra, clock)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium() -> AsyncIterator[Browser]:
    """A browser for the whole run."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=CHROMIUM, args=_QUIET.split(), headless=True
        )
        yield browser
        await browser.close()


@dataclass
class Tabs:
    """Pages that a test opens; what they complain of is a failure of the test."""

    browser: Browser
    problems: list[str]
    contexts: list[BrowserContext]

    async def open(
        self, url: str, *, size: tuple[int, int] = DESKTOP, scheme: str = "light", js: bool = True
    ) -> Page:
        """Open an address in a browser window of its own."""
        context = await self.browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme="dark" if scheme == "dark" else "light",
            java_script_enabled=js,
        )
        self.contexts.append(context)
        page = await context.new_page()
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        await page.goto(url)
        if js:
            await page.wait_for_selector("html[data-ready]")
        return page

    def _said(self, message: object) -> None:
        kind, text = getattr(message, "type", ""), getattr(message, "text", "")
        if kind in ("error", "warning"):
            self.problems.append(f"{kind}: {text}")


@pytest_asyncio.fixture(loop_scope="session")
async def tabs(chromium: Browser) -> AsyncIterator[Tabs]:
    """Windows that are closed at the end, when none of them may have complained.

    What a test provokes it takes out of ``tabs.problems``.
    """
    opened = Tabs(chromium, [], [])
    yield opened
    for context in opened.contexts:
        await context.close()
    assert opened.problems == []


@pytest_asyncio.fixture(loop_scope="session")
async def page(tabs: Tabs, house: House) -> Page:
    """A window of a desk's size at the front of the console, without a token."""
    return await tabs.open(f"{house.url}/console")


@pytest.fixture
def shots() -> Shots:
    """Write what a page looks like to the folder that ``EZRA_SCREENSHOTS`` names, if it does.

    Without a screen a long page takes the processor ten seconds to draw, for nobody.
    """
    named = os.environ.get("EZRA_SCREENSHOTS")
    if named:
        Path(named).mkdir(parents=True, exist_ok=True)

    async def shoot(name: str, shown: Page) -> None:
        if named:
            await shown.screenshot(path=Path(named, f"{name}.png"), full_page=True)

    return shoot

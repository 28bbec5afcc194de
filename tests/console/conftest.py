"""One server over a runtime with something in it, and one Chromium, for the console's tests."""

from __future__ import annotations

import os
import shutil
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, Page, async_playwright
from support.console import House, furnished
from support.runtime import MovingClock, running
from support.service import serving

CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium")
"""The first takes four fifths of the processor time of the second."""

DESKTOP, PHONE = (1280, 800), (390, 844)
LOOKS = (
    (PHONE, "dark"),
    *(
        pytest.param(*look, marks=pytest.mark.slow)
        for look in ((DESKTOP, "light"), (DESKTOP, "dark"), (PHONE, "light"))
    ),
)
"""In which windows a page is looked at; most of them in the slow run."""
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


@dataclass(frozen=True)
class Look:
    """What is settled when a window is made."""

    size: tuple[int, int]
    scheme: str
    js: bool


class Windows:
    """Windows of one browser, each as if nobody had used it: cleared, and lent again.

    Making one costs as much processor time as loading three pages into it.
    """

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._idle: defaultdict[Look, list[BrowserContext]] = defaultdict(list)

    async def lent(self, look: Look) -> BrowserContext:
        """Return a window that nobody has."""
        if self._idle[look]:
            return self._idle[look].pop()
        return await self._browser.new_context(
            viewport={"width": look.size[0], "height": look.size[1]},
            color_scheme="dark" if look.scheme == "dark" else "light",
            java_script_enabled=look.js,
        )

    async def given_back(self, look: Look, window: BrowserContext) -> None:
        """Close its pages, and forget its cookies, its cache and whatever its pages stored."""
        for page in window.pages:
            devtools = await window.new_cdp_session(page)
            origin = "{0.scheme}://{0.netloc}".format(urlsplit(page.url))
            stored = {"origin": origin, "storageTypes": "all"}
            await devtools.send("Storage.clearDataForOrigin", stored)
            await devtools.send("Network.clearBrowserCache")
            await page.close()
        await window.clear_cookies()
        self._idle[look].append(window)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def windows() -> AsyncIterator[Windows]:
    """A browser for the whole run."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=CHROMIUM, args=_QUIET.split(), headless=True
        )
        yield Windows(browser)
        await browser.close()


@dataclass
class Tabs:
    """Pages that a test opens; what they complain of is a failure of the test."""

    windows: Windows
    problems: list[str] = field(default_factory=list)
    lent: list[tuple[Look, BrowserContext]] = field(default_factory=list)

    async def open(
        self, url: str, *, size: tuple[int, int] = DESKTOP, scheme: str = "light", js: bool = True
    ) -> Page:
        """Open an address in a browser window of its own."""
        look = Look(size, scheme, js)
        window = await self.windows.lent(look)
        self.lent.append((look, window))
        page = await window.new_page()
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
async def tabs(windows: Windows) -> AsyncIterator[Tabs]:
    """Windows that are given back at the end, when none of them may have complained.

    What a test provokes it takes out of ``tabs.problems``.
    """
    opened = Tabs(windows)
    yield opened
    for look, window in opened.lent:
        await windows.given_back(look, window)
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

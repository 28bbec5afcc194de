"""Renews ``docs/images/console.png``: a turn of the demo in the console, as Chromium shows it.

Usage: .venv/bin/python scripts/picture.py
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import shutil
import sys
import tempfile
from pathlib import Path

from demo import demo
from playwright.async_api import async_playwright

from ezra import Ezra, Settings
from ezra.service.app import service_app
from ezra.service.listening import listening

CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium")
SHOWN = "/console/graphs/imola/agents/race-engineer/turns/16"
PICTURE = Path(__file__).parents[1] / "docs" / "images" / "console.png"
PIXELS = {"width": 1280, "height": 900}


async def main(home: Path) -> None:
    """Play the demo into a folder, serve it, and store what one page looks like."""
    with contextlib.redirect_stdout(io.StringIO()):
        if await demo(home):
            sys.exit("picture: the demo's answers are wrong; nothing was stored")
    settings = Settings(home=home, background=False)
    async with Ezra.open(settings) as ezra:
        app = service_app(ezra, tokens=None, settings=settings)
        async with listening(app, "127.0.0.1", 0) as url:
            await shoot(f"{url}{SHOWN}")


async def shoot(address: str) -> None:
    """Store what a window of a desk's size shows of a page once it is ready."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--headless=new", "--no-sandbox", "--disable-gpu"]
        )
        page = await browser.new_page(viewport={**PIXELS})
        await page.goto(address)
        await page.wait_for_selector("html[data-ready]")
        await page.screenshot(path=PICTURE)
        await browser.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="ezra-picture-") as folder:
        asyncio.run(main(Path(folder)))

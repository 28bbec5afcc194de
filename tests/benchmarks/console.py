"""How soon each page of the console can be used, in a real browser.

Run: .venv/bin/python tests/benchmarks/console.py [--turns 10000] [--graphs 200] [--rounds 10]

One graph holds the turns, a tenth as many facts, and beliefs of which some contradict each other;
the other graphs inherit from each other. Everything runs on this machine: server, browser and
stores share its cores. Each page is opened anew, with its static files in the browser's cache, as
for somebody who looks around.

    answer   milliseconds until the whole document has arrived
    ready    milliseconds until it is parsed and its script has run: it answers to keys
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from playwright.async_api import Page, async_playwright

from ezra import Agent, Ezra, Settings
from ezra.service.app import service_app
from ezra.service.console import pages
from ezra.service.listening import listening
from tiers.records import Fact, Scope, Turn

CHROMIUM = "/usr/bin/chromium"
FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run"
    " --disable-background-networking --disable-component-update --disable-sync"
).split()
WORDS = "tyre fuel lap pit stop rain sector front rear wing grip push save box gap delta".split()
START = datetime(2026, 1, 1, tzinfo=UTC)
SEED = 7
BELIEFS = 200
MEASURE = """() => {
    const [page] = performance.getEntriesByType("navigation");
    const [ready] = performance.getEntriesByName("console-ready");
    return [page.responseEnd, Math.max(ready.startTime, page.domContentLoadedEventEnd)];
}"""


async def furnish(ezra: Ezra, turns: int, graphs: int) -> None:
    """Fill the runtime: one large graph, and many that inherit from each other."""
    seeded = random.Random(SEED)
    for number in range(graphs):
        above = [f"race-{seeded.randrange(number)}"] if number and seeded.random() < 0.8 else []
        await ezra.create_session_graph(f"race-{number}", inherits_from=above)
    graph = await ezra.create_session_graph("large", inherits_from=["race-0"])
    agents = [await graph.spawn_agent(f"agent-{number}", topics={"race"}) for number in range(5)]
    runtime = ezra._runtime  # what a year would bring is written beside the router
    for number in range(turns):
        agent = agents[number % len(agents)]
        scope = Scope.of_graph("default", "large").for_agent(agent.id)
        at = START + timedelta(minutes=number)
        turn = Turn(
            input=said(seeded), response=said(seeded), speaker="pit wall", topics=("race",),
            occurred_at=at, tokens=40,
        ).stamped(scope, runtime.ids.new(), at)  # fmt: skip
        await runtime.turns.append_turn(scope, turn)
    for _ in range(turns // 10):
        names = (seeded.choice(WORDS), seeded.choice(WORDS), said(seeded))
        fact = Fact(subject=names[0], predicate=names[1], object=names[2])
        await agents[0].remember(fact, topics=["race"])
    await believe(agents, seeded)
    for _ in range(20):
        await (await agents[0].turn(said(seeded))).reply(said(seeded))
    await ezra.run_lifecycle_tick("large")


async def believe(agents: list[Agent], seeded: random.Random) -> None:
    """Let agents believe things, some of them against each other."""
    for number in range(BELIEFS):
        agent, key = agents[number % len(agents)], f"item-{seeded.randrange(BELIEFS)}"
        await agent.commit(said(seeded), topic="race", key=(key, "state"), value=str(number))


def said(seeded: random.Random) -> str:
    """Return a sentence."""
    return " ".join(seeded.choices(WORDS, k=12))


def addresses() -> list[str]:
    """Return every page of the navigation, for the large graph and its first agent."""
    names = {"graph_id": "large", "agent_id": "agent-0"}
    return [page.address(names) for page in pages if page.label is not None]


async def measured(page: Page, url: str, rounds: int) -> tuple[list[float], list[float]]:
    """Open an address so many times, after once that does not count."""
    answers, readies = [], []
    for number in range(rounds + 1):
        shown = await page.goto(url, wait_until="load")
        if shown is None or not shown.ok:
            raise SystemExit(f"{url} was not shown")
        await page.wait_for_selector("html[data-ready]")
        answer, ready = await page.evaluate(MEASURE)
        if number:
            answers.append(answer)
            readies.append(ready)
    return answers, readies


def told(times: list[float]) -> str:
    """Return the median and the 95th percentile."""
    ordered = sorted(times)
    at_95 = ordered[min(len(ordered) - 1, round(0.95 * len(ordered)))]
    return f"{statistics.median(ordered):8.0f} {at_95:8.0f}"


def tell(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


async def main(turns: int, graphs: int, rounds: int) -> int:
    """Print a line for each page; return how many are not ready within a second."""
    late = 0
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(home=Path(folder), embedder="off", background=False)
        async with Ezra.open(settings) as ezra:
            await furnish(ezra, turns, graphs)
            app = service_app(ezra, tokens=None, settings=settings)
            async with listening(app, "127.0.0.1", 0) as url, async_playwright() as playwright:
                browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
                page = await browser.new_page()
                tell(f"{'page':48} {'answer':>8} {'p95':>8} {'ready':>8} {'p95':>8}")
                for path in addresses():
                    answers, readies = await measured(page, url + path, rounds)
                    tell(f"{path:48} {told(answers)} {told(readies)}")
                    late += sorted(readies)[len(readies) // 2] >= 1_000
                await browser.close()
    return late


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=10_000)
    parser.add_argument("--graphs", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=10)
    given = parser.parse_args()
    sys.exit(asyncio.run(main(given.turns, given.graphs, given.rounds)) > 0)

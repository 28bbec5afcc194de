"""Search with its reasons: answers as the handle gives them, and bars that add up."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect
from support.console import HOSTILE, House
from support.runtime import MovingClock, running
from support.service import bearer, inside

from ezra import Fact, UsageError
from ezra.recaller import Reason, RecallResult
from ezra.service.console.charts import FULL, stacked
from ezra.service.console.searching import SearchAsked, weighed
from ezra.service.tokens import TokenFile
from tiers.records import Hit

from .conftest import LOOKS, Shots, Tabs

browsing = pytest.mark.asyncio(loop_scope="session")

GRAPH = "monza"
PATH = f"/console/graphs/{GRAPH}/search"
QUESTION = "How many laps do the mediums last?"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def place(house: House) -> str:
    """A graph over a parent: two agents, one of which may see more, turns and facts."""
    parent = await house.ezra.create_session_graph("monza-before")
    scout = await parent.spawn_agent("scout", topics={"tyres"})
    await scout.remember(Fact(text="Mediums last 22 laps.", tier="core", topics=("tyres",)))
    graph = await house.ezra.create_session_graph(GRAPH, inherits_from=["monza-before"])
    driver = await graph.spawn_agent("driver", topics={"tyres", "weather"})
    await graph.spawn_agent("guest", topics={"weather"})
    await driver.remember(Fact(text="The mediums last about 20 laps.", topics=("tyres",)))
    await driver.remember(Fact(text=f"Mediums {HOSTILE}", topics=("weather",)))
    for number in range(4):
        house.clock.move(minutes=3)
        asked = f"Will the mediums last {number} more laps?"
        await (await driver.turn(asked, topics=["tyres"])).reply(
            "They last 20 laps, says the wall."
        )
    await house.ezra.drain_learning()
    return f"{house.url}{PATH}"


async def _ask(page: Page, question: str = QUESTION, *, agent: str = "") -> None:
    await page.get_by_label("Question").fill(question)
    await page.locator("[name=agent]").select_option(agent)
    await page.get_by_role("button", name="Search").click()
    await page.wait_for_selector("html[data-ready]")


async def _answers(page: Page) -> list[dict[str, Any]]:
    """Return what each answer shows: its id, the values of its bar, factors, sums and widths."""
    found: list[dict[str, Any]] = await page.locator(".answers > li").evaluate_all(
        """all => all.map(one => ({
            id: one.dataset.id,
            parts: [...one.querySelectorAll(".bar .part")].map(part => ({
                name: part.dataset.part, value: Number(part.dataset.value),
                at: Number(part.getAttribute("x")), width: Number(part.getAttribute("width")),
            })),
            factors: [...one.querySelectorAll("[data-factor]")]
                .map(of => Number(of.dataset.factor)),
            base: Number(one.querySelector(".sum").dataset.base),
            score: Number(one.querySelector(".sum").dataset.score),
        }))"""
    )
    return found


@browsing
async def test_answers_are_those_of_the_graph_and_bars_add_up(
    house: House, place: str, tabs: Tabs
) -> None:
    """Parts add up to the sum, the sum times the factors is the score that recall gives."""
    graph = await house.ezra.session_graph(GRAPH)
    page = await tabs.open(place)
    await expect(page.locator(".empty")).to_be_visible()
    await _ask(page)
    found = await graph.recall(QUESTION, explain=True)
    shown = await _answers(page)
    assert [one["id"] for one in shown] == [hit.id for hit in found.items]
    assert len(shown) >= 4
    told = dict(found.considered)
    for one in shown:
        parts = one["parts"]
        assert sum(part["value"] for part in parts) == pytest.approx(one["base"], abs=1e-9)
        assert one["base"] * math.prod(one["factors"]) == pytest.approx(one["score"], rel=1e-9)
        assert one["score"] == pytest.approx(told[one["id"]], abs=1e-6)
        reason = found.reasons[one["id"]]
        assert {part["name"]: part["value"] for part in parts} == pytest.approx(dict(reason.parts))
        assert max(part["at"] + part["width"] for part in parts) <= FULL + 0.1
    assert HOSTILE in await page.locator(".answers").inner_text()
    assert await page.evaluate("window.pwned") is None
    legs = page.locator(".legs").first
    for leg, rank in found.reasons[found.items[0].id].ranks.items():
        await expect(legs).to_contain_text(f"{leg} #{rank}")
    assert PATH in page.url
    assert "laps" not in page.url, "what was asked is not in the address"


@browsing
async def test_what_did_not_take_part_is_said(house: House, place: str, tabs: Tabs) -> None:
    """Without a model the meaning of words is not compared, and the page says so."""
    graph = await house.ezra.session_graph(GRAPH)
    found = await graph.recall(QUESTION)
    page = await tabs.open(place)
    await _ask(page)
    for one in (*found.degraded, *found.skipped):
        await expect(page.locator("#degraded")).to_contain_text(one)
    assert "dense" in found.degraded


@browsing
async def test_an_agent_finds_what_it_may_see(house: House, place: str, tabs: Tabs) -> None:
    """As each agent the answers are its own, with the way by which they were inherited."""
    graph = await house.ezra.session_graph(GRAPH)
    page = await tabs.open(place)
    seen = {}
    for name in ("driver", "guest"):
        await _ask(page, agent=name)
        agent = await graph.agent(name)
        wanted = await agent.recall(QUESTION, explain=True)
        seen[name] = [one["id"] for one in await _answers(page)]
        assert seen[name] == [hit.id for hit in wanted.items]
        await expect(page.locator("[name=agent]")).to_have_value(name)
    assert set(seen["guest"]) < set(seen["driver"])
    await page.locator("summary", has_text="Narrow it").click()
    await page.get_by_label("fact", exact=True).check()
    await page.get_by_label("At most days ago").fill("3")
    await _ask(page, agent="driver")
    kinds = await page.locator(".answers > li .badge.accent").all_text_contents()
    assert set(kinds) == {"fact"}
    await expect(page.get_by_label("At most days ago")).to_have_value("3")


@browsing
async def test_what_is_inherited_says_by_which_way(house: House, place: str, tabs: Tabs) -> None:
    """An archival fact of a parent comes with the graphs that it came through."""
    agent = await (await house.ezra.session_graph("monza-before")).agent("scout")
    await agent.remember(Fact(text="Kerb four cuts tyres badly.", topics=("tyres",)))
    graph = await house.ezra.session_graph(GRAPH)
    found = await graph.recall("Kerb four cuts tyres", explain=True)
    page = await tabs.open(place)
    await _ask(page, "Kerb four cuts tyres")
    ways = [hit for hit in found.items if hit.inherited_from]
    await expect(page.locator(".path")).to_have_count(len(ways))
    for hit in ways:
        row = page.locator(f'.answers [data-id="{hit.id}"] .path')
        await expect(row).to_contain_text(f"{GRAPH} → {' → '.join(hit.path)}")


@browsing
@pytest.mark.parametrize(("size", "scheme"), LOOKS)
async def test_the_page_fits_a_desk_and_a_phone(
    place: str, tabs: Tabs, shots: Shots, size: tuple[int, int], scheme: str
) -> None:
    """Nothing sticks out; the keys lead here; screenshots are kept."""
    page = await tabs.open(f"{place.rpartition('/')[0]}/facts", size=size, scheme=scheme)
    await page.keyboard.press("g")
    await page.keyboard.press("s")
    await page.wait_for_url(f"**{PATH}")
    await page.keyboard.press("/")
    assert await page.evaluate("document.activeElement.name") == "query"
    await page.locator("summary", has_text="Narrow it").click()
    await shots(f"search-form-{size[0]}-{scheme}", page)
    await _ask(page)
    await shots(f"search-{size[0]}-{scheme}", page)
    assert await page.evaluate(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )


async def test_a_token_for_one_agent_asks_as_no_other(tmp_path: Path) -> None:
    """A reader bound to topics cannot ask as an agent that holds more; nobody asks as strangers."""
    clock = MovingClock()
    async with running(tmp_path / "home", clock) as ezra:
        graph = await ezra.create_session_graph(GRAPH)
        strategist = await graph.spawn_agent("strategist", topics={"tyres"})
        await strategist.remember(Fact(text="Mediums last 18 laps.", topics=("tyres",)))
        await graph.spawn_agent("guest", topics={"weather"})
        tokens = TokenFile(tmp_path / "tokens.json", clock)
        limited = bearer(tokens, role="reader", topics=("weather",))
        lesser = bearer(tokens, role="agent", graph_id=GRAPH)
        async with inside(ezra, tokens) as http:
            answer = await http.get(PATH, headers=bearer(tokens, role="reader"))
            found = re.search(r'name="csrf" value="([^"]+)"', answer.text)
            assert found is not None
            form = {"csrf": found[1], "query": "mediums"}

            async def status(headers: dict[str, str], **more: str) -> int:
                answer = await http.post(
                    PATH, data=form | more, headers=headers, follow_redirects=True
                )
                return answer.status_code

            whole = bearer(tokens, role="reader")
            assert await status(whole) == 200
            assert await status(whole, agent="guest") == 200
            assert await status(whole, agent="nobody") == 404
            # The whole graph holds every topic: a token of some asks through agents alone.
            assert await status(limited) == 403
            assert await status(limited, agent="strategist") == 403
            assert await status(lesser) == 403
            assert await status(whole, limit="0") == 422
            assert await status(whole, csrf="guessed") in (400, 403, 422)


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({"limit": "101"}, "limit"),
        ({"kinds": "gossip"}, "kinds"),
        ({"as_of": "yesterday"}, "as_of"),
        ({"mode": "psychic"}, "mode"),
        ({"depth": "5"}, "depth"),
    ],
)
def test_what_cannot_be_asked_is_refused_by_name(said: dict[str, str], field: str) -> None:
    """Bad values of the form name their field."""
    with pytest.raises(UsageError) as refused:
        SearchAsked.of(said.items())
    assert refused.value.field == field


@pytest.mark.parametrize("seed", range(8))
def test_segments_lie_side_by_side_and_add_up(seed: int) -> None:
    """Widths of what adds make the bar; what takes off lies over its end; nothing sticks out."""
    random = Random(seed)
    parts = {name: random.random() for name in "abcde"[: random.randrange(1, 6)]}
    if seed % 2:
        parts["question"] = -random.random() * min(1.0, sum(parts.values()))
    most = sum(value for value in parts.values() if value > 0)
    segments = stacked(parts, most)
    end = 0.0
    for one in segments:
        if one.value > 0:
            assert one.at == pytest.approx(end, abs=0.05)
            end += one.width
    assert end == pytest.approx(FULL, abs=0.1)
    off = [one for one in segments if one.value < 0]
    assert all(one.at + one.width == pytest.approx(end, abs=0.1) for one in off)
    assert sum(one.value for one in segments) == pytest.approx(sum(parts.values()))
    assert stacked({}, 0.0) == ()


def test_bars_stand_beside_the_best_answer() -> None:
    """The best score is as wide as the bar, others as their share; nothing to explain, no bar."""
    hits = tuple(
        Hit(id=name, kind="fact", text=name, score=1, tier="cold", recorded_at=datetime.now(UTC))
        for name in ("one", "two", "three")
    )
    reasons = {
        "one": Reason({"words": 1}, None, {"words": 0.5, "meaning": 0.3}, {"uses": 1.5}),
        "two": Reason({"words": 2}, 0.4, {"words": 0.3, "question": -0.9}, {}),
    }
    first, second = weighed(RecallResult(items=hits, reasons=reasons, considered=(("one", 1.2),)))
    assert (first.base, first.score, first.width) == pytest.approx((0.8, 1.2, 100.0))
    assert (second.base, second.score, second.width) == (0, 0, 0)

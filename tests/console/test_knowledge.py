"""The page of the knowledge graph, and the drawing of names around a name."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from random import Random

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect
from support.console import HOSTILE, House

from ezra import Fact
from ezra.service.console.knowledge import SHOWN
from ezra.service.console.rings import LABELS_MAX, NODES_MAX, Edge, around

from .conftest import LOOKS, Shots, Tabs

pytestmark = pytest.mark.asyncio(loop_scope="session")

GRAPH = "spa"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def place(house: House) -> str:
    """A graph in which names hang together, over a parent that knows one more thing."""
    parent = await house.ezra.create_session_graph("spa-before")
    scout = await parent.spawn_agent("scout")
    inherited = Fact(subject="Maranello", predicate="lies in", object="Italy", tier="core")
    await scout.remember(inherited)
    graph = await house.ezra.create_session_graph(GRAPH, inherits_from=["spa-before"])
    known = (await graph.spawn_agent("analyst")).knowledge
    await known.add("Max", "drives for", "Red Bull")
    house.clock.move(hours=2)
    await known.update("Max", "drives for", "Ferrari")
    await known.add("Ferrari", "is based in", "Maranello")
    await known.add("Charles", "drives for", "Ferrari")
    await known.alias("Max", "Mad Max")
    await known.add("Monaco", "has", "no run-off")
    await known.add(HOSTILE, "hates", "Max")
    return f"{house.url}/console/graphs/{GRAPH}/knowledge"


async def _find(page: Page, name: str, other: str = "", depth: int = 1) -> None:
    await page.get_by_role("textbox", name="Name", exact=True).fill(name)
    await page.get_by_role("textbox", name="Way to").fill(other)
    await page.get_by_role("combobox", name="Steps").select_option(str(depth))
    await page.get_by_role("button", name="Show").click()
    await page.wait_for_selector("html[data-ready]")


async def _near(page: Page) -> list[str]:
    found: list[str] = await page.locator("[data-rows] > [data-id]").evaluate_all(
        "all => all.map(one => one.dataset.id)"
    )
    return found


async def test_a_name_is_shown_with_what_is_around_it(house: House, place: str, tabs: Tabs) -> None:
    """Its other names, facts by distance as the handle gives them, and all names drawn."""
    known = (await house.ezra.session_graph(GRAPH)).knowledge
    page = await tabs.open(place)
    await expect(page.get_by_role("link", name="Ferrari")).to_be_visible()
    await _find(page, "mad max", depth=3)
    assert "max" not in page.url.lower(), "addresses hold ids"
    entity = await known.entity("Max")
    assert entity is not None
    await expect(page.locator("#around h2")).to_have_text(entity.name)
    await expect(page.locator("#around .badge", has_text="Mad Max")).to_be_visible()
    near = await known.neighbours("Max", 3, limit=SHOWN)
    assert await _near(page) == [one.fact.id for one in near]
    distances = await page.locator('[data-rows] [data-label="Steps away"]').all_text_contents()
    assert distances == [str(one.distance) for one in near]
    drawn = await page.locator("svg .node").evaluate_all("all => all.map(one => one.dataset.name)")
    assert sorted(drawn) == sorted(["Max", "Ferrari", "Charles", "Maranello", "Italy", HOSTILE])
    assert await page.evaluate("window.pwned") is None
    await expect(page.get_by_text("inherited from spa-before").first).to_be_visible()
    assert await page.locator('svg .node[data-name="Italy"] a').count() == 0

    await page.locator('svg .node[data-name="Charles"] a').click()
    await expect(page.locator("#around h2")).to_have_text("Charles")
    await expect(page.get_by_role("combobox", name="Steps")).to_have_value("3")


async def test_history_says_what_ended_a_statement(house: House, place: str, tabs: Tabs) -> None:
    """Oldest first, what gave way to what; of one predicate when one is chosen."""
    known = (await house.ezra.session_graph(GRAPH)).knowledge
    page = await tabs.open(place)
    await _find(page, "Max")
    stated = await known.history("Max")
    rows = page.locator("#history tbody tr")
    assert await rows.evaluate_all("all => all.map(one => one.dataset.id)") == [
        one.id for one in stated
    ]
    await expect(rows.first).to_contain_text("gave way")
    await expect(rows.first.get_by_role("link").nth(1)).to_have_attribute(
        "href", f"/console/graphs/{GRAPH}/facts/{stated[0].superseded_by}"
    )
    await rows.first.get_by_text("history of this").click()
    narrowed = await known.history("Max", "drives for")
    await expect(rows).to_have_count(len(narrowed))
    assert len(narrowed) < len(stated)


async def test_a_way_leads_from_one_name_to_another(house: House, place: str, tabs: Tabs) -> None:
    """Step by step as the handle finds it; and it is said when there is none."""
    known = (await house.ezra.session_graph(GRAPH)).knowledge
    page = await tabs.open(place)
    await _find(page, "Charles", "Max")
    chain = await known.path("Charles", "Max")
    assert chain is not None
    steps = page.locator("#way li")
    links = steps.locator("a")
    assert await links.evaluate_all("all => all.map(one => one.getAttribute('href'))") == [
        f"/console/graphs/{GRAPH}/facts/{fact.id}" for fact in chain
    ]
    await _find(page, "Max", "Mad Max")
    await expect(page.locator("#way")).to_contain_text("Both are names of one")
    await _find(page, "Maranello", HOSTILE)
    inherited = await known.path("Maranello", HOSTILE)
    assert inherited is not None
    await expect(steps).to_have_count(len(inherited))
    await _find(page, "Italy", "Max")
    await expect(page.locator("#around h2")).to_have_text("Italy")
    await expect(steps).to_have_count(3)
    await _find(page, "Monaco", "Max")
    await expect(page.locator("#way")).to_contain_text("Nothing leads from one to the other")


async def test_the_past_is_shown_as_it_stood(house: House, place: str, tabs: Tabs) -> None:
    """As of a moment the former value stands; names that nothing names are said to be unknown."""
    known = (await house.ezra.session_graph(GRAPH)).knowledge
    (first, *_) = await known.history("Max")
    page = await tabs.open(place)
    await page.get_by_label("As of").fill(first.recorded_at.strftime("%Y-%m-%dT%H:%M:59"))
    await _find(page, "Max")
    assert await _near(page) == [first.id]
    await expect(page.get_by_label("As of")).not_to_have_value("")
    await _find(page, "Nobody")
    await expect(page.locator(".notice.warn")).to_contain_text("names “Nobody”")
    await page.goto(f"{place}?depth=9")
    await expect(page.get_by_role("alert")).to_contain_text("depth")
    tabs.problems.clear()  # the browser tells of the refusal


@pytest.mark.parametrize(("size", "scheme"), LOOKS)
async def test_the_drawing_fits_a_desk_and_a_phone(
    place: str, tabs: Tabs, shots: Shots, size: tuple[int, int], scheme: str
) -> None:
    """On a phone the drawing scrolls inside its place; the page does not."""
    page = await tabs.open(place, size=size, scheme=scheme)
    await shots(f"names-{size[0]}-{scheme}", page)
    await _find(page, "Ferrari", "Max", depth=2)
    await shots(f"knowledge-{size[0]}-{scheme}", page)
    centre = await page.locator("svg .ring-0").bounding_box()
    assert centre is not None
    assert 0 < centre["x"] < size[0], "the name is in sight"
    assert await page.evaluate(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )


@pytest.mark.parametrize("seed", range(5))
async def test_names_on_rings_do_not_lie_on_each_other(seed: int) -> None:
    """Each drawn name has a place of its own inside the drawing, on the ring of its distance."""
    random = Random(seed)
    edges = [
        Edge(f"n{random.randrange(number + 1)}", f"n{number + 1}", "knows", number + 1)
        for number in range(random.choice([1, 6, 30, 90]))
    ]
    drawn = around("n0", edges)
    assert len(drawn.nodes) == min(NODES_MAX, len(edges) + 1)
    assert drawn.left_out == len(edges) + 1 - len(drawn.nodes)
    for one, other in combinations(drawn.nodes, 2):
        assert abs(one.x - other.x) + abs(one.y - other.y) > 12, (one, other)
    for node in drawn.nodes:
        assert drawn.x < node.x < drawn.x + drawn.width
        assert drawn.y < node.y < drawn.y + drawn.height
    assert Counter(node.ring for node in drawn.nodes)[0] == 1
    assert len([line for line in drawn.lines if line.label]) in (0, len(drawn.lines))
    assert len(drawn.lines) <= LABELS_MAX or not drawn.lines[0].label


async def test_the_whole_of_a_name_stands_in_the_drawing(house: House, tabs: Tabs) -> None:
    """A name that is cut where it is too long is not cut off once more, at the edge."""
    name = "<script>window.pwned=1</script>"
    graph = await house.ezra.create_session_graph("wide")
    agent = await graph.spawn_agent("writer")
    await agent.knowledge.add("Middle", "is", name)
    page = await tabs.open(f"{house.url}/console/graphs/{graph.id}/knowledge")
    await page.get_by_role("link", name="Middle").click()
    drawing = page.locator(".drawing svg")
    box = await drawing.bounding_box()
    assert box is not None
    texts = await drawing.locator(".node text").all()
    assert len(texts) == 2
    for one in texts:
        place = await one.bounding_box()
        assert place is not None
        assert box["x"] <= place["x"], await one.text_content()
        assert place["x"] + place["width"] <= box["x"] + box["width"], await one.text_content()


async def test_letters_that_are_twice_as_wide_have_twice_the_room() -> None:
    """Those of Chinese or Japanese are as wide as they are high, 13 pixels."""
    name = "鈴鹿サーキットの天気"
    drawn = around("Suzuka", [Edge("Suzuka", name, "is", 1)])
    (node,) = [one for one in drawn.nodes if one.name == name]
    assert node.anchor == "end"
    assert drawn.x <= node.x - 13 * len(name)


async def test_a_name_alone_is_drawn_alone() -> None:
    """No facts around it: one name, no lines."""
    drawn = around("alone", [])
    assert ([node.name for node in drawn.nodes], drawn.lines) == (["alone"], ())


async def test_a_statement_without_a_predicate_names_nothing(house: House, tabs: Tabs) -> None:
    """Nothing leads from one name to the other by it, so that its names are not offered."""
    graph = await house.ezra.create_session_graph("half-said")
    agent = await graph.spawn_agent("writer")
    await agent.knowledge.add("Ruben", "drives for", "Solane")
    await agent.remember(Fact(subject="Ruben", object="the sea", text="Ruben loves the sea."))
    page = await tabs.open(f"{house.url}/console/graphs/half-said/knowledge")
    names = page.locator("tbody[data-rows] tr")
    assert sorted(await names.all_inner_texts()) == ["Ruben\t1", "Solane\t1"]
    await names.get_by_role("link", name="Ruben").click()
    await expect(page.locator("#around")).to_contain_text("1 fact names it")

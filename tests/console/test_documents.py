"""The pages of documents: what is in a graph, what one says and said, and taking it away."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect
from support.console import HOSTILE, House
from support.runtime import MovingClock, running
from support.service import bearer, inside

from ezra.documents import SHELF
from ezra.handles.graph import Graph
from ezra.service.console import documents
from ezra.service.tokens import TokenFile
from tiers.documents import Document

from .conftest import PHONE, Shots, Tabs

pytestmark = pytest.mark.asyncio(loop_scope="session")

GRAPH = "papers"
PLACES = 30
TYRES = f"# Tyres\n\n## Softs\n\nSofts last 12 laps. {HOSTILE}\n\n## Hards\n\nHards last 30 laps."


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def papers(house: House) -> Graph:
    """A graph with a document of two revisions, a removed one, an agent's, and a private one."""
    graph = await house.ezra.create_session_graph(GRAPH)
    writer = await graph.spawn_agent("librarian", topics={"tyres"}, user_id="ann")
    await graph.documents.put("tyres.md", "# Tyres\n\nSofts last 10 laps.")
    house.clock.move(hours=1)
    about = {"source": "FIA", "pages": 3}
    await graph.documents.put("tyres.md", TYRES, title="All tyres", properties=about)
    await graph.documents.put("a" * 300 + ".md", "A long name.", shelf="odd")
    await writer.documents.put("notes/kerbs.md", "Kerb nine is new.", topics=["tyres"])
    await writer.documents.put("secret.md", "Only the librarian knows.", private=True)
    old = await graph.documents.put("old.md", "The limit is 60 km/h.")
    await graph.documents.remove([old.document.id], reason="an old rule")
    return graph


def _at(house: House, *parts: str) -> str:
    return "/".join((f"{house.url}/console/graphs/{GRAPH}/documents", *parts))


async def _named(graph: Graph, name: str) -> Document:
    found = await graph.documents.named(SHELF, name)
    assert found is not None
    return found


async def _rows(page: Page) -> list[str]:
    rows = page.locator("tbody[data-rows] > [data-id]")
    found: list[str] = await rows.evaluate_all("all => all.map(one => one.dataset.id)")
    return found


async def test_the_list_shows_what_the_graph_holds(
    house: House, papers: Graph, tabs: Tabs, shots: Shots
) -> None:
    """From the graph's tabs; by shelf and name, as the handle lists them; private ones are not."""
    page = await tabs.open(f"{house.url}/console/graphs/{GRAPH}")
    await page.get_by_role("link", name="Documents", exact=True).click()
    await expect(page).to_have_url(_at(house))
    listed = await papers.documents.list()
    assert await _rows(page) == [one.id for one in listed]
    assert "secret.md" not in await page.content()
    assert "old.md" not in await page.content()
    tyres = page.locator(f'[data-id="{(await _named(papers, "tyres.md")).id}"]')
    await expect(tyres.locator('[data-label="Revision"]')).to_have_text("2")
    await expect(tyres.locator('[data-label="Passages"]')).to_have_text("2")
    await expect(tyres.locator("th")).to_contain_text("All tyres")
    kerbs = page.locator(f'[data-id="{(await _named(papers, "notes/kerbs.md")).id}"]')
    await expect(kerbs.get_by_role("link", name="librarian")).to_be_visible()
    await shots("documents-desktop", page)
    await page.get_by_label("removed ones too").check()
    await page.get_by_role("button", name="Show").click()
    await expect(page.locator("tbody tr", has_text="old.md")).to_contain_text("removed")
    await page.get_by_label("Shelf").fill("odd")
    await page.get_by_role("button", name="Show").click()
    assert await _rows(page) == [one.id for one in await papers.documents.list("odd")]
    await page.get_by_label("Shelf").fill("nowhere")
    await page.get_by_role("button", name="Show").click()
    await page.get_by_role("link", name="Show all documents").click()
    assert await _rows(page) == [one.id for one in listed]


async def test_a_document_shows_what_it_says_and_said(
    house: House, papers: Graph, tabs: Tabs, shots: Shots
) -> None:
    """Passages under their headings, revisions, properties; markup is text; it leads to readers."""
    document = await _named(papers, "tyres.md")
    page = await tabs.open(_at(house))
    await page.get_by_role("link", name="tyres.md").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("All tyres")
    passages = await papers.documents.passages(document.id)
    shown = page.locator("ol[data-rows] > li")
    assert await shown.evaluate_all("all => all.map(one => one.dataset.id)") == [
        one.id for one in passages
    ]
    await expect(shown.first).to_contain_text("Tyres > Softs")
    await expect(shown.first).to_contain_text(HOSTILE)
    assert await page.evaluate("window.pwned") is None
    revisions = page.locator("tr[data-revision]")
    assert await revisions.evaluate_all("all => all.map(one => one.dataset.revision)") == ["2", "1"]
    await expect(page.locator("dl.facts")).to_contain_text("FIA")
    await shots("document-desktop", page)
    agent = await papers.agent("librarian")
    await agent.recall("How long do softs last?", kinds=("document",), receipt=True)
    await shown.first.get_by_role("link", name="who read it").click()
    await expect(page.locator("#readings")).to_contain_text("a recall")
    await page.goto(_at(house, document.id))
    await page.get_by_role("link", name="What came of it").click()
    await expect(page.locator("#tree")).to_contain_text("document")


async def test_a_found_passage_leads_to_its_document(
    house: House, papers: Graph, tabs: Tabs
) -> None:
    """Search names the document of a passage."""
    document = await _named(papers, "notes/kerbs.md")
    page = await tabs.open(f"{house.url}/console/graphs/{GRAPH}/search")
    await page.get_by_label("Question").fill("Which kerb is new?")
    await page.get_by_role("button", name="Search", exact=True).click()
    await page.get_by_role("link", name="notes/kerbs.md").first.click()
    await expect(page).to_have_url(_at(house, document.id))


async def test_lists_go_on_page_by_page(
    house: House, tabs: Tabs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Documents and passages come in portions: as one scrolls, and by links without script."""
    graph = await house.ezra.create_session_graph("many-papers")
    for number in range(7):
        await graph.documents.put(f"{number}.md", f"Paper {number}.")
    sections = "\n\n".join(f"## Part {n}\n\nCorner {n} is fast." for n in range(PLACES))
    long = (await graph.documents.put("long.md", sections)).document
    monkeypatch.setattr(documents, "ROWS", 3)
    monkeypatch.setattr(documents, "PASSAGES", 10)
    at = f"{house.url}/console/graphs/many-papers/documents"
    listed = [one.id for one in await graph.documents.list()]
    page = await tabs.open(at)
    await expect(page.locator("tbody [data-id]")).to_have_count(8)
    assert await _rows(page) == listed
    plain = await tabs.open(at, js=False)
    assert await _rows_of_plain(plain) == 3
    await plain.get_by_role("link", name="Show more").click()
    assert await _rows_of_plain(plain) == 3
    passages = await graph.documents.passages(long.id)
    assert len(passages) == PLACES
    await page.goto(f"{at}/{long.id}")
    for _ in range(PLACES // 10):
        await page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    await expect(page.locator("ol[data-rows] > [data-id]")).to_have_count(PLACES)
    await plain.goto(f"{at}/{long.id}")
    await plain.get_by_role("link", name="Show more").click()
    await expect(plain.locator("#passages")).to_contain_text("from number 11")
    await expect(plain.locator("ol[data-rows] > [data-id]").first).to_contain_text("Part 10")


async def _rows_of_plain(page: Page) -> int:
    return await page.locator("tbody [data-id]").count()


async def test_an_operator_removes_and_destroys_a_document(
    house: House, papers: Graph, tabs: Tabs
) -> None:
    """Each with a reason that the audit feed keeps; what is gone is said in its place."""
    stored = (await papers.documents.put("pit.md", "The limit is 80 km/h.")).document
    page = await tabs.open(_at(house, stored.id))
    await page.locator("summary", has_text="Remove it").click()
    await page.get_by_label("Why").first.fill("a new rule")
    await page.get_by_role("button", name="Remove it").click()
    await expect(page.get_by_text("It was removed: no passage is current.")).to_be_visible()
    removed = await papers.documents.get(stored.id)
    assert removed is not None
    assert removed.removed_at is not None
    await page.locator("summary", has_text="Destroy its words").click()
    await page.get_by_label("Why").last.fill("it named somebody")
    await page.get_by_role("button", name="Destroy them for good").click()
    await expect(page.get_by_text("Its words were destroyed.")).to_be_visible()
    assert "80 km/h" not in await page.content()
    assert "pit.md" not in await page.content()
    reasons = [one.reason for one in await papers.audit(limit=10_000)]
    assert {"a new rule", "it named somebody"} <= set(reasons)


async def test_pages_fit_a_phone_and_say_what_to_do(
    house: House, papers: Graph, tabs: Tabs, shots: Shots
) -> None:
    """Nothing scrolls sideways in the dark; an empty graph says how documents come in."""
    await house.ezra.create_session_graph("no-papers")
    empty = f"{house.url}/console/graphs/no-papers/documents"
    phone = await tabs.open(empty, size=PHONE, scheme="dark")
    await expect(phone.locator(".empty")).to_contain_text("ezra ingest FOLDER --graph no-papers")
    document = await _named(papers, "tyres.md")
    for name, place in (("documents", _at(house)), ("document", _at(house, document.id))):
        await phone.goto(place)
        assert await phone.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
        await shots(f"{name}-phone-dark", phone)
    missing = await tabs.open(_at(house, "nothing"))
    await expect(missing.get_by_role("alert")).to_be_visible()
    assert all("404" in one for one in tabs.problems)
    tabs.problems.clear()


async def test_who_may_only_look_changes_nothing_and_others_do_not_look(tmp_path: Path) -> None:
    """A reader of the graph sees the pages, not what they do; one of another graph is refused."""
    clock = MovingClock()
    async with running(tmp_path / "home", clock) as ezra:
        graph = await ezra.create_session_graph("imola")
        await ezra.create_session_graph("monaco")
        stored = (await graph.documents.put("pit.md", "The limit is 80 km/h.")).document
        tokens = TokenFile(tmp_path / "tokens.json", clock)
        reader = bearer(tokens, role="reader", graph_id="imola")
        other = bearer(tokens, role="reader", graph_id="monaco")
        at = "/console/graphs/imola/documents"
        async with inside(ezra, tokens) as http:
            for path in (at, f"{at}/{stored.id}", f"{at}/{stored.id}/passages"):
                assert (await http.get(path, headers=reader)).status_code == 200
                assert (await http.get(path, headers=other)).status_code == 403
            shown = (await http.get(f"{at}/{stored.id}", headers=reader)).text
            assert "80 km/h" in shown
            assert f"{stored.id}/remove" not in shown
            form = await http.get("/console/graphs/imola/search", headers=reader)
            csrf = re.search(r'name="csrf" value="([^"]+)"', form.text)
            assert csrf is not None
            for does in ("remove", "redact"):
                path = f"{at}/{stored.id}/{does}"
                data = {"csrf": csrf[1], "reason": "mine"}
                assert (await http.post(path, data=data, headers=reader)).status_code == 403
            assert await graph.documents.count() == (1, 1)

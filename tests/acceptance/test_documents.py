"""Acceptance of documents: row MA-05, in process and through a running service."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.document_files import pdf_of, post_of, sentences
from support.model_http import KEY, ModelServer, running_model_server
from support.service import DOORS
from support.two_doors import House, house

from ezra.documents import Draft, drafted
from ezra.documents.folders import Patterns
from ezra.documents.ingesting import FileDone, Ingested, Ingestion, Plan

PAGES_EACH = 10
CHAPTERS = {"embedded": 20, "servers": 4}
FILES = {"embedded": 50, "servers": 12}
SECTIONS = 12
PATIENT = {"step_timeout_seconds": 30.0}
"""A busy machine must not leave a leg of recall out."""
_DRAFTS: dict[str, Draft] = {}


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    """A provider of embeddings, which remembers every text that it was given."""
    with running_model_server() as started:
        yield started


@pytest.fixture
async def handbook(tiers: str) -> Draft:
    """A PDF of 200 pages, or 40 where the stand-ins for servers take their time; read once."""
    if tiers not in _DRAFTS:
        file = pdf_of(CHAPTERS[tiers], PAGES_EACH)
        _DRAFTS[tiers] = await drafted("handbook.pdf", file)
    return _DRAFTS[tiers]


@pytest.fixture
def folder(tmp_path: Path, tiers: str) -> Path:
    """A folder of 50 files in ten folders, or of fewer likewise."""
    root = tmp_path / "notes"
    for number in range(FILES[tiers]):
        path = root / f"part-{number % 10}" / f"note-{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# Note {number}\n\nThe code of note {number} is {number * 37}.\n")
    return root


def _guide(changed: int | None = None) -> str:
    """Return a guide of twelve sections, one of which may be another."""
    parts = []
    for number in range(SECTIONS):
        seed = f"new {number}" if number == changed else str(number)
        paragraphs = "\n\n".join(sentences(f"{seed}.{n}", 5) for n in range(5))
        parts.append(f"## Section {number}\n\n{paragraphs}")
    return "# Guide\n\n" + "\n\n".join(parts) + "\n"


async def _graph(opened: House, name: str) -> Any:
    return await opened.runtime.create_session_graph(name)


@pytest.mark.parametrize("door", DOORS)
async def test_ma_05_a_pdf_of_200_pages_is_cited_by_heading_and_page(
    tmp_path: Path, door: str, handbook: Draft
) -> None:
    """Each page can be asked for; a page that is written anew changes its own passages alone."""
    pages = handbook.passages[-1].page or 0
    assert pages in (200, 40)
    middle = pages // 2 + 7
    async with house(tmp_path / "home", door, **PATIENT) as opened:
        graph = await _graph(opened, "race")
        stored = await graph.documents.store(handbook)
        assert (stored.was_new, stored.added) == (True, len(handbook.passages))
        assert {one.page for one in handbook.passages} == set(range(1, pages + 1))
        for page in (1, middle, pages):
            found = await graph.recall(
                f"What is the pit code of {post_of(page)}?", kinds=["document"]
            )
            citation = found.items[0].citation
            chapter = (page - 1) // PAGES_EACH + 1
            assert (citation.name, citation.title) == ("handbook.pdf", "The race handbook")
            assert (citation.headings, citation.page) == ((f"Chapter {chapter}",), page)
            assert f"{page * 7919 % 100_000:05d}" in found.items[0].text
        passages = list(handbook.passages)
        place = next(n for n, one in enumerate(passages) if one.page == middle)
        passages[place] = passages[place]._replace(text="The pit code is secret from now on.")
        other = handbook.model_copy(update={"passages": tuple(passages), "digest": "f" * 64})
        changed = await graph.documents.store(other)
        assert (changed.added, changed.kept, changed.retired) == (1, len(passages) - 1, 1)


@pytest.mark.parametrize("door", DOORS)
async def test_ma_05_a_folder_is_ingested_with_progress_and_only_once(
    tmp_path: Path, door: str, folder: Path, tiers: str
) -> None:
    """Each file is told as it is done; the same folder again writes nothing at all."""
    count = FILES[tiers]
    async with house(tmp_path / "home", door, **PATIENT) as opened:
        graph = await _graph(opened, "race")
        told: list[FileDone] = []
        done = await _ingest(graph, folder, told)
        assert [one.state for one in told] == ["new"] * count
        assert (done.totals["new"], done.totals["passages_added"]) == (count, count)
        assert await graph.documents.count() == (count, count)
        found = (await graph.recall("What is the code of note 11?", kinds=["document"])).items[0]
        assert found.citation.name == "notes/part-1/note-11.md"
        assert found.citation.headings == ("Note 11",)
        before = await graph.audit()
        again = await _ingest(graph, folder, [])
        assert {one.state for one in again.files} == {"unchanged"}
        assert await graph.audit() == before
        (folder / "part-1/note-11.md").unlink()
        (folder / "part-2/note-2.md").write_text("# Note 2\n\nThe code is none.\n")
        last = await _ingest(graph, folder, [], prune=True)
        assert last.removed == ("notes/part-1/note-11.md",)
        assert (last.totals["changed"], last.totals["unchanged"]) == (1, count - 2)
        assert await graph.documents.count() == (count - 1, count - 1)


async def _ingest(graph: Any, folder: Path, told: list[FileDone], **more: Any) -> Ingested:
    plan = Plan(paths=(folder,), patterns=Patterns(), **more)
    ingestion = Ingestion(graph.documents, plan)
    return await ingestion.run(await ingestion.found(), told.append)


@pytest.mark.parametrize("door", DOORS)
async def test_ma_05_editing_one_section_embeds_its_passages_only(
    tmp_path: Path, door: str, model: ModelServer
) -> None:
    """What the embedding model is given is counted, text by text."""
    model.reset()
    given = {
        "embedder": "openai",
        "embedding_dimensions": 64,
        "openai_api_key": KEY,
        "openai_base_url": f"{model.url}/open/v1",
    }
    async with house(tmp_path / "home", door, **PATIENT, **given) as opened:
        graph = await _graph(opened, "race")
        first = (await graph.documents.put("guide.md", _guide())).document
        await opened.behind.drain_learning()
        passages = await graph.documents.passages(first.id)
        assert sorted(_embedded(model)) == sorted(one.found_by for one in passages)
        model.reset()
        changed = await graph.documents.put("guide.md", _guide(changed=7))
        await opened.behind.drain_learning()
        now = await graph.documents.passages(first.id)
        fresh = [one for one in now if one.since == 2]
        assert {one.headings for one in fresh} == {("Guide", "Section 7")}
        assert sorted(_embedded(model)) == sorted(one.found_by for one in fresh)
        assert (changed.added, changed.kept) == (len(fresh), len(now) - len(fresh))
        assert {one.id for one in now} & {one.id for one in passages} == {
            one.id for one in now if one.since == 1
        }
        model.reset()
        await graph.documents.put("guide.md", _guide(changed=7))
        await opened.behind.drain_learning()
        assert _embedded(model) == []


def _embedded(model: ModelServer) -> list[str]:
    return [text for texts in model.embedded for text in texts]


@pytest.mark.parametrize("door", DOORS)
async def test_ma_05_old_revisions_are_gone_from_recall_and_stay_readable(
    tmp_path: Path, door: str
) -> None:
    """At the time when they counted they are recalled, and so is what was removed since."""
    async with house(tmp_path / "home", door, **PATIENT) as opened:
        agent = await opened.agent(topics={"tyres"})
        graph = await opened.runtime.session_graph(agent.graph_id)
        said = "---\ntopics: [tyres]\n---\n# Stints\n\nMediums last {} laps at Imola.\n"
        first = await graph.documents.put("stints.md", said.format("eighteen"))
        then = opened.clock()
        opened.clock.move(days=1)
        await graph.documents.put("stints.md", said.format("twenty"))
        question = "How many laps do mediums last at Imola?"
        (now,) = (await agent.recall(question, kinds=["document"])).items
        (before,) = (await agent.recall(question, kinds=["document"], as_of=then)).items
        assert ("twenty" in now.text, now.citation.revision) == (True, 2)
        assert ("eighteen" in before.text, before.citation.revision) == (True, 1)
        revisions = await graph.documents.revisions(first.document.id)
        assert [one.revision for one in revisions] == [2, 1]
        assert revisions[1] == first.document
        later = opened.clock()
        opened.clock.move(days=1)
        await graph.documents.remove([first.document.id], reason="the season is over")
        assert (await agent.recall(question, kinds=["document"])).items == ()
        (found,) = (await agent.recall(question, kinds=["document"], as_of=later)).items
        assert "twenty" in found.text
        events = [one for one in await graph.audit() if first.document.id in one.record_ids]
        assert [one.kind for one in events] == ["revised", "revised", "removed"]


@pytest.mark.parametrize("door", DOORS)
async def test_ma_05_documents_of_the_tenant_are_found_from_every_graph(
    tmp_path: Path, door: str
) -> None:
    """By whoever holds their topics; those of a graph stay in it."""
    async with house(tmp_path / "home", door, **PATIENT) as opened:
        catalog = await opened.runtime.catalog()
        rules = "# Safety\n\n## Pit lane\n\nThe limit is sixty km/h at Imola.\n"
        await catalog.documents.put("rules.md", rules, topics=["tyres"])
        one, two = await opened.agent(), await opened.agent()
        own = await opened.runtime.session_graph(one.graph_id)
        await own.documents.put("own.md", "# Own\n\nOur own limit is fifty km/h at Imola.\n")
        question = "What is the limit in km/h at Imola?"
        found = {
            agent.graph_id: {
                (hit.citation.name, hit.citation.headings)
                for hit in (await agent.recall(question, kinds=["document"])).items
            }
            for agent in (one, two)
        }
        shared = ("rules.md", ("Safety", "Pit lane"))
        assert found == {
            one.graph_id: {shared, ("own.md", ("Own",))},
            two.graph_id: {shared},
        }
        stranger = await opened.agent(topics={"fuel"})
        assert (await stranger.recall(question, kinds=["document"])).items == ()

"""Documents through the runtime, and large ones in a process of their own."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import threading
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from support.document_files import pdf_of
from support.document_reference import document_by, drafts_of
from support.raw_stores import everything, where
from support.records import every_row
from support.reembedding import ScriptedEmbedder
from support.runtime import MovingClock, running
from support.servers import on_servers

from ezra import Ezra, UsageError
from ezra.documents import apart, drafted, formats
from ezra.moving.carrying import TABLES
from tiers.documents import PassageDraft, Revised
from tiers.fleet import CATALOG
from tiers.records import Scope

# Documents through the runtime: recall cites them, vectors stay, redaction and export reach all.
#
# They are put on the shelf as it is: what reads files is tested where that is.

WORD = "xylograph"


async def _put(
    ezra: Ezra,
    clock: MovingClock,
    graph_id: str,
    name: str,
    drafts: Sequence[PassageDraft],
    *,
    even_if_redacted: bool = False,
    **fields: Any,
) -> Revised:
    """Put the next revision of a document on its shelf."""
    scope = Scope.of_graph("default", graph_id)
    shelf = ezra._runtime.shelf
    probe = document_by(scope, name, shelf=fields.get("shelf", "files"))
    known = await shelf.documents(scope, [probe.id])
    revision = known[0].revision + 1 if known else 1
    document = document_by(scope, name, f"{revision} {drafts}", revision, **fields)
    document = document.model_copy(update={"changed_at": clock()})
    return await shelf.revise(scope, document, drafts, even_if_redacted=even_if_redacted)


async def _cited(
    agent: Any, question: str, as_of: datetime | None = None
) -> list[tuple[object, ...]]:
    """Return what is told of the documents that a question finds."""
    found = await agent.recall(question, as_of=as_of, kinds=["document"])
    return [
        (hit.text, hit.citation.title, hit.citation.revision, hit.citation.page, hit.inherited_from)
        for hit in found.items
    ]


async def test_recall_cites_documents_as_they_stand_and_as_they_stood(
    tiers: str, tmp_path: Path
) -> None:
    """Of the graph and of the catalog, at once by words; a removed one only in the past."""
    assert tiers
    clock = MovingClock()
    async with running(tmp_path, clock) as ezra:
        graph = await ezra.create_session_graph("race")
        agent = await graph.spawn_agent("keeper", topics={"tyres"})
        await ezra.catalog()
        laps = [PassageDraft("Mediums last eighteen laps.", ("Tyres",), 7)]
        await _put(ezra, clock, "race", "tyres.pdf", laps, title="Manual", topics=("tyres",))
        days = drafts_of("Everybody has thirty days of vacation.", under=("HR",))
        await _put(ezra, clock, CATALOG, "hr.md", days, title="Policy")
        secret = drafts_of("The vacation of the boss.")
        await _put(ezra, clock, CATALOG, "boss.md", secret, topics=("board",))
        then = clock()
        old = ("Tyres\nMediums last eighteen laps.", "Manual", 1, 7, None)
        policy = ("HR\nEverybody has thirty days of vacation.", "Policy", 1, None, CATALOG)
        for _ in range(2):
            assert await _cited(agent, "How long do mediums last?") == [old]
            assert await _cited(agent, "days of vacation") == [policy]
            await ezra.drain_learning()
        clock.move(hours=1)
        new = [PassageDraft("Mediums last twenty laps.", ("Tyres",), 8)]
        await _put(ezra, clock, "race", "tyres.pdf", new, title="Manual 2", topics=("tyres",))
        scope = Scope.of_graph("default", CATALOG)
        await ezra._runtime.shelf.remove(scope, [document_by(scope, "hr.md").id], "old", clock())
        for _ in range(2):
            assert await _cited(agent, "How long do mediums last?") == [
                ("Tyres\nMediums last twenty laps.", "Manual 2", 2, 8, None)
            ]
            assert await _cited(agent, "days of vacation") == []
            assert await _cited(agent, "How long do mediums last?", then) == [old]
            assert await _cited(agent, "days of vacation", then) == [policy]
            await ezra.drain_learning()
        receipt = (await agent.recall("mediums", receipt=True)).receipt_id or ""
        assert (await ezra.replay_context(receipt)).is_exact


async def test_an_unchanged_passage_is_embedded_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a revision only what is new; what is gone has left the index of meaning."""
    embedder = ScriptedEmbedder("scripted/test")
    monkeypatch.setattr("ezra.assembly.assembler.wanted_embedder", lambda _: embedder)
    clock = MovingClock()
    async with running(tmp_path, clock) as ezra:
        await ezra.create_session_graph("race")
        first = [f"Section {number} tells of tyres." for number in range(20)]
        await _put(ezra, clock, "race", "a.md", drafts_of(*first))
        await ezra.drain_learning()
        assert sorted(embedder.asked) == sorted(first)
        embedder.asked.clear()
        second = ["A new beginning.", *first[:7], "Section 7 was edited.", *first[8:]]
        done = await _put(ezra, clock, "race", "a.md", drafts_of(*second))
        assert (done.added, done.kept, done.retired) == (2, 19, 1)
        await ezra.drain_learning()
        assert sorted(embedder.asked) == ["A new beginning.", "Section 7 was edited."]
        held = (await everything(ezra, tmp_path))["warm"]
        assert first[7] not in held
        assert all(text in held for text in second)


async def test_redaction_leaves_nothing_of_any_revision(tiers: str, tmp_path: Path) -> None:
    """Text, title, name, headings and properties, retired passages too, by a passage's id."""
    assert tiers
    clock = MovingClock()
    async with running(tmp_path, clock) as ezra:
        graph = await ezra.create_session_graph("race")
        agent = await graph.spawn_agent("keeper")
        whole = {"title": WORD, "text": f"All of {WORD}.", "properties": {WORD: [{"a": WORD}]}}
        name = f"{WORD}.md"
        drafts = [*drafts_of(f"Of {WORD}.", under=(WORD,)), *drafts_of("The pelican was seen.")]
        await _put(ezra, clock, "race", name, drafts, **whole)
        await _put(ezra, clock, "race", name, drafts_of("The pelican was seen."))
        kept = await _put(ezra, clock, "race", "other.md", drafts_of("A narwhal was seen."))
        await ezra.drain_learning()
        assert (await agent.recall("pelican", receipt=True)).items
        assert where(await everything(ezra, tmp_path), WORD) == {"cold"}, "retired ones left warm"
        scope = Scope.of_graph("default", "race")
        document = document_by(scope, name)
        (passage,) = await ezra._runtime.shelf.passages_of(scope, document.id)
        report = await graph.redact([passage.id], reason="asked by the person")
        assert report.ids["document"] == (document.id,)
        assert len(report.ids["passage"]) == 2
        assert len(report.ids["receipt"]) == 1
        assert report.waiting == {}
        await ezra.drain_learning()
        found = await everything(ezra, tmp_path)
        assert where(found, WORD) == set()
        assert where(found, "pelican") == set()
        assert not (await agent.recall("pelican")).items
        assert (await agent.recall("narwhal")).items
        assert [one.id for one in await ezra._runtime.shelf.on_shelf(scope, None)] == [
            kept.document.id
        ]
        said = drafts_of("Seen: a pelican.")
        again = await _put(ezra, clock, "race", name, said, even_if_redacted=True)
        assert (again.document.revision, again.added, again.document.name) == (3, 1, name)
        assert [hit.citation.revision for hit in (await agent.recall("pelican")).items] == [3]


async def test_erasing_finds_documents_by_subject_and_by_user(tiers: str, tmp_path: Path) -> None:
    """Also where only a former revision speaks of them, and in what documents say of themselves."""
    assert tiers
    clock = MovingClock()
    async with running(tmp_path, clock) as ezra:
        await ezra.create_session_graph("race")
        await ezra.catalog()
        await _put(ezra, clock, CATALOG, "a.md", drafts_of("By the narwhal."), title="Niki Lauda")
        await _put(ezra, clock, CATALOG, "a.md", drafts_of("By the narwhal."))
        props = {"team": {"drivers": ["Niki Lauda"]}}
        await _put(ezra, clock, "race", "b.md", drafts_of("A gannet."), properties=props)
        await _put(ezra, clock, "race", "c.md", drafts_of("Of niki  lauda himself."))
        await _put(ezra, clock, "race", "d.md", drafts_of("The pelican of Ann."), user_id="ann")
        await _put(ezra, clock, "race", "e.md", drafts_of("Lauda's heron, by a part of the name."))
        await _put(ezra, clock, "race", "f.md", drafts_of("Somebody's avocet stays."))
        await ezra.drain_learning()
        reports = await ezra.erase(subject="Niki Lauda", reason="asked to")
        found = await everything(ezra, tmp_path)
        for gone in ("Niki", "niki", "narwhal", "gannet", "heron"):
            assert where(found, gone) == set()
        assert {name: len(report.ids["document"]) for name, report in reports.items()} == {
            "race": 3,
            CATALOG: 1,
        }
        assert where(found, "pelican") == {"warm", "cold"}
        await ezra.erase(user_id="ann", reason="asked to")
        found = await everything(ezra, tmp_path)
        assert where(found, "pelican") == set()
        assert where(found, "avocet") == {"warm", "cold"}


async def _rows(graph: Any) -> dict[str, list[dict[str, Any]]]:
    return {
        table: await every_row(lambda at, of=table: graph.export_rows(of, at, 3), 3)
        for table in TABLES
    }


async def test_a_graph_with_documents_is_the_same_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exported from the embedded engines and put in on servers: equal rows, ids, answers."""
    clock = MovingClock()
    async with running(tmp_path / "one", clock) as ezra:
        graph = await ezra.create_session_graph("race")
        agent = await graph.spawn_agent("keeper")
        for number in range(3):
            drafts = drafts_of("Mediums last.", f"Revision {number}.", under=("Tyres",))
            await _put(ezra, clock, "race", "a.md", drafts, properties={"$n": number})
        gone = await _put(ezra, clock, "race", "b.md", drafts_of("A pelican."))
        scope = Scope.of_graph("default", "race")
        await ezra._runtime.shelf.remove(scope, [gone.document.id], "gone", clock())
        rows = await _rows(graph)
        assert [len(rows[one]) for one in ("documents", "document_revisions", "passages")] == [
            *(2, 2, 5)
        ]
        told = await _cited(agent, "mediums revision")
    on_servers(monkeypatch)
    async with running(tmp_path / "two", clock) as other:
        for table in TABLES:
            assert await other.import_rows("race", table, rows[table]) == len(rows[table])
        graph = await other.session_graph("race")
        arrived = await _rows(graph)
        for table in ("documents", "document_revisions", "passages"):
            assert arrived[table] == rows[table]
        agent = await graph.agent("keeper")
        assert sorted(await _cited(agent, "mediums revision")) == sorted(told)
        done = await _put(
            other, clock, "race", "a.md", drafts_of("Mediums last.", under=("Tyres",))
        )
        assert (done.document.revision, done.added, done.kept, done.retired) == (4, 0, 1, 1)
        await other.drain_learning()
        assert [one[0] for one in await _cited(agent, "mediums")] == ["Tyres\nMediums last."]


# Large documents are read in a process of their own, within bounds of time and memory.

PAGE = "<h1>Tyres</h1>" + "<p>Mediums last <b>18</b> laps &amp; more.</p>" * 6_000


def _children() -> set[int]:
    """Return the processes that this one has started and that are there still."""
    found: set[int] = set()
    for one in Path(f"/proc/{os.getpid()}/task").glob("*/children"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # a thread that ended
            found.update(int(pid) for pid in one.read_text().split())
    return found


async def _appeared(before: set[int]) -> None:
    async with asyncio.timeout(60):
        while not _children() - before:  # noqa: ASYNC110 - the system tells nobody
            await asyncio.sleep(0.01)


def _refuse(*_: object) -> None:
    message = "read in this process"
    raise AssertionError(message)


@pytest.mark.parametrize("kind", ["html", "markdown", "text", "pdf"])
async def test_r9_22_a_large_document_is_read_elsewhere(
    monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """The event loop's process parses none of it, and what comes of it is the same."""
    made: dict[str, tuple[str, str | bytes]] = {
        "html": ("page.html", PAGE.encode()),
        "markdown": ("a.md", "---\ntopics: [tyres]\n---\n# A\n\nÜber zwölf Runden.\n\n" * 8_000),
        "text": ("a.txt", "Twelve laps.\n\n" * 20_000),
        "pdf": ("a.pdf", pdf_of(12, 12)),
    }
    name, content = made[kind]
    with monkeypatch.context() as here:
        here.setattr(apart, "APART_BYTES", sys.maxsize)
        here.setattr(apart, "PACKED_BYTES", sys.maxsize)
        in_thread = await drafted(name, content)
    monkeypatch.setattr(apart, "PACKED_BYTES", 1_000)
    before = _children()
    monkeypatch.setattr(formats, "_module", _refuse)
    assert await drafted(name, content) == in_thread
    assert len(in_thread.passages) > 1
    assert _children() <= before
    with pytest.raises(AssertionError, match="in this process"):
        await drafted("small.md", "# A small one")


@pytest.mark.usefixtures("forked")
async def test_r9_22_what_cannot_be_read_is_said_in_the_same_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An error of the other process is the error that a thread would raise."""
    deep = "<div>" * 40_000
    said = []
    for limit in (sys.maxsize, 1_000):
        monkeypatch.setattr(apart, "APART_BYTES", limit)
        with pytest.raises(UsageError) as refused:
            await drafted("deep.html", deep)
        said.append((refused.value.field, str(refused.value)))
    assert said[0] == said[1]
    with pytest.raises(UsageError, match="lone surrogates"):
        await drafted("a.txt", "\ud800" * 2_000)


@pytest.mark.usefixtures("forked")
async def test_r9_22_time_and_memory_of_reading_are_bounded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Who takes too much of either is ended and refused; the next document is read."""
    before = _children()
    with monkeypatch.context() as tight:
        tight.setattr(apart, "SECONDS_MAX", 0.01)
        with pytest.raises(UsageError, match="takes more than"):
            await drafted("page.html", PAGE)
    with monkeypatch.context() as tight:
        tight.setattr(apart, "MEMORY_BYTES_MAX", 1)
        with pytest.raises(UsageError, match="memory or time"):
            await drafted("page.html", PAGE)
    assert _children() <= before
    assert (await drafted("page.html", PAGE)).title == "Tyres"


async def test_r9_22_who_stops_waiting_stops_the_reading() -> None:
    """A cancelled call leaves no process behind, and its place is free."""
    before = _children()
    for _ in range(2 * apart.PROCESSES_MAX):
        reading = asyncio.create_task(drafted("page.html", PAGE))
        await _appeared(before)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        assert _children() <= before


@pytest.mark.usefixtures("forked")
async def test_r9_22_at_most_two_are_read_at_one_time() -> None:
    """The rest waits for a place, and all are read."""
    before, most = _children(), 0
    reading = asyncio.gather(*(drafted(f"{n}.html", PAGE) for n in range(5)))
    while not reading.done():
        most = max(most, len(_children() - before))
        await asyncio.sleep(0.005)
    assert len({one.digest for one in await reading}) == 1
    assert most == apart.PROCESSES_MAX


async def test_r9_22_without_a_process_a_thread_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no interpreter can be started, a document is read all the same, off the loop."""
    seen = []
    real = formats.parse_text

    def noted(content: str, media_type: str) -> object:
        seen.append(threading.current_thread() is threading.main_thread())
        return real(content, media_type)

    monkeypatch.setattr("ezra.documents.reading.parse_text", noted)
    for python in ("", "/nowhere/python", "/bin/false"):
        monkeypatch.setattr(sys, "executable", python)
        assert (await drafted("page.html", PAGE)).title == "Tyres"
    assert seen == [False] * 3

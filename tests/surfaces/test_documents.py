"""Documents through either door: of a graph, of the catalog, and of agents; and what is refused."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

import httpx2
import pytest
from support.document_files import pdf_of, post_of, sentences
from support.runtime import MovingClock, running
from support.service import bearer, inside, serving
from support.two_doors import House, house_for_a_file

from ezra import Ezra
from ezra.documents import drafted
from ezra.documents.folders import Patterns
from ezra.documents.ingesting import Ingestion, Plan
from ezra.service.tokens import TokenFile
from tiers.errors import BudgetExceeded, Conflict, NotFound, PolicyDenied, UsageError, WasRedacted
from tiers.records import Budget

pytestmark = pytest.mark.asyncio(loop_scope="module")

GUIDE = (
    "# Tyres\n\nIntro.\n\n## Mediums\n\nMediums last 18 laps.\n\n## Softs\n\nSofts last 9 laps.\n"
)


doors = house_for_a_file()
"""One runtime behind each door for all tests here; each has a graph of its own."""


async def _graph(doors: House, name: str, **given: Any) -> Any:
    return await doors.runtime.create_session_graph(name, **given)


async def test_a_name_is_one_document_however_its_accents_are_typed(
    doors: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that is called otherwise from before keeps its name, is found, and is revised."""
    graph = await _graph(doors, "accents")
    composed, apart = (unicodedata.normalize(form, "book/Café é.md") for form in ("NFC", "NFD"))
    assert composed != apart
    first = await graph.documents.put(apart, "# Pit\n\nSixty.")
    again = await graph.documents.put(composed, "# Pit\n\nEighty.")
    assert (first.document.name, again.document.name) == (composed, composed)
    assert (again.document.id, again.document.revision) == (first.document.id, 2)
    for name in (composed, apart):
        assert await graph.documents.named("files", name) == again.document
    with monkeypatch.context() as patch:
        patch.setattr("ezra.documents.handle.one_form", lambda name: name)
        former = await graph.documents.put(apart, "# Pit\n\nSixty.", shelf="before")
    assert former.document.name == apart
    assert await graph.documents.named("before", composed) == former.document
    later = await graph.documents.put(composed, "# Pit\n\nEighty.", shelf="before")
    assert (later.document.id, later.document.name) == (former.document.id, apart)
    for redacted in (again.document.id, former.document.id):
        await graph.redact([redacted], reason="asked to")
        shelf = "files" if redacted == again.document.id else "before"
        for name in (composed, apart):
            with pytest.raises(WasRedacted):
                await graph.documents.put(name, "# Pit\n\nSixty.", shelf=shelf)
        name = apart if shelf == "files" else composed
        back = await graph.documents.put(name, "# Pit.", shelf=shelf, even_if_redacted=True)
        assert back.document.name == (composed if shelf == "files" else apart)
    (tmp_path / "book").mkdir()
    (tmp_path / apart).write_text("# Pit\n\nEighty.\n\n# Lane\n\nLong.")
    operator = (await doors.behind.session_graph("accents")).documents
    for shelf, name in (("files", composed), ("before", apart)):
        for more in ({}, {"prune": True}, {"prune": True, "patterns": Patterns(exclude=("*.md",))}):
            ingestion = Ingestion(operator, Plan((tmp_path / "book",), shelf, force=True, **more))
            done = await ingestion.run(await ingestion.found(), lambda _: None)
            assert done.removed == ()
        kept = await graph.documents.list(shelf)
        assert [(one.name, one.revision) for one in kept] == [(name, 4)]


async def test_a_document_is_put_revised_and_read(doors: House) -> None:
    """The same again is nothing new; of a change the rest stays; former revisions are readable."""
    documents = (await _graph(doors, "guide")).documents
    first = await documents.put("guide/tyres.md", GUIDE, properties={"for": ["all"]})
    assert (first.was_new, first.added, first.kept, first.retired) == (True, 3, 0, 0)
    one = first.document
    assert (one.title, one.name, one.shelf) == ("Tyres", "guide/tyres.md", "files")
    assert (one.media_type, one.revision, one.passages) == ("text/markdown", 1, 3)
    assert one.properties == {"for": ["all"]}
    again = await documents.put("guide/tyres.md", GUIDE.encode(), properties={"for": ["all"]})
    assert (again.was_new, again.document) == (False, one)
    doors.clock.move(hours=1)
    changed = await documents.put("guide/tyres.md", GUIDE.replace("18", "20"), machine="laptop")
    assert (changed.added, changed.kept, changed.retired) == (1, 2, 1)
    assert changed.document.machine == "laptop"
    assert await documents.get(one.id) == changed.document
    assert await documents.named("files", "guide/tyres.md") == changed.document
    assert [r.revision for r in await documents.revisions(one.id)] == [2, 1]
    assert await documents.revisions(one.id, before=2) == (one,)
    passages = await documents.passages(one.id)
    assert [(p.number, p.headings[-1], p.text) for p in passages] == [
        (0, "Tyres", "Intro."),
        (1, "Mediums", "Mediums last 20 laps."),
        (2, "Softs", "Softs last 9 laps."),
    ]
    assert await documents.passages(one.id, behind=0, limit=1) == passages[1:2]
    assert await documents.count() == (1, 3)


async def test_documents_are_listed_page_by_page_and_as_they_were(doors: House) -> None:
    """In the order of shelf and name; removed ones when asked for, and at the time they were."""
    documents = (await _graph(doors, "shelves")).documents
    for shelf, name in (("files", "b.md"), ("files", "a.md"), ("notes", "a.md")):
        await documents.put(name, "text", shelf=shelf)
    whole = await documents.list()
    assert [(one.shelf, one.name) for one in whole] == [
        ("files", "a.md"),
        ("files", "b.md"),
        ("notes", "a.md"),
    ]
    assert await documents.list(after=whole[0].id, limit=1) == whole[1:2]
    assert await documents.list("notes") == whole[2:]
    then = doors.clock()
    doors.clock.move(hours=1)
    assert await documents.remove([whole[0].id, whole[0].id], reason="old") == (whole[0].id,)
    assert await documents.remove([whole[0].id], reason="old") == ()
    assert await documents.list("files") == whole[1:2]
    assert len(await documents.list("files", removed=True)) == 2
    assert await documents.list("files", as_of=then) == whole[:2]
    assert (await documents.get(whole[0].id)).removed_at is not None
    assert await documents.count() == (2, 2)
    back = await documents.put("a.md", "text")
    assert (back.was_new, back.document.revision, back.document.removed_at) == (True, 2, None)
    assert await documents.get("nothing") is None
    assert await documents.named("files", "nothing") is None
    with pytest.raises(UsageError, match=r"name: .*text without lone surrogates"):
        await documents.named("files", "\ud800")  # half a character
    with pytest.raises(UsageError, match=r"name: 'a\\x00b\.md' is not accepted; .*printable"):
        await documents.put("a\0b.md", "The pit lane is blue.")


async def test_an_expected_revision_guards_against_others(doors: House) -> None:
    """0 is for what must be new; what is there otherwise is told, and stays."""
    documents = (await _graph(doors, "guarded")).documents
    await documents.put("a.md", "one", expected_revision=0)
    with pytest.raises(Conflict) as refused:
        await documents.put("a.md", "two", expected_revision=0)
    assert (refused.value.expected, refused.value.found) == (0, 1)
    await documents.put("a.md", "two", expected_revision=1)
    with pytest.raises(Conflict):
        await documents.put("a.md", "three", expected_revision=1)
    (one,) = await documents.list()
    assert (one.revision, (await documents.passages(one.id))[0].text) == (2, "two")


async def test_files_are_read_on_the_side_that_has_them(doors: House) -> None:
    """A PDF goes as text; recall cites heading and page."""
    graph = await _graph(doors, "paper")
    draft = await drafted("handbook.pdf", pdf_of(2, 2))
    done = await graph.documents.store(draft, expected_revision=0)
    assert done.document.title == "The race handbook"
    assert (await graph.documents.put("handbook.pdf", pdf_of(2, 2))).was_new is False
    found = await graph.recall(f"What is the pit code of {post_of(3)}?")
    citation = found.items[0].citation
    assert (citation.name, citation.headings, citation.page) == (
        *("handbook.pdf", ("Chapter 2",), 3),
    )
    with pytest.raises(UsageError, match=r"scanned|broken"):
        await graph.documents.put("x.pdf", b"%PDF-1.7 nothing")


async def test_an_agent_has_the_documents_of_its_topics(doors: House) -> None:
    """What it puts has its topics, may be private, and may not name topics that are not its."""
    one = await doors.agent(topics={"tyres"})
    other = await doors.agent(one.graph_id, "other", topics={"engine"})
    third = await doors.agent(one.graph_id, "third", topics={"tyres"})
    graph = await doors.runtime.session_graph(one.graph_id)
    stored = (await one.documents.put("note.md", GUIDE, keep_text=True)).document
    assert (stored.topics, stored.agent_id, stored.text) == (("tyres",), "one", GUIDE)
    private = (await one.documents.put("own.md", "My own thoughts.", private=True)).document
    assert private.private
    assert [d.name for d in await one.documents.list()] == ["note.md", "own.md"]
    assert [d.name for d in await third.documents.list()] == ["note.md"]
    assert await other.documents.list() == ()
    assert await other.documents.get(stored.id) is None
    assert await other.documents.passages(stored.id) == ()
    assert [d.name for d in await graph.documents.list()] == ["note.md"]
    with pytest.raises(PolicyDenied):
        await one.documents.put("x.md", "---\ntopics: [engine]\n---\nText.")
    with pytest.raises(Conflict):
        await other.documents.put("note.md", "Mine now.")
    assert await other.documents.remove([stored.id], reason="no") == ()
    assert not (await other.recall("How long do mediums last?", kinds=["document"])).items
    found = (await third.recall("How long do mediums last?", kinds=["document"])).items
    assert found[0].citation.name == "note.md"


async def test_topics_that_cannot_be_read_let_nobody_see_a_document(
    doors: House, tmp_path: Path
) -> None:
    """Neither by ``put`` nor out of a folder, whose other files go on; given topics win."""
    graph = await _graph(doors, "payroll")
    stranger = await doors.agent(graph.id, "stranger", topics={"tyres"})
    broken = "---\ntitle: Payroll: 2026\ntopics: [finance]\n---\n# Payroll\n\nSalaries are 400.\n"
    with pytest.raises(UsageError, match=r"in pay\.md.* accepted: front matter that can be read"):
        await graph.documents.put("pay.md", broken)
    folder = tmp_path / "hr"
    folder.mkdir()
    (folder / "pay.md").write_text(broken)
    (folder / "rules.md").write_text("---\nTopics: [finance]\n---\nSalaries are secret.\n")
    for plan in (Plan((folder,)), Plan((folder,), topics_from_folder=True)):
        ingestion = Ingestion(graph.documents, plan)
        done = await ingestion.run(await ingestion.found(), lambda _: None)
        assert [(one.name, one.state) for one in done.files] == [
            ("hr/pay.md", "failed"),
            ("hr/rules.md", "new" if not plan.topics_from_folder else "unchanged"),
        ]
        assert "malformed YAML, line 2" in (done.files[0].reason or "")
    assert not (await stranger.recall("salaries", kinds=("document",))).items
    given = await graph.documents.put("pay.md", broken, topics=["finance"])
    assert given.document.topics == ("finance",)
    assert not (await stranger.recall("salaries", kinds=("document",))).items


async def test_the_catalog_is_read_by_every_graph(doors: House) -> None:
    """By the agents that hold its topics."""
    catalog = await doors.runtime.catalog()
    await catalog.documents.put(
        "rules/pit.md", "# Pit lane\n\nSixty km/h in Monaco.", topics=["rules"]
    )
    agent = await doors.agent(topics={"rules"})
    stranger = await doors.agent(agent.graph_id, "stranger", topics={"tyres"})
    found = (await agent.recall("pit lane Monaco")).items
    assert (found[0].citation.name, found[0].citation.headings) == ("rules/pit.md", ("Pit lane",))
    assert not (await stranger.recall("pit lane Monaco")).items
    (one,) = await catalog.documents.list()
    assert await agent.documents.list() == ()
    assert await catalog.documents.remove([one.id], reason="outdated") == (one.id,)
    assert not (await agent.recall("pit lane Monaco")).items


@pytest.mark.parametrize(
    ("call", "arguments", "about"),
    [
        ("put", {"name": "a.png", "content": b"\x89PNG\x00"}, "name"),
        ("put", {"name": "", "content": "x"}, "name"),
        ("put", {"name": "a.md", "content": "x", "topics": ["*"]}, "topics"),
        ("put", {"name": "a.md", "content": "x", "machine": "x" * 300}, "machine"),
        ("remove", {"document_ids": ["x"], "reason": " "}, "reason"),
        ("remove", {"document_ids": ["x"] * 1_001, "reason": "x"}, "document_ids"),
        ("list", {"limit": 0}, "limit"),
        ("list", {"limit": 1_001}, "limit"),
        ("list", {"after": "nobody"}, "after"),
        ("passages", {"document_id": "x", "limit": 0}, "limit"),
        ("revisions", {"document_id": "x", "limit": 1_001}, "limit"),
    ],
    ids=range(11),
)
async def test_bad_input_is_refused_by_name(
    doors: House, call: str, arguments: dict[str, Any], about: str
) -> None:
    """And nothing is stored."""
    names = {one.id for one in await doors.runtime.session_graphs()}
    graph = (
        await doors.runtime.session_graph("bad") if "bad" in names else await _graph(doors, "bad")
    )
    with pytest.raises(UsageError) as refused:
        await getattr(graph.documents, call)(**arguments)
    assert refused.value.field == about
    assert await graph.documents.list(removed=True) == ()


async def test_a_list_that_is_too_long_is_refused_with_how_many_it_has(doors: House) -> None:
    """A line of the error has no room for the list, and what kind of list it is helps nobody."""
    graph = await _graph(doors, "many")
    with pytest.raises(UsageError, match=r"^document_ids: 1001 is not accepted; .* at most 1,?000"):
        await graph.documents.remove(["x"] * 1_001, reason="x")


async def test_writes_are_counted_and_refused(doors: House) -> None:
    """One for each revision, none for what is there already; an archived graph takes no more."""
    graph = await _graph(doors, "budget", budget=Budget(writes=2))
    await graph.documents.put("a.md", "one")
    await graph.documents.put("a.md", "one")
    await graph.documents.put("a.md", "two")
    assert (await graph.usage()).writes == 2
    with pytest.raises(BudgetExceeded):
        await graph.documents.put("a.md", "three")
    closed = await _graph(doors, "closed")
    await closed.documents.put("a.md", "one")
    await closed.archive()
    with pytest.raises(Conflict):
        await closed.documents.put("a.md", "two")
    assert len(await closed.documents.list()) == 1
    with pytest.raises(NotFound):
        await (await doors.runtime.session_graph("nowhere")).documents.list()


async def test_what_a_server_does_not_take_at_once_is_said_with_its_setting(tmp_path: Path) -> None:
    """A larger document is refused before it is read."""
    async with (
        running(tmp_path, MovingClock(), serve_body_bytes_max=20_000) as behind,
        serving(behind) as url,
        Ezra.connect(url) as remote,
    ):
        graph = await remote.create_session_graph("small")
        with pytest.raises(UsageError, match="EZRA_SERVE_BODY_BYTES_MAX"):
            await graph.documents.put("long.txt", sentences("long", 600))
        assert await graph.documents.list() == ()


async def test_programs_send_text_and_the_server_cuts_it(tmp_path: Path) -> None:
    """By REST, without a client of ours; drafts that no reader makes are refused."""
    async with running(tmp_path, MovingClock()) as behind, inside(behind) as http:
        await behind.create_session_graph("rest")
        at = "/v1/graphs/rest/documents"
        made = await http.post(at, json={"name": "a.md", "content": GUIDE})
        assert made.status_code == 200, made.text
        assert made.json()[1:] == [True, 3, 0, 0]
        assert (await http.get(f"{at}/count")).json() == [1, 3]
        assert len((await http.get(at)).json()) == 1
        draft = {"name": "b", "media_type": "text/plain", "digest": "0" * 64}
        for bad in (
            {"digest": "x"},
            {"passages": [["", [], None]]},
            {"passages": [["x" * 8_001, [], None]]},
            {"passages": [["x", ["h"] * 17, None]]},
            {"passages": [["x", [], 0]]},
            {"name": "a\nb"},
        ):
            answer = await http.post(f"{at}/drafts", json={"draft": {**draft, **bad}})
            assert (answer.status_code, answer.json()["type"]) == (422, "urn:ezra:error:UsageError")
        assert len((await http.get(at)).json()) == 1


async def test_a_token_reaches_what_its_role_covers(tmp_path: Path) -> None:
    """Readers read, agents use their own documents, and only operators put what is everybody's."""
    clock = MovingClock()
    tokens = TokenFile(tmp_path / "tokens.json", clock)
    async with running(tmp_path / "home", clock) as behind, inside(behind, tokens) as http:
        graph = await behind.create_session_graph("race")
        await graph.spawn_agent("one", topics={"tyres"})
        body = {"name": "a.md", "content": "text"}
        operator = bearer(tokens)
        reader = bearer(tokens, role="reader", graph_id="race")
        agent = bearer(tokens, role="agent", graph_id="race", agent_id="one")
        whole, own = "/v1/graphs/race/documents", "/v1/graphs/race/agents/one/documents"
        expected = (
            (reader, whole, 403, 200),
            (agent, whole, 403, 403),
            (agent, own, 200, 200),
            (agent, "/v1/graphs/race/agents/two/documents", 403, 403),
            (agent, "/v1/catalog/documents", 403, 403),
            (reader, "/v1/catalog/documents", 403, 403),
            (operator, whole, 200, 200),
            (operator, "/v1/catalog/documents", 200, 200),
        )
        for headers, at, writes, reads in expected:
            assert (await _status(http.post(at, json=body, headers=headers)), at) == (writes, at)
            assert (await _status(http.get(at, headers=headers)), at) == (reads, at)


async def test_a_reader_of_an_empty_catalog_is_told_that_nothing_is_in_it(tmp_path: Path) -> None:
    """Who only looks does not make the catalog, and needs none to be told what it holds."""
    clock = MovingClock()
    tokens = TokenFile(tmp_path / "tokens.json", clock)
    async with running(tmp_path / "home", clock) as behind, inside(behind, tokens) as http:
        reader, at = bearer(tokens, role="reader"), "/v1/catalog/documents"
        listed = await http.get(at, headers=reader)
        assert (listed.status_code, listed.json()) == (200, [])
        counted = await http.get(f"{at}/count", headers=reader)
        assert counted.status_code == 200
        assert await _status(http.get(f"{at}/nowhere/passages", headers=reader)) in (200, 404)
        assert await behind.audit() == (), "nothing was made"


async def _status(asked: Any) -> int:
    answer: httpx2.Response = await asked
    return answer.status_code

"""Rows BR-05 to BR-08: notes as a graph, its changes, handoffs, and notes between machines."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from support.note_machines import Machine
from support.note_oracle import Oracle, difference
from support.note_repository import TYPES, Note, Repository, repository
from support.runtime import MovingClock
from support.servers import server_variables
from support.service import DOORS, serving
from support.two_doors import House, house

from ezra import Ezra, Settings
from ezra.bridge.config import Root
from ezra.bridge.notes.blockers import check_blockers
from ezra.bridge.notes.handoff import document_of, readable
from ezra.bridge.notes.indexing import NoteIndexer, index_all, index_files, reconcile
from ezra.bridge.notes.questions import difference as difference_between
from ezra.bridge.notes.questions import handoff, health
from ezra.bridge.notes.reading import all_documents, graph_of
from ezra.bridge.notes.related import related
from ezra.bridge.notes.rules import rules_of
from ezra.bridge.notes.search import search
from ezra.models import ScriptedModel

pytestmark = pytest.mark.asyncio(loop_scope="module")

PLACES = [
    pytest.param(
        (tiers, door), id=f"{tiers}-{door}", marks=[pytest.mark.slow] if tiers == "servers" else []
    )
    for tiers in ("embedded", "servers")
    for door in DOORS
]
COUNT = 24
"""Notes of the repositories here; hundreds of them are in ``tests/integration``."""


@pytest.fixture(autouse=True)
def tiers() -> None:
    """Where the tiers are is chosen for all tests at once, by ``door``."""


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=PLACES)
async def door(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[House]:
    """A memory behind each door, which all tests share; each has a graph of its own in it."""
    tiers, name = request.param
    with pytest.MonkeyPatch.context() as patch:
        for variable, value in (server_variables() if tiers == "servers" else {}).items():
            patch.setenv(variable, value)
        async with house(tmp_path_factory.mktemp("notes") / "home", name) as opened:
            yield opened


def indexer_of(made: Repository, machine: str = "laptop") -> NoteIndexer:
    """Return who indexes a repository."""
    rules = rules_of(TYPES)
    return NoteIndexer(made.agent, machine, (Root("notes", made.root),), rules)


def outcomes(done: Any) -> Counter[str]:
    """Return how many of each outcome there are."""
    return Counter(one.outcome for one in done)


async def scout(door: House) -> Any:
    """Return a coding agent of a new graph."""
    return await door.agent(name="scout", topics={"*"})


async def test_br_05_files_become_entities_and_answer_as_the_oracle(
    door: House, tmp_path: Path
) -> None:
    """Indexing again sends nothing, five edits send five; answers are the oracle's."""
    made = repository(tmp_path / "repository", "scout", COUNT)
    agent, indexer = await scout(door), indexer_of(made)
    documents = agent.documents
    assert outcomes(await index_all(documents, indexer)) == {"new": len(made.notes)}
    stored = await all_documents(documents, None)
    assert outcomes(await index_all(documents, indexer)) == {"unchanged": len(made.notes)}
    assert await all_documents(documents, None) == stored

    door.clock.move(days=4)
    edited = set(made.change_status(5))
    done = await index_all(documents, indexer)
    changed = {one.path for one in done if one.outcome == "changed"}
    assert changed == {str(made.root / path) for path in edited}
    assert outcomes(done)["unchanged"] == len(made.notes) - 5

    oracle, graph = Oracle(made.truth, "scout"), await graph_of(documents, indexer.rules)
    assert {one.id for one in graph.entities} == set(oracle.rows)
    found = {(edge.source, edge.relation, edge.target) for edge in graph.edges() if edge.target}
    assert found == oracle.edges()
    assert [(one.id, one.kept.path, one.hidden.path) for one in graph.collisions] == oracle.doubles
    for depth in (1, 3, 10):
        report = related(graph, "scout-initiative-season-1", depth=depth, limit=1000)
        reached = {one.id: one.distance for one in report.found if one.is_indexed}
        assert reached == oracle.distances("scout-initiative-season-1", depth)
    blockers = check_blockers(graph, door.clock(), stale_days=3)
    assert {one.id for one in blockers.blocked} == oracle.blocked()
    fresh = {oracle.paths.get(path) for path in edited}
    assert {one.id for one in blockers.blocked if one.is_stale} == oracle.blocked() - fresh


async def test_br_05_a_checkout_that_lags_behind_brings_nothing_back(
    door: House, tmp_path: Path
) -> None:
    """Unless somebody names the file; what was changed back where it was changed is a change."""
    folders = {name: tmp_path / name for name in ("laptop", "desktop")}
    rules = rules_of()
    laptop, desktop = (
        NoteIndexer("scout", name, (Root("notes", folder),), rules)
        for name, folder in folders.items()
    )
    documents = (await scout(door)).documents

    def write(machine: str, status: str) -> Path:
        folders[machine].mkdir(exist_ok=True)
        path = folders[machine] / "login.md"
        path.write_text(f"---\ntype: task\nstatus: {status}\n---\n# Login\n")
        return path

    async def said() -> str:
        graph = await graph_of(documents, rules)
        return graph.entities[0].status

    write("laptop", "open")
    lagging = write("desktop", "open")
    for one in (laptop, desktop):
        await index_all(documents, one)
    write("laptop", "done")
    await index_all(documents, laptop)

    (skipped,) = await index_all(documents, desktop)
    assert (skipped.outcome, await said()) == ("skipped", "done")
    assert "laptop has changed it since" in skipped.reason
    (named,) = await index_files(documents, desktop, [lagging])
    assert (named.outcome, await said()) == ("changed", "open")

    await index_all(documents, laptop)  # its file says "done", as before the desktop's change
    assert await said() == "open"
    write("laptop", "failed")
    await index_all(documents, laptop)
    write("laptop", "done")
    (back,) = await index_all(documents, laptop)
    assert (back.outcome, await said()) == ("changed", "done")


async def test_br_05_reconcile_removes_what_is_gone_and_the_edges_to_it(
    door: House, tmp_path: Path
) -> None:
    """More than half is not removed unless it is forced; another machine's notes are not ours."""
    made = repository(tmp_path / "repository", "scout", COUNT)
    agent, indexer = await scout(door), indexer_of(made)
    await index_all(agent.documents, indexer)
    before = Oracle(made.tell("before.txt"), "scout")
    ring = ["tasks/ring-one.md", "initiatives/season-0.md"]
    made.remove(*ring)
    gone = {before.paths[path] for path in ring}

    other = await reconcile(agent.documents, replace(indexer, machine="desktop"))
    assert (other.gone, set(other.elsewhere)) == ((), set(ring))
    report = await reconcile(agent.documents, indexer)
    assert set(report.gone) == set(ring)
    pruned = {(edge.source, edge.relation, edge.target) for edge in report.pruned}
    assert pruned == {one for one in before.edges() if one[2] in gone and one[0] not in gone}
    assert len(pruned) > 1
    graph = await graph_of(agent.documents, indexer.rules)
    assert {one.id for one in graph.entities} == set(before.rows) - gone
    assert not gone & {edge.target for edge in graph.edges()}
    shown = related(graph, "ring-three", limit=100).found
    assert [one.id for one in shown if not one.is_indexed] == ["scout-task-ring-one"]

    made.remove(*list(made.notes)[: len(made.notes) * 2 // 3])
    refused = await reconcile(agent.documents, indexer)
    assert refused.is_refused
    assert len((await graph_of(agent.documents, indexer.rules)).entities) == len(graph.entities)
    forced = await reconcile(agent.documents, indexer, force=True)
    assert (len(forced.gone), forced.is_refused) == (len(refused.gone), False)
    left = await all_documents(agent.documents, None)
    assert {one.name for one in left} == set(made.notes)


async def test_br_05_notes_are_found_by_what_they_say(
    door: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By type and by age of the note; what is wrong with a file is told, and it is indexed."""
    made = repository(tmp_path / "repository", "scout", 20)
    agent, indexer = await scout(door), indexer_of(made)
    text = "The undercut works when the out-lap is clean."
    made.write(Note("decisions/undercut.md", "decision", "undercut", "Undercut", text=text))
    await index_all(agent.documents, indexer)
    door.clock.move(days=200)
    made.write(Note("tasks/undercut-check.md", "task", "undercut-check", "Check", text=text))
    torn = made.root / "tasks" / "torn.md"
    torn.write_bytes(b"---\ntype: [task\n---\nundercut \xff")
    ghost = made.root / "tasks" / "unread.md"
    ghost.write_text("---\ntype: [task\n---\nThe undercut was overrated.\n")
    done = {Path(one.path).name: one for one in await index_all(agent.documents, indexer)}
    assert done["torn.md"].outcome == "failed"
    assert "UTF-8" in done["torn.md"].reason
    assert (done["unread.md"].outcome, done["unread.md"].notices[0].line) == ("new", 3)
    graph = await graph_of(agent.documents, indexer.rules)

    async def ids(**more: Any) -> list[str]:
        asked = search(agent, agent.documents, graph.entities, "undercut", door.clock(), **more)
        return [one.id for one in await asked]

    assert set(await ids(days=None)) == {
        "scout-decision-undercut", "scout-task-undercut-check", "scout-task-unread",
    }  # fmt: skip
    assert set(await ids()) == {"scout-task-undercut-check", "scout-task-unread"}
    assert await ids(days=None, types=["decision"]) == ["scout-decision-undercut"]
    assert await ids(mode="keyword", types=["decision"]) == []
    with monkeypatch.context() as few:
        # What is too old crowds out the rest: then the engine is told which notes are not.
        few.setattr("ezra.bridge.notes.search.HITS", 1)
        (best,) = (await agent.recall("undercut", kinds=["document"], limit=1)).items
        assert best.citation.name == "decisions/undercut.md"
        assert await ids(limit=1) in (["scout-task-undercut-check"], ["scout-task-unread"])
    state = await health(agent.documents, agent.board, indexer.rules, door.clock(), "alert")
    assert (state.entities, state.snapshots) == (len(graph.entities), 2)
    assert ("tasks/unread.md", 3) in {(one.path, one.line) for one in state.notices}


async def test_br_06_a_diff_between_two_dates_is_what_the_oracle_says(
    door: House, tmp_path: Path
) -> None:
    """Every revision is a snapshot: states of the past are read as they were."""
    made = repository(tmp_path / "repository", "scout", COUNT)
    agent, indexer = await scout(door), indexer_of(made)
    documents, states, moments = agent.documents, [], []
    for day in range(3):
        if day:
            made.change_status(12)
            path = f"tasks/new-{day}.md"
            made.write(Note(path, "task", f"new-{day}", f"New {day}", ("done", "blocked")[day - 1]))
            gone = sorted(path for path in made.notes if path.startswith("decisions/"))[:1]
            made.remove(*gone)
            await reconcile(documents, indexer)
        await index_all(documents, indexer)
        states.append(Oracle(made.tell(f"{day}.txt"), "scout"))
        moments.append(door.clock())
        door.clock.move(days=1)
    for first, last in ((0, 1), (1, 2), (0, 2)):
        now = door.clock()
        found = await difference_between(
            documents, indexer.rules, moments[first], moments[last], now
        )
        for section, wanted in difference(states[first], states[last]).items():
            assert {one.id for one in getattr(found, section)} == wanted, (first, last, section)
        assert len(found.changed_status) > 5
    busiest = found.most_active[0]
    assert busiest.revisions == max(one.revisions for one in found.most_active)


@dataclass(frozen=True)
class Day:
    """What a handoff is about: an agent with notes, tasks, messages and actions."""

    agent: Any
    made: Repository
    indexer: NoteIndexer


async def a_day(graph: Any, clock: MovingClock, made: Repository) -> Day:
    """Let an agent work for a day."""
    indexer = indexer_of(made)
    agent = await graph.spawn_agent("scout", topics={"*"})
    other = await graph.spawn_agent("pilot", topics={"*"})
    await index_all(agent.documents, indexer)
    clock.move(hours=20)
    await agent.board.start_task("Yesterday's task")
    ended = await agent.board.start_task("Done already")
    await agent.board.finish_task(ended.id, "fine")
    clock.move(hours=20)
    made.change_status(4)
    await index_all(agent.documents, indexer)
    await agent.board.log("commit", "Tokens live for 15 minutes now.", files=["auth.py"])
    read = await other.board.send("scout", "Seen already.")
    await agent.board.ack([read.id])
    await other.board.send("scout", "Which tyres?", subject="Tyres", priority="high")
    return Day(agent, made, indexer)


async def test_br_07_a_handoff_has_what_the_next_session_needs(door: House, tmp_path: Path) -> None:
    """Changed notes, actions, open tasks, blockers and unread messages, for programs and people."""
    made = repository(tmp_path / "repository", "scout", 30)
    day = await a_day(await door.runtime.create_session_graph("handoff"), door.clock, made)
    agent, rules = day.agent, day.indexer.rules

    async def of(**more: Any) -> Any:
        said = {"chars": 60_000, **more}
        return await handoff(agent, agent.documents, agent.board, rules, door.clock(), **said)

    found = await of(hours=8)
    oracle = Oracle(made.truth, "scout")
    documents = await all_documents(agent.documents, None)
    late = {one.name for one in documents if one.changed_at >= door.clock() - timedelta(hours=8)}
    assert len(late) == 4
    assert {one.id for one in found.updated} == {oracle.paths[name] for name in late}
    assert {one.id for one in found.blockers} == oracle.blocked()
    assert [one.text for one in found.actions] == ["Tokens live for 15 minutes now."]
    assert [one.title for one in found.tasks] == ["Yesterday's task"]
    assert [one.title for one in found.messages] == ["Tyres"]
    assert json.loads(json.dumps(document_of(found)))["agent"] == "scout"
    text = readable(found)
    for said in ("Which tyres?", "Yesterday's task", "Tokens live", found.updated[0].id):
        assert said in text
    assert (await of(hours=30)).updated == found.updated
    assert len((await of(hours=41, chars=3_000)).updated) < len(oracle.rows)
    asked = await of(hours=8, synthesize=True)
    assert (asked.synthesis, asked.updated) == ("", found.updated)
    assert "no language model" in asked.problem


@pytest.mark.parametrize("name", [DOORS[0], pytest.param(DOORS[1], marks=pytest.mark.slow)])
async def test_br_07_a_model_says_it_in_short_and_nothing_of_it_is_remembered(
    tmp_path: Path, name: str
) -> None:
    """The memory's own model is asked, on a server too."""
    clock = MovingClock()
    model = ScriptedModel(["Go on with the tyres."])
    settings = Settings(home=tmp_path / "home", embedder="off", background=False)
    async with Ezra.open(settings, model=model, clock=clock) as behind:
        made = repository(tmp_path / "repository", "scout", 10)

        async def ask(runtime: Any) -> None:
            day = await a_day(await runtime.create_session_graph("bridge"), clock, made)
            agent = day.agent
            found = await handoff(
                agent, agent.documents, agent.board, day.indexer.rules, clock(), chars=9_000,
                synthesize=True,
            )  # fmt: skip
            assert (found.synthesis, found.problem) == ("Go on with the tyres.", "")
            assert "Go on with the tyres." in readable(found)

        if name == "in process":
            await ask(behind)
        else:
            async with serving(behind) as url, Ezra.connect(url) as remote:
                await ask(remote)
        assert await (await behind.session_graph("bridge")).turns("scout") == ()


async def two(door: House, tmp_path: Path) -> tuple[Machine, Machine]:
    """Return two machines of one agent."""
    agent = await scout(door)
    return Machine(tmp_path, agent, "laptop"), Machine(tmp_path, agent, "Desk Top")


async def test_br_08_notes_travel_and_only_what_changed_is_sent(
    door: House, tmp_path: Path
) -> None:
    """New, changed and removed notes come to the other machine; dates do not begin again."""
    laptop, desktop = await two(door, tmp_path)
    laptop.write("a.md", "---\nname: A\n---\nFirst.\n")
    laptop.write("deep/ö é.md", "Deep.\r\nWith its line ends.\r\n")
    laptop.write("MEMORY.md", "The index of this machine.")
    laptop.write("b.md", "Stays.")
    assert (await laptop.sync()).counts == {"pushed": 3}
    assert (await laptop.sync()).counts == {"unchanged": 3}
    report = await desktop.sync()
    assert (report.counts, report.needs_people) == ({"pulled": 3}, False)
    assert desktop.notes()["a.md"] == laptop.notes()["a.md"]
    assert (await desktop.sync()).counts == {"unchanged": 3}

    before = {one.name: one for one in await all_documents(laptop.agent.documents, None)}
    door.clock.move(days=30)
    desktop.write("a.md", "---\nname: A\n---\nSecond.\n")
    (desktop.folder / "deep" / "ö é.md").unlink()
    assert (await desktop.sync()).counts == {"pushed": 1, "removed": 1, "unchanged": 1}
    behind = await laptop.sync(pull=False)
    assert (behind.counts, behind.needs_people) == ({"behind": 2, "unchanged": 1}, False)
    assert laptop.notes()["a.md"].endswith("First.\n")
    assert (await laptop.sync()).counts == {"deleted": 1, "pulled": 1, "unchanged": 1}
    assert laptop.notes() == desktop.notes() | {"MEMORY.md": "The index of this machine."}
    after = {one.name: one for one in await all_documents(laptop.agent.documents, None)}
    assert after["a.md"].recorded_at == before["a.md"].recorded_at
    assert (after["a.md"].revision, after["b.md"]) == (2, before["b.md"])
    hits = await laptop.agent.recall("Second", kinds=["document"])
    assert [hit.citation.name for hit in hits.items] == ["a.md"]


async def test_br_08_conflicts_keep_both_versions(door: House, tmp_path: Path) -> None:
    """Edits on both sides, and an edit against a removal, either way round; all come to rest."""
    laptop, desktop = await two(door, tmp_path)
    for name in ("both.md", "gone-there.md", "gone-here.md", "quiet.md"):
        laptop.write(name, f"The base of {name}.")
    await laptop.sync()
    await desktop.sync()
    desktop.write("both.md", "As the desktop has it.")
    desktop.write("gone-here.md", "The desktop went on.")
    (desktop.folder / "gone-there.md").unlink()
    await desktop.sync()
    laptop.write("both.md", "As the laptop has it.")
    laptop.write("gone-there.md", "The laptop went on.")
    (laptop.folder / "gone-here.md").unlink()

    report = await laptop.sync()
    assert (report.counts, report.needs_people) == ({"conflict": 3, "unchanged": 1}, True)
    kept = {one.name: one.kept_as for one in report.notes if one.outcome == "conflict"}
    assert kept["both.md"].startswith("both.conflict-laptop-")
    assert kept["gone-here.md"] == ""
    assert laptop.notes() == {
        "both.md": "As the desktop has it.",
        kept["both.md"]: "As the laptop has it.",
        kept["gone-there.md"]: "The laptop went on.",
        "gone-here.md": "The desktop went on.",
        "quiet.md": "The base of quiet.md.",
    }
    assert (await laptop.sync()).counts == {"unchanged": 5}
    assert (await desktop.sync()).counts == {"pulled": 2, "unchanged": 3}
    assert desktop.notes() == laptop.notes()


async def test_br_08_equal_names_of_two_agents_never_meet(door: House, tmp_path: Path) -> None:
    """Each agent's notes are its own."""
    graph = await door.runtime.create_session_graph("two-agents")
    first = await graph.spawn_agent("scout", topics={"*"})
    second = await graph.spawn_agent("other", topics={"*"})
    one, other = Machine(tmp_path, first, "one"), Machine(tmp_path, second, "other")
    one.write("note.md", "The first agent's.")
    other.write("note.md", "The second agent's.")
    assert (await one.sync()).counts == (await other.sync()).counts == {"pushed": 1}
    assert (await one.sync()).counts == (await other.sync()).counts == {"unchanged": 1}
    assert one.notes() != other.notes()


async def test_br_08_a_lost_folder_takes_nothing_with_it(door: House, tmp_path: Path) -> None:
    """More than half of the notes are not removed unless that is forced."""
    laptop, desktop = await two(door, tmp_path)
    for number in range(4):
        laptop.write(f"{number}.md", f"Note {number}.")
    await laptop.sync()
    await desktop.sync()
    for number in range(3):
        (laptop.folder / f"{number}.md").unlink()
    held = await laptop.sync()
    assert (held.counts, held.needs_people) == ({"held": 3, "unchanged": 1}, True)
    assert (await desktop.sync()).counts == {"unchanged": 4}
    assert (await laptop.sync(force=True)).counts == {"removed": 3, "unchanged": 1}
    assert (await desktop.sync()).counts == {"held": 3, "unchanged": 1}
    assert (await desktop.sync(force=True)).counts == {"deleted": 3, "unchanged": 1}

"""A repository of more than 300 notes: indexed once, then only what changed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from support.note_oracle import Oracle, difference
from support.note_repository import TYPES, repository
from support.service import DOORS
from support.two_doors import house

from ezra.bridge.config import Root
from ezra.bridge.notes.blockers import check_blockers
from ezra.bridge.notes.handoff import Cards, handoff_of
from ezra.bridge.notes.indexing import NoteIndexer, index_all, index_files, reconcile
from ezra.bridge.notes.questions import difference as difference_between
from ezra.bridge.notes.reading import graph_of
from ezra.bridge.notes.related import related
from ezra.bridge.notes.rules import rules_of


class Counting:
    """Documents that count what is sent."""

    def __init__(self, documents: object) -> None:
        self._documents = documents
        self.sent: list[str] = []

    def __getattr__(self, name: str) -> object:
        if name == "put":
            return self._put
        return getattr(self._documents, name)

    async def _put(self, name: str, *arguments: object, **more: object) -> object:
        self.sent.append(name)
        return await self._documents.put(name, *arguments, **more)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "door", [DOORS[0], *(pytest.param(one, marks=pytest.mark.slow) for one in DOORS[1:])]
)
async def test_three_hundred_notes_are_indexed_once_and_answered_as_the_oracle(
    tmp_path: Path, door: str
) -> None:
    """Indexing again sends nothing, five edits send five, and every answer is the oracle's."""
    made = repository(tmp_path / "repository", "scout", 320)
    rules = rules_of(TYPES)
    indexer = NoteIndexer("scout", "laptop", (Root("notes", made.root),), rules)
    async with house(tmp_path / "home", door) as opened:
        agent = await opened.agent(name="scout", topics={"*"})
        documents = Counting(agent.documents)
        total: list[int] = []
        done = await index_all(documents, indexer, begin=total.append)  # type: ignore[arg-type]
        assert total == [len(made.notes)]
        assert len(made.notes) > 300
        assert Counter(one.outcome for one in done) == {"new": total[0]}
        assert {Path(one.path).name for one in done if one.notices} == {
            Path(path).name for path in Oracle(made.truth, "scout").wrong
        }
        documents.sent.clear()
        await index_all(documents, indexer)  # type: ignore[arg-type]
        assert documents.sent == []
        before, then = Oracle(made.tell("before.txt"), "scout"), opened.clock()

        opened.clock.move(hours=2)
        edited = made.change_status(5)
        await index_all(documents, indexer)  # type: ignore[arg-type]
        assert sorted(documents.sent) == sorted(edited)
        documents.sent.clear()
        paths = [made.root / path for path in edited]
        again = await index_files(documents, indexer, paths)  # type: ignore[arg-type]
        assert {one.outcome for one in again} == {"unchanged"}
        gone = sorted(one for one in made.notes if one.startswith("tasks/engine"))[:3]
        made.remove(*gone)
        report = await reconcile(documents, indexer)  # type: ignore[arg-type]
        assert (report.checked, sorted(report.gone)) == (total[0], gone)

        now, after = opened.clock(), Oracle(made.truth, "scout")
        graph = await graph_of(agent.documents, rules)
        assert {one.id for one in graph.entities} == set(after.rows)
        for start in ("scout-initiative-season-2", "scout-task-ring-one", "scout-person-ced6d25b"):
            for depth in (1, 2, 4, 10):
                found = related(graph, start, depth=depth, limit=1000).found
                reached = {one.id: one.distance for one in found if one.is_indexed}
                assert reached == after.distances(start, depth)
        assert {one.id for one in check_blockers(graph, now).blocked} == after.blocked()
        diff = await difference_between(agent.documents, rules, then, now, now)
        for section, wanted in difference(before, after).items():
            assert {one.id for one in getattr(diff, section)} == wanted, section
        handoff = handoff_of("scout", graph, Cards(), now, hours=1, chars=200_000)
        fresh = {after.paths[path] for path in edited if path in after.paths}
        assert {one.id for one in handoff.updated} == fresh
        assert len(handoff.blockers) == min(50, len(after.blocked()))

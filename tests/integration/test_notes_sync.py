"""Notes of several machines and of a large repository: no version is lost, none is read twice."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from random import Random

import pytest
from support.note_machines import CutOff, Machine
from support.note_oracle import Oracle, difference
from support.note_repository import TYPES, repository
from support.service import DOORS
from support.two_doors import house

from ezra.bridge.config import Root
from ezra.bridge.notes.blockers import check_blockers
from ezra.bridge.notes.handoff import Cards, handoff_of
from ezra.bridge.notes.indexing import NoteIndexer, index_all, index_files, reconcile
from ezra.bridge.notes.names import digest_of
from ezra.bridge.notes.questions import difference as difference_between
from ezra.bridge.notes.reading import graph_of
from ezra.bridge.notes.related import related
from ezra.bridge.notes.rules import rules_of
from tiers.errors import TierUnavailable

# Machines that edit the same notes, with syncs that are cut off: no version is lost.

NAMES = ("a.md", "b.md", "deep/c.md", "deep/ö.md")


class Walk:
    """A seeded life of several machines."""

    def __init__(self, machines: list[Machine], seed: int) -> None:
        self.machines, self.random = machines, Random(seed)
        self.versions = 0
        self.conflicts = self.cuts = 0

    async def step(self) -> None:
        """Let something happen on one of the machines."""
        machine = self.random.choice(self.machines)
        there = sorted(machine.notes())
        chance = self.random.random()
        if chance < 0.4:
            self.versions += 1
            name = self.random.choice((*NAMES, *there))
            machine.write(name, f"Version {self.versions}, by {machine.name}.")
        elif chance < 0.48 and there:
            machine.remove(self.random.choice(there))
        else:
            await self.sync(machine, is_cut=chance > 0.75)

    async def sync(self, machine: Machine, *, is_cut: bool = False) -> None:
        """Sync a machine, and look whether anything was lost."""
        base = {name: one.digest for name, one in machine.memory.state.read().items()}
        here, there = machine.notes(), await machine.live()
        new_here = {text for name, text in here.items() if digest_of(text) != base.get(name)}
        new_there = {
            one.text for name, one in there.items() if digest_of(one.text) != base.get(name)
        }
        documents = CutOff(machine.agent.documents, self.random) if is_cut else None
        try:
            report = await machine.sync(documents, force=True)
            self.conflicts += report.counts.get("conflict", 0)
        except TierUnavailable:
            self.cuts += 1
        live = {one.text for one in (await machine.live()).values()}
        kept = set(machine.notes().values())
        assert new_there <= live, "somebody else's change was overwritten"
        assert new_here <= (live | kept), "this machine's change was lost"

    async def rest(self) -> None:
        """Sync until all have heard of everything: they must say the same."""
        for _ in range(2):
            for machine in self.machines:
                await self.sync(machine)
        said = {name: one.text for name, one in (await self.machines[0].live()).items()}
        for machine in self.machines:
            assert machine.notes() == said
            assert set((await machine.sync()).counts) <= {"unchanged"}


@pytest.mark.parametrize(
    ("seed", "steps"), [(5, 70), *(pytest.param(n, 300, marks=pytest.mark.slow) for n in range(8))]
)
async def test_whatever_three_machines_do_no_version_is_lost(
    tmp_path: Path, seed: int, steps: int
) -> None:
    """Edits, removals, syncs, and syncs cut off at any write, with or without its answer."""
    async with house(tmp_path / "home", "in process") as door:
        agent = await door.agent(name="scout", topics={"*"})
        machines = [Machine(tmp_path, agent, name) for name in ("one", "two", "three")]
        walk = Walk(machines, seed)
        for _ in range(steps):
            await walk.step()
        await walk.rest()
        assert walk.conflicts > 3
        assert walk.cuts > 2


async def test_machines_that_sync_at_one_moment_lose_nothing(tmp_path: Path) -> None:
    """Who comes second finds another revision, and looks anew: a conflict, not an overwriting."""
    async with house(tmp_path / "home", "in process") as door:
        agent = await door.agent(name="scout", topics={"*"})
        machines = [Machine(tmp_path, agent, f"m{number}") for number in range(4)]
        for number in range(3):
            machines[0].write(f"{number}.md", "Base.")
        for machine in machines:
            await machine.sync()
        for machine in machines:
            for number in range(3):
                machine.write(f"{number}.md", f"Note {number} of {machine.name}.")
        await asyncio.gather(*(machine.sync() for machine in machines))
        for _ in range(2):
            for machine in machines:
                await machine.sync()
        texts = {f"Note {number} of m{one}." for number in range(3) for one in range(4)}
        for machine in machines:
            assert set(machine.notes().values()) == texts


async def test_a_note_edited_during_the_sync_is_left_alone(tmp_path: Path) -> None:
    """The file is looked at again before it is replaced; the next sync tells of the conflict."""

    class Editing(CutOff):
        """Edits the file while the server is being asked."""

        async def list(self, *arguments: object, **more: object) -> object:
            found = await self._documents.list(*arguments, **more)
            machine.write("a.md", "Edited meanwhile.")
            return found

    async with house(tmp_path / "home", "in process") as door:
        agent = await door.agent(name="scout", topics={"*"})
        machine, other = Machine(tmp_path, agent, "one"), Machine(tmp_path, agent, "two")
        machine.write("a.md", "Base.")
        await machine.sync()
        await other.sync()
        other.write("a.md", "Changed elsewhere.")
        await other.sync()
        report = await machine.sync(Editing(agent.documents, Random(1)))
        assert (report.counts, report.needs_people) == ({"failed": 1}, True)
        assert machine.notes() == {"a.md": "Edited meanwhile."}
        assert (await machine.sync()).counts == {"conflict": 1}
        assert set(machine.notes().values()) == {"Edited meanwhile.", "Changed elsewhere."}


async def test_a_file_whose_memory_was_redacted_stays_and_is_not_sent(tmp_path: Path) -> None:
    """On every machine, changed since or not, however often they sync; unless its name is free."""
    async with house(tmp_path / "home", "in process") as door:
        agent = await door.agent(name="scout", topics={"*"})
        machine, other = Machine(tmp_path, agent, "one"), Machine(tmp_path, agent, "two")
        names = ("a.md", "deep/\u00f6.md", "b.md")
        for name in names:
            machine.write(name, f"A secret of {name}.")
        await machine.sync()
        await other.sync()
        other.write("a.md", "No secret any more.")
        here, there = machine.notes(), other.notes()
        graph = await door.runtime.session_graph("graph-1")
        live = await machine.live()
        await graph.redact([live[name].id for name in names[:2]], reason="asked to")
        for _ in range(2):
            for one, files in ((machine, here), (other, there)):
                report = await one.sync()
                assert report.counts == {"redacted": 2, "unchanged": 1}
                reasons = {note.reason for note in report.notes if note.outcome == "redacted"}
                assert all("redacted: the file is kept" in reason for reason in reasons)
                assert not report.needs_people
                assert one.notes() == files
        assert set(await machine.live()) - {live[name].id for name in names} == {"b.md"}
        machine.remove("a.md")
        assert (await machine.sync()).counts == {"redacted": 1, "unchanged": 2}
        machine.write("a.md", "Another text.")
        assert (await machine.sync()).counts == {"redacted": 2, "unchanged": 1}
        again = await agent.documents.put(
            "a.md",
            "The name again.",
            shelf=machine.memory.shelf,
            keep_text=True,
            even_if_redacted=True,
        )
        assert (again.was_new, again.document.revision) == (True, 2)


async def test_a_file_whose_memory_was_rolled_back_stays(tmp_path: Path) -> None:
    """So it does where that is final; undone, both sides are alike as before."""
    async with house(tmp_path / "home", "in process") as door:
        agent = await door.agent(name="scout", topics={"*"})
        machine = Machine(tmp_path, agent, "one")
        machine.write("a.md", "Somebody's claim.")
        await machine.sync()
        graph = await door.runtime.session_graph("graph-1")
        poison = (await machine.live())["a.md"].id
        done = await graph.taint.roll_back(poison, reason="asked to")
        report = await machine.sync()
        assert (report.counts, report.notes[0].reason[:26]) == (
            {"redacted": 1},
            "its memory was rolled back",
        )
        await graph.taint.undo(done.roll_back.id, reason="it is true")
        assert (await machine.sync()).counts == {"unchanged": 1}
        assert machine.notes() == {"a.md": "Somebody's claim."}


# A repository of more than 300 notes: indexed once, then only what changed.


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

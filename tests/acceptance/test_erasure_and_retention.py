"""What retention, eviction and erasure promise together, asked from outside."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.erasure_story import say
from support.raw_stores import files_with, places_with
from support.runtime import MovingClock, running
from support.service import DOORS
from support.two_doors import house

from ezra import Fact
from ezra.documents.ingesting import Ingested, Ingestion, Plan
from tiers.errors import WasRedacted
from tiers.history.verification import verify_export
from tiers.owned import REDACTED
from tiers.records import AuditFilter


async def test_r9_09_an_evicted_event_names_its_turns(tmp_path: Path) -> None:
    """Whoever asks the feed what became of a turn is told that its summary left the warm tier."""
    clock = MovingClock()
    async with running(tmp_path, clock, ring_capacity=2, turns_per_summary=2) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("engineer")
        turns = [await say(agent, f"Lap {number} held.") for number in range(6)]
        evicted = 0
        for hours in (1, 23, 24, 24):
            clock.move(hours=hours)
            evicted += (await ezra.run_lifecycle_tick("imola")).entries_evicted
        events = await graph.audit(only=AuditFilter(kinds=("evicted",)))
        named = [one for event in events for one in event.record_ids]
        assert evicted == 2
        # The last two were in the ring until the day was told: they never had a summary there.
        assert sorted(named) == sorted(one.id for one in turns[:4])
        about = await graph.audit(only=AuditFilter(record_id=turns[0].id, kinds=("evicted",)))
        assert [turns[0].id in event.record_ids for event in about] == [True]


async def ingested(documents: Any, folder: Path, **more: Any) -> Ingested:
    """Ingest a folder as the command does."""
    ingestion = Ingestion(documents, Plan((folder,), **more))
    return await ingestion.run(await ingestion.found(), lambda _: None)


def states(done: Ingested) -> dict[str, str]:
    """Return what came of each file."""
    return {one.name.removeprefix("notes/"): one.state for one in done.files}


@pytest.mark.parametrize("door", DOORS)
async def test_r9_04_a_redacted_document_stays_away_from_its_folder(
    tmp_path: Path, door: str
) -> None:
    """It is counted and named, whether its file changed or not, until somebody asks to have it."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("# Doors\n\nQuillon Varnhagen has badge 7719023441.\n")
    (folder / "b.txt").write_text("Mediums last eighteen laps.")
    async with house(tmp_path / "home", door) as opened:
        agent = await opened.agent(topics={"*"})
        graph = await opened.runtime.session_graph(agent.graph_id)
        await ingested(graph.documents, folder)
        document = await graph.documents.named("files", "notes/a.md")
        await graph.redact([document.id], reason="asked to")

        for text in ((folder / "a.md").read_text(), "Varnhagen has another badge."):
            (folder / "a.md").write_text(text)
            for dry_run in (True, False):
                done = await ingested(graph.documents, folder, dry_run=dry_run)
                assert states(done) == {"a.md": "redacted", "b.txt": "unchanged"}
                assert done.totals["redacted"] == 1
                assert "even-if-redacted" in (done.files[0].reason or "")
        with pytest.raises(WasRedacted, match="even_if_redacted"):
            await graph.documents.put("notes/a.md", "Varnhagen.")
        with pytest.raises(WasRedacted):
            await agent.documents.put("notes/a.md", "Varnhagen.", expected_revision=1)
        assert not (await graph.recall("Varnhagen badge")).items
        assert await graph.documents.count() == (1, 1)

        would = await ingested(graph.documents, folder, dry_run=True, even_if_redacted=True)
        assert states(would)["a.md"] == "new"
        done = await ingested(graph.documents, folder, even_if_redacted=True)
        assert (states(done)["a.md"], done.files[0].revision) == ("changed", 2)
        assert (await graph.recall("Varnhagen badge")).items
        assert states(await ingested(graph.documents, folder)) == {
            "a.md": "unchanged",
            "b.txt": "unchanged",
        }
        (former,) = await graph.documents.revisions(document.id, before=2)
        assert "7719023441" not in former.model_dump_json()


RETIRED = {
    "turn": "marmoset",
    "tool": "5550917733",
    "recall": "tarsier",
    "forgotten": "okapi",
    "superseded": "quagga",
}
"""Words of what the plan is over for, each in one kind of place."""


async def _lived(ezra: Any, clock: MovingClock) -> Any:
    """Say, ask, state and forget things, each with a word of its own; return the graph."""
    graph = await ezra.create_session_graph("imola")
    agent = await graph.spawn_agent("engineer")
    tools = [{"tool": "crm", "output": f"account {RETIRED['tool']}"}]
    await say(agent, f"Was a {RETIRED['turn']} seen?", "Nobody knows.", tools)
    await agent.recall(f"Where is the {RETIRED['recall']}?")
    forgotten = await agent.remember(Fact(text=f"The {RETIRED['forgotten']} is in the yard."))
    former = await agent.remember(Fact(text=f"The {RETIRED['superseded']} is at large."))
    await ezra.drain_learning()
    await agent.forget(forgotten, reason="asked to")
    await agent.remember(Fact(text="It was caught again."), supersedes=former)
    await agent.leave()
    clock.move(hours=1)
    await ezra.run_lifecycle_tick("imola")
    return graph


async def test_r9_03_retention_cleans_what_redaction_cleans(tmp_path: Path) -> None:
    """After 1,200 days of the plan nothing is left: in receipts, in the index, or in any file."""
    clock = MovingClock()
    async with running(tmp_path, clock, retention_plan="free", recall_receipts=True) as ezra:
        graph = await _lived(ezra, clock)
        found = await places_with(ezra, tmp_path, RETIRED.values())
        assert {"receipts", "turns", "facts"} <= {name for _, name, _ in found}
        for days in (1, 1, 1, 7, 30, 90, 365, 365, 340):
            clock.move(days=days)
            await ezra.run_lifecycle_tick("imola")
        assert await places_with(ezra, tmp_path, RETIRED.values()) == set()
        receipts = await ezra._runtime.log.receipts(graph._scope)
        assert receipts
        assert {one.query for one in receipts} == {""}
        (event,) = [
            one
            for one in await graph.audit(only=AuditFilter(kinds=("retired",)))
            if receipts[0].id in one.record_ids
        ]
        assert "receipts kept for 48h" in event.reason
    assert not files_with(tmp_path, RETIRED.values())


async def test_r9_03_receipts_stay_as_long_as_turns(tmp_path: Path) -> None:
    """A context of a turn that is kept can be rebuilt, and a plan that keeps turns keeps all."""
    clock = MovingClock()
    async with running(tmp_path, clock, retention_plan="working=48h", recall_receipts=True) as ezra:
        graph = await _lived(ezra, clock)
        agent = await graph.spawn_agent("late")
        clock.move(hours=46)
        await ezra.run_lifecycle_tick("imola")
        assert "receipts" in {n for _, n, _ in await places_with(ezra, tmp_path, [RETIRED["turn"]])}
        young = await say(agent, "Is it dry?", "It is.")
        for hours in (24, 20):
            clock.move(hours=hours)
            await ezra.run_lifecycle_tick("imola")
        assert not await places_with(ezra, tmp_path, [RETIRED["recall"]])
        receipts = await ezra._runtime.log.receipts(graph._scope)
        (kept,) = [one for one in receipts if one.query]
        assert (kept.query, kept.body["turn_id"]) == ("Is it dry?", young.id)


PERSON = "Quillon Varnhagen"
OF_PERSON = ("quillon", "varnhagen", "7719023441")


async def _retired(ezra: Any, clock: MovingClock, *said: str) -> Any:
    """Say things, let an agent go on, and let 102 hours of ticks pass; return the graph."""
    graph = await ezra.create_session_graph("imola")
    agent = await graph.spawn_agent("engineer")
    for text in said:
        await say(agent, text, "Noted.")
    for _ in range(6):
        await say(agent, "The gearbox oil is warm and the tyres are worn.", "They are.")
    for hours in (1, 23, 24, 24, 30):
        clock.move(hours=hours)
        await ezra.run_lifecycle_tick("imola")
    marks = (await ezra._runtime.grains.turn_marks(graph._scope, "", 10)).rows
    assert all(one.retired for one in marks)
    return graph


@pytest.mark.parametrize(
    ("said", "subject"),
    [
        (f"{PERSON} called from 7719023441 about the gearbox.", PERSON),
        (f"{PERSON} called from 7719023441 about the gearbox.", "quillon  VARNHAGEN"),
        ("Varnhagen's number is 7719 023 441, says Quillon of the gearbox.", PERSON),
        ("Ask quillon-varnhagen: 7719-023-441 for the gearbox.", PERSON),
        ("The gearbox: 7719.023 441 of Quillon Varnhagen.", "7719-023441"),
    ],
)
async def test_r9_02_erasure_outlives_retention(tmp_path: Path, said: str, subject: str) -> None:
    """What was made of a turn that retention has emptied is found by whom the turn spoke of."""
    clock = MovingClock()
    async with running(tmp_path, clock, retention_plan="working=48h") as ezra:
        graph = await _retired(ezra, clock, said)
        words = (*OF_PERSON, "7719 023 441", "7719-023-441", "7719.023 441")
        assert await places_with(ezra, tmp_path, words), "otherwise this proves nothing"
        report = await graph.erase(subject=subject, reason="asked to")
        assert report.is_complete
        assert report.ids["episode"]
        assert await places_with(ezra, tmp_path, words) == set()
        assert not (await graph.erase(subject=subject, reason="asked to")).ids
    assert not files_with(tmp_path, words)


async def test_r9_02_what_a_derived_text_no_longer_names_is_erased_too(tmp_path: Path) -> None:
    """The episode has the number alone; only the turn, emptied by now, said whose it is."""
    clock = MovingClock()
    async with running(tmp_path, clock, retention_plan="working=48h") as ezra:
        graph = await _retired(ezra, clock, f"{PERSON} has 7719023441.", "A narwhal was seen.")
        (episode,) = [one for one in await graph.episodes() if one.grain == "daily"]
        fact = Fact(text="Ring 7719023441.", source_ids=(episode.id,))
        agent = await graph.spawn_agent("late")
        await agent.remember(fact)
        other = await agent.remember(Fact(text="Otto Smith has the keys."))
        report = await graph.erase(subject="Varnhagen", reason="asked to")
        assert len(report.ids["fact"]) == 1
        assert await places_with(ezra, tmp_path, OF_PERSON) == set()
        assert [one.text for one in await agent.facts([other])] == ["Otto Smith has the keys."]


async def test_r9_02_erasing_somebody_else_leaves_all_of_it(tmp_path: Path) -> None:
    """Neither who shares a first name nor who was never named costs an episode."""
    clock = MovingClock()
    async with running(tmp_path, clock, retention_plan="working=48h") as ezra:
        graph = await _retired(ezra, clock, f"{PERSON} has 7719023441.")
        before = [one.text for one in await graph.episodes()]
        for stranger in ("Quillon Smith", "Narwhal", "7719023", "Varnhage"):
            assert not (await graph.erase(subject=stranger, reason="asked to")).ids
        assert [one.text for one in await graph.episodes()] == before


@pytest.mark.parametrize("how", ["redact", "erase"])
async def test_what_a_child_made_of_a_parents_fact_goes_with_it(tmp_path: Path, how: str) -> None:
    """It may repeat the words without the name; what only reads the parent stays."""
    async with running(tmp_path, recall_receipts=True) as ezra:
        parent = await ezra.create_session_graph("monaco")
        keeper = await parent.spawn_agent("keeper")
        text = f"{PERSON} has badge 7719023441."
        fact_id = await keeper.remember(Fact(text=text, tier="core"))
        child = await ezra.create_session_graph("imola", inherits_from=["monaco"])
        grandchild = await ezra.create_session_graph("monza", inherits_from=["imola"])
        rests: list[str] = []
        for graph in (child, grandchild):
            agent = await graph.spawn_agent("one")
            belief = await agent.commit("Badge 7719023441 opens the door.", sources=[fact_id])
            made = Fact(text="So 7719023441 is known.", source_ids=(belief.id,), tier="core")
            rests += [belief.id, await agent.remember(made)]
            other = await agent.commit("Doors have badges.")
        report = (
            await parent.redact([fact_id], reason="asked to")
            if how == "redact"
            else await parent.erase(subject=PERSON, reason="asked to")
        )
        assert report.is_complete
        reached = [one for there in report.branches.values() for one in there.ids.values()]
        assert {one for ids in reached for one in ids} >= {*rests}
        assert report.receipt is not None
        assert report.receipt.branches == ("imola", "monza")
        assert await places_with(ezra, tmp_path, OF_PERSON) == set()
        assert [one.id for one in await grandchild.beliefs.active()] == [other.id]
        for graph in (child, grandchild):
            assert (await graph.beliefs.verify()).ok
    assert not files_with(tmp_path, OF_PERSON)


async def test_reasons_in_the_feed_lose_the_name_and_the_feed_still_verifies(
    tmp_path: Path,
) -> None:
    """The events stay, and one of their own says whose reason is gone; nobody else's is."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("engineer")
        for reason in (f"{PERSON} asked", "somebody asked"):
            fact_id = await agent.remember(f"The pit is open, before {reason[-14:]}.")
            await agent.forget(fact_id, reason=reason)
        before = await graph.audit()
        for _ in range(2):
            report = await graph.erase(subject=PERSON, reason="case 17")
            assert report.is_complete
        after = await graph.audit()
        named = [one.record_ids for one in after if one.kind == "reasons erased"]
        assert named == [(f"audit:{one.seq}",) for one in before if PERSON in one.reason]
        silent = [one.reason for one in after if one.kind == "forgotten"]
        assert silent == [REDACTED, "somebody asked"]
        assert [(one.seq, one.kind) for one in after[: len(before)]] == [
            (one.seq, one.kind) for one in before
        ]
        assert await places_with(ezra, tmp_path, OF_PERSON) == set()
        assert (await graph.beliefs.verify()).ok
        await graph.beliefs.export(tmp_path / "log.jsonl")
    assert not files_with(tmp_path, OF_PERSON)
    assert verify_export(tmp_path / "log.jsonl").ok
    lines = (tmp_path / "log.jsonl").read_bytes().splitlines(keepends=True)
    untold = [one.replace(b"reasons erased", b"reasons kept") for one in lines]
    (tmp_path / "log.jsonl").write_bytes(b"".join(untold))
    found = verify_export(tmp_path / "log.jsonl")
    assert any("no event says that it was erased" in one.what for one in found.problems)

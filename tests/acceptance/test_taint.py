"""What came of a poisoned record is found, taken back, and brought back again: nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from support.runtime import MovingClock, running

from ezra import Conflict, Ezra, Fact, Graph, NotFound, UsageError
from ezra.evaluation.learning.poisoning import (
    ASKED,
    POISON,
    STORIES,
    Scene,
    Story,
    changed,
    expected,
    rows_of,
)
from ezra.evaluation.learning.taint import outcome_of
from tiers.cold.stores import taint as cold_taint
from tiers.errors import TierUnavailable, WasRedacted
from tiers.records import AuditFilter
from tiers.taint import SET_ASIDE

WHY = "a page planted it"


@pytest.fixture
def clock() -> MovingClock:
    """A clock that stands still."""
    return MovingClock()


@pytest.fixture
async def ezra(tmp_path: Path, clock: MovingClock) -> AsyncIterator[Ezra]:
    """A runtime without background work."""
    async with running(tmp_path, clock) as found:
        yield found


def scene(ezra: Ezra, clock: MovingClock, name: str) -> Scene:
    """Return where a story is played."""
    return Scene(ezra, lambda by: clock.move(seconds=by.total_seconds()), name)


async def told(ezra: Ezra, clock: MovingClock, name: str) -> Story:
    """Play a story."""
    return await STORIES[name](scene(ezra, clock, name))


@pytest.mark.parametrize("name", STORIES)
async def test_r13_07_poison_is_traced_and_rolled_back_completely(
    ezra: Ezra, clock: MovingClock, name: str
) -> None:
    """Against a scan of every row: all of it, nothing else, and all of it comes back."""
    outcome = await outcome_of(name, await told(ezra, clock, name))
    assert outcome.wrong == {}
    assert outcome.exposed or name in {"summarised", "learnt", "diamond", "circular", "branched"}


@pytest.mark.parametrize("name", STORIES)
async def test_what_was_only_exposed_goes_when_it_is_asked_for(
    ezra: Ezra, clock: MovingClock, name: str
) -> None:
    """Then everything that is exposed is set aside or reverted, receipts apart, and comes back."""
    story = await told(ezra, clock, name)
    before = await rows_of(story)
    wanted = expected(story, before)
    done = await story.graph.taint.roll_back(story.record_id, reason=WHY, exposed=True)
    during = await rows_of(story)
    assert during["receipts"] == before["receipts"], "they are the evidence"
    tainted = {*wanted.derived, *wanted.exposed} - before["receipts"].keys()
    assert tainted <= changed(before, during)
    assert tainted == {
        (one.graph_id, one.id) for one in done.roll_back.items if one.done != "stands again"
    }
    await story.graph.taint.undo(done.roll_back.id, reason="no")
    assert changed(before, await rows_of(story)) == set()


async def test_a_dry_run_shows_exactly_what_is_done_then(ezra: Ezra, clock: MovingClock) -> None:
    """The same records and what stands again for them; until then nothing has changed."""
    for name in ("believed", "summarised"):
        story = await told(ezra, clock, name)
        before = await rows_of(story)
        taint = story.graph.taint
        dry = await taint.roll_back(story.record_id, reason=WHY, dry_run=True)
        assert changed(before, await rows_of(story)) == set()
        assert await taint.roll_backs() == ()
        done = await taint.roll_back(story.record_id, reason=WHY)
        assert dry.roll_back.items == done.roll_back.items
        assert set(dry.rebuilt) == set(done.rebuilt)


async def test_a_belief_and_a_fact_that_gave_way_stand_again(ezra: Ezra) -> None:
    """What poison took the place of is what holds, until the roll-back is undone."""
    graph = await ezra.create_session_graph("imola")
    agent = await graph.spawn_agent("writer")
    key = ("start", "compound")
    true = await agent.commit("Start on hards.", key=key, value="hard")
    fact = await agent.remember(Fact(text="Hards last 30 laps.", tier="core"))
    poison = await agent.remember(POISON)
    runtime = graph._runtime
    assert await runtime.semantic.supersede(graph._scope, fact, poison, runtime.clock())
    false = await agent.commit("Start on softs.", key=key, value="soft", sources=[poison])
    history = graph.beliefs

    done = await graph.taint.roll_back(poison, reason=WHY)
    assert [one.id for one in await history.active()] == [true.id]
    (reverted,) = await history.query(status="reverted")
    assert reverted.id == false.id
    assert WHY in str((await history.explain(false.id)).events[-1].content)
    assert {one.id for one in done.roll_back.items if one.done == "stands again"} == {
        true.id,
        fact,
    }
    assert [one.id for one in (await agent.recall("hards laps", kinds=["fact"])).items] == [fact]
    assert [one.text for one in (await graph.core("writer")).facts] == ["Hards last 30 laps."]
    assert await history.trust("writer") < 1.0

    await graph.taint.undo(done.roll_back.id, reason="it was true")
    assert [one.id for one in await history.active()] == [false.id]
    found = (await agent.recall("hard tyre laps", kinds=["fact"])).items
    assert [one.id for one in found] == [poison]
    assert await history.trust("writer") == 1.0
    assert (await history.verify()).ok


async def test_a_tainted_belief_does_not_come_back_by_a_later_revert(ezra: Ezra) -> None:
    """It had given way to a true one; taking that back must not bring the poison back."""
    graph = await ezra.create_session_graph("imola")
    agent = await graph.spawn_agent("writer")
    key = ("start", "compound")
    poison = await agent.remember(POISON)
    false = await agent.commit("Start on softs.", key=key, value="soft", sources=[poison])
    later = await agent.commit("Start on mediums.", key=key, value="medium")
    await graph.taint.roll_back(poison, reason=WHY)
    assert [one.id for one in await graph.beliefs.active()] == [later.id]
    await graph.beliefs.revert(later.id, reason="no")
    assert await graph.beliefs.active() == ()
    assert false.id not in {one.id for one in await graph.beliefs.query(status="superseded")}


async def test_a_roll_back_is_open_then_undone_or_confirmed(ezra: Ezra) -> None:
    """Each is in the audit feed with its id; a confirmed one is final, an undone one too."""
    graph = await ezra.create_session_graph("imola")
    agent = await graph.spawn_agent("writer")
    poison = await agent.remember(POISON)
    taint = graph.taint
    first = (await taint.roll_back(poison, reason=WHY)).roll_back
    assert (await taint.roll_back(poison, reason=WHY)).roll_back.id == first.id, "it goes on"
    assert [one.state for one in await taint.roll_backs()] == ["open"]
    undone = (await taint.undo(first.id, reason="a mistake")).roll_back
    assert (await taint.undo(first.id, reason="again")).roll_back == undone
    with pytest.raises(Conflict, match="undone"):
        await taint.confirm(first.id, reason="late")
    second = (await taint.roll_back(poison, reason=WHY)).roll_back
    assert second.id != first.id
    done = (await taint.confirm(second.id, reason="two people looked")).roll_back
    assert (await taint.confirm(second.id, reason="again")).roll_back == done
    with pytest.raises(Conflict, match="confirmed"):
        await taint.undo(second.id, reason="late")
    with pytest.raises(Conflict, match="content"):
        await taint.roll_back(poison, reason=WHY)
    states = [(one.id, one.state) for one in await taint.roll_backs()]
    assert states == [(second.id, "confirmed"), (first.id, "undone")]
    kinds = ("rolled back", "roll-back undone", "roll-back confirmed")
    events = await graph.audit(only=AuditFilter(kinds=kinds))
    told = [(one.kind, one.record_ids[0], one.reason) for one in events]
    assert told[:2] == [("rolled back", first.id, WHY), ("roll-back undone", first.id, "a mistake")]
    assert told[-1] == ("roll-back confirmed", second.id, "two people looked")


async def test_what_is_asked_wrongly_is_refused(ezra: Ezra) -> None:
    """Unknown records and roll-backs, those of other graphs, blank reasons, wrong pages."""
    graph = await ezra.create_session_graph("imola")
    other = await ezra.create_session_graph("monza")
    fact = await (await other.spawn_agent("writer")).remember("Mediums last.")
    for unknown in ("nothing", fact):
        with pytest.raises(NotFound):
            await graph.taint.trace(unknown)
        with pytest.raises(NotFound):
            await graph.taint.roll_back(unknown, reason=WHY)
    done = await other.taint.roll_back(fact, reason=WHY)
    for act in (graph.taint.undo, graph.taint.confirm):
        with pytest.raises(NotFound):
            await act(done.roll_back.id, reason=WHY)
        with pytest.raises(UsageError, match="reason"):
            await act(done.roll_back.id, reason=" ")
    with pytest.raises(UsageError, match="reason"):
        await other.taint.roll_back(fact, reason=" ")
    with pytest.raises(UsageError, match="limit"):
        await other.taint.trace(fact, limit=0)
    with pytest.raises(UsageError, match="after"):
        await other.taint.trace(fact, after=-1)


async def test_a_trace_is_read_page_by_page_and_names_the_writer(ezra: Ezra) -> None:
    """Pages make the whole tree, each record behind what it comes of; its sources are told."""
    graph = await ezra.create_session_graph("imola")
    agent = await graph.spawn_agent("writer")
    turn = await agent.turn(POISON)
    await turn.reply("Noted.")
    said = (await graph.turns("writer"))[0].id
    root = await agent.remember(Fact(text=POISON, source_ids=(said,)))
    for number in range(12):
        await agent.remember(Fact(text=f"Lap {number} is unsafe.", source_ids=(root,)))
    whole = await graph.taint.trace(root)
    assert [(one.kind, one.id, one.agent_id) for one in whole.origins] == [("turn", said, "writer")]
    assert (whole.total, whole.cursor, whole.is_whole) == (13, None, True)
    paged, after = [], 0
    while after is not None:
        page = await graph.taint.trace(root, limit=5, after=after)
        paged += page.nodes
        after = page.cursor
    assert paged == list(whole.nodes)
    met: set[str] = {""}
    for node in paged:
        assert node.parent_id in met
        met.add(node.id)


async def test_what_is_written_meanwhile_is_taken_in_or_left_alone(ezra: Ezra) -> None:
    """Eight writers, half of them upon the poison, while it is rolled back; once more, and all is.

    What does not rest on it is there as it was written.
    """
    graph = await ezra.create_session_graph("imola")
    agent = await graph.spawn_agent("writer")
    poison = await agent.remember(POISON)
    clean: list[str] = []
    tainted: list[str] = []

    async def write(number: int) -> None:
        for step in range(6):
            mine, sources = (tainted, (poison,)) if number % 2 else (clean, ())
            text = f"Writer {number} says {step}."
            mine.append(await agent.remember(Fact(text=text, source_ids=sources)))

    async def roll_back() -> None:
        await asyncio.sleep(0)
        await graph.taint.roll_back(poison, reason=WHY)

    await asyncio.gather(*map(write, range(8)), roll_back(), roll_back_later(graph, poison))
    done = await graph.taint.roll_back(poison, reason=WHY)
    assert {one.id for one in done.roll_back.items} == {poison, *tainted}
    facts = {one.id: one for one in await agent.facts([*clean, *tainted])}
    assert {one for one in clean if facts[one].redacted_at is None} == set(clean)
    assert not [one for one in tainted if one in facts and facts[one].redacted_at is None]
    assert len([one for one in await graph.taint.roll_backs() if one.state == "open"]) >= 1


async def roll_back_later(graph: Graph, poison: str) -> None:
    """Roll back a moment later, while the first one is at it."""
    await asyncio.sleep(0.01)
    await graph.taint.roll_back(poison, reason=WHY)


async def test_a_roll_back_that_breaks_off_is_none(
    ezra: Ezra, clock: MovingClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is one transaction over all graphs: whatever breaks off in it, nothing was written."""
    story = await told(ezra, clock, "inherited")
    before = await rows_of(story)
    tell, calls = cold_taint._tell, 0

    def breaking(*args: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise TierUnavailable("cold", "set_aside", "the power failed")
        return tell(*args)

    monkeypatch.setattr(cold_taint, "_tell", breaking)
    with pytest.raises(TierUnavailable):
        await story.graph.taint.roll_back(story.record_id, reason=WHY)
    assert changed(before, await rows_of(story)) == set()
    assert await story.graph.taint.roll_backs() == ()
    done = await story.graph.taint.roll_back(story.record_id, reason=WHY)
    calls = 0
    with pytest.raises(TierUnavailable):
        await story.graph.taint.undo(done.roll_back.id, reason="no")
    assert [one.state for one in await story.graph.taint.roll_backs()] == ["open"]
    await story.graph.taint.undo(done.roll_back.id, reason="no")
    assert changed(before, await rows_of(story)) == set()


async def test_what_follows_the_transaction_is_finished_by_repeating(
    ezra: Ezra, clock: MovingClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process died right after it: nothing shows the poison, and the second call rebuilds."""
    story = await told(ezra, clock, "summarised")
    runtime = story.graph._runtime
    rewrite = runtime.lifecycle.rewrite

    async def died(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(runtime.lifecycle, "rewrite", died)
    with pytest.raises(KeyboardInterrupt):
        await story.graph.taint.roll_back(story.record_id, reason=WHY)
    monkeypatch.setattr(runtime.lifecycle, "rewrite", rewrite)
    texts = {one["text"] for one in (await rows_of(story))["summaries"].values()}
    assert texts == {SET_ASIDE}
    done = await story.graph.taint.roll_back(story.record_id, reason=WHY)
    assert done.rebuilt
    texts = {one["text"] for one in (await rows_of(story))["summaries"].values()}
    assert "Box in lap 12." in " ".join(texts)
    assert "explodes" not in " ".join(texts)


async def test_what_is_set_aside_can_still_be_erased(ezra: Ezra, clock: MovingClock) -> None:
    """Erasing a person reaches what roll-backs keep of her: undoing brings nothing of it back."""
    graph = await ezra.create_session_graph("imola")
    agent = await graph.spawn_agent("writer")
    turn = await agent.turn("Call Zenobia Quill on 555 0199.")
    await turn.reply("Done.")
    said = (await graph.turns("writer"))[0].id
    fact = await agent.remember(Fact(text="Zenobia Quill is ill.", source_ids=(said,)))
    clean = await agent.remember("Mediums last about 18 laps.")
    clock.move(days=2)
    await ezra.run_lifecycle_tick("imola")
    done = await graph.taint.roll_back(said, reason=WHY)
    report = await graph.erase(subject="Zenobia Quill", reason="she asked")
    assert {said, fact} <= {one for ids in report.ids.values() for one in ids}
    undone = await graph.taint.undo(done.roll_back.id, reason="no")
    assert {said, fact} <= {*undone.roll_back.kept}
    rows = await rows_of(Story(graph, said))
    assert "Zenobia" not in str(rows)
    facts = {one.id: one for one in await agent.facts([fact, clean])}
    assert facts[clean].redacted_at is None
    assert fact not in facts or facts[fact].redacted_at is not None


async def test_a_turn_that_came_back_can_be_set_aside_again_and_erased(ezra: Ezra) -> None:
    """Also after a later roll-back: what stood for it meanwhile kept its place among the words."""
    graph = await ezra.create_session_graph("twice")
    agent = await graph.spawn_agent("one", topics={"*"})
    turns = [
        (await (await agent.turn(f"Oswald Quint called, {n}.")).reply("I see.")).turn.id
        for n in range(3)
    ]
    first = await graph.taint.roll_back(turns[0], reason="planted")
    await graph.taint.roll_back(turns[1], reason="planted")
    await graph.taint.undo(first.roll_back.id, reason="it was true")
    again = await graph.taint.roll_back(turns[0], reason="planted after all")
    await graph.taint.undo(again.roll_back.id, reason="it was true")
    assert len((await agent.recall("Oswald Quint")).items) == 2
    done = await graph.erase(subject="Oswald Quint", reason="asked to")
    assert set(done.ids["turn"]) == set(turns)
    assert (await agent.recall("Oswald Quint")).items == ()
    assert not (await graph.holding(subject="Oswald Quint")).records


async def test_retention_ends_what_roll_backs_keep(tmp_path: Path, clock: MovingClock) -> None:
    """As long as turns are kept it can be undone; then it is confirmed, and the feed says why."""
    async with running(tmp_path, clock, retention_plan="free") as ezra:
        graph = await ezra.create_session_graph("imola")
        poison = await (await graph.spawn_agent("writer")).remember(POISON)
        done = await graph.taint.roll_back(poison, reason=WHY)
        clock.move(hours=40)
        await graph.retain()
        assert [one.state for one in await graph.taint.roll_backs()] == ["open"]
        clock.move(hours=10)
        await graph.retain()
        assert [one.state for one in await graph.taint.roll_backs()] == ["confirmed"]
        (event,) = await graph.audit(only=AuditFilter(kinds=("roll-back confirmed",)))
        assert event.record_ids[0] == done.roll_back.id
        assert event.reason.startswith("retention:")


async def test_a_statement_made_anew_is_not_doubled_by_undoing(ezra: Ezra) -> None:
    """The same was remembered again meanwhile: that stands, and undoing says so."""
    graph = await ezra.create_session_graph("imola")
    agent = await graph.spawn_agent("writer")
    poison = await agent.remember(POISON)
    done = await graph.taint.roll_back(poison, reason=WHY)
    again = await agent.remember(POISON)
    assert again != poison
    undone = await graph.taint.undo(done.roll_back.id, reason="no")
    assert undone.roll_back.kept == (poison,)
    found = (await agent.recall(ASKED, kinds=["fact"])).items
    assert [one.id for one in found] == [again]


async def test_contexts_and_replays_tell_what_was_set_aside(ezra: Ezra) -> None:
    """The next context lacks it at once; the receipt of one that had it says what became of it."""
    graph = await ezra.create_session_graph("imola")
    agent = await graph.spawn_agent("writer")
    turn = await agent.turn(POISON)
    await turn.reply("I will avoid hards.")
    said = (await graph.turns("writer"))[0].id
    shown = await agent.turn("What about the hard tyre?")
    assert POISON in str(shown.messages)
    await shown.reply("It explodes.")
    done = await graph.taint.roll_back(said, reason=WHY)
    assert "explodes after" not in str((await agent.turn("And now?")).messages)
    replayed = await graph.replay_context(shown.receipt_id)
    assert "set aside by a roll-back" in str(replayed)
    await graph.taint.undo(done.roll_back.id, reason="no")
    assert (await graph.replay_context(shown.receipt_id)).is_exact


@pytest.mark.parametrize("end", ["open", "confirmed", "undone"])
async def test_a_clean_version_of_a_document_takes_the_place_of_one_that_was_rolled_back(
    ezra: Ezra, end: str
) -> None:
    """What was rolled back is refused with a word that says so, and comes back when asked to."""
    graph = await ezra.create_session_graph("g")
    documents = graph.documents
    clean, poison = "# Pit\n\nThe limit is 80 km/h.", "# Pit\n\nThe limit is 300 km/h."
    await documents.put("pit.md", clean)
    put = await documents.put("pit.md", poison)
    done = await graph.taint.roll_back(put.document.id, reason=WHY)
    if end == "confirmed":
        await graph.taint.confirm(done.roll_back.id, reason=WHY)
    with pytest.raises(WasRedacted, match=r"rolled back with this very content; put another"):
        await documents.put("pit.md", poison)
    assert (await documents.put("pit.md", clean)).document.revision == 3
    (hit,) = (await graph.recall("limit", kinds=("document",))).items
    assert "80 km/h" in hit.text
    if end == "undone":
        undone = await graph.taint.undo(done.roll_back.id, reason=WHY)
        assert put.document.id in undone.roll_back.kept
        (hit,) = (await graph.recall("limit", kinds=("document",))).items
        assert "80 km/h" in hit.text
    assert (await documents.put("pit.md", poison)).was_new, "as any other revision of it"
    await graph.redact([put.document.id], reason=WHY)
    with pytest.raises(WasRedacted, match="was redacted and stays so"):
        await documents.put("pit.md", clean)

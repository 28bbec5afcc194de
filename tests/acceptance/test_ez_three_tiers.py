"""Rows EZ-01 to EZ-08, EZ-10 and EZ-11 through the public API, on the embedded default."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest
from support.runtime import MovingClock, running

from ezra import Conflict, Fact, MeshResult, NotFound, PolicyDenied, Rule, ScriptedModel, UsageError
from ezra.app import Ezra
from ezra.settings import Settings
from ezra.turn.router import STEPS


async def speak(agent, message: str, response: str = "", **more):  # noqa: ANN001, ANN003, ANN201
    """Carry one message through all eight steps."""
    return await (await agent.turn(message, **more)).reply(response)


async def test_ez_01_the_ring_holds_the_last_turns_pins_and_mesh(tmp_path: Path) -> None:
    """The next context has the last eight turns, the pinned belief first, and the mesh result."""

    async def timing(message: str, scope) -> MeshResult:  # noqa: ANN001
        return MeshResult(source="timing", text=f"P3 for {scope.agent_id}", queried_at=now)

    clock = MovingClock()
    now = clock()
    settings = Settings(home=tmp_path, embedder="off", background=False)
    async with Ezra.open(settings, connectors={"timing": timing}, clock=clock) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("strategist", topics={"tyres"})
        for number in range(10):
            written = await speak(agent, f"message {number}", f"answer {number}")
        assert [turn.input for turn in written.overflow] == ["message 1"]
        await agent.commit("Rain at two.", topic="tyres")
        plan = await agent.commit("Start on mediums.", topic="tyres")
        await agent.pin(plan.id)
        asked = await agent.turn("Where are we?", mesh="timing")
        hot = [slot.text for slot in asked.slots if slot.kind == "hot"]
        assert hot == [f"message {number}\nanswer {number}" for number in range(2, 10)]
        assert [slot.text for slot in asked.slots if slot.kind == "belief"] == [
            "Start on mediums.",
            "Rain at two.",
        ]
        again = await agent.turn("And now?")
        assert [slot.text for slot in again.slots if slot.kind == "mesh"] == [
            f"timing at {now:%Y-%m-%d %H:%M}: P3 for strategist"
        ]
        assert (await graph.status()).hot == 8


async def test_ez_01_an_empty_ring_is_rebuilt_from_cold(tmp_path: Path) -> None:
    """Losing the hot tier loses nothing: after a restart the same turns are in the context."""
    async with running(tmp_path) as ezra:
        agent = await (await ezra.create_session_graph("imola")).spawn_agent("a", topics={"t"})
        for number in range(3):
            await speak(agent, f"message {number}")
    async with running(tmp_path) as ezra:
        agent = await (await ezra.session_graph("imola")).spawn_agent("a", topics={"t"})
        turn = await agent.turn("and?")
        assert [slot.text for slot in turn.slots if slot.kind == "hot"] == [
            "message 0",
            "message 1",
            "message 2",
        ]
        assert turn.degraded == ("dense",)


async def test_ez_01_what_was_said_last_is_recalled_after_a_restart(tmp_path: Path) -> None:
    """Also what no word of the question finds: who asks what they said means the last turns."""
    wanted = {"The van is at gate nine.", "We ship at noon."}
    async with running(tmp_path) as ezra:
        agent = await (await ezra.create_session_graph("imola")).spawn_agent("a")
        for said in sorted(wanted):
            turn = await agent.turn(said, speaker="user")
            await turn.reply("Noted.")
        before = await agent.recall("What did I say?")
    async with running(tmp_path) as ezra:
        agent = await (await ezra.session_graph("imola")).spawn_agent("a")
        found = await agent.recall("What did I say?")
        assert {one.text.removeprefix("user: ").partition("\n")[0] for one in found.items} == wanted
        assert [one.id for one in found.items] == [one.id for one in before.items]


async def test_ez_02_overflow_becomes_summaries_that_name_their_turns(tmp_path: Path) -> None:
    """Every overflowed turn is covered by exactly one summary, or waits; none is dropped."""
    clock = MovingClock()
    async with running(tmp_path, clock) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("engineer", topics={"tyres"})
        written = [
            await speak(agent, f"Lap {number}: the medium lost {number} tenths.")
            for number in range(1, 28)
        ]
        report = await ezra.run_lifecycle_tick("imola")
        assert (report.summaries_written, report.turns_covered, report.turns_waiting) == (2, 16, 3)
        summaries = await graph.summaries()
        covered = [turn_id for summary in summaries for turn_id in summary.covers]
        assert covered == [one.turn.id for one in written[:16]]
        assert "engineer: Lap 1: the medium lost 1 tenths." in summaries[0].text
        clock.move(minutes=15)
        report = await ezra.run_lifecycle_tick("imola")
        assert (report.turns_covered, report.turns_waiting) == (3, 0)
        assert (await ezra.run_lifecycle_tick("imola")).summaries_written == 0


async def test_ez_03_summaries_are_recalled_until_their_ttl(tmp_path: Path) -> None:
    """A summary is found by its words for a day, then an episode stands in for it."""
    clock = MovingClock()
    async with running(tmp_path, clock) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("engineer", topics={"gearbox"})
        for number in range(16):
            await speak(agent, f"The gearbox oil reached {90 + number} degrees.")
        await ezra.run_lifecycle_tick("imola")
        turn = await agent.turn("What did the gearbox oil reach?")
        warm = [slot for slot in turn.slots if slot.kind == "warm"]
        assert len(warm) == 1
        assert "gearbox oil" in warm[0].text
        assert len(warm[0].source_ids) == 9
        clock.move(hours=23, minutes=30)
        report = await ezra.run_lifecycle_tick("imola")
        assert report.episodes_written == 1
        clock.move(hours=1)
        report = await ezra.run_lifecycle_tick("imola")
        assert report.entries_evicted == 1
        found = await agent.recall("gearbox oil", kinds=("summary", "episode"))
        assert {hit.kind for hit in found.items} == {"episode"}


async def test_ez_04_episodes_by_time_window(tmp_path: Path) -> None:
    """What happened in a window, told by the day."""
    clock = MovingClock()
    async with running(tmp_path, clock) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("engineer", topics={"gearbox"})
        start = clock()
        for day in range(2):
            for number in range(8):
                at = start + timedelta(days=day, minutes=number)
                await speak(agent, f"Day {day}, run {number}: gearbox fine.", at=at)
        await graph.close()
        await ezra.run_lifecycle_tick("imola")
        clock.move(hours=24)
        await ezra.run_lifecycle_tick("imola")
        assert len(await graph.episodes()) == 2
        second = await graph.episodes(since=start + timedelta(hours=20))
        assert [episode.text.splitlines()[0] for episode in second] == [
            f"{start + timedelta(days=1):%Y-%m-%d}"
        ]
        assert await graph.episodes(until=start - timedelta(days=1)) == ()


async def test_ez_05_core_facts_are_in_every_context_and_loaded_at_spawn(tmp_path: Path) -> None:
    """A core fact needs no matching words; topics decide who has it."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("imola")
        chief = await graph.spawn_agent("chief", topics={"team", "tyres"})
        await chief.remember(Fact(text="Never talk to the press.", tier="core", topics={"team"}))
        await chief.remember(Fact(text="Graining at 12 laps.", tier="core", topics={"tyres"}))
        junior = await graph.spawn_agent("junior", topics={"team"})
        assert [fact.text for fact in junior.core_at_spawn] == ["Never talk to the press."]
        turn = await junior.turn("lunch?")
        assert [slot.text for slot in turn.slots if slot.kind == "core"] == [
            "Never talk to the press."
        ]


async def test_ez_06_archival_facts_are_recalled_in_scope_and_uses_are_counted(
    tmp_path: Path,
) -> None:
    """A turn finds what helps it, among what its agent may see."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("strategist", topics={"tyres"})
        other = await graph.spawn_agent("mechanic", topics={"gearbox"})
        mediums = await agent.remember("Mediums last 18 laps.")
        await other.remember("The medium gear lasts 4 races.")
        turn = await agent.turn("How long do mediums last?")
        assert [slot.source_ids for slot in turn.slots if slot.kind == "archival"] == [(mediums,)]
        hits = await agent.recall_archival("mediums", scope_topics={"tyres"}, limit=3)
        assert [hit.id for hit in hits] == [mediums]
        assert await agent.recall_archival("mediums", scope_topics={"gearbox"}) == ()


async def test_ez_07_a_fact_used_often_enough_becomes_core_with_its_reason(tmp_path: Path) -> None:
    """Two uses leave it archival, the third promotes it, and the audit feed says why."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("strategist", topics={"tyres"})
        mediums = await agent.remember("Mediums last 18 laps.")
        for _ in range(2):
            await agent.turn("How long do mediums last?")
        await ezra.drain_learning()
        assert (await graph.status()).cold["facts_core"] == 0
        await agent.turn("How long do mediums last?")
        await ezra.drain_learning()
        assert (await graph.status()).cold["facts_core"] == 1
        promoted = [event for event in await graph.audit() if event.kind == "promoted"]
        assert [(event.record_ids, event.reason) for event in promoted] == [
            ((mediums,), "used 3 times, threshold 3")
        ]
        turn = await agent.turn("lunch?")
        assert [slot.source_ids for slot in turn.slots if slot.kind == "core"] == [(mediums,)]


async def test_ez_07_core_over_its_cap_demotes_the_least_used(tmp_path: Path) -> None:
    """Promotion makes room by demotion, with its reason."""
    async with running(tmp_path, core_cap=1) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("strategist", topics={"tyres"})
        old = await agent.remember(Fact(text="Pit wall has six seats.", tier="core"))
        await agent.remember("Mediums last 18 laps.")
        for _ in range(3):
            await agent.turn("How long do mediums last?")
        await ezra.drain_learning()
        demoted = [event for event in await graph.audit() if event.kind == "demoted"]
        assert [event.record_ids for event in demoted] == [(old,)]
        assert (await graph.status()).cold["facts_core"] == 1


async def test_ez_08_rules_come_with_the_intent_they_are_for(tmp_path: Path) -> None:
    """A rule is in the context when its trigger meets what is asked."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("strategist", topics={"strategy"})
        rule = await agent.remember(Rule(trigger="safety car comes out", steps=("box", "mediums")))
        assert (
            await agent.remember(Rule(trigger="safety car comes out", steps=("box", "mediums")))
            == rule
        )
        turn = await agent.turn("The safety car is out, what now?")
        slots = [slot for slot in turn.slots if slot.kind == "rule"]
        assert [slot.source_ids for slot in slots] == [(rule,)]
        assert slots[0].text == "When safety car comes out:\n- box\n- mediums"
        quiet = await agent.turn("What is for lunch?")
        assert [slot for slot in quiet.slots if slot.kind == "rule"] == []


async def test_ez_10_core_facts_and_rules_are_inherited_from_several_graphs(tmp_path: Path) -> None:
    """Nearest definition first, list order next; topics filter; archival and beliefs stay."""
    async with running(tmp_path) as ezra:
        for name, wing in (("bahrain", "4"), ("monaco", "9")):
            parent = await ezra.create_session_graph(name)
            engineer = await parent.spawn_agent("engineer", topics={"chassis", "money"})
            await engineer.remember(
                Fact(
                    subject="front wing", predicate="is at", object=wing, tier="core",
                    topics={"chassis"},
                )
            )  # fmt: skip
            await engineer.remember(
                Fact(text=f"{name} cost 3 million.", tier="core", topics={"money"})
            )
            await engineer.remember(Fact(text=f"{name} was windy.", topics={"chassis"}))
            await engineer.commit(f"{name} is over.", topic="chassis")
            await engineer.remember(
                Rule(trigger="wing damage", steps=(f"as in {name}",)), topics={"chassis"}
            )
        child = await ezra.create_session_graph("imola", inherits_from=["monaco", "bahrain"])
        agent = await child.spawn_agent("engineer", topics={"chassis"})
        turn = await agent.turn("We have wing damage, was it windy?")
        core = [(slot.text, slot.inherited_from) for slot in turn.slots if slot.kind == "core"]
        assert core == [("front wing is at 9", "monaco")]
        assert [fact.graph_id for fact in turn.shadowed] == ["bahrain"]
        assert {slot.kind for slot in turn.slots} == {"system", "core", "rule", "input"}
        assert len([slot for slot in turn.slots if slot.kind == "rule"]) == 2
        assert await agent.beliefs() == ()
        found = await agent.recall("front wing")
        assert [(hit.text, hit.inherited_from) for hit in found.items] == [
            ("front wing is at 9", "monaco")
        ]


async def test_ez_10_unknown_parents_and_existing_graphs_are_refused(tmp_path: Path) -> None:
    """Nothing is created when a parent is missing."""
    async with running(tmp_path) as ezra:
        with pytest.raises(NotFound, match="monaco"):
            await ezra.create_session_graph("imola", inherits_from=["monaco"])
        assert await ezra.session_graphs() == ()
        await ezra.create_session_graph("imola")
        with pytest.raises(Conflict, match="imola"):
            await ezra.create_session_graph("imola")


async def test_ez_11_eight_steps_are_timed_and_the_model_is_labelled(tmp_path: Path) -> None:
    """``complete`` walks all eight steps; who answered is never a secret."""
    settings = Settings(home=tmp_path, embedder="off", background=False)
    async with Ezra.open(settings, model=ScriptedModel(["About 18 laps."])) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("strategist", topics={"tyres"})
        done = await agent.complete("How long do mediums last?")
        assert (done.response, done.model) == ("About 18 laps.", "scripted")
        assert tuple(done.turn.step_ms) == STEPS
        assert all(elapsed >= 0 for elapsed in done.turn.step_ms.values())
        assert done.written.turn.response == "About 18 laps."
        assert done.turn.receipt_id is not None
        receipt = await graph.receipt(done.turn.receipt_id)
        assert receipt.query == "How long do mediums last?"
        assert receipt.body["degraded"] == ["dense"]


async def test_ez_11_without_a_model_an_echo_says_that_it_is_one(tmp_path: Path) -> None:
    """Nobody takes the default for a language model."""
    async with running(tmp_path) as ezra:
        agent = await (await ezra.create_session_graph("g")).spawn_agent("a")
        done = await agent.complete("hello")
        assert done.response == "[echo (no language model configured)] hello"


async def test_ez_11_a_denied_turn_reads_nothing_and_is_audited(tmp_path: Path) -> None:
    """The denial is an error to the caller and an event for the auditor."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("strategist", topics={"tyres"})
        with pytest.raises(PolicyDenied, match="topic money"):
            await agent.turn("What did it cost?", topics={"money"})
        with pytest.raises(PolicyDenied, match="topic money"):
            await agent.remember("It cost 3 million.", topics={"money"})
        events = await graph.audit()
        assert [event.kind for event in events] == ["created", "spawned", "denied", "denied"]


async def test_turns_of_concurrent_agents_are_ordered_and_complete(tmp_path: Path) -> None:
    """20 agents speak at once, one of them ten times at once: no gap, no loss, no double."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("imola")
        agents = [await graph.spawn_agent(f"agent-{n}", topics={"t"}) for n in range(20)]
        calls = [speak(agent, f"{agent.id} speaks") for agent in agents]
        calls += [speak(agents[0], f"again {number}") for number in range(10)]
        written = await asyncio.gather(*calls)
        assert sorted(one.turn.seq for one in written if one.turn.agent_id == "agent-0") == list(
            range(1, 12)
        )
        assert (await graph.status()).cold["turns"] == 30


async def test_a_repeated_ref_stores_once_and_a_changed_one_is_a_conflict(tmp_path: Path) -> None:
    """Retrying a write is harmless; using a name for something else is an error."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("a", topics={"t"})
        first = await speak(agent, "hello", "hi", ref="radio:1")
        again = await speak(agent, "hello", "hi", ref="radio:1")
        assert again.turn.id == first.turn.id
        assert (first.was_new, again.was_new) == (True, False)
        with pytest.raises(Conflict, match="radio:1"):
            await speak(agent, "goodbye", ref="radio:1")
        assert (await graph.status()).cold["turns"] == 1


async def test_who_left_or_is_wrong_gets_a_clear_error(tmp_path: Path) -> None:
    """Errors name the field, the value and what would be accepted."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("a", topics={"t"})
        turn = await agent.turn("hello")
        await turn.reply("hi")
        with pytest.raises(Conflict, match="reply"):
            await turn.reply("hi again")
        with pytest.raises(UsageError, match="message"):
            await agent.turn("   ")
        with pytest.raises(UsageError, match="limit: 0"):
            await agent.recall("x", limit=0)
        with pytest.raises(UsageError, match="kinds"):
            await agent.recall("x", kinds=("wish",))
        with pytest.raises(UsageError, match="id"):
            await graph.spawn_agent("")
        with pytest.raises(UsageError, match="text"):
            await agent.remember("")
        await agent.leave()
        await agent.leave()
        with pytest.raises(UsageError, match="has not left"):
            await agent.turn("hello?")
        assert (await graph.status()).state == "closed"
        again = await graph.spawn_agent("a", topics={"t"})
        assert (await graph.status()).state == "active"
        assert len((await again.turn("hello?")).messages) >= 2


async def test_at_12_what_was_just_written_is_found_at_once(tmp_path: Path) -> None:
    """By its words before it is indexed, at the rank it deserves; by meaning soon after."""
    async with running(tmp_path, embedder="required") as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("a", topics={"t"})
        for number in range(5):
            await agent.remember(f"The gearbox was opened {number} times.")
        await ezra.drain_learning()
        new = await agent.remember("The gearbox oil boils at 131 degrees.")
        first = (await agent.recall("When does the gearbox oil boil?")).items[0]
        assert (first.id, first.words_only) == (new, True)
        assert new in {
            source
            for slot in (await agent.turn("When does the gearbox oil boil?")).slots
            for source in slot.source_ids
        }
        await ezra.drain_learning()
        first = (await agent.recall("lubricant temperature of the transmission")).items[0]
        assert (first.id, first.words_only, first.tier) == (new, False, "warm")


async def test_core_facts_take_no_more_of_a_context_than_their_share(tmp_path: Path) -> None:
    """With all that stands around each of them, and their cost says so."""
    async with running(tmp_path, context_tokens=400, core_share=0.5) as ezra:
        agent = await (await ezra.create_session_graph("imola")).spawn_agent("strategist")
        for number in range(40):
            await agent.remember(Fact(text=f"Box {number} is blue.", tier="core"))
        turn = await agent.turn("Which box?")
        shown = sum(slot.tokens for slot in turn.slots if slot.kind == "core")
        assert 0 < shown <= 200
        assert turn.core.tokens == shown

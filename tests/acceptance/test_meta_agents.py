"""The meta-agents through the public API: rows of compression, time, learning and promotion."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from support.runtime import MovingClock, running

from ezra import (
    Agent,
    Ezra,
    Fact,
    Graph,
    NotFound,
    Retention,
    Rule,
    Settings,
    TierRejected,
    UsageError,
)
from ezra.checks import checked
from tiers.learning import is_live

NEW_YEAR = datetime(2026, 1, 1, 9, 0, tzinfo=UTC)


async def speak(agent: Agent, message: str, response: str = "", **more: Any) -> Any:
    """Carry one message through all eight steps."""
    return await (await agent.turn(message, **more)).reply(response)


async def live_facts(graph: Graph, query: str) -> list[Fact]:
    """Return the live facts that a question finds."""
    hits = await graph.recall(query, kinds=("fact",), limit=20)
    return list(await graph.facts([hit.id for hit in hits.items]))


class Clerk:
    """A model that writes a short summary of what it is shown, and remembers what it was told."""

    name = "clerk"

    def __init__(self, text: str = "They spoke.") -> None:
        self.text = text
        self.told: list[str] = []
        self.filled = 0

    async def complete(self, messages: Sequence[dict[str, str]]) -> str:
        """Answer with the same words each time."""
        self.told.append(messages[0]["content"])
        return self.text

    async def generate(self, messages: Sequence[dict[str, str]], schema: Any) -> Any:
        """Count the call and refuse."""
        del messages, schema
        self.filled += 1
        raise TierRejected("model", "generate", "not today")


async def test_he_01_periods_roll_up_by_the_calendar_and_name_their_sources(tmp_path: Path) -> None:
    """Fourteen months in one pass: every grain is there, labelled, linked, and made only once."""
    clock = MovingClock(NEW_YEAR)
    async with running(tmp_path, clock, time_zone="Europe/Berlin") as ezra:
        graph = await ezra.create_session_graph("year")
        agent = await graph.spawn_agent("diarist", topics={"life"})
        for day in range(0, 420, 14):
            await speak(agent, f"On day {day} the count was {1000 + day}.")
            clock.move(days=14)
        report = await ezra.run_lifecycle_tick("year")
        assert report.problems == ()
        by_grain = {
            grain: await graph.episodes(grain=grain)
            for grain in ("daily", "weekly", "monthly", "quarterly", "yearly")
        }
        assert len(by_grain["daily"]) == 30
        assert [one.period for one in by_grain["quarterly"]][:2] == ["2026-Q1", "2026-Q2"]
        assert [one.period for one in by_grain["yearly"]] == ["2026"]
        assert by_grain["monthly"][0].period == "2026-01"
        assert by_grain["weekly"][0].period == "2026-W01"
        dailies = {one.id for one in by_grain["daily"]}
        assert {child for one in by_grain["monthly"] for child in one.children} <= dailies
        assert {child for one in by_grain["weekly"] for child in one.children} <= dailies
        again = await ezra.run_lifecycle_tick("year")
        assert (again.summaries_written, again.episodes_written) == (0, 0)
        assert (await graph.conservation()).ok


async def test_he_02_prompts_are_the_agents_own_and_a_bad_model_falls_back(tmp_path: Path) -> None:
    """The agent's prompt for a grain is used; what invents is not believed, and nothing is lost."""
    clock, clerk = MovingClock(), Clerk("Anna paid 9999 euros.")
    settings = Settings(home=tmp_path, embedder="off", background=False)
    async with Ezra.open(settings, model=clerk, clock=clock) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent(
            "engineer", topics={"t"}, prompts={"working": "Write as a haiku."}
        )
        await speak(agent, "The left gear broke on lap 12.")
        clock.move(days=1)
        await ezra.run_lifecycle_tick("imola")
        (summary,) = await graph.summaries()
        assert any("Write as a haiku." in told for told in clerk.told)
        assert summary.made_by == "extract"
        assert "lap 12" in summary.text
        assert "9999" not in summary.text


async def test_he_03_a_plan_retires_fine_grains_after_coarse_ones_stand(tmp_path: Path) -> None:
    """Free: after 48 hours turns lose their words, and the day that tells them stays."""
    clock = MovingClock(NEW_YEAR)
    async with running(tmp_path, clock) as ezra:
        graph = await ezra.create_session_graph("plan", retention=checked(Retention, plan="free"))
        agent = await graph.spawn_agent("diarist", topics={"life"})
        told = await speak(agent, "The zebra arrived at noon.")
        clock.move(hours=26)
        await ezra.run_lifecycle_tick("plan")
        assert (await graph.turns_by_ref([])) == {}
        kept = await graph.retain(dry_run=True)
        assert sum(line.due for line in kept.grains) == 0
        clock.move(hours=50)
        dry = await graph.retain(dry_run=True)
        assert sum(line.due for line in dry.grains) == 2, "the turn and its summary"
        done = await graph.retain()
        assert sum(line.retired for line in done.grains) == 2
        (daily,) = await graph.episodes(grain="daily")
        assert "zebra" in daily.text
        report = await graph.conservation()
        assert report.ok
        hits = await graph.recall("zebra")
        assert told.turn.id not in [hit.id for hit in hits.items]
        assert daily.id in [hit.id for hit in hits.items]


async def test_he_07_passes_at_once_cover_each_turn_once(tmp_path: Path) -> None:
    """Three passes side by side do the work of one."""
    clock = MovingClock()
    async with running(tmp_path, clock) as ezra:
        graph = await ezra.create_session_graph("imola")
        for name in ("a", "b"):
            agent = await graph.spawn_agent(name, topics={"t"})
            for number in range(20):
                await speak(agent, f"{name} says {number}.")
        clock.move(days=2)
        await asyncio.gather(*(ezra.run_lifecycle_tick("imola") for _ in range(3)))
        covered = [turn for one in await graph.summaries() for turn in one.covers]
        assert len(covered) == len(set(covered)) == 40
        assert (await graph.conservation()).ok


async def test_ez_07_searching_is_no_use_and_a_turn_counts_once(tmp_path: Path) -> None:
    """Ten searches promote nothing; three contexts do, and the story says why."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("strategist", topics={"tyres"})
        mediums = await agent.remember("Mediums last 18 laps.")
        for _ in range(10):
            await agent.recall("How long do mediums last?")
        await ezra.drain_learning()
        assert (await graph.facts([mediums]))[0].uses == 0
        for _ in range(3):
            await agent.turn("How long do mediums last?")
        await ezra.drain_learning()
        (fact,) = await graph.facts([mediums])
        assert (fact.uses, fact.tier) == (3, "core")
        story = await ezra.explain(mediums)
        assert any("used by 3 turns" in line for line in story.lines)
        assert [(event.kind, event.reason) for event in story.events] == [
            ("promoted", "used 3 times, threshold 3")
        ]


async def test_at_04_a_fact_gives_way_and_stays_readable(tmp_path: Path) -> None:
    """At one address the newer fact stands; the older keeps its words and names its successor."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("home")
        agent = await graph.spawn_agent("butler", topics={"*"}, user_id="ada")
        paris = await agent.remember(Fact(subject="Ada", predicate="lives in", object="Paris"))
        await ezra.drain_learning()
        berlin = await agent.remember(Fact(subject="ada", predicate="lives_in", object="Berlin"))
        await ezra.drain_learning()
        old, new = await graph.facts([paris, berlin])
        assert (old.superseded_by, old.superseded_as) == (berlin, "natural")
        assert old.text == "Ada lives in Paris"
        assert new.superseded_by is None
        events = [one for one in await graph.audit() if one.kind == "superseded"]
        assert [one.record_ids for one in events] == [(paris, berlin)]
        assert all("Paris" not in one.reason and "Berlin" not in one.reason for one in events)


async def test_at_04_a_denial_retires_what_it_denies_as_never_true(tmp_path: Path) -> None:
    """Without a model: the denied fact is marked so, loses confidence, and can still be read."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("home")
        agent = await graph.spawn_agent("butler", topics={"*"}, user_id="ada")
        worked = await agent.remember("I used to work for Acme.")
        await ezra.drain_learning()
        never = await agent.remember("I never worked for Acme.")
        await ezra.drain_learning()
        old, new = await graph.facts([worked, never])
        assert (old.superseded_by, old.superseded_as) == (never, "denial")
        assert old.confidence < new.confidence
        assert old.text == "I used to work for Acme."
        assert new.superseded_by is None


async def test_at_04_what_is_remembered_is_read_as_it_is_said(tmp_path: Path) -> None:
    """The text stays; whom it is about, what of them, and since when are filled in."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("home")
        agent = await graph.spawn_agent("butler", topics={"*"}, user_id="ada")
        home = await agent.remember("I've been living in Turin since 2020.")
        named = await agent.remember(Fact(text="I live in Rome.", subject="Ben"))
        found, other = await graph.facts([home, named])
        assert found.text == "I've been living in Turin since 2020."
        assert (found.subject, found.predicate, found.object) == ("ada", "lives in", "Turin")
        assert found.valid_from == datetime(2020, 1, 1, tzinfo=UTC)
        assert (other.subject, other.predicate) == ("Ben", None)


async def test_at_10_first_persons_of_two_agents_are_two_people(tmp_path: Path) -> None:
    """Neither merged for saying the same words, nor retired by what another says of itself."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("home")
        ines, rolf = [await graph.spawn_agent(name, topics={"*"}) for name in ("ines", "rolf")]
        same = [await one.remember("My doctor is Dr. Hollis.") for one in (ines, rolf)]
        pony = await ines.remember("I have a pony.")
        none = await rolf.remember("I don't have a pony.")
        await ezra.drain_learning()
        facts = await graph.facts([*same, pony, none])
        assert [one.superseded_by for one in facts] == [None] * 4


async def test_at_05_validity_is_set_only_when_it_was_stated(tmp_path: Path) -> None:
    """A stated beginning is kept apart from the time of recording; without one there is none."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("home")
        agent = await graph.spawn_agent("butler", topics={"*"}, user_id="ada")
        await speak(agent, "I live in Lisbon since March 2024. I work at Pirelli.")
        await ezra.drain_learning()
        home = next(one for one in await live_facts(graph, "Lisbon") if "Lisbon" in one.text)
        work = next(one for one in await live_facts(graph, "Pirelli") if "Pirelli" in one.text)
        assert home.valid_from == datetime(2024, 3, 1, tzinfo=UTC)
        assert (work.valid_from, work.valid_to) == (None, None)


async def test_at_06_only_the_users_words_become_facts(tmp_path: Path) -> None:
    """What the agent says of the user is no fact, and every fact names the turn it is from."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("home")
        agent = await graph.spawn_agent("butler", topics={"*"}, user_id="ada")
        told = await speak(agent, "I am allergic to peanuts.", "Noted. You live in Rome.")
        await ezra.drain_learning()
        facts = await live_facts(graph, "allergic peanuts Rome live")
        assert [(one.source_ids, one.fact_type) for one in facts] == [
            ((told.turn.id,), "constraint")
        ]
        assert "peanuts" in facts[0].text


async def test_at_06_a_quiet_scope_costs_no_model_call(tmp_path: Path) -> None:
    """Learning asks the model once for new turns, and never for what it has read."""
    clock, clerk = MovingClock(), Clerk()
    settings = Settings(home=tmp_path, embedder="off", background=False)
    async with Ezra.open(settings, model=clerk, clock=clock) as ezra:
        graph = await ezra.create_session_graph("home")
        agent = await graph.spawn_agent("butler", topics={"*"}, user_id="ada")
        await speak(agent, "Good morning to you all.")
        await ezra.drain_learning()
        assert clerk.filled == 1
        for _ in range(5):
            clock.move(hours=1)
            await ezra.drain_learning()
        assert clerk.filled == 1


async def test_at_08_playbooks_are_counted_by_what_the_user_says_next(tmp_path: Path) -> None:
    """A confirmation after a playbook was in the context counts once; recall returns its steps."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("garage")
        agent = await graph.spawn_agent("mechanic", topics={"*"}, user_id="ada")
        rule = Rule(trigger="gearbox stuck in third", steps=("Cool it.", "Reset the actuator."))
        rule_id = await agent.remember(rule)
        turn = await agent.turn("The gearbox is stuck in third.")
        assert [slot.source_ids for slot in turn.slots if slot.kind == "rule"] == [(rule_id,)]
        await turn.reply("Cool it, then reset the actuator.")
        await speak(agent, "That worked, thank you!")
        await ezra.drain_learning()
        await ezra.drain_learning()
        again = await agent.turn("The gearbox is stuck in third.")
        (slot,) = [slot for slot in again.slots if slot.kind == "rule"]
        assert "Reset the actuator." in slot.text
        story = await ezra.explain(rule_id)
        assert any("confirmed 1 times, rejected 0 times" in line for line in story.lines)


async def test_at_05_what_is_to_hold_later_takes_no_place_yet(tmp_path: Path) -> None:
    """Today's value stays in contexts; the later one stands beside it, with its day."""
    async with running(tmp_path) as ezra:
        agent = await (await ezra.create_session_graph("road")).spawn_agent("a", topics={"*"})
        limit = {"subject": "speed limit", "predicate": "is at", "tier": "core"}
        later = datetime(2047, 1, 1, tzinfo=UTC)
        await agent.remember(Fact(object="80 km/h", **limit))
        await agent.remember(Fact(object="60 km/h", valid_from=later, **limit))
        for today in ("80 km/h", "70 km/h"):
            await agent.remember(Fact(object=today, **limit))
            await ezra.drain_learning()
            turn = await agent.turn("What is the speed limit?")
            assert {slot.text for slot in turn.slots if slot.kind == "core"} == {
                f"speed limit is at {today}",
                "speed limit is at 60 km/h (since 2047-01-01)",
            }


async def test_at_08_a_playbook_gets_new_steps_as_its_next_version(tmp_path: Path) -> None:
    """It keeps its id and its counts; another trigger, an agent's own words and no rule do not."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("pit wall")
        agent = await graph.spawn_agent("caller", topics={"*"}, user_id="ada")
        asked = "Safety car deployed, what now?"
        first = Rule(trigger="safety car deployed", steps=("Check the pit entry.", "Box."))
        rule = await agent.remember(first)
        longer = Rule(trigger="Safety car deployed", steps=(*first.steps, "Tell the crew."))
        for steps in (first.steps, longer.steps):
            turn = await agent.turn(asked)
            await turn.reply(" ".join(steps))
            await speak(agent, "That worked, thanks!")
            await ezra.drain_learning()
            assert await agent.remember(longer, supersedes=rule) == rule
        before = (await graph.status()).usage.writes
        assert await agent.remember(longer, supersedes=rule) == rule
        assert (await graph.status()).usage.writes == before
        (known,) = (await graph.latest_rules()).rows
        assert (known.steps, known.version, known.successes) == (longer.steps, 2, 2)
        assert [one.steps for one in known.former] == [first.steps]
        other = longer.model_copy(update={"trigger": "red flag"})
        with pytest.raises(UsageError, match="the trigger of the rule"):
            await agent.remember(other, supersedes=rule)
        with pytest.raises(UsageError, match="an agent wrote"):
            await agent.remember(longer, supersedes=rule, source="agent")
        with pytest.raises(NotFound):
            await agent.remember(longer, supersedes=await agent.remember("No rule."))


async def test_at_08_an_outcome_counts_for_the_playbook_that_was_followed(tmp_path: Path) -> None:
    """Of three in the context one is followed: it alone is counted, and then ranks first.

    In recall and in the next context, though another fits the question better; what an agent of
    other topics has for the same stays untouched.
    """
    async with running(tmp_path, embedder="required") as ezra:
        graph = await ezra.create_session_graph("garage")
        agent = await graph.spawn_agent("mechanic", topics={"cars"}, user_id="ada")
        sailor = await graph.spawn_agent("sailor", topics={"boats"}, user_id="ada")
        trigger = "gearbox stuck in third gear"
        ways = (
            ("Call the garage.", "Wait for the tow truck."),
            ("Cool the gearbox.", "Reset the actuator."),
            ("Change the oil.", "Drive slowly home."),
        )
        towed, cooled, oiled = [
            await agent.remember(Rule(trigger=trigger, steps=steps)) for steps in ways
        ]
        boats = await sailor.remember(Rule(trigger=trigger, steps=ways[1]))
        asked = "The gearbox is stuck in third gear."
        for answer in ("That worked, thank you!",) * 3:
            turn = await agent.turn(asked)
            shown = {slot.source_ids[0] for slot in turn.slots if slot.kind == "rule"}
            assert shown == {towed, cooled, oiled}
            await turn.reply("Let the gearbox cool down first. Then do a reset of the actuator.")
            await speak(agent, answer)
            turn = await agent.turn(asked)
            await turn.reply("Call the garage and wait for the tow truck.")
            await speak(agent, "That did not help.")
        await ezra.drain_learning()
        again = await agent.turn(asked)
        order = [slot.source_ids[0] for slot in again.slots if slot.kind == "rule"]
        assert order == [cooled, oiled, towed]
        for mode in ("hybrid", "semantic", "keyword"):
            found = await agent.recall(asked, kinds=["rule"], mode=mode)
            counts = {one.id: (one.successes, one.failures, one.version) for one in found.items}
            assert counts == {cooled: (3, 0, 1), oiled: (0, 0, 1), towed: (0, 3, 1)}
            assert (found.items[0].id, found.items[-1].id) == (cooled, towed)
        (theirs,) = (await sailor.recall(asked, kinds=["rule"])).items
        assert (theirs.id, theirs.successes, theirs.failures) == (boats, 0, 0)


async def test_at_10_and_ma_06_the_same_statement_lives_once(tmp_path: Path) -> None:
    """Word for word it is the same record; in nearly the same words one fact stays live."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("strategist", topics={"tyres"})
        first = await agent.remember("Mediums last about 18 laps at Imola.")
        assert await agent.remember("Mediums last about 18 laps at Imola.") == first
        near = await agent.remember("The mediums last 18 laps at Imola!")
        other = await agent.remember("Mediums last about 24 laps at Monza.")
        await ezra.drain_learning()
        stored = {one.id: one for one in await graph.facts([first, near, other])}
        assert stored[near].superseded_by == first
        assert stored[near].superseded_as == "duplicate"
        assert stored[first].superseded_by is None
        assert stored[other].superseded_by is None


async def test_at_10_a_fact_in_other_words_lives_once_and_a_near_miss_beside_it(
    tmp_path: Path,
) -> None:
    """In the passive, in another order, with who does it for the verb; not with roles exchanged."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("home")
        agent = await graph.spawn_agent("butler", topics={"*"})
        said = {
            "Marta painted the fence.": "The fence was painted by Marta.",
            "In Porto Olga studied law.": "Olga studied law in Porto.",
            "Yusuf drives a taxi.": "Yusuf is a taxi driver.",
            "The ticket costs 35 euros.": "The price of the ticket is 35 euros.",
        }
        near = (
            "The fence painted Marta.",
            "Olga studied law in Lima.",
            "Yusuf is a bus driver.",
            "The fine costs 35 euros.",
        )
        firsts = [await agent.remember(text) for text in said]
        await ezra.drain_learning()
        again = [await agent.remember(text) for text in said.values()]
        others = [await agent.remember(text) for text in near]
        await ezra.drain_learning()
        stored = {one.id: one for one in await graph.facts([*firsts, *again, *others])}
        for first, second in zip(firsts, again, strict=True):
            gone, stands = sorted((stored[first], stored[second]), key=is_live)
            assert (is_live(gone), is_live(stands)) == (False, True)
            assert (gone.superseded_by, gone.superseded_as) == (stands.id, "duplicate")
        assert all(is_live(stored[one]) for one in others)


async def test_ma_07_the_judge_stays_in_its_bucket_and_stamps_what_it_saw(tmp_path: Path) -> None:
    """Another user's fact at the same address stays; each fact is stamped, and not judged again."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("home")
        ids = []
        for user, city in (("ada", "Paris"), ("bob", "Rome")):
            agent = await graph.spawn_agent(f"for {user}", topics={"*"}, user_id=user)
            fact = Fact(subject="the user", predicate="lives in", object=city)
            ids.append(await agent.remember(fact))
        await ezra.drain_learning()
        facts = await graph.facts(ids)
        assert [one.superseded_by for one in facts] == [None, None]
        assert all(one.judged_at is not None for one in facts)
        report = await ezra.drain_learning()
        assert report.claimed == 0


async def test_ma_08_what_was_forgotten_loses_its_content_later(tmp_path: Path) -> None:
    """Forgetting hides at once; thirty days on the words are gone, and the row stays."""
    clock = MovingClock()
    async with running(tmp_path, clock) as ezra:
        graph = await ezra.create_session_graph("home")
        agent = await graph.spawn_agent("butler", topics={"*"})
        code = await agent.remember("The gate code is 4711.")
        assert await agent.forget(code, reason="asked by the owner")
        assert not await agent.forget(code, reason="again")
        assert [hit.id for hit in (await agent.recall("gate code")).items] == []
        assert (await graph.facts([code]))[0].forgotten_at is not None
        clock.move(days=29)
        await ezra.run_lifecycle_tick("home")
        assert "4711" in (await graph.facts([code]))[0].text
        clock.move(days=2)
        await ezra.run_lifecycle_tick("home")
        assert await graph.facts([code]) == ()
        events = {one.kind for one in await graph.audit() if code in one.record_ids}
        assert {"forgotten", "retired"} <= events


async def test_ez_04_and_ez_15_archiving_compacts_everything(tmp_path: Path) -> None:
    """An archived graph has every turn in every grain, an empty ring, and its beliefs verbatim."""
    clock = MovingClock()
    async with running(tmp_path, clock) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("strategist", topics={"tyres"})
        for number in range(12):
            await speak(agent, f"Stint {number} took {20 + number} laps.")
        belief = await agent.commit("Start on mediums.", topic="tyres")
        await graph.archive()
        await ezra.drain_learning()
        status = await graph.status()
        assert status.hot == 0
        report = await graph.conservation()
        assert report.ok
        assert [line.tail for line in report.grains] == [0] * 6
        assert [one.claim for one in await graph.beliefs.active()] == [belief.claim]
        await graph.configure(retention=checked(Retention, plan="working=1h"))
        clock.move(hours=2)
        await ezra.run_lifecycle_tick("imola")
        hits = await graph.recall("stint laps", limit=50)
        assert {hit.kind for hit in hits.items} <= {"episode", "belief"}
        assert (await graph.conservation()).ok


async def test_ne_09_the_same_life_twice_gives_the_same_memory(tmp_path: Path) -> None:
    """Without a model, summaries, episodes and facts are decided by what was said alone."""

    async def lived(home: Path, name: str) -> list[str]:
        clock = MovingClock(NEW_YEAR)
        async with running(home, clock) as ezra:
            graph = await ezra.create_session_graph(name)
            agent = await graph.spawn_agent("butler", topics={"*"}, user_id="ada")
            for number in range(8):
                await speak(agent, f"I like tea number {number}. The pot holds {number} cups.")
                clock.move(hours=12)
            await ezra.drain_learning()
            await ezra.run_lifecycle_tick(name)
            made = [*await graph.summaries(), *await graph.episodes()]
            facts = await live_facts(graph, "tea cups like pot")
            return sorted(one.text for one in (*made, *facts))

    assert await lived(tmp_path / "one", "one") == await lived(tmp_path / "two", "two")

"""Recall of other times: rows NE-01 (as of a moment) and HE-04 (windows of days)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from support.many_turns import fill, ids_of, say
from support.runtime import MovingClock, running

from ezra import Fact, PastTurn, Rule
from ezra.checks import checked
from tiers.fleet import Parent

FRIDAY = datetime(2026, 5, 15, 9, 0, tzinfo=UTC)


async def test_ne_01_facts_and_beliefs_are_as_they_stood_then(tmp_path: Path) -> None:
    """Superseded, forgotten, reverted and not yet written: each moment has what held at it."""
    clock = MovingClock(FRIDAY)
    async with running(tmp_path, clock) as ezra:
        graph = await ezra.create_session_graph("g")
        agent = await graph.spawn_agent("a", topics={"t"})
        moments = [clock()]
        old = await agent.remember("The ferry leaves at nine.")
        gone = await agent.remember("The ferry has a bar.")
        first = await agent.commit("We take the ferry.", topic="t", key=("trip", "by"), value="f")
        said = (await say(agent, "Does the ferry call at Elba?")).id
        clock.move(hours=1)
        moments.append(clock())
        new = await agent.remember("The ferry leaves at ten.", supersedes=old)
        await agent.forget(gone, reason="asked to")
        second = await agent.commit("No ferry.", topic="t", key=("trip", "by"), value="car")
        clock.move(hours=1)
        moments.append(clock())
        await graph.beliefs.revert(second.id, reason="wrong")
        clock.move(hours=1)
        moments.append(clock())
        held = [
            set(),
            {old, gone, first.id, said},
            {new, second.id, said},
        ]
        for reader in (agent, graph):
            for moment, expected in zip(moments, held, strict=False):
                found = ids_of((await reader.recall("ferry", as_of=moment)).items)
                assert set(found) == expected
        now = set(ids_of((await agent.recall("ferry")).items))
        assert now == set(ids_of((await agent.recall("ferry", as_of=moments[3])).items))
        assert not {old, gone, second.id} & now


@pytest.mark.parametrize("back", [{"seconds": -40}, {"hours": -2}])
async def test_ne_01_as_of_now_has_what_a_clock_ahead_has_stamped(
    tmp_path: Path, back: dict[str, float]
) -> None:
    """Whatever is there is there as of now, also by a clock that was set back since."""
    clock = MovingClock(FRIDAY)
    async with running(tmp_path, clock) as ezra:
        graph = await ezra.create_session_graph("g")
        agent = await graph.spawn_agent("a", topics={"t"})
        long_ago = clock()
        clock.move(days=1)
        await agent.knowledge.add("ferry", "leaves at", "nine")
        await agent.documents.put("ferry.md", "The ferry has a bar.")
        await say(agent, "Does the ferry call at Elba?")
        asked = {"limit": 20, "explain": True}
        clock.move(**back)
        now = await agent.recall("ferry", **asked)
        assert len(now.items) >= 3
        as_of_now = await agent.recall("ferry", as_of=clock(), **asked)
        assert ids_of(as_of_now.items) == ids_of(now.items)
        assert await agent.knowledge.neighbours("ferry", as_of=clock())
        assert await agent.documents.list(as_of=clock())
        assert (await agent.recall("ferry", as_of=long_ago)).items == ()
        assert await agent.documents.list(as_of=long_ago) == ()


async def test_ne_01_summaries_that_have_expired_since_are_there(tmp_path: Path) -> None:
    """At the moment at which they stood, and not before they were written."""
    clock = MovingClock(FRIDAY)
    async with running(tmp_path, clock, ring_capacity=1, turns_per_summary=2) as ezra:
        graph = await ezra.create_session_graph("g")
        agent = await graph.spawn_agent("a", topics={"t"})
        for number in range(3):
            await say(agent, f"The ferry was {number} minutes late.")
        before = clock()
        await ezra.run_lifecycle_tick("g")
        (summary,) = await graph.summaries()
        clock.move(hours=1)
        then = clock()
        for _ in range(2):
            clock.move(hours=23, minutes=45)
            await ezra.run_lifecycle_tick("g")
        kinds = ("summary",)
        assert summary.id not in ids_of((await agent.recall("ferry", kinds=kinds)).items)
        found = (await agent.recall("ferry", kinds=kinds, as_of=then)).items
        assert ids_of(found) == [summary.id]
        assert (await agent.recall("ferry", kinds=kinds, as_of=before)).items == ()
        whole = await agent.recall("ferry", as_of=then)
        assert any(summary.id in hit.folded for hit in whole.items)


async def test_ne_01_what_is_inherited_moves_with_the_moment(tmp_path: Path) -> None:
    """A parent's facts: not before they were recorded or promoted, and until they gave way."""
    clock = MovingClock(FRIDAY)
    async with running(tmp_path, clock, promote_at_uses=2) as ezra:
        parent = await ezra.create_session_graph("before")
        elder = await parent.spawn_agent("elder", topics={"t"})
        first = await elder.remember(Fact(text="The ferry is white.", tier="core"))
        promoted = await elder.remember("The ferry is old.")
        child = await ezra.create_session_graph("now", inherits_from=["before"])
        agent = await child.spawn_agent("a", topics={"t"})
        start = clock()
        clock.move(hours=1)
        for _ in range(2):
            await elder.turn("Is the ferry old?")
        await ezra.drain_learning()
        middle = clock()
        clock.move(hours=1)
        repainted = Fact(text="The ferry is green.", tier="core")
        second = await elder.remember(repainted, supersedes=first)
        asked = "What is the ferry?"
        for moment, expected in (
            (start, {first}),
            (middle, {first, promoted}),
            (clock(), {second, promoted}),
            (None, {second, promoted}),
        ):
            found = await agent.recall(asked, as_of=moment)
            assert set(ids_of(found.items)) == expected, moment
        pinned = checked(Parent, id="before", as_of=middle)
        other = await ezra.create_session_graph("later", inherits_from=[pinned])
        heir = await other.spawn_agent("a", topics={"t"})
        for moment in (clock(), None):
            found = await heir.recall(asked, as_of=moment)
            assert set(ids_of(found.items)) == {first, promoted}


async def test_ne_01_the_same_moment_gives_the_same_answer(tmp_path: Path) -> None:
    """Asked at once, and after writes, uses, supersessions, promotions and expiries since."""
    clock = MovingClock(FRIDAY)
    questions = ("How long do mediums last?", "What broke on lap 7?", "Who watches the fuel?")
    settings = {"ring_capacity": 2, "turns_per_summary": 2, "promote_at_uses": 2}
    async with running(tmp_path, clock, embedder="required", **settings) as ezra:
        graph = await ezra.create_session_graph("g")
        agent = await graph.spawn_agent("a", topics={"t"})
        facts = [
            await agent.remember(one)
            for one in (
                "Mediums last 18 laps.", "Hards last 30 laps.", "Ada watches the fuel.",
                "Bob watches the tyres.",
            )
        ]  # fmt: skip
        for lap in range(8):
            await say(agent, f"Lap {lap}: the {'mediums' if lap % 2 else 'pump'} broke.")
        await agent.commit("Start on mediums.")
        await ezra.drain_learning()
        await ezra.run_lifecycle_tick("g")
        clock.move(hours=2)
        moment = clock()
        clock.move(minutes=1)

        async def answers() -> list[list[tuple[str, float]]]:
            told = []
            for one in questions:
                for mode in ("hybrid", "keyword"):
                    found = await agent.recall(one, as_of=moment, limit=20, mode=mode)
                    assert not found.degraded, found.skipped
                    told.append([(hit.id, round(hit.score, 4)) for hit in found.items])
            return told

        at_once = await answers()
        for one, told in zip(questions, at_once[::2], strict=True):
            kinds = ("turn", "fact", "summary")
            live = (await agent.recall(one, limit=20, kinds=kinds)).items
            assert {record_id for record_id, _ in told} >= set(ids_of(live))
        clock.move(days=3)
        for number in range(12):
            await say(agent, f"How long do mediums last on lap 7, try {number}?")
        await agent.remember("Mediums last 21 laps.", supersedes=facts[0])
        await agent.forget(facts[3], reason="asked to")
        await agent.commit("Start on softs, lap 7.")
        await ezra.drain_learning()
        await ezra.run_lifecycle_tick("g")
        for then, today in zip(at_once, await answers(), strict=True):
            assert [one for one, _ in today] == [one for one, _ in then]
            # What the index says and what is computed again may round apart in the last digit.
            scores = [score for _, score in then]
            assert [score for _, score in today] == pytest.approx(scores, abs=2e-4)


async def test_he_04_a_window_of_days_finds_what_lies_in_it(tmp_path: Path) -> None:
    """However much better matches lie outside: the window is part of what engines are asked."""
    clock = MovingClock(FRIDAY)
    async with running(tmp_path, clock, embedder="required", time_zone="Asia/Tokyo") as ezra:
        graph = await ezra.create_session_graph("g")
        agent = await graph.spawn_agent("a", topics={"t"})
        better = [f"Pump {number} leaks oil." for number in range(130)]
        await fill(ezra, agent, better, at=FRIDAY - timedelta(days=30))
        told = (
            "Somebody mentioned that there may be a pump in the old hall that leaks now and then."
        )
        days = {
            ago: (await say(agent, told, at=FRIDAY - timedelta(days=ago))).id for ago in (0, 3, 7)
        }
        await ezra.drain_learning()
        asked = "Which pump leaks oil?"
        assert not set(days.values()) & set(ids_of((await agent.recall(asked)).items))
        for window, expected in (
            ({"max_days_ago": 7}, {0, 3, 7}),
            ({"max_days_ago": 6}, {0, 3}),
            ({"min_days_ago": 1, "max_days_ago": 7}, {3, 7}),
            ({"min_days_ago": 3, "max_days_ago": 3}, {3}),
            ({"min_days_ago": 4, "max_days_ago": 6}, set()),
        ):
            for mode in ("hybrid", "keyword", "semantic"):
                found = await agent.recall(asked, mode=mode, **window)
                assert set(ids_of(found.items)) == {days[ago] for ago in expected}, (window, mode)
        outside = await agent.recall(asked, min_days_ago=8)
        assert len(outside.items) == 10
        assert not set(days.values()) & set(ids_of(outside.items))
        then = await agent.recall(asked, min_days_ago=0, max_days_ago=4, as_of=clock())
        assert set(ids_of(then.items)) == {days[0], days[3]}


async def test_he_04_days_begin_where_the_installation_is(tmp_path: Path) -> None:
    """Midnight of the time zone, not of UTC; grains narrow episodes alone."""
    clock = MovingClock(datetime(2026, 5, 15, 16, 0, tzinfo=UTC))  # 01:00 on Saturday in Tokyo
    async with running(tmp_path, clock, time_zone="Asia/Tokyo") as ezra:
        graph = await ezra.create_session_graph("g")
        agent = await graph.spawn_agent("a", topics={"t"})
        friday = await say(agent, "The crane stands.", at=clock() - timedelta(hours=2))
        saturday = await say(agent, "The crane turns.", at=clock() - timedelta(minutes=30))
        today = await agent.recall("crane", max_days_ago=0)
        assert ids_of(today.items) == [saturday.id]
        earlier = await agent.recall("crane", min_days_ago=1)
        assert ids_of(earlier.items) == [friday.id]
        clock.move(days=40)
        await ezra.run_lifecycle_tick("g")
        kinds = ("turn", "episode")
        found = await agent.recall("crane", kinds=("episode",), grains=("monthly",))
        assert {hit.grain for hit in found.items} == {"monthly"}
        both = await agent.recall("crane", kinds=kinds, grains=("weekly",), limit=20)
        assert {hit.kind for hit in both.items} >= {"turn"}
        assert {hit.grain for hit in both.items} <= {"weekly", None}


async def test_ne_01_a_parent_is_not_there_before_it_was_inherited(tmp_path: Path) -> None:
    """Neither for a recall nor for the knowledge graph; a branch has all of its parent's past."""
    clock = MovingClock(FRIDAY)
    async with running(tmp_path, clock) as ezra:
        parent = await ezra.create_session_graph("parent")
        keeper = await parent.spawn_agent("keeper", topics={"*"})
        await keeper.remember(Fact(subject="ferry", predicate="is", object="blue", tier="core"))
        child = await ezra.create_session_graph("child")
        agent = await child.spawn_agent("a", topics={"*"})
        clock.move(hours=1)
        before = clock()
        clock.move(hours=1)
        await child.inherit("parent")
        clock.move(hours=1)
        after = clock()
        branch = await parent.branch(session_graph_id="other")
        sailor = await branch.spawn_agent("sailor", topics={"*"})
        for asker, moment, texts in (
            (agent, before, []),
            (agent, after, ["ferry is blue"]),
            (sailor, before, ["ferry is blue"]),
        ):
            found = await asker.recall("What is the ferry?", as_of=moment)
            assert [one.text for one in found.items] == texts
            near = await asker.knowledge.neighbours("ferry", as_of=moment)
            assert [one.fact.text for one in near] == texts
            known = await asker.knowledge.entity("ferry", as_of=moment)
            assert (known is not None) == bool(texts)


async def test_ne_01_a_playbook_has_the_steps_of_the_moment(tmp_path: Path) -> None:
    """In a recall of the past, in a child pinned to a moment and in a branch; else those of now."""
    clock = MovingClock(FRIDAY)
    async with running(tmp_path, clock) as ezra:
        parent = await ezra.create_session_graph("parent")
        keeper = await parent.spawn_agent("keeper", topics={"*"})
        live = await ezra.create_session_graph("live", inherits_from=["parent"])
        rule_id = await keeper.remember(Rule(trigger="the ferry is late", steps=("Wait.",)))
        await ezra.drain_learning()
        clock.move(hours=1)
        before = clock()
        pin = Parent(id="parent", as_of=before)
        pinned = await ezra.create_session_graph("pinned", inherits_from=[pin])
        graphs = [parent, live, pinned, await parent.branch(session_graph_id="branch")]
        clock.move(hours=1)
        await keeper.remember(
            Rule(trigger="the ferry is late", steps=("Phone the pier.",)), supersedes=rule_id
        )
        steps = ["Phone the pier.", "Phone the pier.", "Wait.", "Wait."]
        # The index is a moment behind, or is not.
        for _ in range(2):
            for graph, step in zip(graphs, steps, strict=True):
                agent = await graph.spawn_agent("a", topics={"*"})
                turn = await agent.turn("The ferry is late!")
                shown = [slot.text for slot in turn.slots if slot.kind == "rule"]
                (hit,) = (await agent.recall("ferry late", kinds=["rule"])).items
                assert [hit.text] == shown == [f"When the ferry is late:\n- {step}"]
                if graph.id in {"parent", "live"}:
                    past = await agent.recall("ferry late", kinds=["rule"], as_of=before)
                    (then,) = past.items
                    assert (then.text, then.version) == ("When the ferry is late:\n- Wait.", 1)
            await ezra.drain_learning()


async def test_ne_01_a_playbook_is_found_by_the_steps_of_the_moment(tmp_path: Path) -> None:
    """By words that it has no more, and not by words that it got later; so in a child."""
    clock = MovingClock(FRIDAY)
    async with running(tmp_path, clock) as ezra:
        parent = await ezra.create_session_graph("parent")
        keeper = await parent.spawn_agent("keeper", topics={"*"})
        other = await parent.spawn_agent("other", topics={"nothing"})
        child = await ezra.create_session_graph("child", inherits_from=["parent"])
        heir = await child.spawn_agent("heir", topics={"*"})
        rule_id, trigger = "", "the ferry is late"
        moments = []
        for step in ("Wait at the kiosk.", "Phone the pier.", "Take the train."):
            given = {"supersedes": rule_id} if rule_id else {"topics": ["travel"]}
            rule_id = await keeper.remember(Rule(trigger=trigger, steps=(step,)), **given)
            await ezra.drain_learning()
            clock.move(hours=1)
            moments.append(clock())
            clock.move(hours=1)
        words = ("kiosk", "pier", "train")

        async def found(asker: object, word: str, moment: datetime | None) -> list[str]:
            said = await asker.recall(word, kinds=["rule"], as_of=moment)  # type: ignore[attr-defined]
            return [one.text.partition("- ")[2] for one in said.items]

        for at, moment in enumerate(moments):
            for number, word in enumerate(words):
                told = ["Wait at the kiosk.", "Phone the pier.", "Take the train."][at]
                wanted = [told] if number == at else []
                for asker in (keeper, parent, heir, child):
                    assert await found(asker, word, moment) == wanted, (at, word)
                assert await found(other, word, moment) == []
        assert await found(keeper, "train", None) == ["Take the train."]
        assert await found(keeper, "kiosk", None) == []
        pinned = await ezra.create_session_graph(
            "pinned", inherits_from=[Parent(id="parent", as_of=moments[0])]
        )
        for word in words:
            wanted = ["Wait at the kiosk."] if word == "kiosk" else []
            assert await found(pinned, word, None) == wanted, word
        await parent.redact([rule_id], reason="asked for")
        assert await found(keeper, "kiosk", moments[0]) == []


async def test_ne_01_playbooks_that_said_the_same_are_told_once_of_then(tmp_path: Path) -> None:
    """Two agents' rules were one answer until one was refined; those that differed were two."""
    clock = MovingClock(FRIDAY)
    async with running(tmp_path, clock) as ezra:
        graph = await ezra.create_session_graph("pier")
        agents = [await graph.spawn_agent(name, topics={"t"}) for name in ("a", "b")]
        wait, phone = (
            Rule(trigger="the ferry is late", steps=(step,))
            for step in ("Wait at the gate.", "Phone the pier and ask.")
        )
        _, second = [await agent.remember(wait) for agent in agents]
        moments = [clock()]
        for rule in (phone, wait):
            clock.move(hours=1)
            await agents[1].remember(rule, supersedes=second)
            moments.append(clock())
        for moment, count in zip(moments, (1, 2, 1), strict=True):
            past = await agents[0].recall("ferry late", kinds=["rule"], as_of=moment)
            assert len(past.items) == count


async def test_ez_10_a_definition_hides_while_it_holds(tmp_path: Path) -> None:
    """A child's wing of next week, and that of last week, stand beside what the parent has now."""
    clock = MovingClock()
    async with running(tmp_path, clock) as ezra:
        parent = await ezra.create_session_graph("parent")
        keeper = await parent.spawn_agent("keeper", topics={"*"})
        wing = {"subject": "wing", "predicate": "is at", "tier": "core"}
        await keeper.remember(Fact(object="5", **wing))
        child = await ezra.create_session_graph("child", inherits_from=["parent"])
        agent = await child.spawn_agent("a", topics={"*"})
        first, last = clock() + timedelta(days=7), clock() + timedelta(days=14)
        await agent.remember(Fact(object="7", valid_from=first, valid_to=last, **wing))
        for is_hidden in (False, True, False):
            turn = await agent.turn("Where is the wing?")
            seen = {"wing is at 7"} | (set() if is_hidden else {"wing is at 5"})
            assert {one.text for one in turn.core.facts} == seen
            assert {one.text for one in (await agent.core()).facts} == seen
            assert {one.text for one in (await agent.recall("wing")).items} == seen
            assert [one.text for one in turn.shadowed] == ["wing is at 5"] * is_hidden
            clock.move(days=8)
        past = await agent.recall("wing", as_of=first)
        assert {one.text for one in past.items} == {"wing is at 7"}


async def test_ez_13_a_branch_has_the_archival_facts_of_its_moment(tmp_path: Path) -> None:
    """In recall, contexts and the knowledge graph; what its parent forgets is forgotten in it."""
    clock = MovingClock(FRIDAY)
    async with running(tmp_path, clock) as ezra:
        parent = await ezra.create_session_graph("parent")
        keeper = await parent.spawn_agent("keeper", topics={"x"}, user_id="ada")
        nine = await keeper.remember("The ferry leaves at nine.")
        bar = await keeper.remember("The ferry leaves with a bar.")
        await keeper.remember("The ferry leaves without me.", private=True)
        await keeper.remember(Fact(subject="ferry", predicate="leaves from", object="Dover"))
        clock.move(hours=1)
        branch = await parent.branch(session_graph_id="branch")
        clock.move(hours=1)
        await keeper.remember("The ferry leaves at ten.", supersedes=nine)
        await keeper.remember("The ferry leaves daily.")
        await keeper.forget(bar, reason="asked to")
        child = await ezra.create_session_graph("child", inherits_from=["branch"])
        expected = {"The ferry leaves at nine.", "ferry leaves from Dover"}
        for _ in range(2):
            for graph, topics, user, seen in (
                (branch, {"x"}, "ada", expected),
                (branch, {"x"}, None, set()),
                (branch, {"y"}, "ada", set()),
                (child, {"x"}, "ada", set()),
            ):
                agent = await graph.spawn_agent("a", topics=topics, user_id=user)
                found = await agent.recall("When does the ferry leave?", kinds=["fact"])
                assert {one.text for one in found.items} == seen
                turn = await agent.turn("When does the ferry leave?")
                shown = {one.text for one in turn.slots if one.kind == "archival"}
                assert shown == seen
                near = await agent.knowledge.neighbours("ferry")
                assert len(near) == bool(seen)
            await ezra.drain_learning()


async def test_ez_13_what_hides_in_a_graph_hides_in_its_branch(tmp_path: Path) -> None:
    """An archival definition of then hides what lies further away, also when it has ended since."""
    clock = MovingClock(FRIDAY)
    async with running(tmp_path, clock) as ezra:
        root = await ezra.create_session_graph("root")
        keeper = await root.spawn_agent("keeper", topics={"*"})
        wing = {"subject": "wing", "predicate": "is at"}
        await keeper.remember(Fact(object="5", tier="core", **wing))
        graph = await ezra.create_session_graph("graph", inherits_from=["root"])
        agent = await graph.spawn_agent("a", topics={"*"})
        seven = await agent.remember(Fact(object="7", **wing))
        clock.move(hours=1)
        branch = await graph.branch(session_graph_id="branch")
        other = await branch.spawn_agent("a", topics={"*"})
        clock.move(hours=1)
        for ending in ("not", "superseded", "redacted"):
            if ending == "superseded":
                await agent.knowledge.update("wing", "is at", "9")
            if ending == "redacted":
                await graph.redact([seven], reason="asked to")
            seen = ["wing is at 5" if ending == "redacted" else "wing is at 7"]
            assert [one.text for one in (await other.recall("wing")).items] == seen
            near = await other.knowledge.neighbours("wing")
            assert [one.fact.text for one in near] == seen
            clock.move(hours=1)


@pytest.mark.parametrize("zone", ["America/New_York", "Pacific/Auckland"])
async def test_what_was_said_at_an_end_of_the_calendar_stands_in_nobodys_way(
    tmp_path: Path, zone: str
) -> None:
    """In a zone whose clock has no such day: all is found and learnt as ever, as of then too."""
    ends = (datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC))
    async with running(tmp_path, time_zone=zone) as ezra:
        agent = await (await ezra.create_session_graph("imola")).spawn_agent("keeper")
        told = [PastTurn(message="I live in Graz since last Monday.", at=at) for at in ends]
        await agent.record(told)
        await ezra.drain_learning()
        assert len((await agent.recall("Who lives in Graz on Monday 1 January?")).items) >= 2
        assert (await agent.recall("What was said of Graz last month?", as_of=ends[1])).items

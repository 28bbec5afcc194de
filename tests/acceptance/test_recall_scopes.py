"""Who and what a recall asks: rows MA-01, MA-02; fairness, folding, names, and separate graphs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from support.many_turns import fill, ids_of, say
from support.runtime import MovingClock, running

from ezra import Agent, Ezra, Fact, Graph, Parent, Rule, UsageError

ASKED = "Where is the harbour key?"
MAY = datetime(2026, 5, 14, 8, 0, tzinfo=UTC)
CLASSES = ("session", "user", "agent", "tenant")


async def harbour(ezra: Ezra) -> tuple[Graph, Agent, dict[str, str]]:
    """Leave the same thing in every scope class; return the graph, who asks, and what is whose."""
    before = await ezra.create_session_graph("before")
    elder = await before.spawn_agent("elder", topics={"t"})
    left = {"tenant": await elder.remember(Fact(text="The harbour key had a twin.", tier="core"))}
    graph = await ezra.create_session_graph("now", inherits_from=["before"])
    agent = await graph.spawn_agent("pilot", topics={"t"}, user_id="ada")
    twin = await graph.spawn_agent("twin", topics={"t"}, user_id="ada")
    stranger = await graph.spawn_agent("stranger", topics={"t"}, user_id="bob")
    nobodys = await graph.spawn_agent("nobodys", topics={"t"})
    left["session"] = (await say(agent, "The harbour key hangs in the office.")).id
    left["user"] = await twin.remember("Ada lost the harbour key twice.")
    left["agent"] = await agent.remember("The harbour key is brass.", shared=True)
    left["nobody"] = await nobodys.remember("The harbour key opens the shed.")
    await stranger.remember("The harbour key is with Bob.")
    await say(stranger, "The harbour key is mine.")
    return graph, agent, left


async def test_ma_01_scope_classes_are_told_apart(tmp_path: Path) -> None:
    """Each class finds its own, ``any`` all of them, and none finds another user's."""
    async with running(tmp_path) as ezra:
        graph, agent, left = await harbour(ezra)
        for name in CLASSES:
            found = await agent.recall(ASKED, scope=name)
            assert left[name] in ids_of(found.items), name
            for other in set(CLASSES) - {name}:
                assert left[other] not in ids_of(found.items), (name, other)
        everything = ids_of((await agent.recall(ASKED, scope="any")).items)
        assert set(everything) == set(left.values())
        assert len(ids_of((await agent.recall(ASKED, limit=2)).items)) == 2
        (rule,) = (await agent.recall(ASKED, kinds=("turn",))).items
        assert rule.id == left["session"]
        assert (await graph.recall(ASKED, scope="session")).items


async def test_ma_01_a_missing_identity_is_refused_by_name(tmp_path: Path) -> None:
    """Refused is not empty: the error names the argument; so are limits, kinds and classes."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("g")
        agent = await graph.spawn_agent("a", topics={"t"})
        for call in (agent.recall("x", scope="user"), graph.recall("x", scope="user")):
            with pytest.raises(UsageError) as refused:
                await call
            assert refused.value.field == "scope"
        with pytest.raises(UsageError) as refused:
            await graph.recall("x", scope="agent")
        assert refused.value.field == "scope"
        wrong: list[tuple[str, dict[str, object]]] = [
            ("scope", {"scope": "planet"}),
            ("limit", {"limit": 101}),
            ("kinds", {"kinds": ()}),
            ("kinds", {"kinds": ("wish",)}),
            ("grains", {"grains": ("hourly",)}),
            ("depth", {"depth": 5}),
            ("token_budget", {"token_budget": 0}),
            ("max_days_ago", {"min_days_ago": 3, "max_days_ago": 2}),
            ("as_of", {"as_of": datetime(2026, 1, 1)}),  # noqa: DTZ001 - what is refused
            ("colour", {"colour": "red"}),
        ]
        for field, arguments in wrong:
            with pytest.raises(UsageError) as refused:
                await agent.recall("x", **arguments)
            assert refused.value.field == field
        assert (await agent.recall("x", scope="agent")).items == ()


async def test_ma_02_weights_order_and_zero_suppresses(tmp_path: Path) -> None:
    """The weightier class comes first; one of weight 0 is nowhere, and the others stay whole."""
    bad: list[object] = ["bananas", "-1", "nan"]
    async with running(tmp_path, **{f"recall_weight_{one}": bad[0] for one in CLASSES}) as ezra:
        assert ezra.settings.recall_weight_session == 1.3
        assert ezra.settings.recall_weight_user == 1.1
        graph, agent, left = await harbour(ezra)
        await graph.close()
    for value in bad[1:]:
        async with running(tmp_path, recall_weight_user=value) as ezra:
            assert ezra.settings.recall_weight_user == 1.1
    for lifted in ("user", "tenant"):
        async with running(tmp_path, **{f"recall_weight_{lifted}": 50}) as ezra:
            agent = await _pilot(ezra)
            assert ids_of((await agent.recall(ASKED, limit=1)).items) == [left[lifted]]
    for silent in CLASSES:
        async with running(tmp_path, **{f"recall_weight_{silent}": 0}) as ezra:
            agent = await _pilot(ezra)
            found = ids_of((await agent.recall(ASKED)).items)
            gone = {left[silent]} | ({left["nobody"]} if silent == "session" else set())
            assert set(found) == set(left.values()) - gone, silent
            whole = await ezra.session_graph("now")
            seen = set(ids_of((await whole.recall(ASKED)).items))
            assert (left["nobody"] in seen) == (silent != "session"), silent


async def _pilot(ezra: Ezra) -> Agent:
    graph = await ezra.session_graph("now")
    return await graph.spawn_agent("pilot", topics={"t"}, user_id="ada")


async def test_ma_02_what_is_suppressed_takes_nobodys_place(tmp_path: Path) -> None:
    """More better matches of a class of weight 0 do not hide the one of another."""
    async with running(tmp_path, recall_weight_session=0) as ezra:
        graph = await ezra.create_session_graph("g")
        agent = await graph.spawn_agent("a", topics={"t"})
        fact = await agent.remember("A key for the old harbour lies below the blue mat.")
        await fill(ezra, agent, [f"Harbour key {number}." for number in range(130)])
        await say(agent, "Harbour key!")
        assert ids_of((await agent.recall("harbour key", limit=3)).items) == [fact]


async def test_one_kind_cannot_crowd_out_the_others(tmp_path: Path) -> None:
    """Sixty turns of as many days that say it leave places to the fact and the belief."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("g")
        agent = await graph.spawn_agent("a", topics={"t"})
        fact = await agent.remember("The harbour key hangs in the shed.")
        belief = await agent.commit("The harbour key hangs at the mast.")
        for day in range(60):
            at = MAY - timedelta(days=day)
            await fill(ezra, agent, [f"The harbour key hangs in shed {day}."], at=at)
        found = (await agent.recall("Where does the harbour key hang?")).items
        assert {fact, belief.id} <= set(ids_of(found))
        assert [hit.kind for hit in found].count("turn") == 8


async def test_a_summary_that_matches_leads_to_its_turns(tmp_path: Path) -> None:
    """And stands for them only when it alone is asked for."""
    clock = MovingClock()
    async with running(tmp_path, clock, ring_capacity=1, turns_per_summary=4) as ezra:
        graph = await ezra.create_session_graph("g")
        agent = await graph.spawn_agent("a", topics={"t"})
        turns = [
            await say(agent, text)
            for text in (
                "The pelican nests on the mast.",
                "Its nest has three eggs.",
                "The cook feeds it herring.",
                "It bit the captain.",
                "Good night.",
            )
        ]
        await ezra.run_lifecycle_tick("g")
        (summary,) = await graph.summaries()
        assert summary.covers == tuple(turn.id for turn in turns[:4])
        found = (await agent.recall("pelican herring")).items
        assert summary.id not in ids_of(found)
        assert [summary.id in hit.folded for hit in found].count(True) == 1
        assert {turns[0].id, turns[2].id} <= set(ids_of(found))
        (alone,) = (await agent.recall("pelican herring", kinds=("summary",))).items
        assert (alone.id, alone.source_ids) == (summary.id, summary.covers)


async def test_an_alias_leads_to_the_fact(tmp_path: Path) -> None:
    """By a name that the fact does not have; not when depth 0 asks for no knowledge."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("g")
        agent = await graph.spawn_agent("a", topics={"t"})
        await agent.knowledge.add("Elizabeth Windsor", "owns", "the grey mare")
        fact = (await agent.recall("grey mare", kinds=("fact",))).items[0].id
        await agent.knowledge.alias("Elizabeth Windsor", "Lilibet")
        found = await agent.recall("What has Lilibet got?", explain=True)
        assert fact in ids_of(found.items)
        assert "knowledge" in found.reasons[fact].ranks
        assert fact not in ids_of((await agent.recall("What has Lilibet got?", depth=0)).items)
        other = await graph.spawn_agent("b", topics={"u"})
        assert (await other.recall("What has Lilibet got?")).items == ()


async def test_an_iso_week_in_a_question_is_a_time(tmp_path: Path) -> None:
    """Of the same words, those of the week that is asked about come first; the year's edge too."""
    clock = MovingClock(datetime(2027, 2, 1, 9, 0, tzinfo=UTC))
    async with running(tmp_path, clock, time_zone="Europe/Berlin") as ezra:
        graph = await ezra.create_session_graph("g")
        agent = await graph.spawn_agent("a", topics={"t"})
        said = "We painted the hull."
        sunday = datetime(2027, 1, 3, 20, 0, tzinfo=UTC)  # ISO: still 2026-W53
        ids = {}
        for name, at in (
            ("2026-W52", sunday - timedelta(days=8)),
            ("2026-W53", sunday),
            ("2027-W01", sunday + timedelta(hours=3, minutes=30)),
            ("2027-W02", sunday + timedelta(days=8)),
        ):
            ids[name] = (await say(agent, said, at=at)).id
        for name, record_id in ids.items():
            first = (await agent.recall(f"What did we paint in {name}?", limit=1)).items
            assert ids_of(first) == [record_id], name
        first = (await agent.recall("What did we paint in week 2?", limit=1)).items
        assert ids_of(first) == [ids["2027-W02"]]


async def test_graphs_of_one_installation_rank_as_if_alone(tmp_path: Path) -> None:
    """Three graphs in one house answer, to the last score, as each does in a house of its own.

    By words and meaning, and by words alone.
    """
    things = ("anchor", "winch", "pump", "mast", "rudder")
    questions = (
        "What leaks?",
        "When did the pump break?",
        "rudder",
        "How many bolts has the mast?",
    )

    async def lived(ezra: Ezra, number: int) -> None:
        graph = await ezra.create_session_graph(f"ship-{number}")
        agent = await graph.spawn_agent("mate", topics={"t"})
        texts = [
            f"The {things[(lap * (number + 1)) % 5]} has {lap * number} bolts"
            + (" and leaks." if lap % (number + 3) == 0 else ".")
            for lap in range(40)
        ]
        for start in range(0, 40, 10):
            await fill(ezra, agent, texts[start : start + 10], at=MAY - timedelta(days=start))
        await agent.remember(f"Ship {number} was built in {1950 + number}.")
        await ezra.drain_learning()

    async def answers(ezra: Ezra, number: int) -> list[list[tuple[str, float]]]:
        graph = await ezra.session_graph(f"ship-{number}")
        return [
            [(hit.text, hit.score) for hit in (await graph.recall(one, mode=mode)).items]
            for one in questions
            for mode in ("hybrid", "keyword")
        ]

    alone = []
    for number in range(3):
        async with running(
            tmp_path / f"{number}",
            embedder="required",
            tenant=f"t{number}",
            step_timeout_seconds=30,
        ) as ezra:
            await lived(ezra, number)
            alone.append(await answers(ezra, number))
    whole = {"embedder": "required", "tenant": "together", "step_timeout_seconds": 30}
    async with running(tmp_path / "all", **whole) as ezra:
        for number in range(3):
            await lived(ezra, number)
        together = [await answers(ezra, number) for number in range(3)]
    assert together == alone


async def test_a_rule_of_a_parent_is_found_at_once(tmp_path: Path) -> None:
    """No index has it yet: by its trigger, as in contexts, and only where rules come through."""
    clock = MovingClock()
    async with running(tmp_path, clock) as ezra:
        before = await ezra.create_session_graph("before")
        elder = await before.spawn_agent("elder", topics={"t"})
        start = clock()
        clock.move(hours=1)
        rule = await elder.remember(Rule(trigger="the ferry is late", steps=("Phone the pier.",)))
        await elder.remember(Rule(trigger="the ferry sinks", steps=("Swim.",)), private=True)
        closed = Parent(id="before", rules=False)
        found: dict[str, list[str]] = {}
        for name, parent in (("open", "before"), ("closed", closed)):
            graph = await ezra.create_session_graph(name, inherits_from=[parent])
            agent = await graph.spawn_agent("a", topics={"t"})
            found[name] = ids_of((await agent.recall("What if the ferry is late?")).items)
            assert not (await agent.recall("the ferry is late", as_of=start)).items
            assert not (await agent.recall("the ferry is late", kinds=("fact",))).items
        assert found == {"open": [rule], "closed": []}

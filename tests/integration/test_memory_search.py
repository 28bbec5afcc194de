"""Searching by days, and recall that somebody tries to break."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import date, timedelta
from itertools import product
from pathlib import Path
from typing import Any, cast

import pytest
from support.many_turns import fill, ids_of, say
from support.runtime import MovingClock, running

from ezra import Agent, Ezra, Fact, Hit, TierUnavailable, UsageError
from ezra.rights.policy import scope_of

# Searching by days: what is refused, equal days, and a cold tier that is away.


class Away:
    """A timeline that cannot be reached."""

    def __init__(self) -> None:
        self.asked = 0

    async def latest(self, *_: object) -> tuple[Hit, ...]:
        """Count the question and fail."""
        self.asked += 1
        raise TierUnavailable("cold", "latest", "it is away")


async def test_a_wrong_argument_is_named(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """Out of range, of no such grain, or an end of the window before its beginning."""
    cases: tuple[tuple[str, Any, str], ...] = (
        ("grain", "hourly", "grain"),
        ("min_days_ago", -1, "min_days_ago"),
        ("min_days_ago", 366, "max_days_ago"),
        ("max_days_ago", -1, "max_days_ago"),
        ("max_days_ago", 36_501, "max_days_ago"),
        ("max_results", 0, "max_results"),
        ("max_results", 101, "max_results"),
        ("max_results", "ten", "max_results"),
    )
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("engineer", topics={"gears"})
        for field, value, named in cases:
            with subtests.test(field, value=value), pytest.raises(UsageError, match=named):
                await agent.search_memory(**{field: value})


async def test_days_that_were_alike_are_all_there(tmp_path: Path) -> None:
    """Recall answers what says the same once; here each day is a line of its own."""
    clock = MovingClock()
    said = (
        "Took the blue pills after breakfast, walked around the lake with Anna, read two chapters"
        " of that Russian novel, cooked lentils with carrots for dinner and slept early."
    )
    async with running(tmp_path, clock) as ezra:
        graph = await ezra.create_session_graph("home")
        agent = await graph.spawn_agent("nurse", topics={"care"})
        for _ in range(3):
            await (await agent.turn(said)).reply("")
            clock.move(days=1)
        clock.move(days=2)
        await ezra.run_lifecycle_tick("home")
        found = await agent.search_memory("blue pills", grain="daily", max_days_ago=7)
        days = sorted(line[:12] for line in found.lines)
        assert days == ["[2026-05-14]", "[2026-05-15]", "[2026-05-16]"]
        assert not any(hit.folded for hit in found.items)
        few = await agent.search_memory("blue pills", grain="daily", max_results=2)
        assert len(few.lines) == 2


async def test_at_the_coarsest_grain_the_hint_reaches_older_years(tmp_path: Path) -> None:
    """A year that ended longer ago than is looked back by default was as if it had never been."""
    clock = MovingClock()
    async with running(tmp_path, clock) as ezra:
        graph = await ezra.create_session_graph("home")
        agent = await graph.spawn_agent("nurse", topics={"care"})
        await say(agent, "The blue pills are for the heart.")
        clock.move(days=3 * 365)
        await ezra.run_lifecycle_tick("home")
        found = await agent.search_memory(grain="yearly")
        assert found.lines == ()
        assert found.hint == (
            "Looked back to 2028-05-13. Nothing coarser than yearly tells of then or before;"
            " max_days_ago 1095 reaches what is older."
        )
        found = await agent.search_memory(grain="yearly", max_days_ago=1095)
        assert [line[:7] for line in found.lines] == ["[2026] "]
        assert found.hint is None
        assert (await agent.search_memory(grain="yearly", max_days_ago=36_500)).hint is None


async def test_without_the_cold_tier_nothing_is_claimed(tmp_path: Path) -> None:
    """It is named as missing, asked once, and no hint says what is not known."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("engineer", topics={"gears"})
        away = Away()
        agent._runtime = replace(agent._runtime, timeline=away)
        found = await agent.search_memory()
        assert (found.lines, found.items, found.hint) == ((), (), None)
        assert found.degraded == ("cold",)
        assert away.asked == 1


# Recall that somebody tries to break: odd questions, odd names, lost tiers, cancelled calls.

ODD = {
    "stop words": "what is it that they were to be",
    "marks": "?!… --- *** '' \"\" ()",
    "zero width": "\u200b\u200d\ufeff x",
    "nul": "ferry\x00bar",
    "emoji": "🚢🏴\u200d☠️ ferry 👨\u200d👩\u200d👧",
    "right to left": "\u202eyrref العبّارة",
    "no spaces": "フェリーは何時に出ますか",
    "combining": "f" + "\u0301" * 400 + "erry",
    "operators": 'ferry" OR NEAR(ferry*, 2) AND NOT ^text:ferry; DROP TABLE turns; -- {$ne: 1}',
    "ten thousand words": " ".join(f"word{number} ferry" for number in range(5_000)),
    "one huge word": "ferry" * 30_000,
    "no such dates": "31 February 2026, 2026-99-99, 9999-W99, 0 days ago, week 60, Q9 of 1900",
    "far dates": "999 years ago, in 1900, 2099-12-31 and 999 months ago",
    "digits": "8" * 5_000,
    "many dates": "8 May 2023 " * 3_000,
    "commas": "a, " * 20_000,
}
NAMES = ("Dr. (No) [x]*+?", "a|b^$", "\\d+", "100%", "{name}", "Ferry", "é\u0301ric")


async def memory(ezra: Ezra) -> Agent:
    """Return an agent of a graph that knows about a ferry."""
    graph = await ezra.create_session_graph("g")
    agent = await graph.spawn_agent("a", topics={"t"}, user_id="ada")
    await agent.remember("The ferry leaves at nine.")
    await agent.commit("We take the ferry.")
    for number in range(3):
        await say(agent, f"Ferry number {number} was late.")
    await ezra.drain_learning()
    return agent


async def test_no_question_breaks_recall(tmp_path: Path) -> None:
    """Every odd question is answered whole, in each mode and of the past; blanks are refused."""
    clock = MovingClock()
    async with running(tmp_path, clock, embedder="required", step_timeout_seconds=20) as ezra:
        agent = await memory(ezra)
        graph = await ezra.session_graph("g")
        for name, text in ODD.items():
            found = await agent.recall(text, limit=100, explain=True, receipt=True)
            assert found.degraded == (), name
            assert found.receipt_id is not None
            scores = [hit.score for hit in found.items]
            assert scores == sorted(scores, reverse=True)
            for mode in ("keyword", "semantic"):
                assert (await agent.recall(text, mode=mode)).degraded == ()
            assert (await graph.recall(text, as_of=clock())).degraded == ()
        for blank in ("", " \n\t\u3000", "\ud800", "x" * 200_001):
            with pytest.raises(UsageError):
                await agent.recall(blank)
        assert len((await agent.recall("ferry", limit=100)).items) == 5


async def test_an_empty_graph_answers_nothing(tmp_path: Path) -> None:
    """With every narrowing there is; more topics than a record can have are refused."""
    async with running(tmp_path, embedder="required") as ezra:
        graph = await ezra.create_session_graph("g")
        agent = await graph.spawn_agent("a", topics={"t"}, user_id="ada")
        many = [f"topic {number}" for number in range(63)]
        for reader in (agent, graph):
            for arguments in (
                {"limit": 100},
                {"topics": [*many, "t"]},
                {"min_days_ago": 1, "max_days_ago": 36_500},
                {"kinds": ("tool_output", "document")},
                {"grains": ("weekly",), "kinds": ("episode",), "token_budget": 1},
                {"scope": "tenant", "kinds": ("turn",)},
                {"depth": 4, "explain": True, "receipt": True},
            ):
                found = await reader.recall("Who was it, last week?", **arguments)
                assert (found.items, found.degraded) == ((), ())
        with pytest.raises(UsageError, match="topics"):
            await agent.recall("x", topics=[*many, "t", "u"])


async def test_what_is_of_another_type_is_refused_by_name(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """As over a network: the field, the value and what would be accepted."""
    cases: tuple[tuple[str, Any], ...] = (
        ("limit", "3"),
        ("limit", 1.5),
        ("limit", None),
        ("limit", True),
        ("depth", "1"),
        ("max_days_ago", "7"),
        ("half_life_days", "7"),
        ("as_of", "2026-01-01"),
        ("as_of", date(2026, 1, 1)),
    )
    async with running(tmp_path) as ezra:
        agent = await memory(ezra)
        for name, value in cases:
            with subtests.test(name, value=value), pytest.raises(UsageError, match=name):
                await agent.recall("ferry", **{name: value})
        with pytest.raises(UsageError, match="turn"):
            await agent.beliefs(as_of=cast("Any", "yesterday"))


async def test_names_of_speakers_are_no_patterns(tmp_path: Path) -> None:
    """Whoever is called like a pattern, or like a thing, is found by that name."""
    async with running(tmp_path, embedder="required") as ezra:
        graph = await ezra.create_session_graph("g")
        agents = [await graph.spawn_agent(name, topics={"t"}) for name in NAMES]
        said = {
            agent.id: (await say(agent, "The harbour was closed all day.")).id for agent in agents
        }
        await ezra.drain_learning()
        for name in NAMES:
            found = await graph.recall(f"What did {name} say of the harbour?", limit=len(NAMES))
            assert found.degraded == ()
            assert said[name] in ids_of(found.items)
        (first, *_) = (await graph.recall("What did Ferry say of the harbour?")).items
        assert first.speaker == "Ferry"


async def test_a_scope_class_without_its_kinds_finds_nothing(tmp_path: Path) -> None:
    """Also where ancestors carry that kind, and for what is inherited alone."""
    async with running(tmp_path) as ezra:
        parent = await ezra.create_session_graph("p")
        elder = await parent.spawn_agent("e", topics={"t"})
        core = await elder.remember(Fact(text="The ferry is white.", tier="core"))
        child = await ezra.create_session_graph("c", inherits_from=["p"])
        agent = await child.spawn_agent("a", topics={"t"}, user_id="ada")
        for name in ("session", "user", "agent"):
            assert (await agent.recall("ferry", scope=name)).items == ()
        assert (await agent.recall("ferry", scope="tenant", kinds=("rule",))).items == ()
        for arguments in ({}, {"kinds": ("fact",)}, {"scope": "tenant", "kinds": ("fact",)}):
            found = await agent.recall("ferry", **arguments)
            assert ids_of(found.items) == [core]


async def test_each_lost_tier_is_named_and_the_others_answer(tmp_path: Path) -> None:
    """Without warm by words, without hot from cold, without cold from the index and the ring."""
    async with running(tmp_path, embedder="required") as ezra:
        agent = await memory(ezra)
        whole = set(ids_of((await agent.recall("ferry")).items))
        runtime = ezra._runtime
        await runtime.hot.aclose()  # type: ignore[attr-defined]
        found = await agent.recall("ferry")
        assert (found.degraded, set(ids_of(found.items))) == (("hot",), whole)
        runtime.warm.serving.store.close()  # type: ignore[attr-defined]
        found = await agent.recall("ferry", receipt=True)
        assert (set(found.degraded), set(ids_of(found.items))) == ({"hot", "warm"}, whole)
        assert found.receipt_id is not None
        await runtime.turns._store._database.close()  # type: ignore[attr-defined]
        runtime.names.forget(scope_of(agent._record))
        found = await agent.recall("ferry", receipt=True)
        assert set(found.degraded) == {"hot", "warm", "cold"}
        assert (found.items, found.receipt_id) == ((), None)


async def test_without_cold_the_index_and_the_ring_answer(tmp_path: Path) -> None:
    """What is indexed and what was just said; for a turn too."""
    async with running(tmp_path, embedder="required") as ezra:
        agent = await memory(ezra)
        whole = set(ids_of((await agent.recall("ferry")).items))
        await ezra._runtime.turns._store._database.close()  # type: ignore[attr-defined]
        for arguments in ({}, {"mode": "keyword"}, {"kinds": ("fact", "turn", "belief")}):
            found = await agent.recall("ferry", **arguments)
            assert found.degraded == ("cold",), arguments
            assert set(ids_of(found.items)) == whole, arguments


async def test_cancelled_recalls_leave_nothing_behind(tmp_path: Path) -> None:
    """Many at once, each cancelled at another step: the rest answer alike, and no task is left."""
    async with running(tmp_path, embedder="required", step_timeout_seconds=30) as ezra:
        agent = await memory(ezra)
        await fill(ezra, agent, [f"Ferry {number} left." for number in range(30)])
        await ezra.drain_learning()
        expected = ids_of((await agent.recall("Which ferry left?")).items)
        before = len(asyncio.all_tasks())
        calls = [asyncio.create_task(agent.recall("Which ferry left?")) for _ in range(24)]
        cancelled = []
        for number, call in enumerate(calls[:16]):
            for _ in range(number % 7):
                await asyncio.sleep(0)
            cancelled.append(call.cancel())  # False: it has answered already
        done = await asyncio.gather(*calls, return_exceptions=True)
        assert cancelled[0]
        for was_open, one in zip(cancelled, done, strict=False):
            assert isinstance(one, asyncio.CancelledError) == was_open
        for one in done[16:]:
            assert not isinstance(one, BaseException)
            assert (ids_of(one.items), one.degraded) == (expected, ())
        for _ in range(1_000):  # the runtime's own come and go
            if len(asyncio.all_tasks()) <= before:
                break
            await asyncio.sleep(0.01)
        assert len(asyncio.all_tasks()) <= before
        assert ids_of((await agent.recall("Which ferry left?")).items) == expected


async def test_what_was_said_is_found_by_its_own_words(tmp_path: Path) -> None:
    """First of many that differ in a word each, also where a tool returned 4,000 characters."""
    doing, things = ("check", "read", "copy", "clean"), ("logs", "queue", "disk", "proxy", "backup")
    services = ("billing", "search", "login", "mail", "chat", "export", "wiki", "photo")
    said = [
        f"Please {do} the {what} of the {whose} service."
        for do, what, whose in product(doing, things, services)
    ]
    log = " ".join(f"lease{number} retry{number % 7}" for number in range(300))
    async with running(tmp_path) as ezra:
        agent = await (await ezra.create_session_graph("g")).spawn_agent("a", topics={"t"})
        turns: list[dict[str, Any]] = [{"message": text, "response": "Done."} for text in said]
        turns[100]["tool_outputs"] = [{"tool": "shell", "output": log}]
        ids = (await agent.record(turns)).ids
        for place in (20, 70, 100, 101, 150):
            assert ids_of((await agent.recall(said[place], kinds=("turn",))).items)[0] == ids[place]


async def test_a_time_alone_finds_what_was_said_then(tmp_path: Path) -> None:
    """Also without a model, of what left the ring long ago, and as far as the agent sees."""
    clock = MovingClock()
    async with running(tmp_path, clock) as ezra:
        graph = await ezra.create_session_graph("g")
        agent = await graph.spawn_agent("a", topics={"t"})
        other = await graph.spawn_agent("b", topics={"u"})
        now = clock()
        said = [
            {"message": f"Pump {days} was greased.", "at": now - timedelta(days=days)}
            for days in range(60, 0, -1)
        ]
        await agent.record(said)
        await other.record([{"message": "Secret.", "at": now - timedelta(days=14)}])
        for mode in ("hybrid", "keyword"):
            found = await agent.recall("What happened two weeks ago?", limit=20, mode=mode)
            days = {(now - hit.occurred_at).days for hit in found.items if hit.occurred_at}
            assert days == set(range(10, 19))
        assert not (await agent.recall("What happened two years ago?")).items

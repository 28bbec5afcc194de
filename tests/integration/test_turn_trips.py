"""How often a turn goes to the cold tier, and recall when it knows the turns it finds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest
from support.cold_samples import (
    SCOPE,
    belief_by,
    draft,
    fact_by,
    graph_of,
    receipt_by,
    rule_by,
    scope_of,
    turn_by,
)
from support.many_turns import fill, say
from support.mongo_server import MongoServer, running_mongo
from support.runtime import MovingClock, running

from ezra import Agent, Ezra, RecallResult, TierUnavailable
from ezra.ranking.terms import HEARD_CHARS_MAX, Reader, Reading, bag_of
from ezra.turn.follow_up import follow_up
from tiers.cold.mongo import mongo_cold_store
from tiers.cold.port import Find, Put, Replace, Request
from tiers.cold.sqlite import records, sqlite_cold_store
from tiers.cold.sqlite.database import Database
from tiers.cold.stores import ColdStores
from tiers.learning import Verdict
from tiers.records import Usage
from tiers.turn_io import Charge, TurnWrite

# How often a turn goes to the cold tier: counted, never timed.

ONE = Charge(Usage(tokens=3, writes=1))


@pytest.fixture
def trips(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Counter[str]:
    """How often the threads of this test's engine were gone to: to read, and to write.

    A memory that tests share may be at work beside it.
    """
    counted: Counter[str] = Counter()

    def counting(name: str, goes: Callable[..., Any]) -> Callable[..., Any]:
        def going(database: Any, *args: Any, **more: Any) -> Any:
            counted[name] += database._path.is_relative_to(tmp_path)
            return goes(database, *args, **more)

        return going

    for name, method in (("read", "_answer"), ("write", "write")):
        monkeypatch.setattr(Database, method, counting(name, getattr(Database, method)))
    return counted


@pytest.fixture
def rounds(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What each round of a transaction of the embedded engine asks or writes."""
    seen: list[str] = []
    answers = records._Transaction.answered

    def answered(self: Any, requests: Sequence[Request]) -> Sequence[Any]:
        told = {
            f"find {one.collection.name}" if isinstance(one, Find) else f"store {_stored(one)}"
            for one in requests
        }
        seen.append(", ".join(sorted(told)))
        return answers(self, requests)

    monkeypatch.setattr(records._Transaction, "answered", answered)
    return seen


def _stored(request: Request) -> str:
    assert isinstance(request, Put | Replace)
    return request.collection.name


async def _filled(cold: ColdStores) -> None:
    await cold.graphs.create_graph(graph_of(SCOPE.graph_id))
    await cold.beliefs.commit(SCOPE, belief_by())
    await cold.semantic.put_fact(SCOPE, fact_by(tier="core"))
    await cold.procedural.put_rule(SCOPE, rule_by())


async def test_each_side_of_a_turn_is_one_trip_to_sqlite(
    tmp_path: Path, trips: Counter[str]
) -> None:
    """One reading before the model, one transaction for each acknowledgement."""
    async with sqlite_cold_store(tmp_path) as cold:
        await _filled(cold)
        trips.clear()
        assert await cold.desk.opening(SCOPE, lambda _: SCOPE, "tyre change", 4) is not None
        assert trips == {"read": 1}
        await cold.desk.keep_receipt(SCOPE, receipt_by(), [], ONE)
        assert trips == {"read": 1, "write": 1}
        await cold.desk.keep_turn(SCOPE, turn_by(), [], ONE)
        assert trips == {"read": 1, "write": 2}


async def test_each_side_of_a_turn_is_one_snapshot_or_transaction_of_mongodb() -> None:
    """What a turn begins with is asked by one command behind those for how it stands."""
    with running_mongo() as server:
        async with mongo_cold_store(server.uri) as cold:
            await _filled(cold)
            server.clear_commands()
            assert await cold.desk.opening(SCOPE, lambda _: SCOPE, "tyre change", 4) is not None
            assert _sent(server) == {"aggregate": 2}
            for kept in (
                cold.desk.keep_receipt(SCOPE, receipt_by(), [], ONE),
                cold.desk.keep_turn(SCOPE, turn_by(), [], ONE),
            ):
                server.clear_commands()
                await kept
                assert _sent(server)["commitTransaction"] == 1


@pytest.mark.parametrize("count", [1, 100])
async def test_a_batch_of_turns_is_one_transaction_however_many_they_are(
    tmp_path: Path, trips: Counter[str], rounds: list[str], count: int
) -> None:
    """One transaction; in it what does not wait for each other is one round."""
    async with sqlite_cold_store(tmp_path) as cold:
        await _filled(cold)
        trips.clear()
        rounds.clear()
        await cold.desk.keep_turns(_writes(count))
        assert trips == {"write": 1}
        assert rounds == [
            "find turns",
            "find graphs, find word_totals, find work",
            "store turns, store word_totals, store work",
            "store searchable",
            "find usage",
            "store usage",
        ]


async def test_a_fact_is_stored_in_four_rounds_and_gives_way_in_four(
    tmp_path: Path, trips: Counter[str], rounds: list[str]
) -> None:
    """With its words, its work and what the audit feed says of it."""
    async with sqlite_cold_store(tmp_path) as cold:
        await _filled(cold)
        old, _ = await cold.semantic.put_fact(SCOPE, fact_by(text="The gate is shut."))
        gone, _ = await cold.semantic.put_fact(SCOPE, fact_by(text="The bell rings."))
        await cold.review.forget(SCOPE, gone.id, "", NOON)  # the feed has begun
        trips.clear()
        rounds.clear()
        opened = fact_by(text="The gate is open.")
        new, _ = await cold.semantic.put_fact(SCOPE, opened, [draft("a")])
        assert rounds == [
            "find facts",
            "find graphs, find word_totals, find work",
            "store facts, store word_totals, store work",
            "store searchable",
        ]
        rounds.clear()
        verdict = Verdict(fact_id=old.id, by=new.id, how="natural")
        whole_graph, work = SCOPE.for_graph(), [draft("b")]
        assert await cold.review.settle(whole_graph, new.id, [verdict], NOON, work)
        assert rounds == [
            "find facts",
            "find audit, find evidence_marks, find work, store facts",
            "find searchable, store audit, store work",
            "store evidence_marks, store searchable",
        ]
        assert trips == {"write": 2}


@pytest.mark.parametrize("agents", [1, 20])
async def test_uses_of_a_fleet_are_one_transaction_however_many_agents_it_has(
    tmp_path: Path, trips: Counter[str], rounds: list[str], agents: int
) -> None:
    """Each fact is read and written once, and not once for each agent that was shown it."""
    async with sqlite_cold_store(tmp_path) as cold:
        await _filled(cold)
        shared, _ = await cold.semantic.put_fact(SCOPE, fact_by(text="Shown to everybody."))
        fleet = [scope_of(agent_id=f"agent-{number}") for number in range(agents)]
        trips.clear()
        rounds.clear()
        used = await cold.semantic.add_uses(
            {scope: {f"turn of {scope.agent_id}": [shared.id]} for scope in fleet}, NOON
        )
        assert trips == {"write": 1}
        assert rounds == ["find facts", "find fact_uses", "store fact_uses, store facts"]
        assert {fact.uses for facts in used.values() for fact in facts} == {agents}


async def test_a_batch_of_turns_sends_mongodb_as_much_as_one_does() -> None:
    """The same commands for one turn and for fifty."""
    with running_mongo() as server:
        async with mongo_cold_store(server.uri) as cold:
            await _filled(cold)
            await cold.desk.keep_turns(_writes(2))
            sent = []
            for count in (1, 50):
                server.clear_commands()
                await cold.desk.keep_turns(_writes(count))
                sent.append(_sent(server))
            assert sent[0]["commitTransaction"] == 1
            assert sent[0] == sent[1]


def _writes(count: int) -> list[TurnWrite]:
    turns = [turn_by(text=f"lap {n}", ref=f"r{count}/{n}") for n in range(count)]
    return [TurnWrite(SCOPE, turn, follow_up(turn, turn.agent_id), ONE) for turn in turns]


def _sent(server: MongoServer) -> Counter[str]:
    by_the_driver = {"ping", "endSessions", "hello"}
    return Counter(one["name"] for one in server.commands if one["name"] not in by_the_driver)


async def test_a_whole_turn_reads_cold_once_besides_its_search(
    tmp_path: Path, trips: Counter[str]
) -> None:
    """By words: the opening; then archival facts, and whether turns and the ring still stand.

    What is asked side by side shares a trip, and with it a snapshot.
    """
    async with running(tmp_path, MovingClock()) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("strategist", topics={"tyres"})
        await agent.remember("Medium tyres last 18 laps.", topics={"tyres"})
        await (await agent.turn("Which tyres?")).reply("Mediums.")
        await ezra.drain_learning()
        trips.clear()
        turn = await agent.turn("How many laps do medium tyres last?")
        assert "archival" in {slot.kind for slot in turn.slots}
        assert trips == {"read": 2}
        await turn.reply("About 18 laps.")
        assert trips == {"read": 2, "write": 1}
        assert (
            await graph.receipt(turn.receipt_id or "")
        ).query == "How many laps do medium tyres last?"


# Recall when it knows the turns it finds: the same answers, and nothing of what is gone.

SAID = (
    "We opened the gearbox on Monday.",
    "Which wing did you fit?",
    "The front wing, with the long flap.",
    "Kim likes the soft tyre.",
    "Rain came in lap nine of the race in May 2026.",
    "Twelve laps on mediums were too many.",
    "The gearbox oil was at 131 degrees.",
    "Ask the pit wall about the undercut.",
)
QUESTIONS = (
    "Which wing did we fit?",
    "How many laps on mediums?",
    "When did it rain?",
    "gearbox",
    "What happened in May 2026?",
    "Which tyre does Kim like?",
)
NOON = datetime(2026, 5, 15, 12, tzinfo=UTC)


class Away:
    """A store that cannot be reached, whatever it is asked."""

    def __getattr__(self, name: str) -> Any:
        async def fail(*_: object, **__: object) -> None:
            raise TierUnavailable("cold", name, "it is away")

        return fail


async def _house(ezra: Ezra) -> Agent:
    graph = await ezra.create_session_graph("imola")
    return await graph.spawn_agent("mechanic", topics={"car"})


async def _asked(agent: Agent) -> list[RecallResult]:
    found = [await agent.recall(one, limit=8, explain=True) for one in QUESTIONS]
    # Which tier is the first to answer is a matter of chance.
    return [replace(one, tiers_used=tuple(sorted(one.tiers_used))) for one in found]


@pytest.mark.parametrize("embedder", ["off", "required"])
async def test_what_is_known_is_answered_alike(tmp_path: Path, embedder: str) -> None:
    """The first answers, which are read, and the second, which are sighted; a new process too."""
    clock = MovingClock()
    async with running(tmp_path, clock, embedder=embedder, ring_capacity=2) as ezra:
        agent = await _house(ezra)
        await fill(ezra, agent, [f"{text} ({n})" for n in range(6) for text in SAID])
        await ezra.drain_learning()
    async with running(tmp_path, clock, embedder=embedder, ring_capacity=2) as ezra:
        agent = await (await ezra.session_graph("imola")).agent("mechanic")
        known = ezra._runtime.reader.known("default", "imola")
        first, second = await _asked(agent), await _asked(agent)
        assert first == second == await _asked(agent)
        assert all(found.items for found in first)
        lost = ("dense",) if embedder == "off" else ()
        assert {found.degraded for found in first} == {lost}
        # Those of the ring are read with it.
        ids = [hit.id for found in first for hit in found.items if hit.tier != "hot"]
        assert ids
        assert not any(one in known for one in ids)  # as it was when nothing had been asked
        known = ezra._runtime.reader.known("default", "imola")
        assert all(one in known for one in ids)


async def test_what_was_redacted_is_not_found_though_it_was_known(tmp_path: Path) -> None:
    """Nor is it known any more."""
    async with running(tmp_path, embedder="required", ring_capacity=1) as ezra:
        agent = await _house(ezra)
        secret = (await say(agent, "The safe opens with pelican seven.")).id
        for text in SAID:
            await say(agent, text)
        for _ in range(2):
            assert (await agent.recall("pelican seven")).items[0].id == secret
        graph = await ezra.session_graph("imola")
        await graph.redact([secret], reason="asked to")
        assert secret not in ezra._runtime.reader.known("default", "imola")
        for _ in range(2):
            found = (await agent.recall("pelican seven", limit=20)).items
            assert secret not in [hit.id for hit in found]


async def test_known_turns_are_told_by_the_index_while_the_cold_tier_is_away(
    tmp_path: Path,
) -> None:
    """It is asked for their words, which nobody here remembers."""
    async with running(tmp_path, embedder="required", ring_capacity=1) as ezra:
        agent = await _house(ezra)
        for text in SAID:
            await say(agent, text)
        await ezra.drain_learning()
        before = await agent.recall("Which wing did we fit?", limit=4)
        away: Any = Away()
        agent._runtime = replace(
            agent._runtime, words=away, recollection=away, turns=away, knowledge=away
        )
        found = await agent.recall("Which wing did we fit?", limit=4)
        assert found.degraded == ("cold",)
        assert {hit.tier for hit in found.items} <= {"warm", "hot"}
        texts = {hit.id: hit.text for hit in before.items}
        assert [hit.text for hit in found.items if hit.id in texts]
        assert all(hit.text == texts.get(hit.id, hit.text) != "" for hit in found.items)


async def test_a_turn_is_known_from_its_reply_on(tmp_path: Path) -> None:
    """A short one: to read a long one takes time that nobody asked for yet."""
    async with running(tmp_path, embedder="off") as ezra:
        agent = await _house(ezra)
        short = (await say(agent, "The wing was fitted.", "Thank you.")).id
        long = (await say(agent, "wing " * (HEARD_CHARS_MAX // 5))).id
        known = ezra._runtime.reader.known("default", "imola")
        assert (short in known, long in known) == (True, False)
        counts, terms, *_ = known[short]
        assert (counts, terms) == bag_of("mechanic: The wing was fitted.\nThank you.")[:2]
        found = (await agent.recall("wing fitted")).items
        assert [hit.id for hit in found] == [short, long]


def _reading(text: str) -> Reading:
    return (*bag_of(text), "ada", "ada", None, NOON)


def test_the_reader_remembers_so_many_turns() -> None:
    """Of the graph that was asked least lately the oldest gives way; counted as they are."""
    reader, random = Reader(turns_max=10), Random(3)
    for number in range(8):
        reader.keep("a", "old", f"old{number}", _reading("old"))
    known = reader.known("a", "old")
    assert "old0" in known
    for number in range(8):
        reader.keep("a", "new", f"new{number}", _reading("new"))
        reader.keep("a", "new", f"new{number}", _reading("new"))
    now = reader.known("a", "old")
    assert [one for one in range(8) if f"old{one}" in now] == [6, 7]
    assert "old0" in known  # as long as the question lasts that asked for it
    assert known["old0"] == _reading("old")
    reader.known("a", "new")
    for _ in range(200):
        name: Sequence[str] = random.choice([("a", "old"), ("b", "old"), ("a", "new")])
        reader.keep(name[0], name[1], str(random.randrange(40)), _reading("more"))
        if random.random() < 0.1:
            reader.forget(name[0], name[1])
        held = [
            one
            for tenant, graph in (("a", "old"), ("b", "old"), ("a", "new"))
            for one in range(40)
            if str(one) in reader.known(tenant, graph)
        ]
        assert len(held) <= 10

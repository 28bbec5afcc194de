"""How often a turn goes to the cold tier: counted, never timed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.cold_samples import SCOPE, belief_by, fact_by, graph_of, receipt_by, rule_by, turn_by
from support.mongo_server import MongoServer, running_mongo
from support.runtime import MovingClock, running

from ezra.turn.follow_up import follow_up
from tiers.cold.mongo import mongo_cold_store
from tiers.cold.port import Find, Put, Replace, Request
from tiers.cold.sqlite import records, sqlite_cold_store
from tiers.cold.sqlite.database import Database
from tiers.cold.stores import ColdStores
from tiers.records import Usage
from tiers.turn_io import Charge, TurnWrite

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
    """One transaction; in it one round of questions or of writes for each step."""
    async with sqlite_cold_store(tmp_path) as cold:
        await _filled(cold)
        trips.clear()
        rounds.clear()
        await cold.desk.keep_turns(_writes(count))
        assert trips == {"write": 1}
        words = ["find word_totals", "store word_totals", "store searchable"]
        used = ["find usage", "store usage"]
        turns = ["find turns", "find graphs", "store turns"]
        assert rounds == [*turns, *words, "find work", "store work", *used]


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

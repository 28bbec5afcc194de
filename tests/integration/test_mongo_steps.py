"""Steps of the MongoDB cold tier that are cut off, at every command."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from support.cold_mongo import prepared_database
from support.cold_samples import (
    OPERATOR,
    SCOPE,
    draft,
    episode_by,
    graph_of,
    receipt_by,
    summary_by,
    turn_by,
)
from support.mongo_cuts import Cut, cut_at
from support.mongo_server import MongoServer, running_mongo
from support.tier_samples import NOW, scope_of

from tiers.cold.mongo import mongo_cold_store
from tiers.cold.stores import ColdStores
from tiers.errors import BudgetExceeded, Conflict, TierError, TierRejected
from tiers.records import AgentRecord, Budget, Grain, GraphState, Usage

HOUR = timedelta(hours=1)
EVERY = ("index", "compress", "learn")
LOOSE_FOR: tuple[Grain, ...] = ("daily", "weekly", "monthly")
WORK = [draft("a"), draft("b", "compress"), draft("c", "learn")]
RECEIPT = receipt_by()
UNKNOWN, EXCEEDED = 8, 262
"""An error that nobody tries again, and one that passes when the server says so."""

PASSING = ("TransientTransactionError", "RetryableWriteError", "UnknownTransactionCommitResult")
COMMANDS = range(1, 30)
"""More than any operation sends."""

Act = Callable[[ColdStores], Awaitable[object]]
Seen = dict[str, Any]


@dataclass(frozen=True)
class Operation:
    """An operation that changes several documents, and what must be there before it."""

    act: Act
    prepare: Act


async def _nothing(_: ColdStores) -> None:
    return None


def _appending() -> Operation:
    turn = turn_by(ref="r")
    return Operation(lambda cold: cold.turns.append_turn(SCOPE, turn, WORK), _nothing)


def _summing_up() -> Operation:
    turns = [turn_by(text=f"turn {number}") for number in range(3)]
    summary = summary_by(SCOPE, turns[:2])

    async def prepare(cold: ColdStores) -> None:
        for turn in turns:
            await cold.turns.append_turn(SCOPE, turn)

    return Operation(lambda cold: cold.episodic.put_summary(SCOPE, summary, WORK), prepare)


def _consolidating() -> Operation:
    turns = [turn_by(text=f"turn {number}") for number in range(2)]
    summaries = [summary_by(SCOPE, [turn]) for turn in turns]
    episode = episode_by(SCOPE, [summaries[0].id])

    async def prepare(cold: ColdStores) -> None:
        for turn, summary in zip(turns, summaries, strict=True):
            await cold.turns.append_turn(SCOPE, turn)
            await cold.episodic.put_summary(SCOPE, summary)

    return Operation(lambda cold: cold.episodic.put_episode(SCOPE, episode, WORK), prepare)


def _rolling_up() -> Operation:
    turns = [turn_by(text=f"turn {number}") for number in range(2)]
    summaries = [summary_by(SCOPE, [turn]) for turn in turns]
    days = [episode_by(SCOPE, [summary.id]) for summary in summaries]
    week = episode_by(SCOPE, [days[0].id], grain="weekly")

    async def prepare(cold: ColdStores) -> None:
        for turn, summary, day in zip(turns, summaries, days, strict=True):
            await cold.turns.append_turn(SCOPE, turn)
            await cold.episodic.put_summary(SCOPE, summary)
            await cold.episodic.put_episode(SCOPE, day)

    return Operation(lambda cold: cold.episodic.put_episode(SCOPE, week, WORK), prepare)


def _receiving() -> Operation:
    return Operation(lambda cold: cold.log.put_receipt(SCOPE, RECEIPT, WORK), _nothing)


OPERATIONS = [
    _appending,
    _summing_up,
    _consolidating,
    pytest.param(_rolling_up, marks=pytest.mark.slow),
    _receiving,
]
SOME_OPERATIONS = [
    _appending,
    _summing_up,
    pytest.param(_consolidating, marks=pytest.mark.slow),
    pytest.param(_receiving, marks=pytest.mark.slow),
]


async def _seen(cold: ColdStores) -> Seen:
    """Return what the operations change, as the ports show it."""
    return {
        "turns": [turn.id for turn in await cold.turns.recent_turns(SCOPE, 100)],
        "waiting": [turn.id for turn in await cold.turns.waiting_turns(SCOPE, 0, 100)],
        "summaries": [one.id for one in await cold.episodic.summaries(SCOPE)],
        "due": [one.id for one in await cold.episodic.due_summaries(OPERATOR, NOW + 99 * HOUR, 9)],
        "loose": [
            one.id
            for grain in LOOSE_FOR
            for one in await cold.grains.loose(OPERATOR, grain, NOW + HOUR, 9)
        ],
        "episodes": [one.id for one in await cold.episodic.episodes(SCOPE)],
        "receipt": await cold.log.receipt(SCOPE, RECEIPT.id),
    }


async def _work(cold: ColdStores) -> list[str]:
    """Return what a runtime of the tenant is given to do, an hour later."""
    claimed = await cold.queue.claim(EVERY, "me", 100, 10, NOW + HOUR, tenant="acme")
    return sorted(work.key for work in claimed)


@dataclass(frozen=True)
class Deployment:
    """A server and the driver that talks to it."""

    server: MongoServer
    driver: Any

    def opened(self, name: str) -> Any:
        """Return a database of the server, to be entered."""
        return mongo_cold_store(
            self.server.uri, database=name, driver=self.driver, timeout_seconds=30.0
        )

    async def expected(self, operation: Operation) -> tuple[Seen, Seen]:
        """Return what is seen before the operation and after it."""
        async with self.opened(prepared_database(on=self.server)) as cold:
            await operation.prepare(cold)
            before = await _seen(cold)
            await operation.act(cold)
            done = await _seen(cold)
            assert before != done
            assert await _work(cold) == ["a", "b", "c"]
        return before, done

    async def cut(
        self, operation: Operation, name: str, number: int, **how: Any
    ) -> tuple[Cut, TierError | None]:
        """Carry the operation out in a new database while its ``number``-th command fails."""
        async with self.opened(name) as cold:
            await operation.prepare(cold)
            with cut_at(self.server, number, **how) as cut:
                try:
                    await operation.act(cold)
                except TierError as error:
                    return cut, error
        return cut, None


@pytest.fixture(scope="module", params=["motor", pytest.param("pymongo", marks=pytest.mark.slow)])
def replica_set(request: pytest.FixtureRequest) -> Iterator[Deployment]:
    """A server, for all tests of a driver."""
    with running_mongo() as server:
        yield Deployment(server, request.param)


@pytest.mark.parametrize("make", OPERATIONS)
async def test_replica_set_keeps_nothing_of_what_failed(
    replica_set: Deployment, make: Callable[[], Operation]
) -> None:
    """Whichever command is refused, everything before it is taken back."""
    operation = make()
    before, done = await replica_set.expected(operation)
    failed = 0
    for number in COMMANDS:
        name = prepared_database(on=replica_set.server)
        cut, error = await replica_set.cut(operation, name, number, code=UNKNOWN)
        if not cut.happened:
            break
        failed += isinstance(error, TierRejected)
        async with replica_set.opened(name) as cold:
            assert await _seen(cold) == (done if error is None else before)
            assert await _work(cold) == (["a", "b", "c"] if error is None else [])
    assert failed >= 4, "most refusals must have been felt"
    assert replica_set.server.open_transactions == 0


@pytest.mark.parametrize("make", SOME_OPERATIONS)
@pytest.mark.parametrize("after", [False, True], ids=["undone", "unanswered"])
async def test_replica_set_survives_what_passes(
    replica_set: Deployment, make: Callable[[], Operation], *, after: bool
) -> None:
    """A passing failure of any command is felt by nobody, and nothing is done twice."""
    operation = make()
    _, done = await replica_set.expected(operation)
    for number in COMMANDS:
        name = prepared_database(on=replica_set.server)
        cut, error = await replica_set.cut(
            operation, name, number, code=EXCEEDED, labels=PASSING, after=after
        )
        if not cut.happened:
            break
        assert error is None
        async with replica_set.opened(name) as cold:
            assert await _seen(cold) == done
            assert await _work(cold) == ["a", "b", "c"]


@pytest.mark.parametrize(
    "after",
    [pytest.param(False, marks=pytest.mark.slow), True],
    ids=["unsent", "unanswered"],
)
@pytest.mark.parametrize("number", [2, 5], ids=["insert", "commit"])
async def test_replica_set_survives_a_cut_connection(
    replica_set: Deployment, number: int, *, after: bool
) -> None:
    """The turn is stored once, with its work, over a new connection."""
    operation = _appending()
    _, done = await replica_set.expected(operation)
    name = prepared_database(on=replica_set.server)
    cut, error = await replica_set.cut(operation, name, number, after=after)
    assert cut.happened
    assert error is None
    async with replica_set.opened(name) as cold:
        assert await _seen(cold) == done
        assert await _work(cold) == ["a", "b", "c"]


GRAPH_STEPS: Sequence[Act] = (
    lambda cold: cold.graphs.create_graph(graph_of("race")),
    lambda cold: cold.fleet.spawn(
        AgentRecord(tenant="acme", graph_id="race", id="a", spawned_at=NOW)
    ),
    lambda cold: cold.fleet.beat(SCOPE, ["a"], NOW + HOUR),
    lambda cold: cold.graphs.configure(SCOPE, budget=Budget(tokens=9)),
    lambda cold: cold.graphs.set_state(SCOPE, GraphState.CLOSED, NOW),
    lambda cold: cold.fleet.leave(scope_of(agent_id="a"), NOW),
)


@pytest.mark.parametrize("after", [False, True], ids=["undone", "unanswered"])
async def test_life_of_a_graph_may_be_repeated_after_every_cut(
    replica_set: Deployment, *, after: bool
) -> None:
    """Repeated, each step comes to the same; a graph that is there says so."""
    for number in COMMANDS:
        name = prepared_database(on=replica_set.server)
        async with replica_set.opened(name) as cold:
            with cut_at(replica_set.server, number, code=UNKNOWN, after=after) as cut:
                for act in GRAPH_STEPS:
                    try:
                        await act(cold)
                    except TierError:
                        try:
                            await act(cold)
                        except Conflict:
                            assert after, "only a graph that was stored is in the way"
            graph = await cold.graphs.graph("acme", "race")
            assert graph is not None
            assert (graph.state, graph.closed_at) == (GraphState.CLOSED, NOW)
            assert graph.budget.tokens == 9
            (agent,) = await cold.fleet.agents(SCOPE)
            assert (agent.seen_at, agent.left_at) == (NOW + HOUR, NOW)
        if not cut.happened:
            break


@pytest.mark.parametrize("after", [False, True], ids=["undone", "unanswered"])
async def test_a_charge_that_is_cut_off_never_leaves_an_agent_with_too_little(
    replica_set: Deployment, *, after: bool
) -> None:
    """Cut anywhere, granted or refused by the graph: what the graph has, its agent has."""
    amount, graph_limit = Usage(tokens=5), Budget(tokens=8)
    whole = SCOPE.for_graph()
    for number in COMMANDS:
        async with replica_set.opened(prepared_database(on=replica_set.server)) as cold:
            with cut_at(replica_set.server, number, code=UNKNOWN, after=after) as cut:
                for _ in range(2):
                    with suppress(TierError, BudgetExceeded):
                        await cold.usage.charge(SCOPE, amount, Budget(), graph_limit)
            if not cut.happened:
                break
            agents, graphs = [(await cold.usage.usage(one)).tokens for one in (SCOPE, whole)]
            assert graphs in {0, 5}
            assert graphs <= agents <= graphs + 5
    assert number == 5, "every command of a charge was cut once"

"""The MongoDB cold tier when its server is away, slow, restarted, refusing or stepping down."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import pytest
from pymongo.errors import PyMongoError
from support.cold_samples import SCOPE, draft, turn_by
from support.held import held
from support.mongo_server import MongoServer, running_mongo
from support.tier_samples import NOW, scope_of

from tiers.cold.mongo import mongo_cold_store
from tiers.cold.mongo.database import WAITING_MAX
from tiers.cold.stores import ColdStores
from tiers.errors import TierRejected, TierTimeout, TierUnavailable

# PyMongo leaves a socket to the garbage collector when it is closed while it is connecting.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")

TIMEOUT_SECONDS = 1.0
DRIVERS = ["pymongo", "motor"]
MOTOR_SLOWLY = pytest.mark.parametrize(
    "driver", ["pymongo", pytest.param("motor", marks=pytest.mark.slow)], indirect=True
)
"""Where the driver's part is the same code for both: its errors, its pool and its repetitions.
What ends a call, a store or a connection is asked of each, in every run."""

Call = Callable[[ColdStores], Awaitable[object]]
CALLS: dict[str, Call] = {
    "append_turn": lambda cold: cold.turns.append_turn(SCOPE, turn_by(), [draft()]),
    "recent_turns": lambda cold: cold.turns.recent_turns(SCOPE, 8),
    "enqueue": lambda cold: cold.queue.enqueue(SCOPE, [draft()], NOW),
    "claim": lambda cold: cold.queue.claim(["index"], "me", 1, 1, NOW),
    "acquire": lambda cold: cold.leases.acquire("tick", "me", 1, NOW),
    "append_audit": lambda cold: cold.log.append_audit(SCOPE, "k", (), "", NOW),
    "graphs": lambda cold: cold.graphs.graphs("acme"),
}


@pytest.fixture(scope="module", autouse=True)
def _collected() -> Iterator[None]:
    """Let what the driver left be collected here, and not in the tests that follow."""
    yield
    gc.collect()


server = held(running_mongo)
"""A server of its own for each test, since most of them hurt it."""


@pytest.fixture(params=DRIVERS)
def driver(request: pytest.FixtureRequest) -> str:
    """Each driver."""
    return request.param


@pytest.fixture
async def cold(server: MongoServer, driver: Any) -> AsyncIterator[ColdStores]:
    """A tier with an impatient client."""
    async with mongo_cold_store(
        server.uri, driver=driver, timeout_seconds=TIMEOUT_SECONDS
    ) as stores:
        yield stores


async def _soon(call: Awaitable[Any]) -> Any:
    """Wait for a call, at most the time that it may take, and what a busy machine adds."""
    async with asyncio.timeout(TIMEOUT_SECONDS + 5):
        return await call


async def test_no_server_is_unavailable(driver: Any) -> None:
    """Opening says that nobody answers, within the limit, with the cause chained."""
    with pytest.raises(TierUnavailable, match="open") as caught:
        async with mongo_cold_store(
            "mongodb://127.0.0.1:1", driver=driver, timeout_seconds=TIMEOUT_SECONDS
        ):
            pass
    assert isinstance(caught.value.__cause__, PyMongoError)


async def test_stopped_server_is_unavailable_and_comes_back(
    server: MongoServer, cold: ColdStores
) -> None:
    """Every kind of call fails in its time, and the same store works when the server does."""
    first, _ = await cold.turns.append_turn(SCOPE, turn_by(), [draft()])
    server.stop()
    answers = await _soon(
        asyncio.gather(*(call(cold) for call in CALLS.values()), return_exceptions=True)
    )
    assert {type(answer) for answer in answers} <= {TierUnavailable, TierTimeout}
    assert TierUnavailable in {type(answer) for answer in answers}
    server.start()
    cold = await _recovered(cold)
    assert await cold.turns.recent_turns(SCOPE, 8) == (first,)
    second, _ = await cold.turns.append_turn(SCOPE, turn_by(), [draft()])
    assert second.seq == 2


async def _recovered(cold: ColdStores) -> ColdStores:
    """Return the store as soon as the driver has found its server again."""
    for _ in range(20):
        try:
            await cold.graphs.graphs("acme")
        except (TierUnavailable, TierTimeout):
            continue
        return cold
    raise AssertionError("the driver did not find its server again")


@MOTOR_SLOWLY
async def test_restart_between_two_calls_is_not_noticed(server: MongoServer, driver: Any) -> None:
    """A connection that broke while idle is replaced within the call, where it may be repeated."""
    async with mongo_cold_store(server.uri, driver=driver, timeout_seconds=5) as cold:
        await cold.turns.append_turn(SCOPE, turn_by())
        server.stop()
        server.start()
        assert len(await cold.turns.recent_turns(SCOPE, 8)) == 1
        assert (await cold.turns.append_turn(SCOPE, turn_by()))[0].seq == 2


async def test_frozen_server_times_out(server: MongoServer, cold: ColdStores) -> None:
    """A server that accepts and never answers costs the time limit once, not a multiple of it."""
    await cold.turns.append_turn(SCOPE, turn_by())
    with server.frozen():
        answers = await _soon(
            asyncio.gather(*(call(cold) for call in CALLS.values()), return_exceptions=True)
        )
    assert {type(answer) for answer in answers} == {TierTimeout}


@MOTOR_SLOWLY
async def test_write_of_unknown_outcome_may_be_repeated(
    server: MongoServer, cold: ColdStores
) -> None:
    """What the frozen server executes when it wakes up is stored once, with its work."""
    turn = turn_by(ref="r")
    with server.frozen(), pytest.raises(TierTimeout):
        await cold.turns.append_turn(SCOPE, turn, [draft("a")])
    cold = await _recovered(cold)
    for _ in range(2):
        stored, _ = await cold.turns.append_turn(SCOPE, turn, [draft("a")])
        assert stored.seq == 1
    assert (await cold.queue.waiting())["index"] == 1


@MOTOR_SLOWLY
async def test_election_in_the_middle_is_survived(driver: Any) -> None:
    """A primary that steps down once, answering or not, is felt by nobody."""
    with running_mongo() as server:
        async with mongo_cold_store(server.uri, driver=driver) as cold:
            for number, command in enumerate(("find", "insert", "commitTransaction"), start=1):
                server.fail_next(command, code=10107, message="not primary")
                stored, _ = await cold.turns.append_turn(SCOPE, turn_by(), [draft(f"{number}")])
                assert stored.seq == number
            assert (await cold.queue.waiting())["index"] == 3


async def test_cancelled_calls_leave_a_working_store(server: MongoServer, cold: ColdStores) -> None:
    """Cancellation passes through at once, and no later call gets the answer of another."""
    first, _ = await cold.turns.append_turn(SCOPE, turn_by())
    with server.frozen():
        calls = [asyncio.create_task(call(cold)) for call in CALLS.values()]
        await asyncio.sleep(0.02)
        for call in calls:
            call.cancel()
        async with asyncio.timeout(TIMEOUT_SECONDS / 2):
            answers = await asyncio.gather(*calls, return_exceptions=True)
    assert all(isinstance(answer, asyncio.CancelledError) for answer in answers)
    cold = await _recovered(cold)
    assert (await cold.turns.recent_turns(SCOPE, 8))[0] == first
    assert await cold.turns.recent_turns(scope_of(agent_id="other"), 8) == ()


async def test_closing_during_an_outage_ends(server: MongoServer, driver: Any) -> None:
    """Whoever closes does not wait for a server that is away, and leaves nothing running."""
    before = asyncio.all_tasks()
    async with mongo_cold_store(server.uri, driver=driver, timeout_seconds=TIMEOUT_SECONDS) as cold:
        await cold.turns.append_turn(SCOPE, turn_by())
        server.stop()
        writing = asyncio.create_task(cold.turns.append_turn(SCOPE, turn_by()))
        await asyncio.sleep(0)
    with pytest.raises(TierUnavailable):
        await _soon(writing)
    assert asyncio.all_tasks() == before


@MOTOR_SLOWLY
async def test_more_calls_than_connections_wait_their_turn(
    server: MongoServer, driver: Any
) -> None:
    """The pool is bounded, callers queue, and everything is given back."""
    async with mongo_cold_store(server.uri, driver=driver, connections_max=3) as cold:
        scopes = [scope_of(agent_id=f"a{number}") for number in range(WAITING_MAX + 50)]
        await asyncio.gather(*(cold.turns.recent_turns(scope, 1) for scope in scopes))
        await asyncio.gather(
            *(cold.turns.append_turn(scope, turn_by(scope)) for scope in scopes[:60])
        )
        assert server.connections <= 3 + 3, "the pool, and the driver's own that watch the server"
        assert server.open_transactions == 0
        assert server.open_cursors == 0


async def test_closing_closes_every_connection(server: MongoServer, driver: Any) -> None:
    """A closed store leaves nothing connected and nothing running."""
    before = asyncio.all_tasks()
    async with mongo_cold_store(server.uri, driver=driver) as cold:
        await cold.turns.append_turn(SCOPE, turn_by(), [draft()])
        assert server.connections > 0
    assert asyncio.all_tasks() == before
    for _ in range(1_000):
        if not server.connections:
            return
        await asyncio.sleep(0.005)  # the server notices in its own thread
    raise AssertionError("a connection was left open")


async def test_refusals_are_not_outages(cold: ColdStores, server: MongoServer) -> None:
    """What the server refuses for good is a rejection, and nothing is kept of it."""
    server.fail_next("insert", code=20, collection="turns")
    with pytest.raises(TierRejected):
        await cold.turns.append_turn(SCOPE, turn_by(), [draft()])
    assert await cold.turns.recent_turns(SCOPE, 8) == ()
    assert (await cold.queue.waiting())["index"] == 0

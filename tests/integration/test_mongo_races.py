"""Two processes on one MongoDB database: numbers without gaps, nothing done twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from support.cold_samples import (
    OPERATOR,
    OTHER_GRAPH,
    SCOPE,
    draft,
    graph_of,
    summary_by,
    turn_by,
)
from support.mongo_server import MongoServer, running_mongo
from support.tier_samples import NOW, scope_of

from tiers.cold.mongo import mongo_cold_store
from tiers.cold.mongo.records import _Transaction
from tiers.cold.stores import ColdStores
from tiers.errors import BudgetExceeded, Conflict
from tiers.records import AgentRecord, AuditEvent, Budget, Departure, Scope, Usage, Work

EVERY = ("index", "compress", "learn")
DRIVERS = ("pymongo", "motor")
Opener = Callable[..., Any]


@pytest.fixture(scope="module", params=DRIVERS)
def deployment(request: pytest.FixtureRequest) -> Iterator[tuple[MongoServer, str]]:
    """A server for the tests that do it no harm, and a driver."""
    with running_mongo() as server:
        yield server, request.param


@pytest.fixture
def opener(deployment: tuple[MongoServer, str]) -> Opener:
    """Opens one database of its own, as often as it is called."""
    server, driver = deployment
    name = server.fresh_database()
    return lambda **how: mongo_cold_store(server.uri, database=name, driver=driver, **how)


@pytest.fixture
async def pair(opener: Opener) -> AsyncIterator[tuple[ColdStores, ColdStores]]:
    """Two stores over one database, each with a client of its own, as two processes have."""
    async with opener() as one, opener() as other:
        yield one, other


async def test_two_processes_number_turns_without_gaps(
    pair: tuple[ColdStores, ColdStores],
) -> None:
    """Forty racing appends of one agent through two clients are 1 to 40, each with its work."""
    stored = await asyncio.gather(
        *(
            cold.turns.append_turn(SCOPE, turn_by(text=f"{number}"), [draft(f"{number}")])
            for number in range(20)
            for cold in pair
        )
    )
    assert sorted(turn.seq for turn, _ in stored) == list(range(1, 41))
    assert [turn.seq for turn in await pair[0].turns.recent_turns(SCOPE, 99)] == list(range(1, 41))


async def test_two_processes_store_one_ref_once(pair: tuple[ColdStores, ColdStores]) -> None:
    """Racing writers of one turn agree, whichever process they are in."""
    stored = await asyncio.gather(
        *(
            cold.turns.append_turn(SCOPE, turn_by(ref="r"), [draft("once")])
            for _ in range(10)
            for cold in pair
        )
    )
    assert sum(is_new for _, is_new in stored) == 1
    assert len({turn.id for turn, _ in stored}) == 1


async def test_two_processes_share_the_work(pair: tuple[ColdStores, ColdStores]) -> None:
    """Racing claims give each item to one claimant, and together they get all there is."""
    await pair[0].queue.enqueue(SCOPE, [draft(f"{number}") for number in range(60)], NOW)
    claims = await asyncio.gather(
        *(cold.queue.claim(EVERY, f"{number}", 5, 10, NOW) for number, cold in enumerate(pair * 8))
    )
    keys = [work.key for claim in claims for work in claim]
    assert len(keys) == len(set(keys)) == 60


async def test_two_processes_queue_one_item(pair: tuple[ColdStores, ColdStores]) -> None:
    """Of racing writers of one key one is told that it is new, across processes too."""
    new = await asyncio.gather(
        *(cold.queue.enqueue(SCOPE, [draft()], NOW) for _ in range(10) for cold in pair)
    )
    assert sum(new) == 1
    assert (await pair[0].queue.waiting())["index"] == 1


async def test_item_that_another_process_claims_while_it_is_queued_runs_again(
    pair: tuple[ColdStores, ColdStores], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between looking at an item and queueing it again it was claimed: it is looked at again."""
    one, other = pair
    await one.queue.enqueue(SCOPE, [draft("k", x=1)], NOW)
    claimed: list[Work] = []
    written = _Transaction._written

    async def interrupted(self: _Transaction, requests: Any) -> None:
        monkeypatch.setattr(_Transaction, "_written", written)
        claimed.extend(await other.queue.claim(EVERY, "other", 1, 10, NOW))
        await written(self, requests)

    monkeypatch.setattr(_Transaction, "_written", interrupted)
    assert await one.queue.enqueue(SCOPE, [draft("k", x=2)], NOW) == 0
    (work,) = claimed
    assert work.payload == {"x": 1}
    assert await one.queue.claim(EVERY, "one", 1, 10, NOW) == (), "nobody has it twice"
    assert await other.queue.complete(work)
    (again,) = await one.queue.claim(EVERY, "one", 1, 10, NOW)
    assert again.payload == {"x": 2}


async def test_two_processes_have_one_lease(pair: tuple[ColdStores, ColdStores]) -> None:
    """One of racing owners gets it, and the next one a higher token."""
    answers = await asyncio.gather(
        *(
            cold.leases.acquire("tick", f"{number}", 10, NOW)
            for number, cold in enumerate(pair * 10)
        )
    )
    (lease,) = [answer for answer in answers if answer is not None]
    assert lease.token == 1
    await pair[1].leases.release(lease)
    again = await asyncio.gather(
        *(
            cold.leases.acquire("tick", f"{number}", 10, NOW)
            for number, cold in enumerate(pair * 10)
        )
    )
    assert [answer.token for answer in again if answer is not None] == [2]


async def test_two_processes_number_audit_events_without_gaps(
    pair: tuple[ColdStores, ColdStores],
) -> None:
    """Forty racing events of two graphs are 1 to 40 of their tenant, and 1 to 20 of each graph.

    A reader that goes by position while they come misses none.
    """
    feeds = (SCOPE, OTHER_GRAPH)
    read: list[AuditEvent] = []

    async def follow() -> None:
        while len(read) < 40:
            read.extend(await pair[1].log.tenant_audit("acme", len(read), 7))

    await asyncio.gather(
        follow(),
        *(
            cold.log.append_audit(feed, "k", (), "", NOW)
            for _ in range(10)
            for cold in pair
            for feed in feeds
        ),
    )
    assert [event.position for event in read] == list(range(1, 41))
    for feed in feeds:
        events = await pair[0].log.audit(feed)
        assert [event.seq for event in events] == list(range(1, 21))
        assert [event.position for event in events] == sorted(event.position for event in events)


async def test_two_processes_do_not_pass_a_limit(pair: tuple[ColdStores, ColdStores]) -> None:
    """Of racing charges as many are granted as fit, and the agents have what the graph has.

    Those that the graph refuses are taken back from their agent.
    """
    agents = [scope_of(agent_id=f"agent {number}") for number in range(4)]
    answers = await asyncio.gather(
        *(
            cold.usage.charge(agent, Usage(tokens=3, writes=1), Budget(writes=9), Budget(tokens=50))
            for agent in agents
            for cold in pair
            for _ in range(4)
        ),
        return_exceptions=True,
    )
    granted = sum(answer is None for answer in answers)
    assert sum(isinstance(answer, BudgetExceeded) for answer in answers) == 32 - granted
    assert granted == 16, "one more would be 51"
    used = await pair[0].usage.usage(OPERATOR)
    assert (used.tokens, used.writes) == (48, 16)
    by_agent = (await pair[1].usage.usage_by_agent(OPERATOR)).values()
    assert (sum(one.tokens for one in by_agent), sum(one.writes for one in by_agent)) == (48, 16)


async def test_two_processes_have_one_fleet(pair: tuple[ColdStores, ColdStores]) -> None:
    """Members that come and go at once through both: none is lost, none is there twice."""
    await pair[0].graphs.create_graph(graph_of("race"))
    scopes = [scope_of(agent_id=f"agent {number}") for number in range(20)]

    async def life(cold: ColdStores, scope: Scope) -> tuple[bool, Departure]:
        agent = AgentRecord(tenant="acme", graph_id="race", id=scope.agent_id or "", spawned_at=NOW)
        is_new = await cold.fleet.spawn(agent)
        return is_new, await cold.fleet.leave(scope, NOW)

    lives = await asyncio.gather(*(life(cold, scope) for scope in scopes for cold in pair))
    assert sum(is_new for is_new, _ in lives) == 20
    assert 20 <= sum(departure.left for _, departure in lives) <= 40
    members = await pair[0].fleet.agents(OPERATOR)
    assert sorted(member.id for member in members) == sorted(
        scope.agent_id or "" for scope in scopes
    )
    assert all(member.left_at == NOW for member in members)
    assert 0 in {departure.remaining for _, departure in lives}, "nobody saw the graph empty"


async def test_two_processes_cover_a_turn_once(pair: tuple[ColdStores, ColdStores]) -> None:
    """Racing summaries of overlapping turns: each turn is in one, or waits."""
    turns = [(await pair[0].turns.append_turn(SCOPE, turn_by()))[0] for _ in range(9)]
    answers = await asyncio.gather(
        *(
            pair[number % 2].episodic.put_summary(
                SCOPE, summary_by(SCOPE, turns[number : number + 2])
            )
            for number in range(8)
        ),
        return_exceptions=True,
    )
    assert all(answer is True or isinstance(answer, Conflict) for answer in answers)
    covered = [one for summary in await pair[1].episodic.summaries(SCOPE) for one in summary.covers]
    waiting = [turn.id for turn in await pair[1].turns.waiting_turns(SCOPE, 0, 99)]
    assert sorted(covered + waiting) == sorted(turn.id for turn in turns)


async def test_two_processes_create_one_graph(pair: tuple[ColdStores, ColdStores]) -> None:
    """Of racing creators one wins and the rest are told."""
    answers = await asyncio.gather(
        *(cold.graphs.create_graph(graph_of("race")) for _ in range(5) for cold in pair),
        return_exceptions=True,
    )
    assert sum(answer is None for answer in answers) == 1
    assert sum(isinstance(answer, Conflict) for answer in answers) == 9

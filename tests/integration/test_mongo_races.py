"""Two processes on one MongoDB database: numbers without gaps, nothing done twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from support.cold_samples import SCOPE, draft, graph_of, summary_by, turn_by
from support.mongo_server import MongoServer, running_mongo
from support.tier_samples import NOW

from tiers.cold.mongo import mongo_cold_store
from tiers.cold.mongo.database import Collection
from tiers.cold.stores import ColdStores
from tiers.errors import (
    Conflict,
)
from tiers.records import Work

EVERY = ("index", "compress", "learn")
DEPLOYMENTS = [("replica_set", "pymongo"), ("standalone", "pymongo"), ("replica_set", "motor")]
Opener = Callable[..., Any]


@pytest.fixture(scope="module", params=DEPLOYMENTS, ids="-".join)
def deployment(request: pytest.FixtureRequest) -> Iterator[tuple[MongoServer, str]]:
    """A server for the tests that do it no harm, and a driver."""
    mode, driver = request.param
    with running_mongo(mode=mode) as server:
        yield server, driver


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
    update = Collection.update

    async def interrupted(self: Collection, *command: Any, **how: Any) -> int:
        monkeypatch.setattr(Collection, "update", update)
        claimed.extend(await other.queue.claim(EVERY, "other", 1, 10, NOW))
        return await update(self, *command, **how)

    monkeypatch.setattr(Collection, "update", interrupted)
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
    """Forty racing events are 1 to 40."""
    await asyncio.gather(
        *(cold.log.append_audit(SCOPE, "k", (), "", NOW) for _ in range(20) for cold in pair)
    )
    assert [event.seq for event in await pair[0].log.audit(SCOPE)] == list(range(1, 41))


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

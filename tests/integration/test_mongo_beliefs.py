"""The belief log in MongoDB: one chain, whoever writes, and a projection that never lies."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from random import Random
from typing import Any

import pytest
from support.cold_samples import OTHER_GRAPH, SCOPE, asked, belief_by
from support.mongo_deployments import COMMANDS_MAX, Deployment, Operation, deployed
from support.tier_samples import NOW

from tiers.cold.mongo.database import Session
from tiers.errors import CorruptRecord, TierError, TierRejected
from tiers.records import Commitment

Raw = dict[str, Any]

WRITERS = 20


@pytest.fixture(scope="module")
def standalone() -> Iterator[Deployment]:
    """A server without transactions."""
    with deployed("standalone") as found:
        yield found


@pytest.fixture(scope="module")
def replica_set() -> Iterator[Deployment]:
    """A server with transactions."""
    with deployed("replica_set") as found:
        yield found


@pytest.fixture(params=["standalone", "replica_set"])
def deployment(request: pytest.FixtureRequest) -> Deployment:
    """Each of them."""
    return request.getfixturevalue(request.param)


def _documents(deployment: Deployment, database: str, collection: str) -> list[Raw]:
    """Return the documents of a collection as the server has them, in order of storing."""
    return sorted(
        deployment.server.client[database][collection].find({}), key=lambda one: one["_id"]
    )


def _events(deployment: Deployment, database: str) -> list[Raw]:
    """Return the log of ``SCOPE``'s graph from the raw documents, checked to be one whole chain."""
    changes = _documents(deployment, database, "belief_log")
    changes = sorted(
        (one for one in changes if one["graph_id"] == SCOPE.graph_id), key=lambda c: c["first_seq"]
    )
    events = [event for change in changes for event in change["events"]]
    for change in changes:
        seqs = [event["seq"] for event in change["events"]]
        assert seqs == list(range(change["first_seq"], change["last_seq"] + 1))
    previous = "0" * 64
    for seq, event in enumerate(events, start=1):
        assert event["seq"] == seq
        assert event["previous_hash"] == previous
        assert event["hash"] == _hash(event)
        previous = event["hash"]
    return events


def _hash(event: Raw) -> str:
    """Return an event's hash from its stored fields and the format's description alone."""
    recorded_at = NOW.replace(year=1970, month=1, day=1, hour=0) + timedelta(
        microseconds=event["recorded_at"]
    )
    fields = {name: event[name] for name in event if name not in {"hash", "recorded_at"}}
    fields |= {"recorded_at": recorded_at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"), "v": 1}
    text = json.dumps(fields, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _replayed(deployment: Deployment, database: str) -> list[Commitment]:
    """Return what is believed, from the raw log and contents alone; digests are checked."""
    contents = {
        (one["event_id"], one["content_digest"]): one
        for one in _documents(deployment, database, "belief_contents")
    }
    active: dict[str, Commitment] = {}
    for event in _events(deployment, database):
        content = contents[event["id"], event["content_digest"]]
        salted = content["salt"] + content["content"].encode()
        assert hashlib.sha256(salted).hexdigest() == event["content_digest"]
        if event["kind"] == "committed":
            active[event["belief_id"]] = Commitment.model_validate_json(content["content"])
        elif event["kind"] == "superseded":
            del active[event["belief_id"]]
        else:
            held = active[event["belief_id"]]
            active[event["belief_id"]] = held.model_copy(update={"pinned": True})
    return list(active.values())


async def _lived(cold: Any, count: int, seed: int = 1) -> None:
    """Commit, supersede and pin."""
    random = Random(seed)
    for number in range(count):
        key = random.choice([None, ("a", "b"), ("c", "d"), ("e", "f")])
        belief = belief_by(claim=f"claim {number}", key=key)
        await cold.beliefs.commit(SCOPE, belief)
        if random.random() < 0.3:
            await cold.beliefs.pin(SCOPE, belief.id, NOW)


def _superseding() -> Operation:
    old, new = belief_by(claim="old"), belief_by(claim="new")
    return Operation(
        lambda cold: cold.beliefs.commit(SCOPE, new), lambda cold: cold.beliefs.commit(SCOPE, old)
    )


def _beginning() -> Operation:
    first, second = belief_by(claim="first"), belief_by(claim="second", key=None)
    return Operation(
        lambda cold: cold.beliefs.commit(SCOPE, second),
        lambda cold: cold.beliefs.commit(SCOPE, first),
    )


def _pinning() -> Operation:
    belief = belief_by()
    return Operation(
        lambda cold: cold.beliefs.pin(SCOPE, belief.id, NOW + timedelta(minutes=1)),
        lambda cold: cold.beliefs.commit(SCOPE, belief),
    )


OPERATIONS = [_superseding, _beginning, _pinning]


async def _seen(cold: Any) -> tuple[Any, ...]:
    """Return what the ports show of the graph's beliefs."""
    found = await cold.words.search_words(SCOPE, asked("old new first second start mediums"))
    return (
        await cold.beliefs.active(SCOPE),
        [event.kind for event in await cold.beliefs.events(SCOPE)],
        sorted(hit.id for hit in found),
        (await cold.words.census(SCOPE))["beliefs"],
    )


@pytest.mark.parametrize("make", OPERATIONS)
@pytest.mark.parametrize("after", [False, True], ids=["undone", "unanswered"])
async def test_a_cut_anywhere_leaves_log_and_projection_in_agreement(
    standalone: Deployment, make: Callable[[], Operation], *, after: bool
) -> None:
    """Opened anew, the change is there whole or not at all; repeated, it is there once."""
    operation = make()
    async with standalone.opened(standalone.server.fresh_database()) as cold:
        await operation.prepare(cold)
        before = await _seen(cold)
        await operation.act(cold)
        done = await _seen(cold)
    assert before != done
    felt = kept = 0
    for number in range(1, COMMANDS_MAX):
        database = standalone.server.fresh_database()
        cut, error = await standalone.cut(operation, database, number, after=after)
        if not cut.happened:
            break
        felt += error is not None
        async with standalone.opened(database) as cold:
            seen = await _seen(cold)
            assert seen in (before, done), f"half a change after command {number}"
            kept += error is not None and seen == done
            assert tuple(_replayed(standalone, database)) == seen[0]
            await operation.act(cold)
            assert await _seen(cold) == done
            assert tuple(_replayed(standalone, database)) == done[0]
    assert felt >= 4, "most cuts must have been felt"
    assert kept >= 1, "some came after the change had been decided"


@pytest.mark.parametrize("make", OPERATIONS)
async def test_a_replica_set_keeps_nothing_of_what_was_refused(
    replica_set: Deployment, make: Callable[[], Operation]
) -> None:
    """Neither an event nor a content without one."""
    operation = make()
    felt = 0
    for number in range(1, COMMANDS_MAX):
        database = replica_set.server.fresh_database()
        async with replica_set.opened(database) as cold:
            await operation.prepare(cold)
            before = await _seen(cold)
        cut, error = await replica_set.cut(
            Operation(operation.act, lambda _: asyncio.sleep(0)), database, number
        )
        if not cut.happened:
            break
        contents = _documents(replica_set, database, "belief_contents")
        assert len(contents) == len(_events(replica_set, database))
        async with replica_set.opened(database) as cold:
            felt += error is not None
            assert (await _seen(cold) == before) == (error is not None)
    assert felt >= 4, "most refusals must have been felt"
    assert replica_set.server.open_transactions == 0


async def test_two_stores_racing_on_one_key_make_one_chain(deployment: Deployment) -> None:
    """Twenty commits through two connections: no gap, one active, none lost, none doubled."""
    database = deployment.server.fresh_database()
    async with deployment.opened(database) as one, deployment.opened(database) as other:
        beliefs = [belief_by(claim=f"{number}") for number in range(WRITERS)]
        answers = await asyncio.gather(
            *(
                (one, other)[number % 2].beliefs.commit(SCOPE, belief)
                for number, belief in enumerate(beliefs)
            )
        )
        (active,) = await one.beliefs.active(SCOPE)
        assert await other.beliefs.active(SCOPE) == (active,)
    superseded = [answer.id for answer in answers if answer is not None]
    assert sorted(superseded) == sorted({belief.id for belief in beliefs} - {active.id})
    events = _events(deployment, database)
    committed = [event["belief_id"] for event in events if event["kind"] == "committed"]
    assert sorted(committed) == sorted(belief.id for belief in beliefs)
    assert len(events) == 2 * WRITERS - 1
    assert _replayed(deployment, database) == [active]
    stored = _documents(deployment, database, "beliefs")
    assert len(stored) == WRITERS
    assert sum(one["active"] for one in stored) == 1
    # Of no user, so in the form that it had when users were not told apart.
    keys = [one["active_key"] for one in stored if "active_key" in one]
    assert keys == ['[["start", "compound"], "tyres", ""]']


async def test_two_stores_racing_with_one_belief_commit_it_once(deployment: Deployment) -> None:
    """The same belief, told twenty times at once, is one event."""
    database = deployment.server.fresh_database()
    belief = belief_by()
    async with deployment.opened(database) as one, deployment.opened(database) as other:
        await asyncio.gather(
            *((one, other)[n % 2].beliefs.commit(SCOPE, belief) for n in range(WRITERS))
        )
        pinned = await asyncio.gather(
            *((one, other)[n % 2].beliefs.pin(SCOPE, belief.id, NOW) for n in range(WRITERS))
        )
    assert all(answer.pinned for answer in pinned)
    assert [event["kind"] for event in _events(deployment, database)] == ["committed", "pinned"]


async def test_a_refused_change_leaves_no_content_behind(standalone: Deployment) -> None:
    """Who was too late takes the contents back that it wrote for a place that was taken."""
    database = standalone.server.fresh_database()
    async with standalone.opened(database) as one, standalone.opened(database) as other:
        await asyncio.gather(
            *((one, other)[n % 2].beliefs.commit(SCOPE, belief_by(key=None)) for n in range(10))
        )
    contents = _documents(standalone, database, "belief_contents")
    assert len(contents) == len(_events(standalone, database)) == 10


async def test_readers_see_changes_whole(standalone: Deployment) -> None:
    """While one key changes hands, every answer has exactly one belief under it."""
    database = standalone.server.fresh_database()
    async with standalone.opened(database) as writer, standalone.opened(database) as reader:
        await writer.beliefs.commit(SCOPE, belief_by(claim="first"))
        answers: list[int] = []

        async def read() -> None:
            while len(answers) < 1_000 and not done.is_set():
                answers.append(len(await reader.beliefs.active(SCOPE)))

        done = asyncio.Event()
        readers = [asyncio.create_task(read()) for _ in range(4)]
        for number in range(30):
            await writer.beliefs.commit(SCOPE, belief_by(claim=f"{number}"))
        done.set()
        await asyncio.gather(*readers)
    assert len(answers) > 30
    assert set(answers) == {1}


@pytest.mark.parametrize("lost", [("beliefs", "belief_heads"), ("belief_heads",)], ids=str)
async def test_the_projection_is_what_the_log_comes_to(
    deployment: Deployment, lost: tuple[str, ...]
) -> None:
    """Taken away, it is built again from the log alone, the same in every document.

    Applied once more to what is there, the log changes nothing.
    """
    database = deployment.server.fresh_database()
    async with deployment.opened(database) as cold:
        await _lived(cold, 60)
        kept = await cold.beliefs.active(SCOPE)
        before = _documents(deployment, database, "beliefs")
    with deployment.server.tampering() as client:
        for name in lost:
            client[database][name].delete_many({})
    async with deployment.opened(database) as one, deployment.opened(database) as other:
        answers = await asyncio.gather(
            *((one, other)[number % 2].beliefs.active(SCOPE) for number in range(6))
        )
    assert set(answers) == {kept}
    assert _replayed(deployment, database) == list(kept)
    after = _documents(deployment, database, "beliefs")
    for documents in (before, after):
        for document in documents:
            del document["_id"]
    assert after == before


async def test_a_projection_that_lies_behind_is_no_ground_to_decide_on(
    standalone: Deployment,
) -> None:
    """Whoever commits next supersedes what the log says is active, not what was projected."""
    database = standalone.server.fresh_database()
    async with standalone.opened(database) as cold:
        await cold.beliefs.commit(SCOPE, belief_by(claim="one"))
        two = belief_by(claim="two")
        standalone.server.fail_next("update", code=8, collection="beliefs")
        with pytest.raises(TierError):
            await cold.beliefs.commit(SCOPE, two)
        superseded = await cold.beliefs.commit(SCOPE, belief_by(claim="three"))
        assert superseded == two
    assert len(_events(standalone, database)) == 5


async def test_destroyed_content_is_not_needed_by_a_projection_that_is_there(
    deployment: Deployment,
) -> None:
    """The chain verifies without it; only building the projection again cannot be done."""
    database = deployment.server.fresh_database()
    async with deployment.opened(database) as cold:
        await cold.beliefs.commit(SCOPE, belief_by(claim="gone", key=None))
        with deployment.server.tampering() as client:
            client[database]["belief_contents"].delete_many({})
        await cold.beliefs.commit(SCOPE, belief_by(claim="here", key=None))
        assert [one.claim for one in await cold.beliefs.active(SCOPE)] == ["gone", "here"]
        assert len(_events(deployment, database)) == 2
        with deployment.server.tampering() as client:
            client[database]["beliefs"].delete_many({})
            client[database]["belief_heads"].delete_many({})
        with pytest.raises(CorruptRecord, match="content of a committed belief"):
            await cold.beliefs.active(SCOPE)
        assert await cold.beliefs.active(OTHER_GRAPH) == ()


async def test_no_update_and_no_delete_ever_goes_to_the_log(deployment: Deployment) -> None:
    """The guard refuses them, and the life of a graph sends none."""
    database = deployment.server.fresh_database()
    async with deployment.opened(database) as cold:
        deployment.server.clear_commands()
        await _lived(cold, 20)

        async def tamper(session: Session, name: str, *more: Any) -> None:
            log = session.collection("belief_log")
            where = {"tenant": "acme", "graph_id": "race"}
            await getattr(log, name)(where, *more)

        for name, more in (
            ("update", ({"$set": {"events": []}},)),
            ("find_and_update", ({"$set": {"events": []}},)),
            ("delete", ()),
        ):
            with pytest.raises(TierRejected, match="append-only guard"):
                await cold.beliefs._database.write(
                    "tamper", lambda session, n=name, m=more: tamper(session, n, *m)
                )
        with pytest.raises(TierRejected, match=r"same .*first_seq"):
            await cold.beliefs._database.write(
                "tamper",
                lambda session: session.collection("belief_log").insert(
                    [_documents(deployment, database, "belief_log")[0] | {"_id": "another"}]
                ),
            )
    sent = {
        one["name"]
        for one in deployment.server.commands
        if one["body"].get(one["name"]) == "belief_log"
    }
    assert sent == {"find", "insert"}
    assert len(_events(deployment, database)) > 20

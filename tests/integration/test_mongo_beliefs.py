"""The belief log in MongoDB: one chain, whoever writes, and a projection that never lies."""

from __future__ import annotations

import asyncio
import hashlib
import json
from datetime import datetime, timedelta
from random import Random
from typing import Any

import pytest
from pymongo import MongoClient
from pymongo.errors import DuplicateKeyError
from support.belief_replay import replayed
from support.belief_writer import commit_settled
from support.cold_samples import OTHER_AGENT, SCOPE, belief_by, turn_by
from support.mongo_deployments import Deployment
from support.tier_samples import NOW, scope_of

from tiers.cold.mongo import mongo_cold_store
from tiers.records import BeliefQuery, BranchPoint, Commitment, Scope

Raw = dict[str, Any]

GRAPH = Scope.of_graph(SCOPE.tenant, SCOPE.graph_id)
LATER = NOW + timedelta(minutes=1)
POINT = BranchPoint(graph_id="parent", seq=2, last_hash="0" * 64, root="0" * 64, turn=1)
WRITERS = 12
DEFAULTS: Raw = {"turn": 0, "turn_id": "", "version": 1}


def _documents(deployment: Deployment, database: str, collection: str) -> list[Raw]:
    """Return the documents of a collection as the server has them, in order of storing."""
    return sorted(
        deployment.server.client[database][collection].find({}), key=lambda one: one["_id"]
    )


def _events(deployment: Deployment, database: str) -> list[Raw]:
    """Return the log of ``SCOPE``'s graph from the raw documents, checked to be one whole chain."""
    stored = _documents(deployment, database, "belief_events")
    events = [DEFAULTS | json.loads(one["body"]) for one in stored]
    events = sorted(
        (one for one in events if one["graph_id"] == SCOPE.graph_id), key=lambda e: e["seq"]
    )
    previous = "0" * 64
    for seq, event in enumerate(events, start=1):
        assert event["seq"] == seq
        assert event["previous_hash"] == previous
        assert event["hash"] == _hash(event)
        previous = event["hash"]
    return events


def _hash(event: Raw) -> str:
    """Return an event's hash from its stored fields and the format's description alone."""
    recorded_at = datetime.fromisoformat(event["recorded_at"])
    left_out = {"hash", "recorded_at", "version"}
    fields = {name: event[name] for name in event if name not in left_out}
    fields |= {"recorded_at": recorded_at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"), "v": event["version"]}
    text = json.dumps(fields, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


async def _lived(cold: Any, count: int, seed: int = 1) -> None:
    """Commit, supersede, pin, unpin, revert, rewind and trust."""
    random = Random(seed)
    for number in range(count):
        key = random.choice([None, ("a", "b"), ("c", "d"), ("e", "f")])
        belief = belief_by(claim=f"claim {number}", key=key)
        await commit_settled(cold, SCOPE, belief)
        what = random.random()
        if what < 0.4:
            await cold.beliefs.pin(SCOPE, belief.id, NOW)
        if what < 0.15:
            await cold.beliefs.unpin(SCOPE, belief.id, NOW)
        if 0.4 < what < 0.55:
            await cold.beliefs.revert(SCOPE, belief.id, "wrong", NOW)
        if number % 20 == 13:
            whole = (await cold.beliefs.active(GRAPH))[0]
            committed = await cold.history.query(GRAPH, BeliefQuery(ids=(whole.id,)))
            await cold.beliefs.rewind(GRAPH, committed[0].committed_seq, "back", NOW)


async def test_two_stores_racing_on_one_key_make_one_chain(deployment: Deployment) -> None:
    """A dozen commits through two connections: no gap, one active, none lost, none doubled."""
    database = deployment.fresh_database()
    async with deployment.opened(database) as one, deployment.opened(database) as other:
        beliefs = [belief_by(claim=f"{number}") for number in range(WRITERS)]
        answers = await asyncio.gather(
            *(
                commit_settled((one, other)[number % 2], SCOPE, belief)
                for number, belief in enumerate(beliefs)
            )
        )
        (active,) = await one.beliefs.active(SCOPE)
        assert await other.beliefs.active(SCOPE) == (active,)
        fold = await replayed(one.history, GRAPH)
    superseded = [gone.id for answer in answers for gone in answer.superseded]
    assert sorted(superseded) == sorted({belief.id for belief in beliefs} - {active.id})
    assert set(fold.beliefs) == {belief.id for belief in beliefs}
    # Each but the first: committed, contradicted, superseded.
    assert len(_events(deployment, database)) == 3 * WRITERS - 2
    stored = _documents(deployment, database, "beliefs")
    assert len(stored) == WRITERS
    assert sum(one["status"] == "active" for one in stored) == 1
    assert sum("held_key" in one for one in stored) == 1


async def test_a_refused_change_leaves_no_content_behind(deployment: Deployment) -> None:
    """Who was too late leaves nothing of what it wrote for a place that was taken."""
    database = deployment.fresh_database()
    async with deployment.opened(database) as one, deployment.opened(database) as other:
        await asyncio.gather(
            *((one, other)[n % 2].beliefs.commit(SCOPE, belief_by(key=None)) for n in range(10))
        )
    contents = _documents(deployment, database, "belief_contents")
    assert len(contents) == len(_events(deployment, database)) == 10


async def test_readers_see_changes_whole(deployment: Deployment) -> None:
    """While a key changes hands and comes back, every answer has exactly one belief under it.

    Of the past as of the present.
    """
    database = deployment.fresh_database()
    async with deployment.opened(database) as writer, deployment.opened(database) as reader:
        await writer.beliefs.commit(SCOPE, belief_by(claim="first"))
        answers: list[int] = []

        async def read(number: int) -> None:
            while len(answers) < 1_000 and not done.is_set():
                if number % 2:
                    found = await reader.beliefs.active(SCOPE)
                else:
                    last = await reader.history.events(SCOPE, 0, 10_000)
                    whole = [one.seq for one in last if one.kind in {"superseded", "restored"}]
                    found = await reader.history.as_of(SCOPE, whole[-1] if whole else 1)
                answers.append(len(found))

        done = asyncio.Event()
        readers = [asyncio.create_task(read(number)) for number in range(4)]
        for number in range(20):
            new = belief_by(claim=f"{number}")
            await commit_settled(writer, SCOPE, new)
            if number % 3 == 2:
                await writer.beliefs.revert(SCOPE, new.id, "wrong", NOW)
        done.set()
        await asyncio.gather(*readers)
    assert len(answers) > 30
    assert set(answers) == {1}


async def test_turns_are_counted_by_the_last_of_each_agent(deployment: Deployment) -> None:
    """A turn that is not stored yet is under way; one that is stored is counted once."""
    async with deployment.opened(deployment.fresh_database()) as cold:
        turns = [turn_by(scope) for scope in (SCOPE, SCOPE, OTHER_AGENT)]
        stored = [(await cold.turns.append_turn(_scope_of(one), one))[0] for one in turns]
        beliefs = [
            belief_by(key=None, turn_id=turn_id) for turn_id in (None, stored[0].id, "under way")
        ]
        for belief in beliefs:
            await cold.beliefs.commit(SCOPE, belief)
        await cold.beliefs.pin(SCOPE, beliefs[0].id, NOW)
        assert [event.turn for event in await cold.history.events(GRAPH)] == [3, 3, 4, 4]
        found = [await cold.history.seq_at(GRAPH, turn=turn) for turn in (2, 3, 4)]
        assert found == [0, 2, 4]


def _scope_of(record: Any) -> Scope:
    return scope_of(record.tenant, record.graph_id, record.agent_id, ("tyres", "strategy"))


def _many(count: int) -> list[Commitment]:
    one = belief_by(key=None).model_copy(update={"origin_id": "a", "pinned": True})
    return [one.model_copy(update={"id": f"{one.id}-{number:05}"}) for number in range(count)]


@pytest.mark.slow
async def test_a_change_of_many_beliefs_is_one_change(deployment: Deployment) -> None:
    """A branch of pinned beliefs, taking all of it back, and having it back after all."""
    many = _many(400)
    name = deployment.fresh_database()
    async with mongo_cold_store(deployment.server.uri, database=name, timeout_seconds=60) as cold:
        assert await cold.beliefs.adopt(GRAPH, POINT, many, NOW)
        assert len((await cold.beliefs.rewind(GRAPH, 0, "all wrong", LATER)).ended) == len(many)
        assert await cold.beliefs.active(GRAPH) == ()
        assert await cold.history.as_of(GRAPH, 2 * len(many) + 1) == tuple(many)
        back = await cold.beliefs.rewind(GRAPH, 2 * len(many) + 1, "all right", LATER)
        assert back.restored == tuple(one.id for one in many)
        assert await cold.beliefs.active(GRAPH) == tuple(many)
        await replayed(cold.history, GRAPH)
    assert len(_documents(deployment, name, "belief_events")) == 801 + 401 + 801


async def test_no_update_and_no_delete_ever_goes_to_the_log(deployment: Deployment) -> None:
    """The life of a graph sends none, and no place can be taken twice; contents are destroyed."""
    database = deployment.fresh_database()
    async with deployment.opened(database) as cold:
        deployment.server.clear_commands()
        await _lived(cold, 20)
        belief = (await cold.beliefs.active(SCOPE))[-1]
        await cold.redactor.redact(GRAPH, [belief.id], "asked to", LATER)
    for name, known in (
        ("belief_events", {"find", "aggregate", "insert"}),
        ("belief_contents", {"find", "aggregate", "insert", "delete"}),
    ):
        sent = {
            one["name"]
            for one in deployment.server.commands
            if one["body"].get(one["name"]) == name
        }
        assert sent <= known, name
    assert len(_events(deployment, database)) > 20
    event = _documents(deployment, database, "belief_events")[0]
    raw: MongoClient[Raw]
    with MongoClient(deployment.server.uri) as raw, pytest.raises(DuplicateKeyError):
        raw[database]["belief_events"].insert_one(event | {"_id": "another", "id": "another"})

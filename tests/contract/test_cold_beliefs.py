"""The contract of ``BeliefStore``: keys, sight, the chain, and the indexes that follow."""

from __future__ import annotations

import asyncio
import hashlib
import json
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest
from support.belief_replay import replayed
from support.cold_backends import Cold, ColdBackend
from support.cold_beliefs import replacing
from support.cold_samples import (
    LONE_SURROGATE,
    OPERATOR,
    OTHER_AGENT,
    OTHER_GRAPH,
    SCOPE,
    STRANGERS,
    asked,
    belief_by,
    turn_by,
)
from support.tier_samples import HOSTILE_TEXT, NOW, scope_of

from tiers.errors import NotFound, UsageError
from tiers.records import BeliefQuery, Committed


async def test_belief_comes_back_as_it_was(cold: Cold) -> None:
    """Every field survives, with its event; trust is what the log says, not what is claimed."""
    belief = belief_by(
        claim=HOSTILE_TEXT,
        value=HOSTILE_TEXT,
        trust=0.25,
        private=True,
        source_ids=("a", "b"),
        turn_id="t",
        receipt_id="r",
    )
    stored = belief.model_copy(update={"trust": 1.0})
    assert await cold.beliefs.commit(SCOPE, belief) == Committed(belief=stored, is_new=True)
    assert await cold.beliefs.active(SCOPE) == (stored,)
    (event,) = await cold.history.events(OPERATOR)
    assert (event.kind, event.belief_id, event.agent_id) == ("committed", belief.id, "strategist")
    assert (event.recorded_at, event.turn) == (belief.recorded_at, 1)


@pytest.mark.parametrize(
    "fields",
    [
        {"key": None},
        {"key": ("start", "fuel")},
        {"key": ("finish", "compound")},
        {"topic": "strategy", "topics": ("strategy",)},
        {"topic": None, "topics": ()},
        {"private": True},
    ],
    ids=str,
)
async def test_other_key_topic_or_privacy_stands_beside(
    cold: Cold, fields: dict[str, object]
) -> None:
    """Only the same key under the same topic, shared or both private, is a rival."""
    first, second = belief_by(), belief_by(claim="else", **fields)
    await cold.beliefs.commit(SCOPE, first)
    assert (await cold.beliefs.commit(SCOPE, second)).is_new
    assert await cold.beliefs.active(SCOPE) == (first, second)


async def test_beliefs_without_key_or_topic_have_their_own_rules(cold: Cold) -> None:
    """No key: nobody's rival. A key without topic: that of its like with the same topics."""
    unkeyed = [belief_by(claim="x", key=None), belief_by(claim="x", key=None)]
    for belief in unkeyed:
        assert (await cold.beliefs.commit(SCOPE, belief)).is_new
    old, new = (belief_by(topic=None, topics=("tyres", "strategy")) for _ in range(2))
    beside = belief_by(topic=None, topics=("tyres",))
    for belief in (old, beside):
        assert (await cold.beliefs.commit(SCOPE, belief)).is_new
    (rival,) = (await cold.beliefs.commit(SCOPE, new)).unsettled
    assert rival.belief == old
    assert (await replacing(cold, SCOPE, new)).superseded == (old,)
    assert await cold.beliefs.active(SCOPE) == (*unkeyed, beside, new)


async def test_two_users_beliefs_stand_beside_each_other(cold: Cold) -> None:
    """One key, three believers: each replaces their own only, and sees theirs and nobody's."""
    alice, bob = (SCOPE.model_copy(update={"user_id": name}) for name in ("alice", "bob"))
    held = {scope: belief_by(scope) for scope in (alice, bob, SCOPE)}
    for scope, belief in held.items():
        assert (await cold.beliefs.commit(scope, belief)).is_new
    new = belief_by(bob, claim="Start on hards.")
    assert (await replacing(cold, bob, new)).superseded == (held[bob],)
    assert await cold.beliefs.active(alice) == (held[alice], held[SCOPE])
    assert await cold.beliefs.active(bob) == (held[SCOPE], new)
    assert await cold.beliefs.active(SCOPE) == (held[SCOPE],)
    with pytest.raises(NotFound):
        await cold.beliefs.pin(bob, held[alice].id, NOW)


async def test_private_beliefs_are_their_agents_and_rivals_of_nobody_elses(cold: Cold) -> None:
    """A private belief of one agent is not returned to, nor replaced by, another."""
    mine, theirs = belief_by(private=True), belief_by(OTHER_AGENT, private=True)
    await cold.beliefs.commit(SCOPE, mine)
    assert (await cold.beliefs.commit(OTHER_AGENT, theirs)).is_new
    assert await cold.beliefs.active(SCOPE) == (mine,)
    assert await cold.beliefs.active(OTHER_AGENT) == (theirs,)
    assert await cold.beliefs.active(OPERATOR) == ()


async def test_beliefs_are_not_seen_outside_their_scope(cold: Cold) -> None:
    """Another topic, graph or tenant gets none."""
    await cold.beliefs.commit(SCOPE, belief_by())
    for stranger in STRANGERS:
        assert await cold.beliefs.active(stranger) == ()


async def test_belief_without_topics_is_seen_under_its_topic(cold: Cold) -> None:
    """``topic`` alone is enough to keep a belief from those who do not hold it."""
    await cold.beliefs.commit(SCOPE, belief_by(topics=()))
    assert await cold.beliefs.active(scope_of(agent_id="x", topics=("weather",))) == ()
    (belief,) = await cold.beliefs.active(scope_of(agent_id="x", topics=("tyres",)))
    assert belief.topics == ("tyres",)
    with pytest.raises(UsageError, match="topic"):
        await cold.beliefs.commit(SCOPE, belief_by(topics=(), topic="\x00"))


async def test_racing_pins_make_one_event(processes: Cold) -> None:
    """Whoever pins, and however often; what ends is pinned no longer. So do racing commits."""
    belief = belief_by()
    told = await asyncio.gather(*(processes.beliefs.commit(SCOPE, belief) for _ in range(10)))
    assert sum(answer.is_new for answer in told) == 1
    later = NOW + timedelta(minutes=1)
    pinned = await asyncio.gather(
        *(processes.beliefs.pin(OTHER_AGENT, belief.id, later) for _ in range(10))
    )
    assert set(pinned) == {belief.model_copy(update={"pinned": True})}
    assert await processes.beliefs.active(SCOPE) == (pinned[0],)
    _, event = await processes.history.events(OPERATOR)
    assert (event.kind, event.agent_id, event.recorded_at) == ("pinned", "engineer", later)
    await processes.beliefs.revert(SCOPE, belief.id, "no", later)
    (gone,) = await processes.history.query(OPERATOR, BeliefQuery(ids=(belief.id,)))
    assert (gone.status, gone.pinned) == ("reverted", False)


async def test_the_stored_log_verifies_without_ezra(
    cold: Cold, backend: ColdBackend, tmp_path: Path
) -> None:
    """Salted digests, recomputed from the bytes in the raw engine; hashes from the format."""
    beliefs = [belief_by(claim=f"claim {n} é 🏎️", value=str(n)) for n in range(5)]
    for belief in beliefs:
        await replacing(cold, SCOPE, belief)
    await cold.beliefs.pin(SCOPE, beliefs[-1].id, NOW + timedelta(microseconds=1))
    await replayed(cold.history, OPERATOR)
    events = await cold.history.events(OPERATOR)
    contents = {row["event_id"]: row for row in backend.rows(tmp_path, "belief_contents")}
    assert set(contents) == {event.id for event in events}
    salts = {row["salt"] for row in contents.values()}
    assert len(salts) == len(events), "each content has a salt of its own"
    for event in events:
        row = contents[event.id]
        salt = bytes.fromhex(row["salt"])
        assert len(salt) == 16
        digest = hashlib.sha256(salt + row["content"].encode("utf-8")).hexdigest()
        assert digest == event.content_digest
    said = [json.loads(row["content"]).get("claim") for row in contents.values()]
    assert {belief.claim for belief in beliefs} <= set(said)


async def test_broken_text_and_records_of_somebody_else_are_refused(cold: Cold) -> None:
    """Nothing is written, no seq is used up."""
    with pytest.raises(UsageError, match="owner"):
        await cold.beliefs.commit(SCOPE, belief_by(OTHER_GRAPH))
    for field in ("claim", "value", "topic"):
        broken = belief_by().model_copy(update={field: LONE_SURROGATE})
        with pytest.raises(UsageError, match="surrogates"):
            await cold.beliefs.commit(SCOPE, broken)
    await cold.beliefs.commit(SCOPE, belief_by())
    assert [event.seq for event in await cold.history.events(OPERATOR)] == [1]


async def test_cancelled_commits_leave_a_whole_chain(cold: Cold) -> None:
    """Whenever a commit is cancelled, log and projection agree and the chain verifies."""
    random = Random(5)
    for number in range(80):
        commit = asyncio.create_task(replacing(cold, SCOPE, belief_by(claim=f"{number}")))
        for _ in range(random.randrange(5)):
            await asyncio.sleep(random.choice([0, 0, 0.0005]))
        commit.cancel()
        await asyncio.gather(commit, return_exceptions=True)
    last = belief_by(claim="last")
    await replacing(cold, SCOPE, last)
    fold = await replayed(cold.history, OPERATOR)
    assert await cold.beliefs.active(SCOPE) == (last,)
    assert [one.id for one in fold.active()] == [last.id]
    assert 1 < len(fold.beliefs) < 81, "some must have been cut off, and some got through"


async def test_beliefs_are_indexed_as_facts_are(cold: Cold) -> None:
    """Found by words alone while their work waits, and found at all while they are active."""
    question = asked("mediums hards", kinds=("belief",))

    async def found() -> dict[str, bool]:
        hits = await cold.words.search_words(SCOPE, question)
        entries = await cold.words.entries(SCOPE, [old.id, new.id])
        refs = await cold.upkeep.searchable_after("acme", "", 10, NOW)
        assert {entry.id for entry in entries} == {hit.id for hit in hits}
        assert {ref.id for ref in refs.rows} == {hit.id for hit in hits}
        assert await cold.upkeep.count_searchable("acme", NOW) == len(hits)
        return {hit.id: hit.words_only for hit in hits}

    async def indexed() -> None:
        for work in await cold.queue.claim(("index",), "me", 100, 10, NOW):
            assert await cold.queue.complete(work)

    old, new = belief_by(source_ids=("a",)), belief_by(claim="Start on hards.")
    await cold.beliefs.commit(SCOPE, old)
    assert await found() == {old.id: True}
    await indexed()
    assert await found() == {old.id: False}
    await replacing(cold, SCOPE, new)
    assert await found() == {new.id: True}
    await indexed()
    await cold.beliefs.revert(SCOPE, new.id, "no", NOW)
    assert await found() == {old.id: True}
    (hit,) = await cold.words.search_words(SCOPE, question)
    assert hit.source_ids == ("a",)


async def test_the_turn_of_an_event_is_the_graphs(cold: Cold) -> None:
    """Turns of every agent count; one under way counts for what is committed during it."""
    for scope, count in ((SCOPE, 3), (OTHER_AGENT, 2)):
        for _ in range(count):
            turn, _ = await cold.turns.append_turn(scope, turn_by(scope))
    await cold.turns.append_turn(OTHER_GRAPH, turn_by(OTHER_GRAPH))
    during, after = belief_by(key=None, turn_id="under way"), belief_by(key=None, turn_id=turn.id)
    await cold.beliefs.commit(SCOPE, after)
    await cold.beliefs.commit(SCOPE, during)
    await cold.beliefs.pin(SCOPE, after.id, NOW)
    events = await cold.history.events(OPERATOR)
    assert [event.turn for event in events] == [5, 6, 6], "a turn never falls"

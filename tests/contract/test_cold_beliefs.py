"""The contract of ``BeliefStore``."""

from __future__ import annotations

import asyncio
import hashlib
import json
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest
from support.cold_backends import Cold, ColdBackend
from support.cold_samples import (
    HOSTILE_NAMES,
    LONE_SURROGATE,
    OPERATOR,
    OTHER_AGENT,
    OTHER_GRAPH,
    OTHER_TENANT,
    SCOPE,
    STRANGERS,
    asked,
    belief_by,
    graph_of,
)
from support.tier_samples import HOSTILE_TEXT, NOW, TWIN_SCOPES, scope_of

from tiers.errors import Conflict, NotFound, UsageError
from tiers.records import BeliefEvent, Commitment, GraphState, Scope


def _log(events: tuple[BeliefEvent, ...]) -> list[tuple[int, str, str]]:
    return [(event.seq, event.kind, event.belief_id) for event in events]


def _expected_hash(event: BeliefEvent) -> str:
    """Return an event's hash, computed from the format's description alone."""
    fields = {
        "agent_id": event.agent_id,
        "belief_id": event.belief_id,
        "content_digest": event.content_digest,
        "graph_id": event.graph_id,
        "id": event.id,
        "kind": event.kind,
        "previous_hash": event.previous_hash,
        "recorded_at": event.recorded_at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "seq": event.seq,
        "tenant": event.tenant,
        "v": 1,
    }
    text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _assert_chained(events: tuple[BeliefEvent, ...]) -> None:
    previous = "0" * 64
    for seq, event in enumerate(events, start=1):
        assert event.seq == seq
        assert event.previous_hash == previous
        assert event.hash == _expected_hash(event)
        previous = event.hash


async def test_nothing_is_an_empty_answer(cold: Cold) -> None:
    """An empty graph believes nothing and has no log."""
    assert await cold.beliefs.active(SCOPE) == ()
    assert await cold.beliefs.events(SCOPE) == ()


async def test_belief_comes_back_as_it_was(cold: Cold) -> None:
    """Every field survives, with its event."""
    belief = belief_by(claim=HOSTILE_TEXT, value=HOSTILE_TEXT, trust=0.25, private=True)
    assert await cold.beliefs.commit(SCOPE, belief) is None
    assert await cold.beliefs.active(SCOPE) == (belief,)
    (event,) = await cold.beliefs.events(SCOPE)
    assert (event.kind, event.belief_id, event.agent_id) == ("committed", belief.id, "strategist")
    assert event.recorded_at == belief.recorded_at


async def test_belief_of_the_same_key_and_topic_is_superseded(cold: Cold) -> None:
    """One step: the new one active, the old one returned and gone, an event for each."""
    old, new = belief_by(), belief_by(OTHER_AGENT, claim="Start on hards.")
    await cold.beliefs.commit(SCOPE, old)
    assert await cold.beliefs.commit(OTHER_AGENT, new) == old
    assert await cold.beliefs.active(SCOPE) == (new,)
    assert _log(await cold.beliefs.events(SCOPE)) == [
        (1, "committed", old.id),
        (2, "committed", new.id),
        (3, "superseded", old.id),
    ]
    found = await cold.words.search_words(SCOPE, asked("mediums hards", kinds=("belief",)))
    assert [hit.id for hit in found] == [new.id]


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
    assert await cold.beliefs.commit(SCOPE, second) is None
    assert await cold.beliefs.active(SCOPE) == (first, second)


async def test_beliefs_without_key_or_topic_have_their_own_rules(cold: Cold) -> None:
    """No key: never superseded. A key without topic is superseded by its like."""
    unkeyed = [belief_by(claim="x", key=None), belief_by(claim="x", key=None)]
    for belief in unkeyed:
        assert await cold.beliefs.commit(SCOPE, belief) is None
    old, new = (belief_by(topic=None, topics=()) for _ in range(2))
    assert await cold.beliefs.commit(SCOPE, old) is None
    assert await cold.beliefs.commit(SCOPE, new) == old
    assert await cold.beliefs.active(SCOPE) == (*unkeyed, new)


async def test_two_users_beliefs_stand_beside_each_other(cold: Cold) -> None:
    """One key, three believers: each replaces their own only, and sees theirs and nobody's."""
    alice, bob = (SCOPE.model_copy(update={"user_id": name}) for name in ("alice", "bob"))
    held = {scope: belief_by(scope) for scope in (alice, bob, SCOPE)}
    for scope, belief in held.items():
        assert await cold.beliefs.commit(scope, belief) is None
    new = belief_by(bob, claim="Start on hards.")
    assert await cold.beliefs.commit(bob, new) == held[bob]
    assert await cold.beliefs.active(alice) == (held[alice], held[SCOPE])
    assert await cold.beliefs.active(bob) == (held[SCOPE], new)
    assert await cold.beliefs.active(SCOPE) == (held[SCOPE],)
    with pytest.raises(NotFound):
        await cold.beliefs.pin(bob, held[alice].id, NOW)


async def test_archived_graph_takes_no_belief_and_no_pin(cold: Cold) -> None:
    """What would change nothing is no error; the log has not grown."""
    await cold.graphs.create_graph(graph_of("race"))
    one, pinned = belief_by(), belief_by(key=None)
    for belief in (one, pinned):
        await cold.beliefs.commit(SCOPE, belief)
    await cold.beliefs.pin(SCOPE, pinned.id, NOW)
    await cold.graphs.set_state(SCOPE, GraphState.ARCHIVED, NOW)
    assert await cold.beliefs.commit(SCOPE, one) is None
    assert (await cold.beliefs.pin(SCOPE, pinned.id, NOW)).pinned
    with pytest.raises(Conflict, match="archived"):
        await cold.beliefs.commit(SCOPE, belief_by(claim="Start on hards."))
    with pytest.raises(Conflict, match="archived"):
        await cold.beliefs.pin(SCOPE, one.id, NOW)
    assert len(await cold.beliefs.events(SCOPE)) == 3


async def test_commit_again_changes_nothing(cold: Cold) -> None:
    """An id that is in the log, active or superseded, adds no event and supersedes nothing."""
    old, new = belief_by(), belief_by(claim="Start on hards.")
    await cold.beliefs.commit(SCOPE, old)
    assert await cold.beliefs.commit(SCOPE, old) is None
    await cold.beliefs.commit(SCOPE, new)
    assert await cold.beliefs.commit(SCOPE, old) is None
    assert await cold.beliefs.active(SCOPE) == (new,)
    assert len(await cold.beliefs.events(SCOPE)) == 3


async def test_racing_commits_on_one_key_leave_one_active(cold: Cold) -> None:
    """Twenty racing commits: one chain, one active, each of the others superseded once."""
    beliefs = [belief_by(claim=f"{n}") for n in range(20)]
    answers = await asyncio.gather(*(cold.beliefs.commit(SCOPE, one) for one in beliefs))
    (active,) = await cold.beliefs.active(SCOPE)
    superseded = {answer.id for answer in answers if answer is not None}
    assert superseded == {one.id for one in beliefs} - {active.id}
    assert sum(answer is None for answer in answers) == 1
    events = await cold.beliefs.events(SCOPE)
    assert len(events) == 39
    _assert_chained(events)


async def test_pin_is_an_event_and_idempotent(cold: Cold) -> None:
    """Pinning twice, or racing, adds one event; the pinned belief says so from then on."""
    belief = belief_by()
    await cold.beliefs.commit(SCOPE, belief)
    later = NOW + timedelta(minutes=1)
    pinned = await asyncio.gather(
        *(cold.beliefs.pin(OTHER_AGENT, belief.id, later) for _ in range(10))
    )
    assert set(pinned) == {belief.model_copy(update={"pinned": True})}
    assert await cold.beliefs.active(SCOPE) == (pinned[0],)
    _, event = await cold.beliefs.events(SCOPE)
    assert (event.kind, event.agent_id, event.recorded_at) == ("pinned", "engineer", later)


async def test_pin_needs_an_active_visible_belief(cold: Cold) -> None:
    """Unknown, superseded, or out of sight: not found, and no event."""
    old, new = belief_by(), belief_by(claim="Start on hards.")
    await cold.beliefs.commit(SCOPE, old)
    await cold.beliefs.commit(SCOPE, new)
    for scope, belief_id in (
        (SCOPE, "unknown"),
        (SCOPE, old.id),
        *((stranger, new.id) for stranger in STRANGERS),
    ):
        with pytest.raises(NotFound):
            await cold.beliefs.pin(scope, belief_id, NOW)
    assert len(await cold.beliefs.events(SCOPE)) == 3
    for stranger in (OTHER_GRAPH, OTHER_TENANT):
        assert await cold.beliefs.events(stranger) == ()


async def test_superseding_a_pinned_belief_returns_it_as_pinned(cold: Cold) -> None:
    """The caller can tell that something pinned has gone."""
    old = belief_by()
    await cold.beliefs.commit(SCOPE, old)
    await cold.beliefs.pin(SCOPE, old.id, NOW)
    superseded = await cold.beliefs.commit(SCOPE, belief_by(claim="Start on hards."))
    assert superseded is not None
    assert superseded.pinned


@pytest.mark.parametrize("stranger", STRANGERS, ids=lambda scope: f"{scope.tenant}-{scope.topics}")
async def test_beliefs_are_not_seen_outside_their_scope(cold: Cold, stranger: Scope) -> None:
    """Another topic, graph or tenant gets none."""
    await cold.beliefs.commit(SCOPE, belief_by())
    assert await cold.beliefs.active(stranger) == ()


async def test_belief_without_topics_is_seen_under_its_topic(cold: Cold) -> None:
    """``topic`` alone is enough to keep a belief from those who do not hold it."""
    await cold.beliefs.commit(SCOPE, belief_by(topics=()))
    assert await cold.beliefs.active(scope_of(agent_id="x", topics=("weather",))) == ()
    (belief,) = await cold.beliefs.active(scope_of(agent_id="x", topics=("tyres",)))
    assert belief.topics == ("tyres",)
    with pytest.raises(UsageError, match="topic"):
        await cold.beliefs.commit(SCOPE, belief_by(topics=(), topic="\x00"))


async def test_private_beliefs_are_their_agents_and_supersede_nobody_elses(cold: Cold) -> None:
    """A private belief of one agent is not returned to, nor replaced by, another."""
    mine, theirs = belief_by(private=True), belief_by(OTHER_AGENT, private=True)
    await cold.beliefs.commit(SCOPE, mine)
    assert await cold.beliefs.commit(OTHER_AGENT, theirs) is None
    assert await cold.beliefs.active(SCOPE) == (mine,)
    assert await cold.beliefs.active(OTHER_AGENT) == (theirs,)
    assert await cold.beliefs.active(OPERATOR) == ()


@pytest.mark.parametrize(("one", "other"), TWIN_SCOPES)
async def test_names_that_look_alike_have_logs_of_their_own(
    cold: Cold, one: tuple[str, str, str], other: tuple[str, str, str]
) -> None:
    """Prefixes, separators and case do not mix graphs up."""
    for names in (one, other):
        scope = scope_of(*names)
        await cold.beliefs.commit(scope, belief_by(scope, key=None))
    shared = 2 if one[:2] == other[:2] else 1
    for names in (one, other):
        assert len(await cold.beliefs.events(scope_of(*names))) == shared


@pytest.mark.parametrize("name", HOSTILE_NAMES)
async def test_hostile_keys_are_just_keys(cold: Cold, name: str) -> None:
    """SQL and odd characters in keys, topics and values are compared like any other."""
    fields = {"topic": name, "topics": (name[:200],), "key": (name, name), "value": name}
    old, new = belief_by(**fields), belief_by(**fields)
    await cold.beliefs.commit(SCOPE, old)
    assert await cold.beliefs.commit(SCOPE, new) == old


async def test_events_are_read_in_pages(cold: Cold) -> None:
    """``after`` and ``limit`` cut the log without gaps or repeats."""
    for number in range(7):
        await cold.beliefs.commit(SCOPE, belief_by(claim=f"{number}", key=None))
    everything = await cold.beliefs.events(SCOPE)
    pages = [await cold.beliefs.events(SCOPE, after, 3) for after in (0, 3, 6, 7)]
    assert pages == [everything[:3], everything[3:6], everything[6:], ()]
    with pytest.raises(UsageError, match="limit"):
        await cold.beliefs.events(SCOPE, limit=0)


async def test_chain_and_contents_verify_without_ezra(
    cold: Cold, backend: ColdBackend, tmp_path: Path
) -> None:
    """Hashes and salted digests, recomputed from the stored bytes and the written format."""
    beliefs = [belief_by(claim=f"claim {n} é 🏎️", value=str(n)) for n in range(5)]
    for belief in beliefs:
        await cold.beliefs.commit(SCOPE, belief)
    await cold.beliefs.pin(SCOPE, beliefs[-1].id, NOW + timedelta(microseconds=1))
    events = await cold.beliefs.events(SCOPE)
    _assert_chained(events)
    contents = {row["event_id"]: row for row in backend.rows(tmp_path, "belief_contents")}
    assert set(contents) == {event.id for event in events}
    salts = {row["salt"] for row in contents.values()}
    assert len(salts) == len(events), "each content has a salt of its own"
    for event in events:
        row = contents[event.id]
        assert len(row["salt"]) == 16
        digest = hashlib.sha256(row["salt"] + row["content"].encode("utf-8")).hexdigest()
        assert digest == event.content_digest
        content = json.loads(row["content"])
        again = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        assert row["content"] == again, "contents are stored in canonical form"
        if event.kind == "committed":
            assert content["id"] == event.belief_id
        if event.kind == "superseded":
            assert content["superseded_by"] in {belief.id for belief in beliefs}
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
    assert [event.seq for event in await cold.beliefs.events(SCOPE)] == [1]


async def test_cancelled_commits_leave_a_whole_chain(cold: Cold) -> None:
    """Whenever a commit is cancelled, log and projection agree and the chain verifies."""
    random = Random(5)
    for number in range(80):
        commit = asyncio.create_task(cold.beliefs.commit(SCOPE, belief_by(claim=f"{number}")))
        for _ in range(random.randrange(4)):
            await asyncio.sleep(random.choice([0, 0, 0.0003]))
        commit.cancel()
        await asyncio.gather(commit, return_exceptions=True)
    last = belief_by(claim="last")
    await cold.beliefs.commit(SCOPE, last)
    events = await cold.beliefs.events(SCOPE)
    _assert_chained(events)
    assert await cold.beliefs.active(SCOPE) == (last,)
    committed = [event.belief_id for event in events if event.kind == "committed"]
    superseded = [event.belief_id for event in events if event.kind == "superseded"]
    assert superseded == committed[:-1]
    assert 1 < len(committed) < 81, "some must have been cut off, and some must have got through"


async def test_active_is_rebuilt_from_the_log_and_agrees(
    cold: Cold, backend: ColdBackend, tmp_path: Path
) -> None:
    """Replaying events and contents gives exactly what the projection says."""
    random = Random(3)
    for number in range(60):
        key = random.choice([None, ("a", "b"), ("c", "d"), ("e", "f")])
        belief = belief_by(claim=f"{number}", key=key)
        await cold.beliefs.commit(SCOPE, belief)
        if random.random() < 0.3:
            await cold.beliefs.pin(SCOPE, belief.id, NOW)
    rows = backend.rows(tmp_path, "belief_contents")
    contents = {row["event_id"]: json.loads(row["content"]) for row in rows}
    replayed: dict[str, Commitment] = {}
    for event in await cold.beliefs.events(SCOPE):
        if event.kind == "committed":
            replayed[event.belief_id] = Commitment.model_validate(contents[event.id])
        elif event.kind == "superseded":
            del replayed[event.belief_id]
        else:
            held = replayed[event.belief_id]
            replayed[event.belief_id] = held.model_copy(update={"pinned": True})
    assert tuple(replayed.values()) == await cold.beliefs.active(SCOPE)

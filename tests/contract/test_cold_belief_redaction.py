"""The contract of ``Redactor`` for beliefs: no word of them is left, and the log still verifies."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from support.belief_replay import replayed
from support.cold_backends import Cold, ColdBackend
from support.cold_samples import (
    OPERATOR,
    OTHER_GRAPH,
    OTHER_TENANT,
    SCOPE,
    asked,
    belief_by,
    fact_by,
    graph_of,
    turn_by,
)
from support.redactions import (
    BELIEF_SECRETS,
    BELIEVED,
    LATER,
    Convictions,
    believe,
    convictions_of,
    words_in,
)
from support.tier_samples import NOW, scope_of

from tiers.errors import NotFound
from tiers.owned import REDACTED
from tiers.records import AuditFilter, BeliefQuery, GraphState, HistoricBelief, Settlement

STRATEGIST = OPERATOR.for_agent("strategist")


@pytest.fixture
async def told(cold: Cold) -> Convictions:
    """Beliefs that are committed."""
    return await believe(cold, convictions_of())


def _everything(told: Convictions) -> list[str]:
    return [told.mistaken.id, told.root.id, told.active.id, told.old.id]


async def _redact(cold: Cold, *ids: str) -> dict[str, tuple[str, ...]]:
    return (await cold.redactor.redact(OPERATOR, ids, "asked to", LATER)).ids


async def _historic(cold: Cold, belief_id: str) -> HistoricBelief:
    (found,) = await cold.history.query(OPERATOR, BeliefQuery(ids=(belief_id,)))
    return found


async def test_nothing_is_left_of_beliefs_and_the_log_verifies(
    cold: Cold, backend: ColdBackend, tmp_path: Path, told: Convictions
) -> None:
    """Claims, keys, values, reasons, salts; active, superseded, taken back; other words stay."""
    before = words_in(backend.whole(tmp_path), (*BELIEF_SECRETS, *BELIEVED))
    assert {word for words in before.values() for word in words} == {*BELIEF_SECRETS, *BELIEVED}
    reached = await _redact(cold, *_everything(told))
    gone = (told.old.id, told.active.id, told.mistaken.id, told.derived.id)
    assert reached == {
        "fact": tuple(sorted((told.root.id, told.fact.id))),
        "belief": tuple(sorted(gone)),
        "receipt": (told.receipt.id,),
    }
    after = backend.whole(tmp_path)
    assert words_in(after, BELIEF_SECRETS) == {}
    assert {word for words in words_in(after, BELIEVED).values() for word in words} == {*BELIEVED}
    fold = await replayed(cold.history, OPERATOR)
    assert [one.id for one in fold.active()] == [told.kept.id]
    assert {one: fold.beliefs[one].status for one in gone} == dict.fromkeys(gone, "redacted")


async def test_what_named_a_belief_still_finds_it(cold: Cold, told: Convictions) -> None:
    """Ids, sources, topic and spans stay; it says nothing, and is active nowhere."""
    await _redact(cold, told.active.id)
    found = await _historic(cold, told.active.id)
    named = (found.topic, found.topics, found.source_ids, found.turn_id, found.recorded_at)
    assert named == ("tyres", ("tyres",), (), "t 1", NOW)
    said = (found.claim, found.key, found.value, found.redacted_at)
    assert said == (REDACTED, None, None, LATER)
    assert (found.status, found.pinned) == ("redacted", False)
    events = await cold.history.naming(OPERATOR, told.active.id)
    held = [(one.event.kind, one.content is None) for one in events if one.event.kind != "trusted"]
    assert held == [
        ("committed", True), ("contradicted", True), ("contradicted", True),
        ("superseded", False), ("pinned", False), ("redacted", False),
    ]  # fmt: skip
    assert json.loads(events[-1].content or "")["reason"] == "asked to"
    assert events[-1].event.recorded_at == LATER
    then = await cold.history.as_of(OPERATOR, found.ended_seq - 1)
    (shown,) = [one for one in then if one.id == told.active.id]
    assert (shown.claim, shown.pinned, shown.redacted_at) == (REDACTED, True, LATER)
    assert told.active.id not in {one.id for one in await cold.beliefs.active(OPERATOR)}
    assert await cold.redactor.redacted(OPERATOR, [told.active.id, told.old.id]) == (
        shown.model_copy(update={"pinned": False}),
    )
    # What took nobody's place keeps its words, what contradicted it does not.
    assert (await _historic(cold, told.old.id)).claim == told.old.claim


async def test_redacted_beliefs_are_found_by_nothing(cold: Cold, told: Convictions) -> None:
    """Neither by words nor by key; the warm index is to forget each of them."""
    await cold.queue.claim(["index"], "me", 100, 60, NOW)
    await _redact(cold, *_everything(told))
    for word in (*BELIEF_SECRETS, "redacted"):
        assert await cold.words.search_words(STRATEGIST, asked(word)) == (), word
    found = await cold.words.search_words(STRATEGIST, asked(BELIEVED[0]))
    assert [hit.id for hit in found] == [told.kept.id]
    for query in (BeliefQuery(subject=BELIEF_SECRETS[1]), BeliefQuery(key=told.active.key)):
        assert await cold.history.query(OPERATOR, query) == ()
    work = await cold.queue.claim(["index"], "me", 100, 60, LATER)
    gone = {told.root.id, told.fact.id, told.old.id, told.active.id, told.mistaken.id}
    assert {one.key for one in work} >= gone | {told.derived.id}
    again = belief_by(SCOPE, "Another.", key=told.active.key)
    done = await cold.beliefs.commit(SCOPE, again)
    assert (done.is_new, done.active, done.unsettled, done.superseded) == (True, True, (), ())


async def test_a_rival_that_is_redacted_takes_the_reason_with_it(
    cold: Cold, backend: ColdBackend, tmp_path: Path, told: Convictions
) -> None:
    """Why two were held against each other may quote either; the other's claim stays."""
    await _redact(cold, told.kept.id)
    left = backend.whole(tmp_path)
    gone = (*BELIEVED, BELIEF_SECRETS[6])
    assert words_in(left, gone) == {}
    assert (await _historic(cold, told.active.id)).claim == told.active.claim
    kept = [one for one in BELIEF_SECRETS if one != BELIEF_SECRETS[6]]
    assert {word for words in words_in(left, tuple(kept)).values() for word in words} == {*kept}
    await replayed(cold.history, OPERATOR)


async def test_what_rests_on_a_redacted_record_goes_with_it(cold: Cold) -> None:
    """Over beliefs of turns, facts of beliefs, and beliefs of these."""
    await cold.graphs.create_graph(graph_of("race"))
    turn, _ = await cold.turns.append_turn(SCOPE, turn_by(text="It rains."))
    first = belief_by(SCOPE, "Wets.", key=None, source_ids=(turn.id,))
    fact = fact_by(SCOPE, "Wets it is.", source_ids=(first.id,))
    second = belief_by(SCOPE, "Box.", key=None, source_ids=("x", fact.id))
    during = belief_by(SCOPE, "Stay out.", key=None, turn_id=turn.id)
    near = belief_by(SCOPE, "Near.", key=None, source_ids=(turn.id + "0", turn.id[:-1]))
    await cold.semantic.put_fact(SCOPE, fact)
    for belief in (first, second, during, near):
        await cold.beliefs.commit(SCOPE, belief)
    reached = await _redact(cold, turn.id)
    assert reached == {
        "turn": (turn.id,), "fact": (fact.id,), "belief": tuple(sorted((first.id, second.id))),
    }  # fmt: skip
    active = await cold.beliefs.active(OPERATOR)
    assert [one.id for one in active] == [during.id, near.id]
    fold = await replayed(cold.history, OPERATOR)
    events = await cold.history.events(OPERATOR)
    assert [one.kind for one in events] == ["committed"] * 4 + ["redacted"] * 2
    assert fold.beliefs[first.id].status == fold.beliefs[second.id].status == "redacted"


async def test_repeating_writes_nothing_and_the_feed_tells_it_once(
    cold: Cold, backend: ColdBackend, tmp_path: Path, told: Convictions
) -> None:
    """Neither an event nor anything else; what cannot be redacted changes nothing either."""
    asked_for = _everything(told)
    officer = scope_of(agent_id="officer")
    reached = (await cold.redactor.redact(officer, asked_for, "GDPR 17", LATER)).ids
    before = backend.whole(tmp_path)
    again = await _redact(cold, *asked_for)
    assert again == {kind: ids for kind, ids in reached.items() if kind != "receipt"}
    assert await _redact(cold, told.derived.id) == {"belief": (told.derived.id,)}
    for stranger in (OTHER_GRAPH, OTHER_TENANT):
        with pytest.raises(NotFound):
            await cold.redactor.redact(stranger, [told.kept.id], "asked to", LATER)
    with pytest.raises(NotFound, match="record"):
        await _redact(cold, told.kept.id, "unknown")
    assert backend.whole(tmp_path) == before
    only = AuditFilter(kinds=("redacted",))
    (event,) = await cold.log.audit(OPERATOR, only=only)
    assert (event.agent_id, event.record_ids, event.reason) == (
        "officer", tuple(asked_for), "GDPR 17",
    )  # fmt: skip
    last = (await cold.history.events(OPERATOR))[-4:]
    assert {(one.kind, one.agent_id) for one in last} == {("redacted", "officer")}


async def test_an_archived_graph_can_be_redacted(cold: Cold, told: Convictions) -> None:
    """Nobody commits to anything there any more; who has a right to be forgotten still has it."""
    for state in (GraphState.CLOSED, GraphState.ARCHIVED):
        assert await cold.graphs.set_state(OPERATOR, state, NOW)
    await _redact(cold, told.active.id)
    await replayed(cold.history, OPERATOR)


async def test_racing_changes_come_to_one_log(
    cold: Cold, backend: ColdBackend, tmp_path: Path, told: Convictions
) -> None:
    """Commits of the same key, pins and other redactions: one event for each belief that went."""
    await cold.graphs.create_graph(graph_of("other"))
    heirs = [belief_by(SCOPE, f"Heir {number}.", key=told.active.key) for number in range(3)]

    async def succeed(number: int) -> None:
        rivals = [told.active.id]
        for _ in range(20):
            settled = [_won(one) for one in rivals]
            done = await cold.beliefs.commit(SCOPE, heirs[number], settled)
            if not done.unsettled and not done.is_stale:
                return
            rivals = [one.belief.id for one in done.unsettled]
        pytest.fail("the commit never came through")

    async def pin(belief_id: str) -> None:
        try:
            await cold.beliefs.unpin(SCOPE, belief_id, NOW)
            await cold.beliefs.pin(SCOPE, belief_id, NOW)
        except NotFound:
            return

    asked_for = _everything(told)
    await asyncio.gather(
        _redact(cold, *asked_for[:2]),
        succeed(0),
        _redact(cold, *asked_for[1:]),
        pin(told.active.id),
        succeed(1),
        _redact(cold, *asked_for[::-1]),
        pin(told.kept.id),
        _redact(cold, told.active.id, told.old.id),
        succeed(2),
    )
    assert words_in(backend.whole(tmp_path), BELIEF_SECRETS[:1]) == {}
    fold = await replayed(cold.history, OPERATOR)
    events = await cold.history.events(OPERATOR)
    redacted = [one.belief_id for one in events if one.kind == "redacted"]
    gone = (told.old.id, told.active.id, told.mistaken.id, told.derived.id)
    assert sorted(redacted) == sorted(gone)
    standing = [one.id for one in fold.active()]
    assert standing[0] == told.kept.id
    assert len(standing) == 2
    assert standing[1] in {one.id for one in heirs}


def _won(rival_id: str) -> Settlement:
    return Settlement(rival_id=rival_id, winner="new", strategy="last_write_wins")

"""The contract of ``BeliefHistory`` and ``HeadStore``: what a log says about the past."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from itertools import combinations, cycle
from pathlib import Path
from random import Random, SystemRandom
from typing import Any

import pytest
from support.belief_reference import ReferenceBeliefs, visible
from support.belief_replay import paged, plain, replayed
from support.belief_walk import Walk
from support.cold_backends import COLD_BACKENDS, Cold, ColdBackend
from support.cold_samples import (
    HOSTILE_NAMES,
    NO_TOPICS,
    OPERATOR,
    OTHER_AGENT,
    OTHER_GRAPH,
    OTHER_TENANT,
    OTHER_TOPIC,
    SCOPE,
    belief_by,
    head_by,
    turn_by,
)
from support.tier_samples import HOSTILE_TEXT, NOW, TWIN_SCOPES, scope_of

from tiers.beliefs import BeliefQuery, BeliefSpan, Changed, Commitment, HistoricBelief, Settlement
from tiers.errors import NotFound, UsageError
from tiers.records import Scope

# The contract of ``BeliefHistory`` and ``HeadStore``: what a log says about the past.

ADA, BOB = (SCOPE.model_copy(update={"user_id": name}) for name in ("ada", "bob"))
MINUTE = timedelta(minutes=1)


def _settle(rival: Commitment, winner: str = "new") -> Settlement:
    return Settlement(rival_id=rival.id, winner=winner, strategy="last_write_wins", reason="why")


def _ids(beliefs: Sequence[Commitment]) -> list[str]:
    return [one.id for one in beliefs]


async def _peopled(cold: Cold) -> tuple[ReferenceBeliefs, list[Commitment]]:
    """Commit beliefs that differ in all that can be asked for, to the store and the reference."""
    engineer = OTHER_AGENT.model_copy(update={"user_id": "ada"})
    beliefs = [
        belief_by(),
        belief_by(claim="Start on hards."),
        belief_by(ADA, key=("start", "fuel")),
        belief_by(BOB, key=("start", "fuel"), topics=("strategy", "tyres")),
        belief_by(engineer, key=None, private=True),
        belief_by(OTHER_AGENT, topic="strategy", topics=("strategy",), key=("pit", "compound")),
        belief_by(OTHER_AGENT, topic=None, topics=("tyres",), key=("start", "compound")),
        belief_by(ADA, topic=None, topics=(), key=None),
        belief_by(OTHER_AGENT, topic="strategy", topics=("tyres",), key=None),
    ]
    reference = ReferenceBeliefs()
    for store in (cold.beliefs, reference):
        for belief in beliefs:
            settled = [_settle(beliefs[0])] if belief is beliefs[1] else []
            answer = await store.commit(OPERATOR, belief, settled)
            assert answer.is_new
        await store.pin(SCOPE, beliefs[5].id, NOW)
        await store.revert(SCOPE, beliefs[6].id, "no", NOW)
    return reference, beliefs


async def test_a_log_that_has_not_begun_says_nothing(cold: Cold) -> None:
    """Empty answers to everything, also far beyond the end."""
    history = cold.history
    for read in (history.events, history.logged, history.projected):
        assert await read(OPERATOR) == await read(OPERATOR, 7, 1) == ()
    assert await history.naming(OPERATOR, "unknown") == ()
    assert await history.trusts(OPERATOR) == ()
    for when in ({}, {"time": NOW}, {"turn": 3}, {"turn": 0}):
        assert await history.seq_at(OPERATOR, **when) == 0
    for seq in (0, 1, 10**9):
        assert await history.as_of(OPERATOR, seq) == await history.as_of(SCOPE, seq) == ()
    for query in (BeliefQuery(), BeliefQuery(ids=("unknown",)), BeliefQuery(active_at=5)):
        assert await history.query(OPERATOR, query) == ()
    assert await cold.heads.heads(OPERATOR) == ()
    assert await cold.heads.last_head(OPERATOR) is None


async def test_a_belief_comes_back_as_it_was_from_everywhere(cold: Cold) -> None:
    """Every field, in what is believed, what was believed, and what the log says of it."""
    belief = belief_by(
        claim=HOSTILE_TEXT,
        value=HOSTILE_TEXT,
        private=True,
        source_ids=("s2", "s1"),
        turn_id="t",
        receipt_id="r",
        origin_id="o",
    )
    assert (await cold.beliefs.commit(SCOPE, belief)).belief == belief
    assert await cold.beliefs.active(SCOPE) == (belief,)
    assert await cold.history.as_of(SCOPE, 1) == await cold.history.as_of(OPERATOR, 9) == (belief,)
    historic = HistoricBelief.model_validate(belief.model_dump() | {"committed_seq": 1})
    assert await cold.history.query(SCOPE, BeliefQuery()) == (historic,)
    (row,) = await cold.history.projected(OPERATOR)
    assert (row.belief, row.spans) == (historic, (BeliefSpan(since_seq=1),))
    await replayed(cold.history, OPERATOR)


@pytest.mark.parametrize("pairs_max", [25, pytest.param(110, marks=pytest.mark.slow)])
async def test_every_filter_alone_and_two_together(cold: Cold, pairs_max: int) -> None:
    """Against the port's words, for whoever asks; the empty question finds what each may see."""
    reference, beliefs = await _peopled(cold)
    filters: list[dict[str, Any]] = [
        {"ids": (beliefs[3].id, beliefs[0].id, "unknown")},
        *({"topic": name} for name in ("tyres", "strategy", "unknown")),
        *({"agent_id": name} for name in ("engineer", "unknown")),
        *({"user_id": name} for name in ("ada", "unknown")),
        {"subject": "start"},
        {"key": ("start", "compound")},
        {"key": ("start", "fuel")},
        {"statuses": ("active",)},
        {"statuses": ("superseded", "reverted")},
        {"since_seq": 3},
        {"until_seq": 8},
        {"active_at": 1},
        {"active_at": 11},
        {"active_at": 0},
        {"after": 4},
    ]
    pairs = [one | other for one, other in combinations(filters, 2) if not set(one) & set(other)]
    agents = cycle((SCOPE, ADA, OTHER_AGENT))
    asked = [(OPERATOR, fields) for fields in [{}, *filters, *Random(3).sample(pairs, pairs_max)]]
    asked += [(next(agents), fields) for fields in [{}, *filters]]
    found = set()
    for scope, fields in asked:
        query = BeliefQuery.model_validate(fields)
        expected = await reference.query(scope, query)
        assert await cold.history.query(scope, query) == expected, (scope, fields)
        found.add(len(expected))
    assert len(found) >= 8, "questions of which all find nothing would prove nothing"


async def test_filters_find_what_their_words_say(cold: Cold) -> None:
    """A few of them, spelled out."""
    _, beliefs = await _peopled(cold)

    async def places(**fields: Any) -> list[int]:
        found = await cold.history.query(OPERATOR, BeliefQuery(**fields))
        return [_ids(beliefs).index(one.id) for one in found]

    assert await places() == list(range(9))
    assert await places(topic="strategy") == [3, 5, 8]
    assert await places(agent_id="engineer") == [4, 5, 6, 8]
    assert await places(user_id="ada") == [2, 4, 7]
    assert await places(subject="start") == [0, 1, 2, 3, 6]
    assert await places(key=("start", "compound")) == [0, 1, 6]
    assert await places(statuses=("superseded",)) == [0]
    assert await places(statuses=("reverted",)) == [6]
    assert await places(active_at=1) == [0]
    assert await places(active_at=4) == [1], "right after it was superseded"
    assert await places(since_seq=2, until_seq=6) == [1, 2]
    (first,) = await cold.history.query(OPERATOR, BeliefQuery(ids=(beliefs[0].id,)))
    assert (first.superseded_by, first.ended_seq, first.committed_seq) == (beliefs[1].id, 4, 1)


async def test_pages_lose_nothing_and_repeat_nothing(cold: Cold) -> None:
    """Of every reading that has pages, at every length of a page; limits are refused."""
    await _peopled(cold)
    history = cold.history
    for limit in (1, 2, 5, 100):
        beliefs = await paged(
            lambda after, limit=limit: history.query(
                SCOPE, BeliefQuery(after=after, limit=limit, topic="tyres")
            ),
            lambda one: one.committed_seq,
        )
        assert tuple(beliefs) == await history.query(SCOPE, BeliefQuery(topic="tyres"))
        assert len(beliefs) == 4
    assert len((await replayed(history, OPERATOR, page=1)).beliefs) == 9
    whole = await history.events(OPERATOR)
    assert len(whole) == 14
    assert await history.events(OPERATOR, 3, 4) == whole[3:7]
    assert tuple(one.event for one in await history.logged(OPERATOR, 3, 4)) == whole[3:7]
    for limit in (0, -1):
        for read in (history.events, history.logged, history.projected):
            with pytest.raises(UsageError, match="limit"):
                await read(OPERATOR, 0, limit)
        with pytest.raises(UsageError, match="limit"):
            await history.naming(OPERATOR, "b", 0, limit)
        with pytest.raises(UsageError, match="limit"):
            await cold.heads.heads(OPERATOR, 0, limit)


async def test_the_past_is_seen_as_the_present_is(cold: Cold) -> None:
    """Agents see of any moment what they may; the whole graph's scope sees private beliefs too."""
    _, beliefs = await _peopled(cold)
    everything = await cold.history.as_of(OPERATOR, 10)
    assert _ids(everything) == _ids(beliefs)[1:8], "right after the eighth was committed"
    denied = SCOPE.model_copy(update={"topics": ("*",), "denied": ("strategy",)})
    deaf = SCOPE.model_copy(update={"denied": ("*",)})
    for scope in (SCOPE, ADA, BOB, OTHER_AGENT, NO_TOPICS, OTHER_TOPIC, denied, deaf):
        seen = await cold.history.as_of(scope, 10)
        assert seen == tuple(one for one in everything if visible(scope, one)), scope
        queried = await cold.history.query(scope, BeliefQuery(active_at=10))
        assert _ids(queried) == _ids(seen)
        last = await cold.history.as_of(scope, 14)
        assert last == await cold.beliefs.active(scope)
    for stranger in (OTHER_GRAPH, OTHER_TENANT):
        for scope in (stranger, stranger.for_graph()):
            assert await cold.history.as_of(scope, 10) == ()
            assert await cold.history.query(scope, BeliefQuery()) == ()
            assert await cold.history.seq_at(scope) == 0


async def test_names_that_look_alike_have_a_past_of_their_own(cold: Cold) -> None:
    """Prefixes, separators and case do not mix graphs or agents up."""
    told: dict[tuple[str, str], list[str]] = {}
    for names in dict.fromkeys(names for pair in TWIN_SCOPES for names in pair):
        scope = scope_of(*names)
        await cold.beliefs.commit(scope, belief_by(scope, key=None, private=True, claim=names[2]))
        told.setdefault(names[:2], []).append(names[2])
    for (tenant, graph_id), agents in told.items():
        graph = Scope.of_graph(tenant, graph_id)
        seq = await cold.history.seq_at(graph)
        assert seq == len(agents)
        assert [one.claim for one in await cold.history.as_of(graph, seq)] == agents
        for agent in agents:
            (seen,) = await cold.history.as_of(scope_of(tenant, graph_id, agent), seq)
            assert seen.agent_id == agent
    assert max(map(len, told.values())) > 1


async def test_hostile_questions_are_just_names(cold: Cold) -> None:
    """In every filter; they find what is called so and nothing else."""
    await cold.beliefs.commit(SCOPE, belief_by(topic="a", key=("aa", "aa")))
    beliefs = {}
    for name in HOSTILE_NAMES:
        scope = scope_of(agent_id=name, user_id=name)
        beliefs[name] = belief_by(scope, topic=name, topics=(name[:200],), key=(name, name))
        await cold.beliefs.commit(scope, beliefs[name])
    for place, (name, belief) in enumerate(beliefs.items()):
        fields: tuple[dict[str, Any], ...] = (
            {"topic": name},
            {"agent_id": name},
            {"user_id": name},
            {"subject": name},
            {"key": (name, name)},
            {"ids": (belief.id, name)},
        )
        for one in (fields[place % 6], fields[(place + 1) % 6]):
            found = await cold.history.query(OPERATOR, BeliefQuery(**one))
            assert _ids(found) == [belief.id], one
        assert await cold.history.naming(OPERATOR, name) == ()


async def test_a_time_is_one_place_in_the_log(cold: Cold) -> None:
    """The last event at or before it, also where clocks went back or changes met."""
    for minutes in (0, 0, 5, 2, 9):
        belief = belief_by(key=None).model_copy(update={"recorded_at": NOW + minutes * MINUTE})
        await cold.beliefs.commit(SCOPE, belief)
    recorded = [one.recorded_at - NOW for one in await cold.history.events(OPERATOR)]
    assert recorded == [minutes * MINUTE for minutes in (0, 0, 5, 5, 9)]
    moment = timedelta(microseconds=1)
    for after, seq in (
        *((-moment, 0), (0 * MINUTE, 2), (moment, 2), (3 * MINUTE, 2), (5 * MINUTE - moment, 2)),
        *((5 * MINUTE, 4), (9 * MINUTE - moment, 4), (9 * MINUTE, 5), (timedelta(days=9), 5)),
    ):
        assert await cold.history.seq_at(OPERATOR, time=NOW + after) == seq, after
        assert await cold.history.seq_at(SCOPE, time=NOW + after) == seq
    assert await cold.history.seq_at(OPERATOR) == 5
    assert [one.recorded_at for one in await cold.beliefs.active(SCOPE)][3] == NOW + 2 * MINUTE


async def test_a_turn_is_counted_over_the_graph_and_may_be_under_way(cold: Cold) -> None:
    """Beliefs of a turn that is not stored yet belong to it, those after it to it as well."""
    first, second, third = turn_by(), turn_by(OTHER_AGENT), turn_by()

    async def commit(**fields: Any) -> None:
        await cold.beliefs.commit(SCOPE, belief_by(key=None, **fields))

    await commit()
    await commit(turn_id=first.id)
    await cold.turns.append_turn(SCOPE, first)
    await commit(turn_id=first.id)
    await cold.turns.append_turn(OTHER_AGENT, second)
    await commit()
    await commit(turn_id=third.id)
    await commit()
    await cold.beliefs.set_trust(OPERATOR, "engineer", None, 0.5, "", NOW)
    await cold.turns.append_turn(SCOPE, third)
    await cold.beliefs.rewind(OPERATOR, 1, "back", NOW)
    turns = [one.turn for one in await cold.history.events(OPERATOR)]
    assert turns == [0, 1, 1, 2, 3, 3, 3, *[3] * 6]
    for turn, seq in ((0, 1), (1, 3), (2, 4), (3, len(turns)), (99, len(turns))):
        assert await cold.history.seq_at(OPERATOR, turn=turn) == seq
    assert await cold.history.seq_at(OPERATOR, turn=1, time=NOW - MINUTE) == 0
    await replayed(cold.history, OPERATOR)


async def test_a_pin_is_seen_where_it_was(cold: Cold) -> None:
    """A moment of the past shows it as it was then, and so do the spans."""
    belief = belief_by()
    await cold.beliefs.commit(SCOPE, belief)
    await cold.beliefs.pin(SCOPE, belief.id, NOW)
    await cold.beliefs.unpin(SCOPE, belief.id, NOW)
    await cold.beliefs.revert(SCOPE, belief.id, "no", NOW)
    await cold.beliefs.rewind(OPERATOR, 2, "back", NOW)
    seen = [await cold.history.as_of(OPERATOR, seq) for seq in range(6)]
    assert [[one.pinned for one in then] for then in seen] == [
        *([], [False], [True], [False], [], [])
    ]
    last = await cold.history.seq_at(OPERATOR)
    (now,) = await cold.history.as_of(SCOPE, last)
    assert now == belief.model_copy(update={"pinned": True})
    (historic,) = await cold.history.query(SCOPE, BeliefQuery())
    assert plain(historic) == now
    await replayed(cold.history, OPERATOR)


async def test_what_names_a_belief_is_found(cold: Cold) -> None:
    """Its own events, and those whose content names it as rival, successor, reason or cause."""
    one, other, third = belief_by(OTHER_AGENT), belief_by(), belief_by(key=None)
    await cold.beliefs.commit(OPERATOR, one)
    await cold.beliefs.commit(OPERATOR, third)
    settled = _settle(one).model_copy(update={"decided": True})
    await cold.beliefs.commit(OPERATOR, other, [settled])
    await cold.beliefs.revert(OPERATOR, other.id, "no", NOW)
    events = await cold.history.logged(OPERATOR)
    kinds = [entry.event.kind for entry in events]
    assert kinds == [
        *("committed", "committed", "committed", "contradicted", "superseded", "trusted"),
        *("reverted", "restored", "trusted"),
    ]

    async def naming(belief: Commitment, after: int = 0, limit: int = 100) -> list[int]:
        found = await cold.history.naming(OPERATOR, belief.id, after, limit)
        assert found == tuple(events[entry.event.seq - 1] for entry in found)
        return [entry.event.seq for entry in found]

    assert await naming(one) == [1, 4, 5, 8]
    assert await naming(other) == [3, 4, 5, 6, 7, 8, 9]
    assert await naming(third) == [2]
    assert await naming(other, 4, 2) == [5, 6]
    assert await naming(other, 9) == []


async def test_what_was_redacted_was_believed_but_is_not_said(cold: Cold) -> None:
    """Every moment at which it was active has it, blank; it never comes back."""
    gone, later = belief_by(claim="secret", value="soft"), belief_by(claim="later")
    await cold.beliefs.commit(SCOPE, gone)
    await cold.beliefs.pin(SCOPE, gone.id, NOW)
    await cold.beliefs.commit(SCOPE, later, [_settle(gone)])
    await cold.redactor.redact(OPERATOR, [gone.id], "asked to", NOW + MINUTE)
    blank = {"claim": "[redacted]", "key": None, "value": None, "redacted_at": NOW + MINUTE}
    for scope in (OPERATOR, SCOPE):
        (then,) = await cold.history.as_of(scope, 2)
        assert then == gone.model_copy(update=blank | {"pinned": True})
    (found,) = await cold.history.query(SCOPE, BeliefQuery(ids=(gone.id,)))
    assert (found.status, found.ended_seq, found.superseded_by) == ("redacted", 5, later.id)
    assert plain(found) == gone.model_copy(update=blank)
    by_key = await cold.history.query(OPERATOR, BeliefQuery(key=("start", "compound")))
    assert _ids(by_key) == [later.id]
    logged = await cold.history.logged(OPERATOR)
    silent = [entry.event.kind for entry in logged if entry.content is None]
    assert silent == ["committed", "contradicted"]
    assert [entry.event.kind for entry in logged][-1] == "redacted"
    assert await cold.beliefs.revert(SCOPE, later.id, "no", NOW) == Changed(ended=(later.id,))
    assert await cold.beliefs.rewind(OPERATOR, 2, "back", NOW) == Changed()
    assert await cold.beliefs.active(SCOPE) == ()
    with pytest.raises(NotFound):
        await cold.beliefs.pin(SCOPE, gone.id, NOW)
    assert not (await cold.beliefs.commit(SCOPE, gone)).is_new
    await replayed(cold.history, OPERATOR)


async def test_heads_are_kept_once_and_read_in_order(cold: Cold) -> None:
    """One of a size and key; by size, then by time of signing; of its own graph only."""
    heads = [
        head_by(OPERATOR, 2),
        head_by(OPERATOR, 5, "ff", NOW + MINUTE),
        head_by(OPERATOR, 5, "aa", NOW + 2 * MINUTE),
    ]
    for head in reversed(heads):
        assert await cold.heads.put_head(OPERATOR, head)
    for head in heads:
        assert not await cold.heads.put_head(OPERATOR, head)
        late = head.model_copy(update={"signed_at": NOW + timedelta(days=1), "root": "x"})
        assert not await cold.heads.put_head(OPERATOR, late)
    assert await cold.heads.heads(OPERATOR) == tuple(heads)
    assert await cold.heads.heads(OPERATOR, 2) == tuple(heads[1:])
    assert await cold.heads.heads(OPERATOR, 0, 2) == tuple(heads[:2])
    assert await cold.heads.heads(OPERATOR, 5) == ()
    assert await cold.heads.last_head(OPERATOR) == heads[2]
    for stranger in (OTHER_GRAPH, OTHER_TENANT):
        assert await cold.heads.heads(stranger.for_graph()) == ()
        assert await cold.heads.last_head(stranger.for_graph()) is None
    assert await cold.heads.put_head(OTHER_GRAPH.for_graph(), head_by(OTHER_GRAPH, 2))


# Random lives of a graph's beliefs: every moment reads as it was when it was the present.

SHORT = [backend for backend in COLD_BACKENDS if backend.name != "motor"]
"""A second driver of the same engine is walked with at length only."""


async def _walk(cold: Cold, seed: int, steps: int, *, within: bool) -> None:
    walk = Walk(seed, cold)
    if seed % 2:
        await walk.begin_as_branch()
    await walk.take(steps)
    await walk.check_past(within=within)


@pytest.mark.parametrize("backend", SHORT, ids=lambda backend: backend.name)
async def test_the_past_is_what_the_present_was(backend: ColdBackend, tmp_path: Path) -> None:
    """A short, repeatable life of a branch: commits, rivals, pins, rewinds, trust, redactions."""
    async with backend.opened(tmp_path) as cold:
        await _walk(cold, 5, 40, within=False)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("backend", COLD_BACKENDS, ids=lambda backend: backend.name)
async def test_the_past_is_what_the_present_was_in_long_lives(
    backend: ColdBackend, tmp_path: Path
) -> None:
    """Several lives, different each time, seen at every event; a failure says which seed it was."""
    for steps in (40, 80, 160):
        seed = SystemRandom().randrange(2**32)
        try:
            async with backend.opened(tmp_path / f"{steps}") as cold:
                await _walk(cold, seed, steps, within=True)
        except AssertionError as error:
            error.add_note(f"seed {seed}, {steps} steps")
            raise


@pytest.mark.slow
async def test_the_past_is_what_the_present_was_in_a_very_long_life(tmp_path: Path) -> None:
    """A thousand steps, where a step is cheap."""
    async with COLD_BACKENDS[0].opened(tmp_path) as cold:
        await _walk(cold, SystemRandom().randrange(2**32), 1_000, within=True)

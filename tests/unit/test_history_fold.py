"""A belief log: what it comes to, how its events hang together, and which spans hold at one."""

from __future__ import annotations

import hashlib
import json
from datetime import timedelta
from random import Random

import pytest
from support.belief_reference import ReferenceBeliefs
from support.belief_replay import assert_projects
from support.belief_walk import Walk
from support.cold_samples import LONE_SURROGATE, OPERATOR, SCOPE, belief_by
from support.tier_samples import NOW

from tiers.beliefs import BeliefEvent, BeliefSpan, LoggedBelief
from tiers.errors import UsageError
from tiers.history.chain import (
    FIRST_PREVIOUS_HASH,
    canonical,
    committed_content,
    event_hash,
    next_event,
    stored_digest,
)
from tiers.history.fold import Fold
from tiers.history.spans import Stations, node_of, stations

# What a log comes to, event by event, and that plans never tell an impossible one.

Told = tuple[str, str] | tuple[str, str, dict[str, object]]


def _entries(*told: Told) -> list[LoggedBelief]:
    """Return a log of events; one without content had it destroyed."""
    return [
        LoggedBelief(
            event=BeliefEvent(
                id=f"e{seq}",
                tenant="acme",
                graph_id="race",
                seq=seq,
                kind=one[0],
                belief_id=one[1],
                agent_id="",
                recorded_at=NOW,
                content_digest="",
                previous_hash="",
                hash="",
            ),
            salt=None if len(one) == 2 else "00",
            content=None if len(one) == 2 else json.dumps(one[2]),
        )
        for seq, one in enumerate(told, start=1)
    ]


def _folded(*told: Told) -> Fold:
    fold = Fold()
    for entry in _entries(*told):
        assert fold.apply(entry) is None
    return fold


def _spans(fold: Fold, belief_id: str) -> list[tuple[int, int | None, bool]]:
    return [(one.since_seq, one.until_seq, one.pinned) for one in fold.beliefs[belief_id].spans]


async def _walked(seed: int, steps: int = 150) -> ReferenceBeliefs:
    walk = Walk(seed)
    await walk.take(steps)
    return walk.reference


@pytest.mark.parametrize("seed", range(6))
async def test_a_log_comes_to_what_was_believed_at_every_event(seed: int) -> None:
    """Random lives: the fold agrees with pictures taken live, now and at every past event."""
    reference = await _walked(seed)
    fold = Fold()
    for entry in await reference.logged(OPERATOR, 0, 10_000):
        assert fold.apply(entry) is None, entry.event
        now = reference.pictures[entry.event.seq].active
        assert [(one.id, one.pinned) for one in fold.active()] == [
            (one.id, one.pinned) for one in now
        ]
    assert fold.seq == len(reference.pictures) - 1 > 100
    for seq, picture in enumerate(reference.pictures):
        then = {one.id: one.active_at(seq) for one in fold.active_at(seq)}
        assert list(then) == [one.id for one in picture.active]
        for one in picture.active:
            span = then[one.id]
            assert span is not None
            assert span.pinned == one.pinned
    for row in await reference.projected(OPERATOR, 0, 10_000):
        assert_projects(row, fold.beliefs[row.belief.id])
    for row in await reference.trusts(OPERATOR):
        assert fold.trust_of(row.agent_id, row.topic) == row.trust


@pytest.mark.parametrize("seed", range(3))
async def test_a_log_without_any_content_comes_to_the_same_active_beliefs(seed: int) -> None:
    """Kind and id alone say how: what was destroyed is not needed."""
    told, silent = Fold(), Fold()
    for entry in await (await _walked(seed)).logged(OPERATOR, 0, 10_000):
        told.apply(entry)
        blank = entry.model_copy(update={"content": None, "salt": None})
        assert silent.apply(blank) is None
    assert list(silent.beliefs) == list(told.beliefs)
    for one, other in zip(told.beliefs.values(), silent.beliefs.values(), strict=True):
        assert (one.status, one.ended_seq, one.spans) == (
            other.status,
            other.ended_seq,
            other.spans,
        )


def test_each_kind_does_to_its_belief_what_it_says() -> None:
    """A life with everything in it, span by span."""
    fold = _folded(
        ("branched", "", {}),
        ("adopted", "a", {}),
        ("pinned", "a", {"pinned": True}),
        ("committed", "b", {"claim": "x"}),
        ("contradicted", "b", {"rival_id": "a"}),
        ("superseded", "a", {"superseded_by": "b"}),
        ("reverted", "b", {}),
        ("restored", "a", {"because": "b"}),
        ("pinned", "a", {}),
        ("unpinned", "a", {}),
        ("rewound", "", {"to_seq": 6}),
        ("trusted", "", {"agent_id": "x", "topic": None, "after": 0.25}),
        ("redacted", "b", {}),
        ("redacted", "a", {}),
    )
    assert _spans(fold, "a") == [
        (2, 3, False), (3, 6, True), (8, 9, False), (9, 10, True), (10, 14, False),
    ]  # fmt: skip
    assert _spans(fold, "b") == [(4, 7, False)]
    assert [one.status for one in fold.beliefs.values()] == ["redacted"] * 2
    assert [one.ended_seq for one in fold.beliefs.values()] == [14, 7]
    assert fold.active() == []
    assert [one.id for one in fold.active_at(5)] == ["a", "b"]
    assert [one.id for one in fold.active_at(6)] == ["b"]
    assert fold.trust_of("x", None) == 0.25
    assert fold.trust_of("x", "tyres") == 1.0


def test_a_successor_is_known_until_the_belief_is_back() -> None:
    """What brought a belief back is not what took its place."""
    told: list[Told] = [("committed", "a", {}), ("superseded", "a", {"superseded_by": "b"})]
    assert _folded(*told).beliefs["a"].superseded_by == "b"
    back = _folded(*told, ("restored", "a", {})).beliefs["a"]
    assert (back.status, back.ended_seq, back.superseded_by) == ("active", None, None)
    assert back.spans == [BeliefSpan(since_seq=1, until_seq=2), BeliefSpan(since_seq=3)]


@pytest.mark.parametrize(
    "impossible",
    [
        ("committed", "a"),
        ("adopted", "a"),
        ("restored", "a"),
        ("superseded", "x"),
        ("reverted", "x"),
        ("restored", "x"),
        ("redacted", "x"),
        ("pinned", "gone"),
        ("unpinned", "gone"),
        ("superseded", "gone"),
        ("reverted", "gone"),
        ("restored", "destroyed"),
        ("pinned", "destroyed"),
    ],
    ids="-".join,
)
def test_an_impossible_event_is_told_and_changes_nothing(impossible: tuple[str, str]) -> None:
    """A log that says what cannot be is found out, and the rest of it is still read."""
    entries = _entries(
        ("committed", "a", {}),
        ("committed", "gone", {}),
        ("reverted", "gone", {}),
        ("committed", "destroyed"),
        ("redacted", "destroyed", {}),
        impossible,
        ("pinned", "a", {}),
    )
    fold = Fold()
    problems = [fold.apply(entry) for entry in entries]
    assert [problem is not None for problem in problems] == [False] * 5 + [True, False]
    assert [one.id for one in fold.active()] == ["a"]
    assert _spans(fold, "a") == [(1, 7, False), (7, None, True)]
    assert _spans(fold, "gone") == [(2, 3, False)]
    assert _spans(fold, "destroyed") == [(4, 5, False)]


# How belief events hang together, and that events of the first form still verify.

CONTENT = (
    '{"agent_id":"strategist","claim":"Start on mediums. 🏎️","graph_id":"imola é",'
    '"id":"0195-belief","key":["start","compound"],"pinned":false,"private":false,'
    '"recorded_at":"2026-03-01T12:00:00.000042Z","redacted_at":null,"tenant":"acme",'
    '"topic":"tyres","topics":["tyres"],"trust":1.0,"user_id":null,"value":"medium"}'
)
CONTENT_DIGEST = "640145b6e020915fd74255c329bebbc81e755ed3a17fb5b9568400d80932af07"
"""Salted with ``0123456789abcdef``."""

DIGEST = "d" * 64


def _next(previous: BeliefEvent | None, **how: object) -> BeliefEvent:
    known = {"turn": 3, "now": NOW, "digest": DIGEST, **how}
    return next_event(previous, SCOPE, "committed", "b", **known)  # type: ignore[arg-type]


def test_contents_are_digested_as_they_ever_were() -> None:
    """As an object, and as the text that is kept."""
    salt = b"0123456789abcdef"
    assert stored_digest(salt, CONTENT.encode()) == CONTENT_DIGEST
    assert stored_digest(salt, canonical(json.loads(CONTENT))) == CONTENT_DIGEST


def test_an_event_hashes_as_its_form_is_described() -> None:
    """Recomputed with nothing but JSON and SHA-256."""
    event = _next(None, now=NOW + timedelta(microseconds=7), turn_id="t")
    fields = {
        "agent_id": "strategist",
        "belief_id": "b",
        "content_digest": DIGEST,
        "graph_id": "race",
        "id": event.id,
        "kind": "committed",
        "previous_hash": "0" * 64,
        "recorded_at": "2026-03-01T12:00:00.000007Z",
        "seq": 1,
        "tenant": "acme",
        "turn": 3,
        "turn_id": "t",
        "v": 3,
    }
    text = json.dumps(fields, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    assert event.hash == hashlib.sha256(text.encode()).hexdigest()
    assert event.previous_hash == FIRST_PREVIOUS_HASH


def test_no_field_of_an_event_can_change_unnoticed() -> None:
    """Each one moves the hash, and so does calling the event an old one."""
    event = _next(None, turn_id="t")
    changes: dict[str, object] = {
        "id": "x",
        "tenant": "acm",
        "graph_id": "rac",
        "seq": 2,
        "kind": "adopted",
        "belief_id": "",
        "agent_id": "",
        "turn": 0,
        "turn_id": "",
        "recorded_at": NOW + timedelta(microseconds=1),
        "content_digest": "e" * 64,
        "previous_hash": "1" * 64,
        "version": 1,
    }
    assert set(changes) | {"hash"} == set(BeliefEvent.model_fields)
    hashes = {event_hash(event.model_copy(update={name: new})) for name, new in changes.items()}
    assert len(hashes | {event.hash}) == len(changes) + 1


def test_neither_time_nor_turn_of_a_log_ever_falls() -> None:
    """A process whose clock is late, or that knows of fewer turns, writes where the log is."""
    first = _next(None)
    late = _next(first, turn=1, now=NOW - timedelta(hours=1))
    assert (late.turn, late.recorded_at) == (3, NOW)
    later = _next(late, turn=4, now=NOW + timedelta(seconds=1))
    assert (later.turn, later.recorded_at) == (4, NOW + timedelta(seconds=1))
    assert later.seq == 3
    assert later.previous_hash == late.hash


def test_the_runtime_has_no_name_in_an_event() -> None:
    """And two graphs' events of one number differ in their ids."""
    by_runtime = next_event(None, OPERATOR, "rewound", "", turn=0, now=NOW, digest=DIGEST)
    assert by_runtime.agent_id == ""
    other = OPERATOR.model_copy(update={"graph_id": "race/2"})
    elsewhere = next_event(None, other, "rewound", "", turn=0, now=NOW, digest=DIGEST)
    assert elsewhere.id != by_runtime.id


def test_content_says_what_was_committed_and_not_what_became_of_it() -> None:
    """``pinned`` and ``redacted_at`` have events of their own."""
    belief = belief_by(value="medium", turn_id="t", source_ids=("a", "b"), origin_id="o")
    content = committed_content(belief)
    assert content == committed_content(belief.model_copy(update={"pinned": True}))
    assert set(type(belief).model_fields) - set(content) == {"pinned", "redacted_at"}
    assert content["recorded_at"] == "2026-03-01T12:00:00.000000Z"
    assert json.loads(canonical(content)) == content


def test_canonical_form_is_one_and_refuses_what_has_none() -> None:
    """Order of fields is no difference; not a number and half a character cannot be written."""
    assert canonical({"b": 1, "a": ["é", None]}) == '{"a":["é",null],"b":1}'.encode()
    assert canonical({"a": ["é", None], "b": 1}) == canonical({"b": 1, "a": ["é", None]})
    with pytest.raises(UsageError, match="surrogates"):
        canonical({"a": LONE_SURROGATE})
    with pytest.raises(ValueError, match="JSON"):
        canonical({"a": float("nan")})


# Finding the spans that hold at one event: nothing missed, nothing found that does not hold.

Span = tuple[int, int]


def _found(span: Span, at: Stations) -> bool:
    """Whether an engine that looks a closed span up as the stations say finds it.

    An engine sees a node and one end only: where the span begins, or where it ends.
    """
    (since, until), node = span, node_of(*span)
    seq = max(at.before, default=0)
    by_beginning = node in at.after and since <= seq
    by_ending = node in at.before and until > seq
    assert not (by_beginning and by_ending), "it would be found twice"
    return by_beginning or by_ending


def test_every_span_of_a_short_log_is_found_where_it_holds_and_nowhere_else() -> None:
    """All spans of logs up to 33 events, at every event: beyond powers of two, and on them."""
    for last_seq in range(1, 34):
        at = {seq: stations(seq, last_seq) for seq in range(1, last_seq + 1)}
        for until in range(2, last_seq + 1):
            for since in range(1, until):
                for seq, places in at.items():
                    holds = since <= seq < until
                    assert _found((since, until), places) == holds, (since, until, seq, last_seq)


@pytest.mark.parametrize("last_seq", [1_000, 2**20, 2**20 + 1, 10**9, 2**62])
def test_spans_of_a_long_log_are_found_where_they_hold(last_seq: int) -> None:
    """Random spans of every length, asked for at and beside their ends and in between."""
    draw = Random(last_seq)
    for _ in range(1_000):
        since = draw.randint(1, last_seq - 1)
        length = draw.randint(1, 2 ** draw.randint(0, last_seq.bit_length()))
        until = min(last_seq, since + length)
        inside, anywhere = draw.randint(since, until - 1), draw.randint(1, last_seq)
        for seq in {since - 1, since, inside, until - 1, until, anywhere, last_seq} - {0}:
            holds = since <= seq < until
            assert _found((since, until), stations(seq, last_seq)) == holds, (since, until, seq)


def test_a_look_back_costs_a_station_for_each_doubling_of_the_log() -> None:
    """So many look-ups and no more, each node once, whatever is asked for."""
    for last_seq, most in ((0, 1), (1, 1), (100, 7), (100_000, 17), (10**9, 30)):
        for seq in {0, 1, last_seq // 3, last_seq}:
            after, before = stations(seq, last_seq)
            nodes = (*after, *before)
            assert len(nodes) == len(set(nodes)) == most
            assert all(node > seq for node in after)
            assert all(0 < node <= seq for node in before)


def test_before_the_first_event_and_after_the_last_nothing_that_has_ended_holds() -> None:
    """Nothing was believed at 0; of a log's end only what has not ended is believed."""
    spans = [(since, until) for until in range(2, 17) for since in range(1, until)]
    assert not any(node_of(*span) in stations(0, 16).before for span in spans)
    assert all(since > 0 for since, _ in spans), "none begins at or before 0"
    for seq in (16, 17, 1_000):
        assert not any(_found(span, stations(seq, 16)) for span in spans)


def test_a_span_is_filed_within_itself() -> None:
    """Under the event of it that is divisible by the highest power of two."""
    for since in range(1, 70):
        for until in range(since + 1, 71):
            inside = range(since, until)
            best = max(inside, key=lambda one: one & -one)
            assert node_of(since, until) == best

"""What a log comes to, event by event, and that plans never tell an impossible one."""

from __future__ import annotations

import json

import pytest
from support.belief_reference import ReferenceBeliefs
from support.belief_replay import assert_projects
from support.belief_walk import Walk
from support.cold_samples import OPERATOR
from support.tier_samples import NOW

from tiers.beliefs import BeliefEvent, BeliefSpan, LoggedBelief
from tiers.history.fold import Fold

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

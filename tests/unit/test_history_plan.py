"""Which events a change makes."""

from __future__ import annotations

from collections.abc import Sequence

from support.cold_samples import OTHER_AGENT, belief_by
from support.tier_samples import NOW

from tiers.beliefs import Commitment, HistoricBelief, Settlement
from tiers.history.plan import PlannedEvent, commit_plan, moved_trust, revert_plan, rewind_plan

Trust = dict[tuple[str, str | None], float]


def _short(told: Sequence[PlannedEvent]) -> list[tuple[str, str]]:
    return [(one.kind, one.belief_id) for one in told]


def _moves(told: Sequence[PlannedEvent]) -> list[tuple[object, ...]]:
    """Return whose trust moved, from what to what, because of what."""
    said = [one.content for one in told if one.kind == "trusted"]
    return [(one["agent_id"], one["topic"], one["before"], one["after"]) for one in said]


def _trust_of(known: Trust | None = None) -> object:
    return lambda agent_id, topic: (known or {}).get((agent_id, topic), 1.0)


def _settled(rival: Commitment, winner: str, **how: object) -> tuple[Settlement, Commitment]:
    known = {"strategy": "last_write_wins", "reason": "said later", **how}
    return Settlement(rival_id=rival.id, winner=winner, **known), rival


def _plan(
    new: Commitment, *settled: tuple[Settlement, Commitment], trust: Trust | None = None
) -> list[PlannedEvent]:
    return commit_plan(new, settled, _trust_of(trust))  # type: ignore[arg-type]


def _past(belief: Commitment, seq: int, **fields: object) -> HistoricBelief:
    known = {"status": "superseded", "ended_seq": seq + 1, **fields}
    return HistoricBelief.model_validate(belief.model_dump() | {"committed_seq": seq} | known)


def _revert(
    belief: Commitment,
    replaced: Sequence[HistoricBelief] = (),
    taken: Sequence[object] = (),
    trust: Trust | None = None,
) -> list[PlannedEvent]:
    keys, trusted = (lambda one: one.key), _trust_of(trust)
    return revert_plan(belief, replaced, taken, keys, "wrong", trusted)  # type: ignore[arg-type]


def test_where_one_rival_wins_the_new_belief_takes_nobodys_place() -> None:
    """It was active for no time, so what it would have superseded stays."""
    one, other, third, new = (belief_by(key=None) for _ in range(4))
    told = _plan(new, _settled(one, "new"), _settled(other, "old"), _settled(third, "both"))
    assert _short(told)[1:] == [("contradicted", new.id)] * 3 + [("superseded", new.id)]
    assert told[-1].content == {"superseded_by": other.id}


def test_saying_the_same_again_is_no_contradiction() -> None:
    """The later telling takes the place, and two agents who agree are trusted more."""
    old, new = belief_by(OTHER_AGENT), belief_by()
    trust = {("engineer", "tyres"): 0.5, ("strategist", "tyres"): 0.25}
    told = _plan(new, _settled(old, "new", agree=True), trust=trust)
    assert _short(told)[:2] == [("committed", new.id), ("superseded", old.id)]
    assert _moves(told) == [("strategist", "tyres", 0.25, 0.4), ("engineer", "tyres", 0.5, 0.6)]
    alone = _plan(belief_by(), _settled(belief_by(), "new", agree=True), trust=trust)
    assert _moves(alone) == [], "to agree with oneself proves nothing"


def test_trust_moves_only_where_somebody_looked() -> None:
    """Last write wins says nothing of agents; a decision does, and rounds to six digits."""
    old, new = belief_by(OTHER_AGENT), belief_by()
    assert _moves(_plan(new, _settled(old, "new"))) == []
    assert _moves(_plan(new, _settled(old, "both", decided=True))) == []
    assert _moves(_plan(belief_by(OTHER_AGENT), _settled(old, "new", decided=True))) == []
    assert _moves(_plan(new, _settled(old, "new", decided=True))) == [
        ("engineer", "tyres", 1.0, 0.8)
    ]
    trust = {("engineer", "tyres"): 0.333333, ("strategist", "tyres"): 0.7}
    assert _moves(_plan(new, _settled(old, "old", decided=True), trust=trust)) == [
        ("strategist", "tyres", 0.7, 0.56),
        ("engineer", "tyres", 0.333333, 0.466666),
    ]


def test_trust_lost_twice_in_one_change_is_lost_twice() -> None:
    """The second event goes on from the first, and each names its cause."""
    new = belief_by(key=None)
    rivals = [belief_by(OTHER_AGENT, key=None), belief_by(OTHER_AGENT, key=None)]
    told = _plan(new, *(_settled(one, "old", decided=True) for one in rivals))
    assert _moves(told) == [("strategist", "tyres", 1.0, 0.8), ("strategist", "tyres", 0.8, 0.64)]
    assert {one.content["cause"] for one in told if one.kind == "trusted"} == {new.id}


def test_trust_never_leaves_its_range() -> None:
    """However often it moves it stays from 0 to 1, and the runtime has none to lose."""
    for outcome in (0.0, 1.0):
        trust = 0.5
        for _ in range(200):
            moved = moved_trust(trust, outcome)
            assert 0.0 <= moved <= 1.0
            assert abs(outcome - moved) <= abs(outcome - trust)
            trust = moved
        assert abs(trust - outcome) < 1e-5
    assert moved_trust(1.0, 1.0) == 1.0
    nobodys = belief_by().model_copy(update={"agent_id": ""})
    assert _short(_revert(nobodys)) == [("reverted", nobodys.id)]


def test_reverting_brings_back_what_was_replaced() -> None:
    """Beliefs without a key all of them, and the agent is trusted less."""
    belief = belief_by(key=None)
    one, other = _past(belief_by(key=None), 1), _past(belief_by(key=None), 2)
    told = _revert(belief, [one, other], trust={("strategist", "tyres"): 0.5})
    assert _short(told)[:3] == [
        ("reverted", belief.id),
        ("restored", one.id),
        ("restored", other.id),
    ]
    assert told[0].content == {"reason": "wrong"}
    assert told[1].content == {"because": belief.id}
    assert _moves(told) == [("strategist", "tyres", 0.5, 0.4)]
    again = _revert(belief, [_past(belief_by(key=None), 1, pinned=True)])
    assert [one.kind for one in again[:3]] == ["reverted", "restored", "pinned"]


def test_reverting_leaves_out_what_cannot_come_back() -> None:
    """Redacted, reverted itself, its key taken by another, or by one that came back before it."""
    belief = belief_by()
    redacted = _past(belief_by(key=None), 1, redacted_at=NOW)
    reverted = _past(belief_by(key=None), 2, status="reverted")
    taken = _past(belief_by(key=("x", "y")), 3)
    first, second = _past(belief_by(), 4), _past(belief_by(), 5)
    told = _revert(belief, [redacted, reverted, taken, first, second], [("x", "y")])
    assert _short(told)[:-1] == [("reverted", belief.id), ("restored", first.id)]


def test_rewinding_makes_then_now() -> None:
    """What came since is reverted, what went is restored, pins are as they were."""
    gone, stays, came = belief_by(), belief_by(key=None), belief_by(claim="new")
    was_pinned, is_pinned = (belief_by(key=None) for _ in range(2))
    pinned = {"pinned": True}
    now = [stays, was_pinned, is_pinned.model_copy(update=pinned), came]
    then = [gone.model_copy(update=pinned), stays, was_pinned.model_copy(update=pinned), is_pinned]
    told = rewind_plan(7, now, then, {}, "a mistake")
    assert _short(told) == [
        ("rewound", ""),
        ("reverted", came.id),
        ("restored", gone.id),
        ("pinned", gone.id),
        ("pinned", was_pinned.id),
        ("unpinned", is_pinned.id),
    ]
    assert told[0].content == {"to_seq": 7, "reason": "a mistake"}
    assert all(one.content == {"rewound_to": 7} for one in told[1:])


def test_rewinding_to_what_is_tells_nothing() -> None:
    """Nor does it bring back what was redacted since."""
    belief = belief_by()
    assert rewind_plan(3, [belief], [belief], {}, "no reason") == []
    redacted = belief_by(key=None, redacted_at=NOW, pinned=True).model_copy(
        update={"redacted_at": NOW}
    )
    assert rewind_plan(3, [belief], [redacted, belief], {}, "no reason") == []
    assert _short(rewind_plan(0, [belief], [], {}, "all of it")) == [
        ("rewound", ""),
        ("reverted", belief.id),
    ]

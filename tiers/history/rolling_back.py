"""Which events a roll-back of beliefs makes, and which undo it. Pure, as ``plan`` is."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from ..beliefs import Commitment, HistoricBelief
from .plan import Told, TrustOf, moved_trust, trust_plan, trusted_content

KeyOf = Callable[[Commitment], object]


class TrustMove(NamedTuple):
    """Trust in an agent about a topic, before a roll-back and after it."""

    agent_id: str
    topic: str | None
    before: float
    after: float


class Reversal(NamedTuple):
    """What a roll-back does to the beliefs of a graph.

    Attributes:
        told: The events.
        back: The beliefs that stand again, since what took their place is gone.
        trusts: Whose trust moved.
    """

    told: list[Told]
    back: list[HistoricBelief]
    trusts: list[TrustMove]


def comes_back(successor: str | None, tainted: Mapping[str, tuple[bool, str | None]]) -> bool:
    """Whether what gave way to ``successor`` stands once the tainted records are gone.

    It does if it gave way to a tainted one that stands, by way of tainted ones alone: where
    anything else took the place of these since, that stands.

    Args:
        successor: What took its place.
        tainted: Of each tainted record, whether it stands, and what took its place.
    """
    met: set[str] = set()
    while successor is not None and successor in tainted and successor not in met:
        met.add(successor)
        stands, successor = tainted[successor]
        if stands:
            return True
    return False


def roll_back_plan(
    tainted: Sequence[HistoricBelief],
    replaced: Iterable[HistoricBelief],
    active_keys: Collection[object],
    key_of: KeyOf,
    because: Mapping[str, JsonValue],
    trust_of: TrustOf,
) -> Reversal:
    """Return the events of taking tainted beliefs back, all at once.

    An active one is reverted, and its agent trusted a little less. One that had given way is
    restored and ends at once, so that reverting its successor later does not bring it back.

    Args:
        tainted: Active ones, and those that others superseded.
        replaced: Beliefs that are not tainted, of which a tainted one took the place.
        active_keys: Of every other active belief.
        key_of: What only one active belief may stand for.
        because: What the events say: the reason, and the roll-back.
        trust_of: Trust before.
    """
    told: list[Told] = []
    for one in tainted:
        if one.status == "superseded":
            told.append(Told("restored", one.id, because))
        told.append(Told("reverted", one.id, because))
    states = {one.id: (one.status == "active", one.superseded_by) for one in tainted}
    taken = set(active_keys)
    back = []
    # The latest first: of two that gave way to one another only the later one stood before.
    for one in sorted(replaced, key=lambda each: each.committed_seq, reverse=True):
        key = key_of(one)
        if one.status != "superseded" or one.redacted_at is not None or key in taken:
            continue
        if comes_back(one.superseded_by, states):
            back.append(one)
            taken |= set() if key is None else {key}
    told += [Told("restored", one.id, because) for one in back]
    moves = _distrust(tainted, trust_of)
    told += [
        Told("trusted", "", trusted_content(*move, str(because.get("roll_back", ""))))
        for move in moves
    ]
    return Reversal(told, back, moves)


def undo_plan(
    before: Sequence[HistoricBelief],
    now: Mapping[str, HistoricBelief],
    taken: Collection[object],
    key_of: KeyOf,
    because: Mapping[str, JsonValue],
) -> tuple[list[Told], list[str]]:
    """Return the events of letting beliefs be what they were, and those that cannot be.

    Args:
        before: As they were before the roll-back: what it reverted, and what stood again for it.
        now: As they are, by id.
        taken: Keys of active beliefs that are none of these.
        key_of: As above.
        because: What the events say.
    """
    ended = [one for one in before if one.status != "active"]
    reverted = [one for one in before if one.status == "active"]
    kept = [
        one.id
        for one in reverted
        if now[one.id].status != "reverted" or (key_of(one) is not None and key_of(one) in taken)
    ]
    told: list[Told] = []
    for one in ended:
        # What gave way to one that stays away stands on; so does what others have changed since.
        if one.superseded_by in kept or now[one.id].status not in {"active", "reverted"}:
            kept.append(one.id)
            continue
        if now[one.id].status == "reverted":
            told.append(Told("restored", one.id, because))
        told.append(Told("superseded", one.id, {"superseded_by": one.superseded_by, **because}))
    for one in reverted:
        if one.id not in kept:
            told.append(Told("restored", one.id, because))
            told += [Told("pinned", one.id, {"pinned": True, **because})] if one.pinned else []
    return told, kept


def trust_back(moves: Iterable[TrustMove], reason: str, trust_of: TrustOf) -> list[Told]:
    """Return the events by which trust is what it was, where nothing has moved it since."""
    return [
        told
        for move in moves
        if trust_of(move.agent_id, move.topic) == move.after
        for told in trust_plan(move.agent_id, move.topic, move.before, reason, trust_of)
    ]


def _distrust(tainted: Iterable[HistoricBelief], trust_of: TrustOf) -> list[TrustMove]:
    """Return how trust in those moves whose beliefs are reverted, a step for each of them."""
    moved: dict[tuple[str, str | None], float] = {}
    for one in tainted:
        whose = (one.agent_id, one.topic)
        if one.agent_id and one.status == "active":
            moved[whose] = moved_trust(moved.get(whose, trust_of(*whose)), 0.0)
    return [
        TrustMove(*whose, trust_of(*whose), after)
        for whose, after in moved.items()
        if after != trust_of(*whose)
    ]

"""Which events a roll-back of beliefs makes, and which undo it. Pure, as ``plan`` is."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from ..beliefs import Commitment, HistoricBelief
from .plan import (
    PlannedEvent,
    TrustOf,
    moved_trust,
    restored_events,
    trust_plan,
    trusted_content,
)

KeyOf = Callable[[Commitment], object]


class TrustMove(NamedTuple):
    """Trust in an agent about a topic, before a roll-back and after it."""

    agent_id: str
    topic: str | None
    before: float
    after: float

    def since(self, former: TrustMove | None) -> TrustMove:
        """Return the move from where a former one of the same roll-back began.

        Itself where there is none, or where something else has moved the trust in between.
        """
        goes_on = former is not None and former.after == self.before
        return self._replace(before=former.before) if former and goes_on else self


class Reversal(NamedTuple):
    """What a roll-back does to the beliefs of a graph.

    Attributes:
        events: The events.
        back: The beliefs that stand again, since what took their place is gone.
        trusts: Whose trust moved.
    """

    events: list[PlannedEvent]
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


def is_gone(belief: HistoricBelief) -> bool:
    """Whether a belief was taken back or redacted: it is in nobody's way."""
    return belief.status in {"reverted", "redacted"}


def roll_back_plan(
    tainted: Sequence[HistoricBelief],
    replaced: Iterable[HistoricBelief],
    active_keys: Collection[object],
    key_of: KeyOf,
    because: Mapping[str, JsonValue],
    trust_of: TrustOf,
) -> Reversal:
    """Return the events of taking tainted beliefs back, all at once.

    An active one is reverted, and its agent trusted a little less. One that had given way, or was
    reverted before, is restored and ends at once, so that neither reverting its successor nor an
    earlier state brings it back. It ends before the active ones do: what ends a chain ends last.

    Args:
        tainted: Active ones, those that others superseded, and those that were reverted.
        replaced: What active ones had taken the place of, past all that is gone or tainted; each
            pinned as it was then.
        active_keys: Of every other active belief.
        key_of: What only one active belief may stand for.
        because: What the events say: the reason, and the roll-back.
        trust_of: Trust before.
    """
    events: list[PlannedEvent] = []
    for one in sorted(tainted, key=lambda each: each.status == "active"):
        if one.status != "active":
            events.append(PlannedEvent("restored", one.id, because))
        events.append(PlannedEvent("reverted", one.id, because))
    taken = set(active_keys)
    back = []
    # The latest first: of two that gave way to one another only the later one stood before.
    for one in sorted(replaced, key=lambda each: each.committed_seq, reverse=True):
        key = key_of(one)
        if one.status != "superseded" or key in taken:
            continue
        back.append(one)
        taken |= set() if key is None else {key}
    events += [event for one in back for event in restored_events(one, because)]
    moves = _distrust(tainted, trust_of)
    events += [
        PlannedEvent("trusted", "", trusted_content(*move, str(because.get("roll_back", ""))))
        for move in moves
    ]
    return Reversal(events, back, moves)


def undo_plan(
    aside: Sequence[HistoricBelief],
    below: Sequence[HistoricBelief],
    known: Mapping[str, HistoricBelief],
    taken: Collection[object],
    key_of: KeyOf,
    because: Mapping[str, JsonValue],
) -> tuple[list[PlannedEvent], list[str]]:
    """Return the events of letting beliefs be there again, and those that stay away.

    One is active again if nothing that took its place is there, and what stands for it gives way.
    One that had given way to what is gone as it was then has given way again, and one that had been
    reverted is reverted, by no roll-back any more.

    Args:
        aside: What the roll-back took back, with the status and the pin that it had.
        below: Active ones of which these had taken the place.
        known: These, and whatever took the place of any, as they are, by id.
        taken: Keys of all other active beliefs.
        key_of: As above.
        because: What the events say.
    """
    events: list[PlannedEvent] = []
    there = {one.id for one in known.values() if not is_gone(one)}
    kept: list[str] = []
    held = set(taken)
    paths = {one.id: _path(known[one.id], known) for one in (*aside, *below)}
    # What ends a chain first; of two without a chain in common the later one.
    for one in sorted(aside, key=lambda each: (len(paths[each.id]), -each.committed_seq)):
        path, now, key = paths[one.id], known[one.id], key_of(one)
        if one.status == "reverted" == now.status:
            events.append(PlannedEvent("restored", one.id, because))
            events.append(PlannedEvent("reverted", one.id, {"reason": because["reason"]}))
            continue
        has_place = all(each.id not in there for each in path)
        was_freed = any((each.ended_seq or 0) > (now.ended_seq or 0) for each in path)
        is_active = has_place and (one.status == "active" or was_freed)
        if now.status != "reverted" or (is_active and key is not None and key in held):
            kept.append(one.id)
            continue
        there.add(one.id)
        held |= {key} if is_active else set()
        if is_active:
            events += restored_events(one, because)
        else:
            events += [PlannedEvent("restored", one.id, because), _superseded(now, because)]
    ended = [one for one in below if any(each.id in there for each in paths[one.id])]
    return [*(_superseded(one, because) for one in ended), *events], kept


def _superseded(belief: HistoricBelief, because: Mapping[str, JsonValue]) -> PlannedEvent:
    return PlannedEvent("superseded", belief.id, {"superseded_by": belief.superseded_by, **because})


def _path(belief: HistoricBelief, known: Mapping[str, HistoricBelief]) -> list[HistoricBelief]:
    """Return what took the place of a belief, one after the other."""
    path: dict[str, HistoricBelief] = {}
    successor = belief.superseded_by
    while (
        successor is not None
        and successor in known
        and successor not in path
        and successor != belief.id
    ):
        path[successor] = known[successor]
        successor = known[successor].superseded_by
    return list(path.values())


def trust_back(moves: Iterable[TrustMove], reason: str, trust_of: TrustOf) -> list[PlannedEvent]:
    """Return the events by which trust is what it was, where nothing has moved it since."""
    return [
        event
        for move in moves
        if trust_of(move.agent_id, move.topic) == move.after
        for event in trust_plan(move.agent_id, move.topic, move.before, reason, trust_of)
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

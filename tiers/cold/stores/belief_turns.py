"""Which turn of a graph is under way: what belief events say of when they happened."""

from __future__ import annotations

from ...records import Scope
from ..conditions import Condition, Is, Within
from ..port import Find, Steps, one
from .turns import NUMBERED, TURNS


def turn_under_way(scope: Scope, turn_id: str | None) -> Steps[int]:
    """Return the number of the turn that is under way in the graph, or of the last.

    Turns are counted over the graph, and one that is not stored yet is the next.
    """
    stored = yield from _stored(scope)
    if turn_id is None:
        return stored
    known = yield from one(Find(TURNS, scope, where=(Is("id", turn_id),), reach="own"))
    return stored + (known is None)


def _stored(scope: Scope) -> Steps[int]:
    """Return how many turns all agents of the graph have had.

    From one writer to the next in the index, and there to the last turn: how much each has said
    is never counted.
    """
    stored = 0
    where: tuple[Condition, ...] = (NUMBERED,)
    order = ("-agent_id", "-seq")
    while True:
        last = yield from one(Find(TURNS, scope, "seq", where, order, 1, reach="own"))
        if last is None:
            return stored
        stored += last.seq
        where = (Within("agent_id", until=last.agent_id), NUMBERED)

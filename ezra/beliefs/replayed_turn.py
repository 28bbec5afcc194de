"""One turn of a graph again: what was said, what it saw, and what it did to the beliefs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tiers.records import BeliefEvent, BeliefQuery, Commitment, Receipt, Scope, Turn

from ..receipts.lookup import receipts_of
from ..runtime import Runtime

EVENTS_MAX = 1_000


@dataclass(frozen=True)
class ReplayedTurn:
    """What one turn of a graph did to its beliefs.

    Turns of several agents may be under way at once: each has the events that were made in it,
    and what nobody's turn has belongs to the one that was under way.

    Attributes:
        number: The turn, counted over the whole graph from 1.
        turn: What was said; ``None`` when no such turn is stored.
        receipt: What it saw.
        before: The beliefs before it began, and before anything was changed in it.
        events: What happened in it and, outside any turn, until the next.
        after: The beliefs then.
    """

    number: int
    turn: Turn | None
    receipt: Receipt | None
    before: tuple[Commitment, ...]
    events: tuple[BeliefEvent, ...]
    after: tuple[Commitment, ...]


async def replayed(runtime: Runtime, scope: Scope, number: int) -> ReplayedTurn:
    """Return a turn by its number in the graph."""
    said = await runtime.turns.turns_from(scope, number, 1)
    turn = said[0] if said else None
    # One that the graph does not have is told by its ``turn``: who reads turn by turn ends there.
    before = await runtime.history.seq_at(scope.for_graph(), turn=number - 1)
    after = await runtime.history.seq_at(scope.for_graph(), turn=number)
    events = await _events(runtime, scope, turn, before, after)
    if events:
        before, after = min(before, events[0].seq - 1), max(after, events[-1].seq)
    return ReplayedTurn(
        number=number,
        turn=turn,
        receipt=await _receipt(runtime, scope, turn, events),
        before=await runtime.history.as_of(scope, before),
        events=events,
        after=await runtime.history.as_of(scope, after),
    )


async def _events(
    runtime: Runtime, scope: Scope, turn: Turn | None, before: int, after: int
) -> tuple[BeliefEvent, ...]:
    """Return the events of a turn: its own, and those meanwhile that no stored turn has."""
    limit = max(1, min(after - before, EVENTS_MAX))
    page = await runtime.history.events(scope, before, limit)
    meanwhile = [one for one in page if one.seq <= after]
    taken = await _stored(runtime, scope, meanwhile)
    found = {one.seq: one for one in meanwhile if one.turn_id not in taken}
    if turn is not None:
        own = await runtime.history.events(scope, 0, EVENTS_MAX, turn_id=turn.id)
        found |= {one.seq: one for one in own}
    return tuple(found[seq] for seq in sorted(found))


async def _stored(runtime: Runtime, scope: Scope, events: Iterable[BeliefEvent]) -> set[str]:
    """Return the turns of events that are stored, private ones too: these have their own number."""
    named: dict[str, set[str]] = {}
    for event in events:
        if event.turn_id:
            named.setdefault(event.agent_id, set()).add(event.turn_id)
    found: set[str] = set()
    for agent_id, ids in named.items():
        reader = scope.for_agent(agent_id) if agent_id else scope
        found |= {one.id for one in await runtime.turns.turns(reader, sorted(ids))}
    return found


async def _receipt(
    runtime: Runtime, scope: Scope, turn: Turn | None, events: Sequence[BeliefEvent]
) -> Receipt | None:
    """Return what a turn saw: its own receipt, or the one that a belief of it names."""
    turn_id = turn.id if turn else next((one.turn_id for one in events if one.turn_id), "")
    if turn_id:
        found = await receipts_of(runtime, scope, [turn_id])
        if turn_id in found:
            return found[turn_id]
    ids = tuple(
        one.belief_id for one in events if one.kind == "committed" and one.turn_id in {"", turn_id}
    )
    if not ids:
        return None
    for belief in await runtime.history.query(scope, BeliefQuery(ids=ids, limit=EVENTS_MAX)):
        if belief.receipt_id is not None:
            return await runtime.log.receipt(scope, belief.receipt_id)
    return None

"""Committing to beliefs: rivals settled, the change charged, the audit feed told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from datetime import datetime
from typing import TypeAlias

from tiers.errors import Conflict, UsageError
from tiers.fields import in_utc
from tiers.owned import REDACTED
from tiers.records import (
    BeliefQuery,
    Commitment,
    Committed,
    HistoricBelief,
    Scope,
    Settlement,
    Standing,
    Usage,
)

from ..checks import SKEW
from ..contradiction import Settled
from ..runtime import Runtime
from .future_events import future_events

Point: TypeAlias = datetime | int
"""A moment of the past: a time, or the number of a turn of the graph, counted over all agents."""

Believed: TypeAlias = HistoricBelief | Commitment
"""A belief: with what became of it, where it is active no longer."""

SOURCES_MAX = 256

_HAS_TURN: ContextVar[bool] = ContextVar("ezra_belief_has_turn", default=False)
"""Whether a commit is under way here: it, or who it asks about a contradiction."""


async def believe(
    runtime: Runtime, scope: Scope, standing: Standing, belief: Commitment
) -> Commitment:
    """Commit to a belief in the scope of its agent; return it as it is then.

    Raises:
        BudgetExceeded: There is no write left.
        Conflict: The graph is archived, others changed the same belief again and again, or another
            one has its id.
    """
    strategy = standing.graph.merge_strategy

    async def charge_model() -> None:
        await runtime.meter.charge(scope, standing, Usage(model_calls=1))

    async def is_there() -> bool:
        query = BeliefQuery(ids=(belief.id,), limit=1)
        return bool(await runtime.history.query(scope.for_graph(), query))

    writing = runtime.meter.write(scope, standing, is_there=is_there)
    async with _alone_among_rivals(runtime, belief), writing as charge:
        during = runtime.under_way.during(scope, belief.turn_id)
        settled = await runtime.settler.commit(during, belief, strategy, charge=charge_model)
        charge.is_void = not settled.committed.is_new
    done = settled.committed
    if not done.is_new:
        known = await _as_it_is(runtime, scope, done)
        if known.claim != REDACTED and _content(known) != _content(belief):
            raise Conflict(f"belief {belief.id}", belief.claim, known.claim)
        return known
    await runtime.forget_pins(scope, [one.id for one in done.superseded if one.pinned])
    await _tell(runtime, scope, settled)
    runtime.wake_learning()
    return done.belief if done.active else await _as_it_is(runtime, scope, done)


async def seq_at(runtime: Runtime, scope: Scope, point: Point | None) -> int:
    """Return the last event of a graph's log at a moment, of all without one.

    Now is after every event, whatever its time says: a clock may have been ahead.

    Raises:
        UsageError: It is no moment, or a turn that the graph does not have.
    """
    if point is None:
        return await runtime.history.seq_at(scope.for_graph())
    if isinstance(point, datetime):
        if point.tzinfo is None:
            raise UsageError("time", point, "a time with its zone")
        try:
            in_utc(point)
        except ValueError as error:
            raise UsageError("time", point, "a time of the years 1 to 9999 in UTC") from error
        ahead = await future_events(runtime, scope) if point >= runtime.clock() - SKEW else None
        if ahead is not None:
            return ahead.last
        return await runtime.history.seq_at(scope.for_graph(), time=point)
    check_turn_number(point)
    last = await _last_turn(runtime, scope.for_graph(), point)
    if point > last:
        raise UsageError("turn", point, f"0 to {last}, or a time")
    return await runtime.history.seq_at(scope.for_graph(), turn=point)


def check_turn_number(given: int) -> None:
    """Refuse what is no number of a turn; 0 is before the first.

    Raises:
        UsageError: It is none.
    """
    if type(given) is not int or given < 0:
        raise UsageError("turn", given, "the number of a turn, or a time")


async def _last_turn(runtime: Runtime, whole: Scope, wanted: int) -> int:
    """Return the number of a graph's last turn; of one not before ``wanted``, if it has that.

    Turns are counted only where the log does not know of the wanted one. It knows turns that are
    not stored: those under way, in which a belief changed.
    """
    last = await runtime.history.seq_at(whole)
    events = await runtime.history.events(whole, last - 1, 1) if last else ()
    turn = events[0].turn if events else 0
    return turn if wanted <= turn else max(turn, await runtime.turns.count_turns(whole))


async def beliefs_at(runtime: Runtime, scope: Scope, point: Point) -> tuple[Commitment, ...]:
    """Return the beliefs that the scope sees and that were active at a moment."""
    return await runtime.history.as_of(scope, await seq_at(runtime, scope, point))


def source_ids_of(given: Iterable[str]) -> tuple[str, ...]:
    """Return the ids of sources, each once.

    Raises:
        UsageError: They are no list of ids, or too many.
    """
    if isinstance(given, str):
        raise UsageError("sources", given, "a list of ids")
    ids = tuple(dict.fromkeys(given))
    if len(ids) > SOURCES_MAX or not all(ids):
        raise UsageError("sources", len(ids), f"at most {SOURCES_MAX} ids")
    return ids


@asynccontextmanager
async def _alone_among_rivals(runtime: Runtime, belief: Commitment) -> AsyncIterator[None]:
    """Let beliefs of one key, or claims of one topic without, come one after the other here.

    With a key it spares them settling again and again what the other has just settled; what makes
    them right, between processes too, is that the store refuses rivals that are not settled. A
    claim without one has to find its rivals: two that look at once do not see each other. Who is
    asked about a contradiction and commits before it answers waits for nobody: that would be its
    asker.
    """
    if _HAS_TURN.get():
        yield
        return
    key = (belief.graph_id, belief.topic, belief.key)
    lock = runtime.key_turns.setdefault(key, asyncio.Lock())
    async with lock:
        before = _HAS_TURN.set(True)
        try:
            yield
        finally:
            _HAS_TURN.reset(before)


def _content(belief: Commitment) -> tuple[object, ...]:
    return (belief.claim, belief.topic, belief.key, belief.value)


async def _as_it_is(runtime: Runtime, scope: Scope, done: Committed) -> Commitment:
    """Return a belief as the log has left it."""
    query = BeliefQuery(ids=(done.belief.id,), limit=1)
    found: Sequence[Commitment] = await runtime.history.query(scope, query)
    return found[0] if found else done.belief


async def _tell(runtime: Runtime, scope: Scope, settled: Settled) -> None:
    """Put a commitment, and the contradictions that it settled, into the audit feed.

    So it says too when rivals may have stayed unseen, because a tier or a judge was away.
    """
    done, without = settled.committed, ", ".join(settled.degraded)
    now = runtime.clock()
    tell = runtime.log.append_audit
    missing = f"rivals were looked for without {without}" if without else ""
    await tell(scope, "committed", (done.belief.id,), missing, now)
    for found, settlement in settled.contradictions:
        runtime.telemetry.numbers.settled(settlement.strategy)
        both = (found.claim.id, found.rival.id)
        why = "one key, two beliefs" if found.found_by == "key" else f"found by {found.found_by}"
        await tell(scope, "contradiction", both, why, now)
        await tell(scope, "reconciliation", both, _outcome(settlement, both), now)


def _outcome(settlement: Settlement, both: tuple[str, str]) -> str:
    """Return in words, and without content, how a contradiction ended."""
    if settlement.winner == "both":
        return f"both stand by {settlement.strategy}"
    winner = both[0] if settlement.winner == "new" else both[1]
    return f"{winner} stands by {settlement.strategy}"

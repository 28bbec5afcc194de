"""Branches: a session graph that begins with what another believed at a moment, and goes on alone.

A branch reads the facts of the graph that it left as they were then, and holds its active beliefs
of that moment as its own. Its log begins with a reference to the head of the other's log, signed
where there is a key, so that an auditor can tell what a what-if began from.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeAlias

from tiers.beliefs import BranchPoint
from tiers.concurrency import awaited
from tiers.errors import Conflict, UsageError, check_within
from tiers.records import (
    Budget,
    Commitment,
    Parent,
    Scope,
    SessionGraph,
    Turn,
)

from ..beliefs.commit import Point
from ..beliefs.history import History
from ..beliefs.proofs import Witness
from ..checks import check_graph_id, checked, come_by
from ..erasure.family import adopted_id
from ..erasure.redaction import overtake
from ..erasure.taint.rolling_back import go_on_with
from ..receipts.lookup import receipts_of
from ..runtime import Runtime

ADOPTED_MAX = 10_000
TURNS_PER_PAGE = 100
TURNS_MAX = 100_000


@dataclass(frozen=True)
class Step:
    """One turn of the other graph, to be lived through again in a branch.

    Attributes:
        number: The turn's number in the graph that was branched.
        turn: What was said there, and answered.
    """

    number: int
    turn: Turn


StepTaker: TypeAlias = Callable[[Step], Awaitable[Any] | Any]
"""What a caller does with a step: let an agent of the branch take its turn, for instance."""


Following: TypeAlias = Callable[[str, int, int], AsyncIterator[Turn]]
"""Reads the turns of a graph, given its id, behind a turn's number, so many at most."""


async def branch(
    runtime: Runtime, parent: SessionGraph, point: Point | None, session_graph_id: str
) -> SessionGraph:
    """Make a branch and return its record. One that was cut off is finished by repeating it.

    Raises:
        Conflict: There is a graph of that id already, other than such a half-made branch.
        UsageError: The point is not acceptable, or more than ``ADOPTED_MAX`` beliefs were active.
    """
    if session_graph_id == parent.id:
        raise Conflict(f"session graph {parent.id!r}", "no graph of that id", "one that exists")
    scope = Scope.of_graph(parent.tenant, parent.id)
    known = await _cut_off(runtime, parent, session_graph_id)
    if known is not None and point is None:
        point = known.parents[0].as_of
    seq = await History(runtime, scope).seq_at(point)
    if isinstance(point, datetime):
        point = come_by("time", point, runtime.clock())
    active = await runtime.history.as_of(scope, seq, rolled_back=False)
    if len(active) > ADOPTED_MAX:
        raise UsageError("turn", point, f"a moment of at most {ADOPTED_MAX} active beliefs")
    left = await Witness(runtime, scope).branch_point(seq, await _turn_at(runtime, scope, point))
    span = await _span(runtime, scope, point, seq)
    record = known or await _stored(runtime, parent, span[1], session_graph_id)
    as_of = record.parents[0].as_of
    own = Scope.of_graph(record.tenant, record.id)
    adopted = [_adopted(own, one) for one in active if one.redacted_at is None]
    now = runtime.clock()
    is_of_then = as_of is not None and span[0] <= as_of <= span[1]
    if not (is_of_then and await runtime.beliefs.adopt(own, left, adopted, now)):
        raise Conflict(f"session graph {record.id!r}", "no graph of that id", "one that exists")
    reason = f"branched from {parent.id} at event {seq}"
    await runtime.log.append_audit(own, "branched", (), reason, now)
    await _look_again(runtime, scope, seq, own, adopted)
    return record


async def run_forward(
    graph_id: str,
    take: StepTaker,
    turns: Sequence[Turn] | None,
    limit: int,
    *,
    origin: Callable[[], Awaitable[BranchPoint | None]],
    following: Following,
) -> tuple[Any, ...]:
    """Let ``take`` live through turns in the branch, one after the other; return what it returned.

    Args:
        graph_id: Of the branch.
        take: Called with each step, a coroutine function or a plain one; its error ends the run
            and reaches the caller.
        turns: What to live through; the turns of the graph that was branched, from where it was
            left on, if not given.
        limit: The most steps.
        origin: Returns where the branch left; ``None`` if it is none.
        following: Reads the turns of the other graph.

    Raises:
        UsageError: The graph is no branch and no turns are given, or the limit is not acceptable.
    """
    check_within("limit", limit, 1, TURNS_MAX)
    if turns is not None:
        steps = [Step(number, turn) for number, turn in enumerate(turns[:limit], 1)]
        return tuple([await awaited(take(step)) for step in steps])
    left = await origin()
    if left is None:
        raise UsageError("turns", None, f"turns, since {graph_id!r} is no branch of another graph")
    done: list[Any] = []
    async for turn in following(left.graph_id, left.turn, limit):
        done.append(await awaited(take(Step(left.turn + 1 + len(done), turn))))
    return tuple(done)


async def turns_following(
    runtime: Runtime, graph_id: str, after: int, limit: int
) -> AsyncIterator[Turn]:
    """Yield the turns of a graph behind its turn number ``after``, ``limit`` at most."""
    scope = Scope.of_graph(runtime.settings.tenant, graph_id)
    last = after + limit
    while after < last:
        wanted = min(TURNS_PER_PAGE, last - after)
        page = await runtime.turns.turns_from(scope, after + 1, wanted)
        for turn in page:
            yield turn
        after += len(page)
        if len(page) < wanted:
            break


async def _cut_off(
    runtime: Runtime, parent: SessionGraph, session_graph_id: str
) -> SessionGraph | None:
    """Return what an attempt that was cut off has left of a branch: its graph without a log."""
    known = await runtime.graphs.graph(parent.tenant, session_graph_id)
    if known is None:
        return None
    links = [(one.id, one.linked_at) for one in known.parents]
    own = Scope.of_graph(known.tenant, known.id)
    if links != [(parent.id, parent.created_at)] or await runtime.history.seq_at(own):
        return None
    return known


async def _stored(
    runtime: Runtime, parent: SessionGraph, moment: datetime, session_graph_id: str
) -> SessionGraph:
    """Store the branch's record and return it."""
    # It has its parent's past: of any moment before it was made it knows what the parent knew.
    begun = parent.created_at
    brought = {"rules": True, "episodes": True, "archival": True}
    link = Parent(id=parent.id, as_of=moment, linked_at=begun, **brought)
    record = checked(
        SessionGraph,
        {"id": "session_graph_id"},
        tenant=parent.tenant,
        id=session_graph_id,
        parents=(link,),
        merge_strategy=parent.merge_strategy,
        budget=Budget(),
        retention=parent.retention,
        created_at=runtime.clock(),
    )
    check_graph_id(record.id)
    await runtime.graphs.create_graph(record)
    return record


async def _look_again(
    runtime: Runtime, scope: Scope, seq: int, own: Scope, adopted: Sequence[Commitment]
) -> None:
    """Take back in a new branch what was taken back in the other graph since it was read.

    Who did so looked for branches before this one was there, or finds it.
    """
    kept = await runtime.history.as_of(scope, seq, rolled_back=False)
    still = {one.id for one in kept if one.redacted_at is None}
    gone = [one.origin_id for one in adopted if one.origin_id and one.origin_id not in still]
    if gone:
        await overtake(runtime, scope, own)
        await go_on_with(runtime, scope, gone)


def _adopted(own: Scope, belief: Commitment) -> Commitment:
    """Return a belief as the branch holds it."""
    return Commitment.model_validate(
        belief.model_dump()
        | {
            "id": adopted_id(own, belief.id),
            "graph_id": own.graph_id,
            "origin_id": belief.id,
        }
    )


async def _turn_at(runtime: Runtime, scope: Scope, point: Point | None) -> int:
    """Return the turn after which the branch goes on."""
    if isinstance(point, int):
        return point
    return await runtime.turns.count_turns(scope, point)


async def _span(
    runtime: Runtime, scope: Scope, point: Point | None, seq: int
) -> tuple[datetime, datetime]:
    """Return from when until when the moment lasts; as of its end the branch reads facts.

    As with beliefs, a turn lasts until the next one is opened, and the last one until now.
    """
    if isinstance(point, datetime):
        return point, point
    now = runtime.clock()
    if point is None:
        return now, now
    following = await runtime.turns.turns_from(scope, point + 1, 1)
    said = await runtime.turns.turns_from(scope, point, 1) if point else ()
    events = await runtime.history.events(scope, seq - 1, 1) if seq else ()
    ends = [*(one.recorded_at for one in said), *(one.recorded_at for one in events)]
    ends.append(await _opened_at(runtime, scope, following[0]) if following else now)
    begun = said[0].recorded_at if said else datetime.min.replace(tzinfo=UTC)
    return begun, max(ends)


async def _opened_at(runtime: Runtime, scope: Scope, turn: Turn) -> datetime:
    """Return when a turn was opened; one of a history in bulk was when it was recorded."""
    receipt = (await receipts_of(runtime, scope, (turn.id,))).get(turn.id)
    return turn.recorded_at if receipt is None else receipt.recorded_at

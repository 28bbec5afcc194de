"""Who read what, and when: the contexts and recalls that showed a record, by their receipts."""

from __future__ import annotations

from typing import Literal

from tiers.errors import check_within
from tiers.fields import Moment, Record
from tiers.records import Scope

from ..erasure.family import heirs_of
from ..erasure.taint.tracing import RECEIPTS_MAX, described, looked_through, shown_since
from ..runtime import Runtime

PAGE_MAX = 1_000


class Reading(Record):
    """One time that a record was shown.

    Attributes:
        agent_id: To whom; empty where no agent asked, but who runs the graph.
        kind: In the context of a ``turn``, or in the answer to a ``recall``.
        turn_id: The turn; ``None`` for a recall.
    """

    graph_id: str
    receipt_id: str
    agent_id: str
    kind: Literal["turn", "recall"]
    turn_id: str | None = None
    shown_at: Moment


class Readings(Record):
    """The times that a record was shown, the last first.

    Attributes:
        total: How many there are in all, those beyond the limit included.
        is_whole: Every receipt that could tell of the record was looked at.
        notes: What was left out, in words.
    """

    readings: tuple[Reading, ...]
    total: int
    is_whole: bool = True
    notes: tuple[str, ...] = ()


async def readings_of(
    runtime: Runtime, scope: Scope, record_id: str, *, limit: int, reads_others: bool = True
) -> Readings:
    """Return who was shown a record of the scope's graph, there and in graphs that inherit it.

    Receipts that a redaction or retention has emptied tell of nothing any more.

    Raises:
        NotFound: The graph has no such record.
        UsageError: The limit is out of range.
        TierError: The cold tier failed.
    """
    check_within("limit", limit, 1, PAGE_MAX)
    record = await described(runtime, scope, record_id)
    others = await heirs_of(runtime, scope)
    family, notes = looked_through(scope, others, reads_others=reads_others)
    shown, has_all = await shown_since(runtime, family, record)
    if not has_all:
        notes.append(f"only {RECEIPTS_MAX:,} receipts were looked through")
    found = [one for one in shown if record_id in one.ids]
    found.sort(key=lambda one: (one.receipt.recorded_at, one.receipt.id), reverse=True)
    return Readings(
        readings=tuple(
            Reading(
                graph_id=one.receipt.graph_id,
                receipt_id=one.receipt.id,
                agent_id=one.receipt.agent_id,
                kind="turn" if one.turn_id else "recall",
                turn_id=one.turn_id or None,
                shown_at=one.receipt.recorded_at,
            )
            for one in found[:limit]
        ),
        total=len(found),
        is_whole=not notes,
        notes=tuple(notes),
    )

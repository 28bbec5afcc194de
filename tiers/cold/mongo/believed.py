"""Which beliefs were active at a moment of the past, for questions about then."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from ...moments import microseconds
from ...records import Commitment, Owned, Scope, SearchQuery
from .belief_spans import closed_at, spans_of
from .conditions import kept, shown_fields
from .database import Session
from .documents import Document, record_of
from .scope import own

BELIEFS_PER_QUESTION = 5_000


class Ended(NamedTuple):
    """A record that is over, and when it ended, in microseconds."""

    at: int
    record: Owned


async def active_by_then(
    session: Session, scope: Scope, query: SearchQuery, among: Document
) -> list[Document]:
    """Return what holds of those active beliefs that were active at ``query.as_of``, too.

    Nothing has to hold without it. Most have been active ever since; what was taken back and is
    active again, of ``among``, is looked up.
    """
    if query.as_of is None:
        return []
    seq = await _seq_at(session, scope, query.as_of)
    again = {"active": True, "committed_seq": {"$lte": seq}, "since_seq": {"$gt": seq}}
    found = await session.collection("beliefs").find(own(scope, **again) | among, fields=["id"])
    spans = await spans_of(session, scope, [one["id"] for one in found])
    held = [name for name, of_it in spans.items() if any(one.holds_at(seq) for one in of_it)]
    return [{"$or": [{"since_seq": {"$lte": seq}}, {"id": {"$in": held}}]}]


async def ended_beliefs(
    session: Session, scope: Scope, query: SearchQuery, at: datetime, last_seq: int
) -> list[Ended]:
    """Return visible beliefs that were active at a moment and are not any more.

    Those that ended last come first, at most ``query.limit``.

    Args:
        session: To ask with.
        scope: Who asks.
        query: What must hold of them besides; its words are not looked at.
        at: The moment.
        last_seq: The last event of the log, a while ago.
    """
    seq = await _seq_at(session, scope, at)
    ids = await closed_at(session, scope, seq, last_seq)
    rows: list[Document] = []
    for start in range(0, len(ids), BELIEFS_PER_QUESTION):
        page: Document = {"id": {"$in": ids[start : start + BELIEFS_PER_QUESTION]}}
        rows += await session.collection("beliefs").find(
            kept(scope, query, "belief", {"live": False}, page),
            sort=[("ended_seq", -1), ("id", 1)],
            limit=query.limit,
            fields=[*shown_fields(Commitment), "ended_seq"],
        )
    rows.sort(key=lambda row: (-row["ended_seq"], row["id"]))
    last = rows[: query.limit]
    moments = await _moments(session, scope, last)
    return [Ended(at, record_of(Commitment, row)) for row, at in zip(last, moments, strict=True)]


async def _seq_at(session: Session, scope: Scope, at: datetime) -> int:
    """Return the last event recorded at or before a moment; 0 when there is none."""
    changes = await session.collection("belief_log").find(
        own(scope, recorded_at={"$lte": microseconds(at)}),
        sort=[("recorded_at", -1), ("last_seq", -1)],
        limit=1,
        fields=["last_seq"],
    )
    return int(changes[0]["last_seq"]) if changes else 0


async def _moments(session: Session, scope: Scope, rows: Sequence[Document]) -> list[int]:
    """Return when beliefs ended: when the changes were recorded that hold the ending events."""
    if not rows:
        return []
    ends = [row["ended_seq"] for row in rows]
    changes = await session.collection("belief_log").find(
        own(
            scope,
            last_seq={"$gte": min(ends)},
            first_seq={"$lte": max(ends)},
            **{"mentions.belief_id": {"$in": [row["id"] for row in rows]}},
        ),
        fields=["first_seq", "last_seq", "recorded_at"],
    )
    at = {
        seq: one["recorded_at"]
        for one in changes
        for seq in ends
        if one["first_seq"] <= seq <= one["last_seq"]
    }
    return [at.get(seq, 0) for seq in ends]

"""When beliefs were active, as documents: look-ups whose cost is their answer's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...history.spans import stations
from ...records import BeliefSpan, Scope
from .belief_projection import ROWS_PER_QUESTION
from .database import Session
from .documents import Document, record_of
from .scope import own
from .together import together

OVERTAKEN_MAX = 1_000_000
"""How many events others may append while one question is answered."""


class Held(NamedTuple):
    """A span of a belief."""

    belief_id: str
    span: BeliefSpan

    def holds_at(self, seq: int) -> bool:
        """Whether the belief was active in it right after an event."""
        until = self.span.until_seq
        return self.span.since_seq <= seq and (until is None or seq < until)


async def active_at(
    session: Session, scope: Scope, seq: int, last_seq: int
) -> Mapping[str, BeliefSpan]:
    """Return the span of each belief of the graph that was active right after an event.

    The projection has come to that event at least. Open spans are asked for before closed ones:
    one that is closed in between is found again.

    Args:
        session: To ask with.
        scope: Whose graph.
        seq: The event.
        last_seq: The last event of the log, a while ago.
    """
    spans = session.collection("belief_spans")
    found = await spans.find(own(scope, until_seq=None, since_seq={"$lte": seq}))
    found += await _closed(session, scope, seq, last_seq)
    return {one["belief_id"]: span_of(one) for one in found}


async def closed_at(session: Session, scope: Scope, seq: int, last_seq: int) -> list[str]:
    """Return the beliefs that were active right after an event in a span that has ended since.

    Some of them may be active again. Otherwise as ``active_at``.
    """
    return [one["belief_id"] for one in await _closed(session, scope, seq, last_seq)]


async def _closed(session: Session, scope: Scope, seq: int, last_seq: int) -> list[Document]:
    nodes = stations(seq, max(seq, last_seq) + OVERTAKEN_MAX)
    spans = session.collection("belief_spans")
    closed = await together(
        [
            spans.find(own(scope, node={"$in": list(nodes.after)}, since_seq={"$lte": seq})),
            spans.find(own(scope, node={"$in": list(nodes.before)}, until_seq={"$gt": seq})),
        ]
    )
    return [one for part in closed for one in part]


async def spans_of(session: Session, scope: Scope, ids: Sequence[str]) -> dict[str, list[Held]]:
    """Return every span of some beliefs, in order; each id has an entry."""
    found: dict[str, list[Held]] = {one: [] for one in ids}
    for start in range(0, len(ids), ROWS_PER_QUESTION):
        page = list(ids[start : start + ROWS_PER_QUESTION])
        rows = await session.collection("belief_spans").find(
            own(scope, belief_id={"$in": page}), sort=[("belief_id", 1), ("since_seq", 1)]
        )
        for row in rows:
            found[row["belief_id"]].append(Held(row["belief_id"], span_of(row)))
    return found


def span_of(document: Document) -> BeliefSpan:
    """Return the span that a document holds."""
    return record_of(BeliefSpan, document)

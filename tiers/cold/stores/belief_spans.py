"""When each belief was active, and which were active right after an event.

Open spans are looked up by where they begin. A closed one is filed under a node of
``tiers.history.spans``: there one of its ends decides, so that each look-up finds only what held.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from ...history.spans import node_of, stations
from ...records import BeliefSpan, HistoricBelief, ProjectedBelief, Scope
from ..conditions import Absent, Among, Present, Within
from ..port import Collection, Find, Index, Steps, every
from .belief_log import last_seq, seq_by
from .questions import not_by
from .rows import bare, kept, plain


class HeldSpan(BeliefSpan):
    """A span with the belief that was active in it."""

    tenant: str
    graph_id: str
    belief_id: str


def _node(span: HeldSpan) -> int | None:
    """Return the node under which a span is filed; none while it is open, or if it is no span."""
    is_closed = span.until_seq is not None and span.until_seq > span.since_seq > 0
    return node_of(span.since_seq, span.until_seq or 0) if is_closed else None


SPANS: Collection[HeldSpan] = Collection(
    "belief_spans",
    HeldSpan,
    fields={
        **plain("belief_id", "since_seq", "until_seq"),
        "node": _node,
        "pinned": lambda span: int(span.pinned),
    },
    indexes={
        "belief": Index(("belief_id", "since_seq")),
        "open": Index(("since_seq",), where=(Absent("until_seq"),)),
        "begins": Index(("node", "since_seq"), where=(Present("node"),)),
        "ends": Index(("node", "until_seq"), where=(Present("node"),)),
    },
    key=lambda span: f"{span.since_seq} {span.belief_id}",
)


def held_span(scope: Scope, belief_id: str, span: BeliefSpan) -> HeldSpan:
    """Return a span as it is stored."""
    whose = {"tenant": scope.tenant, "graph_id": scope.graph_id, "belief_id": belief_id}
    return kept(HeldSpan, span, **whose)


def with_spans(scope: Scope, beliefs: Sequence[HistoricBelief]) -> Steps[list[ProjectedBelief]]:
    """Return beliefs of the scope's graph with their spans, in order."""
    about = Among("belief_id", tuple(belief.id for belief in beliefs))
    # One that says another belief than it is filed under is told of by verifying.
    held: dict[str, list[BeliefSpan]] = defaultdict(list)
    for span in (yield from every(Find(SPANS, scope, by="belief", where=(about,)))):
        held[span.belief_id].append(bare(BeliefSpan, span))
    for spans in held.values():
        spans.sort(key=lambda span: span.since_seq)
    return [ProjectedBelief(belief=one, spans=tuple(held[one.id])) for one in beliefs]


def open_spans(ids: Sequence[str], scope: Scope) -> Find[HeldSpan]:
    """Ask for the spans in which beliefs are active now."""
    where = (Among("belief_id", tuple(ids)), Absent("until_seq"))
    return Find(SPANS, scope, by="belief", where=where)


def spans_among(ids: Sequence[str], scope: Scope, seq: int) -> Find[HeldSpan]:
    """Ask for the spans in which some of these beliefs were active right after an event."""
    has_begun, has_not_ended = Within("since_seq", until=seq + 1), not_by("until_seq", seq)
    where = (Among("belief_id", tuple(ids)), has_begun, has_not_ended)
    return Find(SPANS, scope, by="belief", where=where)


def spans_at(scope: Scope, seq: int) -> Steps[list[HeldSpan]]:
    """Return the spans in which any belief of the graph was active right after an event."""
    last = yield from last_seq(scope)
    found = stations(seq, max(seq, last))
    has_begun, has_not_ended = (
        Within("since_seq", until=seq + 1),
        Within("until_seq", since=seq + 1),
    )
    after, before = Among("node", found.after), Among("node", found.before)
    finds = (
        Find(SPANS, scope, by="open", where=(has_begun,)),
        Find(SPANS, scope, by="begins", where=(after, has_begun)),
        Find(SPANS, scope, by="ends", where=(before, has_not_ended)),
    )
    return (yield from every(*finds))


def active_then(scope: Scope, then: datetime, ids: Sequence[str]) -> Steps[frozenset[str]]:
    """Return which of some beliefs were active at a moment."""
    if not ids:
        return frozenset()
    seq = yield from seq_by(scope, then)
    held = yield from every(spans_among(ids, scope, seq))
    return frozenset(one.belief_id for one in held)

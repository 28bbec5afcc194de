"""What a graph believes and believed: a timeline with a moment to choose, and what was settled.

One belief has a page for its whole story, and for what proves that the log is as it was written.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tiers.errors import UsageError
from tiers.records import AuditEvent, AuditFilter, BeliefStatus, HistoricBelief, SignedHead

from ...beliefs.history import History
from ...beliefs.proofs import Verification
from ...beliefs.spans import SPANS_MAX, BeliefLife, Explanation
from ...handles.graph import Graph
from .lanes import Timeline, timeline
from .pages import LATEST, Count, FormTime, Number, Query, View, Word, href, paged, pages

BARS_MAX = 40
ROWS_PER_PAGE = 40
SETTLED_PER_PAGE = 10
WINDOW = 160
"""Events of the log whose beliefs a timeline shows, where not all can be shown."""

STEP = 40
STATUSES: tuple[BeliefStatus, ...] = ("active", "superseded", "reverted", "redacted")


class BeliefsQuery(Query):
    """Which beliefs, and when: after an event, or else at a time, or during a turn; else now."""

    topic: Word | None = None
    agent: Word | None = None
    subject: Word | None = None
    status: BeliefStatus | None = None
    seq: Count | None = None
    time: FormTime | None = None
    turn: Count | None = None
    after: Count = 0

    @property
    def narrow(self) -> dict[str, Any]:
        """The filter, as the handle takes it."""
        return {
            "topic": self.topic,
            "agent_id": self.agent,
            "subject": self.subject,
            "status": self.status,
        }

    @property
    def parameters(self) -> dict[str, object]:
        """The filter, as an address says it."""
        names = ("topic", "agent", "subject", "status")
        return {name: getattr(self, name) for name in names}


class SettledQuery(Query):
    """Which page of settled contradictions."""

    before: Number | None = None


@dataclass(frozen=True)
class Moment:
    """The moment that is looked at.

    Attributes:
        seq: The last event that counts.
        last: The last of all.
        at: When it was recorded; ``None`` before the first.
        turn: The turn that was under way.
        kind: What it was.
    """

    seq: int
    last: int
    at: datetime | None = None
    turn: int = 0
    kind: str = ""


@dataclass(frozen=True)
class Settled:
    """Two beliefs that contradicted each other, and how that ended.

    Attributes:
        event: Of the audit feed.
        new: The later belief.
        old: The one that was there.
        decision: What the log says of it; ``None`` where that was destroyed.
    """

    event: AuditEvent
    new: HistoricBelief | None
    old: HistoricBelief | None
    decision: dict[str, Any] | None


@pages.rows("/graphs/{graph_id}/beliefs/then", "beliefs_then.html")
@pages.page("/graphs/{graph_id}/beliefs", needs="read", label="Beliefs", key="b")
async def beliefs(graph: Graph, query: BeliefsQuery) -> View:
    """Show what is believed, and what was at any moment."""
    moment = await _moment(graph.beliefs, query)
    rows, drawn = await asyncio.gather(
        _rows(graph, query, moment), _drawn(graph.beliefs, query, moment)
    )
    values = {**rows, **drawn, "statuses": STATUSES}
    return View("beliefs.html", values, f"Beliefs of {graph.id}")


@pages.page("/graphs/{graph_id}/beliefs/rows", needs="read")
async def belief_rows(graph: Graph, query: BeliefsQuery) -> View:
    """Return the next rows of what was believed at a moment."""
    moment = await _moment(graph.beliefs, query)
    return View("beliefs_rows.html", await _rows(graph, query, moment))


@pages.rows("/graphs/{graph_id}/contradictions/rows", "beliefs_settled_rows.html")
@pages.page("/graphs/{graph_id}/contradictions", needs="read")
async def contradictions(graph: Graph, query: SettledQuery) -> View:
    """Show contradictions and how each was settled, the last first."""
    values = await _settled(graph, query)
    return View("beliefs_settled.html", values, f"Contradictions in {graph.id}")


async def _moment(history: History, query: BeliefsQuery) -> Moment:
    """Return the moment that is asked for; the end of the log without one.

    Raises:
        UsageError: The log has no such event.
    """
    last = await history.seq_at()
    seq = query.seq
    if seq is None:
        point = query.time if query.time is not None else query.turn
        seq = last if point is None else await history.seq_at(point)
    if seq > last:
        raise UsageError("seq", seq, f"an event of the log, 0 to {last}")
    if not seq:
        return Moment(0, last)
    (event,) = await history.events(seq - 1, 1)
    return Moment(seq, last, event.recorded_at, event.turn, event.kind)


async def _rows(graph: Graph, query: BeliefsQuery, moment: Moment) -> dict[str, object]:
    found = await graph.beliefs.query(
        **query.narrow, as_of_seq=moment.seq, after=query.after, limit=ROWS_PER_PAGE + 1
    )
    here = ("graphs", graph.id, "beliefs")

    def behind(one: HistoricBelief) -> dict[str, object]:
        return {"after": one.committed_seq, "seq": moment.seq, **query.parameters}

    listed = paged(found, ROWS_PER_PAGE, here, (*here, "rows"), behind)
    return {**listed, "moment": moment, "asked": query, "here": href(*here)}


async def _drawn(history: History, query: BeliefsQuery, moment: Moment) -> dict[str, object]:
    """Return the timeline: of all beliefs that are asked for, or of those around the moment."""
    found = await history.query(**query.narrow, limit=BARS_MAX + 1)
    start, is_whole = 0, len(found) <= BARS_MAX
    if not is_whole:
        start = _window(moment)
        found = await history.query(**query.narrow, after=start, limit=BARS_MAX)
    shown: Sequence[HistoricBelief] = found[:BARS_MAX]
    lives: tuple[BeliefLife, ...] = await history.lives([one.id for one in shown])
    drawing: Timeline = timeline(lives, moment.seq, moment.at)
    until = shown[-1].committed_seq if shown else start
    return {"drawing": drawing, "drawn_from": start + 1, "drawn_to": until, "is_whole": is_whole}


def _window(moment: Moment) -> int:
    """Return the event behind which the timeline begins, in steps, so that it does not tremble."""
    start = min(moment.seq - WINDOW // 2, moment.last - WINDOW)
    return max(0, start // STEP * STEP)


async def _settled(graph: Graph, query: SettledQuery) -> dict[str, object]:
    only = AuditFilter(kinds=("reconciliation",), before=query.before or LATEST)
    found = await graph.audit(limit=SETTLED_PER_PAGE + 1, only=only)
    pairs = [event.record_ids for event in found[:SETTLED_PER_PAGE]]
    known = await graph.beliefs.lives(list(dict.fromkeys(one for pair in pairs for one in pair)))
    by_id = {life.belief.id: life.belief for life in known}
    explained = await asyncio.gather(
        *(graph.beliefs.explain(pair[0]) for pair in pairs if pair and pair[0] in by_id)
    )
    decisions = {
        (one.belief.id, str(decision.get("rival_id"))): decision
        for one in explained
        for decision in decisions_of(one)
    }
    rows = [_settlement(event, by_id, decisions) for event in found]
    here = ("graphs", graph.id, "contradictions")
    listed = paged(
        rows, SETTLED_PER_PAGE, here, (*here, "rows"), lambda one: {"before": one.event.seq}
    )
    return {**listed, "here": href(*here), "is_first": query.before is None}


def decisions_of(explanation: Explanation) -> list[dict[str, Any]]:
    """Return the decisions about a belief, each with the ids of both sides."""
    return [
        {**said, "belief_id": one.event.belief_id, "at": one.event.recorded_at}
        for one in explanation.events
        if one.event.kind == "contradicted" and (said := one.said) is not None
    ]


def _settlement(
    event: AuditEvent,
    by_id: dict[str, HistoricBelief],
    decisions: dict[tuple[str, str], dict[str, Any]],
) -> Settled:
    new, old = (*event.record_ids, "", "")[:2]
    return Settled(event, by_id.get(new), by_id.get(old), decisions.get((new, old)))


EVENTS_SHOWN = 200
HEADS_PER_PAGE = 25


class HeadsQuery(Query):
    """Which page of signed heads."""

    after: Count = 0


@pages.page("/graphs/{graph_id}/beliefs/{belief_id}", needs="read")
async def one_belief(graph: Graph, belief_id: str) -> View:
    """Show where a belief came from, what became of it, and which head vouches for it."""
    history = graph.beliefs
    explained = await history.explain(belief_id)
    belief = explained.belief
    (life,) = await history.lives([belief.id])
    values = {
        "explained": explained,
        "belief": belief,
        "held": life.held,
        "spans_max": SPANS_MAX,
        "events": explained.events[-EVENTS_SHOWN:],
        "left_out": max(0, len(explained.events) - EVENTS_SHOWN),
        "decisions": decisions_of(explained),
        "head": await _first_head(history, belief.committed_seq),
        "origin": await history.origin() if belief.origin_id else None,
    }
    return View("beliefs_one.html", values, "A belief")


@pages.rows("/graphs/{graph_id}/proof/rows", "beliefs_proof_rows.html")
@pages.page("/graphs/{graph_id}/proof", needs="read")
async def proof(graph: Graph, query: HeadsQuery) -> View:
    """Show the signed heads of the log, and the button that verifies it."""
    return await _proof(graph, query, None)


@pages.question("/graphs/{graph_id}/proof", needs="read")
async def verify(graph: Graph) -> View:
    """Check the whole log, and the stored beliefs against it; show what came of it."""
    return await _proof(graph, HeadsQuery(), await graph.beliefs.verify())


async def _first_head(history: History, seq: int) -> SignedHead | None:
    """Return the first signed head whose tree has an event."""
    found = await history.heads(seq - 1, 1)
    return found[0] if found else None


async def _proof(graph: Graph, query: HeadsQuery, verdict: Verification | None) -> View:
    found = await graph.beliefs.heads(query.after, HEADS_PER_PAGE + 1)
    here = ("graphs", graph.id, "proof")
    values = {
        **paged(found, HEADS_PER_PAGE, here, (*here, "rows"), lambda one: {"after": one.size}),
        "here": href(*here),
        "size": await graph.beliefs.seq_at(),
        "is_first": query.after == 0,
        "verdict": verdict,
    }
    return View("beliefs_proof.html", values, f"Proof of what {graph.id} believed")

"""What a belief log comes to: beliefs, when each was active, and whom it trusts.

The projection is what ``tiers.history.fold`` makes of the log: the beliefs that a change touches
are folded on from how they stand, and what comes of it is written. So the judge of the projection
is also its author.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, TypeAlias

from ...beliefs import TRUST_AT_FIRST
from ...drafts import index_work
from ...errors import Conflict
from ...history.claim_words import claim_words, filed_under
from ...history.fold import BEGINNING, ENDING, Fold, FoldedBelief
from ...history.plan import PlannedEvent, TrustOf, made_in
from ...moments import maybe_microseconds
from ...records import (
    BeliefEvent,
    BeliefSpan,
    Commitment,
    HistoricBelief,
    ProjectedBelief,
    Scope,
    TrustRow,
    WorkDraft,
)
from ..conditions import Condition, Is, Present, Within
from ..ownership import private_to
from ..port import Collection, Find, Index, Lookup, Put, Replace, Steps, every, one, write
from .belief_log import last_event, next_entries, put_entries
from .belief_spans import SPANS, HeldSpan, held_span, open_spans
from .questions import among, own
from .rows import OfGraph, bare, joined_id, kept, over, plain, together
from .turns import NUMBERED, TURNS, KeptTurn
from .words import file_again, file_words
from .work import queue_work


class UnderWay(NamedTuple):
    """The turn in which a change is made.

    Attributes:
        number: Turns are counted over the graph, and one that is not stored yet is the next.
        turn_id: ``None`` where no turn is known, or that one was taken out of memory since: what
            is made afterwards does not come of it.
    """

    number: int
    turn_id: str | None


def turn_under_way(scope: Scope, turn_id: str | None) -> Steps[UnderWay]:
    """Return the turn of an id that is under way in the graph, or was the last."""
    stored = yield from _stored(scope)
    if turn_id is None:
        return UnderWay(stored, None)
    known = yield from one(turn_by_id(scope, turn_id))
    return UnderWay(stored + (known is None), None if is_lost(known) else turn_id)


def turn_by_id(scope: Scope, turn_id: str | None) -> Find[KeptTurn]:
    """Ask for a turn of the graph, whoever may see it."""
    return Find(TURNS, scope, where=(Is("id", turn_id or ""),), reach="own")


def is_lost(turn: KeptTurn | None) -> bool:
    """Whether a turn was rolled back or redacted; what retention has emptied was not."""
    return turn is not None and turn.redacted_at is not None and turn.retired_at is None


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


Trusted: TypeAlias = tuple[str, str | None]
"""An agent and a topic."""


def key_of(belief: Commitment) -> str | None:
    """Return what only one active belief of a graph stands for: key, topic, privacy and user.

    One that names no topic stands beside those that others, who need not see it, hold under other
    topics. ``None`` without a key.
    """
    if belief.key is None:
        return None
    audience = belief.topics if belief.topic is None else ()
    known = [belief.key, belief.topic, private_to(belief), belief.user_id, audience]
    return json.dumps(known, ensure_ascii=False)


def filed_words(belief: Commitment, words: Iterable[str]) -> list[str]:
    """Return under what an active belief is found by words of its claim."""
    under = filed_under(belief)
    return [f"{word} {under}" for word in words]


def _words(belief: HistoricBelief) -> Sequence[str]:
    return filed_words(belief, claim_words(belief.claim)) if belief.status == "active" else ()


BELIEFS: Collection[HistoricBelief] = Collection(
    "beliefs",
    HistoricBelief,
    fields={
        **plain("agent_id", "status"),
        "active": lambda belief: int(belief.status == "active"),
        **plain("committed_seq", "superseded_by"),
        "subject": lambda belief: None if belief.key is None else belief.key[0],
        "attribute": lambda belief: None if belief.key is None else belief.key[1],
        "held_key": lambda belief: key_of(belief) if belief.status == "active" else None,
        "redacted_at": lambda belief: maybe_microseconds(belief.redacted_at),
    },
    indexes={
        "committed": Index(("committed_seq",), unique=True),
        "active": Index(("committed_seq",), where=(Is("active", 1),)),
        "held_key": Index(("held_key",), unique=True),
        "key": Index(("subject", "attribute", "committed_seq")),
        "subject": Index(("subject", "committed_seq")),
        "user": Index(("user_id", "committed_seq"), where=(Present("user_id"),)),
        "agent": Index(("agent_id", "committed_seq")),
        "status": Index(("status", "committed_seq")),
        "successor": Index(("superseded_by",), where=(Present("superseded_by"),)),
    },
    lists={
        "filed": Lookup(
            lambda belief: [topic for topic in (*belief.topics, belief.topic) if topic is not None],
            order=("committed_seq",),
            told_whole=True,
        ),
        "words": Lookup(_words, order=("committed_seq",), told_whole=True),
        "sources": Lookup(lambda belief: belief.source_ids, told_whole=True),
    },
)


class Trust(OfGraph):
    """How far an agent of a graph is trusted about a topic, or about beliefs without one."""

    agent_id: str
    topic: str | None
    trust: float


TRUSTS: Collection[Trust] = Collection(
    "belief_trust",
    Trust,
    fields={
        "agent_id": lambda row: row.agent_id,
        "topic": lambda row: row.topic or "",  # no topic is called that
    },
    indexes={"agent": Index(("agent_id", "topic"))},
    key=lambda row: joined_id(row.agent_id, row.topic),
)


class _Standing(NamedTuple):
    """A belief that a change touches, as it stands before, and its open span."""

    belief: HistoricBelief
    span: BeliefSpan | None


def append(
    scope: Scope, events: Sequence[PlannedEvent], now: datetime
) -> Steps[tuple[BeliefEvent, ...]]:
    """Append events with their contents and let the projection follow; return the events.

    What follows of a ``redacted`` event is that its belief is over and out of every answer.
    Destroying what it said, in its row, in the word index and in the log, is the caller's part.

    Args:
        scope: Whose log; its agent is who makes it happen.
        events: What happens, in order; none is no error. Two beliefs of one key do not come of it.
        now: When.

    Raises:
        Conflict: An event is impossible as things stand.
    """
    if not events:
        return ()
    (turn, turn_id), last, before = yield from together(
        turn_under_way(scope, made_in(scope, events)),
        last_event(scope),
        _current(scope, events),
    )
    entries = next_entries(last, scope, events, turn, turn_id, now)
    fold = Fold()
    fold.beliefs |= {belief_id: _folded(one) for belief_id, one in before.items()}
    for entry in entries:
        problem = fold.apply(entry)
        if problem is not None:
            raise Conflict(f"belief {entry.event.belief_id}", "a change that is possible", problem)
    begun = {one.belief_id: one.belief for one in events if one.belief is not None}
    agents = {belief_id: one.belief.agent_id for belief_id, one in before.items()}
    agents |= {belief.id: belief.agent_id for belief in begun.values()}
    trusts = (
        TrustRow(graph_id=scope.graph_id, agent_id=agent_id, topic=topic, trust=trust)
        for (agent_id, topic), trust in fold.trust.items()
    )
    yield from together(
        put_entries(scope, entries),
        _project(scope, fold, begun, before),
        put_trusts(scope, trusts),
        queue_work(scope, _reindexing(events, agents), now),
    )
    return tuple(entry.event for entry in entries)


def _project(
    scope: Scope,
    fold: Fold,
    begun: Mapping[str, Commitment],
    before: Mapping[str, _Standing],
) -> Steps[None]:
    """Store what has become of beliefs.

    What is over goes first: a successor is committed before its rival is superseded, and no two
    rows of one key may be active.
    """
    known = [one for one in fold.beliefs.values() if one.id not in begun]
    for is_active in (False, True):
        yield from _alter(scope, [one for one in known if one.is_active == is_active], before)
        new = (_projected(begun[one.id], one) for one in fold.beliefs.values() if one.id in begun)
        yield from put_beliefs(
            scope, *(one for one in new if (one.belief.status == "active") == is_active)
        )


def put_beliefs(scope: Scope, *projected: ProjectedBelief) -> Steps[None]:
    """Store new beliefs with their spans, findable by their words while active."""
    beliefs = [one.belief for one in projected]
    spans = (held_span(scope, one.belief.id, span) for one in projected for span in one.spans)
    yield from write(
        *(Put(BELIEFS, scope, belief) for belief in beliefs),
        *(Put(SPANS, scope, span) for span in spans),
    )
    yield from file_words(scope, *beliefs)


def put_trusts(scope: Scope, rows: Iterable[TrustRow]) -> Steps[None]:
    """Store the trust in agents about topics, over what was stored of it before."""
    trusts = [Trust(tenant=scope.tenant, **row.model_dump()) for row in rows]
    found = yield from every(among(TRUSTS, scope, map(TRUSTS.key, trusts)))
    known = {TRUSTS.key(one): one for one in found}
    yield from write(*(over(known.get(TRUSTS.key(one)), TRUSTS, scope, one) for one in trusts))


def trusts_of(scope: Scope, asked: Iterable[Trusted]) -> Steps[TrustOf]:
    """Return the trust in agents about topics, in the form in which plans ask for it."""
    found = yield from every(among(TRUSTS, scope, (joined_id(*one) for one in asked)))
    trusts = {(row.agent_id, row.topic): row.trust for row in found}
    return lambda agent_id, topic: trusts.get((agent_id, topic), TRUST_AT_FIRST)


def commitment_of(belief: HistoricBelief) -> Commitment:
    """Return a belief without what became of it."""
    return bare(Commitment, belief)


def _current(scope: Scope, events: Sequence[PlannedEvent]) -> Steps[dict[str, _Standing]]:
    ids = tuple(dict.fromkeys(each.belief_id for each in events if each.belief_id))
    beliefs, spans = yield own(BELIEFS, scope, ids), open_spans(ids, scope)
    since = {span.belief_id: bare(BeliefSpan, span) for span in spans}
    return {belief.id: _Standing(belief, since.get(belief.id)) for belief in beliefs}


def _folded(before: _Standing) -> FoldedBelief:
    """Return a belief as the fold goes on from it: of its spans it needs the open one only."""
    belief = before.belief
    return FoldedBelief(
        belief.id,
        belief.committed_seq,
        status=belief.status,
        ended_seq=belief.ended_seq,
        superseded_by=belief.superseded_by,
        spans=[] if before.span is None else [before.span],
    )


def _projected(belief: Commitment, folded: FoldedBelief) -> ProjectedBelief:
    """Return a belief that has begun as it is stored."""
    # In the order of the fields, which is that of every --json.
    state = {"status": folded.status, "committed_seq": folded.committed_seq, **_state(folded)}
    historic = kept(HistoricBelief, belief, **state)
    return ProjectedBelief(belief=historic, spans=tuple(folded.spans))


def _alter(
    scope: Scope, altered: Sequence[FoldedBelief], before: Mapping[str, _Standing]
) -> Steps[None]:
    """Write what became of beliefs that were there already."""
    begun: list[HeldSpan] = []
    ended: list[HeldSpan] = []
    for folded in altered:
        was = before[folded.id].span
        for span in folded.spans:
            held = held_span(scope, folded.id, span)
            if was is None or span.since_seq != was.since_seq:
                begun.append(held)
            elif span.until_seq is not None:
                ended.append(held)
    beliefs = [before[one.id].belief.model_copy(update=_state(one)) for one in altered]
    yield from write(
        *(Replace(BELIEFS, scope, belief) for belief in beliefs),
        *(Replace(SPANS, scope, span) for span in ended),
        *(Put(SPANS, scope, span) for span in begun),
    )
    yield from file_again(scope, *beliefs, same_words=True)


def _state(folded: FoldedBelief) -> dict[str, object]:
    """Return what became of a belief, by the names of fields."""
    return {
        "pinned": folded.pinned,
        "status": folded.status,
        "ended_seq": folded.ended_seq,
        "superseded_by": folded.superseded_by,
    }


def _reindexing(events: Sequence[PlannedEvent], agents: Mapping[str, str]) -> list[WorkDraft]:
    """Return the work by which the warm index learns what is believed now, once per belief."""
    moved = (one.belief_id for one in events if one.kind in BEGINNING or one.kind in ENDING)
    return [index_work(one, agents[one]) for one in dict.fromkeys(moved)]

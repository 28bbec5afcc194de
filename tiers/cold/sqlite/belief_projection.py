"""Appending to a belief log and altering its projection, inside one transaction.

The projection is what ``tiers.history.fold`` makes of the log: the beliefs that a change touches
are folded on from how they stand, and what comes of it is written. So the judge of the projection
is also its author.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from pydantic import JsonValue

from ...errors import Conflict
from ...history.chain import canonical, next_event, stored_digest
from ...history.fold import BEGINNING, ENDING, Fold, FoldedBelief
from ...history.plan import Told
from ...history.spans import node_of
from ...records import (
    BeliefEvent,
    BeliefSpan,
    Commitment,
    HistoricBelief,
    LoggedBelief,
    Scope,
    TrustRow,
    WorkDraft,
)
from .belief_words import file_words, forget_words
from .database import Session, Value
from .queue import queue_work
from .rows import fields_of, insert_owned, record_of
from .scope import as_json, scoped
from .searchable import index_words, set_live

Salts = Callable[[], bytes]
"""Makes the salt of each event's content; must be unpredictable outside tests."""

NO_TOPIC_TRUSTED = ""
"""The ``topic`` under which trust about beliefs without one is stored; no topic is called that."""

_LAST_EVENT = "SELECT e.* FROM belief_events e WHERE $own(e) ORDER BY e.seq DESC LIMIT 1"
# From one writer to the next in the index, and there to the last turn: how much each has said is
# never counted.
_TURNS = (
    "WITH RECURSIVE writers (id) AS ("
    "SELECT MIN(t.agent_id) FROM turns t WHERE $own(t)"
    " UNION ALL SELECT (SELECT MIN(t.agent_id) FROM turns t WHERE $own(t) AND t.agent_id > w.id)"
    " FROM writers w WHERE w.id IS NOT NULL)"
    " SELECT SUM((SELECT MAX(t.seq) FROM turns t WHERE $own(t) AND t.agent_id = w.id)) AS stored"
    " FROM writers w WHERE w.id IS NOT NULL"
)
_IS_STORED = "SELECT 1 FROM turns t WHERE $own(t) AND t.id = :id"
_STANDING = (
    "SELECT b.id, b.agent_id, b.committed_seq, b.status, b.ended_seq, b.superseded_by,"
    " o.since_seq, o.pinned AS was_pinned FROM beliefs b LEFT JOIN belief_spans o"
    " ON o.tenant = b.tenant AND o.graph_id = b.graph_id AND o.belief_id = b.id"
    " AND o.until_seq IS NULL"
    " WHERE $own(b) AND b.id IN (SELECT value FROM json_each(:ids))"
)
_ALTER = (
    "UPDATE beliefs AS b SET status = :status, active = :active, ended_seq = :ended_seq,"
    " superseded_by = :superseded_by, pinned = :pinned WHERE $own(b) AND b.id = :id"
)
_CLOSE = (
    "UPDATE belief_spans AS o SET until_seq = :until_seq, node = :node"
    " WHERE $own(o) AND o.belief_id = :id AND o.since_seq = :since_seq"
)
_TRUST = (
    "INSERT INTO belief_trust (tenant, graph_id, agent_id, topic, trust)"
    " VALUES (:tenant, :graph_id, :trusted, :topic, :trust)"
    " ON CONFLICT (tenant, graph_id, agent_id, topic) DO UPDATE SET trust = :trust"
)
_ROW = (
    "SELECT b.*, s.topics FROM beliefs b JOIN topic_sets s ON s.id = b.topic_set"
    " WHERE $own(b) AND b.id = :id"
)
_NAMES = ("superseded_by", "rival_id", "because", "cause")
"""Where a content names a belief that its event is not about."""


class _Touched(NamedTuple):
    """A belief that a change touches, as it stands before: whose it is, and its open span."""

    agent_id: str
    open_since: int | None


def append(
    session: Session, scope: Scope, told: Sequence[Told], now: datetime, salts: Salts
) -> tuple[BeliefEvent, ...]:
    """Append events with their contents and let the projection follow; return the events.

    What follows of a ``redacted`` event is that its belief is over and out of every answer.
    Destroying what it said, in its row, in the word index and in the log, is the caller's part.

    Args:
        session: The caller's transaction.
        scope: Whose log; its agent is who makes it happen.
        told: What happens, in order; none is no error.
        now: When.
        salts: Where salts come from.

    Raises:
        Conflict: An event is impossible as things stand.
        sqlite3.IntegrityError: Two beliefs of one key would be active.
    """
    if not told:
        return ()
    fold, touched = _standing(session, scope, told)
    turn = _turn_of(session, scope, told)
    events: list[BeliefEvent] = []
    last = last_event(session, scope)
    for one in told:
        salt, content = salts(), canonical(one.content)
        last = next_event(
            last,
            scope,
            one.kind,
            one.belief_id,
            turn=turn,
            now=now,
            digest=stored_digest(salt, content),
        )
        entry = LoggedBelief(event=last, salt=salt.hex(), content=content.decode())
        problem = fold.apply(entry)
        if problem is not None:
            raise Conflict(f"belief {one.belief_id}", "a change that is possible", problem)
        insert_event(session, entry)
        events.append(last)
    begun = {one.belief_id: one.belief for one in told if one.belief is not None}
    _project(session, scope, fold, touched, begun)
    for (agent_id, topic), trust in fold.trust.items():
        row = TrustRow(graph_id=scope.graph_id, agent_id=agent_id, topic=topic, trust=trust)
        insert_trust(session, scope, row)
    agents = {one: touched[one].agent_id for one in touched}
    agents |= {belief.id: belief.agent_id for belief in begun.values()}
    queue_work(session, scope, _reindexing(told, agents), now)
    return tuple(events)


def last_event(session: Session, scope: Scope) -> BeliefEvent | None:
    """Return the last event of the scope's graph."""
    row = session.one(scoped(_LAST_EVENT, scope))
    return None if row is None else record_of(BeliefEvent, row)


def insert_event(session: Session, entry: LoggedBelief) -> None:
    """Store an event, its content if it has one, and which other beliefs the content names."""
    event = entry.event
    owner: dict[str, Value] = {"tenant": event.tenant, "graph_id": event.graph_id}
    session.insert("belief_events", fields_of(event))
    if entry.salt is None or entry.content is None:
        return
    session.insert(
        "belief_contents",
        owner | {"event_id": event.id, "salt": bytes.fromhex(entry.salt), "content": entry.content},
    )
    session.insert_all(
        "belief_mentions",
        [
            owner | {"belief_id": belief_id, "seq": event.seq}
            for belief_id in mentioned(event.belief_id, json.loads(entry.content))
        ],
    )


def mentioned(belief_id: str, content: Mapping[str, JsonValue]) -> list[str]:
    """Return the beliefs that a content names besides the one that its event is about."""
    named = [content.get(name) for name in _NAMES]
    others = (one for one in named if isinstance(one, str) and one not in ("", belief_id))
    return list(dict.fromkeys(others))


def insert_belief(
    session: Session, scope: Scope, belief: HistoricBelief, spans: Sequence[BeliefSpan]
) -> None:
    """Store a new row of the projection with its spans, findable by its words while active."""
    subject, attribute = belief.key or (None, None)
    insert_owned(
        session,
        "beliefs",
        belief,
        "key",
        key_subject=subject,
        key_attribute=attribute,
        active=int(belief.status == "active"),
    )
    session.insert_all(
        "belief_topics",
        [
            {
                "tenant": scope.tenant,
                "graph_id": scope.graph_id,
                "topic": topic,
                "committed_seq": belief.committed_seq,
            }
            for topic in dict.fromkeys((*belief.topics, belief.topic))
            if topic is not None
        ],
    )
    for span in spans:
        _insert_span(session, scope, belief.id, span)
    index_words(session, belief)
    if belief.status == "active":
        file_words(session, scope, belief)


def insert_trust(session: Session, scope: Scope, row: TrustRow) -> None:
    """Store the trust in an agent about a topic, over what was stored of it before."""
    topic = NO_TOPIC_TRUSTED if row.topic is None else row.topic
    session.run(scoped(_TRUST, scope, trusted=row.agent_id, topic=topic, trust=row.trust))


def belief_of(row: sqlite3.Row) -> Commitment:
    """Return the belief that a row of ``beliefs``, with its ``topics``, holds."""
    return record_of(Commitment, row, key=_key_of(row))


def historic_of(row: sqlite3.Row) -> HistoricBelief:
    """Return the same with what became of it."""
    return record_of(HistoricBelief, row, key=_key_of(row))


def _key_of(row: sqlite3.Row) -> tuple[str, str] | None:
    subject, attribute = row["key_subject"], row["key_attribute"]
    return None if subject is None else (subject, attribute)


def _standing(
    session: Session, scope: Scope, told: Sequence[Told]
) -> tuple[Fold, dict[str, _Touched]]:
    """Return the fold of the log as far as the change touches it, and where its spans are open."""
    fold, touched = Fold(), dict[str, _Touched]()
    ids = as_json(sorted({one.belief_id for one in told if one.belief_id}))
    for row in session.all(scoped(_STANDING, scope, ids=ids)):
        since = row["since_seq"]
        spans = (
            [] if since is None else [BeliefSpan(since_seq=since, pinned=bool(row["was_pinned"]))]
        )
        fold.beliefs[row["id"]] = FoldedBelief(
            row["id"],
            row["committed_seq"],
            status=row["status"],
            ended_seq=row["ended_seq"],
            superseded_by=row["superseded_by"],
            spans=spans,
        )
        touched[row["id"]] = _Touched(row["agent_id"], since)
    return fold, touched


def _turn_of(session: Session, scope: Scope, told: Sequence[Told]) -> int:
    """Return the turn that is under way in the graph, or the last."""
    turn = int(session.all(scoped(_TURNS, scope))[0]["stored"] or 0)
    for one in told:
        named = None if one.belief is None else one.belief.turn_id
        if one.kind == "committed" and named is not None:
            return turn + (session.one(scoped(_IS_STORED, scope, id=named)) is None)
    return turn


def _project(
    session: Session,
    scope: Scope,
    fold: Fold,
    touched: Mapping[str, _Touched],
    begun: Mapping[str, Commitment],
) -> None:
    """Write how the touched beliefs stand now.

    What is over goes first: a successor is committed before its rival is superseded, and no two
    rows of one key may be active.
    """
    for folded in sorted(fold.beliefs.values(), key=lambda one: one.is_active):
        if folded.id in begun:
            belief = _as_folded(begun[folded.id], folded)
            insert_belief(session, scope, belief, folded.spans)
        else:
            _alter(session, scope, folded, touched[folded.id])


def _as_folded(belief: Commitment, folded: FoldedBelief) -> HistoricBelief:
    fields = {name: getattr(belief, name) for name in Commitment.model_fields}
    return HistoricBelief.model_validate(
        {
            **fields,
            "pinned": folded.pinned,
            "status": folded.status,
            "committed_seq": folded.committed_seq,
            "ended_seq": folded.ended_seq,
            "superseded_by": folded.superseded_by,
        }
    )


def _alter(session: Session, scope: Scope, folded: FoldedBelief, before: _Touched) -> None:
    """Write what became of a belief that had its row already."""
    session.run(
        scoped(
            _ALTER,
            scope,
            id=folded.id,
            status=folded.status,
            active=int(folded.is_active),
            ended_seq=folded.ended_seq,
            superseded_by=folded.superseded_by,
            pinned=int(folded.pinned),
        )
    )
    set_live(session, scope, folded.id, live=folded.is_active)
    was_active = before.open_since is not None
    if was_active and not folded.is_active:
        forget_words(session, scope, folded.committed_seq)
    elif folded.is_active and not was_active:
        file_words(session, scope, historic_of(session.all(scoped(_ROW, scope, id=folded.id))[0]))
    for span in folded.spans:
        if span.since_seq != before.open_since:
            _insert_span(session, scope, folded.id, span)
        elif span.until_seq is not None:
            session.run(
                scoped(
                    _CLOSE,
                    scope,
                    id=folded.id,
                    since_seq=span.since_seq,
                    until_seq=span.until_seq,
                    node=node_of(span.since_seq, span.until_seq),
                )
            )


def _insert_span(session: Session, scope: Scope, belief_id: str, span: BeliefSpan) -> None:
    until = span.until_seq
    session.insert(
        "belief_spans",
        {
            "tenant": scope.tenant,
            "graph_id": scope.graph_id,
            "belief_id": belief_id,
            "since_seq": span.since_seq,
            "until_seq": until,
            "node": None if until is None else node_of(span.since_seq, until),
            "pinned": int(span.pinned),
        },
    )


def _reindexing(told: Sequence[Told], agents: Mapping[str, str]) -> list[WorkDraft]:
    """Return the work by which the warm index learns what is believed now, once per belief."""
    moved = (one.belief_id for one in told if one.kind in BEGINNING or one.kind in ENDING)
    return [
        WorkDraft(
            kind="index",
            key=belief_id,
            agent_id=agents[belief_id] or None,
            payload={"id": belief_id},
        )
        for belief_id in dict.fromkeys(moved)
    ]

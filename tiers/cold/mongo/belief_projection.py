"""What a belief log comes to, as documents: beliefs, when each was active, and whom it trusts.

The projection follows the log, and ``tiers.history.fold`` says how: the rows that events touch are
folded on from how they stand, and what comes of it is written. ``changed_seq`` of a row is the last
event that it follows from. It is written last and only ever raised, so that applying events twice,
or by two at once, comes to the same.

What a row says of its belief (``belief_document``) and what became of it (``_state``) are apart:
redaction blanks the one, the log decides the other.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from pydantic import ValidationError

from ...errors import CorruptRecord
from ...history.fold import BEGINNING, ENDING, Fold, FoldedBelief
from ...history.spans import node_of
from ...records import (
    BeliefEvent,
    BeliefSpan,
    Commitment,
    HistoricBelief,
    LoggedBelief,
    Scope,
    WorkDraft,
)
from ..ownership import private_to
from ..redaction import REDACTED
from .belief_words import word_fields
from .database import Collection, Session
from .documents import Document, document_of
from .pacing import side_by_side, worked_out
from .schema import Specification, by, validator
from .scope import own
from .terms import searchable_fields
from .translation import DuplicateKey
from .work_items import queue_work

_SEQ = {"bsonType": ["int", "long"], "minimum": 0}

COLLECTIONS: Mapping[str, Specification] = {
    "beliefs": (
        [
            by("id", unique=True),
            by("active_key", unique=True, only_with=("active_key",)),
            by("active", "committed_seq"),
            by("committed_seq"),
            by("changed_seq"),
            by("status", "committed_seq"),
            by("agent_id", "committed_seq"),
            by("user_id", "committed_seq"),
            by("all_topics", "committed_seq"),
            by("key_subject", "committed_seq", only_with=("key_subject",)),
            by("key_subject", "key_attribute", "committed_seq", only_with=("key_subject",)),
            by(
                *("key_subject", "key_attribute", "status", "committed_seq"),
                only_with=("key_subject",),
            ),
            by("superseded_by", only_with=("superseded_by",)),
            by("source_ids"),
            by("terms", "id"),
            by("filed_under", "claim_words", "active", "committed_seq"),
        ],
        validator(
            (
                *("id", "agent_id", "for_user", "topics", "private_to", "terms", "active"),
                *("status", "committed_seq", "since_seq", "changed_seq"),
            ),
            status={"enum": ["active", *ENDING.values()]},
            committed_seq=_SEQ,
            since_seq=_SEQ,
            changed_seq=_SEQ,
        ),
    ),
    "belief_spans": (
        [
            by("belief_id", "since_seq", unique=True),
            by("until_seq", "since_seq"),
            by("node", "since_seq", only_with=("node",)),
            by("node", "until_seq", only_with=("node",)),
        ],
        validator(
            ("belief_id", "since_seq", "pinned"),
            since_seq=_SEQ,
            pinned={"bsonType": "bool"},
        ),
    ),
    "belief_trust": (
        [by("agent_id", "topic", unique=True)],
        validator(
            ("agent_id", "trust", "changed_seq"),
            trust={"bsonType": ["double", "int", "long"], "minimum": 0, "maximum": 1},
            changed_seq=_SEQ,
        ),
    ),
}

ROWS_PER_QUESTION = 5_000
WORK_PER_STEP = 1_000
ATTEMPTS_MAX = 100

_STANDING = (
    *("id", "agent_id", "held_key", "committed_seq", "status", "ended_seq", "superseded_by"),
    *("pinned", "since_seq", "changed_seq"),
)

Trusted = tuple[str, str | None]
"""An agent and a topic."""


@dataclass
class Unfolding:
    """Events on their way into the projection.

    Attributes:
        before: The rows that they touch, as they stand; ``changed_seq`` is 0 where nobody knows.
        fold: What the events make of them.
        changed: Beliefs that have changed, each with the last event that changed it.
        begun: Beliefs that have no row yet.
        trusted: By which event trust in whom has changed last.
        moved: Beliefs that the warm index has to hear of.
        is_certain: Nobody can have applied any of these events: they have just been appended.
    """

    before: Mapping[str, Document]
    is_certain: bool = False
    fold: Fold = field(default_factory=Fold)
    changed: dict[str, int] = field(default_factory=dict)
    begun: dict[str, Commitment] = field(default_factory=dict)
    trusted: dict[Trusted, int] = field(default_factory=dict)
    moved: dict[str, None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for row in self.before.values():
            if row["changed_seq"]:
                self.fold.beliefs[row["id"]] = _folded(row)

    def take(self, entry: LoggedBelief, belief: Commitment | None = None) -> str | None:
        """Take in the next event; return what is impossible about it, or ``None``.

        Args:
            entry: The event with its content.
            belief: What it commits, where that is known.

        Raises:
            CorruptRecord: The content is there, and is no belief.
        """
        event = entry.event
        if event.kind in BEGINNING or event.kind in ENDING:
            self.moved[event.belief_id] = None
        row = self.before.get(event.belief_id)
        if row is not None and event.seq <= row["changed_seq"]:
            return None
        problem = self.fold.apply(entry)
        if problem is not None:
            return problem
        if event.kind in {"committed", "adopted"}:
            self.begun[event.belief_id] = belief or _committed(entry)
        if event.belief_id in self.fold.beliefs:
            self.changed[event.belief_id] = event.seq
        if event.kind == "trusted" and entry.content is not None:
            said = json.loads(entry.content)
            self.trusted[said["agent_id"], said["topic"]] = event.seq
        return None

    def open_since(self, belief_id: str) -> int | None:
        """Return where the span begins that was open before, if one was."""
        row = self.before.get(belief_id)
        if row is None or not row["changed_seq"] or row["status"] != "active":
            return None
        return int(row["since_seq"])

    def agent_of(self, belief_id: str) -> str:
        """Return whose belief it is; empty when nobody knows."""
        if belief_id in self.begun:
            return self.begun[belief_id].agent_id
        return str(self.before.get(belief_id, {}).get("agent_id", ""))


async def standing(session: Session, scope: Scope, ids: Iterable[str]) -> dict[str, Document]:
    """Return how the rows of some beliefs stand, by id."""
    wanted = sorted(set(ids) - {""})
    rows: dict[str, Document] = {}
    for start in range(0, len(wanted), ROWS_PER_QUESTION):
        page = wanted[start : start + ROWS_PER_QUESTION]
        found = await session.collection("beliefs").find(
            own(scope, id={"$in": page}), fields=_STANDING
        )
        rows |= {row["id"]: row for row in found}
    return rows


async def project(session: Session, scope: Scope, events: Unfolding, now: datetime) -> None:
    """Write what events have made of the projection, and queue the work that follows.

    Spans come before rows, because a row says that its spans are written. What ends comes before
    what begins, because one key never has two active beliefs.
    """

    async def beliefs() -> None:
        await _write_spans(session, scope, events)
        await _write_rows(session, scope, events, are_active=False)
        await _write_rows(session, scope, events, are_active=True)

    async def trust() -> None:
        await _write_trust(session, scope, events)

    async def work() -> None:
        drafts = [_reindexed(one, events.agent_of(one)) for one in events.moved]
        for start in range(0, len(drafts), WORK_PER_STEP):
            await queue_work(session, scope, drafts[start : start + WORK_PER_STEP], now)

    await side_by_side(session, beliefs, trust, work)


def belief_document(belief: Commitment) -> Document:
    """Return what a row says of its belief, whatever became of it."""
    document = document_of(belief, *_WHAT_BECAME, **searchable_fields(belief))
    return document | found_by(belief) | word_fields(belief)


def row_document(
    belief: Commitment, folded: FoldedBelief, changed_seq: int, *, since_seq: int = 0
) -> Document:
    """Return the row of a belief as events have left it.

    Args:
        belief: What it says.
        folded: What became of it.
        changed_seq: The last event that changed it.
        since_seq: When it was active last, where ``folded`` does not say.
    """
    document = belief_document(belief)
    state, _ = _state(folded, changed_seq, document.get("held_key"), since_seq)
    return document | {"committed_seq": folded.committed_seq} | state


def span_document(scope: Scope, belief_id: str, span: BeliefSpan) -> Document:
    """Return a span; a closed one is filed under its node."""
    filed = {} if span.until_seq is None else {"node": node_of(span.since_seq, span.until_seq)}
    return own(scope, belief_id=belief_id) | document_of(span) | filed


def key_of(belief: Commitment) -> str:
    """Return what only one active belief of a graph can stand for: key, topic, privacy and user.

    One that names no topic stands beside those that others, who need not see it, hold under other
    topics.
    """
    users = [] if belief.user_id is None else [belief.user_id]
    audience = [{"topics": belief.topics}] if belief.topic is None and belief.topics else []
    known = [belief.key, belief.topic, private_to(belief), *users, *audience]
    return json.dumps(known, ensure_ascii=False)


_WHAT_BECAME = tuple(HistoricBelief.model_fields.keys() - Commitment.model_fields.keys())


def found_by(belief: Commitment) -> Document:
    """Return the fields by which a belief is found: its topics of both kinds, and its key."""
    filed: Document = {"all_topics": sorted({belief.topic, *belief.topics} - {None})}
    if belief.key is None:
        return filed
    subject, attribute = belief.key
    key = {"key_subject": subject, "key_attribute": attribute, "held_key": key_of(belief)}
    return filed | key


def _folded(row: Document) -> FoldedBelief:
    """Return a row as the fold goes on from it: of its spans it needs the open one only."""
    is_active = row["status"] == "active"
    since = BeliefSpan(since_seq=row["since_seq"], pinned=row["pinned"]) if is_active else None
    return FoldedBelief(
        row["id"],
        row["committed_seq"],
        status=row["status"],
        ended_seq=row.get("ended_seq"),
        superseded_by=row.get("superseded_by"),
        spans=[] if since is None else [since],
    )


def _state(
    folded: FoldedBelief, changed_seq: int, held_key: str | None, since_seq: int
) -> tuple[Document, Document]:
    """Return the fields that say what became of a belief, and those that it must not have."""
    state = {
        "status": folded.status,
        "active": folded.is_active,
        "live": folded.is_active,
        "pinned": folded.pinned,
        "since_seq": folded.spans[-1].since_seq if folded.spans else since_seq,
        "changed_seq": changed_seq,
    }
    fading = {"ended_seq": folded.ended_seq, "superseded_by": folded.superseded_by}
    fading["active_key"] = held_key if folded.is_active else None
    there = {name: value for name, value in fading.items() if value is not None}
    return state | there, dict.fromkeys(fading.keys() - there.keys(), "")


async def _write_rows(
    session: Session, scope: Scope, events: Unfolding, *, are_active: bool
) -> None:
    """Write the rows that are active, or those that are not."""
    rows = session.collection("beliefs")
    new, changes = await worked_out(
        len(events.changed), lambda: _row_changes(scope, events, are_active=are_active)
    )
    known = await _insert_missing(session, rows, scope, new, ("id",), ask=not events.is_certain)
    here = {one["id"] for one in new} - {one["id"] for one in known}
    await rows.update_each([one for name, one in changes.items() if name not in here])


def _row_changes(
    scope: Scope, events: Unfolding, *, are_active: bool
) -> tuple[list[Document], dict[str, tuple[Document, Document]]]:
    """Return the rows that may be new, and for each belief the update that makes its row so."""
    new: list[Document] = []
    changes: dict[str, tuple[Document, Document]] = {}
    for belief_id, seq in events.changed.items():
        folded = events.fold.beliefs[belief_id]
        if folded.is_active != are_active:
            continue
        row = events.before.get(belief_id, {})
        if belief_id in events.begun:
            new.append(row_document(events.begun[belief_id], folded, seq))
            row = row or new[-1]
        state, gone = _state(folded, seq, row.get("held_key"), row["since_seq"])
        change: Document = {"$set": state} | ({"$unset": gone} if gone else {})
        changes[belief_id] = (own(scope, id=belief_id, changed_seq={"$lt": seq}), change)
    return new, changes


async def _write_spans(session: Session, scope: Scope, events: Unfolding) -> None:
    spans, names = session.collection("belief_spans"), ("belief_id", "since_seq")
    new, closed = await worked_out(len(events.changed), lambda: _span_changes(scope, events))
    await _insert_missing(session, spans, scope, new, names, ask=not events.is_certain)
    await spans.update_each(closed)


def _span_changes(
    scope: Scope, events: Unfolding
) -> tuple[list[Document], list[tuple[Document, Document]]]:
    """Return the spans that may be new, and the updates that close those that may be open."""
    new: list[Document] = []
    closed: list[tuple[Document, Document]] = []
    for belief_id in events.changed:
        was_open = events.open_since(belief_id)
        for span in events.fold.beliefs[belief_id].spans:
            document = span_document(scope, belief_id, span)
            if span.since_seq != was_open:
                new.append(document)
            is_known = span.since_seq == was_open or not events.is_certain
            if span.until_seq is not None and is_known:
                where = own(scope, belief_id=belief_id, since_seq=span.since_seq, until_seq=None)
                end = {name: document[name] for name in ("until_seq", "node")}
                closed.append((where, {"$set": end}))
    return new, closed


async def _write_trust(session: Session, scope: Scope, events: Unfolding) -> None:
    if not events.trusted:
        return
    rows = session.collection("belief_trust")
    new = [
        own(
            scope,
            agent_id=agent_id,
            topic=topic,
            trust=events.fold.trust_of(agent_id, topic),
            changed_seq=seq,
        )
        for (agent_id, topic), seq in events.trusted.items()
    ]
    known = await _insert_missing(session, rows, scope, new, ("agent_id", "topic"), ask=True)
    await rows.update_each([_raised(scope, one) for one in known])


def _raised(scope: Scope, trust: Document) -> tuple[Document, Document]:
    """Return the update by which a row of trust becomes this one, unless it is ahead already."""
    where = {name: trust[name] for name in ("agent_id", "topic")}
    where["changed_seq"] = {"$lt": trust["changed_seq"]}
    return own(scope, **where), {"$set": {name: trust[name] for name in ("trust", "changed_seq")}}


async def _insert_missing(
    session: Session,
    collection: Collection,
    scope: Scope,
    documents: Sequence[Document],
    names: Sequence[str],
    *,
    ask: bool,
) -> list[Document]:
    """Insert the documents that are not there; return those that are.

    Args:
        session: The step.
        collection: Where to.
        scope: Whose.
        documents: What.
        names: The fields by which a document is known.
        ask: Look first. A refusal would end a transaction, and costs no more elsewhere.

    Raises:
        DuplicateKey: One is not there, and does not fit to what is.
    """
    left = list(documents)
    known: list[Document] = []
    for _ in range(ATTEMPTS_MAX):
        if ask and left:
            found = await _found(collection, scope, left, names)
            known += [one for one in left if _name(one, names) in found]
            left = [one for one in left if _name(one, names) not in found]
        try:
            await collection.insert(left)
        except DuplicateKey:
            if session.is_atomic or (ask and not await _found(collection, scope, left, names)):
                raise
            ask = True  # somebody else brings the projection up to date as well
        else:
            break
    return known


async def _found(
    collection: Collection, scope: Scope, documents: Sequence[Document], names: Sequence[str]
) -> set[tuple[object, ...]]:
    """Return the names of those documents that are there."""
    found: set[tuple[object, ...]] = set()
    for start in range(0, len(documents), ROWS_PER_QUESTION):
        page = documents[start : start + ROWS_PER_QUESTION]
        among = {name: {"$in": list({one[name]: None for one in page})} for name in names}
        there = await collection.find(own(scope, **among), fields=names)
        found |= {_name(one, names) for one in there}
    return found


def _name(document: Document, names: Sequence[str]) -> tuple[object, ...]:
    return tuple(document.get(name) for name in names)


def _committed(entry: LoggedBelief) -> Commitment:
    """Return what an event committed; of what was destroyed since, that it is gone."""
    event = entry.event
    if entry.content is None:
        return _forgotten(event)
    try:
        return Commitment.model_validate_json(entry.content)
    except ValidationError as error:
        reason = "the content of a committed belief cannot be read back"
        raise CorruptRecord("cold", "read", reason) from error


def _forgotten(event: BeliefEvent) -> Commitment:
    return Commitment(
        id=event.belief_id,
        tenant=event.tenant,
        graph_id=event.graph_id,
        agent_id=event.agent_id,
        recorded_at=event.recorded_at,
        redacted_at=event.recorded_at,
        claim=REDACTED,
    )


def _reindexed(belief_id: str, agent_id: str) -> WorkDraft:
    """Return the work by which the warm index learns whether a belief is active."""
    payload = {"id": belief_id}
    return WorkDraft(kind="index", key=belief_id, agent_id=agent_id or None, payload=payload)

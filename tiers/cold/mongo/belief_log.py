"""The log of a graph's beliefs as documents, and bringing its projection up to date. No decisions.

One document of ``belief_log`` holds the events of one change, and its insertion is the change:
there is nothing before it and nothing can take it back. ``beliefs`` is what the log comes to. It
follows the log; ``belief_heads`` says how far it has come. Whoever finds it behind, because a
process died in between, brings it up to date before going on. Applying a change twice, or two at
it at once, comes to the same.

What an event says lies in ``belief_contents``, written before the event; without one it means
nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import JsonValue, ValidationError

from ...errors import CorruptRecord, TierTimeout
from ...records import BeliefEvent, Commitment, Scope
from ..chain import canonical, content_digest
from ..ownership import private_to
from .database import Session
from .documents import Document, document_of, record_of
from .schema import Index, by, validator
from .scope import own
from .terms import searchable_fields
from .together import together
from .translation import DuplicateKey

COLLECTIONS: Mapping[str, tuple[Sequence[Index], Mapping[str, Document] | None]] = {
    "belief_log": (
        [
            by("first_seq", unique=True),
            by("last_seq", unique=True),
            by("events.id", unique=True),
            by("commits", unique=True, only_with=("commits",)),
        ],
        validator(
            ("first_seq", "last_seq", "events"),
            first_seq={"bsonType": ["int", "long"], "minimum": 1},
            events={"bsonType": "array"},
        ),
    ),
    "belief_contents": (
        [by("event_id", "content_digest", unique=True)],
        validator(("event_id", "content_digest", "salt", "content")),
    ),
    "belief_heads": ([by(unique=True)], None),
    "beliefs": (
        [
            by("id", unique=True),
            by("active_key", unique=True, only_with=("active_key",)),
            by("active", "committed_seq"),
            by("ended_seq", only_with=("ended_seq",)),
            by("terms"),
        ],
        validator(
            (
                "id",
                "agent_id",
                "for_user",
                "topics",
                "private_to",
                "active",
                "committed_seq",
                "terms",
            )
        ),
    ),
}

CHANGES_PER_PAGE = 500
PAGES_MAX = 10_000


def change_document(scope: Scope, events: Sequence[BeliefEvent]) -> Document:
    """Return the document of one change; its events follow each other."""
    commits = [event.belief_id for event in events if event.kind == "committed"]
    return own(
        scope,
        first_seq=events[0].seq,
        last_seq=events[-1].seq,
        events=[document_of(event) for event in events],
    ) | ({"commits": commits} if commits else {})


def content_document(event: BeliefEvent, salt: bytes, content: Mapping[str, JsonValue]) -> Document:
    """Return what an event says, with the salt of its digest."""
    return {
        "tenant": event.tenant,
        "graph_id": event.graph_id,
        "event_id": event.id,
        "content_digest": content_digest(salt, content),
        "salt": salt,
        "content": canonical(content).decode(),
    }


def belief_document(belief: Commitment, committed_seq: int) -> Document:
    """Return an active belief as the projection holds it."""
    key = {} if belief.key is None else {"active_key": key_of(belief)}
    return document_of(
        belief,
        **searchable_fields(belief),
        **key,
        active=True,
        live=True,
        committed_seq=committed_seq,
    )


def key_of(belief: Commitment) -> str:
    """Return what only one active belief of a graph can stand for: key, topic, privacy and user.

    One that names no topic stands beside those that others, who need not see it, hold under other
    topics.
    """
    users = [] if belief.user_id is None else [belief.user_id]
    audience = [{"topics": belief.topics}] if belief.topic is None and belief.topics else []
    known = [belief.key, belief.topic, private_to(belief), *users, *audience]
    return json.dumps(known, ensure_ascii=False)


def events_of(changes: Sequence[Mapping[str, Any]]) -> list[BeliefEvent]:
    """Return the events of changes, in order."""
    return [record_of(BeliefEvent, event) for change in changes for event in change["events"]]


async def last_change(session: Session, scope: Scope) -> tuple[Document | None, int]:
    """Return the last document of the graph's log, and up to which ``seq`` the projection is."""
    log, heads = session.collection("belief_log"), session.collection("belief_heads")
    newest = [("last_seq", -1)]
    if session.is_atomic:  # the commands of a transaction go one by one
        last = await log.first(own(scope), sort=newest)
        head = await heads.first(own(scope))
    else:
        last, head = await together([log.first(own(scope), sort=newest), heads.first(own(scope))])
    return last, 0 if head is None else int(head["applied_seq"])


async def caught_up(session: Session, scope: Scope) -> Document | None:
    """Bring the projection up to the last document of the log, and return that document.

    Raises:
        TierTimeout: The log is longer than ``PAGES_MAX`` pages.
    """
    last, applied = await last_change(session, scope)
    for _ in range(PAGES_MAX):
        if last is None or applied >= last["last_seq"]:
            return last
        applied = await _apply_page(session, scope, applied)
    raise TierTimeout("cold", "beliefs", f"more than {PAGES_MAX} pages of events to apply")


async def _apply_page(session: Session, scope: Scope, after: int) -> int:
    """Bring the projection up to date by at most a page of changes; return how far it has come."""
    changes = await session.collection("belief_log").find(
        own(scope, last_seq={"$gt": after}), sort=[("last_seq", 1)], limit=CHANGES_PER_PAGE
    )
    committed = [event for event in events_of(changes) if event.kind == "committed"]
    beliefs = await _said(session, scope, committed)
    for change in changes:
        await _apply(session, scope, events_of([change]), beliefs)
    if not changes:
        return after
    reached = int(changes[-1]["last_seq"])
    await move_head(session, scope, reached)
    return reached


async def apply_change(
    session: Session, scope: Scope, events: Sequence[BeliefEvent], beliefs: Mapping[str, Commitment]
) -> None:
    """Bring the projection from just before a change to just after it.

    Args:
        session: The step.
        scope: Whose log.
        events: Of the change.
        beliefs: What its ``committed`` events committed, by the event's id.
    """
    await _apply(session, scope, events, beliefs)
    await move_head(session, scope, events[-1].seq)


async def move_head(session: Session, scope: Scope, reached: int) -> None:
    """Note that the projection has come as far as ``reached``, if not farther already."""
    heads = session.collection("belief_heads")
    change = {"$max": {"applied_seq": reached}}
    try:
        await heads.update(own(scope), change, upsert=True)
    except DuplicateKey:
        if session.is_atomic:  # it ended the transaction
            raise
        await heads.update(own(scope), change)


async def _apply(
    session: Session, scope: Scope, events: Sequence[BeliefEvent], beliefs: Mapping[str, Commitment]
) -> None:
    """What ends goes before what begins: one key never has two active beliefs."""
    projection = session.collection("beliefs")
    for event in events:
        where = own(scope, id=event.belief_id)
        if event.kind == "superseded":
            ended = {"active": False, "live": False, "ended_seq": event.seq}
            await projection.update(where, {"$set": ended, "$unset": {"active_key": ""}})
        elif event.kind == "pinned":
            await projection.update(where, {"$set": {"pinned": True}})
    for event in events:
        if event.kind == "committed":
            await _begin(session, scope, beliefs[event.id], event.seq)


async def _begin(session: Session, scope: Scope, belief: Commitment, seq: int) -> None:
    """Put a committed belief into the projection, unless it is or was there."""
    projection = session.collection("beliefs")
    where = own(scope, id=belief.id)
    if session.is_atomic and await projection.count(where):
        return  # asked first, because a refusal would end the transaction
    try:
        await projection.insert([belief_document(belief, seq)])
    except DuplicateKey:
        if session.is_atomic or not await projection.count(where):
            raise
        # Somebody else brings the projection up to date as well.


async def _said(
    session: Session, scope: Scope, committed: Sequence[BeliefEvent]
) -> dict[str, Commitment]:
    """Return what ``committed`` events committed, by the event's id.

    Raises:
        CorruptRecord: A content is not there, or is not what was committed.
    """
    if not committed:
        return {}
    documents = await session.collection("belief_contents").find(
        own(scope, event_id={"$in": [event.id for event in committed]})
    )
    contents = {(one["event_id"], one["content_digest"]): one["content"] for one in documents}
    try:
        return {
            event.id: Commitment.model_validate_json(contents[event.id, event.content_digest])
            for event in committed
        }
    except (KeyError, ValidationError) as error:
        reason = "the content of a committed belief cannot be read back"
        raise CorruptRecord("cold", "read", reason) from error

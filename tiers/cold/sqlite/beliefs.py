"""The belief log of a graph in SQLite, and its projection of active beliefs."""

# ruff: noqa: S608 - statements are made of constants only; values are always parameters

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from pydantic import JsonValue

from ...errors import NotFound
from ...records import BeliefEvent, Commitment, Scope
from ..chain import (
    SALT_BYTES,
    canonical,
    committed_content,
    content_digest,
    next_event,
    pinned_content,
    superseded_content,
)
from ..ownership import check_limit, check_owned, private_to
from ..topics import accepted_topics
from .database import Database, Session
from .graphs import check_writable
from .rows import fields_of, insert_owned, record_of, topic_set
from .scope import as_json, scoped
from .searchable import index_words, retire

Salts = Callable[[], bytes]

_SELECT = "SELECT b.*, s.topics FROM beliefs b JOIN topic_sets s ON s.id = b.topic_set WHERE "
_ACTIVE = _SELECT + "$visible(b) AND b.active = 1 AND b.redacted_at IS NULL"
_AMONG_ACTIVE = _ACTIVE + " AND b.id IN (SELECT value FROM json_each(:ids))"
_RIVAL = _SELECT + (
    "$own(b) AND b.active = 1 AND b.key_subject = :subject AND b.key_attribute = :attribute"
    " AND b.topic IS :topic AND b.private_to = :private_to AND b.user_id IS :believers_user"
    " AND (b.topic IS NOT NULL OR b.topic_set = :topic_set)"
)
_EVENTS = (
    "SELECT e.* FROM belief_events e WHERE $own(e) AND e.seq > :after ORDER BY e.seq LIMIT :limit"
)
_LAST_EVENT = "SELECT e.* FROM belief_events e WHERE $own(e) ORDER BY e.seq DESC LIMIT 1"


class SqliteBeliefStore:
    """A ``BeliefStore`` in SQLite.

    Args:
        database: Where the log is.
        salts: Makes the salt of each event's content; must be unpredictable outside tests.
    """

    def __init__(
        self, database: Database, salts: Salts = lambda: secrets.token_bytes(SALT_BYTES)
    ) -> None:
        self._database = database
        self._salts = salts

    async def commit(self, scope: Scope, belief: Commitment) -> Commitment | None:
        """Append ``committed`` and make the belief active, in one step.

        An active belief of the same key, topic, privacy and user is superseded in the same step,
        with its own event, and returned; ``None`` otherwise. A belief whose id is already in the
        log changes nothing and returns ``None``. One without topics is seen under its ``topic``.

        Raises:
            Conflict: The graph is archived.
        """
        check_owned(scope, belief)
        if not belief.topics and belief.topic is not None:
            topics = accepted_topics("topic", (belief.topic,))
            belief = belief.model_copy(update={"topics": topics})
        return await self._database.write(
            "commit", lambda session: _commit(session, scope, belief, self._salts)
        )

    async def pin(self, scope: Scope, belief_id: str, now: datetime) -> Commitment:
        """Mark an active visible belief as pinned, with its event. Idempotent.

        Raises:
            NotFound: No such active belief in the scope.
            Conflict: The graph is archived.
        """
        return await self._database.write(
            "pin", lambda session: _pin(session, scope, belief_id, now, self._salts)
        )

    async def active(self, scope: Scope) -> tuple[Commitment, ...]:
        """Return the visible active beliefs, from the index, in order of commitment."""
        query = scoped(_ACTIVE + " ORDER BY b.committed_seq", scope)
        return await self._database.read(
            "active", lambda session: tuple(_belief(row) for row in session.all(query))
        )

    async def events(
        self, scope: Scope, after: int = 0, limit: int = 1000
    ) -> tuple[BeliefEvent, ...]:
        """Return the log of the graph after a ``seq``, in order."""
        check_limit(limit)
        query = scoped(_EVENTS, scope, after=after, limit=limit)
        return await self._database.read(
            "events",
            lambda session: tuple(record_of(BeliefEvent, row) for row in session.all(query)),
        )


def read_active_beliefs(
    session: Session, scope: Scope, ids: Sequence[str]
) -> dict[str, Commitment]:
    """Return the visible active beliefs among ``ids``, by id."""
    query = scoped(_AMONG_ACTIVE, scope, ids=as_json(ids))
    return {row["id"]: _belief(row) for row in session.all(query)}


def _commit(session: Session, scope: Scope, belief: Commitment, salts: Salts) -> Commitment | None:
    known = "SELECT 1 FROM beliefs b WHERE $own(b) AND b.id = :id"
    if session.one(scoped(known, scope, id=belief.id)) is not None:
        return None
    check_writable(session, scope)
    rival = _rival(session, scope, belief)
    seq = _append(
        session, scope, belief, "committed", committed_content(belief), belief.recorded_at, salts
    )
    if rival is not None:
        _append(
            session,
            scope,
            rival,
            "superseded",
            superseded_content(belief),
            belief.recorded_at,
            salts,
        )
        _set(session, scope, rival.id, "UPDATE beliefs AS b SET active = 0")
        retire(session, scope, rival.id)
    subject, attribute = belief.key or (None, None)
    insert_owned(
        session,
        "beliefs",
        belief,
        "key",
        key_subject=subject,
        key_attribute=attribute,
        active=1,
        committed_seq=seq,
    )
    index_words(session, belief)
    return rival


def _pin(session: Session, scope: Scope, belief_id: str, now: datetime, salts: Salts) -> Commitment:
    found = read_active_beliefs(session, scope, [belief_id]).get(belief_id)
    if found is None:
        raise NotFound("active belief", belief_id)
    if found.pinned:
        return found
    check_writable(session, scope)
    _append(session, scope, found, "pinned", pinned_content(), now, salts)
    _set(session, scope, belief_id, "UPDATE beliefs AS b SET pinned = 1")
    return found.model_copy(update={"pinned": True})


def _rival(session: Session, scope: Scope, belief: Commitment) -> Commitment | None:
    """Return the active belief whose place this one takes, if any."""
    if belief.key is None:
        return None
    row = session.one(
        scoped(
            _RIVAL,
            scope,
            subject=belief.key[0],
            attribute=belief.key[1],
            topic=belief.topic,
            private_to=private_to(belief),
            topic_set=topic_set(session, belief.topics),
            believers_user=belief.user_id,
        )
    )
    return None if row is None else _belief(row)


def _append(
    session: Session,
    scope: Scope,
    belief: Commitment,
    kind: str,
    content: Mapping[str, JsonValue],
    now: datetime,
    salts: Salts,
) -> int:
    """Append one event and its content; return its ``seq``."""
    last = session.one(scoped(_LAST_EVENT, scope))
    salt = salts()
    event = next_event(
        None if last is None else record_of(BeliefEvent, last),
        belief,
        kind,
        agent_id=scope.agent_id or "",
        now=now,
        digest=content_digest(salt, content),
    )
    session.insert("belief_events", fields_of(event))
    session.insert(
        "belief_contents",
        {
            "tenant": event.tenant,
            "graph_id": event.graph_id,
            "event_id": event.id,
            "salt": salt,
            "content": canonical(content).decode(),
        },
    )
    return event.seq


def _set(session: Session, scope: Scope, belief_id: str, change: str) -> None:
    session.run(scoped(change + " WHERE $own(b) AND b.id = :id", scope, id=belief_id))


def _belief(row: sqlite3.Row) -> Commitment:
    subject, attribute = row["key_subject"], row["key_attribute"]
    return record_of(Commitment, row, key=None if subject is None else (subject, attribute))

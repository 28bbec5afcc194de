"""The belief log of a graph in MongoDB, and its projection of active beliefs.

A change is decided from the projection as it is after event N, and written as event N + 1 (and
N + 2) under a unique index: whoever decided from an older state is refused and decides again. So
racing writers, of one process or of many, make one chain, and no transaction is needed for that.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, TypeVar

from pydantic import JsonValue

from ...errors import NotFound, TierTimeout
from ...records import BeliefEvent, Commitment, Scope
from ..chain import (
    SALT_BYTES,
    committed_content,
    content_digest,
    next_event,
    pinned_content,
    superseded_content,
)
from ..ownership import check_limit, check_owned
from ..topics import accepted_topics
from .belief_log import (
    COLLECTIONS,
    apply_change,
    caught_up,
    change_document,
    content_document,
    events_of,
    key_of,
    last_change,
)
from .database import Database, Session
from .documents import Document, record_of
from .graphs import check_writable
from .scope import own, visible
from .translation import DuplicateKey
from .word_search import count_words

__all__ = ["COLLECTIONS", "MongoBeliefStore", "bring_up_to_date"]

ATTEMPTS_MAX = 100

Salts = Callable[[], bytes]
T = TypeVar("T")


class _Told(NamedTuple):
    """An event to be, before it has its place in the log."""

    kind: str
    belief: Commitment
    content: Mapping[str, JsonValue]
    now: datetime


class MongoBeliefStore:
    """A ``BeliefStore`` in MongoDB.

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
            TierTimeout: Others were first again and again.
        """
        check_owned(scope, belief)
        if not belief.topics and belief.topic is not None:
            topics = accepted_topics("topic", (belief.topic,))
            belief = belief.model_copy(update={"topics": topics})

        async def change(
            session: Session, last: BeliefEvent | None
        ) -> tuple[Commitment | None, bool]:
            is_known, rival = await _known_or_rival(session, scope, belief)
            if is_known:
                return None, False
            await check_writable(session, scope)
            told = [_Told("committed", belief, committed_content(belief), belief.recorded_at)]
            if rival is not None:
                content = superseded_content(belief)
                told.append(_Told("superseded", rival, content, belief.recorded_at))
            await self._append(session, scope, last, told)
            return rival, True

        async def counted(session: Session, done: tuple[Commitment | None, bool]) -> None:
            if done[1]:
                await count_words(session, belief)

        rival, _ = await self._decided("commit", scope, change, counted)
        return rival

    async def pin(self, scope: Scope, belief_id: str, now: datetime) -> Commitment:
        """Mark an active visible belief as pinned, with its event. Idempotent.

        Raises:
            NotFound: No such active belief in the scope.
            Conflict: The graph is archived.
            TierTimeout: Others were first again and again.
        """

        async def change(session: Session, last: BeliefEvent | None) -> Commitment:
            where = visible(scope, id=belief_id, active=True, redacted_at=None)
            found = await session.collection("beliefs").first(where)
            if found is None:
                raise NotFound("active belief", belief_id)
            belief = record_of(Commitment, found)
            if belief.pinned:
                return belief
            await check_writable(session, scope)
            told = _Told("pinned", belief, pinned_content(), now)
            await self._append(session, scope, last, [told])
            return belief.model_copy(update={"pinned": True})

        return await self._decided("pin", scope, change)

    async def active(self, scope: Scope) -> tuple[Commitment, ...]:
        """Return the visible active beliefs, from the index, in order of commitment.

        As they were after one event of the log, the last there was when this was asked or a
        later one: a change that others are making is seen whole or not at all.
        """
        reached = await bring_up_to_date(self._database, scope, "active")
        then = visible(scope, committed_seq={"$lte": reached}, redacted_at=None)

        async def question(session: Session) -> tuple[Commitment, ...]:
            # In this order: what ends between the two questions is in one of the answers.
            beliefs = session.collection("beliefs")
            found = await beliefs.find(then | {"active": True}, sort=[("committed_seq", 1)])
            ended = await beliefs.find(then | {"ended_seq": {"$gt": reached}})
            by_id = {document["id"]: document for document in (*ended, *found)}
            in_turn = sorted(by_id.values(), key=lambda document: document["committed_seq"])
            return tuple(record_of(Commitment, document) for document in in_turn)

        return await self._database.read("active", question)

    async def events(
        self, scope: Scope, after: int = 0, limit: int = 1000
    ) -> tuple[BeliefEvent, ...]:
        """Return the log of the graph after a ``seq``, in order."""
        check_limit(limit)

        async def question(session: Session) -> tuple[BeliefEvent, ...]:
            changes = await session.collection("belief_log").find(
                own(scope, last_seq={"$gt": after}), sort=[("last_seq", 1)], limit=limit
            )
            later = [event for event in events_of(changes) if event.seq > after]
            return tuple(later[:limit])

        return await self._database.read("events", question)

    async def _decided(
        self,
        operation: str,
        scope: Scope,
        change: Callable[[Session, BeliefEvent | None], Awaitable[T]],
        counted: Callable[[Session, T], Awaitable[None]] | None = None,
    ) -> T:
        """Run ``change`` on an up-to-date projection until nobody else was first."""

        async def attempt(session: Session) -> T:
            last = await caught_up(session, scope)
            return await change(session, None if last is None else events_of([last])[-1])

        alone = ("beliefs", scope.tenant, scope.graph_id)
        for _ in range(ATTEMPTS_MAX):
            try:
                return await self._database.step(operation, attempt, alone=alone, counted=counted)
            except DuplicateKey:
                continue
        raise TierTimeout("cold", operation, f"others were first {ATTEMPTS_MAX} times")

    async def _append(
        self, session: Session, scope: Scope, last: BeliefEvent | None, told: Sequence[_Told]
    ) -> None:
        """Write the contents, then the events in one document, then what they come to."""
        events: list[BeliefEvent] = []
        contents: list[Document] = []
        for one in told:
            salt = self._salts()
            last = next_event(
                last,
                one.belief,
                one.kind,
                agent_id=scope.agent_id or "",
                now=one.now,
                digest=content_digest(salt, one.content),
            )
            events.append(last)
            contents.append(content_document(last, salt, one.content))
        await session.collection("belief_contents").insert(contents)
        try:
            await session.collection("belief_log").insert([change_document(scope, events)])
        except DuplicateKey:
            if not session.is_atomic:
                await _forget(session, scope, contents)
            raise
        beliefs = {
            event.id: one.belief
            for event, one in zip(events, told, strict=True)
            if event.kind == "committed"
        }
        await apply_change(session, scope, events, beliefs)


async def bring_up_to_date(database: Database, scope: Scope, operation: str) -> int:
    """See to it that the projection is not behind the log; return the ``seq`` it has come to."""
    last, applied = await database.read(operation, lambda session: last_change(session, scope))
    if last is None or applied >= last["last_seq"]:
        return applied
    for _ in range(ATTEMPTS_MAX):
        try:
            await database.step(operation, lambda session: caught_up(session, scope))
            return int(last["last_seq"])
        except DuplicateKey:
            continue
    raise TierTimeout("cold", operation, f"others were first {ATTEMPTS_MAX} times")


async def _known_or_rival(
    session: Session, scope: Scope, belief: Commitment
) -> tuple[bool, Commitment | None]:
    """Return whether a belief is in the log, and the active one whose place it takes, if any."""
    wanted: list[Document] = [{"id": belief.id}]
    if belief.key is not None:
        wanted.append({"active_key": key_of(belief)})
    found = await session.collection("beliefs").find(own(scope, **{"$or": wanted}))
    rivals = [record_of(Commitment, one) for one in found if one["id"] != belief.id]
    return len(rivals) < len(found), rivals[0] if rivals else None


async def _forget(session: Session, scope: Scope, contents: Sequence[Document]) -> None:
    """Remove contents whose events were refused; left behind they would mean nothing."""
    for one in contents:
        where = {name: one[name] for name in ("event_id", "content_digest")}
        await session.collection("belief_contents").delete(own(scope, **where))

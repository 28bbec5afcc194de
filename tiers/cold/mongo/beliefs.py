"""Changing what is believed, in MongoDB: each change is a step on the log of its graph.

A change is decided from the projection as it is after event N, and written as event N + 1 and what
follows under a unique index: whoever decided from an older state is refused and decides again. So
racing writers, of one process or of many, make one chain, and no transaction is needed for that.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import TypeVar

from ...errors import UsageError
from ...records import BranchPoint, Changed, Commitment, Committed, Scope, Settlement
from ..ownership import check_owned, check_placed
from ..topics import accepted_topics
from .belief_changes import CHANGED_MAX, Change
from .belief_commits import Commits, Request
from .belief_log import (
    ATTEMPTS_MAX,
    Salts,
    apply_page,
    caught_up,
    first_again,
    fresh_salt,
    last_change,
)
from .belief_projection import key_of
from .belief_spans import spans_of
from .database import Database, Session
from .documents import Document, record_of
from .scope import visible
from .translation import DuplicateKey
from .word_counts import count_words

T = TypeVar("T")


class MongoBeliefStore:
    """A ``BeliefStore`` in MongoDB.

    Args:
        database: Where the log is.
        salts: Makes the salt of each event's content; must be unpredictable outside tests.
    """

    def __init__(self, database: Database, salts: Salts = fresh_salt) -> None:
        self._database = database
        self._salts = salts
        self._commits = Commits(database, salts)

    async def commit(
        self, scope: Scope, belief: Commitment, settled: Sequence[Settlement] = ()
    ) -> Committed:
        """Append ``committed`` and make the belief active, with its rivals settled.

        A belief without topics is seen under its ``topic``.

        Raises:
            Conflict: The graph is archived, or two beliefs of one key would stay active.
            TierTimeout: Others were first again and again.
        """
        check_owned(scope, belief)
        return await self._commits.commit(Request(scope, _filed(belief), settled))

    async def pin(self, scope: Scope, belief_id: str, now: datetime) -> Commitment:
        """Mark an active visible belief as pinned, with its event. Idempotent.

        Raises:
            NotFound: No such active belief in the scope.
            Conflict: The graph is archived.
            TierTimeout: Others were first again and again.
        """
        return await self._decided(
            "pin", scope, lambda change: change.pin(belief_id, now, pinned=True)
        )

    async def unpin(self, scope: Scope, belief_id: str, now: datetime) -> Commitment:
        """Take the mark away, with its event. Idempotent.

        Raises:
            NotFound: No such active belief in the scope.
            Conflict: The graph is archived.
            TierTimeout: Others were first again and again.
        """
        return await self._decided(
            "unpin", scope, lambda change: change.pin(belief_id, now, pinned=False)
        )

    async def revert(self, scope: Scope, belief_id: str, reason: str, now: datetime) -> Changed:
        """Take an active visible belief back; what it superseded is active again.

        Raises:
            NotFound: No such active belief in the scope.
            Conflict: The graph is archived.
            TierTimeout: Others were first again and again.
        """
        return await self._decided(
            "revert", scope, lambda change: change.revert(belief_id, reason, now)
        )

    async def rewind(self, scope: Scope, to_seq: int, reason: str, now: datetime) -> Changed:
        """Let exactly those beliefs of the graph be active that were right after an event.

        Raises:
            UsageError: There is no such event, it stands in the middle of a change, when two
                beliefs of one key were active, or more than ``CHANGED_MAX`` beliefs would change.
            Conflict: The graph is archived.
            TierTimeout: Others were first again and again.
        """
        return await self._decided(
            "rewind", scope, lambda change: change.rewind(to_seq, reason, now)
        )

    async def set_trust(
        self,
        scope: Scope,
        agent_id: str,
        topic: str | None,
        trust: float,
        reason: str,
        now: datetime,
    ) -> float:
        """Set the trust in an agent about a topic, with its event; return what it was.

        Raises:
            UsageError: The trust is not from 0 to 1, or the agent or the topic has no name.
            Conflict: The graph is archived.
            TierTimeout: Others were first again and again.
        """
        if not 0.0 <= trust <= 1.0:
            raise UsageError("trust", trust, "0 to 1")
        if not agent_id:
            raise UsageError("agent_id", agent_id, "the id of an agent")
        _check_topic(topic)
        return await self._decided(
            "set_trust",
            scope,
            lambda change: change.set_trust(agent_id, topic, trust, reason, now),
        )

    async def adopt(
        self, scope: Scope, point: BranchPoint, beliefs: Sequence[Commitment], now: datetime
    ) -> bool:
        """Begin the graph's log as a branch: ``branched``, then each belief ``adopted``.

        Raises:
            Conflict: The log has begun otherwise, or the graph is archived.
            UsageError: There are more than ``CHANGED_MAX`` beliefs, one is another graph's or
                has no ``origin_id``, or two are of one id or key.
            TierTimeout: Others were first again and again.
        """
        filed = [_filed(belief) for belief in beliefs]
        _check_adopted(scope, filed)

        async def counted(session: Session, is_new: bool) -> None:  # noqa: FBT001 - the answer
            if is_new:
                await count_words(session, *filed)

        return await self._decided(
            "adopt", scope, lambda change: change.adopt(point, filed, now), counted
        )

    async def active(self, scope: Scope) -> tuple[Commitment, ...]:
        """Return the visible active beliefs, from the index, in order of commitment.

        As they were after one event of the log, the last there was when this was asked or a
        later one: a change that others are making is seen whole or not at all.
        """
        reached = await bring_up_to_date(self._database, scope, "active")

        async def question(session: Session) -> tuple[Commitment, ...]:
            beliefs, now = session.collection("beliefs"), visible(scope, redacted_at=None)
            # Asked for after the active ones: what has changed meanwhile is among the changed.
            found = await beliefs.find(now | {"active": True}, sort=[("committed_seq", 1)])
            changed = await beliefs.find(now | {"changed_seq": {"$gt": reached}})
            return await _as_of(session, scope, found, changed, reached)

        return await self._database.read("active", question)

    async def _decided(
        self,
        operation: str,
        scope: Scope,
        decide: Callable[[Change], Awaitable[T]],
        counted: Callable[[Session, T], Awaitable[None]] | None = None,
    ) -> T:
        """Carry out a change on an up-to-date projection, again until nobody else was first."""

        async def attempt(session: Session) -> T:
            last = await caught_up(session, scope)
            return await decide(Change(session, scope, last, self._salts))

        alone = ("beliefs", scope.tenant, scope.graph_id)
        for _ in range(ATTEMPTS_MAX):
            try:
                return await self._database.step(operation, attempt, alone=alone, counted=counted)
            except DuplicateKey:
                continue
        raise first_again(operation)


async def bring_up_to_date(database: Database, scope: Scope, operation: str) -> int:
    """See to it that the projection is not behind the log; return the ``seq`` it has come to.

    A page of events is a step: however far behind it is, what was done stays done.

    Raises:
        TierTimeout: Others were first again and again.
    """
    last, applied = await database.read(operation, lambda session: last_change(session, scope))
    alone = ("beliefs", scope.tenant, scope.graph_id)

    async def page(session: Session) -> int:
        last, applied = await last_change(session, scope)
        is_behind = last is not None and applied < last.seq
        return await apply_page(session, scope, applied) if is_behind else applied

    attempts = 0
    while last is not None and applied < last.seq:
        try:
            applied = await database.step(operation, page, alone=alone)
        except DuplicateKey:
            attempts += 1
            if attempts == ATTEMPTS_MAX:
                raise first_again(operation) from None
    return applied


async def _as_of(
    session: Session,
    scope: Scope,
    found: Sequence[Document],
    changed: Sequence[Document],
    reached: int,
) -> tuple[Commitment, ...]:
    """Return the beliefs that were active after an event which others have left behind by now.

    Args:
        session: To ask with.
        scope: Whose graph.
        found: Rows that were active when they were looked at.
        changed: Rows that have changed since the event, looked at after that.
        reached: The event.
    """
    rows = {row["id"]: row for row in (*found, *changed)}
    late = [row["id"] for row in rows.values() if row["changed_seq"] > reached]
    spans = await spans_of(session, scope, late) if late else {}
    beliefs: list[tuple[int, Commitment]] = []
    for row in rows.values():
        belief = record_of(Commitment, row)
        if row["id"] in spans:
            held = [one for one in spans[row["id"]] if one.holds_at(reached)]
            if not held:
                continue
            belief = belief.model_copy(update={"pinned": held[0].span.pinned})
        beliefs.append((row["committed_seq"], belief))
    return tuple(belief for _, belief in sorted(beliefs, key=lambda one: one[0]))


def _filed(belief: Commitment) -> Commitment:
    """Return a belief with the topics that it is seen under."""
    _check_topic(belief.topic)
    if belief.topics or belief.topic is None:
        return belief
    return belief.model_copy(update={"topics": accepted_topics("topic", (belief.topic,))})


def _check_topic(topic: str | None) -> None:
    if topic == "":
        raise UsageError("topic", topic, "a topic that is not empty, or None")


def _check_adopted(scope: Scope, beliefs: Sequence[Commitment]) -> None:
    """Refuse beliefs that a branch cannot begin with.

    Raises:
        UsageError: It cannot.
    """
    if len(beliefs) > CHANGED_MAX:
        raise UsageError("beliefs", len(beliefs), f"at most {CHANGED_MAX:,}")
    for belief in beliefs:
        check_placed(scope, belief)
        if belief.origin_id is None:
            raise UsageError("origin_id", belief.id, "the id in the graph that was branched")
    ids = [one.id for one in beliefs]
    keys = [key_of(one) for one in beliefs if one.key is not None]
    if len(set(ids)) < len(ids) or len(set(keys)) < len(keys):
        raise UsageError("beliefs", len(beliefs), "beliefs with ids and keys of their own")

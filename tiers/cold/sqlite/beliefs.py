"""Changing what is believed, in SQLite.

Each change is one transaction: it looks up what its plan needs, and writes the events that the plan
names with what follows from them. One writer at a time, so changes of a graph follow each other.
"""

# ruff: noqa: S608 - statements are made of constants only; values are always parameters

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TypeVar

from ...beliefs import TRUST_AT_FIRST
from ...errors import Conflict, NotFound, UsageError
from ...history.chain import SALT_BYTES, canonical
from ...history.plan import (
    Told,
    adopt_plan,
    check_settled,
    commit_plan,
    pin_plan,
    revert_plan,
    rewind_plan,
    trust_plan,
)
from ...history.sight import check_known, check_seen, sees
from ...records import BranchPoint, Changed, Commitment, Committed, Rival, Scope, Settlement
from ..ownership import check_owned, check_placed, private_to
from ..topics import accepted_topics
from .belief_projection import (
    NO_TOPIC_TRUSTED,
    Salts,
    append,
    belief_of,
    historic_of,
    last_event,
)
from .belief_spans import active_at
from .database import Database, Session
from .graphs import check_writable
from .scope import as_json, scoped

T = TypeVar("T")

CHANGED_MAX = 10_000
"""How many beliefs a rewind may change, and how many a branch may begin with."""

_SELECT = "SELECT b.*, s.topics FROM beliefs b JOIN topic_sets s ON s.id = b.topic_set WHERE "
_ACTIVE = _SELECT + "$visible(b) AND b.active = 1 AND b.redacted_at IS NULL"
_AMONG = " AND b.id IN (SELECT value FROM json_each(:ids))"
_AMONG_ACTIVE = _ACTIVE + _AMONG
_CHANGEABLE = _SELECT + "$audited(b) AND b.active = 1 AND b.redacted_at IS NULL AND b.id = :id"
_ACTIVE_OF_GRAPH = _SELECT + "$own(b) AND b.active = 1" + _AMONG
_IN_ORDER = " ORDER BY b.committed_seq"
_KNOWN = _SELECT + "$own(b) AND b.id = :id"
# Named as the unique index of keys names it: among all that ever had the key, only that one knows
# which is active.
_RIVAL = _SELECT + (
    "$own(b) AND b.active = 1 AND b.key_subject = :subject AND b.key_attribute = :attribute"
    " AND (b.topic IS NULL) = :untopiced AND COALESCE(b.topic, '') = :filed_under"
    " AND b.private_to = :private_to AND COALESCE(b.user_id, '') = :believers_user"
    " AND CASE WHEN b.topic IS NULL THEN b.topic_set ELSE 0 END ="
    " CASE WHEN :untopiced THEN"
    " (SELECT t.id FROM topic_sets t WHERE t.topics = :rivals_topics) ELSE 0 END"
)
# The plus keeps the order out of the choice of index, by which the whole log would be read.
_REPLACED = _SELECT + "$own(b) AND b.superseded_by = :id ORDER BY +b.committed_seq"
_OPEN = (
    "SELECT o.belief_id, o.pinned FROM belief_spans o"
    " WHERE $own(o) AND o.until_seq IS NULL AND o.since_seq > 0"
)
_KEPT = _SELECT + (
    f"$own(b) AND b.redacted_at IS NULL{_AMONG} ORDER BY +b.committed_seq LIMIT :limit"
)
_TRUST = (
    "SELECT t.trust FROM belief_trust t"
    " WHERE $own(t) AND t.agent_id = :trusted AND t.topic = :about"
)
_FIRST = (
    "SELECT e.kind, c.content FROM belief_events e LEFT JOIN belief_contents c"
    " ON c.tenant = e.tenant AND c.graph_id = e.graph_id AND c.event_id = e.id"
    " WHERE $own(e) AND e.seq = 1"
)


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

    async def commit(
        self, scope: Scope, belief: Commitment, settled: Sequence[Settlement] = ()
    ) -> Committed:
        """Append ``committed`` and make the belief active, with its rivals settled.

        A belief without topics is seen under its ``topic``.

        Raises:
            Conflict: The graph is archived, or two beliefs of one key would stay active.
        """
        check_owned(scope, belief)
        belief = _filed(belief)
        return await self._written("commit", scope, lambda one: one.commit(belief, settled))

    async def pin(self, scope: Scope, belief_id: str, now: datetime) -> Commitment:
        """Mark an active visible belief as pinned, with its event. Idempotent.

        Raises:
            NotFound: No such active belief in the scope.
            Conflict: The graph is archived.
        """
        return await self._written("pin", scope, lambda one: one.pin(belief_id, now, pinned=True))

    async def unpin(self, scope: Scope, belief_id: str, now: datetime) -> Commitment:
        """Take the mark away, with its event. Idempotent.

        Raises:
            NotFound: No such active belief in the scope.
            Conflict: The graph is archived.
        """
        return await self._written(
            "unpin", scope, lambda one: one.pin(belief_id, now, pinned=False)
        )

    async def revert(self, scope: Scope, belief_id: str, reason: str, now: datetime) -> Changed:
        """Take an active visible belief back; what it superseded is active again.

        Raises:
            NotFound: No such active belief in the scope.
            Conflict: The graph is archived.
        """
        return await self._written("revert", scope, lambda one: one.revert(belief_id, reason, now))

    async def rewind(self, scope: Scope, to_seq: int, reason: str, now: datetime) -> Changed:
        """Let exactly those beliefs of the graph be active that were right after an event.

        Raises:
            UsageError: There is no such event, it stands in the middle of a change, when two
                beliefs of one key were active, or more than ``CHANGED_MAX`` beliefs would change.
            Conflict: The graph is archived.
        """
        return await self._written(
            "rewind", scope, lambda one: one.rewind(to_seq, reason, now), is_brief=False
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
        """
        if not 0.0 <= trust <= 1.0:
            raise UsageError("trust", trust, "0 to 1")
        if not agent_id:
            raise UsageError("agent_id", agent_id, "the id of an agent")
        _check_topic(topic)
        return await self._written(
            "set_trust", scope, lambda one: one.set_trust(agent_id, topic, trust, reason, now)
        )

    async def adopt(
        self, scope: Scope, point: BranchPoint, beliefs: Sequence[Commitment], now: datetime
    ) -> bool:
        """Begin the graph's log as a branch: ``branched``, then each belief ``adopted``.

        Raises:
            Conflict: The log has begun otherwise, or the graph is archived.
            UsageError: There are more than ``CHANGED_MAX`` beliefs, one is another graph's or
                has no ``origin_id``, or two are of one key.
        """
        if len(beliefs) > CHANGED_MAX:
            raise UsageError("beliefs", len(beliefs), f"at most {CHANGED_MAX:,}")
        for belief in beliefs:
            check_placed(scope, belief)
            if belief.origin_id is None:
                raise UsageError("origin_id", belief.id, "the id in the graph that was branched")
        filed = [_filed(belief) for belief in beliefs]
        return await self._written(
            "adopt", scope, lambda one: one.adopt(point, filed, now), is_brief=False
        )

    async def active(self, scope: Scope) -> tuple[Commitment, ...]:
        """Return the visible active beliefs, from the index, in order of commitment."""
        query = scoped(_ACTIVE + _IN_ORDER, scope)
        return await self._database.read(
            "active", lambda session: tuple(belief_of(row) for row in session.all(query))
        )

    async def _written(
        self,
        operation: str,
        scope: Scope,
        change: Callable[[_Change], T],
        *,
        is_brief: bool = True,
    ) -> T:
        return await self._database.write(
            operation,
            lambda session: change(_Change(session, scope, self._salts)),
            is_brief=is_brief,
        )


def read_active_beliefs(
    session: Session, scope: Scope, ids: Sequence[str]
) -> dict[str, Commitment]:
    """Return the visible active beliefs among ``ids``, by id."""
    query = scoped(_AMONG_ACTIVE, scope, ids=as_json(ids))
    return {row["id"]: belief_of(row) for row in session.all(query)}


class _Change:
    """One change of what a graph believes, inside a transaction."""

    def __init__(self, session: Session, scope: Scope, salts: Salts) -> None:
        self._session = session
        self._scope = scope
        self._salts = salts

    def commit(self, belief: Commitment, settled: Sequence[Settlement]) -> Committed:
        known = self._session.one(scoped(_KNOWN, self._scope, id=belief.id))
        if known is not None:
            is_active = bool(known["active"])
            found = belief_of(known)
            check_known(self._scope, found)
            return Committed(belief=found, is_new=False, active=is_active)
        check_writable(self._session, self._scope)
        trust = self._trust(belief.agent_id, belief.topic)
        belief = belief.model_copy(update={"trust": trust, "pinned": False, "redacted_at": None})
        active = self._active_among([one.rival_id for one in settled])
        named = {name: one for name, one in active.items() if sees(self._scope, one)}
        if any(one.rival_id not in named for one in settled):
            return Committed(belief=belief, is_new=False, active=False, is_stale=True)
        rival = self._rival(belief)
        if rival is not None and rival.id not in named:
            check_seen(self._scope, belief, rival)
            unsettled = Rival(belief=rival, trust=self._trust(rival.agent_id, rival.topic))
            return Committed(belief=belief, is_new=False, active=False, unsettled=(unsettled,))
        check_settled(belief, settled, lambda one: rival is not None and one == rival.id)
        pairs = [(one, named[one.rival_id]) for one in settled]
        told = commit_plan(belief, pairs, self._trust)
        self._append(told, belief.recorded_at)
        gone = {one.belief_id for one in told if one.kind == "superseded"}
        return Committed(
            belief=belief,
            is_new=True,
            active=belief.id not in gone,
            superseded=tuple(one for one in named.values() if one.id in gone),
        )

    def pin(self, belief_id: str, now: datetime, *, pinned: bool) -> Commitment:
        belief = self._visible(belief_id)
        self._changed(pin_plan(belief, pinned=pinned), now)
        return belief.model_copy(update={"pinned": pinned})

    def revert(self, belief_id: str, reason: str, now: datetime) -> Changed:
        belief = self._visible(belief_id)
        rows = self._session.all(scoped(_REPLACED, self._scope, id=belief_id))
        replaced = [historic_of(row) for row in rows]
        rivals = [self._rival(one) for one in replaced]
        taken = [_key_of(one) for one in rivals if one is not None and one.id != belief_id]
        return self._changed(
            revert_plan(belief, replaced, taken, _key_of, reason, self._trust), now
        )

    def rewind(self, to_seq: int, reason: str, now: datetime) -> Changed:
        last = last_event(self._session, self._scope)
        last_seq = 0 if last is None else last.seq
        if not 0 <= to_seq <= last_seq:
            raise UsageError("to_seq", to_seq, f"0 to {last_seq}, the last event")
        rows = self._session.all(scoped(_OPEN, self._scope))
        is_pinned = {row["belief_id"]: bool(row["pinned"]) for row in rows}
        was_pinned = active_at(self._session, self._scope, to_seq, last_seq)
        # What stays as it is need not be read: cost follows what changes.
        changed = dict(is_pinned.items() ^ was_pinned.items())
        query = scoped(_KEPT, self._scope, ids=as_json(list(changed)), limit=CHANGED_MAX + 1)
        found = [belief_of(row) for row in self._session.all(query)]
        if len(found) > CHANGED_MAX:
            accepted = f"an event since which at most {CHANGED_MAX:,} beliefs have changed"
            raise UsageError("to_seq", to_seq, accepted)
        told = rewind_plan(
            to_seq, _as_pinned(found, is_pinned), _as_pinned(found, was_pinned), reason
        )
        try:
            return self._changed(told, now)
        except sqlite3.IntegrityError as clash:
            accepted = "the last event of a change"
            raise UsageError("to_seq", to_seq, accepted) from clash

    def set_trust(
        self, agent_id: str, topic: str | None, trust: float, reason: str, now: datetime
    ) -> float:
        before = self._trust(agent_id, topic)
        self._changed(trust_plan(agent_id, topic, trust, reason, self._trust), now)
        return before

    def adopt(self, point: BranchPoint, beliefs: Sequence[Commitment], now: datetime) -> bool:
        told = adopt_plan(point, beliefs)
        first = self._session.one(scoped(_FIRST, self._scope))
        if first is not None:
            if first["content"] == canonical(told[0].content).decode():
                return False
            raise Conflict("belief log", "one that has not begun", f"{first['kind']!r} in it")
        try:
            self._changed(told, now)
        except sqlite3.IntegrityError as clash:
            accepted = "beliefs with ids and keys of their own"
            raise UsageError("beliefs", len(beliefs), accepted) from clash
        return True

    def _changed(self, told: Sequence[Told], now: datetime) -> Changed:
        """Carry out a plan, if it has anything in it, and return what ended and what is back."""
        if told:
            check_writable(self._session, self._scope)
            self._append(told, now)
        return Changed(
            ended=tuple(one.belief_id for one in told if one.kind == "reverted"),
            restored=tuple(one.belief_id for one in told if one.kind == "restored"),
        )

    def _append(self, told: Sequence[Told], now: datetime) -> None:
        append(self._session, self._scope, told, now, self._salts)

    def _visible(self, belief_id: str) -> Commitment:
        found = self._session.one(scoped(_CHANGEABLE, self._scope, id=belief_id))
        if found is None:
            raise NotFound("active belief", belief_id)
        return belief_of(found)

    def _active_among(self, ids: Sequence[str]) -> dict[str, Commitment]:
        """Return the active beliefs of the graph among ids, in the order asked."""
        query = scoped(_ACTIVE_OF_GRAPH, self._scope, ids=as_json(ids))
        found = {row["id"]: belief_of(row) for row in self._session.all(query)}
        return {one: found[one] for one in ids if one in found}

    def _rival(self, belief: Commitment) -> Commitment | None:
        """Return the active belief of the same key, if any: there is at most one."""
        if belief.key is None:
            return None
        query = scoped(
            _RIVAL,
            self._scope,
            subject=belief.key[0],
            attribute=belief.key[1],
            untopiced=int(belief.topic is None),
            filed_under=belief.topic or "",
            private_to=private_to(belief),
            believers_user=belief.user_id or "",
            rivals_topics=as_json(sorted(belief.topics)),
        )
        row = self._session.one(query)
        return None if row is None else belief_of(row)

    def _trust(self, agent_id: str, topic: str | None) -> float:
        about = NO_TOPIC_TRUSTED if topic is None else topic
        row = self._session.one(scoped(_TRUST, self._scope, trusted=agent_id, about=about))
        return TRUST_AT_FIRST if row is None else float(row["trust"])


def _filed(belief: Commitment) -> Commitment:
    """Return a belief with the topics that it is seen under."""
    _check_topic(belief.topic)
    if belief.topics or belief.topic is None:
        return belief
    return belief.model_copy(update={"topics": accepted_topics("topic", (belief.topic,))})


def _check_topic(topic: str | None) -> None:
    if topic == NO_TOPIC_TRUSTED:
        raise UsageError("topic", topic, "a topic that is not empty, or None")


def _key_of(belief: Commitment) -> object:
    """Return what only one active belief may stand for; ``None`` without a key."""
    if belief.key is None:
        return None
    topics = belief.topics if belief.topic is None else ()
    return belief.key, belief.topic, private_to(belief), belief.user_id, topics


def _as_pinned(found: Sequence[Commitment], pinned: Mapping[str, bool]) -> list[Commitment]:
    """Return the beliefs among those that are listed, pinned as the list says."""
    return [one.model_copy(update={"pinned": pinned[one.id]}) for one in found if one.id in pinned]

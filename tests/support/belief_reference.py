"""Belief history in memory: what both ports say in words, and a picture taken after every event.

What is active is kept by hand, event by event, and pictures are taken of it while it is so. It
looks nothing up in spans, so that it shares no mistake with the engines that do.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from tiers.beliefs import (
    TRUST_AT_FIRST,
    BeliefEvent,
    BeliefQuery,
    BeliefSpan,
    BranchPoint,
    Changed,
    Commitment,
    Committed,
    HistoricBelief,
    LoggedBelief,
    ProjectedBelief,
    Rival,
    Settlement,
    TrustRow,
)
from tiers.errors import Conflict, NotFound, UsageError
from tiers.history.chain import canonical, next_event, stored_digest
from tiers.history.differences import left_digest
from tiers.history.plan import (
    SPEAKING_KINDS,
    PlannedEvent,
    adopt_plan,
    check_settled,
    commit_plan,
    made_in,
    pin_plan,
    redact_plan,
    revert_plan,
    rewind_plan,
    trust_plan,
)
from tiers.records import ALL_TOPICS, Scope

from .belief_replay import plain, successors

REDACTED = "[redacted]"
CHANGED_MAX = 10_000
SALT = bytes(16)


class Picture(NamedTuple):
    """What was believed right after an event, in order of commitment; taken at that moment."""

    recorded_at: datetime | None
    turn: int
    active: tuple[Commitment, ...]


class ReferenceBeliefs:
    """A ``BeliefStore`` and ``BeliefHistory`` of one graph, with what a ``Redactor`` does to it.

    Attributes:
        pictures: By ``seq``; at 0 nothing is believed.
        ends: The ``seq`` of the last event of each change, 0 first.
        archived: Whether the graph is.
    """

    def __init__(self) -> None:
        self.pictures = [Picture(None, 0, ())]
        self.ends = [0]
        self.archived = False
        self._log: list[LoggedBelief] = []
        self._known: dict[str, HistoricBelief] = {}
        self._spans: dict[str, list[BeliefSpan]] = {}
        self._trust: dict[tuple[str, str | None], float] = {}
        self._turn_ids: set[str] = set()

    @property
    def known(self) -> Mapping[str, HistoricBelief]:
        """Every belief of the log, active or not, by id."""
        return self._known

    # Changes.

    async def commit(
        self, scope: Scope, belief: Commitment, settled: Sequence[Settlement] = ()
    ) -> Committed:
        """Append ``committed`` and make the belief active, with its rivals settled."""
        known = self._known.get(belief.id)
        if known is not None:
            if not audited(scope, known):
                raise Conflict("belief", "an id of its own", "one that is taken")
            is_active = known.status == "active"
            return Committed(belief=plain(known), is_new=False, active=is_active)
        self._check_writable()
        belief = self._as_stored(belief)
        named = {one.rival_id for one in settled}
        held = list(self._active())
        active = {one.id: one for one in held if audited(scope, one)}
        rivals = [one for one in held if belief.key and _key(one) == _key(belief)]
        unsettled = tuple(
            Rival(belief=one, trust=self._trust_of(one.agent_id, one.topic))
            for one in rivals
            if one.id not in named
        )
        if unsettled or not named <= set(active):
            is_stale = not named <= set(active)
            if not is_stale and any(one.id not in active for one in rivals):
                raise Conflict("belief", "a rival by key that the scope sees", "another")
            return Committed(
                belief=belief,
                is_new=False,
                active=False,
                unsettled=() if is_stale else unsettled,
                is_stale=is_stale,
            )
        check_settled(belief, settled, lambda one: _key(active[one]) == _key(belief))
        told = commit_plan(belief, [(one, active[one.rival_id]) for one in settled], self._trust_of)
        self._write(scope, told, belief.recorded_at, self._turn(belief))
        gone = {one.belief_id for one in told if one.kind == "superseded"} - {belief.id}
        return Committed(
            belief=belief,
            is_new=True,
            active=self._known[belief.id].status == "active",
            superseded=tuple(active[one.rival_id] for one in settled if one.rival_id in gone),
        )

    async def pin(self, scope: Scope, belief_id: str, now: datetime) -> Commitment:
        """Mark an active visible belief as pinned, with its event."""
        return self._set_pinned(scope, belief_id, now, pinned=True)

    async def unpin(self, scope: Scope, belief_id: str, now: datetime) -> Commitment:
        """Take the mark away, with its event."""
        return self._set_pinned(scope, belief_id, now, pinned=False)

    async def revert(self, scope: Scope, belief_id: str, reason: str, now: datetime) -> Changed:
        """Take an active visible belief back; what it superseded is active again."""
        belief = self._visible(scope, belief_id)
        self._check_writable()
        replaced = self._given_way(belief_id)
        others = {_key(one) for one in self._active() if one.id != belief_id}
        told = revert_plan(belief, replaced, others - {None}, _key, reason, self._trust_of)
        return self._changed(scope, told, now)

    async def rewind(self, scope: Scope, to_seq: int, reason: str, now: datetime) -> Changed:
        """Let exactly those beliefs be active that were right after an event."""
        if not 0 <= to_seq <= len(self._log):
            raise UsageError("to_seq", to_seq, f"0 to {len(self._log)}")
        then = await self.as_of(scope.for_graph(), to_seq)
        over = successors(self._log[:to_seq], self._known.values())
        told = rewind_plan(to_seq, self._active(), then, over, reason)
        if told:
            self._check_writable()
        return self._changed(scope, told, now)

    async def set_trust(
        self,
        scope: Scope,
        agent_id: str,
        topic: str | None,
        trust: float,
        reason: str,
        now: datetime,
    ) -> float:
        """Set the trust in an agent about a topic, with its event; return what it was."""
        before = self._trust_of(agent_id, topic)
        told = trust_plan(agent_id, topic, trust, reason, self._trust_of)
        if told:
            self._check_writable()
        self._write(scope, told, now)
        return before

    async def adopt(
        self, scope: Scope, point: BranchPoint, beliefs: Sequence[Commitment], now: datetime
    ) -> bool:
        """Begin the graph's log as a branch."""
        if len(beliefs) > CHANGED_MAX:
            raise UsageError("beliefs", len(beliefs), f"at most {CHANGED_MAX}")
        if self._log:
            first = self._log[0]
            if first.event.kind == "branched" and _said(first) == point.model_dump(mode="json"):
                return False
            raise Conflict("belief log", "one that has not begun", first.event.kind)
        self._check_writable()
        self._write(scope, adopt_plan(point, beliefs), now)
        return True

    def _redacting(self, belief_id: str, reason: str, now: datetime) -> list[PlannedEvent]:
        gone = {"claim": "[redacted]", "key": None, "value": None, "redacted_at": now}
        left = self._known[belief_id].model_copy(update=gone)
        fields = {name: getattr(left, name) for name in Commitment.model_fields}
        rival_in = [
            one.event.id
            for one in self._log
            if one.event.kind == "contradicted" and (_said(one) or {}).get("rival_id") == belief_id
        ]
        left_over = left_digest(Commitment.model_validate(fields))
        return redact_plan(belief_id, reason, left_over, rival_in)

    def redact(self, scope: Scope, belief_ids: Iterable[str], reason: str, now: datetime) -> None:
        """Do what a ``Redactor`` does to beliefs: content and salts go, an event comes."""
        asked = [one for one in belief_ids if self._known[one].redacted_at is None]
        told = [event for one in asked for event in self._redacting(one, reason, now)]
        self._write(scope, told, now)
        for belief_id in asked:
            blank = {"claim": REDACTED, "key": None, "value": None, "redacted_at": now}
            self._known[belief_id] = self._known[belief_id].model_copy(update=blank)
            self._log = [
                one.model_copy(update={"salt": None, "content": None})
                if _speaks_of(one, belief_id)
                else one
                for one in self._log
            ]

    def turn_was_stored(self, turn_id: str) -> None:
        """Count a turn of the graph."""
        self._turn_ids.add(turn_id)

    async def active(self, scope: Scope) -> tuple[Commitment, ...]:
        """Return the visible active beliefs in order of commitment."""
        return tuple(one for one in self._active() if visible(scope, one))

    # The past.

    async def events(
        self, scope: Scope, after: int = 0, limit: int = 1000, *, turn_id: str | None = None
    ) -> tuple[BeliefEvent, ...]:
        """Return the log after a ``seq``; hashes and digests are not those of any engine."""
        if turn_id is None:
            return tuple(one.event for one in await self.logged(scope, after, limit))
        events = (one.event for one in self._log[after:])
        return tuple(one for one in events if one.turn_id == turn_id)[:limit]

    async def logged(
        self,
        scope: Scope,  # noqa: ARG002 - there is one graph
        after: int = 0,
        limit: int = 1000,
    ) -> tuple[LoggedBelief, ...]:
        """Return the same with contents; every salt is made of zeros."""
        return tuple(self._log[after : after + limit])

    async def naming(
        self,
        scope: Scope,  # noqa: ARG002 - there is one graph
        belief_id: str,
        after: int = 0,
        limit: int = 1000,
    ) -> tuple[LoggedBelief, ...]:
        """Return the events that are about a belief, or whose content names it, in order."""
        found = [one for one in self._log[after:] if names(one, belief_id)]
        return tuple(found[:limit])

    async def seq_at(
        self,
        scope: Scope,  # noqa: ARG002 - there is one graph
        *,
        time: datetime | None = None,
        turn: int | None = None,
    ) -> int:
        """Return the last event recorded at or before a time, or during or before a turn."""
        found = [
            one.event.seq
            for one in self._log
            if (time is None or one.event.recorded_at <= time)
            and (turn is None or one.event.turn <= turn)
        ]
        return max(found, default=0)

    async def as_of(self, scope: Scope, seq: int) -> tuple[Commitment, ...]:
        """Return what the picture of an event shows; redacted ones blanked."""
        picture = self.pictures[min(seq, len(self._log))]
        shown = (self._blanked(one) for one in picture.active)
        return tuple(one for one in shown if audited(scope, one))

    async def query(self, scope: Scope, query: BeliefQuery) -> tuple[HistoricBelief, ...]:
        """Return beliefs in order of commitment, at most ``query.limit``."""
        known = sorted(self._known.values(), key=lambda one: one.committed_seq)
        asked = [one for one in known if audited(scope, one) and self._is_asked(query, one)]
        return tuple(asked[: query.limit])

    async def projected(
        self,
        scope: Scope,  # noqa: ARG002 - there is one graph
        after: int = 0,
        limit: int = 1000,
    ) -> tuple[ProjectedBelief, ...]:
        """Return every belief with the spans in which it was active."""
        known = sorted(self._known.values(), key=lambda one: one.committed_seq)
        rows = [
            ProjectedBelief(belief=one, spans=tuple(self._spans[one.id]))
            for one in known
            if one.committed_seq > after
        ]
        return tuple(rows[:limit])

    async def trusts(self, scope: Scope) -> tuple[TrustRow, ...]:
        """Return the trust in every agent of which the log says something, sorted."""
        return tuple(
            TrustRow(graph_id=scope.graph_id, agent_id=agent_id, topic=topic, trust=trust)
            for (agent_id, topic), trust in sorted(
                self._trust.items(), key=lambda row: (row[0][0], row[0][1] or "")
            )
        )

    # How it is done.

    def _changed(self, scope: Scope, told: Sequence[PlannedEvent], now: datetime) -> Changed:
        before = [one.id for one in self._active()]
        self._write(scope, told, now)
        after = [one.id for one in self._active()]
        touched = dict.fromkeys(one.belief_id for one in told)
        return Changed(
            ended=tuple(one for one in touched if one in before and one not in after),
            restored=tuple(one for one in touched if one in after and one not in before),
        )

    def _given_way(self, belief_id: str) -> list[HistoricBelief]:
        """Return what a belief had taken the place of, past what is gone, the nearest first."""
        moves = (one for one in self._log if one.event.kind == "superseded" and one.said)
        links = {one.event.belief_id: (one.said or {})["superseded_by"] for one in moves}
        found: list[HistoricBelief] = []
        ahead = {belief_id}
        while ahead:
            new = [one for one in self._known.values() if links.get(one.id) in ahead]
            ahead = {one.id for one in new if one.status in {"reverted", "redacted"}}
            found += [one for one in new if one.id not in ahead]
        return [one.model_copy(update={"pinned": self._was_pinned(one.id)}) for one in found]

    def _was_pinned(self, belief_id: str) -> bool:
        """Return whether a belief was pinned in the last span that lasted for an event."""
        spans = [one for one in self._spans[belief_id] if one.until_seq != one.since_seq]
        return bool(spans) and spans[-1].pinned

    def _set_pinned(
        self, scope: Scope, belief_id: str, now: datetime, *, pinned: bool
    ) -> Commitment:
        belief = self._visible(scope, belief_id)
        told = pin_plan(belief, pinned=pinned)
        if told:
            self._check_writable()
        self._write(scope, told, now)
        return self._visible(scope, belief_id)

    def _visible(self, scope: Scope, belief_id: str) -> Commitment:
        for one in self._active():
            if one.id == belief_id and audited(scope, one):
                return one
        raise NotFound("active belief", belief_id)

    def _check_writable(self) -> None:
        if self.archived:
            raise Conflict("session graph", "not archived", "archived")

    def _as_stored(self, belief: Commitment) -> Commitment:
        topics = belief.topics or ((belief.topic,) if belief.topic else ())
        trust = self._trust_of(belief.agent_id, belief.topic)
        return belief.model_copy(update={"topics": topics, "trust": trust, "pinned": False})

    def _trust_of(self, agent_id: str, topic: str | None) -> float:
        return self._trust.get((agent_id, topic), TRUST_AT_FIRST)

    def _turn(self, belief: Commitment) -> int:
        under_way = belief.turn_id is not None and belief.turn_id not in self._turn_ids
        return len(self._turn_ids) + under_way

    def _active(self) -> list[Commitment]:
        active = [one for one in self._known.values() if one.status == "active"]
        return [plain(one) for one in sorted(active, key=lambda one: one.committed_seq)]

    def _blanked(self, belief: Commitment) -> Commitment:
        now = self._known[belief.id]
        if now.redacted_at is None:
            return belief
        return plain(now).model_copy(update={"pinned": belief.pinned})

    def _is_asked(self, query: BeliefQuery, one: HistoricBelief) -> bool:
        key, at = one.key or ("", ""), query.active_at
        return (
            (not query.ids or one.id in query.ids)
            and (query.topic is None or query.topic in (one.topic, *one.topics))
            and query.agent_id in (None, one.agent_id)
            and query.user_id in (None, one.user_id)
            and (query.subject is None or (one.key is not None and query.subject == key[0]))
            and query.key in (None, one.key)
            and (not query.statuses or one.status in query.statuses)
            and (query.since_seq is None or query.since_seq <= one.committed_seq)
            and (query.until_seq is None or one.committed_seq < query.until_seq)
            and (at is None or one.id in {then.id for then in self.pictures[at].active})
            and query.after < one.committed_seq
        )

    def _write(
        self, scope: Scope, told: Sequence[PlannedEvent], now: datetime, turn: int | None = None
    ) -> None:
        turn = len(self._turn_ids) if turn is None else turn
        for one in told:
            previous = self._log[-1].event if self._log else None
            event = next_event(
                previous,
                scope,
                one.kind,
                one.belief_id,
                turn=turn,
                now=now,
                digest=stored_digest(SALT, canonical(one.content)),
                turn_id=made_in(scope, told),
            )
            content = canonical(one.content).decode()
            self._log.append(LoggedBelief(event=event, salt=SALT.hex(), content=content))
            self._apply(event.seq, one)
            shot = Picture(event.recorded_at, event.turn, tuple(self._active()))
            self.pictures.append(shot)
        if told:
            self.ends.append(len(self._log))

    def _apply(self, seq: int, told: PlannedEvent) -> None:
        """Do to the belief what an event says."""
        one = told.belief_id
        if told.kind == "trusted":
            said = told.content
            self._trust[said["agent_id"], said["topic"]] = said["after"]  # type: ignore[index, assignment]
        if told.belief is not None:
            began = told.belief.model_copy(update={"pinned": False})
            fields = began.model_dump() | {"committed_seq": seq}
            self._known[one] = HistoricBelief.model_validate(fields)
            self._spans[one] = [BeliefSpan(since_seq=seq)]
        elif told.kind == "restored":
            self._become(one, status="active", ended_seq=None, superseded_by=None)
            self._spans[one].append(BeliefSpan(since_seq=seq))
        elif told.kind in {"pinned", "unpinned"}:
            self._end_span(one, seq)
            pinned = told.kind == "pinned"
            self._become(one, pinned=pinned)
            self._spans[one].append(BeliefSpan(since_seq=seq, pinned=pinned))
        elif told.kind in {"superseded", "reverted", "redacted"}:
            if self._known[one].status == "active":
                self._end_span(one, seq)
                self._become(one, ended_seq=seq, pinned=False)
            self._become(one, status=told.kind)
            if told.kind == "superseded":
                self._become(one, superseded_by=told.content["superseded_by"])

    def _become(self, belief_id: str, **fields: object) -> None:
        self._known[belief_id] = self._known[belief_id].model_copy(update=fields)

    def _end_span(self, belief_id: str, seq: int) -> None:
        spans = self._spans[belief_id]
        spans[-1] = spans[-1].model_copy(update={"until_seq": seq})


def visible(scope: Scope, belief: Commitment) -> bool:
    """Whether the asking agent sees a belief."""
    topics = set(belief.topics)
    denied = topics if ALL_TOPICS in scope.denied else topics & set(scope.denied)
    held = ALL_TOPICS in scope.topics or not topics or topics & set(scope.topics)
    return bool(
        (belief.tenant, belief.graph_id) == (scope.tenant, scope.graph_id)
        and held
        and not denied
        and (scope.every_user or belief.user_id in (None, scope.user_id))
        and (not belief.private or belief.agent_id == scope.agent_id)
    )


def audited(scope: Scope, belief: Commitment) -> bool:
    """Whether history tells it: everything of the graph when no agent asks."""
    whole = scope.agent_id is None and scope.every_user
    own = (belief.tenant, belief.graph_id) == (scope.tenant, scope.graph_id)
    return own if whole else visible(scope, belief)


def names(entry: LoggedBelief, belief_id: str) -> bool:
    """Whether an event is about a belief, or its content names it in one of the plans' places."""
    said = _said(entry) or {}
    places = ("rival_id", "superseded_by", "because", "cause")
    return entry.event.belief_id == belief_id or belief_id in {said.get(one) for one in places}


def unhashed(entry: LoggedBelief) -> tuple[BeliefEvent, bool, Mapping[str, object] | None]:
    """Return what an entry says, without what follows from its salt; and whether it has one."""
    blank = {"hash": "", "previous_hash": "", "content_digest": ""}
    return entry.event.model_copy(update=blank), entry.salt is None, _said(entry)


def _said(entry: LoggedBelief) -> dict[str, object] | None:
    return None if entry.content is None else json.loads(entry.content)


def _speaks_of(entry: LoggedBelief, belief_id: str) -> bool:
    if entry.event.belief_id == belief_id:
        return entry.event.kind in SPEAKING_KINDS
    said = _said(entry) or {}
    return entry.event.kind == "contradicted" and said.get("rival_id") == belief_id


def _key(belief: Commitment) -> object:
    """Return what only one active belief may stand for; ``None`` without a key."""
    if belief.key is None:
        return None
    private_to = belief.agent_id if belief.private else ""
    topics = belief.topics if belief.topic is None else None
    return belief.key, belief.topic, private_to, belief.user_id, topics

"""Changing what is believed in a graph.

Each change is one transaction: it looks up what its plan needs, and writes the events that the plan
names with what follows from them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from ...beliefs import BranchPoint, Changed, Commitment, Committed, HistoricBelief, Settlement
from ...errors import Conflict, NotFound, UsageError, check_at_most, check_within
from ...history import plan
from ...history.chain import canonical
from ...history.visibility import check_known, check_seen, sees
from ...records import Rival, Scope
from ..conditions import Absent, Among, Is
from ..ownership import accepted_topics, check_owned, check_placed, in_order
from ..port import Find, Steps, every, one
from .belief_log import entries_at, last_seq
from .belief_past import CHANGED_MAX, changed_since, given_way
from .belief_projection import (
    BELIEFS,
    append,
    commitment_of,
    is_lost,
    key_of,
    trusts_of,
    turn_by_id,
)
from .graphs import check_writable
from .questions import among, audited, own, whole
from .rows import together
from .store_base import OverEngine, changing, changing_long


class BeliefStore(OverEngine):
    """The belief log of a graph and its projection of active beliefs.

    Every change appends events to the log, in which ``seq`` counts without gaps, and alters the
    projection, in one step. Changes of one graph follow each other, whoever makes them: of two
    that meet, the later is decided anew from what the earlier has left. In an archived graph
    each of them is refused with ``Conflict``.

    The scope of a whole graph (no agent) reaches every belief of it, private ones included, and so
    does what it changes; an agent's scope reaches what the agent sees.

    A belief that becomes active, ends, or is active again has its ``index`` work queued with it.
    """

    @changing
    def commit(
        self, scope: Scope, belief: Commitment, settled: Sequence[Settlement] = ()
    ) -> Steps[Committed]:
        """Append ``committed`` and make the belief active, with its rivals settled.

        A rival by key is an active belief of the same key, topic, privacy and user (and of the
        same topics, when it names no topic). When ``settled`` does not name it, or names a belief
        that is active no longer, nothing is written and the answer says so. ``trust`` is filled in
        with the present trust in the belief's agent, and ``turn`` of the events is the number of
        turns of the graph, or one more while ``turn_id`` is not stored yet.

        A belief whose id is in the log already changes nothing. ``active`` means nothing when
        nothing was written.

        Raises:
            Conflict: A settlement lets two beliefs of one key stay active, or the scope does not
                see the rival by key, or the belief that has the id already. In ``settled``, what
                it does not see counts as ended.
            UsageError: A settlement names a belief of another user, or one that is private to
                somebody else: users never take each other's beliefs away.
        """
        check_owned(scope, belief)
        return _commit(scope, _filed(belief), settled)

    @changing
    def pin(self, scope: Scope, belief_id: str, now: datetime) -> Steps[Commitment]:
        """Mark an active visible belief as pinned, with its event. Idempotent.

        Raises:
            NotFound: No such active belief in the scope.
            Conflict: The graph is archived.
        """
        return self._pinned(scope, belief_id, now, pinned=True)

    @changing
    def unpin(self, scope: Scope, belief_id: str, now: datetime) -> Steps[Commitment]:
        """Take the mark away, with its event. Idempotent.

        Raises:
            NotFound: No such active belief in the scope.
            Conflict: The graph is archived.
        """
        return self._pinned(scope, belief_id, now, pinned=False)

    @changing
    def revert(self, scope: Scope, belief_id: str, reason: str, now: datetime) -> Steps[Changed]:
        """Take an active visible belief back; what it superseded is active again.

        Where that was redacted or taken back, what it had superseded itself. It is left out where
        another belief of its key is active by now.

        Raises:
            NotFound: No such active belief in the scope.
            Conflict: The graph is archived.
        """
        belief = yield from _changeable(scope, belief_id)
        replaced = yield from given_way(scope, [belief_id])
        taken = yield from keys_taken(scope, map(key_of, replaced), without=[belief_id])
        trust_of = yield from trusts_of(scope, [(belief.agent_id, belief.topic)])
        events = plan.revert_plan(belief, replaced, taken, key_of, reason, trust_of)
        return (yield from self._changed(scope, events, now))

    @changing_long
    def rewind(self, scope: Scope, to_seq: int, reason: str, now: datetime) -> Steps[Changed]:
        """Let exactly those beliefs of the graph be active that were right after an event.

        What was redacted since stays away, and what a roll-back has taken back. Nothing is written
        when nothing would change.

        Raises:
            UsageError: ``to_seq`` is not 0 to the last event, it stands in the middle of a change,
                where two beliefs of one key were active, or more than 10,000 beliefs would change.
            Conflict: The graph is archived.
        """
        last = yield from last_seq(scope)
        if not 0 <= to_seq <= last:
            raise UsageError("to_seq", to_seq, f"0 to {last}, the last event")
        since = yield from changed_since(scope, to_seq)
        events = plan.rewind_plan(to_seq, since.present, since.past, since.successors, reason)
        changed = plan.changed_by(events)
        restored = set(changed.restored)
        keys = [key for each in since.past if each.id in restored and (key := key_of(each))]
        taken = yield from keys_taken(scope, keys, without=changed.ended)
        if taken or len(set(keys)) < len(keys):
            raise UsageError("to_seq", to_seq, "the last event of a change")
        return (yield from self._changed(scope, events, now))

    @changing
    def set_trust(
        self,
        scope: Scope,
        agent_id: str,
        topic: str | None,
        trust: float,
        reason: str,
        now: datetime,
    ) -> Steps[float]:
        """Set the trust in an agent about a topic, with its event; return what it was.

        Raises:
            UsageError: The trust is not from 0 to 1, or the agent or the topic has no name.
            Conflict: The graph is archived.
        """
        check_within("trust", trust, 0, 1)
        if not agent_id:
            raise UsageError("agent_id", agent_id, "the id of an agent")
        _check_topic(topic)
        trust_of = yield from trusts_of(scope, [(agent_id, topic)])
        events = plan.trust_plan(agent_id, topic, trust, reason, trust_of)
        yield from self._changed(scope, events, now)
        return trust_of(agent_id, topic)

    @changing_long
    def adopt(
        self, scope: Scope, point: BranchPoint, beliefs: Sequence[Commitment], now: datetime
    ) -> Steps[bool]:
        """Begin the graph's log as a branch: ``branched``, then each belief ``adopted``.

        Beliefs are of this graph, with ``origin_id`` set, and of any agent and user. ``False``,
        writing nothing, when the log has begun with the same ``point`` already.

        Raises:
            Conflict: The log has begun otherwise, or the graph is archived.
            UsageError: There are more than ``CHANGED_MAX`` beliefs, one is another graph's or
                has no ``origin_id``, or two are of one id or key.
        """
        check_at_most("beliefs", len(beliefs), CHANGED_MAX)
        filed = [_filed(belief) for belief in beliefs]
        _check_adopted(scope, filed)
        events = plan.adopt_plan(point, filed)
        first = yield from entries_at(scope, [1])
        if not first:
            yield from self._changed(scope, events, now)
            return True
        if first[0].content == canonical(events[0].content).decode():
            return False
        begun = f"{first[0].event.kind!r} in it"
        raise Conflict("belief log", "one that has not begun", begun)

    async def active(self, scope: Scope) -> tuple[Commitment, ...]:
        """Return the visible active beliefs, from the index, in order of commitment."""
        return tuple(map(commitment_of, await self._all("active", active_in(scope))))

    def _pinned(
        self, scope: Scope, belief_id: str, now: datetime, *, pinned: bool
    ) -> Steps[Commitment]:
        belief = yield from _changeable(scope, belief_id)
        yield from self._changed(scope, plan.pin_plan(belief, pinned=pinned), now)
        return belief.model_copy(update={"pinned": pinned})

    def _changed(
        self, scope: Scope, events: Sequence[plan.PlannedEvent], now: datetime
    ) -> Steps[Changed]:
        """Carry out a plan, if it has anything in it, and return what ended and what is back."""
        if events:
            yield from check_writable(scope)
            yield from append(scope, events, now)
        return plan.changed_by(events)


def active_in(scope: Scope) -> Find[HistoricBelief]:
    """Return the question for the visible active beliefs, in order of commitment."""
    where = (Absent("redacted_at"),)
    return Find(BELIEFS, scope, by="active", where=where, order=("committed_seq",))


class _Met(NamedTuple):
    """What a commit meets.

    Attributes:
        known: What is in the log under its id.
        asked: The rivals that are settled, by id.
        seen: Those of them that are active and that the scope sees.
        rival: The active belief of its key.
        turn_is_lost: Whether the turn that it names was rolled back or redacted: it is made after
            that, so that it would be taken for what came of it.
    """

    known: HistoricBelief | None
    asked: Sequence[str]
    seen: Mapping[str, Commitment]
    rival: Commitment | None
    turn_is_lost: bool


def _commit(scope: Scope, belief: Commitment, settled: Sequence[Settlement]) -> Steps[Committed]:
    met = yield from _met(scope, belief, settled)
    if met.known is not None:
        return _commitment(scope, met.known)
    parties = [belief, *met.seen.values(), *([] if met.rival is None else [met.rival])]
    _, trust_of = yield from together(
        check_writable(scope),
        trusts_of(scope, [(each.agent_id, each.topic) for each in parties]),
    )
    trust = trust_of(belief.agent_id, belief.topic)
    state = {"trust": trust, "pinned": False, "redacted_at": None}
    made_in = dict.fromkeys(("turn_id", "receipt_id")) if met.turn_is_lost else {}
    belief = belief.model_copy(update={**state, **made_in})
    undecided = _undecided(scope, belief, met, trust_of)
    if undecided is not None:
        return undecided
    plan.check_settled(belief, settled, lambda name: met.rival is not None and name == met.rival.id)
    events = plan.commit_plan(
        belief, [(each, met.seen[each.rival_id]) for each in settled], trust_of
    )
    yield from append(scope, events, belief.recorded_at)
    gone = {each.belief_id for each in events if each.kind == "superseded"}
    return Committed(
        belief=belief,
        is_new=True,
        active=belief.id not in gone,
        superseded=tuple(each for each in in_order(met.seen, met.asked) if each.id in gone),
    )


def _met(scope: Scope, belief: Commitment, settled: Sequence[Settlement]) -> Steps[_Met]:
    asked = tuple(dict.fromkeys(each.rival_id for each in settled))
    known, named, of_key, turns = yield (
        own(BELIEFS, scope, [belief.id]),
        own(BELIEFS, scope, asked, Is("active", 1)),
        _holding(scope, key_of(belief)),
        turn_by_id(scope, belief.turn_id),
    )
    seen = {each.id: commitment_of(each) for each in named if sees(scope, each)}
    rival = commitment_of(of_key[0]) if of_key else None
    is_lost_turn = any(map(is_lost, turns))
    return _Met(known[0] if known else None, asked, seen, rival, is_lost_turn)


def _undecided(
    scope: Scope, belief: Commitment, met: _Met, trust_of: plan.TrustOf
) -> Committed | None:
    """Return why a commit is to be decided again; ``None`` when it is settled with all it meets.

    Raises:
        Conflict: The scope does not see the rival by key.
    """
    is_stale = len(met.seen) < len(met.asked)
    unsettled: tuple[Rival, ...] = ()
    if met.rival is not None and met.rival.id not in met.seen:
        check_seen(scope, belief, met.rival)
        trust = trust_of(met.rival.agent_id, met.rival.topic)
        unsettled = (Rival(belief=met.rival, trust=trust),)
    if not (is_stale or unsettled):
        return None
    return Committed(
        belief=belief, is_new=False, active=False, unsettled=unsettled, is_stale=is_stale
    )


def _commitment(scope: Scope, known: HistoricBelief) -> Committed:
    found = commitment_of(known)
    check_known(scope, found)
    return Committed(belief=found, is_new=False, active=known.status == "active")


def keys_taken(
    scope: Scope, keys: Iterable[str | None], without: Collection[str]
) -> Steps[set[str]]:
    """Return which of some keys active beliefs have, leaving some beliefs out."""
    found = yield from every(_holding(scope, *keys))
    gone = set(without)
    return {key for each in found if each.id not in gone and (key := key_of(each))}


def _holding(scope: Scope, *keys: str | None) -> Find[HistoricBelief]:
    """Ask for the active beliefs of keys."""
    held = tuple(dict.fromkeys(key for key in keys if key is not None))
    return whole(BELIEFS, scope, "held_key", Among("held_key", held))


def _changeable(scope: Scope, belief_id: str) -> Steps[Commitment]:
    where = (Is("active", 1), Absent("redacted_at"))
    found = yield from one(among(BELIEFS, scope, [belief_id], *where, reach=audited(scope)))
    if found is None:
        raise NotFound("active belief", belief_id)
    return commitment_of(found)


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
    for belief in beliefs:
        check_placed(scope, belief)
        if belief.origin_id is None:
            raise UsageError("origin_id", belief.id, "the id in the graph that was branched")
    names = [each.id for each in beliefs]
    keys = [key for each in beliefs if (key := key_of(each)) is not None]
    if len(set(names)) < len(names) or len(set(keys)) < len(keys):
        raise UsageError("beliefs", len(beliefs), "beliefs with ids and keys of their own")

"""The history of a graph's beliefs: what was believed when, by whom, on what evidence, and proof.

It answers for the whole graph, private beliefs and those of every user included: it is for those
who run and audit a fleet. What an agent may see of the past, ``agent.beliefs(as_of=…)`` gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing, suppress
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Annotated, TypeAlias

from pydantic import Field

from tiers.errors import NotFound, UsageError, check_within
from tiers.fields import AuditKind, Text, Word, in_utc
from tiers.paging import pages_of
from tiers.previews import with_previews
from tiers.records import (
    BeliefEvent,
    BeliefQuery,
    BeliefStatus,
    BranchPoint,
    Changed,
    Commitment,
    HistoricBelief,
    LoggedBelief,
    Receipt,
    Scope,
    SignedHead,
    TrustRow,
)

from ..checks import called, check_text, checked, checked_key, checked_topic, part_of_key
from ..erasure.redaction import RedactionReport, redact
from ..operations import Reason, checks_arguments, operation
from ..runtime import Runtime
from .commit import Point, check_turn_number, seq_at
from .difference import BeliefDiff, diff_of
from .future_events import future_events
from .proofs import Exported, Inclusion, Verification, Witness
from .replayed_turn import ReplayedTurn, replayed
from .spans import LIVES_MAX, BeliefLife, Explanation, lives_of

EVENTS_PER_PAGE = 1_000
EVENTS_EXPLAINED_MAX = 10_000
_STATUSES_MAX = 16
_TurnNumber: TypeAlias = Annotated[int, Field(ge=1)]
_Page: TypeAlias = Annotated[int, Field(ge=1, le=10_000)]


class History:
    """The belief history of one graph. Made by ``graph.beliefs``."""

    def __init__(self, runtime: Runtime, scope: Scope) -> None:
        self._runtime = runtime
        self._scope = scope
        self._witness = Witness(runtime, scope)

    @operation("GET")
    async def query(
        self,
        *,
        topic: Word | None = None,
        agent_id: Word | None = None,
        user_id: Word | None = None,
        subject: Text | None = None,
        key: tuple[Text, Text] | None = None,
        status: (
            BeliefStatus | Annotated[Sequence[BeliefStatus], Field(max_length=_STATUSES_MAX)] | None
        ) = None,
        since: Point | None = None,
        until: Point | None = None,
        as_of: Point | None = None,
        as_of_seq: int | None = None,
        after: int = 0,
        limit: Annotated[int, Field(ge=1, le=1_000)] = 100,
    ) -> tuple[HistoricBelief, ...]:
        """Return beliefs in the order in which they were committed, active or not.

        Args:
            topic: Filed under it, or with it among their topics.
            agent_id: Committed by this agent.
            user_id: Of this person.
            subject: Whose key has this subject.
            key: Of this (subject, attribute).
            status: What became of them: ``active``, ``superseded``, ``reverted``, ``redacted``.
            since: Committed at or after this time, or during this turn or later.
            until: Committed before this time or turn.
            as_of: Active then.
            as_of_seq: Active right after this event of the log; wins over ``as_of``.
            after: ``committed_seq`` of the last belief of the page before; 0 begins.
            limit: 1 to 1,000.
        """
        statuses = (status,) if isinstance(status, str) else tuple(status or ())
        wanted = checked(
            BeliefQuery,
            topic=checked_topic(topic),
            agent_id=agent_id,
            user_id=user_id,
            subject=None if subject is None else part_of_key(subject),
            key=checked_key(key),
            statuses=statuses,
            since_seq=None if since is None else await self._first_seq(since),
            until_seq=None if until is None else await self._first_seq(until),
            active_at=await self._active_at(as_of, as_of_seq),
            after=after,
            limit=limit,
        )
        return await self._runtime.history.query(self._scope, wanted)

    @operation("GET", "/lives")
    async def lives(
        self, belief_ids: Annotated[Sequence[Word], Field(max_length=LIVES_MAX)] = ()
    ) -> tuple[BeliefLife, ...]:
        """Return beliefs by id, in the order asked, each with the spans in which it was active.

        Raises:
            UsageError: There are more than 100 ids.
        """
        return await lives_of(self._runtime, self._scope, belief_ids)

    @operation("GET", "/active")
    async def active(self) -> tuple[Commitment, ...]:
        """Return what is believed now, in order of commitment."""
        return await self._runtime.history.as_of(self._scope, await self.seq_at())

    @operation("GET", "/as-of")
    async def as_of(
        self,
        time: Point | None = None,
        *,
        turn: int | None = None,
        seq: int | None = None,
    ) -> tuple[Commitment, ...]:
        """Return what was believed at a moment, in order of commitment.

        A turn lasts from its opening until the next one begins. What was redacted since says
        ``[redacted]``.

        Args:
            time: A time, or a turn.
            turn: A turn of the graph, counted over all its agents from 1; 0 is before the first.
            seq: An event of the log.

        Raises:
            UsageError: Not exactly one of them is given, or it is not acceptable.
        """
        return await self._runtime.history.as_of(self._scope, await self._seq(time, turn, seq))

    @operation("GET", "/diff")
    async def diff(self, a: Point, b: Point) -> BeliefDiff:
        """Return how what was believed changed between two moments."""
        return diff_of(await self.as_of(a), await self.as_of(b))

    @operation("GET", "/{belief_id}/explanation")
    async def explain(self, belief_id: str) -> Explanation:
        """Return where a belief came from, and what became of it.

        Raises:
            NotFound: The graph has never had such a belief.
        """
        belief = await self._belief(belief_id)
        events = await self._naming(belief_id)
        spoken = [(one.event, one.said or {}) for one in events]
        decisions = [said for event, said in spoken if event.kind == "contradicted" and said]
        replaced = [
            event.belief_id
            for event, said in spoken
            if event.kind == "superseded" and said.get("superseded_by") == belief_id
        ]
        sources = self._scope.for_agent(belief.agent_id)
        turn_ids = [one for one in (belief.turn_id, *belief.source_ids) if one is not None]
        turns = await self._runtime.turns.turns(sources, turn_ids)
        successor = belief.superseded_by
        return Explanation(
            belief=belief,
            events=events,
            contradictions=tuple(decisions),
            superseded=await self._beliefs(replaced),
            superseded_by=await self._belief(successor) if successor else None,
            turns=turns,
            facts=await self._runtime.semantic.facts(sources, belief.source_ids),
            tool_outputs=tuple(one for turn in turns for one in with_previews(turn).tool_outputs),
            receipt=await self._receipt(belief.receipt_id),
            trust=await self.trust(belief.agent_id, belief.topic),
        )

    @operation("GET", "/replay")
    async def replay(self, turn: _TurnNumber) -> ReplayedTurn:
        """Return what a turn of the graph said and saw, and what it did to the beliefs.

        Raises:
            UsageError: ``turn`` is not above 0.
        """
        if turn < 1:
            raise UsageError("turn", turn, "a turn of the graph, from 1")
        return await replayed(self._runtime, self._scope, turn)

    @operation("GET", "/events")
    async def events(self, after: int = 0, limit: _Page = 1000) -> tuple[BeliefEvent, ...]:
        """Return the log after a ``seq``, in order: who changed what when, not what was said."""
        return await self._runtime.history.events(self._scope, after, limit)

    @operation("GET", "/log")
    async def logged(self, after: int = 0, limit: _Page = 1000) -> tuple[LoggedBelief, ...]:
        """Return the log after a ``seq`` with contents and salts."""
        return await self._runtime.history.logged(self._scope, after, limit)

    @operation("GET", "/seq")
    async def seq_at(self, point: Point | None = None) -> int:
        """Return the last event at a moment, or of all without one; 0 when there is none."""
        return await seq_at(self._runtime, self._scope, point)

    @operation("GET", "/in-future")
    async def in_future(self) -> str | None:
        """Return in words which events have a time ahead of this clock; ``None``: none has.

        A clock had jumped when they were recorded; ``verify`` tells it as a warning.
        """
        ahead = await future_events(self._runtime, self._scope)
        return None if ahead is None else str(ahead)

    @operation("GET", "/trust")
    async def trust(self, agent_id: Word, topic: Word | None = None) -> float:
        """Return how far an agent is trusted about a topic: 0 to 1, and 1 at first."""
        rows = await self.trusts()
        return next(
            (row.trust for row in rows if (row.agent_id, row.topic) == (agent_id, topic)), 1.0
        )

    @operation("GET", "/trusts")
    async def trusts(self) -> tuple[TrustRow, ...]:
        """Return the trust in every agent and topic of which the log says something."""
        return await self._runtime.history.trusts(self._scope)

    @operation("PUT", "/trust", changes=True, repeats=False)
    async def set_trust(
        self,
        agent_id: Word,
        trust: Annotated[float, Field(strict=True, ge=0, le=1)],
        *,
        topic: Word | None = None,
        reason: Reason,
    ) -> float:
        """Set the trust in an agent about a topic; return what it was. An event of the log.

        Without a topic it is about beliefs that have none: each topic has a trust of its own.

        Raises:
            UsageError: ``trust`` is not from 0 to 1, or the reason is blank.
            NotFound: The graph never had such a member, nor has it a belief of such an agent.
        """
        if isinstance(trust, bool | str) or not 0 <= trust <= 1:
            raise UsageError("trust", trust, "a number from 0 to 1")
        _check_reason(reason)
        named = checked_topic(topic)
        member = await self._runtime.membership.of_graph(self._scope.for_agent(agent_id))
        # A branch has beliefs of agents that were never its members.
        if member.agent is None and not await self.query(agent_id=agent_id, limit=1):
            raise await self._runtime.membership.missing(self._scope, agent_id)
        now = self._runtime.clock()
        before = await self._runtime.beliefs.set_trust(
            self._during(), agent_id, named, float(trust), reason, now
        )
        about = "everything without a topic" if named is None else repr(named)
        text = f"{agent_id} about {about}: {before:g} to {trust:g}"
        await self._runtime.log.append_audit(self._scope, "trusted", (), text, now)
        return before

    @operation("PUT", "/{belief_id}/pin", changes=True)
    async def pin(self, belief_id: str) -> Commitment:
        """Let an active belief come first in every context of those who see it.

        Raises:
            NotFound: It is no active belief of the graph.
        """
        belief = await self._runtime.beliefs.pin(self._during(), belief_id, self._now())
        await self._tell("pinned", (belief_id,), "")
        return belief

    @operation("DELETE", "/{belief_id}/pin", changes=True)
    async def unpin(self, belief_id: str) -> Commitment:
        """Let a belief no longer come first.

        Raises:
            NotFound: It is no active belief of the graph.
        """
        belief = await self._runtime.beliefs.unpin(self._during(), belief_id, self._now())
        await self._runtime.forget_pins(self._scope, (belief_id,))
        await self._tell("unpinned", (belief_id,), "")
        return belief

    @operation("POST", "/{belief_id}/revert", changes=True, repeats=False)
    async def revert(self, belief_id: str, *, reason: Reason) -> Changed:
        """Take an active belief back; what it had superseded is active again.

        Where that was redacted or taken back, what it had superseded itself. Its agent is trusted
        a little less about its topic. Nothing of the past changes.

        Raises:
            NotFound: It is no active belief of the graph.
            UsageError: The reason is blank.
        """
        _check_reason(reason)
        done = await self._runtime.beliefs.revert(self._during(), belief_id, reason, self._now())
        await self._runtime.forget_pins(self._scope, done.ended)
        await self._tell("reverted", (*done.ended, *done.restored), reason)
        return done

    @operation("POST", "/rewind", changes=True, repeats=False)
    async def rewind(
        self,
        time: Point | None = None,
        *,
        turn: int | None = None,
        seq: int | None = None,
        reason: Reason,
    ) -> Changed:
        """Let exactly those beliefs be active again that were at a moment.

        The log goes on: what was believed since stays in it. What was redacted since stays away,
        and so does what a roll-back has taken back.

        Args:
            time: A time, or a turn.
            turn: A turn of the graph.
            seq: An event of the log.
            reason: Why; must not be blank.
        """
        _check_reason(reason)
        to_seq = await self._seq(time, turn, seq)
        with called(to_seq="seq"):
            done = await self._runtime.beliefs.rewind(self._during(), to_seq, reason, self._now())
        await self._runtime.forget_pins(self._scope, done.ended)
        changed = (*done.ended, *done.restored)[:EVENTS_PER_PAGE]
        await self._tell("rewound", changed, f"to event {to_seq}: {reason}")
        return done

    @operation("POST", "/{belief_id}/redact", changes=True, repeats=False)
    async def redact(self, belief_id: str, *, reason: Reason) -> RedactionReport:
        """Destroy a belief's content for good, in every store and every branch. The chain holds.

        Facts made of it go with it; receipts that name it are blanked. Turns in which it was said
        stay: ``graph.erase`` removes a subject or a user from everything.

        Raises:
            NotFound: The graph has never had such a belief.
            UsageError: The reason is blank.
        """
        await self._belief(belief_id)
        return await redact(self._runtime, self._scope, [belief_id], reason)

    @operation("POST", "/heads", changes=True)
    async def sign(self) -> SignedHead:
        """Sign the log as it is now, and return the head; the last one when nothing is new.

        Raises:
            ConfigError: There is no signing key.
            NotFound: The log is empty.
        """
        return await self._witness.sign()

    @operation("GET", "/heads")
    async def heads(self, after: int = 0, limit: _Page = 1000) -> tuple[SignedHead, ...]:
        """Return signed heads of more than ``after`` events. Keep one elsewhere as an anchor."""
        return await self._runtime.heads.heads(self._scope, after, limit)

    @operation("GET", "/inclusion-proof")
    async def prove(self, seq: int, size: int | None = None) -> Inclusion:
        """Return the proof that an event is in the log, to be checked against a head.

        Args:
            seq: The event.
            size: Of the head; the whole log if not given.

        Raises:
            NotFound: There is no such event among the first ``size``.
        """
        return await self._witness.prove(seq, size)

    @operation("GET", "/consistency-proof")
    async def prove_growth(self, old_size: int, size: int | None = None) -> tuple[str, ...]:
        """Return the proof that the log of ``old_size`` events is the beginning of a later one.

        The hashes of an RFC 9162 consistency proof, in hexadecimal digits.
        """
        return await self._witness.prove_growth(old_size, size)

    @operation("POST", "/verify")
    async def verify(
        self, *, public_key: Text | None = None, anchor: SignedHead | None = None
    ) -> Verification:
        """Check the whole log: chain, contents, heads; and the stored beliefs against it.

        Args:
            public_key: The key to trust; the runtime's own if not given.
            anchor: A head that was kept elsewhere.
        """
        return await self._witness.verify(public_key=public_key, anchor=anchor)

    @checks_arguments()
    async def export(self, path: Path | str) -> Exported:
        """Write the whole log into one file that anybody can verify without this runtime.

        It has every content that was not destroyed: keep it as you keep the data. A head of the
        log as it is now is signed first, where there is a key.

        Raises:
            UsageError: The file cannot be written.
        """
        return await self._witness.export(Path(path))

    @operation("GET", "/origin")
    async def origin(self) -> BranchPoint | None:
        """Return where the graph was branched from another; ``None`` for one that was not."""
        first = await self.logged(0, 1)
        if not first or first[0].event.kind != "branched":
            return None
        return BranchPoint.model_validate(first[0].said)

    async def _active_at(self, point: Point | None, seq: int | None) -> int | None:
        if seq is not None:
            check_within("as_of_seq", seq, 0, await self.seq_at())
            return seq
        return None if point is None else await self.seq_at(point)

    async def _seq(self, time: Point | None, turn: int | None, seq: int | None) -> int:
        moments = (("time", time), ("turn", turn), ("seq", seq))
        given = [(field, one) for field, one in moments if one is not None]
        if len(given) != 1:
            field, value = given[-1] if given else moments[0]
            raise UsageError(field, value, "exactly one of time, turn and seq")
        if seq is None:
            return await self.seq_at(given[0][1])
        last = await self.seq_at()
        check_within("seq", seq, 0, last)
        return seq

    async def _first_seq(self, point: Point) -> int:
        """Return the first event at or after a time, or of a turn or a later one."""
        if isinstance(point, datetime):
            # Counting by the clock of a zone forgets which of two hours of one name is meant.
            with suppress(OverflowError, ValueError):  # nothing is before the first moment of all
                point = in_utc(point) - timedelta(microseconds=1)
            return await self.seq_at(point) + 1
        # A turn that has not begun is as good a bound as a time to come.
        check_turn_number(point)
        if point == 0:
            return 1
        return await self._runtime.history.seq_at(self._scope, turn=point - 1) + 1

    async def _belief(self, belief_id: str) -> HistoricBelief:
        found = await self._beliefs([belief_id])
        if not found:
            raise NotFound("belief", belief_id)
        return found[0]

    async def _beliefs(self, ids: Sequence[str]) -> tuple[HistoricBelief, ...]:
        if not ids:
            return ()
        wanted = BeliefQuery(ids=tuple(ids), limit=EVENTS_PER_PAGE)
        return await self._runtime.history.query(self._scope, wanted)

    async def _naming(self, belief_id: str) -> tuple[LoggedBelief, ...]:
        found: list[LoggedBelief] = []
        read = partial(self._runtime.history.naming, self._scope, belief_id)
        logged = pages_of(read, lambda entry: entry.event.seq, EVENTS_PER_PAGE)
        async with aclosing(logged) as pages:
            async for page in pages:
                found += page
                if len(found) >= EVENTS_EXPLAINED_MAX:
                    break
        return tuple(found)

    async def _receipt(self, receipt_id: str | None) -> Receipt | None:
        return (
            None if receipt_id is None else await self._runtime.log.receipt(self._scope, receipt_id)
        )

    def _during(self) -> Scope:
        """Return the scope with the turn that is under way: what changes now happens in it."""
        return self._runtime.under_way.during(self._scope)

    async def _tell(self, kind: AuditKind, ids: Sequence[str], reason: str) -> None:
        await self._runtime.log.append_audit(self._scope, kind, ids, reason, self._now())

    def _now(self) -> datetime:
        return self._runtime.clock()


def _check_reason(reason: str) -> None:
    check_text("reason", reason, "a reason that is not blank")

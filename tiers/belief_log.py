"""Ports of the belief log: changing what is believed, and reading what was.

The rules of ``tiers.ports`` hold: all or nothing, absence is a value, time is an argument. Each
change of a belief and its events are one write: what has no event did not happen.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from .records import (
    BeliefEvent,
    BeliefQuery,
    BranchPoint,
    Changed,
    Commitment,
    Committed,
    HistoricBelief,
    LoggedBelief,
    ProjectedBelief,
    Scope,
    Settlement,
    SignedHead,
    TrustRow,
)


class BeliefStore(Protocol):
    """The belief log of a graph and its projection of active beliefs.

    Every change appends events to the log, in which ``seq`` counts without gaps, and alters the
    projection, in one step. Changes of one graph follow each other, whoever makes them: of two
    that meet, the later is decided anew from what the earlier has left. In an archived graph
    each of them is refused with ``Conflict``.

    The scope of a whole graph (no agent) reaches every belief of it, private ones included, and so
    does what it changes; an agent's scope reaches what the agent sees.

    A belief that becomes active, ends, or is active again has its ``index`` work queued with it.
    """

    async def commit(
        self, scope: Scope, belief: Commitment, settled: Sequence[Settlement] = ()
    ) -> Committed:
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

    async def pin(self, scope: Scope, belief_id: str, now: datetime) -> Commitment:
        """Mark an active visible belief as pinned, with its event. Idempotent.

        Raises:
            NotFound: No such active belief in the scope.
        """

    async def unpin(self, scope: Scope, belief_id: str, now: datetime) -> Commitment:
        """Take the mark away, with its event. Idempotent.

        Raises:
            NotFound: No such active belief in the scope.
        """

    async def revert(self, scope: Scope, belief_id: str, reason: str, now: datetime) -> Changed:
        """Take an active visible belief back; what it superseded is active again.

        That is left out where it was redacted, or another belief of its key is active by now.

        Raises:
            NotFound: No such active belief in the scope.
        """

    async def rewind(self, scope: Scope, to_seq: int, reason: str, now: datetime) -> Changed:
        """Let exactly those beliefs of the graph be active that were right after an event.

        What was redacted since stays away. Nothing is written when nothing would change.

        Raises:
            UsageError: ``to_seq`` is not 0 to the last event, it stands in the middle of a change,
                where two beliefs of one key were active, or more than 10,000 beliefs would change.
        """

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

    async def adopt(
        self, scope: Scope, point: BranchPoint, beliefs: Sequence[Commitment], now: datetime
    ) -> bool:
        """Begin the graph's log as a branch: ``branched``, then each belief ``adopted``.

        Beliefs are of this graph, with ``origin_id`` set, and of any agent and user. ``False``,
        writing nothing, when the log has begun with the same ``point`` already.

        Raises:
            Conflict: The log has begun otherwise.
            UsageError: There are more than 10,000 beliefs.
        """

    async def active(self, scope: Scope) -> tuple[Commitment, ...]:
        """Return the visible active beliefs, from the index, in order of commitment."""


class BeliefHistory(Protocol):
    """What the log of a graph says about the past.

    The scope of a whole graph (no agent) sees every belief of it, private ones included: an
    auditor's answer that leaves some out would be wrong. An agent's scope sees what the agent may.
    The log itself (``events``, ``logged``, ``naming``, ``projected``, ``trusts``) is read with the
    scope of a graph. Content that was destroyed reads ``[redacted]``.

    No cost grows with the length of the log, only with what is returned.
    """

    async def events(
        self, scope: Scope, after: int = 0, limit: int = 1000, *, turn_id: str | None = None
    ) -> tuple[BeliefEvent, ...]:
        """Return the log of the graph after a ``seq``, in order.

        With ``turn_id``, only the events that were made in that turn.
        """

    async def logged(
        self, scope: Scope, after: int = 0, limit: int = 1000
    ) -> tuple[LoggedBelief, ...]:
        """Return the same with contents and salts."""

    async def naming(
        self, scope: Scope, belief_id: str, after: int = 0, limit: int = 1000
    ) -> tuple[LoggedBelief, ...]:
        """Return the events that are about a belief, or whose content names it, in order.

        Content that was destroyed names nobody any more.
        """

    async def seq_at(
        self, scope: Scope, *, time: datetime | None = None, turn: int | None = None
    ) -> int:
        """Return the last event recorded at or before a time, or during or before a turn.

        The last event of all without either; 0 when there is none.
        """

    async def as_of(self, scope: Scope, seq: int) -> tuple[Commitment, ...]:
        """Return the beliefs that were active right after an event, in order of commitment.

        ``pinned`` is as it was then. One that was redacted since says ``[redacted]``, has no key,
        no value, and ``redacted_at``.
        """

    async def query(self, scope: Scope, query: BeliefQuery) -> tuple[HistoricBelief, ...]:
        """Return beliefs in order of commitment, active or not, at most ``query.limit``."""

    async def projected(
        self, scope: Scope, after: int = 0, limit: int = 1000
    ) -> tuple[ProjectedBelief, ...]:
        """Return the projection as it is stored after a ``committed_seq``, in order."""

    async def trusts(self, scope: Scope) -> tuple[TrustRow, ...]:
        """Return the trust in every agent of the graph of which the log says something."""


class RivalSearch(Protocol):
    """Finding what a claim without a key may contradict."""

    async def worded_like(
        self, scope: Scope, belief: Commitment, limit: int
    ) -> tuple[Commitment, ...]:
        """Return active beliefs that are filed like one and share words with its claim.

        Filed alike: of the same topic, privacy and user, and of the same topics when it names no
        topic. Those that share the most words come first, then the newest; ``belief`` itself is
        among them if it is active. The words are those of ``tiers.history.wording``.

        The cost is bounded, however many there are: for each word of the claim, at most 24, only
        the newest 64 that the scope sees are looked at, and these are among the newest 1,000. An
        older belief whose every word has been said that often since is not found.
        """


class HeadStore(Protocol):
    """Signed heads of belief logs."""

    async def put_head(self, scope: Scope, head: SignedHead) -> bool:
        """Keep a head; ``False`` when there is one of its size and key already."""

    async def heads(
        self, scope: Scope, after: int = 0, limit: int = 1000
    ) -> tuple[SignedHead, ...]:
        """Return the heads of more than ``after`` events, by size, then by time of signing."""

    async def last_head(self, scope: Scope) -> SignedHead | None:
        """Return the head of the most events, of these the one signed last."""

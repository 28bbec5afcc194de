"""The history of a graph's beliefs on a server: the methods of ``History``, asked over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tiers.records import (
    BeliefEvent,
    BeliefStatus,
    BranchPoint,
    Changed,
    Commitment,
    HistoricBelief,
    LoggedBelief,
    SignedHead,
    TrustRow,
)

from ..believing import Point
from ..difference import BeliefDiff
from ..history import Explanation
from ..lives import BeliefLife
from ..proving import Exported, Inclusion, Verification
from ..redaction import RedactionReport
from ..replayed_turn import ReplayedTurn
from ..wire import Operation, history, proofs
from ..wire.operation import A, R
from .connection import Connection
from .listing import listed
from .saving import SavedFile


class RemoteHistory:
    """The belief history of one graph on a server. Made by ``graph.beliefs``.

    Every method does what the one of the same name does in ``ezra.history.History``.

    Args:
        connection: To the server.
        graph_id: Of which graph.
    """

    def __init__(self, connection: Connection, graph_id: str) -> None:
        self._connection = connection
        self._graph_id = graph_id

    async def query(
        self,
        *,
        topic: str | None = None,
        agent_id: str | None = None,
        user_id: str | None = None,
        subject: str | None = None,
        key: tuple[str, str] | None = None,
        status: BeliefStatus | Sequence[BeliefStatus] | None = None,
        since: Point | None = None,
        until: Point | None = None,
        as_of: Point | None = None,
        as_of_seq: int | None = None,
        after: int = 0,
        limit: int = 100,
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
        statuses = (status,) if isinstance(status, str) else status
        return await self._ask(
            history.QUERY,
            topic=topic,
            agent_id=agent_id,
            user_id=user_id,
            subject=subject,
            key=key,
            status=statuses,
            since=since,
            until=until,
            as_of=as_of,
            as_of_seq=as_of_seq,
            after=after,
            limit=limit,
        )

    async def lives(self, belief_ids: Sequence[str] = ()) -> tuple[BeliefLife, ...]:
        """Return beliefs by id, in the order asked, each with the spans in which it was active.

        Raises:
            UsageError: There are more than 100 ids.
        """
        return await self._ask(history.LIVES, belief_ids=listed("belief_ids", belief_ids))

    async def active(self) -> tuple[Commitment, ...]:
        """Return what is believed now, in order of commitment."""
        return await self._ask(history.ACTIVE)

    async def as_of(
        self,
        time: Point | None = None,
        *,
        turn: int | None = None,
        seq: int | None = None,
    ) -> tuple[Commitment, ...]:
        """Return what was believed at a moment, in order of commitment.

        Args:
            time: A time, or a turn.
            turn: A turn of the graph, counted over all its agents from 1.
            seq: An event of the log.

        Raises:
            UsageError: Not exactly one of them is given, or it is not acceptable.
        """
        return await self._ask(history.AS_OF, time=time, turn=turn, seq=seq)

    async def diff(self, a: Point, b: Point) -> BeliefDiff:
        """Return how what was believed changed between two moments."""
        return await self._ask(history.DIFF, a=a, b=b)

    async def explain(self, belief_id: str) -> Explanation:
        """Return where a belief came from, and what became of it.

        Raises:
            NotFound: The graph has never had such a belief.
        """
        return await self._ask(history.EXPLAIN, {"belief_id": belief_id})

    async def replay(self, turn: int) -> ReplayedTurn:
        """Return what a turn of the graph said and saw, and what it did to the beliefs.

        Raises:
            UsageError: ``turn`` is not above 0.
        """
        return await self._ask(history.REPLAY, turn=turn)

    async def events(self, after: int = 0, limit: int = 1000) -> tuple[BeliefEvent, ...]:
        """Return the log after a ``seq``, in order: who changed what when, not what was said."""
        return await self._ask(history.EVENTS, after=after, limit=limit)

    async def logged(self, after: int = 0, limit: int = 1000) -> tuple[LoggedBelief, ...]:
        """Return the log after a ``seq`` with contents and salts."""
        return await self._ask(history.LOGGED, after=after, limit=limit)

    async def seq_at(self, point: Point | None = None) -> int:
        """Return the last event at a moment, or of all without one; 0 when there is none."""
        return await self._ask(history.SEQ_AT, point=point)

    async def trust(self, agent_id: str, topic: str | None = None) -> float:
        """Return how far an agent is trusted about a topic: 0 to 1, and 1 at first."""
        return await self._ask(history.TRUST, agent_id=agent_id, topic=topic)

    async def trusts(self) -> tuple[TrustRow, ...]:
        """Return the trust in every agent and topic of which the log says something."""
        return await self._ask(history.TRUSTS)

    async def set_trust(
        self, agent_id: str, trust: float, *, topic: str | None = None, reason: str
    ) -> float:
        """Set the trust in an agent about a topic; return what it was. An event of the log.

        Raises:
            UsageError: ``trust`` is not from 0 to 1, or the reason is blank.
        """
        return await self._ask(
            history.SET_TRUST, agent_id=agent_id, trust=trust, topic=topic, reason=reason
        )

    async def pin(self, belief_id: str) -> Commitment:
        """Let an active belief come first in every context of those who see it.

        Raises:
            NotFound: It is no active belief of the graph.
        """
        return await self._ask(history.PIN, {"belief_id": belief_id})

    async def unpin(self, belief_id: str) -> Commitment:
        """Let a belief no longer come first.

        Raises:
            NotFound: It is no active belief of the graph.
        """
        return await self._ask(history.UNPIN, {"belief_id": belief_id})

    async def revert(self, belief_id: str, *, reason: str) -> Changed:
        """Take an active belief back; what it had superseded is active again.

        Raises:
            NotFound: It is no active belief of the graph.
            UsageError: The reason is blank.
        """
        return await self._ask(history.REVERT, {"belief_id": belief_id}, reason=reason)

    async def rewind(
        self,
        time: Point | None = None,
        *,
        turn: int | None = None,
        seq: int | None = None,
        reason: str,
    ) -> Changed:
        """Let exactly those beliefs be active again that were at a moment.

        Args:
            time: A time, or a turn.
            turn: A turn of the graph.
            seq: An event of the log.
            reason: Why; must not be blank.
        """
        return await self._ask(history.REWIND, time=time, turn=turn, seq=seq, reason=reason)

    async def redact(self, belief_id: str, *, reason: str) -> RedactionReport:
        """Destroy a belief's content for good, in every store and every branch. The chain holds.

        Raises:
            NotFound: The graph has never had such a belief.
            UsageError: The reason is blank.
        """
        return await self._ask(history.REDACT, {"belief_id": belief_id}, reason=reason)

    async def sign(self) -> SignedHead:
        """Sign the log as it is now, and return the head; the last one when nothing is new.

        Raises:
            ConfigError: The server has no signing key.
            NotFound: The log is empty.
        """
        return await self._ask(proofs.SIGN)

    async def heads(self, after: int = 0, limit: int = 1000) -> tuple[SignedHead, ...]:
        """Return signed heads of more than ``after`` events. Keep one elsewhere as an anchor."""
        return await self._ask(proofs.HEADS, after=after, limit=limit)

    async def prove(self, seq: int, size: int | None = None) -> Inclusion:
        """Return the proof that an event is in the log, to be checked against a head.

        Args:
            seq: The event.
            size: Of the head; the whole log if not given.

        Raises:
            NotFound: There is no such event among the first ``size``.
        """
        return await self._ask(proofs.PROVE, seq=seq, size=size)

    async def prove_growth(self, old_size: int, size: int | None = None) -> tuple[str, ...]:
        """Return the proof that the log of ``old_size`` events is the beginning of a later one.

        The hashes of an RFC 9162 consistency proof, in hexadecimal digits.
        """
        return await self._ask(proofs.PROVE_GROWTH, old_size=old_size, size=size)

    async def verify(
        self, *, public_key: str | None = None, anchor: SignedHead | None = None
    ) -> Verification:
        """Let the server check the whole log: chain, contents, heads; and the stored beliefs.

        Who does not trust the server verifies an export instead.

        Args:
            public_key: The key to trust; the server's own if not given.
            anchor: A head that was kept elsewhere.
        """
        return await self._ask(proofs.VERIFY, public_key=public_key, anchor=anchor)

    async def export(self, path: Path | str) -> Exported:
        """Write the whole log into one file on this side that anybody can verify.

        It is there when all of it is. It has every content that was not destroyed.

        Raises:
            UsageError: The file cannot be written.
        """
        chosen = Path(path)
        saved = SavedFile(chosen)

        async def take(chunk: bytes) -> None:
            await asyncio.to_thread(saved.write, chunk)

        try:
            await asyncio.to_thread(saved.open)
            done = await self._connection.download(proofs.EXPORT, take, graph_id=self._graph_id)
            await asyncio.to_thread(saved.finish)
        finally:
            await asyncio.to_thread(saved.close)
        return Exported(chosen, **done.model_dump())

    async def origin(self) -> BranchPoint | None:
        """Return where the graph was branched from another; ``None`` for one that was not."""
        return await self._ask(proofs.ORIGIN)

    async def _ask(
        self,
        operation: Operation[A, R],
        names: Mapping[str, str] | None = None,
        **given: Any,  # noqa: ANN401 - the fields of what is asked, which checks them
    ) -> R:
        asked = operation.asks(**given)
        path = {"graph_id": self._graph_id, **(names or {})}
        return await self._connection.call(operation, asked, **path)

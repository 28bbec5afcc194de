"""What a belief log says about the past. Every question is a look into an index."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ...errors import UsageError
from ...records import (
    BeliefEvent,
    BeliefQuery,
    Commitment,
    HistoricBelief,
    LoggedBelief,
    ProjectedBelief,
    Scope,
    TrustRow,
)
from ..conditions import Holds, Is, Within
from ..ownership import check_limit, check_whole_graph
from ..port import Find, Steps, asked, every
from .belief_log import CONTENTS, EVENTS, entries_after, entries_at, last_by, last_of
from .belief_projection import BELIEFS, TRUSTS, audited, commitment_of
from .belief_query import answered
from .belief_spans import spans_at, spans_of
from .over_engine import OverEngine, reading
from .questions import among
from .rows import all_bare


class BeliefHistory(OverEngine):
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
        check_limit(limit)
        behind = Within("seq", since=after + 1)
        find = Find(EVENTS, scope, by="seq", where=(behind,), order=("seq",), limit=limit)
        if turn_id is not None:
            where = (Is("turn_id", turn_id), behind)
            find = Find(EVENTS, scope, by="turn_id", where=where, order=("seq",), limit=limit)
        return await self._all("events", find)

    @reading
    def logged(
        self, scope: Scope, after: int = 0, limit: int = 1000
    ) -> Steps[tuple[LoggedBelief, ...]]:
        """Return the same with contents and salts.

        Raises:
            UsageError: The scope is an agent's, who may not read what all others said.
        """
        check_whole_graph(scope)
        check_limit(limit)
        return tuple((yield from entries_after(scope, after, limit)))

    @reading
    def naming(
        self, scope: Scope, belief_id: str, after: int = 0, limit: int = 1000
    ) -> Steps[tuple[LoggedBelief, ...]]:
        """Return the events that are about a belief, or whose content names it, in order.

        Content that was destroyed names nobody any more.

        Raises:
            UsageError: The scope is an agent's.
        """
        check_whole_graph(scope)
        check_limit(limit)
        behind, about = Within("seq", since=after + 1), Is("belief_id", belief_id)
        # What was destroyed names nobody any more: only contents say whom they name.
        named = Holds("names", (belief_id,))
        found = yield (
            Find(EVENTS, scope, "belief", (about, behind), ("seq",), limit),
            Find(CONTENTS, scope, "names", (named, behind), ("seq",), limit),
        )
        seqs = sorted({one.seq for answer in found for one in answer})
        return tuple((yield from entries_at(scope, seqs[:limit])))

    async def seq_at(
        self, scope: Scope, *, time: datetime | None = None, turn: int | None = None
    ) -> int:
        """Return the last event recorded at or before a time, or during or before a turn.

        The last event of all without either; 0 when there is none.
        """
        finds = []
        if time is not None:
            finds.append(last_by(scope, time))
        if turn is not None:
            where = (Within("turn", until=turn + 1),)
            order = ("-turn", "-seq")
            finds.append(Find(EVENTS, scope, by="turn", where=where, order=order, limit=1))
        if not finds:
            finds.append(last_of(scope))
        answers = await self._store.read("seq_at", lambda: asked(*finds))
        return min(found[0].seq if found else 0 for found in answers)

    @reading
    def as_of(self, scope: Scope, seq: int) -> Steps[tuple[Commitment, ...]]:
        """Return the beliefs that were active right after an event, in order of commitment.

        ``pinned`` is as it was then. One that was redacted since says ``[redacted]``, has no key,
        no value, and ``redacted_at``.

        Raises:
            UsageError: ``seq`` is below 0.
        """
        if seq < 0:
            raise UsageError("seq", seq, "0 or above")
        pinned = {span.belief_id: span.pinned for span in (yield from spans_at(scope, seq))}
        found = yield from _beliefs(scope, tuple(pinned))
        return tuple(
            commitment_of(one).model_copy(update={"pinned": pinned[one.id]}) for one in found
        )

    @reading
    def query(self, scope: Scope, query: BeliefQuery) -> Steps[tuple[HistoricBelief, ...]]:
        """Return beliefs in order of commitment, active or not, at most ``query.limit``."""
        return tuple((yield from answered(scope, query)))

    @reading
    def projected(
        self, scope: Scope, after: int = 0, limit: int = 1000
    ) -> Steps[tuple[ProjectedBelief, ...]]:
        """Return the projection as it is stored after a ``committed_seq``, in order.

        Raises:
            UsageError: The scope is an agent's.
        """
        check_whole_graph(scope)
        check_limit(limit)
        where, order = (Within("committed_seq", since=after + 1),), ("committed_seq",)
        find = Find(BELIEFS, scope, "committed", where, order, limit, reach="own")
        beliefs = yield from every(find)
        spans = yield from spans_of(scope, [belief.id for belief in beliefs])
        return tuple(ProjectedBelief(belief=one, spans=spans[one.id]) for one in beliefs)

    async def trusts(self, scope: Scope) -> tuple[TrustRow, ...]:
        """Return the trust in every agent of the graph of which the log says something."""
        find = Find(TRUSTS, scope, by="agent", order=("agent_id", "topic"))
        return all_bare(TrustRow, await self._all("trusts", find))


def _beliefs(scope: Scope, ids: Sequence[str]) -> Steps[list[HistoricBelief]]:
    """Return beliefs by id, in order of commitment."""
    found = yield from every(among(BELIEFS, scope, ids, reach=audited(scope)))
    return sorted(found, key=lambda belief: belief.committed_seq)

"""What a belief log in SQLite says about the past. Every question is a look into an index."""

# ruff: noqa: S608 - statements are made of constants only; values are always parameters

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime

from ...errors import UsageError
from ...moments import microseconds
from ...records import (
    BeliefEvent,
    BeliefQuery,
    BeliefSpan,
    Commitment,
    HistoricBelief,
    LoggedBelief,
    ProjectedBelief,
    Scope,
    TrustRow,
)
from ..ownership import check_limit, check_whole_graph
from .belief_projection import NO_TOPIC_TRUSTED, belief_of, historic_of
from .belief_query import narrowest, question_of
from .belief_spans import HELD, stations_of
from .belief_words import worded_most_like
from .database import Database, Query, Session
from .rows import record_of
from .scope import as_json, scoped

_EVENTS = (
    "SELECT e.* FROM belief_events e WHERE $own(e) AND e.seq > :after ORDER BY e.seq LIMIT :limit"
)
_CONTENT = (
    " LEFT JOIN belief_contents c"
    " ON c.tenant = e.tenant AND c.graph_id = e.graph_id AND c.event_id = e.id"
)
_LOGGED = (
    f"SELECT e.*, c.salt, c.content FROM belief_events e{_CONTENT}"
    " WHERE $own(e) AND e.seq > :after ORDER BY e.seq LIMIT :limit"
)
# What was destroyed names nobody any more.
_NAMING = (
    f"SELECT e.*, c.salt, c.content FROM ("
    "SELECT a.seq FROM belief_events a"
    " WHERE $own(a) AND a.belief_id = :belief_id AND a.seq > :after"
    " UNION SELECT m.seq FROM belief_mentions m"
    " CROSS JOIN belief_events o"
    " ON o.tenant = m.tenant AND o.graph_id = m.graph_id AND o.seq = m.seq"
    " CROSS JOIN belief_contents d"
    " ON d.tenant = o.tenant AND d.graph_id = o.graph_id AND d.event_id = o.id"
    " WHERE $own(m) AND m.belief_id = :belief_id AND m.seq > :after"
    " ORDER BY 1 LIMIT :limit"
    f") n CROSS JOIN belief_events e{_CONTENT}"
    " WHERE $own(e) AND e.seq = n.seq ORDER BY n.seq"
)
_LAST = "SELECT e.seq FROM belief_events e WHERE $own(e)"
_LAST_SEQ = _LAST + " ORDER BY e.seq DESC LIMIT 1"
_LAST_BY_TIME = (
    _LAST + " AND e.recorded_at <= :time ORDER BY e.recorded_at DESC, e.seq DESC LIMIT 1"
)
_LAST_BY_TURN = _LAST + " AND e.turn <= :turn ORDER BY e.turn DESC, e.seq DESC LIMIT 1"
_AS_OF = (
    f"WITH held AS ({HELD})"
    " SELECT b.*, s.topics, h.pinned AS was_pinned FROM held h CROSS JOIN beliefs b"
    " CROSS JOIN topic_sets s ON s.id = b.topic_set"
    " WHERE $audited(b) AND b.id = h.belief_id ORDER BY b.committed_seq"
)
_PROJECTED = (
    "SELECT b.*, s.topics FROM beliefs b JOIN topic_sets s ON s.id = b.topic_set"
    " WHERE $own(b) AND b.committed_seq > :after ORDER BY b.committed_seq LIMIT :limit"
)
_SPANS = (
    "SELECT o.* FROM belief_spans o WHERE $own(o)"
    " AND o.belief_id IN (SELECT value FROM json_each(:ids)) ORDER BY o.belief_id, o.since_seq"
)
_TRUSTS = "SELECT t.* FROM belief_trust t WHERE $own(t) ORDER BY t.agent_id, t.topic"


class SqliteBeliefHistory:
    """A ``BeliefHistory`` and a ``RivalSearch`` in SQLite."""

    def __init__(self, database: Database) -> None:
        self._database = database

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

    async def logged(
        self, scope: Scope, after: int = 0, limit: int = 1000
    ) -> tuple[LoggedBelief, ...]:
        """Return the same with contents and salts.

        Raises:
            UsageError: The scope is an agent's, who may not read what all others said.
        """
        check_whole_graph(scope)
        check_limit(limit)
        return await self._logged("logged", scoped(_LOGGED, scope, after=after, limit=limit))

    async def naming(
        self, scope: Scope, belief_id: str, after: int = 0, limit: int = 1000
    ) -> tuple[LoggedBelief, ...]:
        """Return the events that are about a belief, or whose content names it, in order.

        Raises:
            UsageError: The scope is an agent's.
        """
        check_whole_graph(scope)
        check_limit(limit)
        query = scoped(_NAMING, scope, belief_id=belief_id, after=after, limit=limit)
        return await self._logged("naming", query)

    async def seq_at(
        self, scope: Scope, *, time: datetime | None = None, turn: int | None = None
    ) -> int:
        """Return the last event recorded at or before a time, or during or before a turn.

        The last event of all without either; 0 when there is none.
        """
        asked = []
        if time is not None:
            asked.append(scoped(_LAST_BY_TIME, scope, time=microseconds(time)))
        if turn is not None:
            asked.append(scoped(_LAST_BY_TURN, scope, turn=turn))
        queries = asked or [scoped(_LAST_SEQ, scope)]
        return await self._database.read(
            "seq_at", lambda session: min(_seq(session, query) for query in queries)
        )

    async def as_of(self, scope: Scope, seq: int) -> tuple[Commitment, ...]:
        """Return the beliefs that were active right after an event, in order of commitment.

        Raises:
            UsageError: ``seq`` is below 0.
        """
        if seq < 0:
            raise UsageError("seq", seq, "0 or above")

        def question(session: Session) -> tuple[Commitment, ...]:
            last_seq = _seq(session, scoped(_LAST_SEQ, scope))
            query = scoped(_AS_OF, scope, carrying=None, **stations_of(seq, max(seq, last_seq)))
            return tuple(
                belief_of(row).model_copy(update={"pinned": bool(row["was_pinned"])})
                for row in session.all(query)
            )

        return await self._database.read("as_of", question)

    async def query(self, scope: Scope, query: BeliefQuery) -> tuple[HistoricBelief, ...]:
        """Return beliefs in order of commitment, active or not, at most ``query.limit``."""

        def question(session: Session) -> tuple[HistoricBelief, ...]:
            last_seq = _seq(session, scoped(_LAST_SEQ, scope))
            by = narrowest(session, scope, query, last_seq)
            rows = session.all(question_of(scope, query, last_seq, by))
            return tuple(historic_of(row) for row in rows)

        return await self._database.read("query", question)

    async def projected(
        self, scope: Scope, after: int = 0, limit: int = 1000
    ) -> tuple[ProjectedBelief, ...]:
        """Return the projection as it is stored after a ``committed_seq``, in order.

        Raises:
            UsageError: The scope is an agent's.
        """
        check_whole_graph(scope)
        check_limit(limit)
        query = scoped(_PROJECTED, scope, after=after, limit=limit)

        def question(session: Session) -> tuple[ProjectedBelief, ...]:
            beliefs = [historic_of(row) for row in session.all(query)]
            spans = read_spans(session, scope, [one.id for one in beliefs])
            return tuple(ProjectedBelief(belief=one, spans=spans[one.id]) for one in beliefs)

        return await self._database.read("projected", question)

    async def trusts(self, scope: Scope) -> tuple[TrustRow, ...]:
        """Return the trust in every agent of the graph of which the log says something."""
        query = scoped(_TRUSTS, scope)
        return await self._database.read(
            "trusts", lambda session: tuple(trust_of(row) for row in session.all(query))
        )

    async def worded_like(
        self, scope: Scope, belief: Commitment, limit: int
    ) -> tuple[Commitment, ...]:
        """Return active beliefs that are filed like one and share words with its claim."""
        check_limit(limit)

        def question(session: Session) -> tuple[Commitment, ...]:
            rows = worded_most_like(session, scope, belief, limit)
            return tuple(belief_of(row) for row in rows)

        return await self._database.read("worded_like", question)

    async def _logged(self, operation: str, query: Query) -> tuple[LoggedBelief, ...]:
        return await self._database.read(
            operation, lambda session: tuple(logged_of(row) for row in session.all(query))
        )


def logged_of(row: sqlite3.Row) -> LoggedBelief:
    """Return an event with its content, from a row that has both."""
    salt = row["salt"]
    return LoggedBelief(
        event=record_of(BeliefEvent, row),
        salt=None if salt is None else salt.hex(),
        content=row["content"],
    )


def trust_of(row: sqlite3.Row) -> TrustRow:
    """Return the trust that a row of ``belief_trust`` holds."""
    topic = row["topic"]
    return record_of(TrustRow, row, topic=None if topic == NO_TOPIC_TRUSTED else topic)


def read_spans(
    session: Session, scope: Scope, ids: Sequence[str]
) -> dict[str, tuple[BeliefSpan, ...]]:
    """Return the spans of beliefs of the scope's graph, in order; every id has an entry."""
    found: dict[str, list[BeliefSpan]] = {one: [] for one in ids}
    for row in session.all(scoped(_SPANS, scope, ids=as_json(ids))):
        found[row["belief_id"]].append(span_of(row))
    return {one: tuple(spans) for one, spans in found.items()}


def span_of(row: sqlite3.Row) -> BeliefSpan:
    """Return the span that a row of ``belief_spans`` holds."""
    return record_of(BeliefSpan, row)


def _seq(session: Session, query: Query) -> int:
    row = session.one(query)
    return 0 if row is None else int(row["seq"])

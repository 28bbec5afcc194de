"""What a belief log in MongoDB says about the past. Every question is a look into an index."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

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
from ..ownership import check_limit, check_whole_graph, in_order
from .belief_log import changes_within, events_of, logged
from .belief_projection import ROWS_PER_QUESTION
from .belief_spans import active_at, spans_of
from .belief_words import worded_most_like
from .beliefs import bring_up_to_date
from .database import Database, Session
from .documents import Document, record_of
from .scope import audited, own

NAMING_PAGE_MAX = 500
PAGES_MAX = 100_000


class MongoBeliefHistory:
    """A ``BeliefHistory`` and a ``RivalSearch`` in MongoDB."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def events(
        self, scope: Scope, after: int = 0, limit: int = 1000
    ) -> tuple[BeliefEvent, ...]:
        """Return the log of the graph after a ``seq``, in order."""
        check_limit(limit)
        return await self._database.read(
            "events", lambda session: _events(session, scope, after, limit)
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

        async def question(session: Session) -> tuple[LoggedBelief, ...]:
            events = await _events(session, scope, after, limit)
            return tuple(await logged(session, scope, events))

        return await self._database.read("logged", question)

    async def naming(
        self, scope: Scope, belief_id: str, after: int = 0, limit: int = 1000
    ) -> tuple[LoggedBelief, ...]:
        """Return the events that are about a belief, or whose content names it, in order.

        Content that was destroyed names nobody any more.

        Raises:
            UsageError: The scope is an agent's.
        """
        check_whole_graph(scope)
        check_limit(limit)

        async def question(session: Session) -> tuple[LoggedBelief, ...]:
            found: list[LoggedBelief] = []
            behind = after
            for _ in range(PAGES_MAX):
                changes = await session.collection("belief_log").find(
                    own(scope, **{"mentions.belief_id": belief_id}, last_seq={"$gt": behind}),
                    sort=[("last_seq", 1)],
                    limit=min(limit, NAMING_PAGE_MAX),
                )
                events = _naming(changes, belief_id, after)
                entries = await logged(session, scope, events)
                found += [one for one in entries if _still_names(one, belief_id)]
                if len(found) >= limit or len(changes) < min(limit, NAMING_PAGE_MAX):
                    break
                behind = changes[-1]["last_seq"]
            return tuple(found[:limit])

        return await self._database.read("naming", question)

    async def seq_at(
        self, scope: Scope, *, time: datetime | None = None, turn: int | None = None
    ) -> int:
        """Return the last event recorded at or before a time, or during or before a turn.

        The last event of all without either, and the earlier one with both; 0 when there is none.
        """
        asked: list[tuple[Document, list[tuple[str, int]]]] = []
        if time is not None:
            by_then = {"recorded_at": {"$lte": microseconds(time)}}
            asked.append((by_then, [("recorded_at", -1), ("last_seq", -1)]))
        if turn is not None:
            asked.append(({"turn": {"$lte": turn}}, [("turn", -1), ("last_seq", -1)]))

        async def question(session: Session) -> int:
            log, found = session.collection("belief_log"), list[int]()
            for where, newest in asked or [({}, [("last_seq", -1)])]:
                changes = await log.find(
                    own(scope) | where, sort=newest, limit=1, fields=["last_seq"]
                )
                found.append(changes[0]["last_seq"] if changes else 0)
            return min(found)

        return await self._database.read("seq_at", question)

    async def as_of(self, scope: Scope, seq: int) -> tuple[Commitment, ...]:
        """Return the beliefs that were active right after an event, in order of commitment.

        Raises:
            UsageError: ``seq`` is below 0.
        """
        if seq < 0:
            raise UsageError("seq", seq, "0 or above")
        reached = await bring_up_to_date(self._database, scope, "as_of")

        async def question(session: Session) -> tuple[Commitment, ...]:
            # After the last event nothing changes: that is what any later one comes to.
            spans = await active_at(session, scope, min(seq, reached), reached)
            rows = await _rows(session, scope, list(spans))
            rows.sort(key=lambda row: row["committed_seq"])
            return tuple(
                record_of(Commitment, row).model_copy(update={"pinned": spans[row["id"]].pinned})
                for row in rows
            )

        return await self._database.read("as_of", question)

    async def query(self, scope: Scope, query: BeliefQuery) -> tuple[HistoricBelief, ...]:
        """Return beliefs in order of commitment, active or not, at most ``query.limit``."""
        reached = await bring_up_to_date(self._database, scope, "query")

        async def question(session: Session) -> tuple[HistoricBelief, ...]:
            among = list(dict.fromkeys(query.ids)) if query.ids else None
            if query.active_at is not None:
                seq = min(query.active_at, reached)
                held = await active_at(session, scope, seq, reached)
                among = list(held) if among is None else [one for one in among if one in held]
            where = _wanted(query)
            if among is not None:
                where["id"] = {"$in": among}
            found = await session.collection("beliefs").find(
                audited(scope) | where, sort=[("committed_seq", 1)], limit=query.limit
            )
            return tuple(record_of(HistoricBelief, row) for row in found)

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
        await bring_up_to_date(self._database, scope, "projected")

        async def question(session: Session) -> tuple[ProjectedBelief, ...]:
            found = await session.collection("beliefs").find(
                own(scope, committed_seq={"$gt": after}), sort=[("committed_seq", 1)], limit=limit
            )
            spans = await spans_of(session, scope, [row["id"] for row in found])
            return tuple(projected_of(row, [one.span for one in spans[row["id"]]]) for row in found)

        return await self._database.read("projected", question)

    async def trusts(self, scope: Scope) -> tuple[TrustRow, ...]:
        """Return the trust in every agent of the graph of which the log says something."""
        await bring_up_to_date(self._database, scope, "trusts")

        async def question(session: Session) -> tuple[TrustRow, ...]:
            found = await session.collection("belief_trust").find(own(scope))
            rows = [record_of(TrustRow, one) for one in found]
            return tuple(sorted(rows, key=lambda row: (row.agent_id, row.topic or "")))

        return await self._database.read("trusts", question)

    async def worded_like(
        self, scope: Scope, belief: Commitment, limit: int
    ) -> tuple[Commitment, ...]:
        """Return active beliefs that are filed like one and share words with its claim."""
        check_limit(limit)
        await bring_up_to_date(self._database, scope, "worded_like")

        async def question(session: Session) -> tuple[Commitment, ...]:
            ids = await worded_most_like(session, scope, belief, audited(scope), limit)
            found = await _rows(session, scope, ids, active=True)
            return in_order({row["id"]: record_of(Commitment, row) for row in found}, ids)

        return await self._database.read("worded_like", question)


def projected_of(row: Document, spans: Sequence[BeliefSpan]) -> ProjectedBelief:
    """Return a row of the projection with every span of its belief."""
    return ProjectedBelief(belief=record_of(HistoricBelief, row), spans=tuple(spans))


async def _events(
    session: Session, scope: Scope, after: int, limit: int
) -> tuple[BeliefEvent, ...]:
    changes = await changes_within(session, scope, after, limit)
    later = [event for event in events_of(changes) if event.seq > after]
    return tuple(later[:limit])


def _naming(changes: Sequence[Document], belief_id: str, after: int) -> list[BeliefEvent]:
    """Return the events of changes that are about a belief, or were written to name it."""
    seqs = {
        mention["seq"]
        for change in changes
        for mention in change["mentions"]
        if mention["belief_id"] == belief_id
    }
    return [event for event in events_of(changes) if event.seq in seqs and event.seq > after]


def _still_names(entry: LoggedBelief, belief_id: str) -> bool:
    return entry.event.belief_id == belief_id or entry.content is not None


async def _rows(
    session: Session, scope: Scope, ids: Sequence[str], **more: object
) -> list[Document]:
    """Return the rows of those beliefs that the scope sees."""
    rows: list[Document] = []
    for start in range(0, len(ids), ROWS_PER_QUESTION):
        page = {"$in": list(ids[start : start + ROWS_PER_QUESTION])}
        rows += await session.collection("beliefs").find(audited(scope, id=page, **more))
    return rows


def _wanted(query: BeliefQuery) -> Document:
    """Return the conditions that a question names, each on an index in order of commitment."""
    subject, attribute = query.key or (None, None)
    named: dict[str, Any] = {
        "agent_id": query.agent_id,
        "user_id": query.user_id,
        "all_topics": query.topic,
        "key_subject": subject,
        "key_attribute": attribute,
        "status": {"$in": list(query.statuses)} if query.statuses else None,
    }
    where: Document = {name: value for name, value in named.items() if value is not None}
    if query.subject is not None:
        # Both a key and a subject may be named, and need not agree.
        where["$and"] = [{"key_subject": query.subject}]
    since = max(query.after + 1, query.since_seq or 0)
    where["committed_seq"] = {"$gte": since}
    if query.until_seq is not None:
        where["committed_seq"]["$lt"] = query.until_seq
    return where

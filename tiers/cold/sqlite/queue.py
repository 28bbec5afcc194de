"""Durable work in SQLite. One row per kind and key of a graph, waiting, claimed or parked.

An item is claimed while it has a ``lease_owner``; ``due_at`` is when it may next be claimed, which
for a claimed one is the end of its lease.
"""

# ruff: noqa: S608 - statements are made of constants only; values are always parameters

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime, timedelta

from ...errors import UsageError
from ...moments import microseconds
from ...records import Scope, Work, WorkDraft, WorkKind
from ..ownership import WORK_KINDS, check_lease, check_limit
from .database import Database, Query, Session, Value
from .rows import record_of, stored
from .scope import as_json

PROBLEM_CHARS_MAX = 2_000

_QUEUE = (
    "INSERT INTO work (tenant, graph_id, agent_id, kind, key, payload, queued_at, due_at)"
    " VALUES (:tenant, :graph_id, :agent_id, :kind, :key, :payload, :now, :now)"
    " ON CONFLICT (tenant, graph_id, kind, key) DO NOTHING"
)
# Claimed: once more when it is done. Parked: a new cause is a new chance. Waiting: due at once.
_QUEUE_AGAIN = (
    "UPDATE work SET agent_id = :agent_id, payload = :payload,"
    " again_at = CASE WHEN lease_owner IS NOT NULL THEN :now END,"
    " due_at = CASE WHEN lease_owner IS NOT NULL THEN due_at"
    " WHEN parked THEN :now ELSE MIN(due_at, :now) END,"
    " attempts = CASE WHEN parked THEN 0 ELSE attempts END,"
    " parked = 0"
    " WHERE tenant = :tenant AND graph_id = :graph_id AND kind = :kind AND key = :key"
)
_DUE = "SELECT row FROM work WHERE kind = :kind AND parked = 0 AND due_at <= :now"
_CLAIM = (
    "UPDATE work SET lease_owner = :owner, due_at = :until, token = token + 1,"
    " attempts = attempts + 1"
    " WHERE row IN (SELECT value FROM json_each(:rows)) RETURNING *"
)
_HELD = (
    " WHERE row = :row AND token = :token AND lease_owner IS NOT NULL"
    " AND tenant = :tenant AND graph_id = :graph_id"
)
_RENEW = "UPDATE work SET due_at = :until" + _HELD
_COMPLETE = "DELETE FROM work" + _HELD + " AND again_at IS NULL"
_RUN_AGAIN = (
    "UPDATE work SET lease_owner = NULL, due_at = again_at, again_at = NULL, attempts = 0,"
    " problem = NULL"
) + _HELD
_GIVE_BACK = (
    "UPDATE work SET lease_owner = NULL, due_at = MIN(:until, COALESCE(again_at, :until)),"
    " again_at = NULL, attempts = attempts - :uncounted, problem = COALESCE(:problem, problem)"
) + _HELD
# Asked for again while it ran: the new cause gets its own attempts before it parks.
_PARK = (
    "UPDATE work SET lease_owner = NULL, parked = again_at IS NULL,"
    " attempts = CASE WHEN again_at IS NULL THEN attempts ELSE 0 END,"
    " due_at = COALESCE(again_at, due_at), again_at = NULL, problem = :problem"
) + _HELD
_RERUN = (
    "UPDATE work SET parked = 0, attempts = 0, due_at = queued_at"
    " WHERE parked = 1 AND row IN (SELECT value FROM json_each(:rows))"
)
_COUNTS = "SELECT kind, parked, COUNT(*) AS items FROM work WHERE TRUE"
_BY_KIND = " GROUP BY kind, parked"


class SqliteWorkQueue:
    """A ``RenewableWork`` queue in SQLite."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def enqueue(self, scope: Scope, work: Sequence[WorkDraft], now: datetime) -> int:
        """Queue items and return how many are new.

        An item of the same kind and key that waits is not doubled but becomes due at once; one
        that is claimed runs once more after it is completed; one that is parked is tried anew.
        The latest payload counts.
        """
        if not work:
            return 0
        return await self._database.write(
            "enqueue", lambda session: queue_work(session, scope, work, now)
        )

    async def claim(
        self,
        kinds: Sequence[WorkKind],
        owner: str,
        limit: int,
        lease_seconds: float,
        now: datetime,
        *,
        tenant: str | None = None,
        scope: Scope | None = None,
    ) -> tuple[Work, ...]:
        """Claim due items, oldest first: never claimed, or with a lease that has run out.

        Items that wait for a retry or are parked are not due. ``tenant`` restricts to one tenant,
        ``scope`` to one graph.
        """
        check_limit(limit)
        check_lease(owner, lease_seconds)
        unknown = [kind for kind in kinds if kind not in WORK_KINDS]
        if unknown:
            raise UsageError("kinds", unknown, ", ".join(WORK_KINDS))
        until = now + timedelta(seconds=lease_seconds)

        def transaction(session: Session) -> tuple[Work, ...]:
            rows = _due(session, kinds, limit, now, _within(tenant, scope))
            if not rows:
                return ()
            claim: dict[str, Value] = {
                "owner": owner,
                "until": microseconds(until),
                "rows": as_json([str(row) for row in rows]),
            }
            claimed = session.all(Query(_CLAIM, claim))
            return tuple(_work(row) for row in sorted(claimed, key=lambda row: int(row["row"])))

        return await self._database.write("claim", transaction)

    async def renew(self, work: Work, lease_seconds: float, now: datetime) -> bool:
        """Let a claim end ``lease_seconds`` from now; ``False`` when a later claim holds it."""
        until = microseconds(now + timedelta(seconds=lease_seconds))
        query = Query(_RENEW, _held(work) | {"until": until})
        return bool(await self._database.write("renew", lambda session: session.run(query)))

    async def complete(self, work: Work) -> bool:
        """Remove a claimed item, or free it to run again; ``False`` when a later claim holds it."""
        held = _held(work)

        def transaction(session: Session) -> bool:
            done = session.run(Query(_COMPLETE, held)) or session.run(Query(_RUN_AGAIN, held))
            return bool(done)

        return await self._database.write("complete", transaction, is_brief=True)

    async def fail(self, work: Work, problem: str, retry_at: datetime | None) -> bool:
        """Give a claimed item back until ``retry_at``, or park it (``None``) for people to see.

        ``False`` when a later claim holds it.
        """
        held = _held(work) | {"problem": problem[:PROBLEM_CHARS_MAX]}
        if retry_at is None:
            query = Query(_PARK, held)
        else:
            query = Query(_GIVE_BACK, held | {"until": microseconds(retry_at), "uncounted": 0})
        return bool(await self._database.write("fail", lambda session: session.run(query)))

    async def defer(self, work: Work, until: datetime) -> bool:
        """Give a claimed item back until a time, without counting the attempt.

        ``False`` when a later claim holds it.
        """
        held = _held(work) | {"problem": None, "until": microseconds(until), "uncounted": 1}
        query = Query(_GIVE_BACK, held)
        return bool(await self._database.write("defer", lambda session: session.run(query)))

    async def waiting(
        self, scope: Scope | None = None, *, tenant: str | None = None
    ) -> dict[str, int]:
        """Return how many items wait per kind, and under ``parked`` how many are parked.

        Claimed items wait too, until they are completed. Every kind is named, with 0 if need be.
        """
        return await self._database.read(
            "waiting", lambda session: count_work(session, scope, tenant=tenant)
        )

    async def parked(self, limit: int = 100, *, tenant: str | None = None) -> tuple[Work, ...]:
        """Return parked items with their problem, oldest first."""
        check_limit(limit)
        within = _within(tenant, None)
        sql = "SELECT * FROM work WHERE parked = 1" + within.sql + " ORDER BY row LIMIT :limit"
        query = Query(sql, {**within.params, "limit": limit})
        return await self._database.read(
            "parked", lambda session: tuple(_work(row) for row in session.all(query))
        )

    async def rerun(self, work_ids: Sequence[str], *, tenant: str | None = None) -> int:
        """Put parked items back into the queue with no attempts; return how many."""
        within = _within(tenant, None)
        rows = as_json([one for one in work_ids if _is_row(one)])
        query = Query(_RERUN + within.sql, {**within.params, "rows": rows})
        return await self._database.write("rerun", lambda session: session.run(query))


def queue_work(session: Session, scope: Scope, work: Sequence[WorkDraft], now: datetime) -> int:
    """Queue items inside the caller's transaction; return how many are new."""
    new = 0
    for draft in work:
        values: dict[str, Value] = {
            "tenant": scope.tenant,
            "graph_id": scope.graph_id,
            "agent_id": draft.agent_id,
            "kind": draft.kind,
            "key": draft.key,
            "payload": stored(draft.payload),
            "now": microseconds(now),
        }
        if session.run(Query(_QUEUE, values)):
            new += 1
        else:
            session.run(Query(_QUEUE_AGAIN, values))
    return new


def count_work(
    session: Session, scope: Scope | None, *, tenant: str | None = None
) -> dict[str, int]:
    """Return how many items are not done, per kind and under ``parked``."""
    within = _within(tenant, scope)
    query = Query(_COUNTS + within.sql + _BY_KIND, within.params)
    counts = dict.fromkeys((*WORK_KINDS, "parked"), 0)
    for row in session.all(query):
        counts["parked" if row["parked"] else row["kind"]] += row["items"]
    return counts


def _within(tenant: str | None, scope: Scope | None) -> Query:
    """Return the further conditions that keep a question to a tenant or a graph."""
    params: dict[str, Value] = {}
    if tenant is not None:
        params["only_tenant"] = tenant
    if scope is not None:
        params |= {"tenant": scope.tenant, "graph_id": scope.graph_id}
    columns = {"only_tenant": "tenant", "tenant": "tenant", "graph_id": "graph_id"}
    return Query("".join(f" AND {columns[name]} = :{name}" for name in params), params)


def _due(
    session: Session, kinds: Sequence[WorkKind], limit: int, now: datetime, within: Query
) -> list[int]:
    """Return the oldest due rows over all kinds; one indexed question per kind."""
    rows: list[int] = []
    for kind in dict.fromkeys(kinds):
        params: dict[str, Value] = {"kind": kind, "now": microseconds(now), "limit": limit}
        sql = _DUE + within.sql + " ORDER BY row LIMIT :limit"
        found = session.all(Query(sql, params | dict(within.params)))
        rows += [int(row["row"]) for row in found]
    return sorted(rows)[:limit]


def _held(work: Work) -> dict[str, Value]:
    if not _is_row(work.id):
        raise UsageError("work.id", work.id, "an item that was claimed here")
    return {
        "row": int(work.id),
        "token": work.token,
        "tenant": work.tenant,
        "graph_id": work.graph_id,
    }


def _is_row(work_id: str) -> bool:
    return work_id.isascii() and work_id.isdecimal() and len(work_id) < len(str(1 << 63))


def _work(row: sqlite3.Row) -> Work:
    return record_of(Work, row, id=str(row["row"]))

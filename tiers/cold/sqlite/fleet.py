"""The members of session graphs in SQLite: a row each."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ...errors import NotFound
from ...moments import microseconds
from ...records import AgentRecord, Departure, Scope
from ..archive_rows import check_tenant
from ..ownership import check_agent, check_limit
from .database import Database, Query, Session
from .graphs import check_writable, is_known
from .log import append_event
from .rows import fields_of, record_of
from .scope import as_json, scoped

_AGAIN = (
    "UPDATE agents SET role = :role, user_id = :user_id, topics = :topics,"
    " denied_topics = :denied_topics, sources = :sources, denied_sources = :denied_sources,"
    " budget = :budget, prompts = :prompts, inject = :inject,"
    " model_window_tokens = :model_window_tokens, seen_at = :seen_at, left_at = NULL, released = 0"
    " WHERE tenant = :tenant AND graph_id = :graph_id AND id = :id"
)
_LEAVE = (
    "UPDATE agents SET left_at = :now, released = :silent_since IS NOT NULL"
    " WHERE tenant = :tenant AND graph_id = :graph_id AND id = :agent_id AND left_at IS NULL"
    " AND (:silent_since IS NULL OR seen_at <= :silent_since)"
)
_REMAINING = "SELECT COUNT(*) AS members FROM agents a WHERE $own(a) AND a.left_at IS NULL"
_MEMBERS = "SELECT a.* FROM agents a WHERE $own(a) ORDER BY a.row"
_BEAT = (
    "UPDATE agents SET seen_at = MAX(seen_at, :now)"
    " WHERE tenant = :tenant AND graph_id = :graph_id AND left_at IS NULL"
    " AND id IN (SELECT value FROM json_each(:ids)) RETURNING id"
)
_SILENT = (
    "SELECT a.* FROM agents a WHERE a.tenant = :tenant AND a.left_at IS NULL"
    " AND a.seen_at <= :silent_since ORDER BY a.seen_at, a.row LIMIT :limit"
)


class SqliteFleetStore:
    """A ``FleetStore`` in SQLite."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def spawn(self, agent: AgentRecord) -> bool:
        """Add a member, or re-attach one of the same id; return whether it is new.

        A re-attach takes over everything but the time of the first spawn, and clears ``left_at``
        and ``released``.

        Raises:
            NotFound: The graph does not exist.
            Conflict: The graph is archived.
        """
        return await self._database.write("spawn", lambda session: _spawn(session, agent))

    async def leave(
        self,
        scope: Scope,
        now: datetime,
        *,
        silent_since: datetime | None = None,
        reason: str | None = None,
    ) -> Departure:
        """Mark the scope's agent as gone and return what came of it. Idempotent.

        With ``silent_since`` the agent is released instead: only if its last sign of life is at or
        before that moment. With ``reason`` the audit feed is told, in the same transaction.
        """
        check_agent(scope)
        since = None if silent_since is None else microseconds(silent_since)
        leave = scoped(_LEAVE, scope, now=microseconds(now), silent_since=since)
        remaining = scoped(_REMAINING, scope)

        def transaction(session: Session) -> Departure:
            left = session.run(leave) > 0
            if left and reason is not None:
                kind = "left" if silent_since is None else "released"
                append_event(session, scope, kind, (), reason, now)
            return Departure(left=left, remaining=session.all(remaining)[0]["members"])

        return await self._database.write("leave", transaction)

    async def agents(self, scope: Scope) -> tuple[AgentRecord, ...]:
        """Return all members of the scope's graph, those who left included, in order of spawn."""
        return await self._members("agents", scoped(_MEMBERS, scope))

    async def beat(self, scope: Scope, agent_ids: Sequence[str], now: datetime) -> tuple[str, ...]:
        """Note a sign of life of members and return those of them that are present, sorted."""
        if not agent_ids:
            return ()
        query = scoped(_BEAT, scope, ids=as_json(agent_ids), now=microseconds(now))
        return await self._database.write(
            "beat", lambda session: tuple(sorted(row["id"] for row in session.all(query)))
        )

    async def silent(
        self, tenant: str, silent_since: datetime, limit: int
    ) -> tuple[AgentRecord, ...]:
        """Return present members of any graph whose last sign of life is at or before a moment.

        The longest silent first, at most ``limit``.
        """
        check_tenant(tenant)
        check_limit(limit)
        since = microseconds(silent_since)
        query = Query(
            _SILENT, {"tenant": tenant, "silent_since": since, "limit": limit}, reach="tenant"
        )
        return await self._members("silent", query)

    async def _members(self, operation: str, query: Query) -> tuple[AgentRecord, ...]:
        return await self._database.read(
            operation,
            lambda session: tuple(record_of(AgentRecord, row) for row in session.all(query)),
        )


def _spawn(session: Session, agent: AgentRecord) -> bool:
    scope = Scope(tenant=agent.tenant, graph_id=agent.graph_id)
    if not is_known(session, scope):
        raise NotFound("session graph", agent.graph_id)
    check_writable(session, scope)
    seen_at = max(agent.seen_at, agent.spawned_at)
    present = agent.model_copy(update={"seen_at": seen_at, "left_at": None, "released": False})
    values = fields_of(present)
    if session.run(Query(_AGAIN, values)):
        return False
    session.insert("agents", values)
    return True

"""Session graphs and their members in SQLite."""

from __future__ import annotations

import json
from collections import deque
from datetime import datetime

from ...errors import Conflict, NotFound, UsageError
from ...moments import microseconds
from ...records import AgentRecord, GraphState, Scope, SessionGraph
from ..ownership import check_agent
from .database import Database, Query, Session
from .rows import fields_of, record_of
from .scope import scoped

LINEAGE_MAX = 1_000
"""Ancestors a graph may have; each is looked up once when a lineage is read."""


class SqliteGraphStore:
    """A ``GraphStore`` in SQLite."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create_graph(self, graph: SessionGraph) -> None:
        """Store a new graph. Parents must exist, so a cycle cannot come about.

        Raises:
            Conflict: A graph of this id exists in the tenant.
            NotFound: A parent does not exist in the tenant.
            UsageError: It would have more than ``LINEAGE_MAX`` ancestors.
        """
        await self._database.write("create_graph", lambda session: _create(session, graph))

    async def graph(self, tenant: str, graph_id: str) -> SessionGraph | None:
        """Return a graph, or ``None``."""
        return await self._database.read("graph", lambda session: _graph(session, tenant, graph_id))

    async def graphs(self, tenant: str) -> tuple[SessionGraph, ...]:
        """Return all graphs of the tenant, oldest first."""
        query = Query(
            "SELECT * FROM graphs WHERE tenant = :tenant ORDER BY created_at, row",
            {"tenant": tenant},
        )
        return await self._database.read(
            "graphs",
            lambda session: tuple(record_of(SessionGraph, row) for row in session.all(query)),
        )

    async def set_state(self, scope: Scope, state: GraphState, now: datetime) -> None:
        """Move the scope's graph to ``state``.

        ``closed_at`` is set when the graph stops being active and cleared when it is again.

        Raises:
            NotFound: The graph does not exist.
        """
        query = scoped(
            "UPDATE graphs SET state = :state, closed_at = CASE"
            " WHEN :state = 'active' THEN NULL ELSE COALESCE(closed_at, :now) END"
            " WHERE tenant = :tenant AND id = :graph_id",
            scope,
            state=state.value,
            now=microseconds(now),
        )
        if not await self._database.write("set_state", lambda session: session.run(query)):
            raise NotFound("session graph", scope.graph_id)

    async def lineage(self, tenant: str, graph_id: str) -> tuple[str, ...]:
        """Return all ancestors, nearest first, then in list order, each once."""
        return await self._database.read(
            "lineage",
            lambda session: _lineage(session, tenant, _parents(session, tenant, graph_id)),
        )

    async def spawn(self, agent: AgentRecord) -> bool:
        """Add a member, or re-attach one of the same id; return whether it is new.

        A re-attach takes over role, user, topics and sources, clears ``left_at``, and keeps the
        time of the first spawn.

        Raises:
            NotFound: The graph does not exist.
        """
        return await self._database.write("spawn", lambda session: _spawn(session, agent))

    async def leave(self, scope: Scope, now: datetime) -> int:
        """Mark the scope's agent as gone and return how many members remain. Idempotent."""
        check_agent(scope)
        gone = scoped(
            "UPDATE agents SET left_at = :now WHERE tenant = :tenant AND graph_id = :graph_id"
            " AND id = :agent_id AND left_at IS NULL",
            scope,
            now=microseconds(now),
        )
        remaining = scoped(
            "SELECT COUNT(*) AS members FROM agents"
            " WHERE tenant = :tenant AND graph_id = :graph_id AND left_at IS NULL",
            scope,
        )

        def transaction(session: Session) -> int:
            session.run(gone)
            return int(session.all(remaining)[0]["members"])

        return await self._database.write("leave", transaction)

    async def agents(self, scope: Scope) -> tuple[AgentRecord, ...]:
        """Return all members of the scope's graph, those who left included, in order of spawn."""
        query = scoped(
            "SELECT * FROM agents WHERE tenant = :tenant AND graph_id = :graph_id ORDER BY row",
            scope,
        )
        return await self._database.read(
            "agents",
            lambda session: tuple(record_of(AgentRecord, row) for row in session.all(query)),
        )


def _create(session: Session, graph: SessionGraph) -> None:
    if _graph(session, graph.tenant, graph.id) is not None:
        raise Conflict("session graph", "a new id", graph.id)
    for parent in graph.inherits_from:
        if _graph(session, graph.tenant, parent) is None:
            raise NotFound("session graph", parent)
    ancestors = _lineage(session, graph.tenant, graph.inherits_from)
    if len(ancestors) > LINEAGE_MAX:
        raise UsageError("inherits_from", graph.inherits_from, f"{LINEAGE_MAX} ancestors at most")
    session.insert("graphs", fields_of(graph))


def _graph(session: Session, tenant: str, graph_id: str) -> SessionGraph | None:
    row = session.one(
        Query(
            "SELECT * FROM graphs WHERE tenant = :tenant AND id = :id",
            {"tenant": tenant, "id": graph_id},
        )
    )
    return None if row is None else record_of(SessionGraph, row)


def _parents(session: Session, tenant: str, graph_id: str) -> tuple[str, ...]:
    # Not the whole record: a long lineage asks this a thousand times.
    row = session.one(
        Query(
            "SELECT inherits_from FROM graphs WHERE tenant = :tenant AND id = :id",
            {"tenant": tenant, "id": graph_id},
        )
    )
    return () if row is None else tuple(json.loads(row["inherits_from"]))


def _lineage(session: Session, tenant: str, parents: tuple[str, ...]) -> tuple[str, ...]:
    """Walk up from ``parents``; one more than ``LINEAGE_MAX`` is enough to know it is too many."""
    found: dict[str, None] = {}
    waiting = deque(parents)
    while waiting and len(found) <= LINEAGE_MAX:
        name = waiting.popleft()
        if name not in found:
            found[name] = None
            waiting += _parents(session, tenant, name)
    return tuple(found)


def _spawn(session: Session, agent: AgentRecord) -> bool:
    if _graph(session, agent.tenant, agent.graph_id) is None:
        raise NotFound("session graph", agent.graph_id)
    values = fields_of(agent)
    again = Query(
        "UPDATE agents SET role = :role, user_id = :user_id, topics = :topics,"
        " sources = :sources, left_at = NULL"
        " WHERE tenant = :tenant AND graph_id = :graph_id AND id = :id",
        values,
    )
    if session.run(again):
        return False
    session.insert("agents", values | {"left_at": None})
    return True

"""What agents and graphs have used, in SQLite: a row per agent, and one per graph."""

from __future__ import annotations

from ...records import Budget, Scope, Usage
from ..ownership import WHOLE_GRAPH, check_budget
from .database import Database, Query, Session
from .rows import fields_of, record_of
from .scope import scoped

_COUNTED = "SELECT u.* FROM usage u WHERE $own(u) AND u.agent_id = :whose"
_BY_AGENT = (
    "SELECT u.* FROM usage u WHERE $own(u) AND u.agent_id <> '' AND (u.tokens > 0"
    " OR u.model_calls > 0 OR u.writes > 0) ORDER BY u.agent_id"
)
_ADD = (
    "INSERT INTO usage (tenant, graph_id, agent_id, tokens, model_calls, writes)"
    " VALUES (:tenant, :graph_id, :whose, :tokens, :model_calls, :writes)"
    " ON CONFLICT (tenant, graph_id, agent_id) DO UPDATE SET tokens = tokens + :tokens,"
    " model_calls = model_calls + :model_calls, writes = writes + :writes"
    " WHERE tenant = :tenant"
)
_TAKE_BACK = (
    "UPDATE usage SET tokens = MAX(0, tokens - :tokens),"
    " model_calls = MAX(0, model_calls - :model_calls), writes = MAX(0, writes - :writes)"
    " WHERE tenant = :tenant AND graph_id = :graph_id AND agent_id = :whose"
)


class SqliteUsageStore:
    """A ``UsageStore`` in SQLite."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def charge(
        self, scope: Scope, amount: Usage, agent_limit: Budget, graph_limit: Budget
    ) -> None:
        """Count ``amount`` for the scope's agent, if it names one, and for its graph; or neither.

        Raises:
            BudgetExceeded: A count that ``amount`` adds to would come to lie above its limit. No
                count is changed.
        """
        limits = {WHOLE_GRAPH: graph_limit}
        if scope.agent_id is not None:
            limits = {scope.agent_id: agent_limit} | limits

        def transaction(session: Session) -> None:
            for whose, limit in limits.items():
                check_budget(scope, whose, _used(session, scope, whose), amount, limit)
            for whose in limits:
                session.run(_counting(_ADD, scope, whose, amount))

        if amount != Usage():
            await self._database.write("charge", transaction, is_brief=True)

    async def refund(self, scope: Scope, amount: Usage) -> None:
        """Take back what was charged for something that did not happen; never below 0."""

        def transaction(session: Session) -> None:
            for whose in {WHOLE_GRAPH, scope.agent_id or WHOLE_GRAPH}:
                session.run(_counting(_TAKE_BACK, scope, whose, amount))

        if amount != Usage():
            await self._database.write("refund", transaction, is_brief=True)

    async def usage(self, scope: Scope) -> Usage:
        """Return what the scope's agent has used, or without an agent its graph."""
        whose = scope.agent_id or WHOLE_GRAPH
        return await self._database.read("usage", lambda session: _used(session, scope, whose))

    async def usage_by_agent(self, scope: Scope) -> dict[str, Usage]:
        """Return what each agent of the graph has used that has used anything, by id."""
        query = scoped(_BY_AGENT, scope)
        return await self._database.read(
            "usage_by_agent",
            lambda session: {row["agent_id"]: record_of(Usage, row) for row in session.all(query)},
        )


def _used(session: Session, scope: Scope, whose: str) -> Usage:
    row = session.one(scoped(_COUNTED, scope, whose=whose))
    return Usage() if row is None else record_of(Usage, row)


def _counting(sql: str, scope: Scope, whose: str, amount: Usage) -> Query:
    query = scoped(sql, scope, whose=whose)
    return Query(query.sql, {**query.params, **fields_of(amount)})

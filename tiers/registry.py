"""The ports of session graphs, their members, and what these may use.

The rules of ``tiers.ports`` hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from .fleet import (
    AgentRecord,
    Budget,
    Departure,
    GraphState,
    Parent,
    Retention,
    Scope,
    SessionGraph,
    Standing,
    Usage,
)

CATALOG = "@catalog"
"""The id of a tenant's catalog: a graph that every other graph of the tenant inherits from."""


class GraphStore(Protocol):
    """Session graphs and how they inherit from each other.

    A graph never inherits from itself, near or far, and never from more than 1,000 others.
    """

    async def create_graph(self, graph: SessionGraph) -> None:
        """Store a new graph, with its links to parents.

        Raises:
            Conflict: A graph of this id exists in the tenant.
            NotFound: A parent does not exist in the tenant.
            UsageError: A parent is named twice, is the graph itself or the catalog, or there would
                be more than 1,000 ancestors.
        """

    async def graph(self, tenant: str, graph_id: str) -> SessionGraph | None:
        """Return a graph, or ``None``."""

    async def graphs(self, tenant: str) -> tuple[SessionGraph, ...]:
        """Return all graphs of the tenant, oldest first, its catalog included."""

    async def standing(self, scope: Scope) -> Standing | None:
        """Return the scope's graph, agent and ancestors as they are now; ``None``: no such graph.

        ``tiers.cold.lineage`` says which ancestors there are and how each is read. The whole is
        answered by a number of queries that does not grow with the number of ancestors.
        """

    async def set_state(
        self,
        scope: Scope,
        state: GraphState,
        now: datetime,
        only_from: Sequence[GraphState] | None = None,
        event: str | None = None,
    ) -> bool:
        """Move the scope's graph to ``state``; ``closed_at`` is set on closing, cleared on opening.

        Compare-and-set on ``only_from``: ``False``, writing nothing, when the graph is in none of
        these states. Moving to the state it is in changes nothing. With ``event``, the audit feed
        has an event of this kind, written in the same step where the engine has transactions.

        Raises:
            NotFound: The graph does not exist.
        """

    async def link(self, scope: Scope, parent: Parent) -> None:
        """Let the scope's graph inherit from one more graph, after those it has.

        Raises:
            NotFound: The graph or the parent does not exist.
            Conflict: The link exists, or the graph is archived.
            UsageError: It would close a cycle or make more than 1,000 ancestors for any graph
                (checked for the scope's own graph), or the parent is the catalog.
        """

    async def unlink(self, scope: Scope, parent_id: str) -> bool:
        """Revoke a link; ``False`` when there is none. Holds from the next ``standing`` on."""

    async def configure(
        self, scope: Scope, *, budget: Budget | None = None, retention: Retention | None = None
    ) -> SessionGraph:
        """Replace what is given and return the graph as it now is.

        Raises:
            NotFound: The graph does not exist.
        """


class FleetStore(Protocol):
    """The members of session graphs: who came, who is there, who fell silent.

    Each member is a row of its own, so that any number may come and go at once.
    """

    async def spawn(self, agent: AgentRecord) -> bool:
        """Add a member, or re-attach one of the same id; a spawn is a sign of life.

        Returns ``True`` when it is new. A re-attach takes over role, user, topics, sources, what
        is denied and the budget, and clears ``left_at`` and ``released``; the first spawn's time
        stays. ``seen_at`` is ``agent.seen_at`` or, if that is earlier, ``agent.spawned_at``.

        Raises:
            NotFound: The graph does not exist.
            Conflict: The graph is archived.
        """

    async def leave(
        self,
        scope: Scope,
        now: datetime,
        *,
        silent_since: datetime | None = None,
        reason: str | None = None,
    ) -> Departure:
        """Mark the scope's agent as gone and return what came of it. Idempotent.

        One that had been released leaves by it, and is ``released`` no more.

        With ``silent_since`` the agent is released instead: only if its last sign of life is at or
        before that moment, and it is marked ``released``. With ``reason``, the audit feed has an
        event ``left`` or ``released``, written in the same step where the engine can.
        """

    async def agents(self, scope: Scope) -> tuple[AgentRecord, ...]:
        """Return all members of the scope's graph, those who left included, in order of spawn."""

    async def beat(self, scope: Scope, agent_ids: Sequence[str], now: datetime) -> tuple[str, ...]:
        """Note a sign of life of members and return those of them that are present, sorted.

        ``seen_at`` never goes back. Those who left or were released stay as they are.
        """

    async def silent(
        self, tenant: str, silent_since: datetime, limit: int
    ) -> tuple[AgentRecord, ...]:
        """Return present members of any graph whose last sign of life is at or before a moment.

        The longest silent first, at most ``limit``.
        """


class UsageStore(Protocol):
    """What agents and graphs have used, counted under their limits."""

    async def charge(
        self, scope: Scope, amount: Usage, agent_limit: Budget, graph_limit: Budget
    ) -> None:
        """Count ``amount`` for the scope's agent, if it names one, and for its graph; or neither.

        Raises:
            BudgetExceeded: A count that ``amount`` adds to would come to lie above its limit. No
                count is changed.
        """

    async def refund(self, scope: Scope, amount: Usage) -> None:
        """Take back what was charged for something that did not happen; never below 0."""

    async def usage(self, scope: Scope) -> Usage:
        """Return what the scope's agent has used, or without an agent its graph."""

    async def usage_by_agent(self, scope: Scope) -> dict[str, Usage]:
        """Return what each agent of the graph has used that has used anything, by id."""

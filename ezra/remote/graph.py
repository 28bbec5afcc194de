"""The handle of a session graph on a server."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Self

from metaagents.learning.core import CoreBlock
from metaagents.lifecycle.conservation import ConservationReport
from metaagents.lifecycle.retirement import RetentionReport
from tiers.fleet import Inject
from tiers.plans import AnyGrain
from tiers.records import (
    AgentRecord,
    AuditEvent,
    AuditFilter,
    Budget,
    Episode,
    Grain,
    Parent,
    Receipt,
    Retention,
    Summary,
    Turn,
    Usage,
)

from ..agent_memory import AgentMemory
from ..graph_status import GraphStatus
from ..rebuilding import ReplayedContext
from ..redaction import RedactionReport
from ..wire import Nothing, audit, graphs, upkeep
from ..wire.audit import AuditAsked, ReceiptsOfAsked, ReplayAsked, TurnsAsked
from ..wire.graphs import ConfigureAsked, EpisodesAsked, GraphAnswer, InheritAsked, SpawnAsked
from ..wire.upkeep import GraphEraseAsked, PurgeAsked, RedactAsked, RetainAsked
from .agent import RemoteAgent
from .branching import GraphBranches
from .carrying import RemoteRows
from .connection import Connection
from .history import RemoteHistory
from .listing import listed
from .quarantine import RemoteQuarantine
from .recalling import GraphRecall


class RemoteGraph(GraphBranches, GraphRecall, RemoteRows):
    """N agents that work together, and what they remember, on a server.

    Each method is one call of the server and does what the method of the same name does of
    ``ezra.Graph``.
    """

    def __init__(self, connection: Connection, shown: GraphAnswer) -> None:
        self._connection = connection
        self._graph_id = shown.id
        self._shown = shown

    def _other(self, shown: GraphAnswer) -> Self:
        return type(self)(self._connection, shown)

    @property
    def id(self) -> str:
        """The graph's id."""
        return self._shown.id

    @property
    def inherits_from(self) -> tuple[str, ...]:
        """The graphs it inherits from directly, in order, as this handle last saw them."""
        return self._shown.inherits_from

    @property
    def quarantine(self) -> RemoteQuarantine:
        """What the write guard has put aside: to look at, release or discard."""
        return RemoteQuarantine(self._connection, self.id)

    async def spawn_agent(
        self,
        agent_id: str,
        *,
        topics: Iterable[str] | None = None,
        role: str = "",
        user_id: str | None = None,
        sources: Iterable[str] | None = None,
        denied_topics: Iterable[str] | None = None,
        denied_sources: Iterable[str] | None = None,
        budget: Budget | None = None,
        prompts: Mapping[AnyGrain, str] | None = None,
        inject: Inject = "off",
        model_window_tokens: int | None = None,
    ) -> RemoteAgent:
        """Add an agent; one of the same id is re-attached with all that is given here.

        Raises:
            PolicyDenied: The token allows no such topics, or another user.
            Conflict: The graph is archived.
            UsageError: An argument is not acceptable.
        """
        asked = SpawnAsked(
            topics=listed("topics", topics) or (),
            role=role,
            user_id=user_id,
            sources=listed("sources", sources),
            denied_topics=listed("denied_topics", denied_topics),
            denied_sources=listed("denied_sources", denied_sources),
            budget=budget,
            prompts=dict(prompts or {}),
            inject=inject,
            model_window_tokens=model_window_tokens,
        )
        shown = await self._connection.call(
            graphs.SPAWN, asked, graph_id=self.id, agent_id=agent_id
        )
        return RemoteAgent(self._connection, self.id, shown)

    async def agent(self, agent_id: str) -> RemoteAgent:
        """Return the handle of a member as it is, and change nothing about it.

        Raises:
            NotFound: The graph never had such a member.
            UsageError: It has left; ``spawn_agent`` lets it come back.
        """
        shown = await self._connection.call(
            graphs.MEMBER, Nothing(), graph_id=self.id, agent_id=agent_id
        )
        return RemoteAgent(self._connection, self.id, shown)

    async def agents(self) -> tuple[AgentRecord, ...]:
        """Return all members in order of spawn, those who left included."""
        return await self._connection.call(graphs.MEMBERS, Nothing(), graph_id=self.id)

    async def status(self) -> GraphStatus:
        """Return the graph's state and what each tier holds for it."""
        return await self._connection.call(graphs.STATUS, Nothing(), graph_id=self.id)

    async def memory_of(self, agent_id: str) -> AgentMemory:
        """Return what each tier holds for a member; as ``Graph.memory_of``.

        Raises:
            NotFound: The graph never had such a member.
        """
        asked = Nothing()
        return await self._connection.call(
            graphs.MEMORY, asked, graph_id=self.id, agent_id=agent_id
        )

    async def summaries(self) -> tuple[Summary, ...]:
        """Return all shared summaries of the graph, oldest period first."""
        return await self._connection.call(graphs.SUMMARIES, Nothing(), graph_id=self.id)

    async def episodes(
        self,
        since: datetime | None = None,
        until: datetime | None = None,
        *,
        grain: Grain | None = None,
    ) -> tuple[Episode, ...]:
        """Return all shared episodes that overlap ``[since, until)``, oldest first.

        Raises:
            UsageError: There is no such grain, or a moment has no zone.
        """
        asked = EpisodesAsked(since=since, until=until, grain=grain)
        return await self._connection.call(graphs.EPISODES, asked, graph_id=self.id)

    async def core(self, agent_id: str) -> CoreBlock:
        """Return the core facts in the next context of a member, what is left out, and the cost.

        Raises:
            NotFound: The graph never had such a member.
        """
        return await self._connection.call(
            graphs.CORE, Nothing(), graph_id=self.id, agent_id=agent_id
        )

    async def conservation(self) -> ConservationReport:
        """Count every turn of the graph at every grain: in one text of it, or in the tail."""
        return await self._connection.call(graphs.CONSERVATION, Nothing(), graph_id=self.id)

    async def retain(self, *, dry_run: bool = False, force: bool = False) -> RetentionReport:
        """Destroy the content of what is past its retention now; the schedule does it otherwise."""
        asked = RetainAsked(dry_run=dry_run, force=force)
        return await self._connection.call(upkeep.RETAIN, asked, graph_id=self.id)

    async def audit(
        self, after: int = 0, limit: int = 1000, *, only: AuditFilter | None = None
    ) -> tuple[AuditEvent, ...]:
        """Return the graph's audit feed after a ``seq``: ids and reasons, never content.

        Args:
            after: The ``seq`` of the last event of the page before; 0 begins.
            limit: 1 to 10,000.
            only: Which events; all if not given. With ``before`` the last ones come first.
        """
        asked = AuditAsked.page(after, limit, only)
        return await self._connection.call(audit.GRAPH_AUDIT, asked, graph_id=self.id)

    async def turns(
        self, agent_id: str, *, before: int | None = None, limit: int = 50
    ) -> tuple[Turn, ...]:
        """Return turns of a member, the last one first; as ``Graph.turns``.

        Raises:
            UsageError: A number is out of range.
        """
        asked = TurnsAsked(before=before, limit=limit)
        return await self._connection.call(audit.TURNS, asked, graph_id=self.id, agent_id=agent_id)

    async def receipts_of(self, turn_ids: Sequence[str]) -> dict[str, Receipt]:
        """Return what turns saw, by turn; as ``Graph.receipts_of``.

        Raises:
            UsageError: There are more than 100 ids.
        """
        asked = ReceiptsOfAsked(turn_ids=listed("turn_ids", turn_ids) or ())
        return await self._connection.call(audit.RECEIPTS_OF, asked, graph_id=self.id)

    async def receipt(self, receipt_id: str) -> Receipt:
        """Return what a turn saw.

        Raises:
            NotFound: The graph has no such receipt.
        """
        return await self._connection.call(
            audit.RECEIPT, Nothing(), graph_id=self.id, receipt_id=receipt_id
        )

    async def replay_context(self, receipt_id: str, *, today: bool = False) -> ReplayedContext:
        """Return what a turn or recall was given, byte for byte, whatever was written since.

        Raises:
            NotFound: The graph has no such receipt.
        """
        return await self._connection.call(
            audit.GRAPH_REPLAY,
            ReplayAsked(today=today),
            graph_id=self.id,
            receipt_id=receipt_id,
        )

    async def inherit(self, parent: str | Parent) -> None:
        """Inherit from one more graph, after those it inherits from already.

        Raises:
            NotFound: The parent does not exist.
            Conflict: The graph inherits from it already, or is archived.
            UsageError: The parent inherits from this graph, near or far.
        """
        asked = InheritAsked(parent=parent)
        self._shown = await self._connection.call(graphs.INHERIT, asked, graph_id=self.id)

    async def revoke(self, parent_id: str) -> bool:
        """Inherit from a parent no longer; ``False`` when it is none."""
        done = await self._connection.call(
            graphs.REVOKE, Nothing(), graph_id=self.id, parent_id=parent_id
        )
        self._shown = GraphAnswer(id=self.id, inherits_from=done.inherits_from)
        return done.revoked

    async def configure(
        self, *, budget: Budget | None = None, retention: Retention | None = None
    ) -> None:
        """Replace the graph's budget or retention; what is not given stays."""
        asked = ConfigureAsked(budget=budget, retention=retention)
        self._shown = await self._connection.call(graphs.CONFIGURE, asked, graph_id=self.id)

    async def usage(self) -> Usage:
        """Return what the graph has used of its budget."""
        return await self._connection.call(graphs.USAGE, Nothing(), graph_id=self.id)

    async def usage_by_agent(self) -> dict[str, Usage]:
        """Return what each agent has used that has used anything, by id."""
        return await self._connection.call(graphs.USAGE_BY_AGENT, Nothing(), graph_id=self.id)

    @property
    def beliefs(self) -> RemoteHistory:
        """The history of the graph's beliefs: what was believed when, by whom, and proof."""
        return RemoteHistory(self._connection, self.id)

    async def erase(
        self,
        *,
        subject: str | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
        reason: str,
    ) -> RedactionReport:
        """Redact every record that speaks of a subject, or is a user's or an agent's, with proof.

        Raises:
            UsageError: Not exactly one of the three is given, or something is blank.
        """
        asked = GraphEraseAsked(subject=subject, user_id=user_id, agent_id=agent_id, reason=reason)
        return await self._connection.call(upkeep.GRAPH_ERASE, asked, graph_id=self.id)

    async def purge(self, *, reason: str) -> RedactionReport:
        """Redact everything that the graph holds, in every store, with proof.

        Raises:
            UsageError: The reason is blank.
        """
        asked = PurgeAsked(reason=reason)
        return await self._connection.call(upkeep.PURGE, asked, graph_id=self.id)

    async def redact(self, record_ids: Sequence[str], *, reason: str) -> RedactionReport:
        """Destroy the content of records for good, and of all that was made of them.

        Raises:
            NotFound: One of the ids is no such record of this graph.
            UsageError: The reason is blank, or more than ``IDS_MAX`` ids are given.
        """
        asked = RedactAsked(record_ids=listed("record_ids", record_ids) or (), reason=reason)
        return await self._connection.call(upkeep.REDACT, asked, graph_id=self.id)

    async def close(self) -> None:
        """Let every agent leave and clear hot memory; everything else is kept. Idempotent."""
        await self._connection.call(graphs.CLOSE, Nothing(), graph_id=self.id)

    async def reopen(self) -> bool:
        """Open a closed graph again; ``False`` when it is open already.

        Raises:
            Conflict: It is archived: read it, or inherit from it.
        """
        return await self._connection.call(graphs.REOPEN, Nothing(), graph_id=self.id)

    async def archive(self) -> bool:
        """Close the graph and archive it now; ``False`` when it is archived already."""
        return await self._connection.call(graphs.ARCHIVE, Nothing(), graph_id=self.id)

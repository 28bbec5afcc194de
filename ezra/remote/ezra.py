"""The runtime on a server, as ``ezra.Ezra`` is in process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from metaagents.lifecycle.reports import LifecycleReport
from metaagents.reindex.agent import ReembedReport
from metaagents.reindex.rules import Reembedding
from metaagents.work import WorkReport
from tiers.errors import UsageError
from tiers.records import (
    AuditEvent,
    AuditFilter,
    Budget,
    MergeStrategy,
    Parent,
    Retention,
    SessionGraph,
    Work,
)
from tiers.upkeep import Table

from ..contradiction import Callback, Resolver
from ..erasure.redaction import RedactionReport
from ..handles.explanation import Story
from ..mesh import SourceAbout
from ..moving.graph_status import Health
from ..receipts.rebuilding import ReplayedContext
from ..wire import Nothing, audit, graphs, upkeep
from ..wire.audit import AuditAsked, ReplayAsked
from ..wire.carrying import IMPORT_ROWS, ImportRowsAsked
from ..wire.graphs import CreateAsked
from ..wire.upkeep import EraseAsked, RerunAsked
from .agent import RemoteAgent
from .catalog import RemoteCatalog
from .connection import Connection
from .graph import RemoteGraph

_IN_PROCESS = "none: a function does not go over the wire; open the runtime in process"


class RemoteEzra:
    """A memory runtime on a server. Made by ``Ezra.connect``.

    Each method is one call of the server and does what the method of the same name does of
    ``Ezra``. What needs a function of the caller is refused.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def create_session_graph(
        self,
        session_graph_id: str,
        *,
        inherits_from: Sequence[str | Parent] = (),
        merge_strategy: MergeStrategy | None = None,
        resolver: Resolver | None = None,
        inherit_rules: bool = True,
        inherit_episodes: bool = False,
        budget: Budget | None = None,
        retention: Retention | None = None,
        exist_ok: bool = False,
    ) -> RemoteGraph:
        """Create a session graph, or return the one that is there where that is as good.

        Raises:
            Conflict: The graph exists; with ``exist_ok``, it has other parents or another strategy.
            NotFound: A parent does not exist.
            UsageError: An argument is not acceptable; a resolver, and ``custom``, which needs one,
                never are.
        """
        _check_resolver(resolver)
        if merge_strategy == "custom":
            accepted = "last_write_wins, highest_trust or manual; a resolver lives in process only"
            raise UsageError("merge_strategy", merge_strategy, accepted)
        asked = CreateAsked.of(
            session_graph_id=session_graph_id,
            inherits_from=inherits_from,
            merge_strategy=merge_strategy,
            inherit_rules=inherit_rules,
            inherit_episodes=inherit_episodes,
            budget=budget,
            retention=retention,
            exist_ok=exist_ok,
        )
        return RemoteGraph(self._connection, await self._connection.call(graphs.CREATE, asked))

    async def session_graph(
        self, session_graph_id: str, *, resolver: Resolver | None = None
    ) -> RemoteGraph:
        """Return the handle of an existing graph.

        Raises:
            NotFound: It does not exist.
            UsageError: There is a resolver.
        """
        _check_resolver(resolver)
        shown = await self._connection.call(graphs.GET, Nothing(), graph_id=session_graph_id)
        return RemoteGraph(self._connection, shown)

    async def agent(self, session_graph_id: str, agent_id: str) -> RemoteAgent:
        """Return the handle of a member of a graph, for whoever has a token as that agent only.

        Raises:
            NotFound: The graph does not exist, or never had such a member.
            UsageError: The member has left.
        """
        shown = await self._connection.call(
            graphs.MEMBER, Nothing(), graph_id=session_graph_id, agent_id=agent_id
        )
        return RemoteAgent(self._connection, session_graph_id, shown)

    async def spawn_agent(self, session_graph_id: str, agent_id: str) -> RemoteAgent:
        """Let a member come back as it was, for whoever has a token as that agent only.

        Raises:
            NotFound: The graph does not exist.
            PolicyDenied: The token is not that agent's, or the agent is more than it allows.
        """
        shown = await self._connection.call(
            graphs.SPAWN, graphs.SpawnAsked(), graph_id=session_graph_id, agent_id=agent_id
        )
        return RemoteAgent(self._connection, session_graph_id, shown)

    async def session_graphs(self) -> tuple[SessionGraph, ...]:
        """Return all graphs of the tenant, oldest first."""
        return await self._connection.call(graphs.LIST, Nothing())

    async def import_rows(
        self, session_graph_id: str, table: Table, rows: Sequence[Mapping[str, Any]]
    ) -> int:
        """Put rows of a graph in that is not there, as ``graph.export_rows`` gave them.

        Raises:
            Conflict: The graph is there, or a row of the same identity is and differs.
            NotFound: It inherits from a graph that is not there.
            UsageError: A row is none of the table, of another graph or of another tenant.
        """
        asked = ImportRowsAsked(table=table, rows=tuple(dict(one) for one in rows))
        return await self._connection.call(IMPORT_ROWS, asked, graph_id=session_graph_id)

    async def mesh_sources(self) -> tuple[SourceAbout, ...]:
        """Return every live source of the server with what it may be asked, and by whom."""
        return await self._connection.call(upkeep.SOURCES, Nothing())

    async def catalog(self) -> RemoteCatalog:
        """Return the tenant's catalog, which every agent of every graph reads; made when new."""
        return RemoteCatalog(self._connection)

    async def audit(
        self, after: int = 0, limit: int = 1000, *, only: AuditFilter | None = None
    ) -> tuple[AuditEvent, ...]:
        """Return the tenant's audit feed after a ``position``, over all graphs, in order.

        Args:
            after: The ``position`` of the last event of the page before; 0 begins.
            limit: 1 to 10,000.
            only: Which events; all if not given. With ``before`` the last ones come first.
        """
        asked = AuditAsked.of(after=after, limit=limit, only=only)
        return await self._connection.call(audit.TENANT_AUDIT, asked)

    async def explain(self, record_id: str) -> Story:
        """Return what became of a record, and why: promoted, demoted, superseded, retired.

        Raises:
            NotFound: There is no such record.
        """
        return await self._connection.call(audit.EXPLAIN, Nothing(), record_id=record_id)

    async def replay_context(self, receipt_id: str, *, today: bool = False) -> ReplayedContext:
        """Return what a turn or a recall of any graph was given.

        Raises:
            NotFound: There is no such receipt.
        """
        asked = ReplayAsked(today=today)
        return await self._connection.call(audit.REPLAY, asked, receipt_id=receipt_id)

    def on_contradiction(self, callback: Callback) -> Callback:
        """Refuse: the server cannot call a function of its caller.

        Raises:
            UsageError: Always.
        """
        raise UsageError("callback", _name_of(callback), _IN_PROCESS)

    async def erase(
        self, *, subject: str | None = None, user_id: str | None = None, reason: str
    ) -> dict[str, RedactionReport]:
        """Erase a subject or a user from every graph of the tenant and from its catalog.

        Raises:
            UsageError: Not exactly one of the two is given, or something is blank.
        """
        asked = EraseAsked(subject=subject, user_id=user_id, reason=reason)
        return await self._connection.call(upkeep.ERASE, asked)

    async def public_key(self) -> str:
        """Return the key by which others verify what the server signs; hexadecimal.

        Raises:
            ConfigError: There is no signing key, or it is not acceptable.
        """
        return await self._connection.call(upkeep.PUBLIC_KEY, Nothing())

    async def rotate_key(self) -> str:
        """Make a new signing key, for which the present one vouches; return its public key.

        Raises:
            ConfigError: The key is in a setting, where only its owner can change it.
        """
        return await self._connection.call(upkeep.ROTATE_KEY, Nothing())

    async def run_lifecycle_tick(self, session_graph_id: str) -> LifecycleReport:
        """Compress, consolidate and evict for one graph now, and move it on if it is time."""
        return await self._connection.call(upkeep.TICK, Nothing(), graph_id=session_graph_id)

    async def drain_learning(self) -> WorkReport:
        """Finish all learning that is due."""
        return await self._connection.call(upkeep.LEARN, Nothing())

    async def reembedding(self) -> Reembedding | None:
        """Return how far re-embedding has come; ``None`` when there is nothing to do.

        To be awaited, unlike the property of ``Ezra``: the server has to be asked.
        """
        return await self._connection.call(upkeep.REEMBEDDING, Nothing())

    async def reembed(self) -> ReembedReport:
        """Finish re-embedding now, or say what stopped it."""
        return await self._connection.call(upkeep.REEMBED, Nothing())

    async def ensure_archival_index(
        self, progress: Callable[[str, str], None] | None = None
    ) -> str:
        """Make or check the vector index of a cold tier that searches facts by meaning itself.

        Raises:
            UsageError: There is a ``progress``.
            ConfigError: There is no embedding model, or an index is there that does not fit.
            TierRejected: The cold tier has no search of its own; the warm tier goes on answering.
            TierTimeout: It is still being built; asking again is harmless.
        """
        if progress is not None:
            raise UsageError("progress", _name_of(progress), _IN_PROCESS)
        return await self._connection.call(upkeep.ARCHIVAL_INDEX, Nothing())

    async def health(self) -> Health:
        """Return whether each tier of the server answers, and how fast, as the server sees it."""
        return await self._connection.call(upkeep.HEALTH, Nothing())

    async def metrics(self) -> str:
        """Return what the server's runtime counted and timed, in Prometheus' text form."""
        return await self._connection.call(upkeep.METRICS, Nothing())

    async def waiting_work(self) -> dict[str, int]:
        """Return how much work waits, by kind, and how much is parked."""
        return await self._connection.call(upkeep.WAITING, Nothing())

    async def parked_work(self) -> tuple[Work, ...]:
        """Return work that failed too often, with its problem."""
        return await self._connection.call(upkeep.PARKED, Nothing())

    async def rerun_work(self, work_ids: Sequence[str]) -> int:
        """Try parked work again; return how many items were put back."""
        asked = RerunAsked.of(work_ids=work_ids)
        return await self._connection.call(upkeep.RERUN, asked)


def _check_resolver(resolver: Resolver | None) -> None:
    if resolver is not None:
        raise UsageError("resolver", _name_of(resolver), _IN_PROCESS)


def _name_of(function: Callable[..., object]) -> str:
    return getattr(function, "__qualname__", type(function).__name__)

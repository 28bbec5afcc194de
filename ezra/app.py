"""``Ezra``: what people open, and the only thing they need to import first."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Literal

from metaagents.lifecycle.agent import LifecycleReport
from metaagents.work import WorkReport
from tiers.errors import NotFound, UsageError
from tiers.ids import Clock, system_clock
from tiers.ports import LanguageModel
from tiers.records import ALL_TOPICS, Scope, SessionGraph, Work

from .checks import checked
from .graph import Graph
from .parts import Parts
from .router import Connector
from .runtime import assemble_runtime
from .settings import Settings

MergeStrategy = Literal["last_write_wins", "highest_trust"]
_STRATEGIES = ("last_write_wins", "highest_trust")


class Ezra:
    """A running memory runtime. Made by ``Ezra.open``."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        settings: Settings | None = None,
        *,
        model: LanguageModel | None = None,
        connectors: Mapping[str, Connector] | None = None,
        clock: Clock = system_clock,
    ) -> AsyncIterator[Ezra]:
        """Open the runtime for the length of an ``async with`` block.

        Args:
            settings: How to build it; from ``EZRA_*`` variables if not given.
            model: Answers in ``agent.complete``; an echo that says so if not given.
            connectors: Mesh sources by name.
            clock: Where the time comes from; a test passes its own.

        Raises:
            ConfigError: A setting does not allow it, or another process owns the data folder.
        """
        chosen = settings or Settings()
        built = assemble_runtime(chosen, model, dict(connectors or {}), clock)
        async with built as parts:
            yield cls(parts)

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._parts.settings

    @property
    def embedder(self) -> str | None:
        """The embedding model in use, or ``None`` when recall is by words only."""
        return self._parts.embedder.model_id if self._parts.embedder else None

    async def create_session_graph(
        self,
        session_graph_id: str,
        *,
        inherits_from: Sequence[str] = (),
        merge_strategy: MergeStrategy = "last_write_wins",
    ) -> Graph:
        """Create a session graph.

        Args:
            session_graph_id: Unique in the tenant.
            inherits_from: Graphs whose core facts and rules its agents read, in order.
            merge_strategy: How two beliefs of one key are settled. All agents are trusted alike,
                so ``highest_trust`` lets the later one win as well.

        Raises:
            Conflict: The graph exists.
            NotFound: A parent does not exist.
        """
        if merge_strategy not in _STRATEGIES:
            raise UsageError("merge_strategy", merge_strategy, ", ".join(_STRATEGIES))
        record = checked(
            SessionGraph,
            tenant=self._parts.settings.tenant,
            id=session_graph_id,
            inherits_from=tuple(dict.fromkeys(inherits_from)),
            merge_strategy=merge_strategy,
            created_at=self._parts.clock(),
        )
        await self._parts.graphs.create_graph(record)
        scope = Scope(tenant=record.tenant, graph_id=record.id, topics=(ALL_TOPICS,))
        reason = f"inherits from {', '.join(record.inherits_from) or 'nothing'}"
        await self._parts.log.append_audit(scope, "created", (), reason, record.created_at)
        return Graph(self._parts, record)

    async def session_graph(self, session_graph_id: str) -> Graph:
        """Return the handle of an existing graph.

        Raises:
            NotFound: It does not exist.
        """
        tenant = self._parts.settings.tenant
        record = await self._parts.graphs.graph(tenant, session_graph_id)
        if record is None:
            raise NotFound("session graph", session_graph_id)
        return Graph(self._parts, record)

    async def session_graphs(self) -> tuple[SessionGraph, ...]:
        """Return all graphs of the tenant, oldest first."""
        return await self._parts.graphs.graphs(self._parts.settings.tenant)

    async def run_lifecycle_tick(self, session_graph_id: str) -> LifecycleReport:
        """Compress, consolidate and evict for one graph now.

        When it returns, the new summaries can be recalled.
        """
        graph = await self.session_graph(session_graph_id)
        scope = Scope(tenant=self._parts.settings.tenant, graph_id=graph.id, topics=(ALL_TOPICS,))
        report = await self._parts.sweep(scope)
        indexed = await self._parts.learning_worker.drain(scope)
        return replace(report, problems=(*report.problems, *indexed.problems))

    async def drain_learning(self) -> WorkReport:
        """Finish all learning that is due: indexing, counting uses, promotion."""
        return await self._parts.learning_worker.drain()

    async def waiting_work(self) -> dict[str, int]:
        """Return how much work waits, by kind, and how much is parked."""
        return await self._parts.queue.waiting()

    async def parked_work(self) -> tuple[Work, ...]:
        """Return work that failed too often, with its problem."""
        return await self._parts.queue.parked()

    async def rerun_work(self, work_ids: Sequence[str]) -> int:
        """Try parked work again; return how many items were put back."""
        put_back = await self._parts.queue.rerun(work_ids)
        self._parts.wake_learning()
        return put_back

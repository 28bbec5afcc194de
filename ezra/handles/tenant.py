"""What is asked of a whole tenant: its graphs, its catalog, and the upkeep of what it holds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, JsonValue

from metaagents.lifecycle.reports import LifecycleReport
from metaagents.reindex.agent import ReembedReport
from metaagents.work import WorkReport
from tiers.errors import (
    ConfigError,
    Conflict,
    EzraError,
    NotFound,
    TierError,
    TierRejected,
    UsageError,
)
from tiers.fields import Word
from tiers.fleet import CATALOG
from tiers.records import (
    AuditEvent,
    AuditFilter,
    Budget,
    MergeStrategy,
    Parent,
    Retention,
    Scope,
    SessionGraph,
    Text,
    Work,
)
from tiers.upkeep import PAGE_ROWS_MAX, Table

from ..arguments import check_call
from ..checks import KNOWN_MAX, check_agrees, check_graph_id, checked, checked_ids, parent_of
from ..contradiction import Callback, Resolver
from ..erasure.redaction import RedactionReport, erase, retire
from ..erasure.subjects import Whose
from ..mesh import SourceAbout
from ..moving.carrying import (
    DiscardedImport,
    check_nothing_left,
    discard_import,
    import_rows,
    unfinished_import,
)
from ..moving.graph_status import Health, health_of, index_age_of
from ..operations import EventsPage, Ids, InPath, Named, Reason, Sent, checks_arguments, operation
from ..receipts.rebuilding import ReplayedContext, rebuild
from ..runtime import Runtime
from .catalog import Catalog
from .explanation import Story, explain
from .graph import Graph

PARENTS_MAX = 1_000
"""So many graphs can be named at once over a wire; more are linked one by one."""

_StrategySent: TypeAlias = Literal["last_write_wins", "highest_trust", "manual"] | None
"""``custom`` needs a function, and a function does not go over the wire."""

_GraphId: TypeAlias = Annotated[Named, InPath("graph_id")]
_Rows: TypeAlias = Annotated[Sequence[dict[str, JsonValue]], Field(max_length=PAGE_ROWS_MAX)]


class Tenant:
    """The runtime as its tenant has it, here or on a server: ``Ezra`` opens one."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    @operation("POST", "/graphs", changes=True, repeats=False, name="graph.create")
    async def create_session_graph(
        self,
        session_graph_id: Word,
        *,
        inherits_from: Annotated[Sequence[str | Parent], Field(max_length=PARENTS_MAX)] = (),
        merge_strategy: Annotated[MergeStrategy | None, Sent(_StrategySent)] = None,
        resolver: Annotated[Resolver | None, Sent(None)] = None,
        inherit_rules: bool = True,
        inherit_episodes: bool = False,
        budget: Budget | None = None,
        retention: Retention | None = None,
        exist_ok: bool = False,
    ) -> Graph:
        """Create a session graph, or return the one that is there where that is as good.

        Args:
            session_graph_id: Unique in the tenant.
            inherits_from: Graphs whose core facts its agents read, and those that these inherit
                from, in order. An id, or a ``Parent`` that says as of when it is read and what
                comes through.
            merge_strategy: How two beliefs that contradict each other are settled:
                ``last_write_wins``, which it is if not given; ``highest_trust``, where of two alike
                the later wins; ``manual``, by the ``on_contradiction`` callback; ``custom``, by
                ``resolver``.
            resolver: For ``custom``: called with a ``Contradiction``, returns who wins. It lives
                as long as this runtime: ``session_graph(id, resolver=…)`` gives it again. Where
                there is none, the last write wins, and the history says why.
            inherit_rules: Whether rules come through from parents given by id.
            inherit_episodes: Whether episodes do.
            budget: The most that all its agents together may use; unlimited if not given.
            retention: What it keeps longer or shorter than the settings say.
            exist_ok: Whether a graph of that id that has the same parents, and the same merge
                strategy if one is given, is returned as it is: with its own budget and retention.

        Raises:
            Conflict: The graph exists; with ``exist_ok``, it has other parents or another strategy.
            NotFound: A parent does not exist.
            UsageError: An argument is not acceptable.
        """
        if (resolver is not None) != (merge_strategy == "custom"):
            raise UsageError("resolver", resolver, "one for merge_strategy='custom' only")
        now = self._runtime.clock()
        parents = _parents(inherits_from, now, rules=inherit_rules, episodes=inherit_episodes)
        record = checked(
            SessionGraph,
            {"id": "session_graph_id", "parents": "inherits_from"},
            tenant=self._runtime.settings.tenant,
            id=session_graph_id,
            parents=tuple(dict.fromkeys(parents)),
            merge_strategy=merge_strategy or "last_write_wins",
            budget=budget or Budget(),
            retention=retention or Retention(),
            created_at=now,
        )
        check_graph_id(record.id)
        try:
            await check_nothing_left(self._runtime, record)
            await self._runtime.graphs.create_graph(record)
        except Conflict:
            there = await self._runtime.graphs.graph(record.tenant, record.id) if exist_ok else None
            if there is None:
                raise
            check_agrees(record, there, strategy=merge_strategy)
            self._runtime.handlers.resolve_by(there.id, resolver)
            return Graph(self._runtime, there)
        scope = Scope.of_graph(record.tenant, record.id)
        reason = f"inherits from {', '.join(record.inherits_from) or 'nothing'}"
        await self._runtime.log.append_audit(scope, "created", (), reason, record.created_at)
        self._runtime.handlers.resolve_by(record.id, resolver)
        return Graph(self._runtime, record)

    @checks_arguments("session_graph_id")
    async def session_graph(
        self, session_graph_id: Named, *, resolver: Resolver | None = None
    ) -> Graph:
        """Return the handle of an existing graph.

        Args:
            session_graph_id: Which.
            resolver: Settles contradictions of a graph whose merge strategy is ``custom``, as
                long as this runtime lives.

        Raises:
            NotFound: It does not exist.
            UsageError: There is a resolver, and the strategy is another.
        """
        check_graph_id(session_graph_id)
        tenant = self._runtime.settings.tenant
        record = await self._runtime.graphs.graph(tenant, session_graph_id)
        if record is None:
            known = await self._runtime.graphs.graph_names(tenant, KNOWN_MAX)
            unknown = NotFound("session graph", session_graph_id)
            raise await asyncio.to_thread(unknown.beside, known)
        if resolver is not None:
            if record.merge_strategy != "custom":
                raise UsageError("resolver", resolver, "none for " + record.merge_strategy)
            self._runtime.handlers.resolve_by(record.id, resolver)
        return Graph(self._runtime, record)

    @operation("GET", "/graphs", name="graph.list")
    async def session_graphs(self) -> tuple[SessionGraph, ...]:
        """Return all graphs of the tenant, oldest first."""
        found = await self._runtime.graphs.graphs(self._runtime.settings.tenant)
        return tuple(graph for graph in found if graph.id != CATALOG)

    @operation("POST", "/graphs/{graph_id}/rows", changes=True, name="graph.import_rows")
    async def import_rows(
        self,
        session_graph_id: _GraphId,
        table: Table,
        rows: Annotated[Sequence[Mapping[str, Any]], Sent(_Rows)],
    ) -> int:
        """Put rows of a graph or of the catalog in that is not there, as ``export_rows`` gave them.

        Returns how many are new. The row of ``graphs`` comes last and makes the graph be there;
        until then nobody sees the others, and putting them in again is harmless.

        Raises:
            Conflict: The graph is there, or a row of the same identity is and differs.
            NotFound: It inherits from a graph that is not there.
            UsageError: A row is none of the table, of another graph or of another tenant.
        """
        return await import_rows(self._runtime, session_graph_id, table, rows)

    @operation("GET", "/graphs/{graph_id}/unfinished-import", name="graph.unfinished_import")
    async def unfinished_import(self, session_graph_id: _GraphId) -> dict[Table, int]:
        """Return how many rows of each table an import that was cut off has put in.

        Empty where there is none, and where the graph is there.

        Raises:
            UsageError: No graph can have the id.
        """
        return await unfinished_import(self._runtime, session_graph_id)

    @operation(
        "DELETE", "/graphs/{graph_id}/unfinished-import", changes=True, name="graph.discard_import"
    )
    async def discard_import(self, session_graph_id: _GraphId) -> DiscardedImport:
        """Take away what an import that was cut off has put in, from every store.

        For one whose file is lost: nobody sees these rows, and no erasure reaches them. An import
        that goes on meanwhile finds out at its end, and says so. One that was cut off itself is
        finished by calling it again.

        Raises:
            Conflict: The graph is there.
            NotFound: There is nothing of such an import.
            UsageError: No graph can have the id.
        """
        return await discard_import(self._runtime, session_graph_id)

    @operation("GET", "/mesh", name="mesh.sources")
    async def mesh_sources(self) -> tuple[SourceAbout, ...]:
        """Return every live source with what it may be asked, and by whom; not where it is."""
        return self._runtime.fetcher.sources

    async def catalog(self) -> Catalog:
        """Return the tenant's catalog, which every agent of every graph reads; made when new."""
        return await Catalog.opened(self._runtime)

    @operation("GET", "/audit", name="audit.read")
    async def audit(
        self, after: int = 0, limit: EventsPage = 1000, *, only: AuditFilter | None = None
    ) -> tuple[AuditEvent, ...]:
        """Return the tenant's audit feed after a ``position``, over all graphs, in order.

        Args:
            after: The ``position`` of the last event of the page before; 0 begins.
            limit: 1 to 10,000.
            only: Which events; all if not given. With ``before`` the last ones come first.
        """
        tenant = self._runtime.settings.tenant
        return await self._runtime.log.tenant_audit(tenant, after, limit, only)

    @operation("GET", "/records/{record_id}/story", name="record.explain")
    async def explain(self, record_id: str) -> Story:
        """Return what became of a record, and why: promoted, demoted, superseded, retired.

        Facts, playbooks, turns, summaries, episodes, documents, beliefs and cards of the board, of
        any graph; of beliefs ``graph.beliefs.explain`` tells more.

        Raises:
            NotFound: There is no such record.
        """
        return await explain(self._runtime, record_id)

    @operation("GET", "/receipts/{receipt_id}/replay", name="receipt.replay_context")
    async def replay_context(self, receipt_id: str, *, today: bool = False) -> ReplayedContext:
        """Return what a turn or a recall of any graph was given; as ``graph.replay_context``.

        Raises:
            NotFound: There is no such receipt.
        """
        found = await self._runtime.log.find_receipt(self._runtime.settings.tenant, receipt_id)
        if found is None:
            raise NotFound("receipt", receipt_id)
        scope = Scope.of_graph(found.tenant, found.graph_id)
        return await rebuild(self._runtime, scope, found, today=today)

    def on_contradiction(self, callback: Callback) -> Callback:
        """Register who decides contradictions in graphs with ``merge_strategy="manual"``.

        To be used as a decorator on an async function. It is called with a ``Contradiction`` and
        returns who wins: ``"new"``, ``"old"``, ``"both"``, one of the two beliefs, or its id.
        When it is later than ``resolution_timeout_seconds``, fails, or returns ``None``, the last
        write wins, and the history says why. Under other strategies it is told of each
        contradiction after it was settled. The one registered last counts. What it commits to
        itself is settled like anything else, so it may be asked of that as well.

        Raises:
            UsageError: It is no function.
        """
        check_call(Tenant.on_contradiction, {"callback": callback})
        self._runtime.handlers.callback = callback
        return callback

    @operation("POST", "/erasures", changes=True, repeats=False, name="tenant.erase")
    async def erase(
        self, *, subject: Text | None = None, user_id: Word | None = None, reason: Reason
    ) -> dict[str, RedactionReport]:
        """Erase a subject or a user from every graph of the tenant and from its catalog.

        As ``graph.erase``, one report per graph that held something. Archived graphs as well.

        Raises:
            UsageError: Not exactly one of the two is given, something is blank, or the reason
                names the subject.
        """
        whose = Whose(subject, user_id)
        whose.check(("subject", "user_id"))
        whose.check_reason(reason)  # also where no graph is there to ask
        reports: dict[str, RedactionReport] = {}
        for record in await self._runtime.graphs.graphs(self._runtime.settings.tenant):
            scope = Scope.of_graph(record.tenant, record.id)
            done = await erase(self._runtime, scope, whose, reason)
            if done.ids:
                reports[record.id] = done
        return reports

    @operation("GET", "/key", name="key.get")
    async def public_key(self) -> str:
        """Return the key by which others verify what this installation signs; hexadecimal.

        Raises:
            ConfigError: There is no signing key, or it is not acceptable.
        """
        return (await self._runtime.signer.needed()).public_hex

    @operation("POST", "/key", changes=True, repeats=False, name="key.rotate")
    async def rotate_key(self) -> str:
        """Make a new signing key, for which the present one vouches; return its public key.

        Whoever trusts the former public key can go on verifying with it: exports carry what
        vouches for each later key.

        Raises:
            ConfigError: The key is in a setting, where only its owner can change it.
        """
        return (await self._runtime.signer.rotate()).public_hex

    @operation("POST", "/graphs/{graph_id}/lifecycle", changes=True, name="lifecycle.tick")
    async def run_lifecycle_tick(self, session_graph_id: _GraphId) -> LifecycleReport:
        """Compress, consolidate and evict for one graph now, and move it on if it is time.

        Members that fell silent are let go first. When it returns, the new summaries can be
        recalled.
        """
        graph = await self.session_graph(session_graph_id)
        scope = Scope.of_graph(self._runtime.settings.tenant, graph.id)
        await self._runtime.membership.keep()
        report = await self._runtime.sweep(scope)
        record = await self._runtime.graphs.graph(scope.tenant, scope.graph_id)
        retired = 0 if record is None else await retire(self._runtime, record)
        indexed = await self._runtime.index_worker.drain(scope)
        problems = (*report.problems, *indexed.problems)
        return replace(report, beliefs_retired=retired, problems=problems)

    @operation("POST", "/learning", changes=True, name="learning.drain")
    async def drain_learning(self) -> WorkReport:
        """Finish all learning that is due.

        Indexing, counting uses, promotion, learning from turns, and judging what was learnt.
        """
        report = await self._runtime.finish_learning()
        if self._runtime.archival is not None:
            try:
                await self._runtime.archival.run_to_end()
            except EzraError as error:
                report.problems.append(f"archival vectors: {type(error).__name__}: {error}")
        return report

    @operation("POST", "/reembedding", changes=True, name="reembedding.finish")
    async def reembed(self) -> ReembedReport:
        """Finish re-embedding now, or say what stopped it."""
        return await self._runtime.reembedder.run_to_end()

    @operation("POST", "/archival-index", changes=True, name="archival_index.ensure")
    async def ensure_archival_index(
        self, progress: Annotated[Callable[[str, str], None] | None, Sent(None)] = None
    ) -> str:
        """Make or check the vector index of a cold tier that searches facts by meaning itself.

        Waits until it answers and every fact has its vector, and returns how archival facts are
        recalled from then on.

        Args:
            progress: Told an index's name and state whenever the server was asked.

        Raises:
            ConfigError: There is no embedding model, or an index is there that does not fit.
            TierRejected: The cold tier has no search of its own; the warm tier goes on answering.
            TierTimeout: It is still being built; asking again is harmless.
        """
        keeper = self._runtime.archival
        if keeper is None:
            reason = "this cold tier has no vector search; the warm tier finds facts by meaning"
            raise TierRejected("cold", "ensure archival index", reason)
        if self._runtime.embedder is None:
            raise ConfigError("EZRA_EMBEDDER", "an index needs vectors, and no model makes them")
        return await keeper.ensure(self._runtime.embedder.dimensions, progress)

    @operation("GET", "/health", name="health.get")
    async def health(self) -> Health:
        """Return whether each tier answers, and how fast. A tier that does not is no error."""
        return await health_of(self._runtime)

    @operation("GET", "/metrics", name="metrics.get")
    async def metrics(self) -> str:
        """Return what this runtime counted and timed, in Prometheus' text form.

        Turns, recalls and legs, tiers that were missing, queued work, what the meta-agents did,
        and the process. Values of labels are no ids and no content. While the cold tier is away
        the depth of the queue is left out.
        """
        numbers = self._runtime.telemetry.numbers
        try:
            numbers.late.waiting = await self.waiting_work()
            numbers.late.index_age = await index_age_of(self._runtime)
        except TierError:
            numbers.late.waiting = numbers.late.index_age = None
        return (await asyncio.to_thread(numbers.text)).decode()

    @operation("GET", "/waiting-work", name="work.waiting")
    async def waiting_work(self) -> dict[str, int]:
        """Return how much work waits, by kind, and how much is parked."""
        return await self._runtime.queue.waiting(tenant=self._runtime.settings.tenant)

    @operation("GET", "/parked-work", name="work.parked")
    async def parked_work(self) -> tuple[Work, ...]:
        """Return work that failed too often, with its problem."""
        return await self._runtime.queue.parked(tenant=self._runtime.settings.tenant)

    @operation("POST", "/parked-work", changes=True, repeats=False, name="work.rerun")
    async def rerun_work(self, work_ids: Ids) -> int:
        """Try parked work again; return how many items were put back."""
        ids, tenant = checked_ids("work_ids", work_ids), self._runtime.settings.tenant
        put_back = await self._runtime.queue.rerun(ids, tenant=tenant)
        self._runtime.wake_learning()
        return put_back


def _parents(
    named: Sequence[str | Parent], now: datetime, *, rules: bool, episodes: bool
) -> list[Parent]:
    by_id = {"rules": rules, "episodes": episodes}
    return [
        parent_of(one, now).model_copy(update=by_id if isinstance(one, str) else {})
        for one in named
    ]

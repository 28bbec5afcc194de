"""The catalog of a tenant: facts and rules that every agent of every graph may read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Unpack

from tiers.errors import Conflict, UsageError
from tiers.fleet import CATALOG
from tiers.records import (
    ALL_TOPICS,
    AuditEvent,
    AuditFilter,
    Fact,
    Rule,
    Scope,
    SessionGraph,
    Turn,
)

from ..checks import checked, checked_ids
from ..documents import DocumentsOfGraph
from ..erasure.redaction import RedactionReport, redact
from ..moving.carrying import GraphRows, check_nothing_left
from ..moving.graph_status import GraphStatus, status_of
from ..operations import EventsPage, Ids, Reason, operation
from ..recall.handle_recall import ask
from ..recall.request import Answers, Kinds, Narrowing, request_of
from ..recaller import RecallResult
from ..runtime import Runtime
from .remembering import (
    Memory,
    check_superseded,
    checked_place,
    memory_of,
    place_of,
    refine,
    store,
)


class Catalog(DocumentsOfGraph, GraphRows):
    """What is true for a whole tenant. Read by all its agents, filtered by their topics.

    It is the farthest ancestor of every graph: what a graph or one of its parents defines is
    nearer and wins. Made by ``ezra.catalog()``.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._scope = Scope.of_graph(runtime.settings.tenant, CATALOG)

    @classmethod
    async def opened(cls, runtime: Runtime) -> Catalog:
        """Return the tenant's catalog, made when new.

        Raises:
            Conflict: An import of one was cut off; repeating it makes the catalog.
        """
        tenant = runtime.settings.tenant
        if await runtime.graphs.graph(tenant, CATALOG) is None:
            record = SessionGraph(tenant=tenant, id=CATALOG, created_at=runtime.clock())
            await check_nothing_left(runtime, record)
            with suppress(Conflict):  # somebody made it at the same moment
                await runtime.graphs.create_graph(record)
        return cls(runtime)

    @operation("GET", "/status")
    async def status(self) -> GraphStatus:
        """Return what each tier holds for the catalog.

        Raises:
            NotFound: There is none yet.
        """
        return await status_of(self._runtime, self._scope)

    @operation("POST", "/memories", changes=True)
    async def remember(
        self,
        what: Memory,
        *,
        topics: Iterable[str] | None = None,
        supersedes: str | None = None,
    ) -> str:
        """Put a fact or a rule into the catalog and return its id.

        Args:
            what: Text (a fact), a ``Fact`` or a ``Rule``. A core fact is in every context of every
                agent that holds its topics; any other is found by recall.
            topics: Its topics; those of ``what``, else none, if not given.
            supersedes: The id of the catalog's fact whose place it takes, or of its rule that gets
                these steps.

        Raises:
            UsageError: ``what`` or a topic is not acceptable.
        """
        record = memory_of(what)
        line: Sequence[Fact] = ()
        if supersedes is not None and not isinstance(record, Rule):
            line = await check_superseded(self._runtime, self._scope, supersedes)
        given = record.topics if topics is None else checked(Turn, topics=topics).topics
        if ALL_TOPICS in given:
            raise UsageError("topics", ALL_TOPICS, "names of topics")
        if supersedes is not None and isinstance(record, Rule):
            arguments = (self._runtime, self._scope, record, supersedes, given)
            return (await refine(*arguments, source="user"))[0]
        new = (self._runtime, self._scope, record, given)
        taken = place_of(line[-1].id, self._scope) if line else None
        stored_id, _ = await store(*new, private=False, former=line, taken=taken)
        return checked_place(stored_id, supersedes)

    @operation("POST", "/recall")
    async def recall(
        self,
        query: str,
        *,
        limit: Answers = 10,
        kinds: Kinds | None = None,
        as_of: datetime | None = None,
        rerank: bool = True,
        **more: Unpack[Narrowing],
    ) -> RecallResult:
        """Return what the catalog knows about ``query``, best first, as ``Agent.recall`` does."""
        request = request_of(query, limit=limit, kinds=kinds, as_of=as_of, rerank=rerank, more=more)
        return await ask(self._runtime, self._scope, request)

    @operation("POST", "/facts/lookup")
    async def facts(self, ids: Ids) -> tuple[Fact, ...]:
        """Return the facts among ``ids``, in the order asked."""
        return await self._runtime.semantic.facts(self._scope, checked_ids("ids", ids))

    @operation("GET", "/core")
    async def core(self) -> tuple[Fact, ...]:
        """Return the catalog's core facts, oldest first."""
        return await self._runtime.semantic.core(self._scope)

    @operation("POST", "/rules/lookup")
    async def rules(self, text: str, limit: int = 10) -> tuple[Rule, ...]:
        """Return the rules whose trigger shares words with ``text``, best match first."""
        return await self._runtime.procedural.match_rules(self._scope, text, limit)

    @operation("POST", "/redactions", changes=True, repeats=False)
    async def redact(self, record_ids: Ids, *, reason: Reason) -> RedactionReport:
        """Destroy the content of catalog records for good; otherwise as ``Graph.redact``."""
        ids = checked_ids("record_ids", record_ids)
        return await redact(self._runtime, self._scope, ids, reason)

    @operation("GET", "/audit")
    async def audit(
        self, after: int = 0, limit: EventsPage = 1000, *, only: AuditFilter | None = None
    ) -> tuple[AuditEvent, ...]:
        """Return the catalog's audit feed after a ``seq``, in order."""
        return await self._runtime.log.audit(self._scope, after, limit, only)

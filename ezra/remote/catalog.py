"""The catalog of a tenant on a server."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Unpack

from tiers.records import AuditEvent, AuditFilter, Fact, Kind, Rule

from ..recall import RecallResult
from ..redaction import RedactionReport
from ..request import Narrowing
from ..wire import Nothing
from ..wire import catalog as wire
from ..wire.audit import AuditAsked
from ..wire.recalling import FactsAsked
from ..wire.upkeep import RedactAsked
from .connection import Connection
from .documents import RemoteDocuments, catalog_documents
from .listing import listed
from .recalling import recall_asked


class RemoteCatalog:
    """What is true for a whole tenant, on a server. Made by ``ezra.catalog()``.

    Each method does what the method of the same name does of ``ezra.catalog.Catalog``.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @property
    def documents(self) -> RemoteDocuments:
        """The documents that every graph of the tenant reads, to read and to change."""
        return catalog_documents(self._connection)

    async def remember(
        self,
        what: str | Fact | Rule,
        *,
        topics: Iterable[str] | None = None,
        supersedes: str | None = None,
    ) -> str:
        """Put a fact or a rule into the catalog and return its id."""
        asked = wire.RememberAsked(
            what=what, topics=listed("topics", topics), supersedes=supersedes
        )
        return await self._connection.call(wire.REMEMBER, asked)

    async def recall(
        self,
        query: str,
        *,
        limit: int = 10,
        kinds: Sequence[Kind] | None = None,
        as_of: datetime | None = None,
        rerank: bool = True,
        **more: Unpack[Narrowing],
    ) -> RecallResult:
        """Return what the catalog knows about ``query``, best first."""
        asked = recall_asked(
            query, limit=limit, kinds=kinds, scope="any", as_of=as_of, rerank=rerank, more=more
        )
        narrowed = wire.CatalogRecallAsked(**asked.said)
        return await self._connection.call(wire.CATALOG_RECALL, narrowed)

    async def facts(self, ids: Sequence[str]) -> tuple[Fact, ...]:
        """Return the facts among ``ids``, in the order asked."""
        asked = FactsAsked(ids=listed("ids", ids) or ())
        return await self._connection.call(wire.FACTS, asked)

    async def core(self) -> tuple[Fact, ...]:
        """Return the catalog's core facts, oldest first."""
        return await self._connection.call(wire.CORE, Nothing())

    async def rules(self, text: str, limit: int = 10) -> tuple[Rule, ...]:
        """Return the rules whose trigger shares words with ``text``, best match first."""
        return await self._connection.call(wire.RULES, wire.RulesAsked(text=text, limit=limit))

    async def redact(self, record_ids: Sequence[str], *, reason: str) -> RedactionReport:
        """Destroy the content of catalog records for good; otherwise as ``Graph.redact``."""
        asked = RedactAsked(record_ids=listed("record_ids", record_ids) or (), reason=reason)
        return await self._connection.call(wire.REDACT, asked)

    async def audit(
        self, after: int = 0, limit: int = 1000, *, only: AuditFilter | None = None
    ) -> tuple[AuditEvent, ...]:
        """Return the catalog's audit feed after a ``seq``, in order."""
        return await self._connection.call(wire.AUDIT, AuditAsked.page(after, limit, only))

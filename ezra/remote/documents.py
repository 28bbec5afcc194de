"""The documents of a handle on a server. They are read and cut on this side of the wire."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from pydantic import JsonValue

from tiers.documents import Document, Passage, Revised
from tiers.errors import UsageError

from ..documents import SHELF, Draft, drafted
from ..wire import Nothing
from ..wire.documents import (
    AGENT_DOCUMENTS,
    CATALOG_DOCUMENTS,
    GRAPH_DOCUMENTS,
    DocumentOperations,
    ListAsked,
    NamedAsked,
    PassagesAsked,
    RemoveAsked,
    RevisionsAsked,
    StoreAsked,
)
from .connection import Connection
from .listing import listed


class RemoteDocuments:
    """Documents as one agent, the operator of a session graph or a tenant's catalog sees them.

    With the methods of ``ezra.documents.Documents``, which say more.

    Args:
        connection: To the server.
        operations: Those of agents, of graphs, or of the catalog.
        names: Of the graph and of the agent, where it is about them.
    """

    def __init__(
        self, connection: Connection, operations: DocumentOperations, names: Mapping[str, str]
    ) -> None:
        self._connection = connection
        self._operations = operations
        self._names = dict(names)

    async def put(
        self,
        name: str,
        content: str | bytes,
        *,
        shelf: str = SHELF,
        title: str | None = None,
        media_type: str | None = None,
        properties: Mapping[str, JsonValue] | None = None,
        topics: Iterable[str] | None = None,
        keep_text: bool = False,
        expected_revision: int | None = None,
        machine: str = "",
        private: bool = False,
        even_if_redacted: bool = False,
    ) -> Revised:
        """Read a document, cut it into passages, and store it or its next revision.

        It is read here, and its text is sent: what the server takes at once is its setting
        ``EZRA_SERVE_BODY_BYTES_MAX``.
        """
        draft = await drafted(
            name,
            content,
            shelf=shelf,
            title=title,
            media_type=media_type,
            properties=properties,
            topics=listed("topics", topics),
            keep_text=keep_text,
        )
        return await self.store(
            draft,
            expected_revision=expected_revision,
            machine=machine,
            private=private,
            even_if_redacted=even_if_redacted,
        )

    async def store(
        self,
        draft: Draft,
        *,
        expected_revision: int | None = None,
        machine: str = "",
        private: bool = False,
        even_if_redacted: bool = False,
    ) -> Revised:
        """Store what ``drafted`` has read; otherwise as ``put``."""
        asked = StoreAsked(
            draft=draft,
            expected_revision=expected_revision,
            machine=machine,
            private=private,
            even_if_redacted=even_if_redacted,
        )
        try:
            return await self._connection.call(self._operations.store, asked, **self._names)
        except UsageError as error:
            if error.field != "body":
                raise
            accepted = f"{error.accepted}, as the server's EZRA_SERVE_BODY_BYTES_MAX says"
            raise UsageError("content", error.value, accepted) from error

    async def list(
        self,
        shelf: str | None = None,
        *,
        after: str = "",
        limit: int = 100,
        removed: bool = False,
        as_of: datetime | None = None,
    ) -> tuple[Document, ...]:
        """Return documents in the order of shelf and name."""
        asked = ListAsked(shelf=shelf, after=after, limit=limit, removed=removed, as_of=as_of)
        return await self._connection.call(self._operations.list, asked, **self._names)

    async def get(self, document_id: str) -> Document | None:
        """Return a document, a removed one too; ``None`` when none of that id is seen here."""
        names = {**self._names, "document_id": document_id}
        return await self._connection.call(self._operations.get, Nothing(), **names)

    async def named(self, shelf: str, name: str) -> Document | None:
        """Return the document of a name, a removed one too; ``None`` when none is seen here."""
        asked = NamedAsked(shelf=shelf, name=name)
        return await self._connection.call(self._operations.named, asked, **self._names)

    async def revisions(
        self, document_id: str, *, before: int | None = None, limit: int = 100
    ) -> tuple[Document, ...]:
        """Return revisions of a document as they were, the latest first."""
        asked = RevisionsAsked(before=before, limit=limit)
        names = {**self._names, "document_id": document_id}
        return await self._connection.call(self._operations.revisions, asked, **names)

    async def passages(
        self, document_id: str, *, behind: int = -1, limit: int = 1000
    ) -> tuple[Passage, ...]:
        """Return the current passages of a document in order."""
        asked = PassagesAsked(behind=behind, limit=limit)
        names = {**self._names, "document_id": document_id}
        return await self._connection.call(self._operations.passages, asked, **names)

    async def remove(self, document_ids: Sequence[str], *, reason: str) -> tuple[str, ...]:
        """Remove documents and return which were there: no answer has them from now on."""
        ids = listed("document_ids", document_ids) or ()
        asked = RemoveAsked(document_ids=ids, reason=reason)
        return await self._connection.call(self._operations.remove, asked, **self._names)

    async def count(self) -> tuple[int, int]:
        """Return how many documents there are, and how many current passages they have."""
        return await self._connection.call(self._operations.count, Nothing(), **self._names)


def agent_documents(connection: Connection, names: Mapping[str, str]) -> RemoteDocuments:
    """Return the documents that the agent of a graph sees, and those that it puts."""
    return RemoteDocuments(connection, AGENT_DOCUMENTS, names)


def graph_documents(connection: Connection, graph_id: str) -> RemoteDocuments:
    """Return the documents of a graph, as its operator sees them."""
    return RemoteDocuments(connection, GRAPH_DOCUMENTS, {"graph_id": graph_id})


def catalog_documents(connection: Connection) -> RemoteDocuments:
    """Return the documents of the tenant's catalog."""
    return RemoteDocuments(connection, CATALOG_DOCUMENTS, {})

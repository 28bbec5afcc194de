"""The way to documents: the part of their handle that notes need, and whole shelves by pages."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from tiers.documents import Document, Passage, Revised
from tiers.errors import UsageError

from .entities import Entity, entity_of
from .entity_graph import EntityGraph
from .names import MEMORIES, NOTES
from .rules import NoteRules

PAGE = 100
"""Documents per question: their texts come along."""
DOCUMENTS_MAX = 50_000


class NoteDocuments(Protocol):
    """Documents of a graph as ``graph.documents`` and ``agent.documents`` have them."""

    async def put(
        self,
        name: str,
        content: str | bytes,
        *,
        shelf: str = "files",
        title: str | None = None,
        media_type: str | None = None,
        topics: Sequence[str] | None = None,
        keep_text: bool = False,
        expected_revision: int | None = None,
        machine: str = "",
    ) -> Revised:
        """Store a document, or its next revision."""
        ...

    async def list(
        self,
        shelf: str | None = None,
        *,
        after: str = "",
        limit: int = 100,
        removed: bool = False,
        as_of: datetime | None = None,
    ) -> tuple[Document, ...]:
        """Return documents by shelf and name."""
        ...

    async def named(self, shelf: str, name: str) -> Document | None:
        """Return a document, also a removed one."""
        ...

    async def passages(
        self, document_id: str, *, behind: int = -1, limit: int = 1000
    ) -> tuple[Passage, ...]:
        """Return the current passages of a document, in order."""
        ...

    async def remove(self, document_ids: Sequence[str], *, reason: str) -> tuple[str, ...]:
        """Remove documents and return which were there."""
        ...


async def all_documents(
    documents: NoteDocuments,
    shelf: str | None,
    *,
    removed: bool = False,
    as_of: datetime | None = None,
) -> tuple[Document, ...]:
    """Return the documents of a shelf, or of all shelves, those whose content was destroyed too.

    Raises:
        UsageError: There are more than ``DOCUMENTS_MAX``.
    """
    found: list[Document] = []
    after = ""
    while True:
        page = await documents.list(shelf, after=after, limit=PAGE, removed=removed, as_of=as_of)
        found += page
        if len(page) < PAGE:
            return tuple(found)
        if len(found) >= DOCUMENTS_MAX:
            raise UsageError("shelf", shelf, f"at most {DOCUMENTS_MAX} documents")
        after = page[-1].id


async def graph_of(
    documents: NoteDocuments, rules: NoteRules, *, as_of: datetime | None = None
) -> EntityGraph:
    """Return the graph of the notes of all agents, as they are or were at a moment."""
    found = await all_documents(documents, None, as_of=as_of)
    # Reading hundreds of front matters takes longer than an event loop may stand still.
    return await asyncio.to_thread(lambda: EntityGraph(_entities(found, NOTES, rules)))


async def searched(documents: NoteDocuments, rules: NoteRules) -> tuple[Entity, ...]:
    """Return what a search looks through: the graph's entities, and the agents' own notes.

    These are no nodes of the graph: they are kept alike between machines, and nothing waits for
    them.
    """
    found = await all_documents(documents, None)
    return await asyncio.to_thread(
        lambda: (
            *EntityGraph(_entities(found, NOTES, rules)).entities,
            *_entities(found, MEMORIES, rules),
        )
    )


def _entities(documents: Sequence[Document], shelves: str, rules: NoteRules) -> list[Entity]:
    return [
        entity_of(one, rules)
        for one in documents
        if one.shelf.startswith(shelves) and one.redacted_at is None
    ]

"""Whole shelves of documents, and the entities that their notes are."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from tiers.documents import Document
from tiers.errors import UsageError

from .entities import Entity, entity_of
from .entity_graph import EntityGraph
from .names import MEMORIES, NOTES
from .rules import NoteRules

if TYPE_CHECKING:
    from ...documents.handle import Documents

PAGE = 100
"""Documents per question: their texts come along."""
DOCUMENTS_MAX = 50_000


async def all_documents(
    documents: Documents,
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
    documents: Documents, rules: NoteRules, *, as_of: datetime | None = None
) -> EntityGraph:
    """Return the graph of the notes of all agents, as they are or were at a moment."""
    found = await all_documents(documents, None, as_of=as_of)
    # Reading hundreds of front matters takes longer than an event loop may stand still.
    return await asyncio.to_thread(lambda: EntityGraph(_entities(found, NOTES, rules)))


async def searched(documents: Documents, rules: NoteRules) -> tuple[Entity, ...]:
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

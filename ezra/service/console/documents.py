"""The documents of a graph, and one of them: its passages, its revisions, and taking it away."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tiers.documents import PASSAGES_MAX
from tiers.errors import NotFound
from tiers.fields import NAME_CHARS_MAX

from ...handles.graph import Graph
from .decisions import ReasonAsked
from .pages import Query, Sent, View, href, paged, pages

ROWS = 50
"""So many rows come at once."""

PASSAGES = 25
"""Of passages fewer: each is some 1,200 characters."""

REVISIONS_SHOWN = 50


class DocumentsAsked(Query):
    """Which documents: of a shelf, removed ones too, and from where on."""

    shelf: Annotated[str | None, Field(max_length=NAME_CHARS_MAX)] = None
    removed: bool = False
    after: Annotated[str, Field(max_length=NAME_CHARS_MAX)] = ""


class PassagesAsked(Query):
    """From which passage on, counted from 0."""

    behind: Annotated[int, Field(ge=-1, le=PASSAGES_MAX)] = -1


@pages.page("/graphs/{graph_id}/documents", needs="read", label="Documents", key="d")
async def shelf(graph: Graph, asked: DocumentsAsked) -> View:
    """Show the documents of a graph, in the order of shelf and name."""
    count, passages = await graph.documents.count()
    values = {"count": count, "passages": passages, **await _rows(graph, asked)}
    return View("documents.html", values, "Documents")


@pages.page("/graphs/{graph_id}/document-rows", needs="read")
async def shelf_rows(graph: Graph, asked: DocumentsAsked) -> View:
    """Show the next rows of them."""
    return View("documents_rows.html", await _rows(graph, asked))


@pages.page("/graphs/{graph_id}/documents/{document_id}", needs="read")
async def one_document(graph: Graph, document_id: str, asked: PassagesAsked) -> View:
    """Show one document: what it says now, and how it came to."""
    document = await graph.documents.get(document_id)
    if document is None:
        raise NotFound("document", document_id)
    revisions = await graph.documents.revisions(document.id, limit=REVISIONS_SHOWN)
    passages = await _passages(graph, document.id, asked)
    values = {"document": document, "revisions": revisions, **passages}
    return View("documents_one.html", values, "One document")


@pages.page("/graphs/{graph_id}/documents/{document_id}/passages", needs="read")
async def passage_rows(graph: Graph, document_id: str, asked: PassagesAsked) -> View:
    """Show its next passages."""
    if await graph.documents.get(document_id) is None:
        raise NotFound("document", document_id)
    values = await _passages(graph, document_id, asked)
    return View("documents_passages.html", values)


@pages.action("/graphs/{graph_id}/documents/{document_id}/remove", needs="operate")
async def remove(graph: Graph, document_id: str, asked: ReasonAsked) -> Sent:
    """Take a document out of every answer about now."""
    await graph.documents.remove([document_id], reason=asked.reason)
    return Sent(href("graphs", graph.id, "documents", document_id))


@pages.action("/graphs/{graph_id}/documents/{document_id}/redact", needs="operate")
async def redact(graph: Graph, document_id: str, asked: ReasonAsked) -> Sent:
    """Destroy what a document says, in all of its revisions."""
    await graph.redact([document_id], reason=asked.reason)
    return Sent(href("graphs", graph.id, "documents", document_id))


async def _rows(graph: Graph, asked: DocumentsAsked) -> dict[str, object]:
    found = await graph.documents.list(
        asked.shelf, after=asked.after, limit=ROWS + 1, removed=asked.removed
    )
    said = {"shelf": asked.shelf, "removed": asked.removed or None}
    page, rows = ("graphs", graph.id, "documents"), ("graphs", graph.id, "document-rows")
    listed = paged(found, ROWS, page, rows, lambda one: {**said, "after": one.id})
    return {"asked": asked, **listed}


async def _passages(graph: Graph, document_id: str, asked: PassagesAsked) -> dict[str, object]:
    found = await graph.documents.passages(document_id, behind=asked.behind, limit=PASSAGES + 1)
    here = ("graphs", graph.id, "documents", document_id)
    rows = (*here, "passages")
    listed = paged(found, PASSAGES, here, rows, lambda one: {"behind": one.number})
    return {"behind": asked.behind, **listed}

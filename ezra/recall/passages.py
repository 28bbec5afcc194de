"""What ancestors carry, found by its words, and where the passages of documents stand.

The warm index knows documents and facts of ancestors once they are embedded, as they are now. By
its words one is found at once, and as of a moment of the past.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tiers.concurrency import together
from tiers.documents import Document, Passage
from tiers.records import Ancestor, Citation, Hit, Kind, SearchQuery

from ..recaller import seen_from_below
from .candidates import LEG_CANDIDATES
from .request import Search, everything

ANCESTORS_MAX = 32
"""So many ancestors are asked by words: a tenant's catalog, and what a branch left."""

_BY_WORDS: tuple[Kind, ...] = ("document", "fact")
"""What of ancestors is found by its words at once, before the index has it."""


async def find_on_shelves(search: Search) -> None:
    """Ask the ancestors that carry documents, facts or rules by words, each in its own graph."""
    request, scope = search.request, search.scope
    kinds = [kind for kind in _BY_WORDS if kind in request.kinds]
    if "tenant" not in search.classes or request.mode == "semantic" or request.ids:
        return
    base = everything(search).model_copy(update={"limit": LEG_CANDIDATES})
    carrying = scope.carrying(*kinds)[:ANCESTORS_MAX] if kinds else ()
    legs = [
        _find_by_words(
            search,
            one,
            base.model_copy(update={"kinds": tuple(kind for kind in kinds if kind in one.carries)}),
        )
        for one in carrying
    ]
    if "rule" in request.kinds:
        ruling = scope.carrying("rule")[:ANCESTORS_MAX]
        legs += [_find_steps_of_then(search, one, base) for one in ruling if one.as_of is not None]
    await together(legs)


async def _find_by_words(search: Search, ancestor: Ancestor, query: SearchQuery) -> None:
    found = await search.runtime.recaller.of_ancestor(search.scope, ancestor, query, search.state)
    search.pool.add_leg("inherited words", found)


async def _find_steps_of_then(search: Search, ancestor: Ancestor, query: SearchQuery) -> None:
    """Find rules of an ancestor that is read as of a moment by steps that they have no more."""
    asked = query.model_copy(update={"kinds": ("rule",), "as_of": ancestor.as_of})
    scope = seen_from_below(search.scope, ancestor)
    call = search.runtime.recollection.ended(scope, asked)
    found = await search.state.answer("cold", "what ended since", call, ())
    recaller, names = search.runtime.recaller, search.names
    about = await recaller.relevant(query.text, found, names, search.state)
    whence = {"inherited_from": ancestor.graph_id, "path": ancestor.path}
    search.pool.add_leg("ended", (hit.model_copy(update=whence) for hit in about))


async def cited(search: Search, hits: Sequence[Hit]) -> list[Hit]:
    """Return hits, those of documents with where they stand.

    A passage that a revision, a removal or a redaction has taken meanwhile is left out: an index
    may be a moment behind. While the cold tier is away, hits come without citations.
    """
    found = [hit for hit in hits if hit.kind == "document"]
    if not found:
        return list(hits)
    passages = await _passages(search, found)
    documents = await _documents(search, found)
    if passages is None or documents is None:
        return list(hits)
    return list(_cited(search, hits, passages, documents))


async def _passages(search: Search, hits: Sequence[Hit]) -> dict[str, Passage] | None:
    call = search.runtime.shelf.passages(search.scope, [hit.id for hit in hits])
    found = await search.state.answer("cold", "citations", call, None)
    return None if found is None else {one.id: one for one in found}


async def _documents(search: Search, hits: Sequence[Hit]) -> dict[str, Document] | None:
    ids = list(dict.fromkeys(one for hit in hits for one in hit.source_ids))
    call = search.runtime.shelf.documents(search.scope, ids, as_of=search.request.as_of)
    found = await search.state.answer("cold", "citations", call, None)
    return None if found is None else {one.id: one for one in found}


def _cited(
    search: Search,
    hits: Sequence[Hit],
    passages: dict[str, Passage],
    documents: dict[str, Document],
) -> Iterator[Hit]:
    moments = {one.graph_id: one.as_of for one in search.scope.lineage}
    for hit in hits:
        if hit.kind != "document":
            yield hit
            continue
        passage = passages.get(hit.id)
        document = None if passage is None else documents.get(passage.document_id)
        if passage is None or document is None:
            continue
        moment = moments.get(passage.graph_id, search.request.as_of)
        is_over = passage.retired_at is not None and (
            moment is None or passage.retired_at <= moment
        )
        if not is_over and passage.redacted_at is None:
            yield hit.model_copy(update={"citation": citation_of(passage, document)})


def citation_of(passage: Passage, document: Document) -> Citation:
    """Return where a passage stands."""
    return Citation(
        document_id=document.id,
        shelf=document.shelf,
        name=document.name,
        title=document.title,
        revision=document.revision,
        headings=passage.headings,
        page=passage.page,
    )

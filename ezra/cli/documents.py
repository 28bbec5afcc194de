"""The commands about documents: what is there, as it is and as it was, and its end on request."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tiers.documents import Document, Passage
from tiers.errors import NotFound, UsageError

from .command import Answer, Rows, command, further, group
from .doors import Memory
from .options import GraphOption, Reason

if TYPE_CHECKING:
    from ..documents import Documents

documents_app = group("Documents: files that were ingested, their passages and revisions.")

TEXT_CHARS = 120

Tenant = Annotated[
    bool, typer.Option("--tenant", help="The tenant's catalog, which every graph reads.")
]
AsAgent = Annotated[str | None, typer.Option("--agent", help="As this agent of the graph sees it.")]
DocumentId = Annotated[str, typer.Argument(help="The id of a document, or its name.")]
OnShelf = Annotated[str, typer.Option("--shelf", help="Where a name is looked up.")]
Limit = Annotated[int, typer.Option(help="How many, 1 to 1,000.")]


@dataclass(kw_only=True)
class InDocuments(Memory):
    """Documents of it: of a graph, as one of its agents sees them, or of the tenant's catalog."""

    graph: GraphOption = None
    tenant: Tenant = False
    agent: AsAgent = None

    async def documents(self) -> Documents:
        """Return the documents that a command is about.

        Raises:
            UsageError: It is not said whose they are, or twice.
            NotFound: There is no such graph or agent.
        """
        if (self.graph is None) != self.tenant:
            accepted = "--graph with its id, or --tenant for the catalog"
            raise UsageError("--graph", self.graph, accepted)
        if self.graph is None and self.agent is not None:
            raise UsageError("--agent", self.agent, "an agent of the --graph that is named")
        if self.graph is None:
            return (await (await self.open()).catalog()).documents
        if self.agent is not None:
            return (await self.session_agent(self.graph, self.agent)).documents
        return (await self.session_graph(self.graph)).documents


@command(documents_app, "list")
async def list_documents(
    at: InDocuments,
    shelf: str | None = None,
    removed: bool = False,
    as_of: datetime | None = None,
    after: str = "",
    limit: Limit = 100,
) -> Answer:
    """List documents in the order of shelf and name, page by page.

    Args:
        shelf: Of this shelf; of all if not given.
        removed: Removed ones too.
        as_of: As they stood then; UTC without a zone.
        after: Behind the document of this id.

    Examples:
        ezra documents list --graph imola
        ezra documents list --tenant --shelf files --removed --json
    """
    documents = await at.documents()
    found = await documents.list(shelf, after=after, limit=limit, removed=removed, as_of=as_of)
    count, passages = await documents.count()
    # The text, which may be long, is shown where one is asked for.
    listed = [one.model_dump(mode="json", exclude={"text"}) for one in found]
    head = ("id", "shelf", "revision", "passages", "changed", "name")
    rows = [(i.id, i.shelf, f"r{i.revision}", i.passages, _state(i), i.name) for i in found]
    parts = [Rows(head, rows), *further(found, limit, lambda last: f"more: --after {last.id}")]
    return Answer({"documents": listed, "count": count, "passages": passages}, parts)


@command(documents_app)
async def show(
    at: InDocuments,
    document: DocumentId,
    shelf: OnShelf = "files",
) -> Answer:
    """Show what a document says of itself, and its text where that is kept.

    Examples:
        ezra documents show guide/tyres.md --graph imola
        ezra documents show 0198a1b2-… --graph imola --json
    """
    documents = await at.documents()
    found = await _found(documents, document, shelf)
    return Answer(found, _shown(found))


def _shown(found: Document) -> Iterator[str]:
    yield f"{found.id}  {found.title}"
    yield f"{found.shelf}: {found.name}, {found.media_type}, {found.passages} passages"
    topics = ", ".join(found.topics) or "none"
    yield f"revision {found.revision}, {_state(found)}; topics {topics}"
    for name, value in found.properties.items():
        yield f"{name}: {value}"
    if found.text:
        yield ""
        yield found.text


@command(documents_app)
async def passages(
    at: InDocuments,
    document: DocumentId,
    shelf: OnShelf = "files",
    behind: Annotated[int, typer.Option(min=-1)] = -1,
    limit: Limit = 100,
) -> Answer:
    """Show the passages of a document as recall finds them, with headings and pages.

    Args:
        behind: After the passage of this number.

    Examples:
        ezra documents passages guide/tyres.md --graph imola --json
    """
    documents = await at.documents()
    one = await _found(documents, document, shelf)
    found = await documents.passages(one.id, behind=behind, limit=limit)
    listed = Rows(("number", "page", "headings", "text"), map(_passage, found))
    more = further(found, limit, lambda last: f"more: --behind {last.number}")
    return Answer(found, [listed, *more])


def _passage(one: Passage) -> tuple[Any, ...]:
    page = "" if one.page is None else f"p. {one.page}"
    text = " ".join(one.text.split())[:TEXT_CHARS]
    return one.number, page, " > ".join(one.headings), text


@command(documents_app)
async def revisions(
    at: InDocuments,
    document: DocumentId,
    shelf: OnShelf = "files",
    before: Annotated[int | None, typer.Option(min=1)] = None,
    limit: Limit = 100,
) -> Answer:
    """Show a document as it was, the latest revision first.

    Args:
        before: Only lower ones than this.

    Examples:
        ezra documents revisions guide/tyres.md --graph imola --json
    """
    documents = await at.documents()
    one = await _found(documents, document, shelf)
    found = await documents.revisions(one.id, before=before, limit=limit)
    rows = [
        (f"r{one.revision}", _state(one), one.passages, one.digest[:12], one.title) for one in found
    ]
    return Answer(found, [Rows(("revision", "changed", "passages", "digest", "title"), rows)])


@command(documents_app)
async def remove(
    at: InDocuments,
    documents: list[str],
    reason: Reason,
    shelf: OnShelf = "files",
) -> Answer:
    """Remove documents: no answer has them from now on. Questions to the past still find them.

    Args:
        documents: Ids or names of documents.

    Examples:
        ezra documents remove guide/tyres.md --graph imola --reason outdated
    """
    found = await at.documents()
    ids = [(await _found(found, one, shelf)).id for one in documents]
    removed = await found.remove(ids, reason=reason)
    if not removed:
        return Answer({"removed": removed}, notes=["removed before; nothing changed"], code=1)
    return Answer({"removed": removed}, [f"removed {one}" for one in removed])


async def _found(documents: Documents, named: str, shelf: str) -> Document:
    """Return the document of an id, or of a name on the shelf.

    Raises:
        NotFound: There is none.
    """
    found = await documents.get(named) or await documents.named(shelf, named)
    if found is None:
        raise NotFound("document", named)
    return found


def _state(document: Document) -> str:
    if document.removed_at is not None:
        return f"removed {document.removed_at:%Y-%m-%d %H:%M}"
    return f"{document.changed_at:%Y-%m-%d %H:%M}"

"""The commands about documents: what is there, as it is and as it was, and its end on request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from tiers.documents import Document, Passage
from tiers.errors import NotFound, UsageError

from .agents import member_of
from .completing import graph_ids
from .doors import AnyEzra, Url, opened
from .options import Home, Json, in_utc, run
from .plain import plain
from .screen import Screen

if TYPE_CHECKING:
    from ..documents import Documents


T = TypeVar("T")

documents_app = typer.Typer(
    help="Documents: files that were ingested, their passages and revisions.",
    no_args_is_help=True,
)

TEXT_CHARS = 120

Graph = Annotated[
    str | None,
    typer.Option("--graph", help="The session graph.", autocompletion=graph_ids),
]
Tenant = Annotated[
    bool, typer.Option("--tenant", help="The tenant's catalog, which every graph reads.")
]
AsAgent = Annotated[str | None, typer.Option("--agent", help="As this agent of the graph sees it.")]
Shelf = Annotated[str | None, typer.Option(help="Of this shelf; of all if not given.")]
DocumentId = Annotated[str, typer.Argument(help="The id of a document, or its name.")]
OnShelf = Annotated[str, typer.Option("--shelf", help="Where a name is looked up.")]
Limit = Annotated[int, typer.Option(help="How many, 1 to 1,000.")]


async def documents_of(
    ezra: AnyEzra, graph: str | None, agent: str | None, *, tenant: bool
) -> Documents:
    """Return the documents that a command is about.

    Raises:
        UsageError: It is not said whose they are, or twice.
        NotFound: There is no such graph or agent.
    """
    if (graph is None) != tenant:
        raise UsageError("--graph", graph, "--graph with its id, or --tenant for the catalog")
    if agent is not None and graph is None:
        raise UsageError("--agent", agent, "an agent of the --graph that is named")
    if graph is None:
        return (await ezra.catalog()).documents
    if agent is not None:
        return (await member_of(ezra, graph, agent)).documents
    return (await ezra.session_graph(graph)).documents


@documents_app.command(
    "list",
    epilog="Examples: ezra documents list --graph imola  ·  "
    "ezra documents list --tenant --shelf files --removed --json",
)
def list_documents(
    graph: Graph = None,
    tenant: Tenant = False,
    agent: AsAgent = None,
    shelf: Shelf = None,
    removed: Annotated[bool, typer.Option("--removed", help="Removed ones too.")] = False,
    as_of: Annotated[
        datetime | None, typer.Option(help="As they stood then; UTC without a zone.")
    ] = None,
    after: Annotated[str, typer.Option(help="Behind the document of this id.")] = "",
    limit: Limit = 100,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """List documents in the order of shelf and name, page by page."""
    screen = Screen()

    async def work(documents: Documents) -> tuple[tuple[Document, ...], tuple[int, int]]:
        found = await documents.list(
            shelf, after=after, limit=limit, removed=removed, as_of=in_utc(as_of)
        )
        return found, await documents.count()

    found, (count, passages) = _asked(work, graph, agent, home, url, tenant=tenant)
    if json:
        listed = [_without_text(one) for one in found]
        screen.document({"documents": listed, "count": count, "passages": passages})
        return
    rows = [
        (one.id, one.shelf, f"r{one.revision}", str(one.passages), _state(one), one.name)
        for one in found
    ]
    screen.table(("id", "shelf", "revision", "passages", "changed", "name"), rows)
    if len(found) == limit:
        screen.note(f"more: --after {found[-1].id}")


@documents_app.command(
    "show",
    epilog="Examples: ezra documents show guide/tyres.md --graph imola  ·  "
    "ezra documents show 0198a1b2-… --graph imola --json",
)
def show(
    document: DocumentId,
    graph: Graph = None,
    tenant: Tenant = False,
    agent: AsAgent = None,
    shelf: OnShelf = "files",
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Show what a document says of itself, and its text where that is kept."""
    screen = Screen()
    found = _asked(
        lambda documents: _found(documents, document, shelf),
        graph,
        agent,
        home,
        url,
        tenant=tenant,
    )
    if json:
        screen.document(plain(found))
        return
    screen.line(f"{found.id}  {found.title}")
    screen.line(f"{found.shelf}: {found.name}, {found.media_type}, {found.passages} passages")
    topics = ", ".join(found.topics) or "none"
    screen.line(f"revision {found.revision}, {_state(found)}; topics {topics}")
    for name, value in found.properties.items():
        screen.line(f"{name}: {value}")
    if found.text:
        screen.line("")
        screen.line(found.text)


@documents_app.command(
    "passages", epilog="Example: ezra documents passages guide/tyres.md --graph imola --json"
)
def passages(
    document: DocumentId,
    graph: Graph = None,
    tenant: Tenant = False,
    agent: AsAgent = None,
    shelf: OnShelf = "files",
    behind: Annotated[int, typer.Option(help="After the passage of this number.", min=-1)] = -1,
    limit: Limit = 100,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Show the passages of a document as recall finds them, with headings and pages."""
    screen = Screen()

    async def work(documents: Documents) -> tuple[Passage, ...]:
        one = await _found(documents, document, shelf)
        return await documents.passages(one.id, behind=behind, limit=limit)

    found = _asked(work, graph, agent, home, url, tenant=tenant)
    if json:
        screen.document([plain(one) for one in found])
        return
    rows = [
        (
            str(one.number),
            "" if one.page is None else f"p. {one.page}",
            " > ".join(one.headings),
            " ".join(one.text.split())[:TEXT_CHARS],
        )
        for one in found
    ]
    screen.table(("number", "page", "headings", "text"), rows)
    if len(found) == limit:
        screen.note(f"more: --behind {found[-1].number}")


@documents_app.command(
    "revisions", epilog="Example: ezra documents revisions guide/tyres.md --graph imola --json"
)
def revisions(
    document: DocumentId,
    graph: Graph = None,
    tenant: Tenant = False,
    agent: AsAgent = None,
    shelf: OnShelf = "files",
    before: Annotated[int | None, typer.Option(help="Only lower ones than this.", min=1)] = None,
    limit: Limit = 100,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Show a document as it was, the latest revision first."""
    screen = Screen()

    async def work(documents: Documents) -> tuple[Document, ...]:
        one = await _found(documents, document, shelf)
        return await documents.revisions(one.id, before=before, limit=limit)

    found = _asked(work, graph, agent, home, url, tenant=tenant)
    if json:
        screen.document([plain(one) for one in found])
        return
    rows = [
        (f"r{one.revision}", _state(one), str(one.passages), one.digest[:12], one.title)
        for one in found
    ]
    screen.table(("revision", "changed", "passages", "digest", "title"), rows)


@documents_app.command(
    "remove",
    epilog="Example: ezra documents remove guide/tyres.md --graph imola --reason outdated",
)
def remove(
    documents: Annotated[list[str], typer.Argument(help="Ids or names of documents.")],
    reason: Annotated[str, typer.Option(help="Why; kept in the audit feed.")],
    graph: Graph = None,
    tenant: Tenant = False,
    agent: AsAgent = None,
    shelf: OnShelf = "files",
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Remove documents: no answer has them from now on. Questions to the past still find them."""
    screen = Screen()

    async def work(found: Documents) -> tuple[str, ...]:
        ids = [(await _found(found, one, shelf)).id for one in documents]
        return await found.remove(ids, reason=reason)

    removed = _asked(work, graph, agent, home, url, tenant=tenant)
    if json:
        screen.document({"removed": list(removed)})
    else:
        for one in removed:
            screen.line(f"removed {one}")
    if not removed:
        raise typer.Exit(1)


def _asked(
    question: Callable[[Documents], Awaitable[T]],
    graph: str | None,
    agent: str | None,
    home: Home,
    url: Url,
    *,
    tenant: bool,
) -> T:
    """Return what the documents answer that the options name."""

    async def work() -> T:
        async with opened(home, url) as ezra:
            return await question(await documents_of(ezra, graph, agent, tenant=tenant))

    return run(work())


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


def _without_text(document: Document) -> object:
    """Return a document of a list: its text, which may be long, is shown where one is asked for."""
    return document.model_dump(mode="json", exclude={"text"})

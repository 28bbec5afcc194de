"""The documents of an agent, a graph or the catalog, as operations.

A client reads and cuts a document itself and sends its passages: a server opens nobody's PDF, and
what travels is text alone. Who has no client sends the text of a Markdown, HTML or plain document,
and the server cuts that.

Names and reasons travel in bodies. Addresses are for ids: proxies log them.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Any

from pydantic import Field, JsonValue, TypeAdapter

from tiers.documents import DOCUMENTS_PER_CALL_MAX, Document, Passage, Revised
from tiers.fields import TOPICS_MAX

from ..documents import SHELF, Draft
from .operation import Asked, Need, Nothing, Operation
from .points import COUNT_MAX, Count, Time
from .recalling import GRAPH

CATALOG = "/v1/catalog"


class PutAsked(Asked):
    """The text of a document, which the server reads and cuts."""

    name: str
    content: str
    shelf: str = SHELF
    title: str | None = None
    media_type: str | None = None
    properties: dict[str, JsonValue] | None = None
    topics: tuple[str, ...] | None = Field(default=None, max_length=TOPICS_MAX)
    keep_text: bool = False
    expected_revision: Count | None = None
    machine: str = ""
    private: bool = False
    even_if_redacted: bool = False


class StoreAsked(Asked):
    """A document that is read and cut already."""

    draft: Draft
    expected_revision: Count | None = None
    machine: str = ""
    private: bool = False
    even_if_redacted: bool = False


class ListAsked(Asked):
    """A page of documents in the order of shelf and name."""

    shelf: str | None = None
    after: str = ""
    limit: Count = 100
    removed: bool = False
    as_of: Time | None = None


class NamedAsked(Asked):
    """A name on a shelf."""

    shelf: str
    name: str


class RevisionsAsked(Asked):
    """A page of revisions, the latest first."""

    before: Count | None = None
    limit: Count = 100


class PassagesAsked(Asked):
    """A page of passages in order."""

    behind: Annotated[int, Field(ge=-1, le=COUNT_MAX)] = -1
    limit: Count = 1000


class RemoveAsked(Asked):
    """Which documents, and why."""

    document_ids: tuple[str, ...] = Field(max_length=DOCUMENTS_PER_CALL_MAX)
    reason: str


_REVISED = TypeAdapter(Revised)
_DOCUMENT: TypeAdapter[Document | None] = TypeAdapter(Document | None)
_DOCUMENTS = TypeAdapter(tuple[Document, ...])
_PASSAGES = TypeAdapter(tuple[Passage, ...])
_IDS = TypeAdapter(tuple[str, ...])
_COUNTS = TypeAdapter(tuple[int, int])


@dataclass(frozen=True)
class DocumentOperations:
    """What may be asked of the documents of one handle; named as the methods of ``Documents``."""

    put: Operation[PutAsked, Revised]
    store: Operation[StoreAsked, Revised]
    list: Operation[ListAsked, tuple[Document, ...]]
    get: Operation[Nothing, Document | None]
    named: Operation[NamedAsked, Document | None]
    revisions: Operation[RevisionsAsked, tuple[Document, ...]]
    passages: Operation[PassagesAsked, tuple[Passage, ...]]
    remove: Operation[RemoveAsked, tuple[str, ...]]
    count: Operation[Nothing, tuple[int, int]]

    def __iter__(self) -> Any:  # noqa: ANN401 - of operations that ask and answer all sorts
        return (getattr(self, one.name) for one in fields(self))


def _operations(whose: str, root: str, reads: Need, changes: Need) -> DocumentOperations:
    """Return the operations on the documents of an agent, a graph or the catalog."""
    name, at = f"{whose}.documents", f"{root}/documents"
    return DocumentOperations(**_reading(name, at, reads), **_changing(name, at, changes))


def _reading(name: str, at: str, needs: Need) -> dict[str, Operation[Any, Any]]:
    return {
        "list": Operation(
            f"{name}.list",
            "GET",
            at,
            ListAsked,
            _DOCUMENTS,
            needs,
            "Documents in the order of shelf and name, page by page.",
        ),
        "get": Operation(
            f"{name}.get",
            "GET",
            f"{at}/{{document_id}}",
            Nothing,
            _DOCUMENT,
            needs,
            "A document by its id; null when none is seen.",
        ),
        "named": Operation(
            f"{name}.named",
            "POST",
            f"{at}/lookup",
            NamedAsked,
            _DOCUMENT,
            needs,
            "A document by its name on a shelf; null when none is seen.",
        ),
        "revisions": Operation(
            f"{name}.revisions",
            "GET",
            f"{at}/{{document_id}}/revisions",
            RevisionsAsked,
            _DOCUMENTS,
            needs,
            "Revisions of a document as they were, the latest first.",
        ),
        "passages": Operation(
            f"{name}.passages",
            "GET",
            f"{at}/{{document_id}}/passages",
            PassagesAsked,
            _PASSAGES,
            needs,
            "The current passages of a document in order.",
        ),
        "count": Operation(
            f"{name}.count",
            "GET",
            f"{at}/count",
            Nothing,
            _COUNTS,
            needs,
            "How many documents there are, and how many current passages they have.",
        ),
    }


def _changing(name: str, at: str, needs: Need) -> dict[str, Operation[Any, Any]]:
    """Return what changes documents: storing the same again, or removing it again, does nothing.

    But with an expected revision the second of two equal calls is refused, and what was removed
    meanwhile would come back.
    """
    return {
        "put": Operation(
            f"{name}.put",
            "POST",
            at,
            PutAsked,
            _REVISED,
            needs,
            "Cut the text of a document into passages, and store it or its next revision.",
            repeats=False,
        ),
        "store": Operation(
            f"{name}.store",
            "POST",
            f"{at}/drafts",
            StoreAsked,
            _REVISED,
            needs,
            "Store a document that the client has cut, or its next revision.",
            repeats=False,
        ),
        "remove": Operation(
            f"{name}.remove",
            "POST",
            f"{at}/remove",
            RemoveAsked,
            _IDS,
            needs,
            "Remove documents: no answer has them from now on.",
            repeats=False,
        ),
    }


AGENT_DOCUMENTS = _operations("agent", f"{GRAPH}/agents/{{agent_id}}", "see", "act")
GRAPH_DOCUMENTS = _operations("graph", GRAPH, "read", "operate")
CATALOG_DOCUMENTS = _operations("catalog", CATALOG, "read", "operate")

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    *AGENT_DOCUMENTS,
    *GRAPH_DOCUMENTS,
    *CATALOG_DOCUMENTS,
)

"""Documents: named texts of which every revision is known, kept as passages that recall finds.

A document stands on a shelf of its graph under a name: a file of a watched folder, a note of an
agent. What is true of the whole tenant stands in its catalog, which every graph reads.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Sequence
from typing import Annotated, NamedTuple, TypeAlias

from pydantic import Field, JsonValue, StringConstraints

from .errors import UsageError
from .fields import UNRECORDED, Moment, Name, Record, Text, Whole
from .ids import derived_id
from .owned import Owned
from .taint import SET_ASIDE

PATH_CHARS_MAX = 1_024
HEADING_CHARS_MAX = 512
HEADINGS_MAX = 16
PASSAGE_CHARS_MAX = 8_000
PASSAGES_MAX = 20_000
"""Passages of one document: some ten thousand pages."""
PROPERTIES_CHARS_MAX = 64_000
"""Of all properties of a document together, as JSON."""
DOCUMENTS_PER_CALL_MAX = 1_000

DocumentName: TypeAlias = Annotated[
    str, StringConstraints(min_length=1, max_length=PATH_CHARS_MAX, strip_whitespace=True)
]
Heading: TypeAlias = Annotated[str, StringConstraints(max_length=HEADING_CHARS_MAX)]


class Document(Owned):
    """A document as it stands: its last revision, or when it was removed.

    Its id is derived from tenant, graph, shelf and name: the same document is the same record,
    whoever stores it. ``topics`` and ``private`` hold for all of its passages.

    Attributes:
        shelf: What names are unique in, inside a graph.
        name: Its name on the shelf: a path, relative to the folder, with ``/``.
        title: What people call it.
        media_type: ``text/markdown``, ``application/pdf``, …
        digest: SHA-256 of its content, in hexadecimal: the same content is no new revision.
        revision: Counts from 1; rises with each change of content or properties.
        properties: What it says of itself, as JSON values: the front matter of a Markdown file.
        text: Its whole text, for documents that are kept whole; empty for those that are read
            through their passages.
        machine: Where this revision was written, where that matters.
        passages: How many it has.
        changed_at: When this revision was recorded; ``recorded_at`` is when the first was.
        removed_at: When it was removed; a later revision brings it back.
    """

    shelf: Name
    name: DocumentName
    title: Text = ""
    media_type: Name = "text/plain"
    digest: str
    revision: int = Field(default=1, ge=1)
    properties: dict[str, JsonValue] = Field(default_factory=dict)
    text: Text = ""
    machine: Annotated[str, StringConstraints(max_length=256)] = ""
    passages: int = Field(default=0, ge=0, le=PASSAGES_MAX)
    changed_at: Moment
    removed_at: Moment | None = None


class FormerDocument(Document):
    """A revision that another has followed, as an archive tells it from the last one."""


def is_rolled_back(document: Document) -> bool:
    """Whether a roll-back has taken what a document said, and nobody has stored another since."""
    return document.redacted_at is not None and document.title == SET_ASIDE


def stays_away(document: Document, digest: str) -> bool:
    """Whether a content may not take the place of a stored document unless somebody asks for it.

    Nothing may after a redaction: what was destroyed is not known any more. After a roll-back that
    may not which was rolled back.
    """
    if document.redacted_at is None:
        return False
    return not is_rolled_back(document) or document.digest in {"", digest}


def one_form(name: str) -> str:
    """Return a name in the form of Unicode in which new documents are called by it, NFC.

    Some machines call files by letters with their accents behind them, others by one letter each.
    """
    return unicodedata.normalize("NFC", name)


def spellings(name: str) -> tuple[str, ...]:
    """Return a name as a document of it may be called: in one form, first, or as it was before."""
    return tuple(dict.fromkeys((one_form(name), name, unicodedata.normalize("NFD", name))))


def document_id(tenant: str, graph_id: str, shelf: str, name: str) -> str:
    """Return the id of the document that is called so on a shelf of a graph: always the same."""
    return derived_id(UNRECORDED, "document", tenant, graph_id, shelf, name)


class Passage(Owned):
    """A stretch of a document that recall finds as kind ``document``.

    A passage that a new revision repeats word for word under the same headings stays the same
    record, with its vector; only its place may change.

    Attributes:
        document_id: Of which document.
        number: Its place among the passages of the current revision, from 0.
        headings: The headings it stands under, outermost first.
        page: Its page, from 1, where the format has pages.
        text: What it says, without its headings.
        digest: SHA-256 of headings and text, in hexadecimal.
        since: The revision that brought it.
        until: The first revision that lacks it; ``None`` while it is current.
        retired_at: When that revision, or the removal of the document, was recorded.
    """

    document_id: str
    number: int = Field(ge=0)
    headings: tuple[Heading, ...] = Field(default=(), max_length=HEADINGS_MAX)
    page: int | None = Field(default=None, ge=1)
    text: Annotated[str, StringConstraints(min_length=1, max_length=PASSAGE_CHARS_MAX)]
    digest: str
    since: int = Field(default=1, ge=1)
    until: int | None = Field(default=None, ge=1)
    retired_at: Moment | None = None

    @property
    def found_by(self) -> str:
        """The text that is indexed and embedded: the headings' path, then what it says."""
        return found_text(self.headings, self.text)


def found_text(headings: Sequence[str], text: str) -> str:
    """Return what a passage is found by: the path of its headings, then what it says."""
    return "\n".join([" > ".join(headings), text]).strip()


def passage_digest(headings: Sequence[str], text: str) -> str:
    """Return the SHA-256 of headings and text, in hexadecimal.

    Raises:
        UsageError: They have no UTF-8 form.
    """
    said = json.dumps([list(headings), text], ensure_ascii=False)
    try:
        return hashlib.sha256(said.encode()).hexdigest()
    except UnicodeEncodeError as error:
        raise UsageError("text", error.object, "text without lone surrogates") from error


class Citation(Record):
    """Where a passage stands, for people: of which document, under which headings, on what page."""

    document_id: str
    shelf: str
    name: str
    title: str = ""
    revision: int
    headings: tuple[str, ...] = ()
    page: int | None = None


class PassageDraft(NamedTuple):
    """A passage that is to be stored."""

    text: str
    headings: tuple[str, ...] = ()
    page: Whole | None = None


class Revised(NamedTuple):
    """What came of storing a revision.

    Attributes:
        document: As it now stands.
        was_new: ``False`` when it said the same before, and nothing was written.
        added: Passages that are new, and wait to be embedded.
        kept: Passages that stayed.
        retired: Passages that are gone.
    """

    document: Document
    was_new: bool
    added: int
    kept: int
    retired: int

"""A document on its way to the shelf: read and cut into passages, not yet anybody's. Pure."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Annotated

from pydantic import Field, JsonValue, StringConstraints, field_validator

from tiers.documents import (
    HEADING_CHARS_MAX,
    HEADINGS_MAX,
    PASSAGE_CHARS_MAX,
    PASSAGES_MAX,
    PROPERTIES_CHARS_MAX,
    DocumentName,
    PassageDraft,
)
from tiers.errors import UnfitRecord, UsageError
from tiers.fields import Name, Record, Text, Topics
from tiers.lexical import is_blank
from tiers.records import Turn

from ..checks import TEXT_ACCEPTED, checked
from .apart import read_document
from .chunking import titled
from .formats import MARKDOWN
from .front_matter import TOPICS_ACCEPTED
from .parsed import PAGES_MAX

SHELF = "files"

Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class Draft(Record):
    """A document that is read and cut, and waits to be stored.

    Attributes:
        name: On its shelf: a path with ``/``.
        shelf: What names are unique in.
        title: What people call it.
        media_type: As it was read.
        digest: SHA-256 of the file, in hexadecimal.
        properties: What it says of itself.
        topics: Those that it is to have; ``None`` leaves that to who stores it.
        text: The whole of it, where it is kept.
        passages: In order.
        warnings: What could not be read; never stored.
    """

    name: DocumentName
    shelf: Name = SHELF
    title: Text = ""
    media_type: Name
    digest: Digest
    properties: dict[str, JsonValue] = Field(default_factory=dict)
    topics: Topics | None = None
    text: Text = ""
    passages: tuple[PassageDraft, ...] = Field(min_length=1, max_length=PASSAGES_MAX)
    warnings: tuple[str, ...] = ()

    @field_validator("name")
    @classmethod
    def _is_one_line(cls, name: str) -> str:
        if not name.isprintable():
            message = "must be printable, as a name of a file is"
            raise ValueError(message)
        return name

    @field_validator("properties")
    @classmethod
    def _is_bounded(cls, properties: dict[str, JsonValue]) -> dict[str, JsonValue]:
        if len(json.dumps(properties)) > PROPERTIES_CHARS_MAX:
            message = f"at most {PROPERTIES_CHARS_MAX:,} characters as JSON"
            raise ValueError(message)
        return properties

    @field_validator("passages")
    @classmethod
    def _fit(cls, passages: tuple[PassageDraft, ...]) -> tuple[PassageDraft, ...]:
        for number, one in enumerate(passages):
            if not 1 <= len(one.text) <= PASSAGE_CHARS_MAX or is_blank(one.text):
                raise ValueError(f"[{number}].text must have 1 to {PASSAGE_CHARS_MAX:,} characters")
            longest = max(map(len, one.headings), default=0)
            if len(one.headings) > HEADINGS_MAX or longest > HEADING_CHARS_MAX:
                few, short = f"{HEADINGS_MAX} at most", f"{HEADING_CHARS_MAX} characters each"
                raise ValueError(f"[{number}].headings must be {few}, {short}")
            if one.page is not None and not 1 <= one.page <= PAGES_MAX:
                raise ValueError(f"[{number}].page must be 1 to {PAGES_MAX:,}")
        return passages


def texts_of(draft: Draft) -> list[str]:
    """Return every text of a document that a reader may come to see."""
    passages = [text for one in draft.passages for text in (one.text, *one.headings)]
    properties = [json.dumps(draft.properties, ensure_ascii=False)] if draft.properties else []
    return [one for one in (draft.title, draft.text, *passages, *properties) if one]


async def drafted(
    name: str,
    content: str | bytes,
    *,
    shelf: str = SHELF,
    title: str | None = None,
    media_type: str | None = None,
    properties: Mapping[str, JsonValue] | None = None,
    topics: Iterable[str] | None = None,
    keep_text: bool = False,
) -> Draft:
    """Read and cut a document, beside the event loop: a larger one in a process of its own.

    Args:
        name: On its shelf: a path with ``/``. Its suffix says the format, where nothing else does.
        content: The file, or its text.
        shelf: What names are unique in.
        title: What people call it; what it calls itself, else its name, if not given.
        media_type: Of the content; told from name and content if not given.
        properties: Beside what the file says of itself, and before that.
        topics: Those that it is to have; those it names itself, if not given.
        keep_text: Whether the whole text is kept beside the passages.

    Raises:
        UsageError: It cannot be read, or not within its bounds of time and memory, or says nothing;
            the topics that it names cannot, and none are given; or an argument is not acceptable.
    """
    if not isinstance(content, str | bytes):
        raise UsageError("content", type(content).__name__, "text or bytes")
    named = checked(_Named, name=name).name
    given = None if topics is None else checked(Turn, topics=topics).topics
    read = await read_document(named, content, media_type, keep_text=keep_text)
    parsed = read.parsed
    if given is None and parsed.topics_problem:
        raise UsageError("topics", f"{parsed.topics_problem}, in {named}", TOPICS_ACCEPTED)
    called = title or parsed.title
    # A page of the web or a PDF says its title on the first page; a note in its front matter alone.
    is_note = read.media_type == MARKDOWN or parsed.properties
    passages = titled(read.passages, called) if is_note else read.passages
    if not passages:
        raise UsageError("content", content, TEXT_ACCEPTED)
    try:
        return await asyncio.to_thread(
            Draft,
            name=named,
            shelf=shelf,
            title=called or PurePosixPath(named).stem,
            media_type=read.media_type,
            digest=read.digest,
            properties={**parsed.properties, **(properties or {})},
            topics=parsed.topics if given is None else given,
            text=read.text,
            passages=passages,
            warnings=parsed.warnings,
        )
    except UnfitRecord as error:
        shown = {"name": named, "shelf": shelf}.get(error.field, error.field)
        raise UsageError(error.field, shown, error.accepted) from error


class _Named(Record):
    name: DocumentName

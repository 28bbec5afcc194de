"""A document on its way to the shelf: read and cut into passages, not yet anybody's. Pure."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Annotated, NamedTuple

from pydantic import Field, JsonValue, StringConstraints, ValidationError, field_validator

from tiers.documents import (
    HEADING_CHARS_MAX,
    HEADINGS_MAX,
    PASSAGE_CHARS_MAX,
    PASSAGES_MAX,
    PROPERTIES_CHARS_MAX,
    DocumentName,
    PassageDraft,
)
from tiers.errors import UsageError
from tiers.fields import TEXT_CHARS_MAX, Name, Record, Text, Topics
from tiers.records import Turn

from ..checks import checked
from .chunking import passages_of
from .formats import parse, parse_text, type_of, type_of_text
from .parsed import CHARS_MAX, FILE_BYTES_MAX, PAGES_MAX, Parsed, cleaned

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
    passages: tuple[PassageDraft, ...] = Field(default=(), max_length=PASSAGES_MAX)
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
            if not 1 <= len(one.text) <= PASSAGE_CHARS_MAX or not one.text.strip():
                raise ValueError(f"[{number}].text must have 1 to {PASSAGE_CHARS_MAX:,} characters")
            longest = max(map(len, one.headings), default=0)
            if len(one.headings) > HEADINGS_MAX or longest > HEADING_CHARS_MAX:
                few, short = f"{HEADINGS_MAX} at most", f"{HEADING_CHARS_MAX} characters each"
                raise ValueError(f"[{number}].headings must be {few}, {short}")
            if one.page is not None and not 1 <= one.page <= PAGES_MAX:
                raise ValueError(f"[{number}].page must be 1 to {PAGES_MAX:,}")
        return passages


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
    """Read and cut a document; in a thread, for that may take a while.

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
        UsageError: It cannot be read, or an argument is not acceptable.
    """
    if not isinstance(content, str | bytes):
        raise UsageError("content", type(content).__name__, "text or bytes")
    named = checked(_Named, name=name).name
    given = None if topics is None else checked(Turn, topics=topics).topics
    read = await asyncio.to_thread(_read, named, content, media_type, keep_text=keep_text)
    parsed = read.parsed
    try:
        return await asyncio.to_thread(
            Draft,
            name=named,
            shelf=shelf,
            title=title or parsed.title or PurePosixPath(named).stem,
            media_type=read.media_type,
            digest=read.digest,
            properties={**parsed.properties, **(properties or {})},
            topics=parsed.topics if given is None else given,
            text=read.text,
            passages=read.passages,
            warnings=parsed.warnings,
        )
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        shown = shelf if field == "shelf" else field
        raise UsageError(field, shown, first["msg"]) from error


class _Named(Record):
    name: DocumentName


class _Read(NamedTuple):
    parsed: Parsed
    passages: tuple[PassageDraft, ...]
    media_type: str
    digest: str
    text: str


def _read(name: str, content: str | bytes, media_type: str | None, *, keep_text: bool) -> _Read:
    """Return all that is known of a document. Not a coroutine: it is for a thread."""
    parsed, found, data = _parsed(name, content, media_type)
    text = _kept(content, data, found) if keep_text else ""
    digest = hashlib.sha256(data).hexdigest()
    return _Read(parsed, passages_of(parsed.blocks), found, digest, text)


def _parsed(name: str, content: str | bytes, media_type: str | None) -> tuple[Parsed, str, bytes]:
    """Return what a document says, its media type, and its bytes."""
    if len(content) > FILE_BYTES_MAX:
        most = f"{FILE_BYTES_MAX // 2**20} MiB at most"
        raise UsageError("content", f"{len(content):,} bytes", most)
    if isinstance(content, bytes):
        found = type_of(name, content, media_type)
        return parse(content, found), found, content
    if len(content) > CHARS_MAX:
        raise UsageError("content", f"{len(content):,} characters", f"{CHARS_MAX:,} at most")
    try:
        data = content.encode()
    except UnicodeEncodeError as error:
        raise UsageError("content", "text with lone surrogates", "text") from error
    found = type_of_text(name, media_type)
    return parse_text(content, found), found, data


def _kept(content: str | bytes, data: bytes, media_type: str) -> str:
    """Return the whole text of a document.

    Raises:
        UsageError: It has none of its own, or more than is kept.
    """
    if isinstance(content, bytes):
        if not media_type.startswith("text/"):
            raise UsageError("keep_text", media_type, "a format that is text")
        from .plain import decoded  # noqa: PLC0415 - few keep the text of a file

        content = decoded(data)
    if len(content) > TEXT_CHARS_MAX:
        accepted = f"{TEXT_CHARS_MAX:,} at most where the text is kept"
        raise UsageError("content", f"{len(content):,} characters", accepted)
    return cleaned(content)

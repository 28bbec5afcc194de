"""Which formats are read: told by the name of a file and by what it begins with. Pure."""

from __future__ import annotations

import codecs
import io
import zipfile
from importlib import import_module
from pathlib import PurePosixPath
from typing import Protocol, cast

from tiers.errors import UsageError
from tiers.extras import needs

from .parsed import Parsed, unreadable
from .plain import ACCEPTED as ACCEPTED_TEXT

MARKDOWN, PLAIN, HTML, PDF = "text/markdown", "text/plain", "text/html", "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"

_SUFFIXES = {
    **dict.fromkeys((".md", ".markdown", ".mdown", ".mkd"), MARKDOWN),
    **dict.fromkeys((".txt", ".text", ".log", ".rst", ".adoc", ".org"), PLAIN),
    **dict.fromkeys((".html", ".htm", ".xhtml"), HTML),
    ".pdf": PDF,
    ".docx": DOCX,
}
_READERS = {MARKDOWN: "markdown", PLAIN: "plain", HTML: "html", PDF: "pdf", DOCX: "docx"}
_OF_TEXT = frozenset((MARKDOWN, PLAIN, HTML))

ACCEPTED = (
    "Markdown (.md), text (.txt, .rst, .adoc, .org, .log or no suffix), HTML (.html), PDF (.pdf) "
    "or Word (.docx)"
)
ACCEPTED_TYPES = ", ".join(_READERS)

_PDF_MARK, _ZIP_MARK = b"%PDF-", b"PK\x03\x04"
_OLD_OFFICE_MARK = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_HEAD_BYTES = 1_024
_WORD_MEMBER = "word/"
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class _Reader(Protocol):
    def read(self, data: bytes) -> Parsed: ...


class _TextReader(Protocol):
    def read_text(self, text: str) -> Parsed: ...


def is_known(name: str) -> bool:
    """Return whether a file of this name may be one that is read; its content has the last word."""
    suffix = PurePosixPath(name).suffix.lower()
    return not suffix or suffix in _SUFFIXES


def type_of_text(name: str, media_type: str | None) -> str:
    """Return the media type of a text that is given as one.

    Raises:
        UsageError: It is said to be of a type that is no text.
    """
    if media_type is None:
        found = _SUFFIXES.get(PurePosixPath(name).suffix.lower(), PLAIN)
        return found if found in _OF_TEXT else PLAIN
    said = _normal(media_type)
    if said not in _OF_TEXT:
        raise UsageError("media_type", media_type, f"{', '.join(sorted(_OF_TEXT))} for text")
    return said


def type_of(name: str, data: bytes, media_type: str | None) -> str:
    """Return the media type of a file.

    Raises:
        UsageError: It is of none that is read.
    """
    if media_type is not None:
        said = _normal(media_type)
        if said not in _READERS:
            raise UsageError("media_type", media_type, ACCEPTED_TYPES)
        return said
    if _PDF_MARK in data[:_HEAD_BYTES]:
        return PDF
    if data.startswith(_OLD_OFFICE_MARK):
        raise UsageError("name", name, "a .docx file that is not encrypted, or another format")
    if data.startswith(_ZIP_MARK) and _is_word(data):
        return DOCX
    suffix = PurePosixPath(name).suffix.lower()
    found = _SUFFIXES.get(suffix) if suffix else PLAIN
    if found is None:
        raise UsageError("name", name, ACCEPTED)
    if found in _OF_TEXT and _is_binary(data):
        raise unreadable(f"what {name} holds: NUL characters, as in binary files", ACCEPTED_TEXT)
    return found


def parse(data: bytes, media_type: str) -> Parsed:
    """Return what a file says. Not a coroutine: it is for a thread, and so is its first call.

    Args:
        data: The file.
        media_type: One that ``type_of`` returns.

    Raises:
        UsageError: It cannot be read; says why and what could be.
        ConfigError: What reads the format is not installed.
    """
    return cast("_Reader", _module(media_type)).read(data)


def parse_text(text: str, media_type: str) -> Parsed:
    """Return what a text says; as ``parse``.

    Args:
        text: Of any length.
        media_type: One that ``type_of_text`` returns.
    """
    return cast("_TextReader", _module(media_type)).read_text(text)


def _module(media_type: str) -> object:
    """Return what reads a format. Loaded when first needed: few processes read all of them."""
    with needs("documents", media_type):
        return import_module(f".{_READERS[media_type]}", __package__)


def _normal(media_type: str) -> str:
    return media_type.partition(";")[0].strip().lower()


def _is_binary(data: bytes) -> bool:
    return b"\x00" in data[:_HEAD_BYTES] and not data.startswith(_UTF_16)


def _is_word(data: bytes) -> bool:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            return any(one.startswith(_WORD_MEMBER) for one in packed.namelist())
    except (zipfile.BadZipFile, ValueError, OSError, LookupError, RuntimeError):
        return False

"""Reads plain text: paragraphs between blank lines."""

from __future__ import annotations

import codecs
import re

from .front_matter import split_front_matter
from .parsed import Outline, Parsed, cleaned, unreadable

_BLANK_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

ACCEPTED = "text in UTF-8, or in UTF-16 with its mark"


def read(data: bytes) -> Parsed:
    """Return what a text file says.

    Raises:
        UsageError: It is no text.
    """
    return read_text(decoded(data))


def read_text(text: str) -> Parsed:
    """Return what a text says; malformed front matter is a warning, and read as text."""
    plain = cleaned(text)
    front = split_front_matter(plain)
    outline = Outline()
    for paragraph in _BLANK_LINES.split(plain if front.properties is None else front.body):
        outline.add(paragraph.strip("\n"))
    return front.over(outline.blocks())


def decoded(data: bytes) -> str:
    """Return the text of a file.

    Raises:
        UsageError: It is none.
    """
    encoding = "utf-16" if data.startswith(_UTF_16) else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise unreadable(f"bytes that are not {encoding.upper()}", ACCEPTED) from error
    if "\x00" in text:
        raise unreadable("a binary file", ACCEPTED)
    return text

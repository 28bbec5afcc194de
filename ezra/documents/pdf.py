"""Reads PDF: the text of each page, under the headings of the file's outline where it has one."""

from __future__ import annotations

import io
import logging
import re
import struct
import time
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pypdf import PdfReader
from pypdf.errors import PyPdfError

from .parsed import PAGES_MAX, Outline, Parsed, cleaned, one_line, title_of, unreadable

SECONDS_MAX = 600.0
"""Whether so much time has passed is looked between two pages: some files come to no end."""
OUTLINE_MAX = 10_000
OUTLINE_DEPTH_MAX = 16

BROKEN = (
    *(PyPdfError, ArithmeticError, AssertionError, AttributeError, LookupError, OSError),
    *(RuntimeError, TypeError, ValueError, struct.error, zlib.error),
)
"""What a reader of a damaged file stumbles over: its parts are not what they say they are."""

_REPEATED_SHARE = 0.6
_REPEATED_PAGES_MIN = 4
_NUMBER = re.compile(r"\d+")
_BULLET = re.compile(r"(?:[-*•\u2013▪◦]|\(?\d{1,3}[.)])\s")
_SENTENCE_END = (".", "!", "?", ":", ";", "…", "。", '."', ".”", ".)")
_SHORT = 0.75
"""A line shorter than this share of its page's longest ends a paragraph."""

# It tells of what it mends in a file; nobody can do anything about that.
logging.getLogger("pypdf").setLevel(logging.CRITICAL)

_Entry = tuple[int, str]
"""A level, from 1, and a title."""


def read(data: bytes) -> Parsed:
    """Return what a PDF file says.

    Raises:
        UsageError: It is broken, encrypted, too large, or has no text.
    """
    try:
        return _read(data, time.monotonic() + SECONDS_MAX)
    except BROKEN as error:
        reason = f"a PDF that is broken: {type(error).__name__}"
        raise unreadable(reason, "a PDF that can be opened") from error


def _read(data: bytes, deadline: float) -> Parsed:
    reader = PdfReader(io.BytesIO(data), strict=False)
    if reader.is_encrypted and not reader.decrypt(""):
        raise unreadable("an encrypted PDF", "one that opens without a password")
    count = len(reader.pages)
    if count > PAGES_MAX:
        raise unreadable(f"a PDF of {count:,} pages", f"{PAGES_MAX:,} pages at most")
    texts = []
    for number, page in enumerate(reader.pages, 1):
        if time.monotonic() > deadline:
            raise unreadable(f"a PDF of which {number - 1} pages took too long", "a simpler file")
        texts.append(cleaned(page.extract_text()).split("\n"))
    if not any(line.strip() for lines in texts for line in lines):
        raise unreadable("a PDF without text", "one with text; scanned pages need OCR first")
    outline = Outline()
    _add_pages([list(lines) for lines in _without_margins(texts)], _entries(reader), outline)
    info = reader.metadata
    return Parsed(outline.blocks(), title=title_of(info.title if info is not None else ""))


def _add_pages(
    pages: Sequence[list[str]], entries: Mapping[int, Sequence[_Entry]], outline: Outline
) -> None:
    """Add all pages. A paragraph that goes on over the page stays where it begins."""
    held, began = "", 1
    for number, lines in enumerate(pages, 1):
        headings = list(entries.get(number, ()))
        for title, paragraphs in _sections(lines, headings):
            if title is not None:
                outline.add(held, page=began)
                held = ""
                outline.heading(*title, page=number)
            for paragraph in paragraphs:
                if held and _goes_on(held, paragraph):
                    held = _joined(held, paragraph)
                    continue
                outline.add(held, page=began)
                held, began = paragraph, number
    outline.add(held, page=began)


def _sections(
    lines: Sequence[str], headings: Sequence[_Entry]
) -> Iterator[tuple[_Entry | None, list[str]]]:
    """Yield the parts of a page: what goes on from the page before, then each with its heading.

    A heading whose words are no line of the page begins where the one before it did.
    """
    places: list[tuple[int, int, _Entry | None]] = [(0, 0, None)]
    flat = [_flat(line) for line in lines]
    for entry in headings:
        begin = places[-1][1]
        at, end = _found(flat, _flat(entry[1]), begin) or (begin, begin)
        places.append((at, end, entry))
    for place, (_, begin, title) in enumerate(places):
        end = places[place + 1][0] if place + 1 < len(places) else len(lines)
        yield title, list(_paragraphs(lines[begin:end]))


def _found(flat: Sequence[str], title: str, begin: int) -> tuple[int, int] | None:
    """Return the lines that are a title: it may be broken into up to three."""
    if not title:
        return None
    for at in range(begin, len(flat)):
        start = ""
        for end in range(at + 1, min(at + 4, len(flat) + 1)):
            start = f"{start} {flat[end - 1]}".strip()
            if _NUMBER.sub("", start).strip(" .") == _NUMBER.sub("", title).strip(" ."):
                return at, end
    return None


def _paragraphs(lines: Sequence[str]) -> Iterator[str]:
    """Yield lines of a page put together to paragraphs: the file itself does not say where."""
    longest = max((len(line.strip()) for line in lines), default=0)
    held = ""
    for line in lines:
        text = " ".join(line.split())
        if held and (not text or _BULLET.match(text)):
            yield held
            held = ""
        held = _joined(held, text) if held else text
        if held and len(text) < _SHORT * longest and held.endswith(_SENTENCE_END):
            yield held
            held = ""
    if held:
        yield held


def _goes_on(held: str, paragraph: str) -> bool:
    """Whether a paragraph continues over the page."""
    return not held.endswith(_SENTENCE_END) and paragraph[:1].islower()


def _joined(held: str, following: str) -> str:
    """Return two lines as one; a word that was broken at the end of the first is whole again."""
    is_broken = held.endswith("-") and held[-2:-1].islower() and following[:1].islower()
    return held[:-1] + following if is_broken else f"{held} {following}".strip()


def _without_margins(pages: Sequence[Sequence[str]]) -> Iterator[Sequence[str]]:
    """Yield pages without what stands first or last on most of them: titles, numbers of pages."""
    shown = [[line for line in lines if line.strip()] for lines in pages]
    if len(pages) < _REPEATED_PAGES_MIN:
        yield from shown
        return
    firsts = Counter(_alike(lines[0]) for lines in shown if lines)
    lasts = Counter(_alike(lines[-1]) for lines in shown if lines)
    often = _REPEATED_SHARE * len(pages)
    for lines in shown:
        begin = 1 if lines and firsts[_alike(lines[0])] >= often else 0
        end = len(lines)
        if end > begin and lasts[_alike(lines[-1])] >= often:
            end -= 1
        yield lines[begin:end]


def _alike(line: str) -> str:
    return _NUMBER.sub("#", one_line(line))


def _flat(text: str) -> str:
    return one_line(text).casefold()


def _entries(reader: PdfReader) -> dict[int, list[_Entry]]:
    """Return the outline of a file by page, from 1; none where it is broken: the text is not."""
    found: dict[int, list[_Entry]] = {}
    try:
        walked = list(_walked(reader.outline))
        for level, item in walked:
            number = reader.get_destination_page_number(item)
            title = title_of(item.title)
            if number is not None and number >= 0 and title:
                found.setdefault(number + 1, []).append((level, title))
    except BROKEN:
        return {}
    return found


def _walked(outline: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    """Yield the entries of an outline with their levels, as far as they are read."""
    open_ = [iter(outline)]
    count = 0
    while open_ and count < OUTLINE_MAX:
        item = next(open_[-1], None)
        if item is None:
            open_.pop()
        elif isinstance(item, list):
            if len(open_) < OUTLINE_DEPTH_MAX:
                open_.append(iter(item))
        else:
            count += 1
            yield len(open_), item

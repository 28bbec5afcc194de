"""Reads Word documents: paragraphs under their headings, lists, tables as rows of text."""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator

import docx
from docx.document import Document as WordDocument
from docx.opc.exceptions import OpcError
from docx.styles.style import ParagraphStyle
from docx.table import Table
from docx.text.paragraph import Paragraph

from .parsed import Outline, Parsed, one_line, title_of, unreadable

UNPACKED_BYTES_MAX = 256 * 1024 * 1024
TEXT_BYTES_MAX = 64 * 1024 * 1024
"""Of the part with the text, unpacked: about ten times the text itself."""
MEMBERS_MAX = 10_000
STYLES_DEPTH_MAX = 10

BROKEN = (
    *(OpcError, zipfile.BadZipFile, ArithmeticError, AssertionError, AttributeError, LookupError),
    *(OSError, RuntimeError, SyntaxError, TypeError, ValueError, struct.error, zlib.error),
)
"""What a reader of a damaged file stumbles over: its parts are not what they say they are."""

_HEADING = re.compile(r"heading\s*(\d)\b", re.IGNORECASE)
_TITLE = "title"
_LIST = "list"


def read(data: bytes) -> Parsed:
    """Return what a Word document says.

    Raises:
        UsageError: It is broken, or unpacks to more than is read.
    """
    try:
        _check(data)
        document = docx.Document(io.BytesIO(data))
        return _read(document)
    except BROKEN as error:
        reason = f"a Word document that is broken: {type(error).__name__}"
        raise unreadable(reason, "a .docx file that can be opened") from error


def _read(document: WordDocument) -> Parsed:
    outline = Outline()
    title = ""
    for part in document.iter_inner_content():
        if isinstance(part, Table):
            outline.add("\n".join(_rows(part)), by_lines=True)
            continue
        text = part.text
        style = _style(part)
        if style == _TITLE:
            title = title or title_of(text)
            outline.heading(0, text)
        elif isinstance(style, int):
            outline.heading(style, text)
        else:
            outline.add(f"- {text}" if style == _LIST and text.strip() else text)
    return Parsed(outline.blocks(), title=title_of(document.core_properties.title) or title)


def _style(paragraph: Paragraph) -> int | str | None:
    """Return the level of a heading, ``title``, ``list``, or ``None`` for plain text.

    A style of one's own counts as the one that it is made from.
    """
    style: object = paragraph.style
    for _ in range(STYLES_DEPTH_MAX):
        if not isinstance(style, ParagraphStyle):
            return None
        name = style.name or ""
        heading = _HEADING.match(name)
        if heading is not None:
            return int(heading[1])
        if name.casefold() == _TITLE:
            return _TITLE
        if name.casefold().startswith(_LIST):
            return _LIST
        style = style.base_style
    return None


def _rows(table: Table) -> Iterator[str]:
    """Yield the rows of a table, cells apart; merged cells once."""
    for row in table.rows:
        cells: list[str] = []
        former: object = None
        for cell in row.cells:
            if cell._tc is not former:  # noqa: SLF001 - merged cells are one element
                cells.append(one_line(cell.text))
            former = cell._tc  # noqa: SLF001 - likewise
        if any(cells):
            yield " | ".join(cells)


def _check(data: bytes) -> None:
    """Refuse what unpacks to more than is read; no reader gets more than a member says it has."""
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        members = packed.infolist()
    whole = sum(one.file_size for one in members)
    text = max((one.file_size for one in members if one.filename.endswith(".xml")), default=0)
    if len(members) > MEMBERS_MAX or whole > UNPACKED_BYTES_MAX or text > TEXT_BYTES_MAX:
        accepted = f"{TEXT_BYTES_MAX // 2**20} MiB of text, {UNPACKED_BYTES_MAX // 2**20} in all"
        raise unreadable("a Word document that unpacks to more than is read", accepted)

"""Reads HTML: headings, text, lists, tables and code of the body; no scripts, styles or menus."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bs4 import BeautifulSoup, Tag
from bs4.element import NavigableString, PreformattedString

from .parsed import Outline, Parsed, cleaned, one_line, title_of, unreadable
from .plain import decoded

HTML_BYTES_MAX = 16 * 1024 * 1024
DEPTH_MAX = 5_000
TAGS_MAX = 1_000_000

_SILENT = frozenset(
    "script style nav template noscript iframe object embed svg canvas head form button select "
    "textarea dialog".split()
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_INLINE = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img input ins kbd label mark q "
    "s samp small span strike strong sub sup time tt u var wbr".split()
)
"""Whatever else begins ends the paragraph before it."""

_BREAK = "\x1e"
"""Stands for a break that is meant; line feeds of the file are none."""
_COMMENT = "<!--", "-->"
_LONE = re.compile(r"<(?=[^<>]*(?:<|\Z))")
"""An angle bracket that nothing closes. The parser looks for its end as far as the file goes."""
_DECLARATION = re.compile(r"\A\s*<\?xml[^>]*>")
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w-]{1,40})", re.IGNORECASE)
_HEAD_BYTES = 4_096


def read(data: bytes) -> Parsed:
    """Return what a page says.

    Raises:
        UsageError: It is no text, or more than is read.
    """
    return read_text(_decoded(data))


def read_text(text: str) -> Parsed:
    """Return what a page says.

    Raises:
        UsageError: It is more than is read.
    """
    soup = _soup(text)
    outline = Outline()
    body = soup.body or soup
    _Walk(outline).through(body)
    found = soup.title.get_text() if soup.title is not None else ""
    blocks = outline.blocks()
    first = next((one.headings[0] for one in blocks if one.headings), "")
    return Parsed(blocks, title=title_of(found) or title_of(first))


def text_of(fragment: str) -> str:
    """Return the text of a few tags."""
    outline = Outline()
    _Walk(outline).through(_soup(fragment))
    return "\n\n".join(block.text for block in outline.blocks())


class _Walk:
    """Goes through a tree once, without recursion: a page may be nested as deep as it likes."""

    def __init__(self, outline: Outline) -> None:
        self._outline = outline
        self._said: list[str] = []

    def through(self, root: Tag) -> None:
        """Add all that is said below a tag."""
        open_: list[tuple[Tag, Iterator[object]]] = [(root, iter(root.contents))]
        while open_:
            tag, rest = open_[-1]
            child = next(rest, None)
            if child is None:
                open_.pop()
                self._end(tag)
            elif isinstance(child, Tag):
                if self._begins(child):
                    if len(open_) >= DEPTH_MAX:
                        raise unreadable(f"HTML deeper than {DEPTH_MAX:,} tags", "a flatter page")
                    open_.append((child, iter(child.contents)))
            elif isinstance(child, NavigableString) and not isinstance(child, PreformattedString):
                self._said.append(str(child))
        self._flush()

    def _begins(self, tag: Tag) -> bool:
        """Add what is taken as a whole; ``True`` where the tag is gone through."""
        name = tag.name
        if name in _SILENT or tag.has_attr("hidden") or tag.get("aria-hidden") == "true":
            return False
        if name in _INLINE:
            return True
        if name == "br":
            self._said.append(_BREAK)
            return False
        self._flush()
        if name == "li":
            self._said.append("- ")
        return not self._taken(tag)

    def _taken(self, tag: Tag) -> bool:
        """Add a heading, a table or a piece of code; ``False`` for anything else."""
        name = tag.name
        if name in _HEADINGS:
            self._outline.heading(_HEADINGS[name], tag.get_text(" "))
        elif name == "pre":
            self._outline.add(tag.get_text(), by_lines=True)
        elif name == "table" and tag.find("table") is None:
            self._outline.add("\n".join(_rows(tag)), by_lines=True)
        else:
            return False
        return True

    def _end(self, tag: Tag) -> None:
        if tag.name not in _INLINE:
            self._flush()

    def _flush(self) -> None:
        lines = (one_line(line) for line in "".join(self._said).split(_BREAK))
        self._said.clear()
        self._outline.add("\n".join(line for line in lines if line not in {"", "-"}))


def _rows(table: Tag) -> Iterator[str]:
    """Yield the rows of a table, cells apart."""
    for row in table.find_all("tr"):
        cells = [one_line(cell.get_text(" ")) for cell in row.find_all(["td", "th"])]
        if any(cells):
            yield " | ".join(cells)


def _soup(text: str) -> BeautifulSoup:
    """Return the tree of a page.

    Raises:
        UsageError: It is more than is read.
    """
    said = _LONE.sub("&lt;", _without_comments(_DECLARATION.sub("", cleaned(text))))
    if len(said) > HTML_BYTES_MAX or said.count("<") > TAGS_MAX:
        accepted = f"{HTML_BYTES_MAX // 2**20} MiB and {TAGS_MAX:,} tags at most"
        raise unreadable("a page that large", accepted)
    # What holds no tag at all looks like an address to the parser, which warns of it.
    return BeautifulSoup(said if "<" in said else f"<p>{said}</p>", "html.parser")


def _without_comments(text: str) -> str:
    begin, end = _COMMENT
    first, *rest = text.split(begin)
    return first + "".join(f" {one.partition(end)[2]}" for one in rest)


def _decoded(data: bytes) -> str:
    """Return the text of a page: by its mark, by what it says of itself, else as UTF-8.

    Raises:
        UsageError: It is none.
    """
    said = _CHARSET.search(data[:_HEAD_BYTES])
    if said is not None and b"\x00" not in data:
        try:
            return data.decode(said[1].decode("ascii"))
        except (LookupError, UnicodeDecodeError):
            pass
    return decoded(data)

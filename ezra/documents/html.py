"""Reads HTML: headings, text, lists, tables and code of the body; no scripts, styles or menus.

A page is a tree of elements and texts, and no more of it than reading needs. The parser is the
standard library's. What it reads becomes three fields for each element, with no way back to its
parent: a page of a hundred thousand tags takes a third of the time that the tree of a library
takes, and is freed without being looked through for circles.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser

from .front_matter import split_front_matter
from .parsed import Outline, Parsed, cleaned, one_line, title_of, unreadable
from .plain import decoded

_VOID = frozenset(
    "area base basefont bgsound br col command embed frame hr image img input isindex keygen link "
    "menuitem meta nextid param source spacer track wbr".split()
)
"""They hold nothing, and nothing needs to end them."""
_UNSAID = frozenset(("rp", "rt", "script", "style", "template"))
"""Their text is no part of the text around them."""


class Element:
    """An element of a page.

    Attributes:
        name: Of its tag, in small letters.
        is_hidden: Whether it says that it is not to be seen.
        children: Elements and texts, in order.
    """

    __slots__ = ("children", "is_hidden", "name")

    def __init__(self, name: str, *, is_hidden: bool = False) -> None:
        self.name = name
        self.is_hidden = is_hidden
        self.children: list[Element | str] = []

    def inside(self) -> Iterator[Element | str]:
        """Yield all elements and texts in it, in order, but for text that is not said."""
        open_ = [iter(self.children)]
        while open_:
            child = next(open_[-1], None)
            if child is None:
                open_.pop()
                continue
            yield child
            if isinstance(child, Element) and child.name not in _UNSAID:
                open_.append(iter(child.children))

    def text(self, between: str = "") -> str:
        """Return all text in it."""
        return between.join(one for one in self.inside() if isinstance(one, str))

    def holds(self, name: str) -> bool:
        """Whether an element of that name is in it."""
        return any(isinstance(one, Element) and one.name == name for one in self.inside())


class Page:
    """A page that was read.

    Attributes:
        root: What holds everything.
        title: The first element of that name.
        body: The first element of that name, else the root.
    """

    def __init__(self, root: Element, first: dict[str, Element]) -> None:
        self.root = root
        self.title = first.get("title")
        self.body = first.get("body", root)


def page_of(text: str) -> Page:
    """Return the tree of a page, however badly it is made.

    Raises:
        UsageError: The parser can make nothing of it.
    """
    builder = _Builder()
    try:
        builder.feed(text)
        builder.close()
    except AssertionError as error:
        raise unreadable("a page with a declaration that nothing ends", "a whole page") from error
    return Page(builder.root, builder.first)


class _Builder(HTMLParser):
    """Puts elements into each other. An end ends what is open within; one of nothing is nothing."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("")
        self.first: dict[str, Element] = {}
        self._open = [self.root]
        self._names: Counter[str] = Counter()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        is_hidden = bool(attrs) and _is_hidden(dict(attrs))
        element = Element(tag, is_hidden=is_hidden)
        if tag in {"title", "body"}:
            self.first.setdefault(tag, element)
        self._open[-1].children.append(element)
        if tag not in _VOID:
            self._open.append(element)
            self._names[tag] += 1

    def handle_endtag(self, tag: str) -> None:
        if not self._names[tag]:
            return
        name = ""
        while name != tag:
            name = self._open.pop().name
            self._names[name] -= 1

    def handle_data(self, data: str) -> None:
        self._open[-1].children.append(data)

    def updatepos(self, _: int, j: int) -> int:
        """Return where it is, without counting lines: nobody asks for those."""
        return j


def _is_hidden(attributes: dict[str, str | None]) -> bool:
    return "hidden" in attributes or attributes.get("aria-hidden") == "true"


HTML_BYTES_MAX = 16 * 1024 * 1024
DEPTH_MAX = 5_000
TAGS_MAX = 1_000_000

_SILENT = frozenset(
    "script style nav template noscript iframe object embed svg canvas head form button select "
    "textarea dialog".split()
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_CELLS = frozenset(("td", "th"))
_INLINE = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img input ins kbd label mark q "
    "s samp small span strike strong sub sup time tt u var wbr".split()
)
"""Whatever else begins ends the paragraph before it."""

_BREAK = "\x1e"
"""Stands for a break that is meant; line feeds of the file are none."""
_COMMENT = "<!--", "-->"
_CDATA = "<![CDATA[", "]]>"
_MARKED = re.compile(r"<!\[[^>]*+>?")
"""Marked sections say nothing; the parser looks for the end of each as far as the file goes."""
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
    """Return what a page says; malformed front matter before it is a warning, and read as text.

    Raises:
        UsageError: It is more than is read.
    """
    front = split_front_matter(cleaned(text))
    page = _page(text if front.properties is None else front.body)
    outline = Outline()
    _Walk(outline).through(page.body)
    found = "" if page.title is None else page.title.text()
    blocks = outline.blocks()
    first = next((one.headings[0] for one in blocks if one.headings), "")
    return front.over(blocks, title_of(found) or title_of(first))


def text_of(fragment: str) -> str:
    """Return the text of a few tags."""
    outline = Outline()
    _Walk(outline).through(_page(fragment).root)
    return "\n\n".join(block.text for block in outline.blocks())


class _Walk:
    """Goes through a tree once, without recursion: a page may be nested as deep as it likes."""

    def __init__(self, outline: Outline) -> None:
        self._outline = outline
        self._said: list[str] = []

    def through(self, root: Element) -> None:
        """Add all that is said below an element."""
        open_: list[tuple[Element, Iterator[Element | str]]] = [(root, iter(root.children))]
        while open_:
            element, rest = open_[-1]
            child = next(rest, None)
            if child is None:
                open_.pop()
                self._end(element)
            elif isinstance(child, str):
                self._said.append(child)
            elif self._begins(child):
                if len(open_) >= DEPTH_MAX:
                    raise unreadable(f"HTML deeper than {DEPTH_MAX:,} tags", "a flatter page")
                open_.append((child, iter(child.children)))
        self._flush()

    def _begins(self, element: Element) -> bool:
        """Add what is taken as a whole; ``True`` where the element is gone through."""
        name = element.name
        if name in _SILENT or element.is_hidden:
            return False
        if name in _INLINE:
            return True
        if name == "br":
            self._said.append(_BREAK)
            return False
        self._flush()
        if name == "li":
            self._said.append("- ")
        return not self._add_block(element)

    def _add_block(self, element: Element) -> bool:
        """Add a heading, a table or a piece of code; ``False`` for anything else."""
        name = element.name
        if name in _HEADINGS:
            self._outline.heading(_HEADINGS[name], element.text(" "))
        elif name == "pre":
            self._outline.add(element.text(), by_lines=True)
        elif name == "table" and not element.holds("table"):
            self._outline.add("\n".join(_rows(element)), by_lines=True)
        else:
            return False
        return True

    def _end(self, element: Element) -> None:
        if element.name not in _INLINE:
            self._flush()

    def _flush(self) -> None:
        lines = (one_line(line) for line in "".join(self._said).split(_BREAK))
        self._said.clear()
        self._outline.add("\n".join(line for line in lines if line not in {"", "-"}))


def _rows(table: Element) -> Iterator[str]:
    """Yield the rows of a table, cells apart; rows and cells end where the next begins."""
    rows: list[list[list[str]]] = []
    for one in table.inside():
        if isinstance(one, str):
            if rows and rows[-1]:
                rows[-1][-1].append(one)
        elif one.name == "tr":
            rows.append([])
        elif one.name in _CELLS and rows:
            rows[-1].append([])
    for row in rows:
        cells = [one_line(" ".join(cell)) for cell in row]
        if any(cells):
            yield " | ".join(cells)


def _page(text: str) -> Page:
    """Return the tree of a page.

    Raises:
        UsageError: It is more than is read.
    """
    plain = _without(_CDATA, _without(_COMMENT, _DECLARATION.sub("", cleaned(text))))
    said = _LONE.sub("&lt;", _MARKED.sub("", plain))
    if len(said) > HTML_BYTES_MAX or said.count("<") > TAGS_MAX:
        accepted = f"{HTML_BYTES_MAX // 2**20} MiB and {TAGS_MAX:,} tags at most"
        raise unreadable("a page that large", accepted)
    return page_of(said)


def _without(marks: tuple[str, str], text: str) -> str:
    """Return text without what stands between two marks, or behind one that nothing ends."""
    begin, end = marks
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

"""A page as a tree of elements and texts, and no more of it than reading needs. Pure.

The parser is the standard library's. What it reads becomes three fields for each element, with no
way back to its parent: a page of a hundred thousand tags takes a third of the time that the tree
of a library takes, and is freed without being looked through for circles.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser

from .parsed import unreadable

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

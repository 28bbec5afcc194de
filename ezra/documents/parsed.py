"""What a file says, in the order of its headings, and how much of it is read at most. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from pydantic import JsonValue

from tiers.documents import HEADING_CHARS_MAX, HEADINGS_MAX
from tiers.errors import UsageError
from tiers.lexical import is_blank

FILE_BYTES_MAX = 64 * 1024 * 1024
CHARS_MAX = 20_000_000
"""Of all text of a document: some ten thousand pages."""
PAGES_MAX = 5_000
TITLE_CHARS_MAX = 512

_UNSPEAKABLE = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\ud800-\udfff]")


class Block(NamedTuple):
    """A paragraph, list, table or piece of code.

    Attributes:
        text: What it says.
        headings: The headings it stands under, outermost first.
        page: Its page, from 1, where the format has pages.
        by_lines: Whether its lines mean something: where it must be cut, it is cut between them.
    """

    text: str
    headings: tuple[str, ...] = ()
    page: int | None = None
    by_lines: bool = False


@dataclass(frozen=True)
class Parsed:
    """What a file says.

    Attributes:
        blocks: In order.
        title: What it calls itself; empty if it does not.
        properties: What else it says of itself, as JSON values.
        topics: Those that it names; ``None`` where it names none.
        topics_problem: Why they cannot be told though it names some; empty otherwise.
        warnings: What could not be read, in words; the rest was.
    """

    blocks: tuple[Block, ...]
    title: str = ""
    properties: dict[str, JsonValue] = field(default_factory=dict)
    topics: tuple[str, ...] | None = None
    topics_problem: str = ""
    warnings: tuple[str, ...] = ()


class Outline:
    """Puts blocks under the headings that they come behind."""

    def __init__(self) -> None:
        self._path: list[tuple[int, str]] = []
        self._blocks: list[Block] = []
        self._page: int | None = None
        self._is_bare = False
        self._chars = 0

    def heading(self, level: int, title: str, page: int | None = None) -> None:
        """Go on under a heading; those of its level and deeper ones end."""
        if self._is_bare and level <= self._path[-1][0]:
            self._speak_for_itself()
        self._path = [one for one in self._path if one[0] < level]
        heading = one_line(title)[:HEADING_CHARS_MAX].strip()
        self._is_bare = bool(heading)
        if heading:
            self._path.append((level, heading))
            self._page = page

    def add(self, text: str, *, page: int | None = None, by_lines: bool = False) -> None:
        """Add what is said next; blank text is nothing.

        Raises:
            UsageError: The document says more than is read.
        """
        block = cleaned(text).strip("\n") if by_lines else cleaned(text).strip()
        if is_blank(block):
            return
        self._chars += len(block)
        if self._chars > CHARS_MAX:
            raise unreadable(f"text of more than {CHARS_MAX:,} characters", "less text")
        self._blocks.append(Block(block, self._headings(), page, by_lines))
        self._is_bare = False

    def blocks(self) -> tuple[Block, ...]:
        """Return all that was said."""
        if self._is_bare:
            self._speak_for_itself()
        return tuple(self._blocks)

    def _speak_for_itself(self) -> None:
        """A heading with nothing under it is all that is said there."""
        self._blocks.append(Block(self._path[-1][1], self._headings(), self._page))
        self._is_bare = False

    def _headings(self) -> tuple[str, ...]:
        return tuple(title for _, title in self._path[:HEADINGS_MAX])


def cleaned(text: str) -> str:
    """Return text with line feeds alone, and without what is no text: control characters."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x0c", "\n\n")
    return _UNSPEAKABLE.sub("", lines)


def one_line(text: str) -> str:
    """Return text on one line; empty where it says nothing."""
    return "" if is_blank(text) else " ".join(cleaned(text).split())


def title_of(given: object) -> str:
    """Return a title that a file gives itself; empty if it is none."""
    if isinstance(given, bool) or not isinstance(given, str | int | float):
        return ""
    return one_line(str(given))[:TITLE_CHARS_MAX].strip()


def unreadable(what: str, accepted: str) -> UsageError:
    """Return the error for content that cannot be read: what it is, and what would be read."""
    return UsageError("content", what, accepted)

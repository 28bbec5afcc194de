"""What a text must have for a pattern to be found in it, read off the pattern. Pure.

Most patterns are found in few texts. To look whether one of some words is there takes a hundredth
of the time in which a text is searched letter by letter for any of many ways to say something.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cached_property
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple, TypeAlias

from .regexes import regex

Put: TypeAlias = str | Callable[[re.Match[str]], str]
"""What takes the place of what is found."""


class Way(NamedTuple):
    """A way of saying something, and what is put in its place."""

    pattern: str
    put: Put


MARKS_MAX = 100
"""To look for more takes as long as a search."""

FEW_MARKS = 8
ASCII_END = 128

_Marks: TypeAlias = tuple[str, ...]
_NOT_KNOWN: _Marks = ()
_REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)


class Sought:
    """A pattern that is only searched for in texts that may have it.

    Args:
        pattern: What is sought.
        flags: As ``re`` has them; capitals and small letters are the same if not given.

    Attributes:
        pattern: The same, as ``re`` has it.
    """

    def __init__(self, pattern: str, flags: int = re.IGNORECASE) -> None:
        self.pattern = regex(pattern, flags)

    @cached_property
    def marks(self) -> _Marks:
        """In lower case; one of them is in every text of ASCII in which the pattern is found.

        With none of them it is not known what is.
        """
        return marks_of(self.pattern.pattern, self.pattern.flags)

    def search(self, text: str) -> re.Match[str] | None:
        """Return where the pattern is found first."""
        return self.pattern.search(text) if self._may_be_in(lowered(text)) else None

    def sub(self, put: Put, text: str) -> str:
        """Return a text with something in the place of all that is found."""
        return self.pattern.sub(put, text) if self._may_be_in(lowered(text)) else text

    def _may_be_in(self, text: str | None) -> bool:
        """Whether it may be found in a text that is ``lowered``."""
        return text is None or not self.marks or any(map(text.__contains__, self.marks))


def sought(ways: Iterable[Way]) -> tuple[tuple[Sought, Put], ...]:
    """Return ways of speaking as ``reworded`` takes them.

    Case tells where a pattern asks for a name; elsewhere it does not matter.
    """
    return tuple((Sought(way, 0 if "[A-Z" in way else re.IGNORECASE), put) for way, put in ways)


def reworded(text: str, ways: Iterable[tuple[Sought, Put]]) -> str:
    """Return a text with each way of speaking replaced in what those before it have left."""
    small = lowered(text)
    for sought, put in ways:
        if small is not None and sought.marks and not any(map(small.__contains__, sought.marks)):
            continue
        after = sought.pattern.sub(put, text)
        if after != text:
            text, small = after, lowered(after)
    return text


def lowered(text: str) -> str | None:
    """Return a text in lower case; ``None`` where letters may have more than two forms."""
    return text.lower() if text.isascii() else None


def marks_of(pattern: str, flags: int = 0) -> _Marks:
    """Return texts, in lower case, of which every text of ASCII with a match has one; or none."""
    return _of_all(parser.parse(pattern, flags))


def _of_all(parts: Iterable[tuple[Any, Any]]) -> _Marks:
    """Return the most telling of what parts that follow each other need."""
    found: list[_Marks] = []
    run = ""
    for code, given in parts:
        if code is codes.LITERAL:
            run += chr(given).lower()
        else:
            found += ((run,), _of_one(code, given))
            run = ""
    return max([*found, (run,)], key=_worth)


def _of_one(code: object, given: Any) -> _Marks:  # noqa: ANN401 - as the parser has it
    if code is codes.BRANCH:
        return _of_any([_of_all(one) for one in given[1]])
    if code is codes.IN:
        return _of_any([_of_letter(*one) for one in given])
    if code in (codes.SUBPATTERN, codes.ASSERT):
        return _of_all(given[-1])  # what is only looked at is in the text, too
    if code in _REPEATS:
        return _of_all(given[2]) if given[0] else _NOT_KNOWN
    return _NOT_KNOWN


def _of_letter(code: object, given: Any) -> _Marks:  # noqa: ANN401 - as the parser has it
    """Return what one of the letters in brackets needs."""
    if code is codes.LITERAL:
        return (chr(given).lower(),)
    is_foreign = code is codes.RANGE and given[0] >= ASCII_END
    return (chr(given[0]),) if is_foreign else _NOT_KNOWN  # in no text of ASCII, as all of them


def _of_any(each: list[_Marks]) -> _Marks:
    """Return what stands for any of several, each of which must say what it needs."""
    marks = tuple(dict.fromkeys(mark for one in each for mark in one))
    return _NOT_KNOWN if _NOT_KNOWN in each or len(marks) > MARKS_MAX else marks


def _worth(marks: _Marks) -> tuple[bool, int, int]:
    """Return how telling marks are: a few rather than many, then by the shortest of them."""
    shortest = min(map(len, marks), default=0)
    return shortest > 1 and len(marks) <= FEW_MARKS, shortest, -len(marks)

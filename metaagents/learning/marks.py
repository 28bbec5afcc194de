"""What a text must have for a pattern to be found in it, read off the pattern. Pure.

Most patterns are found in few texts. To look whether one of some words is there takes a hundredth
of the time in which a text is searched letter by letter for any of many ways to say something.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
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
LETTERS = 3
"""By so many of its first a mark is looked up."""

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
        return self.pattern.search(text) if self.may_be_in(lowered(text)) else None

    def sub(self, put: Put, text: str) -> str:
        """Return a text with something in the place of all that is found."""
        return self.pattern.sub(put, text) if self.may_be_in(lowered(text)) else text

    def may_be_in(self, text: str | None) -> bool:
        """Whether it may be found in a text that is ``lowered``."""
        return text is None or not self.marks or any(map(text.__contains__, self.marks))


class Likely:
    """Many patterns, of which only those are tried on a text that it may have.

    To ask each of a hundred takes as long as reading the text; they are found by the first letters
    of their marks instead.

    Args:
        patterns: In their order.
    """

    def __init__(self, patterns: Iterable[Sought]) -> None:
        self.patterns = tuple(patterns)

    @cached_property
    def _by_letters(self) -> dict[str, tuple[int, ...]]:
        """Places of patterns by the first letters of their marks; of those without, by none."""
        found: dict[str, dict[int, None]] = {"": {}}
        for place, one in enumerate(self.patterns):
            is_short = not one.marks or min(map(len, one.marks)) < LETTERS
            for letters in {""} if is_short else {mark[:LETTERS] for mark in one.marks}:
                found.setdefault(letters, {})[place] = None
        return {letters: tuple(places) for letters, places in found.items()}

    def places(self, text: str) -> Sequence[int]:
        """Return which patterns may be in a text, in their order."""
        small = lowered(text)
        if small is None:
            return range(len(self.patterns))
        index = self._by_letters
        met = index.keys() & {small[at : at + LETTERS] for at in range(len(small) - LETTERS + 1)}
        among = {place for letters in ("", *met) for place in index[letters]}
        return sorted(place for place in among if self.patterns[place].may_be_in(small))


class Ways(Likely):
    """Ways of speaking, as ``reworded`` takes them.

    Case tells where a pattern asks for a name; elsewhere it does not matter.
    """

    def __init__(self, ways: Sequence[Way]) -> None:
        self.puts = [one.put for one in ways]
        super().__init__(
            Sought(one.pattern, 0 if "[A-Z" in one.pattern else re.IGNORECASE) for one in ways
        )

    def change(self, text: str, behind: int) -> tuple[str, int] | None:
        """Return what the next way behind a place makes of a text, and its place, if any does."""
        for place in self.places(text):
            if place > behind:
                after = self.patterns[place].pattern.sub(self.puts[place], text)
                if after != text:
                    return after, place
        return None


def reworded(text: str, ways: Ways) -> str:
    """Return a text with each way of speaking replaced in what those before it have left."""
    place = -1
    while changed := ways.change(text, place):
        text, place = changed
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

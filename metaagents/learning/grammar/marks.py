"""What a text must have for a pattern to match in it, read off the pattern. Pure.

Most patterns match nothing in most texts. To look whether one of a few words is there takes a
hundredth of the time of a search that goes through the text letter by letter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

from .openings import Put

MARKS_MAX = 24
"""To look for more takes longer than most patterns do."""

FEW_MARKS = 8

_NOT_KNOWN: tuple[str, ...] = ()
_REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)


class Way(NamedTuple):
    """A way of speaking: what it is known by, and what it comes down to.

    Attributes:
        marks: In lower case; one of them is in every text of ASCII in which the pattern is found.
            With none of them it is not known what is.
        pattern: How it is said.
        put: What takes its place.
    """

    marks: tuple[str, ...]
    pattern: re.Pattern[str]
    put: Put


def way_of(pattern: str, put: Put, flags: int = 0) -> Way:
    """Return a pattern made ready."""
    return Way(marks_of(pattern), re.compile(pattern, flags), put)


def reworded(text: str, ways: Iterable[Way]) -> str:
    """Return a text with each way applied to what those before it have made of it."""
    lowered = _lowered(text)
    for marks, pattern, put in ways:
        if lowered is not None and marks and not any(mark in lowered for mark in marks):
            continue
        after = pattern.sub(put, text)
        if after != text:
            text, lowered = after, _lowered(after)
    return text


def _lowered(text: str) -> str | None:
    """Return a text in lower case; ``None`` where letters have more than two forms."""
    return text.lower() if text.isascii() else None


def marks_of(pattern: str) -> tuple[str, ...]:
    """Return texts, in lower case, of which every match of a pattern has one; or none at all."""
    return _of_all(parser.parse(pattern))


def _of_all(parts: Iterable[tuple[Any, Any]]) -> tuple[str, ...]:
    """Return the most telling of what parts that follow each other need."""
    found: list[tuple[str, ...]] = []
    run = ""
    for code, given in parts:
        if code is codes.LITERAL:
            run += chr(given).lower()
        else:
            found += ((run,), _of_one(code, given))
            run = ""
    return max([*found, (run,)], key=_worth)


def _of_one(code: object, given: Any) -> tuple[str, ...]:  # noqa: ANN401 - as the parser has it
    if code is codes.BRANCH:
        return _of_any([_of_all(one) for one in given[1]])
    if code is codes.SUBPATTERN:
        return _of_all(given[3])
    if code is codes.ATOMIC_GROUP:
        return _of_all(given)
    if code is codes.ASSERT:
        return _of_all(given[1])  # what it looks at is in the text, too
    if code in _REPEATS:
        return _of_all(given[2]) if given[0] else _NOT_KNOWN
    return _NOT_KNOWN


def _of_any(each: list[tuple[str, ...]]) -> tuple[str, ...]:
    """Return what stands for any of several, each of which must say what it needs."""
    marks = tuple(dict.fromkeys(mark for one in each for mark in one))
    return _NOT_KNOWN if _NOT_KNOWN in each or len(marks) > MARKS_MAX else marks


def _worth(marks: tuple[str, ...]) -> tuple[bool, int, int]:
    """Return how telling marks are: a few rather than many, then by the shortest of them."""
    shortest = min(map(len, marks), default=0)
    return shortest > 1 and len(marks) <= FEW_MARKS, shortest, -len(marks)

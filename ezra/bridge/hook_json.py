"""Changes to JSON text that leave everything else in it as it is, to the byte. Pure.

A value is added where a person would add it: with the indentation and the line ends of those
before it, on one line where they are. Taking it out again gives back the text from before.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

Path: TypeAlias = Sequence[str | int]
"""Names and places on the way from the whole text to a value."""

UNIT = "  "
"""One step of indentation where a text has none."""

_DECODER = json.JSONDecoder()
_VALUE = re.compile(r"[^ \t\n\r]|$")
_NO_INDENT = re.compile(r"[^ \t]|$")


@dataclass(frozen=True)
class _Part:
    """A member of an object, or an element of an array; offsets into the text."""

    key: str | int
    begin: int
    value: int
    end: int


def added(text: str, path: Path, value: Any) -> str:  # noqa: ANN401 - any JSON value
    """Return a text with a value at the end of the array, or object, that it is to be in.

    Args:
        text: JSON.
        path: To where it will be: the last part is its name in an object, or the number of
            elements of an array. What leads there must be there.
        value: What is added.
    """
    at = _found(text, path[:-1])
    parts, close = _members(text, at)
    key = path[-1]
    named = f"{json.dumps(key, ensure_ascii=False)}: " if isinstance(key, str) else ""
    if parts:
        last = parts[-1]
        lead = _space_before(text, last.begin)
        return text[: last.end] + "," + lead + named + _shown(text, value, lead) + text[last.end :]
    if not _is_spread(text):
        return text[: at + 1] + named + json.dumps(value, ensure_ascii=False) + text[close:]
    line_end = "\r\n" if "\r\n" in text else "\n"
    outer = line_end + _indent_at(text, at)
    lead = outer + _unit(text)
    inner = lead + named + _shown(text, value, lead)
    return text[: at + 1] + inner + outer + text[close:]


def without(text: str, path: Path) -> str:
    """Return a text without the value at a path, which must be there."""
    at = _found(text, path[:-1])
    parts, close = _members(text, at)
    place = _place(parts, path[-1])
    if len(parts) == 1:
        return text[: at + 1] + text[close:]
    if place == 0:
        return text[: parts[0].begin] + text[parts[1].begin :]
    return text[: parts[place - 1].end] + text[parts[place].end :]


def _found(text: str, path: Path) -> int:
    """Return where a value begins."""
    at = _skipped(text, 0)
    for key in path:
        parts, _ = _members(text, at)
        at = parts[_place(parts, key)].value
    return at


def _place(parts: Sequence[_Part], key: str | int) -> int:
    # Of two members of one name the last counts, as for every reader of JSON.
    return max(place for place, part in enumerate(parts) if part.key == key)


def _members(text: str, at: int) -> tuple[list[_Part], int]:
    """Return what is in the object or array at an offset, and where it is closed."""
    is_object = text[at] == "{"
    parts: list[_Part] = []
    at = _skipped(text, at + 1)
    while text[at] not in "}]":
        key: str | int = len(parts)
        begin = at
        if is_object:
            key, at = _DECODER.raw_decode(text, at)
            at = _skipped(text, _skipped(text, at) + 1)
        _, end = _DECODER.raw_decode(text, at)
        parts.append(_Part(key, begin, at, end))
        at = _skipped(text, end)
        if text[at] == ",":
            at = _skipped(text, at + 1)
    return parts, at


def _shown(text: str, value: Any, lead: str) -> str:  # noqa: ANN401 - any JSON value
    """Return a value as it is written after some space: over several lines where that has one."""
    if "\n" not in lead:
        return json.dumps(value, ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False, indent=_unit(text)).replace("\n", lead)


def _is_spread(text: str) -> bool:
    """Whether a text is written over several lines; one with nothing in it will be."""
    at = _skipped(text, 0)
    parts, _ = _members(text, at)
    return not parts or "\n" in _space_before(text, parts[0].begin)


def _unit(text: str) -> str:
    """Return one step of indentation."""
    parts, _ = _members(text, _skipped(text, 0))
    lead = _space_before(text, parts[0].begin) if parts else ""
    return lead.rpartition("\n")[2] or UNIT


def _indent_at(text: str, at: int) -> str:
    """Return the indentation of the line that an offset is in."""
    begin = text.rfind("\n", 0, at) + 1
    return text[begin : _at(_NO_INDENT, text, begin)]


def _space_before(text: str, at: int) -> str:
    begin = at
    while begin and text[begin - 1] in " \t\n\r":
        begin -= 1
    return text[begin:at]


def _skipped(text: str, at: int) -> int:
    return _at(_VALUE, text, at)


def _at(what: re.Pattern[str], text: str, at: int) -> int:
    found = what.search(text, at)
    return len(text) if found is None else found.start()

"""Strict JSON that knows its lines: no repeated keys, no NaN, no lone surrogates, bounded depth.

The outer levels of a document are walked in Python to learn where each element begins; what lies
below is decoded in C, so that a large file stays fast. A refused element is named by the line it
begins on, a syntax error by its own line and column.
"""

from __future__ import annotations

import math
import re
from json import JSONDecodeError, JSONDecoder

from tiers.errors import UsageError

from . import source as limits
from .source import Source

DEPTH_MAX = 16
_WALKED_LEVELS = 4
"""A turn lies at most this deep in every format: samples, conversation, session, turn."""

_SPACE = re.compile(r"[ \t\n]*")
_BAD_TEXT = re.compile("[\x00\ud800-\udfff]")
_SHOWN_CHARS = 60


class JsonObject(dict[str, object]):
    """A JSON object that knows the line it begins on."""

    def __init__(self, values: dict[str, object], line: int) -> None:
        super().__init__(values)
        self.line = line


class _Refused(ValueError):
    """Valid by the grammar but not accepted. ``args`` are the value and what is accepted."""


def line_of(value: object, otherwise: int) -> int:
    """Return the line a decoded value begins on, or the one of what it lies in."""
    return value.line if isinstance(value, JsonObject) else otherwise


def decode(source: Source) -> object:
    """Decode a file that holds one JSON value, or one JSON object a line.

    Lines are decoded one by one, and given back as a list, when the file's extension says so or
    when its first line is a whole object and not the only line.

    Raises:
        UsageError: It is not strict JSON.
    """
    if source.path.suffix.lower() in {".jsonl", ".ndjson"} or _begins_with_object_line(source):
        return _decode_lines(source)
    return _Reader(source, source.text, 1).document(_WALKED_LEVELS)


def looks_like_json(text: str) -> bool:
    """Return whether a file of unknown extension begins like a JSON object or list of them."""
    return re.match(r"\s*(?:\{|\[\s*[\{\]])", text) is not None


def _begins_with_object_line(source: Source) -> bool:
    first, _, rest = source.text.lstrip().partition("\n")
    if not first.startswith("{") or not rest.strip():
        return False
    try:
        _Reader(source, first, 1).document(0)
    except UsageError:
        return False
    return True


def _decode_lines(source: Source) -> list[object]:
    if source.text.count("\n") > limits.LINES_MAX:
        raise source.problem(
            limits.LINES_MAX + 1, "file", "more lines", f"at most {limits.LINES_MAX} lines"
        )
    rows: list[object] = []
    for number, text in enumerate(source.text.split("\n"), start=1):
        if not text.strip():
            continue
        row = _Reader(source, text, number).document(0)
        if not isinstance(row, JsonObject):
            raise source.problem(number, "line", row, "one JSON object")
        rows.append(row)
    return rows


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    values = dict(pairs)
    if len(values) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _Refused(key, "every key once in an object")
            seen.add(key)
    return values


def _no_constant(name: str) -> object:
    raise _Refused(name, "finite numbers")


_DECODER = JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant)


def _check(value: object) -> None:
    """Refuse what the grammar allows but no record can hold; iterative, as depth is unknown."""
    waiting = [(value, 0)]
    while waiting:
        item, depth = waiting.pop()
        if isinstance(item, str):
            if _BAD_TEXT.search(item):
                raise _Refused(item, "text without NUL and without half surrogate pairs")
        elif isinstance(item, float):
            if not math.isfinite(item):
                raise _Refused(item, "finite numbers")
        elif isinstance(item, dict | list):
            if depth == DEPTH_MAX:
                raise _Refused("deeper nesting", f"at most {DEPTH_MAX} levels of nesting")
            children = [*item, *item.values()] if isinstance(item, dict) else item
            waiting.extend((child, depth + 1) for child in children)


class _Reader:
    def __init__(self, source: Source, text: str, first_line: int) -> None:
        self._source = source
        self._text = text
        self._counted = 0
        self._line = first_line

    def document(self, levels: int) -> object:
        value, end = self._value(0, levels)
        end = self._skip(end)
        if end != len(self._text):
            raise self._syntax("nothing expected after the value", end)
        return value

    def _value(self, start: int, levels: int) -> tuple[object, int]:
        start = self._skip(start)
        opening = self._text[start : start + 1]
        if levels and opening == "{":
            return self._object(start, levels - 1)
        if levels and opening == "[":
            return self._array(start, levels - 1)
        return self._leaf(start)

    def _array(self, start: int, levels: int) -> tuple[object, int]:
        items: list[object] = []
        here = self._skip(start + 1)
        if self._text[here : here + 1] == "]":
            return items, here + 1
        while True:
            item, here = self._value(here, levels)
            items.append(item)
            here = self._skip(here)
            if self._text[here : here + 1] == "]":
                return items, here + 1
            here = self._past(",", here)

    def _object(self, start: int, levels: int) -> tuple[object, int]:
        line = self._line_at(start)
        pairs: list[tuple[str, object]] = []
        here = self._skip(start + 1)
        if self._text[here : here + 1] == "}":
            return JsonObject({}, line), here + 1
        while True:
            here = self._skip(here)
            if self._text[here : here + 1] != '"':
                raise self._syntax("Expecting property name enclosed in double quotes", here)
            key, here = self._leaf(here)
            value, here = self._value(self._past(":", self._skip(here)), levels)
            pairs.append((str(key), value))
            here = self._skip(here)
            if self._text[here : here + 1] == "}":
                return JsonObject(self._accepted(pairs, line), line), here + 1
            here = self._past(",", here)

    def _accepted(self, pairs: list[tuple[str, object]], line: int) -> dict[str, object]:
        try:
            return _unique(pairs)
        except _Refused as refused:
            raise self._source.problem(line, "JSON", *refused.args) from refused

    def _leaf(self, start: int) -> tuple[object, int]:
        line = self._line_at(start)
        try:
            value, end = _DECODER.raw_decode(self._text, start)
            _check(value)
        except JSONDecodeError as error:
            raise self._syntax(error.msg, error.pos) from error
        except _Refused as refused:
            raise self._source.problem(line, "JSON", *refused.args) from refused
        except RecursionError as error:
            accepted = f"at most {DEPTH_MAX} levels of nesting"
            raise self._source.problem(line, "JSON", "deeper nesting", accepted) from error
        except ValueError as error:  # an integer of thousands of digits
            raise self._source.problem(line, "JSON", self._shown(start), str(error)) from error
        return (JsonObject(value, line) if isinstance(value, dict) else value), end

    def _skip(self, start: int) -> int:
        space = _SPACE.match(self._text, start)
        return space.end() if space else start

    def _past(self, mark: str, here: int) -> int:
        if self._text[here : here + 1] != mark:
            raise self._syntax(f"Expecting {mark!r} delimiter", here)
        return here + 1

    def _line_at(self, position: int) -> int:
        self._line += self._text.count("\n", self._counted, position)
        self._counted = position
        return self._line

    def _shown(self, position: int) -> str:
        return self._text[position : position + _SHOWN_CHARS].split("\n")[0]

    def _syntax(self, reason: str, position: int) -> UsageError:
        line = self._line + self._text.count("\n", self._counted, position)
        column = position - self._text.rfind("\n", 0, position)
        accepted = f"valid JSON ({reason}, column {column})"
        return self._source.problem(line, "JSON", self._shown(position), accepted)

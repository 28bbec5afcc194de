"""Rows as JSON values of declared types, and what a context says of them. Pure.

What a source sends is data from a stranger. It is bounded, typed, and written so that no value
looks like a line of ours.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from pydantic import JsonValue

from tiers.lexical import estimate_tokens
from tiers.mesh import FieldType

from .slots import Value

CELL_CHARS_MAX = 2_000
"""Of one value; the rest is cut, and the answer says so."""

ROWS_CHARS_MAX = 200_000
"""Of all rows together, as JSON."""

_DEPTH_MAX = 64
_EXACT_MAX = 2**63


@dataclass(frozen=True)
class Found:
    """What a connector found.

    Attributes:
        rows: Values by field, as the driver or the document has them.
        types: Of each field.
        total: How many rows there are, where that is known.
        more: Whether there are more than ``rows``.
        synced_at: As of when the source's data are, where it says.
    """

    rows: Sequence[Mapping[str, Any]]
    types: Mapping[str, FieldType]
    total: int | None = None
    more: bool = False
    synced_at: datetime | None = None


@dataclass
class Table:
    """Rows as they are kept.

    Attributes:
        rows: JSON values by field.
        truncated: Whether rows or parts of values were left out.
    """

    rows: list[dict[str, JsonValue]] = field(default_factory=list)
    truncated: bool = False


def table_of(found: Found, limit: int) -> Table:
    """Return at most ``limit`` rows as JSON values, within ``ROWS_CHARS_MAX``."""
    table, chars = Table(truncated=found.more), 0
    for row in found.rows:
        cells = {name: _cell(row.get(name)) for name in found.types}
        kept = {name: value for name, (value, _) in cells.items()}
        chars += len(as_data(kept))
        if len(table.rows) == limit or chars > ROWS_CHARS_MAX:
            table.truncated = True
            break
        table.truncated |= any(cut for _, cut in cells.values())
        table.rows.append(kept)
    return table


def typed(value: object, kind: FieldType) -> Any:  # noqa: ANN401 - any JSON value
    """Return a value of a document if it is of a declared type.

    Raises:
        ValueError: It is none; nothing of it is said.
    """
    if value is None:
        return None
    reader = _READERS[kind]
    fits = reader(value)
    if fits is None:
        raise ValueError(f"is no {kind}")
    return fits


def answer_text(
    question: str,
    slots: Mapping[str, Value],
    table: Table,
    *,
    total: int | None,
    as_of: datetime | None,
    tokens: int,
) -> str:
    """Return what a context says of an answer: one line, of at most so many tokens.

    Whole rows are left out where they do not fit, and the line says so.
    """
    asked = {name: json_of(value) for name, value in slots.items()}
    head = question + (f" {as_data(asked)}" if asked else "")
    if as_of is not None:
        head += f" as of {as_of.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
    count = f"{len(table.rows)} row{'s' if len(table.rows) != 1 else ''}"
    if total is not None and total > len(table.rows):
        count = f"{len(table.rows)} of {total} rows"
    elif table.truncated:
        count += " and more"
    lines = [as_data(row) for row in table.rows]
    shown = len(lines)
    while True:
        rest = f" … {shown} shown" if shown < len(lines) else ""
        text = f"{head}, {count}" + (": " if shown else "") + "; ".join(lines[:shown]) + rest
        if estimate_tokens(text) <= tokens or shown == 0:
            return cut(text, tokens)
        shown = min(shown - 1, shown * tokens // estimate_tokens(text))


def cut(text: str, tokens: int) -> str:
    """Return a text of at most so many tokens; what was cut ends in an ellipsis."""
    text = text[: 4 * (tokens + 1)]  # no token has more characters: what is behind never counts
    while estimate_tokens(text) > tokens:
        text = text[: max(1, len(text) * tokens // (estimate_tokens(text) + 1)) - 1].rstrip() + "…"
    return text


def as_data(value: object) -> str:
    """Return a JSON value on one line, with everything escaped that is no plain character.

    That is line breaks of every script, directional marks, lone surrogates and the like.
    """
    return plain(json.dumps(value, ensure_ascii=False, separators=(", ", ": "), default=str))


def plain(text: str) -> str:
    """Return a text on one line: what is no printable character is written as an escape."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escaped(char) for char in text)


def json_of(value: Value) -> JsonValue:
    """Return the value of a slot as JSON has it."""
    return value.isoformat() if isinstance(value, date) else value


def at_path(document: object, path: str) -> object:
    """Return what is at a path of names between dots, or ``None``; the empty path is all of it."""
    for part in path.split(".") if path else ():
        if not isinstance(document, dict) or part not in document:
            return None
        document = document[part]
    return document


def total_of(document: object, path: str | None, count: int) -> int | None:
    """Return how many rows a document says that there are; ``None`` where it says nothing usable.

    Args:
        document: What was answered.
        path: Where it says so; ``None``: nowhere, and ``count`` is all there are.
        count: How many rows are in it.
    """
    total = count if path is None else at_path(document, path)
    is_count = isinstance(total, int) and not isinstance(total, bool)
    return total if is_count and isinstance(total, int) and count <= total < _EXACT_MAX else None


def in_utc(value: datetime) -> datetime | None:
    """Return a moment in UTC, one without a zone taken to be in it; ``None`` beyond the calendar.

    The last day of the year 9999 in a western zone is no moment that Python can say in UTC.
    """
    known = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
    try:
        return known.astimezone(UTC)
    except (OverflowError, ValueError):
        return None


def depth_of(value: object, limit: int = _DEPTH_MAX) -> int:
    """Return how deep a JSON value is nested; never more than ``limit``."""
    depth, level = 0, [value]
    while level and depth < limit:
        inner: list[object] = []
        for one in level:
            if isinstance(one, dict):
                inner += one.values()
            elif isinstance(one, list):
                inner += one
        depth, level = depth + 1, inner
    return depth


def _escaped(char: str) -> str:
    known = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(char)
    if known is not None:
        return known
    code = ord(char)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004 - the basic plane


def _cell(value: object) -> tuple[JsonValue, bool]:
    """Return a value as JSON, and whether some of it was cut."""
    if isinstance(value, bool | None):
        return value, False
    if isinstance(value, int) and -_EXACT_MAX <= value < _EXACT_MAX:
        return value, False
    if isinstance(value, float):
        return (value if math.isfinite(value) else None), False
    if isinstance(value, bytes | bytearray | memoryview):
        return f"({len(bytes(value))} bytes)", True
    text = _written(value)
    is_cut = len(text) > CELL_CHARS_MAX or isinstance(value, int)
    # Lone surrogates, which JSON can escape and no UTF-8 can say, become question marks.
    return text[:CELL_CHARS_MAX].encode("utf-8", "replace").decode(), is_cut


def _written(value: object) -> str:
    if isinstance(value, datetime):
        return _moment(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, dict | list):
        if depth_of(value) >= _DEPTH_MAX:
            return "(nested too deep)"
        # One character more than is kept says that it was cut; escapes only make it longer.
        whole = json.dumps(value, ensure_ascii=False, separators=(", ", ": "), default=str)
        return plain(whole[: CELL_CHARS_MAX + 1])
    if isinstance(value, int):
        return f"{value.bit_length()} bits"  # beyond what databases have; str() may refuse it
    return str(value)


def _moment(value: datetime) -> str:
    """Return a moment in UTC; one without a zone is taken to be in UTC."""
    known = in_utc(value)
    return str(value) if known is None else known.isoformat().replace("+00:00", "Z")


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _number(value: object) -> int | float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value


def _decimal(value: object) -> str | None:
    """Return digits as they were sent; a float of JSON has its shortest form."""
    if isinstance(value, str):
        try:
            return value if len(value) <= 100 and Decimal(value).is_finite() else None  # noqa: PLR2004
        except ArithmeticError:
            return None
    number = _number(value)
    is_beyond = isinstance(number, float) and not math.isfinite(number)
    return None if number is None or is_beyond else str(number)


def _day(value: object) -> str | None:
    if isinstance(value, date) and not isinstance(value, datetime):
        return value.isoformat()
    try:
        return date.fromisoformat(value).isoformat() if isinstance(value, str) else None
    except ValueError:
        return None


def _time(value: object) -> str | None:
    try:
        at = datetime.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        return None
    return _moment(at) if isinstance(at, datetime) else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _json(value: object) -> object:
    return value


_READERS: Mapping[FieldType, Any] = {
    "text": _text,
    "integer": _whole,
    "number": _number,
    "decimal": _decimal,
    "boolean": _flag,
    "date": _day,
    "datetime": _time,
    "json": _json,
}

"""Reading an export, line by line, whatever is in the file. Nothing of it is taken on trust."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple, NoReturn, TypeAlias

from pydantic import ValidationError

from ..beliefs import LoggedBelief, SignedHead
from ..errors import UsageError, refused
from ..evidence import ChainedAudit
from ..fields import Misfit
from .export import (
    FORMAT,
    LINE_BYTES_MAX,
    VERSION,
    ExportHeader,
    ExportSeal,
    audit_line,
    entry_line,
    head_line,
    header_line,
    rotation_line,
    seal_line,
)
from .rotation import Rotation

_SHOWN_CHARS = 80
_DEPTH_MAX = 50

ExportItem: TypeAlias = (
    ExportHeader | LoggedBelief | SignedHead | ChainedAudit | Rotation | ExportSeal
)


class ExportLine(NamedTuple):
    """A line of an export.

    Attributes:
        number: From 1.
        item: What it says, in its one canonical form; ``None`` when it says nothing that can be
            known.
        problem: Why it does not.
        sha256: Of the line without its newline, and
        before: of all bytes before it; only for a header and a seal, empty otherwise.
    """

    number: int
    item: ExportItem | None
    problem: str = ""
    sha256: str = ""
    before: str = ""


def read_export(path: Path) -> Iterator[ExportLine]:
    """Yield the lines of a file, whatever they are; one of at most 32 MiB is in memory at a time.

    Raises:
        UsageError: The file cannot be read.
    """
    digest = hashlib.sha256()
    number = 0

    def told(why: str) -> UsageError:
        return UsageError("path", str(path), f"a file that can be read ({why})")

    with refused(told, ValueError), _opened(path) as file:
        while raw := file.readline(LINE_BYTES_MAX + 1):
            number += 1
            if len(raw) > LINE_BYTES_MAX:
                _skip_line(file, raw)
                yield ExportLine(number, None, f"is longer than {LINE_BYTES_MAX} bytes")
                continue
            yield _line(number, raw, digest.copy())
            digest.update(raw)


def parsed(text: str) -> Any:  # noqa: ANN401 - whatever JSON may be
    """Return the value of a JSON text.

    Raises:
        ValueError: It is not JSON, or too deep, or holds a number that is none.
    """
    message = "nested too deeply"
    try:
        value = _DECODER.decode(text)
    except RecursionError as error:
        raise ValueError(message) from error
    if text.count("[") + text.count("{") > _DEPTH_MAX and _is_deep(value):
        raise ValueError(message)
    return value


def shown(text: str) -> str:
    """Return a text of a file as it may be shown on a terminal: short, and nothing unprintable."""
    return repr(text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}...")


def _opened(path: Path) -> IO[bytes]:
    """Return an open file. A pipe would never answer, a device never end."""
    number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    file = os.fdopen(number, "rb")
    if not stat.S_ISREG(os.fstat(number).st_mode):
        file.close()
        message = "not a regular file"
        raise ValueError(message)
    return file


def _skip_line(file: IO[bytes], raw: bytes) -> None:
    while raw and not raw.endswith(b"\n"):
        raw = file.readline(LINE_BYTES_MAX)


def _line(number: int, raw: bytes, before: Any) -> ExportLine:  # noqa: ANN401 - hashlib's own
    if not raw.endswith(b"\n"):
        return ExportLine(number, None, "is cut short: no newline ends it")
    raw = raw[:-1]
    item = _item(raw)
    if isinstance(item, str):
        return ExportLine(number, None, item)
    if isinstance(item, ExportHeader | ExportSeal):
        own = hashlib.sha256(raw).hexdigest()
        return ExportLine(number, item, sha256=own, before=before.hexdigest())
    return ExportLine(number, item)


def _item(raw: bytes) -> ExportItem | str:
    """Return what a line says, or why it says nothing."""
    try:
        value = _value(raw)
    except ValueError as error:
        return str(error)
    known = _KINDS.get(frozenset(value))
    if known is None:
        return f"is of no known shape: {shown(', '.join(sorted(value)))}"
    name, read, written = known
    try:
        item = read(value)
        is_canonical = written(item) == raw
    except ValidationError as error:
        return f"is no {name}: {_reason(error, value)}"
    except (UsageError, OverflowError, RecursionError):
        return f"is no {name}: it holds a text or a time that cannot be written"
    return item if is_canonical else f"is a {name} that is not written in the canonical form"


def _value(raw: bytes) -> dict[str, Any]:
    """Return the object of a line.

    Raises:
        ValueError: There is none; the message says what a line is then.
    """
    try:
        value = parsed(raw.decode())
    except UnicodeDecodeError as error:
        message = f"is not UTF-8 (byte {error.start + 1})"
        raise ValueError(message) from error
    except ValueError as error:
        message = f"is not JSON ({str(error)[:80]})"
        raise ValueError(message) from error
    if not isinstance(value, dict):
        message = "is not a JSON object"
        raise ValueError(message)
    return value


def _reason(error: ValidationError, value: Mapping[str, Any]) -> str:
    """Return the first thing that is wrong, without what was said."""
    if value.get("format") == FORMAT and value.get("version") != VERSION:
        return f"its version is not {VERSION}"
    first = Misfit.first_of(error)
    return f"{shown(first.field())} {first.problem[:80]}"


def _is_deep(value: Any) -> bool:  # noqa: ANN401 - whatever JSON may be
    """Return whether a value is nested so deeply that others might not be able to read it."""
    layer = [value]
    for _ in range(_DEPTH_MAX):
        layer = [
            inner
            for outer in layer
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not layer:
            return False
    return True


def _refuse_constant(name: str) -> NoReturn:
    message = f"{name} is no number"
    raise ValueError(message)


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)

_Read: TypeAlias = Callable[[Mapping[str, Any]], Any]
_Written: TypeAlias = Callable[[Any], bytes]
_KINDS: Mapping[frozenset[str], tuple[str, _Read, _Written]] = {
    frozenset(ExportHeader.model_fields): ("header", ExportHeader.model_validate, header_line),
    frozenset({"content", "event", "salt"}): ("event", LoggedBelief.model_validate, entry_line),
    frozenset({"head"}): ("head", lambda one: SignedHead.model_validate(one["head"]), head_line),
    frozenset({"audit"}): (
        "audit event",
        lambda one: ChainedAudit.model_validate(one["audit"]),
        audit_line,
    ),
    frozenset({"rotation"}): (
        "rotation",
        lambda one: Rotation.model_validate(one["rotation"]),
        rotation_line,
    ),
    frozenset({"seal"}): ("seal", lambda one: ExportSeal.model_validate(one["seal"]), seal_line),
}

"""Structured logs on standard error, a line each: ids and numbers, never content and no tokens.

What a message was given as an error, or a line as its traceback, is told by its class and place:
the words of an error may quote what was said. Other libraries are trusted with their own words only
where they are known to speak of themselves.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import traceback
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias

from tiers.errors import TierError

Style: TypeAlias = Literal["json", "text"]

_OURS = frozenset(("ezra", "metaagents", "tiers"))
_TRUSTED = _OURS | {"apscheduler", "opentelemetry", "uvicorn"}
_PLAIN = re.compile(r"[\w.,:;/@+%()\[\]{}<>=*'|-]+", re.ASCII)


class JsonLines(logging.Formatter):
    """Writes a record as one JSON object; what it was given as ``fields`` is part of it."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        return json.dumps(_log_document(record), default=str)


class TextLines(logging.Formatter):
    """Writes a record as one line for people: when, how bad, who, what, and ``name=value``."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line = _log_document(record)
        head = (line.pop("at"), str(line.pop("level")).upper(), line.pop("logger"))
        message = _on_one_line(str(line.pop("message")))
        fields = (f"{name}={_shown(value)}" for name, value in line.items() if value is not None)
        return " ".join((*head, message, *fields))


def log_to_stderr(*, has_access: bool, style: Style = "json") -> None:
    """Send what this process logs to standard error.

    Args:
        has_access: Whether every request leaves a line.
        style: How lines are written.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if style == "json" else TextLines())
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("ezra.access").setLevel(logging.INFO if has_access else logging.WARNING)


def _log_document(record: logging.LogRecord) -> dict[str, Any]:
    at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
    line = {
        "at": at,
        "level": record.levelname.lower(),
        "logger": record.name,
        "message": _message(record),
        **getattr(record, "fields", {}),
    }
    error = record.exc_info[1] if record.exc_info else None
    if error is not None:
        line |= {"error": _named(error), "where": "".join(traceback.format_tb(error.__traceback__))}
    return line


def _message(record: logging.LogRecord) -> str:
    """Return a record's message with its errors named and not quoted."""
    if record.name.partition(".")[0] not in _TRUSTED:
        return f"a message from {record.module}:{record.lineno}, whose words stay out of this log"
    args: Any = record.args
    if isinstance(args, tuple):
        args = tuple(map(_named, args))
    elif isinstance(args, Mapping):
        args = {name: _named(value) for name, value in args.items()}
    return str(record.msg) % args if args else str(record.msg)


def _named(value: object) -> object:
    """Return an error by its class, and where it comes from a tier by that; all else as it is."""
    if not isinstance(value, BaseException):
        return value
    name = type(value).__name__
    return f"{name} ({value.tier}, {value.operation})" if isinstance(value, TierError) else name


def _shown(value: object) -> str:
    text = str(value)
    return text if _PLAIN.fullmatch(text) else json.dumps(text)


def _on_one_line(text: str) -> str:
    return text if text.isprintable() else json.dumps(text)

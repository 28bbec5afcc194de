"""Structured logs: one JSON object a line, on standard error."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

LOGGERS = ("ezra", "uvicorn.error")


class JsonLines(logging.Formatter):
    """Writes a record as one JSON object; what it was given as ``fields`` is part of it."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        said = {
            "at": at,
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        return json.dumps(said, default=str)


def log_to_stderr(*, has_access: bool) -> None:
    """Send what the service logs to standard error.

    Args:
        has_access: Whether every request leaves a line.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name in LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(logging.WARNING)
    logging.getLogger("ezra.access").setLevel(logging.INFO if has_access else logging.WARNING)

"""What a parser takes in, a file read whole, and what it hands over, drafts of lines."""

from __future__ import annotations

import stat
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from tiers.errors import UsageError, refused

FILE_BYTES_MAX = 200_000_000
LINES_MAX = 1_000_000
"""Of a file that is read line by line, and of the records of one script."""

_SHOWN_BYTES = 16


@dataclass(frozen=True, slots=True)
class Source:
    """A decoded file. Line breaks are line feeds; there is no byte order mark and no NUL."""

    path: Path
    text: str

    @property
    def name(self) -> str:
        """The path as given, safe to print."""
        return shown_path(self.path)

    @property
    def stem(self) -> str:
        """The file's name without its last extension."""
        return self.path.stem

    def problem(self, line: int, field_name: str, value: object, accepted: str) -> UsageError:
        """Return the error for one field on one line; lines count from 1."""
        return UsageError(f"{self.name}:{line}: {field_name}", value, accepted)


@dataclass(frozen=True, slots=True)
class Draft:
    """A line as its file states it.

    Attributes:
        line: Where it begins in the file.
        conversation: ``None`` stands for the file's stem.
        id: The file's own name for the line, if it has one.
        agent: ``None`` when the speaker owns the line.
        qualified: Whether ``agent`` gets the conversation in front when the file holds several.
        content: The fields that only this kind of line has.
    """

    line: int
    speaker: str
    at: datetime
    content: dict[str, Any]
    kind: Literal["turn", "fact", "rule", "belief"] = "turn"
    conversation: str | None = None
    id: str | None = None
    agent: str | None = None
    qualified: bool = True
    topics: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Parsed:
    """What one file holds. ``skipped`` counts messages left out, by conversation."""

    drafts: tuple[Draft, ...]
    skipped: Counter[str | None] = field(default_factory=Counter)


def shown_path(path: Path) -> str:
    """Return a path that can be printed even when its bytes are no text."""
    return str(path).encode("utf-8", "backslashreplace").decode()


def read_source(path: Path) -> Source:
    """Read a whole file as UTF-8.

    Raises:
        UsageError: It cannot be read, is too large, is empty, or is not text in UTF-8.
    """
    data = _read_bytes(path)
    try:
        text = data.removeprefix(b"\xef\xbb\xbf").decode()
    except UnicodeDecodeError as error:
        before, bad = error.object[: error.start], error.object[error.start :][:_SHOWN_BYTES]
        raise _problem(path, before.count(b"\n") + 1, "encoding", bad, "text in UTF-8") from error
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    nul = text.find("\x00")
    if nul >= 0:
        line = text.count("\n", 0, nul) + 1
        raise _problem(path, line, "encoding", "\x00", "text without NUL bytes")
    if not text.strip():
        raise _problem(path, 1, "file", text, "at least one message; this file is empty")
    return Source(path, text)


def _read_bytes(path: Path) -> bytes:
    def unreadable(why: str) -> UsageError:
        return UsageError("paths", shown_path(path), f"paths of files that can be read ({why})")

    with refused(unreadable, ValueError):  # a NUL in the path itself
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            what = "a directory" if stat.S_ISDIR(status.st_mode) else "not a regular file"
            raise UsageError("paths", shown_path(path), f"paths of files; this is {what}")
        with path.open("rb") as file:
            data = file.read(FILE_BYTES_MAX + 1)
    if len(data) > FILE_BYTES_MAX:
        raise UsageError("paths", shown_path(path), f"files of at most {FILE_BYTES_MAX} bytes")
    return data


def _problem(path: Path, line: int, field_name: str, value: object, accepted: str) -> UsageError:
    return Source(path, "").problem(line, field_name, value, accepted)

"""Reads a document and cuts it into passages, in one go. Pure; also a process of its own.

``python -m ezra.documents.reading`` reads one document from its input and writes what it says, in
frames: eight bytes of length and so many of JSON. The first says ``ready``; ``apart`` has the other
end. It loads little, and ends when it is done.
"""

from __future__ import annotations

import gc
import hashlib
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, BinaryIO, NamedTuple

from tiers.documents import PassageDraft
from tiers.errors import ConfigError, UsageError
from tiers.fields import TEXT_CHARS_MAX

from .chunking import passages_of
from .formats import parse, parse_text, type_of, type_of_text
from .parsed import CHARS_MAX, FILE_BYTES_MAX, Parsed, cleaned

LENGTH_BYTES = 8


class Reading(NamedTuple):
    """All that is known of a document once it is read.

    Attributes:
        parsed: What it says of itself; without its blocks, which are in the passages.
        passages: In order.
        media_type: As it was read.
        digest: SHA-256 of the file, in hexadecimal.
        text: The whole of it, where it is kept.
    """

    parsed: Parsed
    passages: tuple[PassageDraft, ...]
    media_type: str
    digest: str
    text: str


def reading_of(
    name: str, content: str | bytes, media_type: str | None, *, keep_text: bool
) -> Reading:
    """Return all that is known of a document. Not a coroutine: it may take a while.

    Raises:
        UsageError: It cannot be read, or is larger than what is.
        ConfigError: What reads the format is not installed.
    """
    data = bytes_of(content)
    if isinstance(content, bytes):
        found = type_of(name, content, media_type)
        parsed = parse(content, found)
    else:
        found = type_of_text(name, media_type)
        parsed = parse_text(content, found)
    text = _text(content, data, found) if keep_text else ""
    passages = passages_of(parsed.blocks)
    return Reading(
        replace(parsed, blocks=()), passages, found, hashlib.sha256(data).hexdigest(), text
    )


def bytes_of(content: str | bytes) -> bytes:
    """Return a document as the bytes of a file.

    Raises:
        UsageError: It is larger than what is read, or no text.
    """
    if len(content) > FILE_BYTES_MAX:
        most = f"{FILE_BYTES_MAX // 2**20} MiB at most"
        raise UsageError("content", f"{len(content):,} bytes", most)
    if isinstance(content, bytes):
        return content
    if len(content) > CHARS_MAX:
        raise UsageError("content", f"{len(content):,} characters", f"{CHARS_MAX:,} at most")
    try:
        return content.encode()
    except UnicodeEncodeError as error:
        raise UsageError("content", "text with lone surrogates", "text") from error


def _text(content: str | bytes, data: bytes, media_type: str) -> str:
    """Return the whole text of a document.

    Raises:
        UsageError: It has none of its own, or more than is kept.
    """
    if isinstance(content, bytes):
        if not media_type.startswith("text/"):
            raise UsageError("keep_text", media_type, "a format that is text")
        from .plain import decoded  # noqa: PLC0415 - few keep the text of a file

        content = decoded(data)
    if len(content) > TEXT_CHARS_MAX:
        accepted = f"{TEXT_CHARS_MAX:,} at most where the text is kept"
        raise UsageError("content", f"{len(content):,} characters", accepted)
    return cleaned(content)


def framed(value: object) -> bytes:
    """Return a value as it goes from one process to the other."""
    packed = json.dumps(value, separators=(",", ":")).encode()
    return len(packed).to_bytes(LENGTH_BYTES, "big") + packed


def head_of(reading: Reading) -> dict[str, Any]:
    """Return all of a reading but its passages, as JSON."""
    parsed = reading.parsed
    return {
        "title": parsed.title,
        "properties": parsed.properties,
        "topics": parsed.topics,
        "topics_problem": parsed.topics_problem,
        "warnings": parsed.warnings,
        "media_type": reading.media_type,
        "digest": reading.digest,
        "text": reading.text,
        "passages": len(reading.passages),
    }


def reading_from(head: dict[str, Any], passages: Sequence[PassageDraft]) -> Reading:
    """Return the reading of which ``head_of`` is the head."""
    topics = head["topics"]
    parsed = Parsed(
        (),
        head["title"],
        head["properties"],
        None if topics is None else tuple(topics),
        head["topics_problem"],
        tuple(head["warnings"]),
    )
    return Reading(parsed, tuple(passages), head["media_type"], head["digest"], head["text"])


def _next(source: BinaryIO) -> bytes:
    return source.read(int.from_bytes(source.read(LENGTH_BYTES), "big"))


def _bound(asked: dict[str, Any]) -> None:
    """Take no more memory and processor time than is allowed, where the system can see to it."""
    try:
        import resource  # noqa: PLC0415 - not on every system
    except ImportError:
        return
    seconds = int(asked["seconds"]) + 1
    resource.setrlimit(resource.RLIMIT_AS, (asked["memory"], asked["memory"]))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main() -> None:
    """Read the document that stands at the input."""
    # All of a tree is needed until the end, and then the process ends: nothing is to be collected.
    gc.disable()
    out = sys.stdout.buffer
    out.write(framed("ready"))
    out.flush()
    asked = json.loads(_next(sys.stdin.buffer))
    _bound(asked)
    try:
        data = _next(sys.stdin.buffer)
        content = data.decode() if asked["is_text"] else data
        found = reading_of(
            asked["name"], content, asked["media_type"], keep_text=asked["keep_text"]
        )
    except UsageError as error:
        refused = {"field": error.field, "value": str(error.value), "accepted": error.accepted}
        out.write(framed({"refused": refused}))
    except ConfigError as error:
        out.write(framed({"missing": {"key": error.key, "reason": error.reason}}))
    except MemoryError:
        out.write(framed({"refused": None}))
    else:
        out.write(framed(head_of(found)))
        for one in found.passages:
            out.write(framed(one))
    out.flush()


if __name__ == "__main__":
    main()

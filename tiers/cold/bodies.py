"""Records as texts: the JSON that every engine keeps beside the columns it looks up by."""

from __future__ import annotations

from threading import Lock
from typing import TypeAlias

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from ..errors import CorruptRecord, UsageError
from ..records import Record

BODIES_REMEMBERED = 8_192
"""Records that are parsed once for many reads: what every turn of a graph reads."""

CHARS_REMEMBERED_MAX = 16_384
"""A longer text is parsed each time: many of them would fill the memory of the process."""

_Generation: TypeAlias = dict[tuple[type[Record], str], Record]


class _Bodies:
    """Records by their texts, those that were used of late. Used by several threads.

    In two generations: what is used is in the young one, which takes the place of the old one when
    it is full; what was not used since then is forgotten. So what is read again and again is found
    without moving anything, and without the lock.
    """

    def __init__(self) -> None:
        self._young: _Generation = {}
        self._old: _Generation = {}
        self._lock = Lock()

    def get(self, model: type[Record], text: str) -> Record | None:
        """Return the record of a text, if it is remembered."""
        record = self._young.get((model, text))
        if record is None:
            with self._lock:
                record = self._old.get((model, text))
                if record is not None:
                    self._keep(text, record)
        return record

    def add(self, text: str, record: Record) -> None:
        """Remember the record of a text."""
        if len(text) <= CHARS_REMEMBERED_MAX:
            with self._lock:
                self._keep(text, record)

    def clear(self) -> None:
        """Remember nothing."""
        with self._lock:
            self._old, self._young = {}, {}

    def _keep(self, text: str, record: Record) -> None:
        self._young[type(record), text] = record
        if len(self._young) >= BODIES_REMEMBERED // 2:
            self._old, self._young = self._young, {}


_BODIES = _Bodies()


def body(record: Record) -> str:
    """Return the text of a record, without what is as it is by default.

    Raises:
        UsageError: It has half a character in it.
    """
    try:
        text = record.__pydantic_serializer__.to_json(record, exclude_defaults=True).decode()
    except (PydanticSerializationError, UnicodeEncodeError) as error:
        raise UsageError("text", str(error), "text without lone surrogates") from error
    _BODIES.add(text, record)  # what is written is mostly read soon
    return text


def parsed(model: type[Record], text: str) -> Record:
    """Return the record of a text; equal texts make one, for records are frozen.

    Raises:
        CorruptRecord: It is no such record.
    """
    record = _BODIES.get(model, text)
    if record is not None:
        return record
    try:
        record = model.model_validate_json(text)
    except ValidationError as error:
        reason = f"a stored {model.__name__.lower()} cannot be read back"
        raise CorruptRecord("cold", "read", reason) from error
    _BODIES.add(text, record)
    return record


def forget() -> None:
    """Remember no text any more: what was redacted is not to live on in the process."""
    _BODIES.clear()

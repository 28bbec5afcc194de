"""Records as texts: the JSON that every engine keeps beside the columns it looks up by."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from ..errors import CorruptRecord, UsageError
from ..records import Record

BODIES_REMEMBERED = 8_192
"""Records that are parsed once for many reads: what every turn of a graph reads."""

CHARS_REMEMBERED_MAX = 16_384
"""A longer text is parsed each time: many of them would fill the memory of the process."""


class _Bodies:
    """Records by their texts, the last used ones. Used by several threads."""

    def __init__(self) -> None:
        self._records: OrderedDict[tuple[type[Record], str], Record] = OrderedDict()
        self._lock = Lock()

    def get(self, model: type[Record], text: str) -> Record | None:
        """Return the record of a text, if it is remembered."""
        key = (model, text)
        with self._lock:
            record = self._records.get(key)
            if record is not None:
                self._records.move_to_end(key)
        return record

    def add(self, text: str, record: Record) -> None:
        """Remember the record of a text."""
        if len(text) > CHARS_REMEMBERED_MAX:
            return
        with self._lock:
            self._records[type(record), text] = record
            if len(self._records) > BODIES_REMEMBERED:
                self._records.popitem(last=False)

    def clear(self) -> None:
        """Remember nothing."""
        with self._lock:
            self._records.clear()


_BODIES = _Bodies()


def body(record: Record) -> str:
    """Return the text of a record, without what is as it is by default.

    Raises:
        UsageError: It has half a character in it.
    """
    try:
        text = record.model_dump_json(exclude_defaults=True)
    except (PydanticSerializationError, UnicodeEncodeError) as error:
        raise _half_a_character(error) from error
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


def _half_a_character(error: Exception) -> UsageError:
    return UsageError("text", str(error), "text without lone surrogates")

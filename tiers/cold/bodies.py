"""Records as texts: the JSON that every engine keeps beside the columns it looks up by."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from ..errors import CorruptRecord, UsageError
from ..records import Record

BODIES_REMEMBERED = 8_192
"""Records that are parsed once for many reads: what every turn of a graph reads."""


def body(record: Record) -> str:
    """Return the text of a record, without what is as it is by default.

    Raises:
        UsageError: It has half a character in it.
    """
    try:
        return record.model_dump_json(exclude_defaults=True)
    except (PydanticSerializationError, UnicodeEncodeError) as error:
        raise _half_a_character(error) from error


@lru_cache(maxsize=BODIES_REMEMBERED)
def parsed(model: type[Record], text: str) -> Record:
    """Return the record of a text; equal texts make one, for records are frozen.

    Raises:
        CorruptRecord: It is no such record.
    """
    try:
        return model.model_validate_json(text)
    except ValidationError as error:
        reason = f"a stored {model.__name__.lower()} cannot be read back"
        raise CorruptRecord("cold", "read", reason) from error


def forget() -> None:
    """Remember no text any more: what was redacted is not to live on in the process."""
    parsed.cache_clear()


@contextmanager
def utf8() -> Iterator[None]:
    """Refuse what the block writes if it has no UTF-8 form.

    Raises:
        UsageError: It has none.
    """
    try:
        yield
    except UnicodeEncodeError as error:
        raise _half_a_character(error) from error


def _half_a_character(error: Exception) -> UsageError:
    return UsageError("text", str(error), "text without lone surrogates")

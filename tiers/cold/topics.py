"""Topics that come from outside a record."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import TypeAdapter, ValidationError

from ..errors import UsageError
from ..records import Topics

_TOPICS: TypeAdapter[tuple[str, ...]] = TypeAdapter(Topics)


def accepted_topics(field: str, topics: Iterable[str]) -> tuple[str, ...]:
    """Return topics in the normal form in which records hold them.

    Raises:
        UsageError: One of them cannot be a topic; names ``field``.
    """
    try:
        return _TOPICS.validate_python(topics)
    except ValidationError as error:
        raise UsageError(field, topics, "printable topics that are not blank") from error

"""What a live source outside of memory answered, with where it came from."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field, JsonValue, StringConstraints

from .fields import NAME_CHARS_MAX, Moment, Name, Record, Text, Topics

ROWS_MAX = 200
"""So many rows of an answer are kept at most."""

FIELDS_MAX = 100
"""So many fields a row has at most."""

FieldType: TypeAlias = Literal[
    "text", "integer", "number", "decimal", "boolean", "date", "datetime", "json"
]
"""What a value of a row is. A decimal, a date and a moment are strings that keep every digit; lists
and objects are their text."""

FieldName: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=NAME_CHARS_MAX)]
Row: TypeAlias = dict[FieldName, JsonValue]


class Provenance(Record):
    """Where an answer came from.

    Attributes:
        source: Which source was asked.
        queried_at: When.
        synced_at: As of when the source's own data are, where it says.
        field_types: The type of each field of the rows.
        confidence: How far its owner trusts the source, 0 to 1.
        time_travel_available: Whether the same may be asked as of a moment of the past.
    """

    source: Name
    queried_at: Moment
    synced_at: Moment | None = None
    field_types: dict[FieldName, FieldType] = Field(default_factory=dict)
    confidence: float = Field(default=1.0, ge=0.0, le=1.0)
    time_travel_available: bool = False


class MeshResult(Provenance):
    """What a connector returned, with where it came from.

    Attributes:
        text: What a context says of it.
        question: Which of the source's questions it answers; empty where a source has none.
        rows: The first rows, as JSON values by field.
        rows_total: How many there are at the source, where that is known.
        truncated: Whether there are more rows than ``rows``, or a value was cut.
        as_of: The moment of the past that was asked about.
        topics: Who keeps seeing it: agents that hold one of these; everybody if there are none.
    """

    text: Text
    question: Annotated[str, StringConstraints(max_length=NAME_CHARS_MAX)] = ""
    rows: tuple[Row, ...] = Field(default=(), max_length=ROWS_MAX)
    rows_total: int | None = Field(default=None, ge=0)
    truncated: bool = False
    as_of: Moment | None = None
    topics: Topics = ()

    @property
    def provenance(self) -> Provenance:
        """Where it came from, without what it says."""
        return Provenance(**{name: getattr(self, name) for name in Provenance.model_fields})

"""What every record is made of: names, topics, moments, and the frozen base model."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any, Literal, Self, TypeAlias, TypeVar, get_args

import pydantic

from .errors import UnfitRecord
from .moments import microseconds

UNRECORDED = datetime(1970, 1, 1, tzinfo=UTC)
"""``recorded_at`` of a record that no store has seen yet."""

ALL_TOPICS = "*"
"""The topic that stands for every topic; only an agent may hold it, no record may carry it."""

NAME_CHARS_MAX = 256
TEXT_CHARS_MAX = 200_000
OUTPUT_CHARS_MAX = 1_000_000
"""Of one output of a tool, which is stored whole and shown by a preview."""
TOPICS_MAX = 64
NAMED_MAX = 10_000
"""So many records can be named at once; what is done with them may have a lower limit."""

Kind: TypeAlias = Literal[
    "turn", "summary", "episode", "fact", "rule", "belief", "document", "tool_output"
]
FactTier: TypeAlias = Literal["archival", "core"]
FactType: TypeAlias = Literal["identity", "constraint", "preference", "world"]
"""What a fact is about: who somebody is, what must never be violated, what they like, the rest."""

Source: TypeAlias = Literal["user", "tool", "agent", "document", "system"]
"""Whose words a text is: a person's, a tool's, an agent's own, a document's, or the operator's."""

Superseded: TypeAlias = Literal["natural", "denial", "duplicate"]
"""Why a fact gave way: the world moved on, it was never true, or another says the same."""

Grain: TypeAlias = Literal["daily", "weekly", "monthly", "quarterly", "yearly"]
"""Of episodes, finest first; below them are the level-0 summaries, called ``working``."""


_OfGraphs: TypeAlias = Literal[
    "created", "configured", "linked", "revoked", "closed", "reopened", "archived", "branched",
    "imported", "erased", "token made", "token revoked",
]  # fmt: skip
_OfAgents: TypeAlias = Literal["spawned", "reattached", "left", "released", "denied", "fetched"]
_OfBeliefs: TypeAlias = Literal[
    "committed", "contradiction", "reconciliation", "reverted", "rewound", "trusted",
    "pinned", "unpinned",
]  # fmt: skip
_OfRecords: TypeAlias = Literal[
    "promoted", "demoted", "corrected", "superseded", "deduplicated", "evicted", "forgotten",
    "retired", "redacted", "reasons erased", "posted", "changed", "read", "revised", "removed",
]  # fmt: skip
_OfLearning: TypeAlias = Literal[
    "judged", "guarded", "extraction fell back", "extraction dropped",
    "playbook refined", "playbook confirmed", "playbook rejected",
]  # fmt: skip
_OfPoison: TypeAlias = Literal[
    "guard redacted", "guard blocked", "quarantined", "discarded",
    "rolled back", "roll-back undone", "roll-back confirmed",
]  # fmt: skip
AuditKind: TypeAlias = _OfGraphs | _OfAgents | _OfBeliefs | _OfRecords | _OfLearning | _OfPoison
"""What an event of the audit feed says has happened."""

AUDIT_KINDS: tuple[AuditKind, ...] = tuple(
    sorted(kind for group in get_args(AuditKind) for kind in get_args(group))
)


_A_TIME = "a time of ISO 8601 with its zone"


def in_utc(moment: datetime) -> datetime:
    """Return the same moment in UTC; refuse one that has none at the edge of the calendar."""
    if moment.tzinfo is UTC:
        return moment
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        message = "must be a moment of the years 1 to 9999 in UTC"
        raise ValueError(message) from None


def _no_number(value: object) -> object:
    """Refuse a number, also as text: of ``2025`` pydantic makes the 2025th second of 1970."""
    if isinstance(value, str):
        try:
            float(value)
        except ValueError:
            return value
    elif not isinstance(value, int | float):
        return value
    message = f"must be {_A_TIME}"
    raise ValueError(message)


def _normal_topics(value: object) -> tuple[str, ...]:
    """Return topics trimmed, NFC, case-folded, unique and sorted; refuse what cannot be one."""
    if value is None:
        return ()
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        message = "must be a set, list or tuple of names"
        raise ValueError(message)
    topics: set[str] = set()
    for topic in value:
        if not isinstance(topic, str) or not topic.strip() or not topic.isprintable():
            message = f"must be printable names that are not blank, unlike {topic!r}"
            raise ValueError(message)
        topics.add(unicodedata.normalize("NFC", topic.strip().casefold()))
    if len(topics) > TOPICS_MAX or any(len(topic) > NAME_CHARS_MAX for topic in topics):
        message = f"at most {TOPICS_MAX} topics of at most {NAME_CHARS_MAX} characters"
        raise ValueError(message)
    return tuple(sorted(topics))


def printable(name: str) -> str:
    """Return a name; refuse one with characters that are not shown."""
    if not name.isprintable():
        message = "must be text without control characters"
        raise ValueError(message)
    return name


Name: TypeAlias = Annotated[
    str,
    pydantic.StringConstraints(min_length=1, max_length=NAME_CHARS_MAX, strip_whitespace=True),
    pydantic.AfterValidator(printable),
]
"""An identifier given by people: 1 to 256 printable characters, outer white space removed."""

Topics: TypeAlias = Annotated[tuple[str, ...], pydantic.BeforeValidator(_normal_topics)]
Moment: TypeAlias = Annotated[
    pydantic.AwareDatetime, pydantic.BeforeValidator(_no_number), pydantic.AfterValidator(in_utc)
]
Text: TypeAlias = Annotated[str, pydantic.StringConstraints(max_length=TEXT_CHARS_MAX)]
Word: TypeAlias = Annotated[
    str, pydantic.StringConstraints(max_length=NAME_CHARS_MAX, strip_whitespace=True)
]
"""A name that is asked for: outer white space removed, as of a ``Name`` that was given, so that
whoever spells it the same finds what was stored under it. Nothing has an empty one."""


Whole: TypeAlias = Annotated[int, pydantic.Field(strict=True)]
Number: TypeAlias = Annotated[float, pydantic.Field(strict=True)]
YesNo: TypeAlias = Annotated[bool, pydantic.Field(strict=True)]
"""What people say of a record: of ``True`` or ``"3"`` pydantic makes a number without a word."""


def _is_text(value: object) -> object:
    """Refuse bytes, which would else be read as text without a word."""
    if isinstance(value, bytes | bytearray | memoryview):
        message = "must be text; what is binary is not kept: decode it, or name where it lies"
        raise ValueError(message)
    return value


OutputText: TypeAlias = Annotated[
    str, pydantic.StringConstraints(max_length=OUTPUT_CHARS_MAX), pydantic.BeforeValidator(_is_text)
]


def misordered(since: object, until: object) -> str:
    """Return what is accepted for the end of a time that ends before it begins; else nothing.

    Nothing is in such a time, which would read as if nothing had happened. Numbers are of turns.
    A moment without a zone is before none: that it has none is said elsewhere.
    """
    if isinstance(since, datetime) and isinstance(until, datetime):
        has_zones = None not in (since.utcoffset(), until.utcoffset())
        # Two times of one zone are compared by their clocks, which show an hour twice in autumn.
        is_before = has_zones and microseconds(until) < microseconds(since)
        return f"nothing before since, {since.isoformat()}" if is_before else ""
    if isinstance(since, int) and isinstance(until, int) and until < since:
        return f"nothing before since, {since}"
    return ""


def _not_before_since(until: datetime, others: pydantic.ValidationInfo) -> datetime:
    if words := misordered(others.data.get("since"), until):
        raise ValueError(words)
    return until


Until: TypeAlias = Annotated[Moment, pydantic.AfterValidator(_not_before_since)]
"""The end of a time of which a record says the beginning before, as ``since``."""


class Record(pydantic.BaseModel):
    """Base of every record: frozen, and unknown fields are refused.

    Making one raises ``UnfitRecord``; ``model_validate`` and the like raise pydantic's error, of
    which whoever reads what is stored, or what comes over a wire, makes an error of its own.
    """

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")

    def __init__(self, /, **values: Any) -> None:  # noqa: ANN401 - pydantic checks them
        try:
            super().__init__(**values)
        except pydantic.ValidationError as error:
            first = Misfit.first_of(error)
            field = first.field(type(self).__name__)
            raise UnfitRecord(field, first.value, first.accepted) from error

    # For pydantic: records within records, and those of JSON, are made without it.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    @classmethod
    def known(cls, fields: Mapping[str, object]) -> Self:
        """Return a record of values that were checked before; those not given are as by default."""
        is_whole = len(fields) == len(cls.__pydantic_fields__)
        values = {**fields} if is_whole else {**_blank(cls).__dict__, **fields}
        return _of_values(cls, values, {*fields})

    def model_copy(self, *, update: Mapping[str, object] | None = None, deep: bool = False) -> Self:
        """Return a copy in which some values, which were checked before, are others.

        It comes to what pydantic's does, which also looks for what no record has: values of
        unknown or private fields. Every write copies records, so that care would be most of it.
        """
        if deep:
            return super().model_copy(update=update, deep=True)
        changed = update or {}
        values = {**self.__dict__, **changed}
        return _of_values(type(self), values, {*self.__pydantic_fields_set__, *changed})


R = TypeVar("R", bound=Record)
_set = object.__setattr__


def _of_values(model: type[R], values: dict[str, object], given: set[str]) -> R:
    """Return a record of values, of which some were given; none of them is looked at."""
    record = model.__new__(model)
    _set(record, "__dict__", values)
    _set(record, "__pydantic_fields_set__", given)
    _set(record, "__pydantic_extra__", None)
    _set(record, "__pydantic_private__", None)
    return record


@cache
def _blank(model: type[Record]) -> Record:
    """Return a record with nothing but defaults. Copying it is cheaper than making one."""
    return model.model_construct()


_ACCEPTED: Mapping[str, str] = {
    "missing": "a value",
    "extra_forbidden": "no such field",
    "string_type": "text",
    "string_unicode": "text without lone surrogates",
    "string_too_short": "text of at least {min_length} characters",
    "string_too_long": "text of at most {max_length} characters",
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "a whole number"),
    **dict.fromkeys(("float_type", "float_parsing"), "a number"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "true or false"),
    **dict.fromkeys(("list_type", "tuple_type", "set_type", "frozen_set_type"), "a list"),
    **dict.fromkeys(("dict_type", "mapping_type", "model_type", "model_attributes_type"), "fields"),
    **dict.fromkeys(("datetime_type", "datetime_parsing", "timezone_aware"), _A_TIME),
    "datetime_from_date_parsing": _A_TIME,
    "path_type": "a path",
    "too_short": "at least {min_length} of them",
    "too_long": "at most {max_length} of them",
    "finite_number": "a finite number",
}
"""What is accepted where pydantic refuses, by how it names the refusal; else it says so itself."""


class UnfitField(ValueError):
    """What a check of a whole record refuses of one of its fields.

    Args:
        field: Which.
        value: What was given there.
        accepted: What would be.
    """

    def __init__(self, field: str, value: object, accepted: str) -> None:
        super().__init__(accepted)
        self.field = field
        self.value = value


@dataclass(frozen=True, slots=True)
class Misfit:
    """What does not fit a record.

    Attributes:
        place: The names and numbers that lead to it; empty if it is the whole.
        value: What was given there; ``None`` if nothing was, and how many if they were too many.
        accepted: What would be.
        problem: What is wrong with it, as a sentence.
    """

    place: tuple[int | str, ...]
    value: object
    accepted: str
    problem: str

    @classmethod
    def first_of(cls, error: pydantic.ValidationError) -> Self:
        """Return the first of what pydantic refused."""
        return cls.of(error.errors(include_url=False)[0])

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Self:
        """Return it from pydantic's own account of one error."""
        value = None if found["type"] == "missing" else found.get("input")
        # The name of a member that may not be called so is its place, and what was given there.
        place = tuple(one for one in found["loc"] if one != "[key]")
        if isinstance(unfit := found.get("ctx", {}).get("error"), UnfitField):
            place, value = (*place, unfit.field), unfit.value
        if found["type"] == "too_long":
            value = found["ctx"]["actual_length"] or value
        # A validator of ours says what it must be; pydantic puts its own two words before.
        said = found["msg"].removeprefix("Value error, ")
        words = _ACCEPTED.get(found["type"])
        if words is None:
            accepted = said.removeprefix("Input should be ").removeprefix("must be ")
        else:
            accepted = words.format(**found.get("ctx", {}))
        return cls(place, value, accepted.replace(" 1 characters", " one character"), said)

    def field(self, whole: str = "") -> str:
        """Return the place with dots: ``passages.3.text``; ``whole`` where it is the whole."""
        return ".".join(map(str, self.place)) or whole

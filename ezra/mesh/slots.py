"""Slots: the only places of a question that whoever asks can fill. Pure.

A value that is no value of its slot's type is refused; nothing is repaired, quoted or cut.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from datetime import date
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Discriminator, Field, StringConstraints, model_validator

from tiers.errors import UsageError

Value: TypeAlias = str | int | date

TEXT_CHARS = 64
TEXT_CHARS_MAX = 200
"""Of a value of free text, and of an entity."""

ENTITIES_MAX = 1_000
"""So many values of a column are compared with a message at most."""

_PATTERN_CHARS_MAX = 200
_REPEATS_MAX = 3
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_REPEATED_GROUP = re.compile(r"\)\s*[*+{]")
_ESCAPED = re.compile(r"\\.")
_CLASS = re.compile(r"\[[^\]]*\]")
_REPEAT = re.compile(r"[*+{]")

Words = Annotated[str, StringConstraints(min_length=1, max_length=TEXT_CHARS_MAX)]


class _Slot(BaseModel, ABC):
    """What every slot has.

    Attributes:
        description: What it is, for people and models.
        required: Whether the question cannot be asked without it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    description: Annotated[str, StringConstraints(max_length=500)] = ""
    required: bool = True

    @property
    @abstractmethod
    def accepted(self) -> str:
        """What it accepts, in words."""

    @abstractmethod
    def read(self, given: object) -> Value | None:
        """Return the value that was given, or ``None`` when it is none of this type."""


class EnumSlot(_Slot):
    """One of a few words. ``aliases`` names other words for a value."""

    type: Literal["enum"]
    values: Annotated[tuple[Words, ...], Field(min_length=1, max_length=200)]
    aliases: dict[Words, Annotated[tuple[Words, ...], Field(max_length=50)]] = Field(
        default_factory=dict
    )

    @model_validator(mode="after")
    def _aliases_name_values(self) -> Self:
        unknown = [name for name in self.aliases if name not in self.values]
        if unknown:
            raise ValueError(f"aliases of {unknown[0]!r}, which is none of the values")
        words = list(self.words)
        if len(set(words)) != len(words):
            raise ValueError("two values share a word")
        return self

    @property
    def words(self) -> tuple[str, ...]:
        """Every word that names a value, in small letters; those of values come first."""
        more = (alias for value in self.values for alias in self.aliases.get(value, ()))
        return tuple(word.casefold() for word in (*self.values, *more))

    @property
    def accepted(self) -> str:
        """The values."""
        shown = ", ".join(self.values[:20])
        return shown if len(self.values) <= 20 else f"{shown}, … ({len(self.values)} values)"  # noqa: PLR2004

    def read(self, given: object) -> Value | None:
        """Return the value as it was declared."""
        if not isinstance(given, str):
            return None
        if given in self.values:
            return given
        wanted = given.casefold()
        for value in self.values:
            if wanted in (one.casefold() for one in (value, *self.aliases.get(value, ()))):
                return value
        return None


class IntegerSlot(_Slot):
    """A whole number within a range, both ends included."""

    type: Literal["integer"]
    min: int = Field(ge=-(2**63), lt=2**63)
    max: int = Field(ge=-(2**63), lt=2**63)

    @model_validator(mode="after")
    def _is_a_range(self) -> Self:
        if self.max < self.min:
            raise ValueError("max is below min")
        return self

    @property
    def accepted(self) -> str:
        """The range."""
        return f"a whole number from {self.min} to {self.max}"

    def read(self, given: object) -> Value | None:
        """Return the number; digits as text are taken as well, as a command line gives them."""
        if isinstance(given, str) and _INTEGER.fullmatch(given):
            given = int(given)
        if isinstance(given, bool) or not isinstance(given, int):
            return None
        return given if self.min <= given <= self.max else None


class DateSlot(_Slot):
    """A day, written as ``2026-05-14``."""

    type: Literal["date"]
    min: date = date.min
    max: date = date.max

    @property
    def accepted(self) -> str:
        """The form, and the range where there is one."""
        accepted = "a day such as 2026-05-14"
        return (
            accepted
            if (self.min, self.max) == (date.min, date.max)
            else (f"{accepted}, from {self.min} to {self.max}")
        )

    def read(self, given: object) -> Value | None:
        """Return the day."""
        if not isinstance(given, str) or not _DATE.fullmatch(given):
            return None
        try:
            day = date.fromisoformat(given)
        except ValueError:
            return None
        return day if self.min <= day <= self.max else None


class TextSlot(_Slot):
    """Text that a pattern describes from its first character to its last.

    Attributes:
        pattern: A regular expression over ASCII classes. It may repeat three times at most, and
            no group of it: what somebody says to an agent must not keep a process busy.
        max_chars: The longest text.
    """

    type: Literal["text"]
    pattern: Annotated[str, StringConstraints(min_length=1, max_length=_PATTERN_CHARS_MAX)]
    max_chars: int = Field(default=TEXT_CHARS, ge=1, le=TEXT_CHARS_MAX)

    @model_validator(mode="after")
    def _is_a_plain_pattern(self) -> Self:
        bare = _CLASS.sub("c", _ESCAPED.sub("c", self.pattern))
        if (
            "(?" in bare
            or _REPEATED_GROUP.search(bare)
            or len(_REPEAT.findall(bare)) > _REPEATS_MAX
        ):
            raise ValueError(f"a plain pattern repeats {_REPEATS_MAX} times at most, and no group")
        if re.search(r"\\[1-9]", self.pattern):
            raise ValueError("a plain pattern names no group")
        try:
            re.compile(self.pattern, re.ASCII)
        except re.error as error:
            raise ValueError(f"no pattern: {error.msg}") from error
        return self

    @property
    def accepted(self) -> str:
        """The pattern and the length."""
        return f"text of at most {self.max_chars} characters like {self.pattern}"

    def read(self, given: object) -> Value | None:
        """Return the text, which the pattern describes whole."""
        if not isinstance(given, str) or not 0 < len(given) <= self.max_chars:
            return None
        fits = given.isprintable() and re.fullmatch(self.pattern, given, re.ASCII)
        return given if fits else None


class EntitySlot(_Slot):
    """A value that a column of the source has: whoever asks cannot name one that it has not.

    Attributes:
        table: An allowed table of the source.
        field: An allowed column of it.
        limit: The most values that are compared with a message. Where there are more, a message
            alone names none; named outright, a value is looked up.
    """

    type: Literal["entity"]
    table: Words
    field: Words
    limit: int = Field(default=500, ge=1, le=ENTITIES_MAX)

    @property
    def accepted(self) -> str:
        """Where the values are."""
        return f"a value of {self.table}.{self.field}"

    def read(self, given: object) -> Value | None:
        """Return the text that may be such a value; the source says whether it is."""
        if not isinstance(given, str) or not 0 < len(given) <= TEXT_CHARS_MAX:
            return None
        return given if given.isprintable() else None


Slot: TypeAlias = Annotated[
    EnumSlot | IntegerSlot | DateSlot | TextSlot | EntitySlot, Discriminator("type")
]


def filled(slots: Mapping[str, Slot], given: Mapping[str, object]) -> dict[str, Value]:
    """Return the values of slots, as the types of the slots have them.

    Args:
        slots: Those of a question, by name.
        given: What was given for them.

    Raises:
        UsageError: A slot is missing, unknown, or its value is not acceptable.
    """
    for name in given:
        if name not in slots:
            raise UsageError(
                f"slots.{name}", given[name], f"the slots {', '.join(slots) or 'none'}"
            )
    values: dict[str, Value] = {}
    for name, slot in slots.items():
        if name not in given:
            if slot.required:
                raise UsageError(f"slots.{name}", None, slot.accepted)
            continue
        value = slot.read(given[name])
        if value is None:
            raise UsageError(f"slots.{name}", given[name], slot.accepted)
        values[name] = value
    return values

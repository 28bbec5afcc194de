"""Reading the fields of a JSON object so that every refusal names file, line and field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

from pydantic import TypeAdapter, ValidationError

from tiers.errors import UsageError
from tiers.records import ALL_TOPICS, NAME_CHARS_MAX, TEXT_CHARS_MAX, TOPICS_MAX, Topics

from .json_text import line_of
from .source import Source
from .times import MOMENT_ACCEPTED, parse_moment

NAME_ACCEPTED = f"1 to {NAME_CHARS_MAX} printable characters"
TEXT_ACCEPTED = f"a string that is not blank, of at most {TEXT_CHARS_MAX} characters"
TOPICS_ACCEPTED = (
    f"a list of at most {TOPICS_MAX} topics of at most {NAME_CHARS_MAX} printable characters, "
    f"none of them {ALL_TOPICS!r}"
)
_SHOWN_KEY_CHARS = 64
_TOPICS: TypeAdapter[tuple[str, ...]] = TypeAdapter(Topics)


class _Missing:
    def __repr__(self) -> str:
        return "a missing field"


MISSING = _Missing()


def checked_name(value: object) -> str | None:
    """Return an identifier without outer white space, or ``None`` when it cannot be one."""
    if not isinstance(value, str):
        return None
    name = value.strip()
    return name if name and name.isprintable() and len(name) <= NAME_CHARS_MAX else None


def checked_topics(value: object) -> tuple[str, ...] | None:
    """Return normalised topics, or ``None`` when ``value`` is no list of topics."""
    if not isinstance(value, list | tuple):
        return None
    try:
        topics = _TOPICS.validate_python(value)
    except ValidationError:
        return None
    return None if ALL_TOPICS in topics else topics


class Fields:
    """One JSON object. A field that is ``null`` counts as absent.

    Args:
        source: The file, for errors.
        value: The object; anything else is refused.
        line: The line of what the object lies in, used when it does not know its own.
        where: What stands before a field's name in errors, such as ``tool_outputs[0].``
    """

    def __init__(self, source: Source, value: object, line: int, where: str = "") -> None:
        self.source = source
        self.line = line_of(value, line)
        self._where = where
        if not isinstance(value, Mapping):
            name = where.rstrip(".") or "element"
            raise source.problem(self.line, name, value, "a JSON object")
        self._values: Mapping[str, object] = value

    def __contains__(self, name: str) -> bool:
        return self._values.get(name) is not None

    def get(self, name: str) -> object:
        """Return a field unchecked, or ``None``."""
        return self._values.get(name)

    def problem(self, name: str, accepted: str) -> UsageError:
        """Return the error for a field of this object."""
        return self._problem(name, self._values.get(name, MISSING), accepted)

    def _problem(self, name: str, value: object, accepted: str) -> UsageError:
        shown = name if name.isprintable() else repr(name)
        shown = self._where + shown[:_SHOWN_KEY_CHARS]
        return self.source.problem(self.line, shown, value, accepted)

    def only(self, *accepted: str) -> None:
        """Refuse every field that is not among ``accepted``."""
        for name in self._values:
            if name not in accepted:
                raise self.problem(name, f"the fields {', '.join(accepted)}")

    def text(self, name: str) -> str:
        """Return a text that is not blank."""
        text = self.optional_text(name)
        if text is None or not text.strip():
            raise self.problem(name, TEXT_ACCEPTED)
        return text

    def optional_text(self, name: str) -> str | None:
        """Return a text, or ``None`` when it is absent."""
        value = self._values.get(name)
        if value is None:
            return None
        if not isinstance(value, str) or len(value) > TEXT_CHARS_MAX:
            raise self.problem(name, TEXT_ACCEPTED)
        return value

    def name(self, name: str) -> str:
        """Return an identifier."""
        found = checked_name(self._values.get(name))
        if found is None:
            raise self.problem(name, NAME_ACCEPTED)
        return found

    def optional_name(self, name: str) -> str | None:
        """Return an identifier, or ``None`` when it is absent."""
        return self.name(name) if name in self else None

    def names(self, name: str) -> tuple[str, ...]:
        """Return a list of identifiers."""
        values = self._values.get(name)
        if not isinstance(values, list):
            raise self.problem(name, "a list of strings")
        found = []
        for index, value in enumerate(values):
            checked = checked_name(value)
            if checked is None:
                raise self._problem(f"{name}[{index}]", value, NAME_ACCEPTED)
            found.append(checked)
        return tuple(found)

    def optional_id(self) -> str | None:
        """Return the field ``id``, which may be a whole number, or ``None``."""
        value = self._values.get("id")
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        found = checked_name(value)
        if value is not None and found is None:
            raise self.problem("id", f"{NAME_ACCEPTED}, or a whole number")
        return found

    def moment(self, name: str) -> datetime:
        """Return a moment in UTC."""
        try:
            return parse_moment(self._values.get(name))
        except ValueError as error:
            raise self.problem(name, MOMENT_ACCEPTED) from error

    def optional_moment(self, name: str) -> datetime | None:
        """Return a moment in UTC, or ``None`` when it is absent."""
        return self.moment(name) if name in self else None

    def topics(self) -> tuple[str, ...] | None:
        """Return the field ``topics`` normalised, or ``None`` when it is absent."""
        if "topics" not in self:
            return None
        topics = checked_topics(self._values["topics"])
        if topics is None:
            raise self.problem("topics", TOPICS_ACCEPTED)
        return topics

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of at least one text, none of them blank."""
        accepted = f"a list of at least one string, each {TEXT_ACCEPTED.removeprefix('a string ')}"
        values = self._values.get(name)
        if not isinstance(values, list) or not values:
            raise self.problem(name, accepted)
        for index, value in enumerate(values):
            if not isinstance(value, str) or not value.strip() or len(value) > TEXT_CHARS_MAX:
                raise self._problem(f"{name}[{index}]", value, TEXT_ACCEPTED)
        return tuple(values)

    def items(self, name: str) -> Iterator[Fields]:
        """Yield the objects of a list; nothing when it is absent."""
        values = self._values.get(name)
        if values is None:
            return
        if not isinstance(values, list):
            raise self.problem(name, "a list of JSON objects")
        for index, value in enumerate(values):
            yield self.nested(f"{name}[{index}]", value)

    def nested(self, name: str, value: object) -> Fields:
        """Return the fields of an object that lies in this one."""
        return Fields(self.source, value, self.line, f"{self._where}{name}.")

"""What a file of text says of itself between lines of dashes at its beginning. Pure.

It is YAML of people's making: bounded in size, depth and number of values, without aliases (a few
of them stand for billions of values), and what is malformed is told and kept as text. But topics
decide who sees a document: where it names some that cannot be read, that is told as well, since
without topics everybody would see it. So is what only looks like front matter, and names some.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

import yaml
from pydantic import JsonValue

from tiers.documents import PROPERTIES_CHARS_MAX
from tiers.errors import UsageError
from tiers.records import ALL_TOPICS, Turn

from ..checks import checked
from .parsed import Block, Parsed, cleaned, title_of

FRONT_MATTER_CHARS_MAX = 32_000
VALUES_MAX = 5_000
DEPTH_MAX = 16
WHOLE_MAX = 2**53 - 1
"""The greatest whole number that every reader of JSON holds exactly."""

TOPIC_KEYS = ("topics", "tags")
TOPICS_ACCEPTED = (
    "front matter that can be read, between two lines of ---, with topics: [tyres, rain] or "
    "topics: tyres, rain, each a name and none of them *; or topics given beside the file"
)

_OPENING = re.compile(r"\A(?:[ \t]*\n)*---[ \t]*\n")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE)
_KEY = re.compile(r"\s*(?:#.*\n\s*)*[\w\"'-][^\n:]*:(?:\s|$)")


_TOPIC_KEY = re.compile(
    rf"(?:^|[{{,])(?:[^\S\n]|[\"'?-])*(?:{'|'.join(TOPIC_KEYS)})[\"']?\s*[:=]",
    re.IGNORECASE | re.MULTILINE,
)
"""Where front matter that cannot be read seems to name topics: rather too often than too rarely."""
_FENCE = r"(?:[-+]{3,}|[\u2010-\u2015\u2212]+)[^\S\n]*"
_SEEMING = re.compile(rf"\A\s*{_FENCE}\n(?=\s*(?:[#\[][^\n]*\n\s*)*[\w\"'{{?-][^\n:=]*[:=])")
"""What people or their programs may have meant as front matter: of other lines, or of TOML."""
_SEEMING_END = re.compile(rf"^{_FENCE}$", re.MULTILINE)
_SEEMING_PROBLEM = "what looks like front matter names topics, and is not between two lines of ---"


class FrontMatter(NamedTuple):
    """What stands before the text of a file.

    Attributes:
        properties: What it says, as JSON values; ``None`` when there is none, or it is malformed.
        raw: As it was written, without the dashes; empty when there is none.
        body: The text behind it.
        problem: Why it could not be read; empty when it could, or there is none.
    """

    properties: dict[str, JsonValue] | None
    raw: str
    body: str
    problem: str = ""

    def topics(self) -> tuple[tuple[str, ...] | None, str]:
        """Return the topics that it names (``None`` for none), and why they cannot be told."""
        if self.properties is not None:
            return topics_of(self.properties)
        # What has no end has no text of its own either.
        is_named = self.problem and _TOPIC_KEY.search(_shown(self.raw or self.body))
        return None, self.problem if is_named else ""

    def over(self, blocks: Sequence[Block], title: str = "") -> Parsed:
        """Return what a file says that has this front matter; what is malformed is a warning.

        Args:
            blocks: Of its body, and of what cannot be read before it.
            title: What the body calls itself; it counts where the front matter has none.
        """
        properties = self.properties or {}
        topics, problem = self.topics()
        return Parsed(
            blocks=tuple(blocks),
            title=title_of(said_of(properties, "title")) or title,
            properties=properties,
            topics=topics,
            topics_problem=problem,
            warnings=tuple(one for one in dict.fromkeys((self.problem, problem)) if one),
        )


class _Bounded(yaml.SafeLoader):
    """Refuses what would be large, deep or endless, before anything is built of it."""

    def __init__(self, raw: str) -> None:
        super().__init__(raw)
        self._depth = 0
        self._values = 0

    def get_event(self) -> yaml.Event:
        """Return the next part of the text; values are built when all parts are known.

        Raises:
            ValueError: It is more than is read.
        """
        event: yaml.Event = super().get_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent):
            raise ValueError("aliases are not read")
        if isinstance(event, yaml.CollectionStartEvent):
            self._depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            self._depth -= 1
        if self._depth > DEPTH_MAX or self._values > VALUES_MAX:
            raise ValueError(f"more than {VALUES_MAX:,} values, or deeper than {DEPTH_MAX}")
        self._values += 1
        return event


def split_front_matter(text: str) -> FrontMatter:
    """Return the front matter of a text, and the text behind it.

    Args:
        text: With line feeds alone, as ``cleaned`` returns it.
    """
    text = text.removeprefix("\ufeff")
    opening = _OPENING.match(text)
    if opening is None:
        return FrontMatter(None, "", text, _seeming_problem(_shown(text)))
    closing = _CLOSING.search(text, opening.end(), opening.end() + FRONT_MATTER_CHARS_MAX)
    if closing is None:
        # One line of dashes is a rule across the page, unless a key comes behind it.
        meant = any(one.match(text, opening.end()) for one in (_KEY, _TOPIC_KEY))
        problem = f"front matter does not end within {FRONT_MATTER_CHARS_MAX:,} characters"
        return FrontMatter(None, "", text[opening.end() :], problem if meant else "")
    raw = text[opening.end() : closing.start()]
    body = text[closing.end() :].removeprefix("\n")
    line = text.count("\n", 0, opening.end()) + 1
    try:
        return FrontMatter(_read(raw), raw, body)
    except (yaml.YAMLError, ValueError, OverflowError, TypeError, LookupError) as error:
        return FrontMatter(None, raw, body, f"front matter cannot be read: {_reason(error, line)}")


def said_of(properties: Mapping[str, JsonValue], key: str) -> JsonValue:
    """Return what front matter says under a key, in whatever case it is written there.

    Where several are written, the first that says anything counts.
    """
    values = [
        value for name, value in properties.items() if name.strip().casefold() == key.casefold()
    ]
    return next((one for one in values if not _is_blank(one)), None)


def topics_of(properties: Mapping[str, JsonValue]) -> tuple[tuple[str, ...] | None, str]:
    """Return the topics that front matter names (``None`` for none), and what is wrong with them.

    ``topics`` is asked first, then ``tags``: a list, or one text with commas.
    """
    for name in properties:
        letters = filter(str.isalnum, unicodedata.normalize("NFKC", name))
        key = "".join(letters).casefold()
        if key in TOPIC_KEYS and name.strip().casefold() != key:
            return None, f"{key} is written with characters that are not its own"
    found = ((key, said_of(properties, key)) for key in TOPIC_KEYS)
    key, value = next((one for one in found if one[1] is not None), ("", None))
    if value is None:
        return None, ""
    names = value.split(",") if isinstance(value, str) else value
    if not isinstance(names, list):
        return None, f"{key} is no list of names"
    given = [str(one).strip().removeprefix("#") for one in names if isinstance(one, str | int)]
    named = [one for one in given if one and one != ALL_TOPICS]
    if len(named) < len(names):
        return None, f"{key} holds what is no name of a topic"
    try:
        return checked(Turn, topics=named).topics, ""
    except UsageError as error:
        return None, f"{key}: {error.accepted}"


def as_json(value: object) -> JsonValue:
    """Return a value of YAML as JSON has it: dates as text, numbers that JSON cannot hold too."""
    if isinstance(value, Mapping):
        return {_key(name): as_json(one) for name, one in value.items()}
    if isinstance(value, set | frozenset):
        return sorted((as_json(one) for one in value), key=json.dumps)
    if isinstance(value, list | tuple):
        return [as_json(one) for one in value]
    if value is None or (isinstance(value, int) and abs(value) <= WHOLE_MAX):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return value.isoformat() if isinstance(value, date) else cleaned(str(value))


def _read(raw: str) -> dict[str, JsonValue]:
    """Return what is between the dashes.

    Raises:
        ValueError: It is no mapping, or more than is read.
        YAMLError: It is no YAML.
    """
    loaded: Any = yaml.load(raw, Loader=_Bounded)  # noqa: S506 - it is a SafeLoader
    if loaded is None:
        return {}
    if not isinstance(loaded, dict):
        raise ValueError("it is no list of keys and values")
    properties = {_key(name): as_json(one) for name, one in loaded.items()}
    if len(json.dumps(properties)) > PROPERTIES_CHARS_MAX:
        raise ValueError(f"more than {PROPERTIES_CHARS_MAX:,} characters")
    return properties


def _seeming_problem(text: str) -> str:
    """Return why what seems to be front matter is none, where it names topics; else nothing."""
    opening = _SEEMING.match(text)
    if opening is None:
        return ""
    closing = _SEEMING_END.search(text, opening.end())
    # What nothing ends goes as far as its lines stand together.
    head = text[opening.end() :].strip().partition("\n\n")[0]
    if closing is not None:
        head = text[opening.end() : closing.start()]
    return _SEEMING_PROBLEM if _TOPIC_KEY.search(head) else ""


def _shown(text: str) -> str:
    """Return the beginning of a text as it looks: without characters that are not seen."""
    begun = unicodedata.normalize("NFKC", text[:FRONT_MATTER_CHARS_MAX])
    lines = "\n".join(begun.splitlines())
    return "".join(one for one in lines if one in "\n\t" or one.isprintable())


def _key(name: object) -> str:
    value = as_json(name)
    return value if isinstance(value, str) else json.dumps(value)


def _is_blank(value: JsonValue) -> bool:
    """Whether a key says nothing; ``0`` and ``false`` do, though it may be nothing that is read."""
    return value is None or value == [] or (isinstance(value, str) and not value.strip())


def _reason(error: Exception, line: int) -> str:
    """Return what is wrong and where, without what is written there.

    Args:
        error: What reading it came to.
        line: Of the text, in which the front matter begins.
    """
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        where = "" if mark is None else f", line {mark.line + line}"
        return f"malformed YAML{where}"
    return str(error) if type(error) is ValueError else "malformed YAML"

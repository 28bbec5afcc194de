"""Chats written in Markdown: dated headings, and messages that begin with who speaks."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta

from . import source as limits
from .fields import NAME_ACCEPTED, TEXT_ACCEPTED, TOPICS_ACCEPTED, checked_name, checked_topics
from .source import Draft, Parsed, Source
from .times import Spacing, find_moment, find_time

_BOLD = re.compile(r"(?:[-*+]\s+)?\*\*(?P<inside>[^*]{1,120})\*\*(?P<rest>.*)")
_AFTER_BOLD = re.compile(r"\s{0,4}(?P<note>\([^()]{1,60}\))?\s{0,4}:(?=\s|$)")
_PLAIN = re.compile(
    r"(?:[-*+]\s+)?(?P<name>[^\W\d_][^:*()`\[\]<>|#\s]*(?:[ ][^:*()`\[\]<>|#\s]+){0,2})"
    r"(?P<note>\s?\([^()]{1,60}\))?:(?:\s+|$)(?P<rest>.*)"
)
_NOTE = re.compile(r"\s*\((?P<note>[0-9][^()]{0,59})\)$")
_FENCE = re.compile(r"\s*(?:[-*+]\s+)?(?P<fence>`{3,}|~{3,})")
_SEPARATOR = re.compile(r"\s{0,3}(?:(?:-\s{0,3}){3,}|(?:\*\s{0,3}){3,}|(?:_\s{0,3}){3,})")
_FRONT_MATTER_LINES_MAX = 200
_STRUCTURE_LEVEL = 2
"""Headings down to this level part the file; deeper ones belong to what is said."""
_NIGHT = timedelta(hours=12)

_DATE_ACCEPTED = "a date such as 2026-05-14, 2026-05-14 15:04 or 14 May 2026"
_TIME_ACCEPTED = "a time such as 15:04, 3:04 pm or 2026-05-14 15:04"


@dataclass(slots=True)
class _Message:
    line: int
    speaker: str
    at: datetime
    said: list[str] = field(default_factory=list)


def parse(source: Source, start: datetime) -> Parsed:
    """Return the drafts of a Markdown chat.

    Args:
        source: The file.
        start: When a chat begins that states no date, and the day of times without a date.

    Raises:
        UsageError: It holds no message, or a date, time or code block that cannot be read.
    """
    lines = source.text.split("\n")
    if len(lines) > limits.LINES_MAX:
        accepted = f"at most {limits.LINES_MAX} lines"
        raise source.problem(limits.LINES_MAX + 1, "file", "more lines", accepted)
    chat = _Chat(source, start, bold_only=any(_bold_head(line) for line in lines))
    first = chat.front_matter(lines)
    for number, line in enumerate(lines[first:], start=first + 1):
        chat.read(number, line)
    return chat.parsed()


class _Chat:
    """Reads a chat line by line."""

    def __init__(self, source: Source, start: datetime, *, bold_only: bool) -> None:
        self._source = source
        self._bold_only = bold_only
        self._spacing = Spacing(start)
        self._day = start.date()
        self._mark: datetime | None = None
        self._last_stated: datetime | None = None
        self._messages: list[_Message] = []
        self._is_open = False
        self._is_unsaid = False
        self._unsaid = 0
        self._fence: tuple[int, str] | None = None
        self._conversation: str | None = None
        self._topics: tuple[str, ...] | None = None

    def front_matter(self, lines: list[str]) -> int:
        """Read what stands between two lines of dashes at the top; return how many lines it took.

        ``conversation``, ``date`` and ``topics`` are used, in any case of letters; other keys
        belong to other programs.
        """
        if lines[0].rstrip() != "---":
            return 0
        block = [line.rstrip() for line in lines[1 : _FRONT_MATTER_LINES_MAX + 1]]
        if "---" not in block:
            return 0
        end = block.index("---")
        for number, line in enumerate(block[:end], start=2):
            key, _, value = line.partition(":")
            self._front_matter_field(number, key.strip().casefold(), value.strip().strip("\"'"))
        return end + 2

    def read(self, number: int, line: str) -> None:
        """Take in one line."""
        fence = _FENCE.match(line)
        if self._fence is not None:
            closes = fence and fence["fence"].startswith(self._fence[1])
            self._continue(line)
            self._fence = None if closes else self._fence
            return
        if self._heading(number, line):
            return
        if _SEPARATOR.fullmatch(line):
            self._end()
            return
        head = _bold_head(line) or (None if self._bold_only else _plain_head(line))
        if head:
            self._message(number, *head)
            fence = _FENCE.match(head[2])
        else:
            self._continue(line)
        if fence:
            self._fence = (number, fence["fence"])

    def parsed(self) -> Parsed:
        """Return the messages, once the last line is read."""
        if self._fence is not None:
            number, fence = self._fence
            raise self._source.problem(number, "code block", fence, "a code block that is closed")
        if not self._messages:
            accepted = "lines such as **Name:** text, Name: text or - Name: text; there is none"
            raise self._source.problem(1, "message", self._source.text, accepted)
        drafts = tuple(self._draft(message) for message in self._messages)
        return Parsed(drafts, Counter({self._conversation: self._unsaid}))

    def _draft(self, message: _Message) -> Draft:
        text = "\n".join(message.said).strip("\n").rstrip()
        if not text.strip():
            raise self._source.problem(message.line, "text", text, TEXT_ACCEPTED)
        return Draft(
            line=message.line,
            conversation=self._conversation,
            speaker=message.speaker,
            at=message.at,
            topics=self._topics,
            content={"text": text},
        )

    def _front_matter_field(self, number: int, key: str, value: str) -> None:
        if key == "date":
            if not self._session(number, key, value):
                raise self._source.problem(number, key, value, _DATE_ACCEPTED)
        elif key == "conversation":
            self._conversation = checked_name(value)
            if self._conversation is None:
                raise self._source.problem(number, key, value, NAME_ACCEPTED)
        elif key == "topics":
            names = [name.strip().strip("\"'") for name in value.strip("[]").split(",")]
            self._topics = checked_topics(names)
            if self._topics is None:
                raise self._source.problem(number, key, value, TOPICS_ACCEPTED)

    def _heading(self, number: int, line: str) -> bool:
        """Take in a heading that parts the file; return whether the line was one."""
        level = len(line) - len(line.lstrip("#"))
        if not 0 < level <= _STRUCTURE_LEVEL or not line[level:].startswith((" ", "\t")):
            return False
        self._session(number, "heading", line[level:].strip(" \t#"))
        self._end()
        return True

    def _session(self, number: int, field_name: str, text: str) -> bool:
        """Begin a session when ``text`` has a date; return whether it has."""
        try:
            found = find_moment(text)
        except ValueError as error:
            raise self._source.problem(number, field_name, text, _DATE_ACCEPTED) from error
        if found is None:
            return False
        day, clock = found
        self._day = day
        self._mark = self._last_stated = datetime.combine(day, clock or time(), UTC)
        return True

    def _message(self, number: int, name: str, note: str, rest: str) -> None:
        speaker = checked_name(name)
        if speaker is None:
            raise self._source.problem(number, "speaker", name, NAME_ACCEPTED)
        stated, self._mark = self._stated(number, note) or self._mark, None
        self._messages.append(_Message(number, speaker, self._spacing.next(stated), [rest]))
        self._is_open = True

    def _stated(self, number: int, note: str) -> datetime | None:
        if not note:
            return None
        try:
            dated, clock = find_moment(note), find_time(note)
        except ValueError as error:
            raise self._source.problem(number, "time", note, _TIME_ACCEPTED) from error
        if dated:
            self._day, clock = dated[0], dated[1] or time()
        if clock is None:
            raise self._source.problem(number, "time", note, _TIME_ACCEPTED)
        stated = datetime.combine(self._day, clock, UTC)
        if not dated and self._last_stated and self._last_stated - stated > _NIGHT:
            stated += timedelta(days=1)  # the chat went on past midnight
            self._day = stated.date()
        self._last_stated = stated
        return stated

    def _continue(self, line: str) -> None:
        if self._is_open:
            self._messages[-1].said.append(line.rstrip())
        elif self._messages and not self._is_unsaid and line.strip():
            # What nobody says is not played: it is counted, so that whoever wrote it is told.
            self._is_unsaid = True
            self._unsaid += 1

    def _end(self) -> None:
        """End the message, or the part that nobody says."""
        self._is_open = self._is_unsaid = False


def _bold_head(line: str) -> tuple[str, str, str] | None:
    """Return name, time note and text of ``**Name:** text`` and its kin."""
    found = _BOLD.match(line)
    if not found:
        return None
    inside, rest = found["inside"].strip(), found["rest"]
    if inside.endswith(":"):
        return *_split(inside[:-1]), rest.strip()
    after = _AFTER_BOLD.match(rest)
    if not after:
        return None
    return *_split(f"{inside} {after['note'] or ''}".rstrip()), rest[after.end() :].strip()


def _plain_head(line: str) -> tuple[str, str, str] | None:
    """Return name, time note and text of ``Name: text`` and ``- Name (15:04): text``."""
    found = _PLAIN.match(line)
    if not found:
        return None
    return *_split(f"{found['name']}{found['note'] or ''}"), found["rest"].strip()


def _split(head: str) -> tuple[str, str]:
    """Part a name from the time in brackets behind it; other brackets belong to the name."""
    note = _NOTE.search(head)
    return (head[: note.start()], note["note"]) if note else (head, "")

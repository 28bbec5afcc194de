"""Moments as files write them, and the spacing of messages that state none of their own."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta

from tiers.lexical import MONTHS

_FIRST_YEAR, _LAST_YEAR = 1000, 2999
_MONTHS = {
    form: number for number, name in enumerate(MONTHS, start=1) for form in (name[:3], name)
} | {"sept": 9}
_MONTH = r"(?P<month>" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\b\.?"
_DAY = r"(?P<day>[0-9]{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>[0-9]{4})\b"
_ISO = re.compile(
    r"\b[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2})?"
    r"(?:\.[0-9]{1,6})?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?(?![0-9:])"
)
_WRITTEN = (
    re.compile(rf"\b{_DAY}\s+(?:of\s+)?{_MONTH},?\s+{_YEAR}", re.IGNORECASE),
    re.compile(rf"\b{_MONTH}\s+{_DAY},?\s+{_YEAR}", re.IGNORECASE),
)
_AMBIGUOUS = re.compile(r"\b[0-9]{1,2}([/.])[0-9]{1,2}\1[0-9]{4}\b")
_ISO_DATE_CHARS = len("2026-05-14")
_HALF = re.compile(r"\s*[ap]\.?m\b", re.IGNORECASE)
_CLOCK = re.compile(
    r"\b(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2}))?"
    r"\s*(?P<half>[ap]\.?m\b\.?)?",
    re.IGNORECASE,
)
_TICK = timedelta(seconds=1)

MOMENT_ACCEPTED = (
    f"an ISO 8601 date or date and time of the years {_FIRST_YEAR} to {_LAST_YEAR}, "
    "such as 2026-05-15T14:30:00Z; without an offset it is UTC"
)


def utc(moment: datetime) -> datetime:
    """Return ``moment`` in UTC; a naive one is taken as UTC.

    Raises:
        ValueError: The year is outside 1000 to 2999, where arithmetic might leave the calendar.
    """
    if not _FIRST_YEAR <= moment.year <= _LAST_YEAR:
        raise ValueError(MOMENT_ACCEPTED)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def parse_moment(value: object) -> datetime:
    """Return the moment an ISO 8601 string names.

    Raises:
        ValueError: It names none.
    """
    if not isinstance(value, str):
        raise ValueError(MOMENT_ACCEPTED)
    return utc(datetime.fromisoformat(value.strip()))


def parse_unix(seconds: float) -> datetime:
    """Return the moment that is ``seconds`` after 1970.

    Raises:
        ValueError: It is outside the accepted years, as milliseconds are.
    """
    try:
        return utc(datetime.fromtimestamp(seconds, UTC))
    except (OverflowError, OSError) as error:
        raise ValueError(MOMENT_ACCEPTED) from error


def find_moment(text: str) -> tuple[date, time | None] | None:
    """Return the first date in free text, and the time of day next to it, both in UTC.

    Understands ``2026-05-14``, ``2026-05-14 15:04``, ``2026-05-14T15:04+02:00``,
    ``Thursday, 14 May 2026``, ``May 14th, 2026`` and ``1:56 pm on 8 May, 2023``. A weekday is not
    compared with the date.

    Raises:
        ValueError: There is something like a date that is none, or that can be read two ways.
    """
    iso = _ISO.search(text)
    if iso:
        if ":" in iso[0] and not _HALF.match(text, iso.end()):
            moment = utc(datetime.fromisoformat(iso[0]))
            return moment.date(), moment.time()
        day = utc(datetime.fromisoformat(iso[0][:_ISO_DATE_CHARS]))
        return day.date(), find_time(text[iso.start() + _ISO_DATE_CHARS :])
    for pattern in _WRITTEN:
        written = pattern.search(text)
        if written:
            month = _MONTHS[written["month"].lower()]
            day = datetime(int(written["year"]), month, int(written["day"]), tzinfo=UTC)
            return utc(day).date(), find_time(text)
    if _AMBIGUOUS.search(text):
        raise ValueError("day and month can be read two ways")
    return None


def find_time(text: str) -> time | None:
    """Return the first time of day in free text, on a 24 or 12 hour clock.

    Raises:
        ValueError: There is something like a time that is none.
    """
    found = _CLOCK.search(text)
    if not found:
        return None
    hour = int(found["hour"])
    if found["half"]:
        if not 1 <= hour <= 12:  # noqa: PLR2004 - a clock face
            raise ValueError("hour must be 1 to 12 before am or pm")
        hour = hour % 12 + (12 if found["half"].lower().startswith("p") else 0)
    return time(hour, int(found["minute"]), int(found["second"] or 0))


class Spacing:
    """Gives the messages of one conversation moments that keep their order.

    A message that states no time is said one second after the message before; the first one at
    ``start``. So is a message whose stated time is only as fine as a session or a minute and thus
    not after the message before; a stated time that goes back is kept as it is.
    """

    def __init__(self, start: datetime) -> None:
        self._start = start
        self._stated: datetime | None = None
        self._last: datetime | None = None

    def next(self, stated: datetime | None) -> datetime:
        """Return the moment of the next message."""
        if self._last is None:
            moment = stated or self._start
        elif stated is None or self._shared(stated):
            moment = self._last + _TICK
        else:
            moment = stated
        self._stated, self._last = stated or self._stated, moment
        return moment

    def _shared(self, stated: datetime) -> bool:
        return (
            self._stated is not None
            and self._last is not None
            and self._stated <= stated <= self._last
        )

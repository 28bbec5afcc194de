"""When the things happened that a question asks about, as it says it. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple, TypeAlias
from zoneinfo import ZoneInfo

from tiers.lexical import MONTHS, STOP_WORDS, WEEKDAYS
from tiers.moments import local

TIMES_MAX = 4
_PAST = re.compile(r"\b(?:did|was|were|had|said|told|been|happened)\b", re.IGNORECASE)
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
# The first form that fits at a place counts, so the most telling come first.
_DATES = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_YEAR}-W(?P<week>\d\d?)\b",
        rf"\bweek\s+(?P<week>\d\d?)(?:\s*,?\s*(?:of\s+)?{_YEAR})?\b",
        rf"\b{_YEAR}-(?P<number>\d\d)-(?P<day>\d\d)\b",
        rf"\b{_YEAR}-(?P<number>\d\d)\b(?!-)",
        rf"\b{_DAY}\s+(?:of\s+)?{_MONTH},?(?:\s+{_YEAR})?\b",
        rf"\b{_MONTH}\s+{_DAY}\b(?!\d),?(?:\s+{_YEAR}\b)?",
        rf"\b{_MONTH},?\s+(?:of\s+)?{_YEAR}\b",
        rf"\b(?:in|during|since|until|before|after|by|of|last|early|late|mid|this)[\s-]+{_MONTH}",
        rf"\bQ(?P<quarter>[1-4])(?:\s+{_YEAR})?\b",
        rf"\b(?:in|during|of|since)\s+{_YEAR}\b",
    )
]
_AGO = re.compile(
    r"\b(?P<number>\d{1,3}|a|an|one|two|three|four|five|six|seven|eight|nine|ten|couple of|few)\s+"
    r"(?P<unit>day|week|month|year)s?\s+ago\b",
    re.IGNORECASE,
)
_NEAR = re.compile(
    r"\b(?:(?P<word>(?:the\s+day\s+before\s+)?yesterday|today|tonight|this\s+morning|last\s+night)"
    r"|(?P<which>last|this|past)\s+(?P<unit>week|month|year|weekend))\b",
    re.IGNORECASE,
)
_WEEKDAY = re.compile(
    rf"\b(on|last)\s+({'|'.join(WEEKDAYS)})\b"
    rf"(?!,?\s+(?:the\s+)?(?:\d|{'|'.join(month[:3] for month in MONTHS)}))",
    re.IGNORECASE,
)
"""A day of the week without its date."""

_OF_MONTH = re.compile(
    r"\bon\s+the\s+(?P<day>\d{1,2})(?:st|nd|rd|th)\b(?!-)(?:\s+(?P<next>\w+))?", re.IGNORECASE
)
"""A day of the month without its month; behind it no noun of which it would be the number."""

_BEHIND_DAYS = (STOP_WORDS - {"of"}) | {"morning", "afternoon", "evening", "night"}
_FORMERLY = re.compile(
    r"(?<!\bis )(?<!\bare )(?<!\bam )(?<!\bbe )(?<!\bget )\bused to\b"
    r"|\bdid\b[^.?!]{1,60}\buse to\b|\b(?:back then|previous(?:ly)?|former(?:ly)?)\b"
    r"|\bin the past\b|\bat (?:that|the) time\b",
    re.IGNORECASE,
)
"""What asks about the past and does not say which."""

_PAST_WORDS = (
    *("used to", "use to", "back then", "previous", "former", "in the past", "at that time"),
    *("at the time", "before", "prior to", "until"),
)
"""Of these has one what ``_FORMERLY`` or ``_BEFORE`` finds; most questions have none."""

_BEFORE = re.compile(r"(?<!\bday )\b(?:before|prior to|until)\b(?P<what>[^.?!]*)", re.IGNORECASE)
_NUMBERS = {
    word: number
    for number, word in enumerate("one two three four five six seven eight nine ten".split(), 1)
} | {"a": 1, "an": 1, "couple of": 2, "few": 3}
_MONTHS_LOOKED_BACK = 3
"""Of any three months that follow each other, one has a 31st before its successor begins."""

_YEARS_LOOKED_BACK = 9
"""Of any nine years, one has a 29th of February."""

_UNIT_DAYS = {"day": 1, "week": 7, "weekend": 7, "month": 30, "year": 365}


class TimeSpan(NamedTuple):
    """From ``since`` on and before ``until``."""

    since: datetime
    until: datetime

    def has(self, moment: datetime) -> bool:
        """Whether a moment lies in it."""
        return self.since <= moment < self.until

    def meets(self, since: datetime | None, until: datetime | None) -> bool:
        """Whether it has a moment with what held from one on and before another, if these are."""
        return (since is None or since < self.until) and (until is None or self.since < until)


class YearDay(NamedTuple):
    """A month, or a day of it, of any year: ``in May``, ``on 8 May``."""

    month: int
    day: int | None


_Days: TypeAlias = tuple[date, date] | YearDay | None
"""A day and the one after the last, or one of each year; none where a text says none."""


EVER = TimeSpan(datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC))
"""A past of which nobody says when it was."""


def speaks_of_past(text: str) -> bool:
    """Whether a text speaks of what was, rather than of what is or shall be."""
    return _PAST.search(text) is not None


def times_in(
    text: str, now: datetime, zone: ZoneInfo
) -> tuple[tuple[TimeSpan, ...], tuple[YearDay, ...]]:
    """Return the times that a text speaks of, at most ``TIMES_MAX`` of each kind.

    Dates (``8 May 2023``, ``May 2023``, ``2023-05-08``, ``2026-W47``, ``Q3 2026``), relative ones
    (``yesterday``, ``last week``, ``on Friday``, ``on the 17th``, ``two months ago``), and days
    without a year (``in May``).
    """
    today = local(now, zone).date()
    found: list[_Days] = []
    rest = text
    for form in _DATES:
        found += _read(_days_of, form.finditer(rest), today)
        rest = form.sub(" ", rest)
    found += _read(_days_ago, _AGO.finditer(rest), today)
    found += _read(_near, _NEAR.finditer(rest), today)
    found += _read(_weekday, filter(_is_past, _WEEKDAY.finditer(text)), today)
    if speaks_of_past(text):
        found += _read(_of_month, _OF_MONTH.finditer(rest), today)
    spans = [between(*one, zone) for one in found if one and not isinstance(one, YearDay)]
    days = [one for one in found if isinstance(one, YearDay)]
    return tuple(dict.fromkeys(spans))[:TIMES_MAX], tuple(dict.fromkeys(days))[:TIMES_MAX]


def past_in(
    text: str, times: tuple[Sequence[TimeSpan], Sequence[YearDay]], now: datetime, zone: ZoneInfo
) -> tuple[TimeSpan, ...]:
    """Return the times of which a text asks what held then and may hold no more.

    What lies before a time that it names (``before 2020``); else the times that it speaks of and
    that are over, a day without a year being the last such day; else, where it asks about a past
    without saying which (``used to``, ``previously``, ``before the move``), ``EVER``.

    Args:
        text: A question.
        times: What ``times_in`` says of it.
        now: When it is asked.
        zone: Where days begin.
    """
    today = local(now, zone).date()
    lowered = text.lower()
    may_be_meant = any(one in lowered for one in _PAST_WORDS)
    if not (may_be_meant or times[0] or times[1]):
        return ()
    before = _BEFORE.search(text) if may_be_meant and speaks_of_past(text) else None
    if before is not None:
        spans, days = times_in(f"in {before['what']}", now, zone)
        ends = [span.since for span in (*spans, *_latest(days, today, zone))]
        if ends:
            return (TimeSpan(EVER.since, min(*ends, now)),)
    spoken_of = (*times[0], *(_latest(times[1], today, zone) if speaks_of_past(text) else ()))
    over = tuple(span for span in spoken_of if span.until <= between(today, today, zone).since)
    if over:
        return over
    is_meant = before is not None or (may_be_meant and _FORMERLY.search(text) is not None)
    return (EVER,) if is_meant else ()


def between(first: date, after: date, zone: ZoneInfo) -> TimeSpan:
    """Return the time from the beginning of one day to the beginning of another."""
    return TimeSpan(
        datetime(first.year, first.month, first.day, tzinfo=zone),
        datetime(after.year, after.month, after.day, tzinfo=zone),
    )


def _read(
    reader: Callable[[re.Match[str], date], _Days], found: Iterable[re.Match[str]], today: date
) -> Iterator[_Days]:
    """Yield what is said of days, but of such as are in no calendar."""
    for match in found:
        with suppress(ValueError, OverflowError):
            yield reader(match, today)


def _days_of(match: re.Match[str], today: date) -> _Days:
    found = match.groupdict()
    year = int(found["year"]) if found.get("year") else None
    if found.get("week"):
        first = date.fromisocalendar(year or today.year, int(found["week"]), 1)
        return first, first + timedelta(days=7)
    if found.get("quarter"):
        return _months(year or today.year, 3 * int(found["quarter"]) - 2, 3)
    return _day_or_month(found, year)


def _day_or_month(
    found: Mapping[str, str | None], year: int | None
) -> tuple[date, date] | YearDay | None:
    month, day = _month_number(found), int(found.get("day") or 0)
    if month is None:
        return None if year is None else (date(year, 1, 1), date(year + 1, 1, 1))
    if year is None:
        return YearDay(month, day or None)
    if not day:
        return _months(year, month, 1)
    return date(year, month, day), date(year, month, day) + timedelta(days=1)


def _month_number(found: Mapping[str, str | None]) -> int | None:
    number, name = found.get("number"), found.get("month")
    if number:
        return int(number)
    if not name:
        return None
    return next(i for i, month in enumerate(MONTHS, 1) if month.startswith(name[:3].lower()))


def _months(year: int, first: int, count: int) -> tuple[date, date]:
    following = first + count
    last_year, last_month = year + (following - 1) // 12, (following - 1) % 12 + 1
    return date(year, first, 1), date(last_year, last_month, 1)


def _days_ago(match: re.Match[str], today: date) -> tuple[date, date]:
    number_word = match["number"].lower()
    number, unit = _NUMBERS.get(number_word) or int(number_word), match["unit"].lower()
    days = number * _UNIT_DAYS[unit]
    # "Two weeks ago" is not a day but about a week.
    slack = {"day": 0, "week": 4, "month": 16, "year": 183}[unit]
    middle = today - timedelta(days=days)
    return middle - timedelta(days=slack), middle + timedelta(days=slack + 1)


def _is_past(weekday: re.Match[str]) -> bool:
    """Whether the last such day is meant: ``on Friday`` may be the next one."""
    return weekday[1].lower() == "last" or speaks_of_past(weekday.string)


def _weekday(match: re.Match[str], today: date) -> tuple[date, date]:
    """Return the last such day before today."""
    away = (today.weekday() - WEEKDAYS.index(match[2].lower())) % 7 or 7
    first = today - timedelta(days=away)
    return first, first + timedelta(days=1)


def _of_month(match: re.Match[str], today: date) -> tuple[date, date] | None:
    """Return the last such day before today; ``None`` where a noun follows: it counts that."""
    behind = match["next"] or ""
    if behind and not (behind.lower() in _BEHIND_DAYS or behind[0].isupper()):
        return None
    month = today
    for _ in range(_MONTHS_LOOKED_BACK):
        try:
            day = month.replace(day=int(match["day"]))
        except ValueError:
            day = today  # the month has no such day
        if day < today:
            return day, day + timedelta(days=1)
        month = month.replace(day=1) - timedelta(days=1)
    return None


def _latest(days: Sequence[YearDay], today: date, zone: ZoneInfo) -> list[TimeSpan]:
    """Return of each month or day without a year the last one that is over."""
    found = []
    for one in days:
        for year in range(today.year, today.year - _YEARS_LOOKED_BACK, -1):
            try:
                span = _day_or_month({"number": str(one.month), "day": str(one.day or 0)}, year)
            except ValueError:
                continue  # that year has no such day
            if isinstance(span, tuple) and not isinstance(span, YearDay) and span[1] <= today:
                found.append(between(*span, zone))
                break
    return found


def _near(match: re.Match[str], today: date) -> tuple[date, date]:
    word, unit, which = match["word"], match["unit"], match["which"]
    if word:
        last = word.split()[-1].lower()
        days = {"yesterday": 2 if " " in word else 1, "night": 1}.get(last, 0)
        first = today - timedelta(days=days)
        return first, first + timedelta(days=1)
    unit, which = unit.lower(), which.lower()
    tomorrow = today + timedelta(days=1)
    if which == "past" or unit == "weekend":
        return today - timedelta(days=_UNIT_DAYS[unit]), tomorrow
    if unit == "week":
        monday = today - timedelta(days=today.weekday())
        return (monday, tomorrow) if which == "this" else (monday - timedelta(days=7), monday)
    if unit == "month":
        begin = today.replace(day=1)
        if which == "this":
            return begin, tomorrow
        return (begin - timedelta(days=1)).replace(day=1), begin
    begin = today.replace(month=1, day=1)
    return (begin, tomorrow) if which == "this" else (begin.replace(year=begin.year - 1), begin)

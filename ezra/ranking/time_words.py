"""Days as people name them in a question, and what of them has no beginning or no end. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import date, timedelta
from typing import NamedTuple, TypeAlias

from tiers.lexical import MONTHS, NUMBER_WORDS, STOP_WORDS, WEEKDAYS

_PAST = re.compile(r"\b(?:did|was|were|had|said|told|been|happened)\b", re.IGNORECASE)
_NOT_PAST = re.compile(
    r"\b(?:will|shall|should|must|needs?|ha(?:ve|s) to|going to|plans?|can|could|would"
    r"|do|does|is|are|am)\b|'(?:ll|re|m)\b",
    re.IGNORECASE,
)
"""What asks about now or about what is to come, where nothing in it is past."""

_MONTH_NAME = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b"
)
_MONTH = rf"(?P<month>{_MONTH_NAME})\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_NTH_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_WEEKDAY = f"(?:{'|'.join(WEEKDAYS)})"
_COUNT = rf"(?P<number>\d{{1,3}}|an?|couple of|couple|few|{'|'.join(NUMBER_WORDS)})"
_OPENED = (
    r"(?:(?P<apart>\b(?:just|right|shortly|soon|immediately"
    rf"|(?:hour|day|night|morning|evening|weekend|week|month|year)s?|{_WEEKDAY})\s+)?"
    r"\b(?P<open>before|prior\s+to|until|till|up\s+to|after|since)\s+(?:the\s+)?)"
)
"""What leaves a time without a beginning or an end; "the day before" and "right after" do not."""

_OPEN = rf"{_OPENED}?(?:\b{_WEEKDAY},?\s+(?:the\s+)?)?"
_NEXT = r"(?=(?:\s+(?P<next>\w+))?)"
_NTH = r"\d{1,2}(?:st|nd|rd|th)?\b"
_ANY_YEAR = r"(?:19|20)\d\d\b"
_END = (
    rf"(?:the\s+)?(?:{_NTH}(?:\s+(?:of\s+)?{_MONTH_NAME})?|{_MONTH_NAME}(?:\s+(?:the\s+)?{_NTH})?)"
    rf"(?:,?\s+{_ANY_YEAR})?|{_ANY_YEAR}"
)
_IN_END = re.compile(rf"{_YEAR}|{_MONTH}|\b{_DAY}\b", re.IGNORECASE)
_UNIT_DAYS = {"day": 1, "week": 7, "fortnight": 14, "month": 30, "year": 365}
_SLACK = {"day": 0, "week": 4, "fortnight": 4, "month": 16, "year": 183}
"""How far around is meant: "two weeks ago" is not a day but about a week."""

_NUMBERS = NUMBER_WORDS | {"a": 1, "an": 1, "couple of": 2, "couple": 2, "few": 3}
_VAGUE_DAYS = {"couple of": (2, 3), "couple": (2, 3), "few": (2, 5)}
"""How many days ago at least and at most nobody counts who says so."""

_BEHIND_DAYS = (STOP_WORDS - {"of"}) | {"morning", "afternoon", "evening", "night"}
_MONTHS_LOOKED_BACK = 3
"""Of any three months that follow each other, one has a 31st before its successor begins."""

_WEEKDAYS_LOOKED_BACK = 48
"""Within so many months nearly every day of a month has been each day of the week."""

YEARS_LOOKED_BACK = 9
"""Of any nine years, one has a 29th of February."""


class YearDay(NamedTuple):
    """A month, or a day of it, of any year: ``in May``, ``on 8 May``."""

    month: int
    day: int | None


Days: TypeAlias = tuple[date, date]
"""A day and the one after the last."""


class SaidTime(NamedTuple):
    """A time that a text names.

    Attributes:
        days: Those named, or one of each year.
        opened: ``before`` or ``until`` them, or ``after`` or ``since``; ``None`` where they are
            meant themselves.
    """

    days: Days | YearDay
    opened: str | None = None


_Found: TypeAlias = Mapping[str, str | None]
_Read: TypeAlias = Callable[[_Found, str, date], Days | YearDay | None]


def speaks_of_past(text: str) -> bool:
    """Whether a text speaks of what was, rather than of what is or shall be."""
    return _PAST.search(text) is not None


def said_times(text: str, today: date) -> list[SaidTime]:
    """Return the times that a text names, but those that are in no calendar.

    Args:
        text: A question.
        today: When it is asked.
    """
    said = []
    for match, read in _matches(text):
        found = match.groupdict()
        with suppress(ValueError, OverflowError):
            days = read(found, text, today)
            opened = _opened_by(found)
            if isinstance(days, YearDay) and opened is not None:
                days = _meant(days, opened, text, today)
            if days is not None:
                said.append(SaidTime(days, opened))
    return said


def without_times(text: str) -> str:
    """Return a text without the times that it names."""
    for match, _ in _matches(text):
        text = _blanked(text, match)
    return text


def without_counted(text: str) -> str:
    """Return a text without the times whose figures are not those of the days that they mean.

    "10 days ago" is no tenth of a month, "before 10 May" not on the tenth, and "from 5 to 9 May"
    as much on the 7th.
    """
    for match, _ in _matches(text):
        if _is_counted(match.groupdict()):
            text = _blanked(text, match)
    return text


def naming_days(text: str) -> str:
    """Return the same without dates in figures either: the 10 of 2026-10-03 is no day."""
    for match, _ in _matches(text):
        found = match.groupdict()
        if _is_counted(found) or found.get("number") or found.get("week"):
            text = _blanked(text, match)
    return text


def _is_counted(found: _Found) -> bool:
    """Whether a time says how far away it is, or is open, or goes from one to another."""
    return bool(found.get("unit") or found.get("first")) or _opened_by(found) is not None


def day_or_month(found: _Found, year: int | None) -> Days | YearDay | None:
    """Return what a day, a month (by name or number) and a year mean together, of those given."""
    month, day = _month_number(found), int(found.get("day") or 0)
    if month is None:
        return None if year is None else (date(year, 1, 1), date(year + 1, 1, 1))
    if year is None:
        return YearDay(month, day or None)
    if not day:
        return _months(year, month, 1)
    return date(year, month, day), date(year, month, day) + timedelta(days=1)


def latest(one: YearDay, today: date, *, is_over: bool) -> Days | None:
    """Return the last such month or day that has begun, or that is over."""
    for year in range(today.year, today.year - YEARS_LOOKED_BACK, -1):
        with suppress(ValueError):  # that year has no such day
            days = day_or_month({"number": str(one.month), "day": str(one.day or 0)}, year)
            if isinstance(days, YearDay) or days is None:
                return None
            if (days[1] if is_over else days[0]) <= today:
                return days
    return None


def _matches(text: str) -> Iterator[tuple[re.Match[str], _Read]]:
    """Yield what may name a time, with what reads it; each place of the text counts once."""
    rest = text
    for form, read in _FORMS:
        for match in list(form.finditer(rest)):
            if read is _range and _ends_of(match.groupdict()) is None:
                continue
            yield match, read
            rest = _blanked(rest, match)


def _blanked(text: str, match: re.Match[str]) -> str:
    return text[: match.start()] + " " * (match.end() - match.start()) + text[match.end() :]


def _opened_by(found: _Found) -> str | None:
    """Return on which side a time is open: ``before``, ``until``, ``after``, ``since``."""
    opened = found.get("open")
    if opened is None or found.get("apart"):
        return None
    word = opened.split()[0].lower()
    return {"prior": "before", "till": "until", "up": "until"}.get(word, word)


def _meant(one: YearDay, opened: str, text: str, today: date) -> Days | None:
    """Return which of each year is meant; none where a time to come may be."""
    if not _looks_back(opened, text):
        return None
    return latest(one, today, is_over=opened == "after")


def _looks_back(opened: str, text: str) -> bool:
    """Whether days before today are meant: "What do we need before May?" looks ahead."""
    return opened == "since" or speaks_of_past(text) or _NOT_PAST.search(text) is None


def _date(found: _Found, _text: str, today: date) -> Days | YearDay | None:
    year = int(found["year"] or 0) if found.get("year") else None
    if _counts(found):
        return None
    if found.get("week"):
        first = date.fromisocalendar(year or today.year, int(found["week"] or 0), 1)
        return first, first + timedelta(days=7)
    if found.get("quarter"):
        return _months(year or today.year, 3 * int(found["quarter"] or 0) - 2, 3)
    return day_or_month(found, year)


def _counts(found: _Found) -> bool:
    """Whether a noun follows of which a figure would be the number."""
    behind = found.get("next") or ""
    return bool(behind) and not (behind.lower() in _BEHIND_DAYS or behind[0].isupper())


def _month_number(found: _Found) -> int | None:
    number, name = found.get("number"), found.get("month")
    if number:
        return int(number)
    if not name:
        return None
    return next(i for i, month in enumerate(MONTHS, 1) if month.startswith(name[:3].lower()))


def _months(year: int, first: int, count: int) -> Days:
    following = first + count
    last_year, last_month = year + (following - 1) // 12, (following - 1) % 12 + 1
    return date(year, first, 1), date(last_year, last_month, 1)


def _ends_of(found: _Found) -> tuple[dict[str, str], dict[str, str]] | None:
    """Return the two ends of a range, each with what the other says for both; ``None`` if none."""
    first, last = (
        {
            name: value
            for match in _IN_END.finditer(found[end] or "")
            for name, value in match.groupdict().items()
            if value is not None
        }
        for end in ("first", "last")
    )
    if "month" in first or "month" in last:
        return {**_only(last, "month"), **first}, {**_only(first, "month"), **last}
    are_years = first.keys() == last.keys() == {"year"}
    return (first, last) if are_years else None


def _only(found: Mapping[str, str], name: str) -> dict[str, str]:
    return {name: found[name]} if name in found else {}


def _range(found: _Found, text: str, today: date) -> Days | None:
    """Return the days from one to another; without a year the last such that have begun."""
    ends = _ends_of(found)
    if ends is None:
        return None
    first, last = ends
    over_new_year = int(_place_in_year(first) > _place_in_year(last))
    if "year" in first or "year" in last:
        begins = int(first["year"]) if "year" in first else int(last["year"]) - over_new_year
        return _from_to(first, begins, last, int(last.get("year", begins + over_new_year)))
    if not (speaks_of_past(text) or _NOT_PAST.search(text) is None):
        return None
    for year in range(today.year, today.year - YEARS_LOOKED_BACK, -1):
        with suppress(ValueError):  # that year has no such day
            days = _from_to(first, year, last, year + over_new_year)
            if days is None or days[0] <= today:
                return days
    return None


def _from_to(first: _Found, begins: int, last: _Found, ends: int) -> Days | None:
    """Return the days from one end in a year to another; ``None`` if they lie the other way."""
    one, other = day_or_month(first, begins), day_or_month(last, ends)
    if isinstance(one, YearDay) or isinstance(other, YearDay) or one is None or other is None:
        return None
    return (one[0], other[1]) if one[0] < other[1] else None


def _place_in_year(end: _Found) -> tuple[int, int]:
    return _month_number(end) or 0, int(end.get("day") or 0)


def _ago(found: _Found, _text: str, today: date) -> Days:
    word, unit = (found["number"] or "").lower(), (found["unit"] or "").lower()
    if unit == "day" and word in _VAGUE_DAYS:
        least, most = _VAGUE_DAYS[word]
        return today - timedelta(days=most), today - timedelta(days=least - 1)
    middle, slack = today - timedelta(days=_number(word) * _UNIT_DAYS[unit]), _SLACK[unit]
    return middle - timedelta(days=slack), middle + timedelta(days=slack + 1)


def _number(word: str) -> int:
    return _NUMBERS[word] if word in _NUMBERS else int(word)


def _last_days(found: _Found, _text: str, today: date) -> Days:
    number = _number((found["number"] or "").lower())
    days = number * _UNIT_DAYS[(found["unit"] or "").lower()]
    return today - timedelta(days=days), today + timedelta(days=1)


def _before_last(found: _Found, _text: str, today: date) -> Days:
    unit = (found["unit"] or "").lower()
    if unit == "night":
        return today - timedelta(days=2), today - timedelta(days=1)
    if unit == "weekend":
        return _weekend(today - timedelta(days=7))
    return _last(unit, _last(unit, today)[0])


def _weekend(today: date) -> Days:
    """Return the last Saturday and Sunday of a week before this one."""
    monday = _monday(today)
    return monday - timedelta(days=2), monday


def _monday(today: date) -> date:
    return today - timedelta(days=today.weekday())


def _last(unit: str, today: date) -> Days:
    """Return the week, month or year before the one of a day."""
    begin = _begin(unit, today)
    return _begin(unit, begin - timedelta(days=1)), begin


def _begin(unit: str, today: date) -> date:
    if unit == "week":
        return _monday(today)
    return today.replace(day=1) if unit == "month" else today.replace(month=1, day=1)


def _near(found: _Found, text: str, today: date) -> Days:
    word, tomorrow = found["word"], today + timedelta(days=1)
    if word:
        last = word.split()[-1].lower()
        days = {"yesterday": 2 if " " in word else 1, "night": 1}.get(last, 0)
        first = today - timedelta(days=days)
        return first, first + timedelta(days=1)
    unit, which = (found["unit"] or "").lower(), (found["which"] or "").lower()
    if unit == "weekend":
        saturday = _monday(today) + timedelta(days=WEEKDAYS.index("saturday"))
        is_now = which == "this" and (saturday <= today or not speaks_of_past(text))
        return (saturday, saturday + timedelta(days=2)) if is_now else _weekend(today)
    if which == "past":
        return today - timedelta(days=_UNIT_DAYS[unit]), tomorrow
    return (_begin(unit, today), tomorrow) if which == "this" else _last(unit, today)


def _weekday(found: _Found, text: str, today: date) -> Days | None:
    """Return the last such day before today; none where it may be the next one."""
    opened, how = _opened_by(found), found["how"]
    if opened is None and how is None:
        return None
    is_past = _looks_back(opened, text) if opened else speaks_of_past(text)
    if not is_past and (how or "").lower() != "last":
        return None
    away = (today.weekday() - WEEKDAYS.index((found["weekday"] or "").lower())) % 7 or 7
    first = today - timedelta(days=away)
    return first, first + timedelta(days=1)


def _of_month(found: _Found, text: str, today: date) -> Days | None:
    """Return the last such day before today; none where a noun follows, or it may be the next."""
    opened = _opened_by(found)
    is_past = _looks_back(opened, text) if opened else speaks_of_past(text)
    if not is_past or _counts(found) or (found["open"] and not opened):
        return None
    weekday, month = (found["weekday"] or "").lower(), today
    for _ in range(_WEEKDAYS_LOOKED_BACK if weekday else _MONTHS_LOOKED_BACK):
        try:
            day = month.replace(day=int(found["day"] or 0))
        except ValueError:
            day = today  # the month has no such day
        if day < today and weekday in ("", WEEKDAYS[day.weekday()]):
            return day, day + timedelta(days=1)
        month = month.replace(day=1) - timedelta(days=1)
    return None


_RANGE = (
    rf"\b(?:between|from)\s+(?P<first>{_END})"
    rf"\s*(?:\b(?:and|to|until|till|through)\b|[-\u2013])\s*(?P<last>{_END})"
)
_MONTH_ALONE = (
    rf"(?:{_OPENED}(?:(?:last|early|late|mid|this)[\s-]+)?"
    rf"|\b(?:in|during|by|of|last|early|late|mid|this)[\s-]+){_MONTH}"
)
_LAST_DAYS = (
    r"\b(?:(?:in|over|during|within|for|of|from|through(?:out)?)\s+(?:the\s+)?|the\s+)"
    rf"(?:last|past)\s+{_COUNT}\s+(?P<unit>day|week|month|year)s?\b(?!\s+of\b)"
)
_THE_ONE_BEFORE_LAST = (
    r"\b(?P<unit>night|weekend|week|month|year)\s+before\s+last\b"
    rf"(?!\s+(?:{_WEEKDAY}|night|weekend|week|month|year|{_MONTH_NAME}))"
)
_NEARBY = (
    rf"{_OPENED}?\b(?:(?P<word>(?:the\s+day\s+before\s+)?yesterday|today|tonight"
    r"|this\s+morning|last\s+night)|(?P<which>last|this|past)\s+(?P<unit>week|month|year|weekend))\b"
)
_WEEKDAY_ALONE = (
    rf"(?:{_OPENED}(?:last\s+)?|\b(?P<how>on|last)\s+)(?P<weekday>{_WEEKDAY})\b"
    rf"(?!,?\s+(?:the\s+)?(?:\d|{'|'.join(month[:3] for month in MONTHS)}))"
)
_DAY_ALONE = (
    rf"(?:{_OPENED}|\bon\s+(?:the\s+|(?P<weekday>{_WEEKDAY}),?\s+(?:the\s+)?))"
    rf"{_NTH_DAY}\b(?!-){_NEXT}"
)
# The first form that fits at a place counts, so the most telling come first.
_FORMS: list[tuple[re.Pattern[str], _Read]] = [
    (re.compile(pattern, re.IGNORECASE), read)
    for pattern, read in (
        (_RANGE, _range),
        (rf"{_OPEN}\b{_YEAR}-W(?P<week>\d\d?)\b", _date),
        (rf"{_OPEN}\bweek\s+(?P<week>\d\d?)(?:\s*,?\s*(?:of\s+)?{_YEAR})?\b", _date),
        (rf"{_OPEN}\b{_YEAR}-(?P<number>\d\d)-(?P<day>\d\d)\b", _date),
        (rf"{_OPEN}\b{_YEAR}-(?P<number>\d\d)\b(?!-)", _date),
        (rf"{_OPEN}\b(?P<day>\d\d?)\.\s?(?P<number>\d\d?)\.\s?{_YEAR}\b", _date),
        (rf"{_OPEN}\b{_DAY}\s+(?:of\s+)?{_MONTH},?(?:\s+{_YEAR})?\b", _date),
        (rf"{_OPEN}\b{_MONTH}\s+{_DAY}\b(?!\d),?(?:\s+{_YEAR}\b)?", _date),
        (rf"{_OPEN}\b{_MONTH},?\s+(?:of\s+)?{_YEAR}\b", _date),
        (_MONTH_ALONE, _date),
        (rf"{_OPEN}\bQ(?P<quarter>[1-4])(?:\s+{_YEAR})?\b", _date),
        (rf"\b(?:in|during|of)\s+{_YEAR}\b", _date),
        (rf"{_OPENED}{_YEAR}\b{_NEXT}", _date),
        (rf"{_OPENED}?\b{_COUNT}\s+(?P<unit>day|week|fortnight|month|year)s?\s+ago\b", _ago),
        (_LAST_DAYS, _last_days),
        (_THE_ONE_BEFORE_LAST, _before_last),
        (_NEARBY, _near),
        (_WEEKDAY_ALONE, _weekday),
        (_DAY_ALONE, _of_month),
    )
]

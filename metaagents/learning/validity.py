"""When a statement is valid, where somebody has said so: never guessed, never the clock's. Pure.

A period is kept in days of UTC: ``valid_from`` is the first stated day and ``valid_to`` the last
one, both as the moment at which the day begins. A month or a year stands for all of its days.
"""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import UTC, datetime

from tiers.lexical import MONTHS, words

from .regexes import any_case, regex

_NUMBERS = {name: number for number, name in enumerate(MONTHS, 1)}
_NUMBERS |= {name[:3]: number for name, number in _NUMBERS.items()} | {"sept": 9}
_MONTH = f"(?:{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})"
DATE = (
    r"(?:\d{4}-\d{2}-\d{2}|\d{4}-\d{2}|"
    rf"\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}\.?,? \d{{4}}|"
    rf"{_MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}}|{_MONTH}\.? \d{{4}}|(?:19|20)\d{{2}})"
)
"""A date that has a year, as an expression without groups; case is to be ignored."""

_ANSWERED = regex(r"(\d{4})-(\d{2})(?:-(\d{2}))?")
_PARTS = any_case(rf"{_MONTH}|\d{{1,4}}")
_YEAR_DIGITS = 4


@dataclass(frozen=True)
class Days:
    """A stated day, month or year: the days at which it begins and ends."""

    first: datetime
    last: datetime


Validity = tuple[datetime | None, datetime | None]


def days_of(written: str) -> Days | None:
    """Return the days of a written ``DATE``; ``None`` when there is no such date."""
    answered = _ANSWERED.fullmatch(written)
    if answered:
        year, month, day = answered.groups()
        return _days(int(year), int(month), int(day) if day else None)
    year_, month_, day_ = 0, None, None
    for part in _PARTS.findall(written):
        if not part.isdigit():
            month_ = _NUMBERS[part.lower()]
        elif len(part) == _YEAR_DIGITS:
            year_ = int(part)
        else:
            day_ = int(part)
    return _days(year_, month_, day_)


def stated_days(answered: str | None, said: str) -> Days | None:
    """Return the days of a date that a model answered, if the words say it.

    Args:
        answered: ``YYYY-MM-DD`` or ``YYYY-MM``; anything else is no date.
        said: The words of the cited turns. They state a date as it is, or by its year, its month
            (as a name, or in a date with that year) and its day.
    """
    found = _ANSWERED.fullmatch((answered or "").strip())
    if found is None:
        return None
    year, month, day = found.groups()
    days = _days(int(year), int(month), int(day) if day else None)
    if days is None:
        return None
    if found.group() in re.findall(r"\d{4}-\d{2}-\d{2}|\d{4}-\d{2}", said):
        return days
    spoken = set(words(said))
    name = MONTHS[int(month) - 1]
    is_month = name in spoken or name[:3] in spoken or f"{year}-{month}" in said
    number = int(day) if day else 0
    forms = {f"{number}{ending}" for ending in ("", "st", "nd", "rd", "th")} | {f"{number:02}"}
    is_day = day is None or bool(forms & spoken)
    return days if year in spoken and is_month and is_day else None


def whole_month(year: int, month: int) -> Days:
    """Return all days of a month."""
    first = datetime(year, month, 1, tzinfo=UTC)
    return Days(first, first.replace(day=calendar.monthrange(year, month)[1]))


def _days(year: int, month: int | None, day: int | None) -> Days | None:
    try:
        if month is None:
            return Days(datetime(year, 1, 1, tzinfo=UTC), datetime(year, 12, 31, tzinfo=UTC))
        if day is None:
            return whole_month(year, month)
        exact = datetime(year, month, day, tzinfo=UTC)
    except ValueError:  # no such month, day or year
        return None
    return Days(exact, exact)

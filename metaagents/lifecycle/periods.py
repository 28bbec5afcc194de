"""Calendar periods in a time zone: what a moment's day, week, month, quarter and year are called.

Pure. A period begins at the first moment of its first local day and ends where the next one begins,
so that days of 23 and of 25 hours are whole days, and every moment is in exactly one period.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

from tiers.errors import UsageError
from tiers.moments import local
from tiers.records import Grain

FIRST_MOMENT = datetime(1, 1, 1, tzinfo=UTC)
LAST_MOMENT = datetime.max.replace(tzinfo=UTC)
"""Where the calendar ends."""

_DAY = timedelta(days=1)
_MONTHS_PER_QUARTER = 3


class Bounds(NamedTuple):
    """From when, inclusive, until when, exclusive, in UTC."""

    starts: datetime
    ends: datetime


def period_of(moment: datetime, grain: Grain, zone: ZoneInfo) -> str:
    """Return what the period of a moment is called.

    ``2026-11-20``, ``2026-W47`` (ISO 8601: the year and week that have its Thursday), ``2026-11``,
    ``2026-Q4``, ``2026``.
    """
    return _FORMS[grain].label(day_of(moment, zone))


def bounds(label: str, grain: Grain, zone: ZoneInfo) -> Bounds:
    """Return when a period begins and ends.

    Raises:
        UsageError: The label is none of the grain's.
    """
    form = _FORMS[grain]
    match = form.pattern.fullmatch(label)
    try:
        first = form.first(*map(int, match.groups())) if match else None
    except ValueError:  # a thirtieth of February, a week 53 of a year with 52
        first = None
    if first is None:
        raise UsageError("label", label, form.example)
    return Bounds(_start_of(first, zone), _start_of(form.next(first), zone))


def period_start(moment: datetime, grain: Grain, zone: ZoneInfo) -> datetime:
    """Return when the period of a moment begins."""
    return bounds(period_of(moment, grain, zone), grain, zone).starts


def day_of(moment: datetime, zone: ZoneInfo) -> date:
    """Return the local day of a moment: the one whose bounds it lies in.

    That is its date by the clock on the wall, save where clocks that are put back at midnight show
    the end of a day for a second time: by then the next day has begun.
    """
    day = local(moment, zone).date()
    following = _after(day)
    return day if following is None or moment < _start_of(following, zone) else following


def _start_of(day: date | None, zone: ZoneInfo) -> datetime:
    """Return the first moment of a local day; of no day, the end of the calendar.

    Where midnight is skipped, that is when the clock is put forward; where it comes twice, the
    first time.
    """
    if day is None:
        return LAST_MOMENT
    try:
        return datetime.combine(day, time(), tzinfo=zone).astimezone(UTC)
    except OverflowError:
        return FIRST_MOMENT if day.year == date.min.year else LAST_MOMENT


def _after(day: date, days: int = 1) -> date | None:
    return day + days * _DAY if day <= date.max - days * _DAY else None


def _week(day: date) -> str:
    year, week, _ = day.isocalendar()
    return f"{year:04}-W{week:02}"


def _months_after(day: date, months: int) -> date | None:
    whole = day.year * 12 + day.month - 1 + months
    year, month = whole // 12, whole % 12 + 1
    return date(year, month, 1) if year <= date.max.year else None


class _Form(NamedTuple):
    """What the periods of a grain are called, and where they begin."""

    label: Callable[[date], str]
    pattern: re.Pattern[str]
    example: str
    first: Callable[..., date]
    next: Callable[[date], date | None]


_YEAR = r"([0-9]{4})"
_FORMS: Mapping[Grain, _Form] = {
    "daily": _Form(
        date.isoformat,
        re.compile(_YEAR + r"-([0-9]{2})-([0-9]{2})"),
        "a day such as 2026-11-20",
        date,
        _after,
    ),
    "weekly": _Form(
        _week,
        re.compile(_YEAR + r"-W([0-9]{2})"),
        "an ISO year and week such as 2026-W47",
        lambda year, week: date.fromisocalendar(year, week, 1),
        lambda day: _after(day, 7),
    ),
    "monthly": _Form(
        lambda day: f"{day.year:04}-{day.month:02}",
        re.compile(_YEAR + r"-([0-9]{2})"),
        "a month such as 2026-11",
        lambda year, month: date(year, month, 1),
        lambda day: _months_after(day, 1),
    ),
    "quarterly": _Form(
        lambda day: f"{day.year:04}-Q{(day.month - 1) // _MONTHS_PER_QUARTER + 1}",
        re.compile(_YEAR + r"-Q([1-4])"),
        "a quarter such as 2026-Q4",
        lambda year, quarter: date(year, _MONTHS_PER_QUARTER * (quarter - 1) + 1, 1),
        lambda day: _months_after(day, 3),
    ),
    "yearly": _Form(
        lambda day: f"{day.year:04}",
        re.compile(_YEAR),
        "a year such as 2026",
        lambda year: date(year, 1, 1),
        lambda day: _months_after(day, 12),
    ),
}

"""When the things happened that a question asks about, as it says it. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import NamedTuple
from zoneinfo import ZoneInfo

from tiers.moments import local

from .time_words import SaidTime, YearDay, latest, said_times, speaks_of_past

TIMES_MAX = 4
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


EVER = TimeSpan(datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC))
"""A past of which nobody says when it was."""


def times_in(
    text: str, now: datetime, zone: ZoneInfo
) -> tuple[tuple[TimeSpan, ...], tuple[YearDay, ...]]:
    """Return the times that a text speaks of, at most ``TIMES_MAX`` of each kind.

    Dates (``8 May 2023``, ``May 2023``, ``2023-05-08``, ``08.05.2023``, ``2026-W47``, ``Q3 2026``),
    relative ones (``yesterday``, ``last week``, ``on Friday``, ``on the 17th``, ``two months ago``,
    ``in the last ten days``), from one to another (``between 5 and 9 October``), what is open to
    one side (``before October``, ``since Thursday``; as far as ``EVER`` reaches), and days without
    a year (``in May``).
    """
    found = [_span(one, zone) for one in said_times(text, local(now, zone).date())]
    spans = [one for one in found if isinstance(one, TimeSpan)]
    days = [one for one in found if isinstance(one, YearDay)]
    return tuple(dict.fromkeys(spans))[:TIMES_MAX], tuple(dict.fromkeys(days))[:TIMES_MAX]


def past_in(
    text: str, times: tuple[Sequence[TimeSpan], Sequence[YearDay]], now: datetime, zone: ZoneInfo
) -> tuple[TimeSpan, ...]:
    """Return the times of which a text asks what held then and may hold no more.

    What lies before a time that it names (``before 2020``); else the times that it speaks of and
    that are over, or began and have no end (``since May``), a day without a year being the last
    such day; else, where it asks about a past without saying which (``used to``, ``previously``,
    ``before the move``), ``EVER``.

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
        begun = _latest(days, today, zone, is_over=False)
        ends = [span.since for span in (*spans, *begun)]
        if ends:
            return (TimeSpan(EVER.since, min(*ends, now)),)
    spoken_of = (*times[0], *(_latest(times[1], today, zone) if speaks_of_past(text) else ()))
    day = between(today, today, zone).since
    over = tuple(span for span in spoken_of if span.until <= day or _goes_on(span, text, day))
    if over:
        return over
    is_meant = before is not None or (may_be_meant and _FORMERLY.search(text) is not None)
    return (EVER,) if is_meant else ()


def _goes_on(span: TimeSpan, text: str, today: datetime) -> bool:
    """Whether a past has no end that is named: "What did we do since May?"."""
    return span.until == EVER.until and span.since < today and speaks_of_past(text)


def between(first: date, after: date, zone: ZoneInfo) -> TimeSpan:
    """Return the time from the beginning of one day to the beginning of another."""
    return TimeSpan(
        datetime(first.year, first.month, first.day, tzinfo=zone),
        datetime(after.year, after.month, after.day, tzinfo=zone),
    )


def _span(one: SaidTime, zone: ZoneInfo) -> TimeSpan | YearDay:
    """Return the time that is meant: days themselves, or what lies on one side of them."""
    if isinstance(one.days, YearDay):
        return one.days
    span = between(*one.days, zone)
    if one.opened is None:
        return span
    edge = span.since if one.opened in ("before", "since") else span.until
    if one.opened in ("before", "until"):
        return TimeSpan(EVER.since, edge)
    return TimeSpan(edge, EVER.until)


def _latest(
    days: Sequence[YearDay], today: date, zone: ZoneInfo, *, is_over: bool = True
) -> list[TimeSpan]:
    """Return of each month or day without a year the last one that is over, or has begun."""
    found = (latest(one, today, is_over=is_over) for one in days)
    return [between(*one, zone) for one in found if one is not None]

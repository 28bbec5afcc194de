"""Of which past a question asks, and which day it means by a number alone."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from ezra.ranking.cues import read_cues
from ezra.ranking.times import EVER, TimeSpan, times_in

NOW = datetime(2026, 11, 20, 15, 30, tzinfo=UTC)
ZONE = ZoneInfo("UTC")


def day(text: str) -> datetime:
    """Return the beginning of a day."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "now", "first"),
    [
        ("What happened on the 17th?", "2026-11-20", "2026-11-17"),
        ("What did we do on the 17th and later?", "2026-11-20", "2026-11-17"),
        ("What did Kim paint on the 2nd in the evening?", "2026-11-20", "2026-11-02"),
        ("Who was there on the 20th, and why?", "2026-11-20", "2026-10-20"),  # never today
        ("What happened on the 31st?", "2026-11-20", "2026-10-31"),
        ("What happened on the 30th?", "2026-03-01", "2026-01-30"),
        ("What happened on the 17th?", "2026-01-05", "2025-12-17"),
    ],
)
def test_a_day_of_the_month_is_the_last_such_day(text: str, now: str, first: str) -> None:
    """Of a month that has it, and over."""
    (span,), days = times_in(text, day(now), ZONE)
    assert (span.since, days) == (day(first), ())
    assert (span.until - span.since).days == 1


@pytest.mark.parametrize(
    "text",
    [
        "What do we plan on the 17th?",
        "Who was on the 17th floor?",
        "What broke on the 3rd attempt, and was it mended?",
        "What happened on the 32nd?",
        "What happened on the 0th?",
        "What happened on the 17th of the series?",
        "What was said of the 17th?",
    ],
)
def test_a_number_is_no_day(text: str) -> None:
    """Of a day to come, of what is counted, or of no month."""
    assert times_in(text, NOW, ZONE) == ((), ())


def test_a_day_of_a_named_month_is_read_once() -> None:
    """The number alone does not count beside it."""
    spans, days = times_in("What happened on the 17th of May 2024?", NOW, ZONE)
    assert (spans, days) == ((TimeSpan(day("2024-05-17"), day("2024-05-18")),), ())


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("Where did Kim live in 2022?", "2022-01-01", "2023-01-01"),
        ("Where did Kim live in May 2022?", "2022-05-01", "2022-06-01"),
        ("Where did Kim live last year?", "2025-01-01", "2026-01-01"),
        ("What did I say two days ago?", "2026-11-18", "2026-11-19"),
        ("What was the plan yesterday?", "2026-11-19", "2026-11-20"),
        ("What was the plan the day before yesterday?", "2026-11-18", "2026-11-19"),
        ("Where did Kim live in May?", "2026-05-01", "2026-06-01"),
        ("Where did Kim live in November?", "2025-11-01", "2025-12-01"),  # this one goes on
        ("Where was Kim on 29 February?", "2024-02-29", "2024-03-01"),
        ("Where did Kim live in 2022, before the move?", "2022-01-01", "2023-01-01"),
        ("Where did Kim use to live in 2022?", "2022-01-01", "2023-01-01"),
    ],
)
def test_a_past_is_the_time_that_is_named(text: str, since: str, until: str) -> None:
    """If it is over; of a month or day without a year the last."""
    cues = read_cues(text, (), NOW, ZONE)
    assert cues.past == (TimeSpan(day(since), day(until)),)
    assert cues.names_past


@pytest.mark.parametrize(
    ("text", "until"),
    [
        ("Where did Kim live before 2020?", "2020-01-01"),
        ("Where did Kim live before May 2020?", "2020-05-01"),
        ("Where did Kim live until 3 July 2024?", "2024-07-03"),
        ("Where did Kim live prior to last year?", "2025-01-01"),
        ("Where did Kim live before March?", "2026-03-01"),
        ("What was the rule before yesterday?", "2026-11-19"),
    ],
)
def test_what_lies_before_a_time_ends_with_it(text: str, until: str) -> None:
    """It has no beginning."""
    cues = read_cues(text, (), NOW, ZONE)
    assert cues.past == (TimeSpan(EVER.since, day(until)),)
    assert cues.names_past


@pytest.mark.parametrize(
    "text",
    [
        "Where did Kim use to live?",
        "Who used to lead the team?",
        "Where did Kim live back then?",
        "Where did Kim live previously?",
        "Who was formerly in charge?",
        "What was her previous job?",
        "Where did Kim live before Lisbon?",
        "What was the rule before?",
    ],
)
def test_a_past_may_be_any(text: str) -> None:
    """Where nobody says which."""
    cues = read_cues(text, (), NOW, ZONE)
    assert cues.past == (EVER,)
    assert not cues.names_past


@pytest.mark.parametrize(
    "text",
    [
        "Where does Kim live?",
        "Where did Kim live?",
        "Where does Kim live today?",
        "What did we do this week?",
        "What should I do before the race?",
        "Where will we race in May?",
        "What do we plan for 2027?",
        "Who is used to the rain?",
        "Can you remind me what I planned for today?",
        "What happens in 2030?",
    ],
)
def test_who_asks_about_now_asks_of_no_past(text: str) -> None:
    """Nor who asks about what is to come."""
    assert read_cues(text, (), NOW, ZONE).past == ()


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Pacific/Auckland"])
def test_a_day_that_no_calendar_has_is_none(zone: str) -> None:
    """Asked at the ends of time, of days beyond them; a moment there has a day of its own."""
    clock = ZoneInfo(zone)
    text = "What was said last week, last month, last year, today, on Friday, and 2 weeks ago?"
    for now in (datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)):
        cues = read_cues(text, (), now, clock)
        assert len(cues.spans) < 6
        assert not read_cues("What was said in May?", (), now, clock).speaks_of(now, clock)


def test_a_span_meets_what_held_in_a_part_of_it() -> None:
    """Ends are the first moment after; what has none goes on."""
    span = TimeSpan(day("2022-01-01"), day("2023-01-01"))
    for since, until, meets in (
        (None, None, True),
        (None, "2022-01-01", False),
        (None, "2022-01-02", True),
        ("2022-12-31", None, True),
        ("2023-01-01", None, False),
        ("2020-01-01", "2030-01-01", True),
    ):
        held = (since and day(since), until and day(until))
        assert span.meets(*held) is meets, held

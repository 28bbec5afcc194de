"""Times as people say them, periods of a calendar, and of which past a question asks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random
from zoneinfo import ZoneInfo

import pytest

from ezra.ranking.cues import read_cues
from ezra.ranking.time_words import naming_days
from ezra.ranking.times import EVER, TimeSpan, times_in
from metaagents.learning.times import at_end, at_front, resolved
from metaagents.lifecycle.periods import bounds, period_of
from tiers.errors import UsageError
from tiers.plans import GRAINS
from tiers.records import Grain

# When something was or will be, as people say it, is resolved by when they said it.

WEDNESDAY = datetime(2026, 3, 11, 9, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "ahead", "told", "first", "last"),
    [
        ("yesterday", False, "on 10 March 2026", "2026-03-10", "2026-03-10"),
        ("tomorrow", True, "on 12 March 2026", "2026-03-12", "2026-03-12"),
        ("on Sunday", False, "on Sunday 8 March 2026", "2026-03-08", "2026-03-08"),
        ("on Sunday", True, "on Sunday 15 March 2026", "2026-03-15", "2026-03-15"),
        ("on Wednesday", True, "on Wednesday 18 March 2026", "2026-03-18", "2026-03-18"),
        ("last month", False, "in February 2026", "2026-02-01", "2026-02-28"),
        ("last March", False, "in March 2025", "2025-03-01", "2025-03-31"),
        ("next March", True, "in March 2027", "2027-03-01", "2027-03-31"),
        ("last February", False, "in February 2026", "2026-02-01", "2026-02-28"),
        ("last week", False, "between 2 March and 8 March 2026", "2026-03-02", "2026-03-08"),
        ("next year", True, "in 2027", "2027-01-01", "2027-12-31"),
        ("two years ago", False, "in 2024", "2024-01-01", "2024-12-31"),
        ("a couple of months ago", False, "in January 2026", "2026-01-01", "2026-01-31"),
        ("nineteen years ago", False, "in 2007", "2007-01-01", "2007-12-31"),
        ("in two weeks", True, "on 25 March 2026", "2026-03-25", "2026-03-25"),
        ("in September", False, "in September 2025", "2025-09-01", "2025-09-30"),
        ("in June", True, "in June 2026", "2026-06-01", "2026-06-30"),
        ("last winter", False, "in winter 2025", "2025-12-01", "2026-02-28"),
        ("in spring", True, "in spring 2026", "2026-03-01", "2026-05-31"),
        ("on the 3rd of May", True, "on 3 May 2026", "2026-05-03", "2026-05-03"),
        ("in 2019", False, "in 2019", "2019-01-01", "2019-12-31"),
        ("at New Year", True, "at New Year 2027", "2027-01-01", "2027-01-01"),
        ("at New Year", False, "at New Year 2026", "2026-01-01", "2026-01-01"),
        ("at New Year 2028", True, "at New Year 2028", "2028-01-01", "2028-01-01"),
        ("on 2 May next year", True, "on 2 May 2027", "2027-05-02", "2027-05-02"),
        ("in May next year", True, "in May 2027", "2027-05-01", "2027-05-31"),
        ("on 2 May last year", False, "on 2 May 2025", "2025-05-02", "2025-05-02"),
    ],
)
def test_a_moment_is_told_with_its_date(
    said: str,
    ahead: bool,  # noqa: FBT001 - a row of the table
    told: str,
    first: str,
    last: str,
) -> None:
    """By the moment of saying it and by whether it lies behind or ahead."""
    when = resolved(said, WEDNESDAY, is_ahead=ahead)
    assert when.text == told
    assert when.days is not None
    assert [f"{day:%Y-%m-%d}" for day in (when.days.first, when.days.last)] == [first, last]


@pytest.mark.parametrize(
    ("said", "since", "until"),
    [
        ("since 2019", "2019-01-01", None),
        ("for ten years now", "2016-01-01", None),
        ("since last month", "2026-02-01", None),
        ("until June", None, "2026-06-30"),
        ("as of this week", "2026-03-09", None),
        ("from 2018 to 2020", "2018-01-01", "2020-12-31"),
        ("on 3 March 2024", "2024-03-03", None),
    ],
)
def test_a_time_bounds_what_was_said(said: str, since: str | None, until: str | None) -> None:
    """A beginning, an end, or both; of a moment, the beginning."""
    found = resolved(said, WEDNESDAY, is_ahead=False).validity()
    assert [day and f"{day:%Y-%m-%d}" for day in found] == [since, until]


def test_what_ended_at_a_moment_is_valid_until_then() -> None:
    """Of what is over, a moment is the end."""
    when = resolved("on 3 March 2024", WEDNESDAY, is_ahead=False)
    assert when.validity(is_over=True) == (None, datetime(2024, 3, 3, tzinfo=UTC))


@pytest.mark.parametrize("said", ["last month", "yesterday", "two years ago", "in June"])
def test_what_is_relative_stays_unresolved_without_its_moment(said: str) -> None:
    """Nobody guesses: no moment, no days."""
    when = resolved(said, None, is_ahead=False)
    assert (when.days, when.text) == (None, said)


@pytest.mark.parametrize(
    "said", ["tomorrow", "yesterday", "last week", "next Monday", "in 2 weeks"]
)
def test_what_no_calendar_has_stays_as_it_was_said(said: str) -> None:
    """At the first and the last day that there is; the hour stays with it."""
    for at in (datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)):
        assert resolved(f"{said} at nine", at, is_ahead=True).text.endswith("at nine")
    assert resolved("next Monday", at, is_ahead=True).days is None


def test_times_are_found_at_both_ends_of_a_clause() -> None:
    """What is no time stays where it is."""
    assert at_end("I moved to Rome last month") == ("I moved to Rome", "last month")
    assert at_front("In 2019 Ada left") == ("Ada left", "In 2019")
    assert at_end("I live in Rome") == ("I live in Rome", None)


# Calendar periods in a time zone: labels, bounds, and the edges of both.

BERLIN, UTC_ZONE = ZoneInfo("Europe/Berlin"), ZoneInfo("UTC")
ODD_ZONES = (
    "Europe/Berlin",
    "America/St_Johns",  # clocks put back at a minute past midnight, until 2011
    "America/Havana",  # midnight comes twice
    "Asia/Beirut",  # midnight is skipped
    "Pacific/Apia",  # a whole day is skipped, at the end of 2011
    "Pacific/Kiritimati",
    "Asia/Kathmandu",
)


def at(text: str) -> datetime:
    """Return a moment in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("moment", "labels"),
    [
        ("2026-11-20T12:00", ("2026-11-20", "2026-W47", "2026-11", "2026-Q4", "2026")),
        ("2020-12-31T12:00", ("2020-12-31", "2020-W53", "2020-12", "2020-Q4", "2020")),
        ("2021-01-03T12:00", ("2021-01-03", "2020-W53", "2021-01", "2021-Q1", "2021")),
        ("2021-01-04T12:00", ("2021-01-04", "2021-W01", "2021-01", "2021-Q1", "2021")),
        ("2026-12-27T12:00", ("2026-12-27", "2026-W52", "2026-12", "2026-Q4", "2026")),
        ("2026-12-28T12:00", ("2026-12-28", "2026-W53", "2026-12", "2026-Q4", "2026")),
        ("2027-01-03T12:00", ("2027-01-03", "2026-W53", "2027-01", "2027-Q1", "2027")),
        ("2027-01-04T12:00", ("2027-01-04", "2027-W01", "2027-01", "2027-Q1", "2027")),
        ("2024-12-30T12:00", ("2024-12-30", "2025-W01", "2024-12", "2024-Q4", "2024")),
        ("2026-12-31T22:59:59", ("2026-12-31", "2026-W53", "2026-12", "2026-Q4", "2026")),
        ("2026-12-31T23:00", ("2027-01-01", "2026-W53", "2027-01", "2027-Q1", "2027")),
    ],
)
def test_a_moment_has_one_label_per_grain(moment: str, labels: tuple[str, ...]) -> None:
    """Weeks are ISO weeks and carry the ISO year, which is not always the year."""
    assert tuple(period_of(at(moment), grain, BERLIN) for grain in GRAINS) == labels


@pytest.mark.parametrize(
    ("label", "grain", "starts", "ends"),
    [
        ("2026-10-25", "daily", "2026-10-24T22:00", "2026-10-25T23:00"),
        ("2026-03-29", "daily", "2026-03-28T23:00", "2026-03-29T22:00"),
        ("2026-W43", "weekly", "2026-10-18T22:00", "2026-10-25T23:00"),
        ("2026-W53", "weekly", "2026-12-27T23:00", "2027-01-03T23:00"),
        ("2026-12", "monthly", "2026-11-30T23:00", "2026-12-31T23:00"),
        ("2026-Q4", "quarterly", "2026-09-30T22:00", "2026-12-31T23:00"),
        ("2026", "yearly", "2025-12-31T23:00", "2026-12-31T23:00"),
    ],
)
def test_a_period_has_bounds_in_utc(label: str, grain: Grain, starts: str, ends: str) -> None:
    """The day on which clocks are put back has 25 hours, the other one 23."""
    assert bounds(label, grain, BERLIN) == (at(starts), at(ends))


@pytest.mark.parametrize(
    ("label", "grain"),
    [
        ("2026-02-30", "daily"),
        ("2026-2-3", "daily"),
        ("2026-11-20 ", "daily"),
        ("\u0662\u0660\u0662\u0666-11-20", "daily"),
        ("2026-W00", "weekly"),
        ("2025-W53", "weekly"),
        ("2026-W4", "weekly"),
        ("2026-13", "monthly"),
        ("2026-Q5", "quarterly"),
        ("2026-Q0", "quarterly"),
        ("0000", "yearly"),
        ("26", "yearly"),
        ("2026", "monthly"),
        ("", "daily"),
    ],
)
def test_what_is_no_label_is_refused(label: str, grain: Grain) -> None:
    """With an example of one that is accepted."""
    with pytest.raises(UsageError, match="such as"):
        bounds(label, grain, UTC_ZONE)


@pytest.mark.parametrize("name", ODD_ZONES)
def test_every_moment_is_inside_the_bounds_of_its_own_period(name: str) -> None:
    """Whatever the clocks of a zone did; and a period's neighbours touch it."""
    zone, random = ZoneInfo(name), Random(20260301)
    moments = [
        datetime(1980, 1, 1, tzinfo=UTC) + timedelta(minutes=random.randrange(50 * 525_960))
        for _ in range(200)
    ]
    # Every quarter of an hour of two days of each zone on which its clocks were put back.
    for day in ((2010, 11, 6), (2011, 12, 29), (2026, 10, 24), (2026, 10, 31)):
        start = datetime(*day, tzinfo=UTC)
        moments += [start + timedelta(minutes=15 * n + 1) for n in range(4 * 60)]
    for moment in moments:
        for grain in GRAINS:
            starts, ends = bounds(period_of(moment, grain, zone), grain, zone)
            assert starts <= moment < ends
            before = starts - timedelta(microseconds=1)
            assert bounds(period_of(before, grain, zone), grain, zone).ends == starts


def test_the_calendar_has_ends() -> None:
    """The first and the last moment have labels and bounds like any other."""
    for zone in (BERLIN, ZoneInfo("America/St_Johns"), UTC_ZONE):
        for moment in (datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)):
            for grain in GRAINS:
                starts, ends = bounds(period_of(moment, grain, zone), grain, zone)
                assert starts < ends


# Of which past a question asks, and which day it means by a number alone.

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


# What has no beginning or no end, and times that are told by their distance, on a Monday.

MONDAY = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "since", "until"),
    [
        ("before October", None, "2026-10-01"),
        ("before 10 September", None, "2026-09-10"),
        ("before the 10th of September", None, "2026-09-10"),
        ("prior to May 2024", None, "2024-05-01"),
        ("before 2020", None, "2020-01-01"),
        ("before November", None, "2026-11-01"),
        ("until 5 September", None, "2026-09-06"),
        ("until last week", None, "2026-11-30"),
        ("up to 2026-09-05", None, "2026-09-06"),
        ("after 20 November", "2026-11-21", None),
        ("after October", "2026-11-01", None),
        ("since 20 November", "2026-11-20", None),
        ("since the 20th", "2026-11-20", None),
        ("since Thursday", "2026-11-26", None),
        ("since Friday, 20 November", "2026-11-20", None),
        ("since November", "2026-11-01", None),
        ("since yesterday", "2026-11-29", None),
        ("the week before 10 October 2025", "2025-10-10", "2025-10-11"),
        ("between 5 and 9 October", "2026-10-05", "2026-10-10"),
        ("between October 5 and October 9", "2026-10-05", "2026-10-10"),
        ("from 5 October to 9 October 2025", "2025-10-05", "2025-10-10"),
        ("between 28 December and 3 January", "2025-12-28", "2026-01-04"),
        ("between 2019 and 2021", "2019-01-01", "2022-01-01"),
        ("from May to July", "2026-05-01", "2026-08-01"),
        ("12 days ago", "2026-11-18", "2026-11-19"),
        ("twelve days ago", "2026-11-18", "2026-11-19"),
        ("a few days ago", "2026-11-25", "2026-11-29"),
        ("in the last two weeks", "2026-11-16", "2026-12-01"),
        ("over the past 10 days", "2026-11-20", "2026-12-01"),
        ("the week before last", "2026-11-16", "2026-11-23"),
        ("the month before last", "2026-09-01", "2026-10-01"),
        ("last weekend", "2026-11-28", "2026-11-30"),
        ("the weekend before last", "2026-11-21", "2026-11-23"),
        ("on 03.10.2026", "2026-10-03", "2026-10-04"),
        ("on Friday, the 16th", "2026-10-16", "2026-10-17"),
        ("on Monday the 9th", "2026-11-09", "2026-11-10"),
    ],
)
def test_times_are_open_counted_or_reach_from_one_to_another(
    said: str, since: str | None, until: str | None
) -> None:
    """What is before a day is not in it; without a year, the last such days are meant."""
    bounds = (day(since) if since else EVER.since, day(until) if until else EVER.until)
    assert times_in(f"What did we do {said}?", MONDAY, ZONE) == ((TimeSpan(*bounds),), ())


@pytest.mark.parametrize(
    "text",
    [
        "What must we do before October?",
        "Is there anything due before Friday?",
        "Who counted between 5 and 9 people?",
        "What broke after 2000 laps?",
        "What was there after the 3rd attempt?",
        "What do we do between 5 and 9 December?",
    ],
)
def test_what_may_be_to_come_or_is_counted_names_no_past(text: str) -> None:
    """A deadline is not the last such day; a number is none."""
    assert times_in(text, MONDAY, ZONE) == ((), ())


@pytest.mark.parametrize(
    ("asked_on", "said", "since"),
    [
        ("2026-11-28", "last weekend", "2026-11-21"),
        ("2026-11-29", "this weekend", "2026-11-28"),
        ("2026-12-02", "last weekend", "2026-11-28"),
        ("2026-12-02", "this weekend", "2026-11-28"),
    ],
)
def test_a_weekend_is_saturday_and_sunday(asked_on: str, said: str, since: str) -> None:
    """The last is not the one that goes on; who asks what was done means no coming one."""
    (span,), _ = times_in(f"What did we do {said}?", day(asked_on), ZONE)
    assert span == TimeSpan(day(since), day(since) + timedelta(days=2))


def test_a_past_that_goes_on_has_no_end() -> None:
    """Who asks what was done since a day asks about what held then, too."""
    since = TimeSpan(day("2026-11-20"), EVER.until)
    assert read_cues("What did we use since 20 November?", (), MONDAY, ZONE).past == (since,)
    assert read_cues("What is new since 20 November?", (), MONDAY, ZONE).past == ()


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Ten racks 10 days ago", "Ten racks"),
        ("the plan before 10 May", "the plan"),
        ("from 5 to 9 May", ""),
        ("on 10 May 2026", "on 10 May 2026"),
        ("on Friday, the 16th", "on Friday, the 16th"),
        ("the log of 2026-10-03", "the log of"),
        ("figures of 2026-W10", "figures of"),
    ],
)
def test_only_named_days_are_words_of_a_date(text: str, named: str) -> None:
    """The 10 of "10 days ago" is no tenth of a month."""
    assert naming_days(text).split() == named.split()


def test_a_question_may_have_but_a_time_to_go_by() -> None:
    """Besides words that ask, and names of speakers."""
    for text, is_alone in (
        ("What did we do last week?", True),
        ("What did Ada say before October?", True),
        ("What happened on 03.10.2026?", True),
        ("What did we order last week?", False),
        ("What did we do?", False),
    ):
        assert read_cues(text, ("Ada",), MONDAY, ZONE).only_time is is_alone, text

"""When something was or will be, as people say it, is resolved by when they said it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from metaagents.learning.times import at_end, at_front, resolved

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

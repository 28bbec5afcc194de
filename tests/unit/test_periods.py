"""Calendar periods in a time zone: labels, bounds, and the edges of both."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random
from zoneinfo import ZoneInfo

import pytest

from metaagents.lifecycle.periods import bounds, period_of
from tiers.errors import UsageError
from tiers.plans import GRAINS
from tiers.records import Grain

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

"""Moments as integers, exact where engines store them as milliseconds or doubles; and by clocks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

UTC_ZONE = ZoneInfo("UTC")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def microseconds(moment: datetime) -> int:
    """Return the moment as integer microseconds since 1970; exact, negative before."""
    return (moment - _EPOCH) // _MICROSECOND


def maybe_microseconds(moment: datetime | None) -> int | None:
    """Return the moment as integer microseconds, or ``None`` where there is none."""
    return None if moment is None else microseconds(moment)


def earliest(*moments: datetime | None) -> datetime | None:
    """Return the first of some moments; ``None`` where there is none."""
    return min((one for one in moments if one is not None), default=None)


def moment(stored: int) -> datetime:
    """Return stored microseconds as a moment in UTC."""
    return _EPOCH + timedelta(0, 0, stored)


def local(moment: datetime, zone: tzinfo) -> datetime:
    """Return a moment by the clock of a zone; by its own at the ends of the calendar."""
    try:
        return moment.astimezone(zone)
    except OverflowError:
        return moment

"""Retention plans: how long each grain keeps its content. Pure.

The presets are those of Helpmaton (its Free, Starter and Pro subscriptions); ``keep`` destroys
nothing. Spans of days and longer are calendar spans: six months before 31 August is 28 or 29
February, whatever the number of days between.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Literal, NamedTuple, TypeAlias, get_args

from .fields import Grain

AnyGrain: TypeAlias = Literal["working", Grain]
Unit: TypeAlias = Literal["h", "d", "w", "mo", "q", "y"]

GRAINS: tuple[Grain, ...] = get_args(Grain)
ANY_GRAIN: tuple[AnyGrain, ...] = ("working", *GRAINS)
"""Finest first."""

COUNT_MAX = 1_000
_UNITS: tuple[Unit, ...] = get_args(Unit)
_MONTHS: Mapping[Unit, int] = {"mo": 1, "q": 3, "y": 12}
_HOURS: Mapping[Unit, int] = {"h": 1, "d": 24, "w": 168}
_PART = re.compile(r"(?P<grain>[a-z]+)=(?P<count>\d{1,4})(?P<unit>[a-z]{1,2})")


class Kept(NamedTuple):
    """How long something is kept: so many hours, days, weeks, months, quarters or years."""

    amount: int
    unit: Unit

    def since(self, now: datetime) -> datetime:
        """Return the moment from which on what ended is kept at ``now``."""
        if self.unit in _HOURS:
            return now - timedelta(hours=self.amount * _HOURS[self.unit])
        return _months_before(now, self.amount * _MONTHS[self.unit])


Plan: TypeAlias = Mapping[AnyGrain, Kept]
"""What a grain that is not named keeps, it keeps for ever."""

PLANS: Mapping[str, Plan] = {
    "keep": {},
    "free": {
        "working": Kept(48, "h"),
        "daily": Kept(30, "d"),
        "weekly": Kept(6, "w"),
        "monthly": Kept(6, "mo"),
        "quarterly": Kept(4, "q"),
        "yearly": Kept(2, "y"),
    },
    "starter": {
        "working": Kept(120, "h"),
        "daily": Kept(60, "d"),
        "weekly": Kept(12, "w"),
        "monthly": Kept(12, "mo"),
        "quarterly": Kept(8, "q"),
        "yearly": Kept(4, "y"),
    },
    "pro": {
        "working": Kept(240, "h"),
        "daily": Kept(120, "d"),
        "weekly": Kept(24, "w"),
        "monthly": Kept(24, "mo"),
        "quarterly": Kept(16, "q"),
        "yearly": Kept(8, "y"),
    },
}

ACCEPTED = (
    f"{', '.join(PLANS)}, or parts such as working=48h,daily=30d with the grains "
    f"{', '.join(ANY_GRAIN)} and the units {', '.join(_UNITS)}"
)


def plan_of(text: str) -> Plan:
    """Return a plan by its name, or read one such as ``working=48h,daily=30d,weekly=6w``.

    Raises:
        ValueError: It is neither; says what would be.
    """
    name = text.strip().casefold()
    if name in PLANS:
        return PLANS[name]
    found: dict[AnyGrain, Kept] = {}
    for part in name.replace(" ", "").split(","):
        match = _PART.fullmatch(part)
        grain = next((one for one in ANY_GRAIN if match and one == match["grain"]), None)
        unit = next((one for one in _UNITS if match and one == match["unit"]), None)
        count = int(match["count"]) if match else 0
        if grain is None or unit is None or grain in found or not 1 <= count <= COUNT_MAX:
            message = f"must be {ACCEPTED}; {part!r} is none"
            raise ValueError(message)
        found[grain] = Kept(count, unit)
    return found


def checked_plan(text: str) -> str:
    """Return a plan's text as it is stored.

    Raises:
        ValueError: It says none.
    """
    plan_of(text)
    return text.strip().casefold().replace(" ", "")


def _months_before(moment: datetime, months: int) -> datetime:
    """Return the same day and time some months earlier, or the month's last day if it is shorter.

    Before the first year there is nothing, and the first moment stands for that.
    """
    whole = moment.year * 12 + moment.month - 1 - months
    year, month = whole // 12, whole % 12 + 1
    if year < 1:
        return datetime.min.replace(tzinfo=moment.tzinfo)
    day = min(moment.day, calendar.monthrange(year, month)[1])
    return moment.replace(year=year, month=month, day=day)

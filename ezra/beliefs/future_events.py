"""Events of a belief log whose time lies ahead: a clock had jumped when one of them was recorded.

Times in a log never fall, so whatever follows such an event is stamped as it is, until the clocks
get there. What is active is not touched by it; only questions about a time are.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from tiers.records import Scope

from ..checks import SKEW
from ..runtime import Runtime


@dataclass(frozen=True)
class FutureEvents:
    """The events at the end of a log that are stamped later than now.

    Attributes:
        first: The first of them.
        last: The last, which is the last of the log.
        until: When the last says that it was recorded.
        now: The time by the clock of this process.
    """

    first: int
    last: int
    until: datetime
    now: datetime

    def __str__(self) -> str:
        days = (self.until - self.now) / timedelta(days=1)
        which = (
            f"event {self.first}"
            if self.first == self.last
            else f"events {self.first} to {self.last}"
        )
        return (
            f"{which}: recorded at {self.until:%Y-%m-%d %H:%M} UTC, {days:.1f} days ahead of"
            " this clock: a clock had jumped, or this one is behind. Nothing is lost, and as of"
            " now counts all events; set the clocks right, and ask for the past by turn or seq"
        )


async def future_events(runtime: Runtime, scope: Scope) -> FutureEvents | None:
    """Return the events of a graph's log whose time lies in the future, if there are any."""
    whole, now = scope.for_graph(), runtime.clock()
    last = await runtime.history.seq_at(whole)
    if not last:
        return None
    (event,) = await runtime.history.events(whole, last - 1, 1)
    if event.recorded_at <= now + SKEW:
        return None
    first = 1 + await runtime.history.seq_at(whole, time=now + SKEW)
    return FutureEvents(first, last, event.recorded_at, now)

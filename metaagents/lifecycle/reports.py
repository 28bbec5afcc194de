"""What lifecycle passes say they did, and how much one of them may do."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from datetime import datetime

TEXTS_PER_PASS = 2_000
TEXTS_PER_SLOW_PASS = 64
"""Where a language model writes them."""

SECONDS_PER_PASS = 300.0
"""Well under what a worker gives its handlers; what is left is done by the next pass."""


@dataclass(frozen=True)
class LifecycleReport:
    """What lifecycle passes did.

    Attributes:
        summaries_written: New level-0 summaries.
        turns_covered: Turns that these summaries stand for.
        turns_waiting: Overflowed turns that still wait for company, after the pass.
        episodes_written: New episodes of any grain.
        episodes_by_grain: The same by grain; a grain of which there are none is left out.
        entries_evicted: Warm entries removed because they had expired.
        beliefs_retired: Beliefs that lost their content because the graph's retention says so.
        problems: Work that failed, and why; it is tried again.
    """

    summaries_written: int = 0
    turns_covered: int = 0
    turns_waiting: int = 0
    episodes_written: int = 0
    entries_evicted: int = 0
    beliefs_retired: int = 0
    problems: tuple[str, ...] = ()
    episodes_by_grain: dict[str, int] = field(default_factory=dict)

    def since(self, before: LifecycleReport) -> LifecycleReport:
        """Return what was counted after ``before``."""
        by_grain = {
            grain: count - before.episodes_by_grain.get(grain, 0)
            for grain, count in self.episodes_by_grain.items()
        }
        return LifecycleReport(
            summaries_written=self.summaries_written - before.summaries_written,
            turns_covered=self.turns_covered - before.turns_covered,
            episodes_written=self.episodes_written - before.episodes_written,
            entries_evicted=self.entries_evicted - before.entries_evicted,
            episodes_by_grain={grain: count for grain, count in by_grain.items() if count},
        )

    def plus(
        self, *, summaries: int = 0, turns: int = 0, evicted: int = 0, **episodes: int
    ) -> LifecycleReport:
        """Return the report with more of it; ``episodes`` are counts by grain."""
        by_grain = dict(self.episodes_by_grain)
        for grain, count in episodes.items():
            by_grain[grain] = by_grain.get(grain, 0) + count
        return replace(
            self,
            summaries_written=self.summaries_written + summaries,
            turns_covered=self.turns_covered + turns,
            episodes_written=self.episodes_written + sum(episodes.values()),
            entries_evicted=self.entries_evicted + evicted,
            episodes_by_grain=by_grain,
        )


@dataclass(frozen=True)
class Waiting:
    """Overflowed turns that wait for company, or for the next pass.

    Attributes:
        turns: How many, as far as the pass has seen.
        until: When the first of them is compressed even without it; ``None`` if none waits.
    """

    turns: int
    until: datetime | None


class Pace:
    """How much one pass has done, and whether that is enough for now.

    Args:
        is_slow: Whether a language model writes the texts.
    """

    def __init__(self, *, is_slow: bool) -> None:
        self._left = TEXTS_PER_SLOW_PASS if is_slow else TEXTS_PER_PASS
        self._ends_at = asyncio.get_running_loop().time() + SECONDS_PER_PASS

    def count(self) -> None:
        """Note that a text was written."""
        self._left -= 1

    @property
    def is_over(self) -> bool:
        """Whether the rest is for the next pass."""
        return self._left <= 0 or asyncio.get_running_loop().time() >= self._ends_at

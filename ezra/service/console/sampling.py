"""What the charts show: a bounded number of recent samples, numbers only.

A sample is the depth of the queue and how long requests and recalls took since the sample before,
out of the numbers that the runtime counts anyway.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias
from weakref import WeakKeyDictionary

from prometheus_client import CollectorRegistry

from tiers.errors import TierError
from tiers.ids import Clock, system_clock

from ..handle_pool import HandlePool

EVERY_SECONDS = 5.0
KEPT = 180
"""A quarter of an hour."""

SLOW_SHARE = 0.95
TIMERS: Mapping[str, str] = {
    "requests": "ezra_http_request_seconds",
    "recalls": "ezra_recall_seconds",
    "event loop": "ezra_event_loop_lag_seconds",
}
"""What is timed, and what Prometheus calls it."""

COUNTERS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "turns": ("ezra_turns_total", {"event": "written"}),
    "recalls": ("ezra_recall_seconds_count", {}),
    "promotions": ("ezra_fact_moves_total", {"tier": "core"}),
    "contradictions": ("ezra_contradictions_total", {}),
}
"""What is counted, what Prometheus calls it, and with which labels."""

PARKED = "parked"

Waiting: TypeAlias = Mapping[str, int]


@dataclass(frozen=True)
class Timing:
    """What a histogram holds: so many observations, their sum, and how many up to each bound."""

    count: float = 0.0
    seconds: float = 0.0
    up_to: Mapping[float, float] = field(default_factory=dict)

    def since(self, before: Timing) -> Timing:
        """Return what came to it."""
        up_to = {bound: n - before.up_to.get(bound, 0.0) for bound, n in self.up_to.items()}
        return Timing(self.count - before.count, self.seconds - before.seconds, up_to)

    @property
    def mean_ms(self) -> float | None:
        """The mean in milliseconds; ``None`` of nothing."""
        return 1000 * self.seconds / self.count if self.count > 0 else None

    @property
    def slow_ms(self) -> float | None:
        """What ``SLOW_SHARE`` stayed below, between the bounds around it as if evenly spread.

        As Prometheus' ``histogram_quantile``; the greatest finite bound for what lies beyond it.
        """
        if self.count <= 0:
            return None
        wanted, low, below = SLOW_SHARE * self.count, 0.0, 0.0
        for bound, count in sorted(self.up_to.items()):
            if count >= wanted and bound != float("inf"):
                return 1000 * (low + (bound - low) * (wanted - below) / max(count - below, 1e-9))
            if bound != float("inf"):
                low, below = bound, count
        return 1000 * low


@dataclass(frozen=True)
class Sample:
    """One look.

    Attributes:
        at: When.
        waiting: How much work waited, by kind; ``None`` while the cold tier did not answer.
        mean_ms: How long things took in the mean since the look before, by name.
        slow_ms: What most of them stayed below.
        come: How many of what is counted came since the look before, by name.
    """

    at: datetime
    waiting: Waiting | None
    mean_ms: Mapping[str, float | None]
    slow_ms: Mapping[str, float | None]
    come: Mapping[str, float] = field(default_factory=dict)


class Sampler:
    """Looks every few seconds, and remembers the last ``KEPT`` looks.

    Args:
        pool: Whose runtime is looked at.
        clock: When a sample was taken.
        seconds: Monotonic seconds.
    """

    def __init__(
        self,
        pool: HandlePool,
        clock: Clock = system_clock,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ezra = pool.ezra
        self._registry = pool.telemetry.numbers.registry
        self._clock = clock
        self._seconds = seconds
        self._samples: deque[Sample] = deque(maxlen=KEPT)
        self._last: float | None = None
        self._before: dict[str, Timing] = {}
        self._counted: dict[str, float] = {}
        self._looking = asyncio.Lock()

    async def look(self) -> tuple[Sample, ...]:
        """Take a sample if it is time for one; return all that are kept, oldest first."""
        async with self._looking:
            now = self._seconds()
            if self._last is None or now - self._last >= EVERY_SECONDS:
                self._last = now
                self._samples.append(await self._sample())
            return tuple(self._samples)

    async def _sample(self) -> Sample:
        waiting: Waiting | None = None
        try:
            waiting = await self._ezra.waiting_work()
        except TierError:
            waiting = None
        found = {name: timing_of(self._registry, metric) for name, metric in TIMERS.items()}
        come = {name: one.since(self._before.get(name, one)) for name, one in found.items()}
        self._before = found
        counted = {name: count_of(self._registry, *one) for name, one in COUNTERS.items()}
        grown = {name: n - self._counted.get(name, n) for name, n in counted.items()}
        self._counted = counted
        return Sample(
            self._clock(),
            waiting,
            {name: one.mean_ms for name, one in come.items()},
            {name: one.slow_ms for name, one in come.items()},
            grown,
        )


def timing_of(registry: CollectorRegistry, metric: str) -> Timing:
    """Return what a histogram holds, all its labels together."""
    names = [f"{metric}{end}" for end in ("_count", "_sum", "_bucket")]
    count = seconds = 0.0
    up_to: dict[float, float] = {}
    for family in registry.restricted_registry(names).collect():
        for sample in family.samples:
            if sample.name == names[0]:
                count += sample.value
            elif sample.name == names[1]:
                seconds += sample.value
            elif sample.name == names[2]:
                bound = float(sample.labels["le"])
                up_to[bound] = up_to.get(bound, 0.0) + sample.value
    return Timing(count, seconds, up_to)


def count_of(registry: CollectorRegistry, metric: str, labels: Mapping[str, str]) -> float:
    """Return what a counter has come to with these labels, whatever the others say."""
    return sum(
        sample.value
        for family in registry.restricted_registry([metric]).collect()
        for sample in family.samples
        if sample.name == metric and labels.items() <= sample.labels.items()
    )


def kinds_of(samples: Iterable[Sample]) -> tuple[str, ...]:
    """Return the kinds of work that waited at any time, what is parked last."""
    kinds = dict.fromkeys(
        kind
        for sample in samples
        for kind, count in (sample.waiting or {}).items()
        if count and kind != PARKED
    )
    return (*kinds, PARKED)


_samplers: WeakKeyDictionary[HandlePool, Sampler] = WeakKeyDictionary()


def sampler_of(pool: HandlePool) -> Sampler:
    """Return the sampler of a pool, made when new; it lives as long as the pool."""
    found = _samplers.get(pool)
    if found is None:
        found = _samplers[pool] = Sampler(pool)
    return found


async def look_on(pool: HandlePool) -> None:
    """Look at a runtime, whether or not anybody opens the charts; it has no end."""
    while True:
        await sampler_of(pool).look()
        await asyncio.sleep(EVERY_SECONDS)

"""What a tier's engine says about itself, for ``ezra doctor``."""

from __future__ import annotations

import statistics
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from pydantic import Field, JsonValue

from .records import Record

ROUND_TRIPS = 5


class TierHealth(Record):
    """One tier as it was found.

    Attributes:
        tier: ``hot``, ``warm``, ``cold``, ``embedding`` or ``model``.
        engine: What answers, by name: ``redis``, ``in-process``, ``qdrant``, ``sqlite`` and so on.
        version: The engine's own, if it tells.
        reachable: Whether it answered at all.
        round_trip_ms: Median of a few minimal round trips, in milliseconds.
        details: What else is known, for people: indexes, persistence, roles.
        problems: What is wrong, each with what to do about it. Empty when all is well.
    """

    tier: str
    engine: str
    version: str = ""
    reachable: bool = True
    round_trip_ms: float | None = None
    details: dict[str, JsonValue] = Field(default_factory=dict)
    problems: tuple[str, ...] = ()


@dataclass
class Findings:
    """What is known so far of a tier that is looked at; attributes as of ``TierHealth``."""

    tier: str
    engine: str
    version: str = ""
    reachable: bool = False
    round_trip_ms: float | None = None
    details: dict[str, JsonValue] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def as_health(self) -> TierHealth:
        """Return all of it."""
        return TierHealth.model_validate(self.__dict__)


async def round_trip_ms(call: Callable[[], Awaitable[object]]) -> float:
    """Return the median of a few calls in milliseconds, after one that opens the connection."""
    await call()
    took: list[float] = []
    for _ in range(ROUND_TRIPS):
        began = time.perf_counter()
        await call()
        took.append((time.perf_counter() - began) * 1000)
    return round(statistics.median(took), 3)

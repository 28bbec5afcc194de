"""What a tier's engine says about itself, for ``ezra doctor``."""

from __future__ import annotations

from pydantic import Field, JsonValue

from .records import Record


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

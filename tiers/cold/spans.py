"""From when until when a fact was core. Pure; the stores keep it with the fact."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ..records import Fact, FactTier, Span


def begun(fact: Fact) -> Fact:
    """Return a new fact with its first core span, if it is core, and without any other."""
    spans = (Span(since=fact.recorded_at),) if fact.tier == "core" else ()
    return fact.model_copy(update={"core_spans": spans})


def moved(spans: Sequence[Span], tier: FactTier, now: datetime) -> tuple[Span, ...]:
    """Return the spans after a fact was moved to ``tier`` at ``now``.

    A clock that went back makes an empty span, never one that ends before it begins.
    """
    if tier == "core":
        return (*spans, Span(since=now))
    *closed, last = spans
    return (*closed, Span(since=last.since, until=max(now, last.since)))

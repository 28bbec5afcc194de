"""Beliefs as bars over time, as plain data which a template draws: one lane per subject. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from tiers.fencing import cut
from tiers.records import HistoricBelief

from ...beliefs.spans import BeliefLife, Held

FULL = 1000.0
"""How wide a lane is, in the units of its drawing."""

ROW = 10.0
BAR = 8.0
NARROWEST = 6.0
"""A belief that stood for a moment only is seen nevertheless."""

LABEL_CHARS = 60
TICKS = 3


@dataclass(frozen=True)
class Bar:
    """A span in which a belief was active.

    Attributes:
        belief: Which.
        held: The span.
        look: How it ended, or ``active``; for one that came with a branch, ``adopted`` besides.
        x: Where it begins.
        y: Its place where several of a lane overlap.
        width: How long it is.
        is_now: Whether it was active at the moment that is looked at.
    """

    belief: HistoricBelief
    held: Held
    look: str
    x: float
    y: float
    width: float
    is_now: bool


@dataclass(frozen=True)
class Lane:
    """What was held about one thing: beliefs of one topic and key, or a claim without a key."""

    topic: str | None
    label: str
    has_key: bool
    bars: tuple[Bar, ...]
    height: float


@dataclass(frozen=True)
class Tick:
    """A time at the edge of the drawing, in percent from the left."""

    at: float
    when: datetime


@dataclass(frozen=True)
class Timeline:
    """Lanes over one stretch of time.

    Attributes:
        lanes: In order of the first belief of each.
        ticks: Times from its beginning to its end.
        now_at: Where the moment stands that is looked at; ``None`` when it is outside.
        width: Of every lane.
    """

    lanes: tuple[Lane, ...]
    ticks: tuple[Tick, ...]
    now_at: float | None
    width: float = FULL


def timeline(lives: Sequence[BeliefLife], seq: int, at: datetime | None) -> Timeline:
    """Return beliefs as lanes of bars.

    Args:
        lives: The beliefs with their spans.
        seq: The event after which is looked.
        at: When that was recorded; ``None`` before the first event.
    """
    moments = [*_moments(lives), *([] if at is None else [at])]
    if not moments:
        return Timeline((), (), None)
    first, last = min(moments), max(moments)
    # What lasts goes on a little behind the last thing that happened.
    last += max((last - first) / 20, timedelta(seconds=1))

    def x(moment: datetime) -> float:
        return round((moment - first) / (last - first) * FULL, 2)

    lanes: dict[tuple[object, ...], list[Bar]] = {}
    for life in lives:
        for held in life.held:
            start, end = x(held.since), FULL if held.until is None else x(held.until)
            width = max(NARROWEST, end - start)
            start = min(start, FULL - width)
            is_now = held.since_seq <= seq and (held.until_seq is None or seq < held.until_seq)
            bar = Bar(life.belief, held, _look(life, held), start, 0.0, width, is_now)
            lanes.setdefault(_lane_of(life.belief), []).append(bar)
    ticks = (
        Tick(100 * step / (TICKS - 1), first + (last - first) * (step / (TICKS - 1)))
        for step in range(TICKS)
    )
    now_at = None if at is None else x(at)
    return Timeline(tuple(map(_lane, lanes.values())), tuple(ticks), now_at)


def _moments(lives: Iterable[BeliefLife]) -> list[datetime]:
    spans = [held for life in lives for held in life.held]
    ends = [held.until for held in spans if held.until is not None]
    return [held.since for held in spans] + ends


def _lane_of(belief: HistoricBelief) -> tuple[object, ...]:
    """Return what shares a lane: of one key, at most one of a user and a privacy is active."""
    return (belief.topic, *(belief.key or (None, belief.id)))


def _look(life: BeliefLife, held: Held) -> str:
    """Return how a span ended. Only of the last one the log's end says why; others came back."""
    if held.until_seq is None:
        ended = "active"
    elif held.until_seq == life.belief.ended_seq:
        ended = life.belief.status
    else:
        ended = "interrupted"
    return f"{ended} adopted" if life.belief.origin_id else ended


def _lane(bars: Sequence[Bar]) -> Lane:
    """Return a lane with its bars on as many rows as overlap."""
    ends: list[float] = []
    placed = []
    for bar in sorted(bars, key=lambda one: (one.x, one.held.since_seq)):
        row = next((i for i, end in enumerate(ends) if end <= bar.x), len(ends))
        ends[row : row + 1] = [bar.x + bar.width]
        y = row * ROW + (ROW - BAR) / 2
        placed.append(Bar(bar.belief, bar.held, bar.look, bar.x, y, bar.width, bar.is_now))
    first = placed[0].belief
    label = " · ".join(first.key) if first.key else first.claim
    return Lane(
        first.topic, cut(label, LABEL_CHARS), first.key is not None, tuple(placed), ROW * len(ends)
    )

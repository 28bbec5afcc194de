"""The geometry of charts as plain data, which templates draw as SVG. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

WIDTH, HEIGHT = 420.0, 190.0
LEFT, RIGHT, TOP, BOTTOM = 46.0, 8.0, 10.0, 24.0
TICKS = 4
TIMES = 2
FULL = 100.0
"""How wide the longest bar is."""

_NICE = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True)
class Tick:
    """A place on an axis, and what it says."""

    at: float
    label: str


@dataclass(frozen=True)
class Line:
    """One line of a chart.

    Attributes:
        name: What it shows.
        path: As SVG takes it; broken where a value is missing.
        dots: Values that stand alone between missing ones: no line would show them.
        last: The newest value there is.
        most: The greatest.
    """

    name: str
    path: str
    dots: tuple[tuple[float, float], ...]
    last: float | None
    most: float | None


@dataclass(frozen=True)
class LineChart:
    """Values over time: lines and both axes, in one system of coordinates."""

    lines: tuple[Line, ...]
    levels: tuple[Tick, ...]
    times: tuple[Tick, ...]
    width: float = WIDTH
    height: float = HEIGHT
    left: float = LEFT
    right: float = WIDTH - RIGHT
    bottom: float = HEIGHT - BOTTOM

    @property
    def is_empty(self) -> bool:
        """Whether no line has a value."""
        return all(line.last is None for line in self.lines)


@dataclass(frozen=True)
class Segment:
    """A part of a bar.

    Attributes:
        name: What it stands for.
        value: What it adds; below 0 what it takes off the end of the bar.
        at: Where it begins, of ``FULL``.
        width: How wide it is.
    """

    name: str
    value: float
    at: float
    width: float


def line_chart(
    moments: Sequence[datetime],
    series: Mapping[str, Sequence[float | None]],
    least: float = 0.0,
) -> LineChart:
    """Return lines over the same moments; the scale begins at 0.

    Args:
        moments: When each value was taken, oldest first.
        series: Values by the name of their line; ``None`` where there was none.
        least: The scale ends no lower.
    """
    known = [value for values in series.values() for value in values if value is not None]
    top = ceiling(max((least, *known)))
    first = moments[0].timestamp() if moments else 0.0
    span = (moments[-1].timestamp() - first) if moments else 0.0

    def x(when: float) -> float:
        share = (when - first) / span if span > 0 else 1.0
        return _rounded(LEFT + share * (WIDTH - LEFT - RIGHT))

    def y(value: float) -> float:
        return _rounded(HEIGHT - BOTTOM - value / top * (HEIGHT - TOP - BOTTOM))

    places = [x(moment.timestamp()) for moment in moments]
    lines = tuple(_line(name, places, values, y) for name, values in series.items())
    levels = tuple(
        Tick(y(top * step / TICKS), f"{top * step / TICKS:g}") for step in range(TICKS + 1)
    )
    return LineChart(lines, levels, _times(first, span, x) if moments else ())


def ceiling(value: float) -> float:
    """Return the next round number that is not below a value; 1 for nothing."""
    if value <= 0:
        return 1.0
    size = 10.0 ** math.floor(math.log10(value))
    return next(step * size for step in _NICE if step * size >= value * (1 - 1e-9))


def stacked(parts: Mapping[str, float], most: float) -> tuple[Segment, ...]:
    """Return the parts of a sum as segments of one bar.

    What adds stands side by side from the left; what takes off lies over the end of that.

    Args:
        parts: What the sum is made of, by name.
        most: The sum that would be ``FULL`` wide.
    """
    scale = FULL / most if most > 0 else 0.0
    segments: list[Segment] = []
    end = 0.0
    for name, value in sorted(parts.items(), key=lambda part: part[1] < 0):
        width = abs(value) * scale
        at = end if value >= 0 else max(0.0, end - width)
        segments.append(Segment(name, value, _rounded(at), _rounded(width)))
        end = end + width if value >= 0 else at
    return tuple(segments)


def spans(
    since: datetime, until: datetime, held: Sequence[tuple[datetime, datetime | None]]
) -> tuple[Segment, ...]:
    """Return spans of time as segments of a bar that reaches from one moment to another."""
    whole = (until - since).total_seconds()
    if whole <= 0:
        return ()
    found = []
    for begun, ended in held:
        at = max(0.0, (begun - since).total_seconds() / whole)
        end = min(1.0, ((ended or until) - since).total_seconds() / whole)
        if end > at:
            seconds = (end - at) * whole
            found.append(Segment("core", seconds, _rounded(at * FULL), _rounded((end - at) * FULL)))
    return tuple(found)


def _line(
    name: str,
    places: Sequence[float],
    values: Sequence[float | None],
    y: Callable[[float], float],
) -> Line:
    path: list[str] = []
    dots: list[tuple[float, float]] = []
    known = [value for value in values if value is not None]
    before: float | None = None
    for place, (x, value) in enumerate(zip(places, values, strict=True)):
        if value is not None:
            path.append(f"{'M' if before is None else 'L'}{x:g} {y(value):g}")
            is_last = place + 1 == len(values) or values[place + 1] is None
            if before is None and is_last:
                dots.append((x, y(value)))
        before = value
    last, most = (known[-1], max(known)) if known else (None, None)
    return Line(name, "".join(path), tuple(dots), last, most)


def _times(first: float, span: float, x: Callable[[float], float]) -> tuple[Tick, ...]:
    """Return moments of the time axis, some way apart."""
    steps = range(TIMES + 1) if span > 0 else (TIMES,)
    whens = [first + span * step / TIMES for step in steps]
    return tuple(Tick(x(when), f"{datetime.fromtimestamp(when, UTC):%H:%M:%S}") for when in whens)


def _rounded(value: float) -> float:
    return round(value, 2)

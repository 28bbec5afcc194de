"""How times grow with agents and with records, as a picture: an SVG without anything foreign."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

from .results import Report, over, shown

WIDTH, HEIGHT = 460, 300
LEFT, TOP, RIGHT, BOTTOM = 54, 34, 12, 44
COLOURS = ("#1b6ac9", "#c8571b", "#2c8a4b", "#7a4bb5", "#8a8a1b", "#b53b6e")
CHARTS = (
    ("agents", "p50", "p50 of a turn, by agents"),
    ("agents", "p99", "p99 of a turn, by agents"),
    ("recall", "p50", "p50 of a recall, by turns in the memory"),
    ("growth", "processor time of a turn", "processor time of a turn, by turns in the memory"),
)

Points = Sequence[tuple[int, float]]


def picture(report: Report) -> str:
    """Return the picture of a report, a chart beside the other; both axes are logarithmic."""
    charts = [
        (title, lines)
        for section, name, title in CHARTS
        if (lines := over(report.figures, section, name))
    ]
    columns = min(2, max(1, len(charts)))
    rows = -(-len(charts) // columns)
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" font-size="11"',
        f' viewBox="0 0 {WIDTH * columns} {HEIGHT * max(1, rows)}">',
        "<style>text{fill:#333}@media(prefers-color-scheme:dark){text{fill:#ddd}}</style>",
    ]
    for number, (title, lines) in enumerate(charts):
        x, y = WIDTH * (number % columns), HEIGHT * (number // columns)
        parts += [f'<g transform="translate({x} {y})">', *_chart(title, lines), "</g>"]
    return "\n".join([*parts, "</svg>", ""])


def _chart(title: str, lines: Mapping[str, Points]) -> list[str]:
    points = [point for line in lines.values() for point in line]
    across = _Axis([at for at, _ in points], LEFT, WIDTH - RIGHT)
    up = _Axis([value for _, value in points], HEIGHT - BOTTOM, TOP)
    parts = [f'<text x="{LEFT}" y="16" font-weight="bold">{escape(title)}</text>']
    for value in up.marks():
        y = up.place(value)
        parts.append(
            f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#8884"/>'
            f'<text x="{LEFT - 4}" y="{y + 4:.1f}" text-anchor="end">{shown(value)} ms</text>'
        )
    for at in sorted({at for at, _ in points}):
        x = across.place(at)
        parts.append(
            f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{at:,}</text>'
        )
    for number, (name, line) in enumerate(lines.items()):
        parts += _line(name, line, number, across, up)
    return parts


def _line(name: str, line: Points, number: int, across: _Axis, up: _Axis) -> list[str]:
    colour = COLOURS[number % len(COLOURS)]
    places = [(across.place(at), up.place(value)) for at, value in line]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    dots = (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places)
    legend = LEFT + number * (WIDTH - LEFT) // len(COLOURS)
    return [
        f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>',
        *dots,
        f'<text x="{legend}" y="{HEIGHT - 8}" style="fill:{colour}">{escape(name)}</text>',
    ]


class _Axis:
    """Places of values between two ends, logarithmically."""

    def __init__(self, values: Sequence[float], start: float, end: float) -> None:
        above = [value for value in values if value > 0] or [1.0]
        self._low = math.log10(min(above)) - 0.1
        self._high = math.log10(max(above)) + 0.1
        self._start, self._end = start, end

    def place(self, value: float) -> float:
        """Return where a value stands."""
        at = math.log10(value) if value > 0 else self._low
        share = (at - self._low) / (self._high - self._low)
        return self._start + share * (self._end - self._start)

    def marks(self) -> list[float]:
        """Return round values on the way: 1, 2 and 5 of each power of ten."""
        powers = range(math.floor(self._low), math.ceil(self._high) + 1)
        values = [step * 10.0**power for power in powers for step in (1, 2, 5)]
        return [value for value in values if self._low <= math.log10(value) <= self._high]

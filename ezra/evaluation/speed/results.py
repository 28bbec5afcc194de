"""What ``ezra bench`` found, as lines for people and one document for programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from .machine import Machine

MANY = 1_000
"""From here on a figure is told without its fractions."""


@dataclass(frozen=True)
class Figure:
    """One figure.

    Attributes:
        section: Of which part of the run.
        case: Under what conditions.
        name: What was measured.
        value: How much.
        unit: Of what.
        beside: The same of who is compared with it in this run, by name.
        at: Agents or records, for the picture.
    """

    section: str
    case: str
    name: str
    value: float
    unit: str = "ms"
    beside: tuple[tuple[str, float], ...] = ()
    at: int | None = None

    def cells(self) -> tuple[str, ...]:
        """Return the line of a table."""
        compared = (
            f"{who} {shown(other)} ({self.value / other:.2f} times)" for who, other in self.beside
        )
        value = f"{shown(self.value)} {self.unit}"
        return (self.section, self.case, self.name, value, ", ".join(compared))


@dataclass(frozen=True)
class Report:
    """What a run found."""

    machine: Machine
    figures: tuple[Figure, ...]

    def as_json(self) -> dict[str, Any]:
        """Return all of it as one document."""
        figures = [
            {
                **asdict(figure),
                "beside": {
                    who: {"value": other, "ratio": figure.value / other}
                    for who, other in figure.beside
                },
            }
            for figure in self.figures
        ]
        return {"machine": asdict(self.machine), "figures": figures}


def shown(value: float) -> str:
    """Return a figure with as many digits as it deserves."""
    return f"{value:,.0f}" if value >= MANY else f"{value:.3g}"


def over(figures: Iterable[Figure], section: str, name: str) -> dict[str, list[tuple[int, float]]]:
    """Return how a figure grows, for each case and each of who is compared: points in order."""
    found: dict[str, list[tuple[int, float]]] = {}
    for figure in figures:
        if (figure.section, figure.name) != (section, name) or figure.at is None:
            continue
        case = figure.case.partition(", ")[2] or figure.case
        found.setdefault(case, []).append((figure.at, figure.value))
        for who, other in figure.beside:
            found.setdefault(who, []).append((figure.at, other))
    return {name: sorted(set(points)) for name, points in found.items()}


def headings() -> Sequence[str]:
    """Return what the cells of a figure are."""
    return ("section", "case", "figure", "value", "beside it (ours / theirs)")

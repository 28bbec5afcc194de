"""What ``ezra bench`` found, as lines for people and one document for programs.

With it goes what the figures were measured on, and how fast that is by itself.
"""

from __future__ import annotations

import hashlib
import os
import platform
import statistics
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

_CPU_INFO = Path("/proc/cpuinfo")
_ROUNDS = 5
_ADDED = 1_000_000
_HASHED = bytes(20_000_000)


@dataclass(frozen=True)
class Machine:
    """What the figures were measured on.

    Attributes:
        python_ms: Processor time of adding a million numbers in Python.
        hash_ms: Of hashing 20 MB by SHA-256.
        load: Processes that wanted to run in the last minute, on the average; 0 where unknown.
    """

    ezra: str
    processor: str
    cores: int
    system: str
    python: str
    python_ms: float
    hash_ms: float
    load: float


def this_machine() -> Machine:
    """Return what this machine is and how fast: the median of a few rounds."""
    rounds = [(_python_ms(), _hash_ms()) for _ in range(_ROUNDS)]
    return Machine(
        ezra=version("ezra"),
        processor=_processor(),
        cores=os.cpu_count() or 1,
        system=f"{platform.system()} {platform.release()}",
        python=platform.python_version(),
        python_ms=statistics.median(one for one, _ in rounds),
        hash_ms=statistics.median(two for _, two in rounds),
        load=os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0,
    )


def _python_ms() -> float:
    started = time.process_time()
    total = 0
    for number in range(_ADDED):
        total += number
    return 1000 * (time.process_time() - started)


def _hash_ms() -> float:
    started = time.process_time()
    hashlib.sha256(_HASHED).digest()
    return 1000 * (time.process_time() - started)


def _processor() -> str:
    if _CPU_INFO.exists():
        for line in _CPU_INFO.read_text(encoding="utf-8", errors="replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()


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

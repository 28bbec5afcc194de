"""What a trial came to, and the table of all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

FINDINGS_SHOWN = 8


@dataclass(frozen=True)
class Finding:
    """Something that must not be: what, by which attempt or attempts."""

    what: str
    by: str
    method: str

    def __str__(self) -> str:
        return f"{self.what}\n  by {self.by}"


@dataclass
class Report:
    """What came of attacking one backend.

    Attributes:
        backend: Its name.
        attempts: How many calls were made.
        by_class: How many of each class of attack.
        leaks: What was given away.
        mutations: What was changed outside the scope.
        refused: How many calls were refused with an error of ours.
        shown: How many records were rightly shown: a suite that sees none proves nothing.
        answered: Which methods gave an answer at least once.
        seconds: How long it took, planting included.
    """

    backend: str
    attempts: int = 0
    by_class: Counter[str] = field(default_factory=Counter)
    leaks: list[Finding] = field(default_factory=list)
    mutations: list[Finding] = field(default_factory=list)
    refused: int = 0
    shown: int = 0
    answered: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    @property
    def findings(self) -> list[Finding]:
        """Everything that must not be."""
        return [*self.leaks, *self.mutations]

    @property
    def is_clean(self) -> bool:
        """Whether nothing leaked and nothing was changed."""
        return not self.findings

    def as_dict(self) -> dict[str, Any]:
        """Return the figures in JSON's types."""
        return {
            "backend": self.backend,
            "attempts": self.attempts,
            "by_class": dict(sorted(self.by_class.items())),
            "leaks": len(self.leaks),
            "mutations": len(self.mutations),
            "refused": self.refused,
            "records_rightly_shown": self.shown,
            "seconds": round(self.seconds, 1),
            "findings": [str(finding) for finding in self.findings[:FINDINGS_SHOWN]],
        }

    def told(self) -> str:
        """Return the findings for people, the first of each method."""
        first = {(one.method, one.what[:20]): one for one in reversed(self.findings)}
        shown = list(first.values())[::-1][:FINDINGS_SHOWN]
        lines = [f"{self.backend}: {len(self.findings)} findings in {self.attempts} attempts"]
        lines += [f"{number}. {one}" for number, one in enumerate(shown, 1)]
        return "\n".join(lines)


def table(reports: Sequence[Report]) -> str:
    """Return the figures as Markdown: a line per backend, a column per class of attack."""
    classes = sorted({name for report in reports for name in report.by_class})
    head = ["backend", "attempts", *classes, "refused", "leaks", "mutations", "seconds"]
    lines = [f"| {' | '.join(head)} |", f"|---{'|---:' * (len(head) - 1)}|"]
    for report in reports:
        cells = [report.backend, report.attempts, *(report.by_class[one] for one in classes)]
        cells += [report.refused, len(report.leaks), len(report.mutations)]
        lines.append(f"| {' | '.join(map(str, cells))} | {report.seconds:.1f} |")
    return "\n".join(lines)

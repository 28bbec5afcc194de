"""What must be answered about a repository of notes, worked out from its file of truth.

By other means than the code under test: lines are read, and reachability is a power of a matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

ENDED = {"done", "completed", "dropped"}
COMPLETED = {"done", "completed"}
WAITING = {"blocked", "waiting", "on hold"}


@dataclass(frozen=True)
class Row:
    """A note as the file of truth has it."""

    path: str
    type: str
    slug: str
    status: str
    title: str
    wrong: str


class Oracle:
    """Knows one state of a repository."""

    def __init__(self, truth: Path, agent: str) -> None:
        self.agent = agent
        rows, self._lines = [], []
        for line in truth.read_text(encoding="utf-8").split("\n"):
            parts = line.split("\t")
            if parts[0] == "note":
                rows.append(Row(*parts[1:]))
            elif parts[0] == "edge":
                self._lines.append(tuple(parts[1:]))
        rows.sort(key=lambda row: row.path)
        self.rows: dict[str, Row] = {}
        self.doubles: list[tuple[str, str, str]] = []
        for row in rows:
            name = self.id_of(row)
            if name in self.rows:
                self.doubles.append((name, self.rows[name].path, row.path))
            else:
                self.rows[name] = row
        self.paths = {row.path: name for name, row in self.rows.items()}
        self.all_paths = {row.path for row in rows}
        self.wrong = {row.path for row in rows if row.wrong}

    def id_of(self, row: Row) -> str:
        """Return the id of a note."""
        kind = row.type
        if row.wrong and row.wrong not in ("field", "relation"):
            # Then its folder alone says what it is.
            kind = {"t": "task", "d": "decision", "p": "person", "i": "initiative"}[row.path[0]]
        return f"{self.agent}-{kind}-{row.slug}"

    def status(self, name: str) -> str:
        """Return the status as an entity has it."""
        row = self.rows[name]
        if row.wrong and row.wrong not in ("field", "relation"):
            return ""
        return row.status.lower().replace(" ", "-")

    def edges(self) -> set[tuple[str, str, str]]:
        """Return (source, relation, target) of all edges to what is there."""
        return {
            (self.paths[source], relation, self.paths[target])
            for source, relation, target in self._lines
            if source in self.paths and target in self.paths and source != target
        }

    def dangling(self) -> set[tuple[str, str, str]]:
        """Return (source, relation, words) of all edges to what is nowhere."""
        return {
            (self.paths[source], relation, target)
            for source, relation, target in self._lines
            if source in self.paths and target not in self.all_paths
        }

    def distances(
        self, start: str, depth: int, relations: set[str] | None = None
    ) -> dict[str, int]:
        """Return how far each entity is, either way along edges, up to a depth."""
        names = sorted(self.rows)
        place = {name: number for number, name in enumerate(names)}
        near = np.zeros((len(names), len(names)), dtype=bool)
        for source, relation, target in self.edges():
            if relations is None or relation in relations:
                near[place[source], place[target]] = near[place[target], place[source]] = True
        reached = np.zeros(len(names), dtype=bool)
        reached[place[start]] = True
        found: dict[str, int] = {}
        for step in range(1, depth + 1):
            after = reached | near[:, reached].any(axis=1)
            found |= {names[number]: step for number in np.flatnonzero(after & ~reached)}
            reached = after
        return found

    def blocked(self) -> set[str]:
        """Return what waits: it says so, or what blocks it has not ended."""
        ended = {name for name in self.rows if self.status(name) in ENDED}
        said = {name for name in self.rows if self.status(name).replace("-", " ") in WAITING}
        held = {
            source
            for source, relation, target in self.edges()
            if relation == "blocked_by" and target not in ended
        }
        return (said | held) - ended

    def completed(self) -> set[str]:
        """Return what was brought to its end."""
        return {name for name in self.rows if self.status(name) in COMPLETED}


def difference(before: Oracle, after: Oracle) -> dict[str, set[str]]:
    """Return what a difference of two states must say, by section."""
    old, new = set(before.rows), set(after.rows)
    both = old & new
    return {
        "created": new - old,
        "removed": old - new,
        "completed": after.completed() - before.completed(),
        "changed_status": {name for name in both if before.status(name) != after.status(name)},
        "newly_blocked": after.blocked() - before.blocked(),
        "unblocked": (before.blocked() - after.blocked()) & new,
    }

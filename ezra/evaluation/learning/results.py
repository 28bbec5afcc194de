"""What a run found: figures by section, and each case that went wrong."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Literal, TypeAlias

from tiers.records import Record

Best: TypeAlias = Literal["all", "none", "any"]


class Figure(Record):
    """One count of a section.

    Attributes:
        name: What is counted.
        count: How many there are.
        of: Of how many; ``None``: of nothing that could be counted before.
        best: Whether all or none of them is the aim; ``any``: it only says how many there are.
    """

    name: str
    count: int
    of: int | None = None
    best: Best = "all"

    @classmethod
    def share(cls, name: str, found: Sequence[bool], best: Best = "all") -> Figure:
        """Return how many of something are so."""
        return cls(name=name, count=sum(found), of=len(found), best=best)

    @classmethod
    def sizes(cls, name: str, found: Iterable[Collection[object]], of: int | None) -> Figure:
        """Return how many things collections hold: of so many that should be, or of none."""
        best: Best = "none" if of is None else "all"
        return cls(name=name, count=sum(map(len, found)), of=of, best=best)


class Mistake(Record):
    """One case that went wrong.

    Attributes:
        case: Its id in the set.
        kind: Its kind in the set.
        what: What is wrong: ``missed``, ``false``, and so on.
        said: The statement, or both.
        learnt: What the memory made of it.
    """

    case: str
    kind: str
    what: str
    said: tuple[str, ...]
    learnt: tuple[str, ...] = ()


class Section(Record):
    """What one section found.

    Attributes:
        name: As ``--set`` takes it.
        figures: In the order in which they are shown.
        mistakes: Of a sealed set none, whatever went wrong: only its totals are looked at.
        problems: Background work that failed.
    """

    name: str
    figures: tuple[Figure, ...]
    mistakes: tuple[Mistake, ...] = ()
    problems: tuple[str, ...] = ()


class LearningReport(Record):
    """All sections of a run.

    Attributes:
        embedder: The model that made the vectors; ``None``: words alone.
        every: Every n-th case was measured.
        sections: In the order in which they ran.
    """

    embedder: str | None
    every: int
    sections: tuple[Section, ...]

    def as_json(self, *, mistakes: bool) -> dict[str, Any]:
        """Return plain values; two runs give the same."""
        without = set() if mistakes else {"mistakes"}
        sections = {
            one.name: one.model_dump(mode="json", exclude={"name", "figures", *without})
            | {"figures": {figure.name: _counted(figure) for figure in one.figures}}
            for one in self.sections
        }
        return {"embedder": self.embedder, "every": self.every, "sections": sections}


def _counted(figure: Figure) -> dict[str, Any]:
    return figure.model_dump(mode="json", exclude={"name"})

"""What a run found: figures by system and category, and every question's ranks for analysis."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from tiers.errors import UsageError
from tiers.records import Kind, Record

from .metrics import Figures, Latency, figures_of, latency_of

MEASURES = ("recall", "hit", "all", "ndcg", "mrr")
DIGITS = 6
"""Of what is printed: enough to see one question of a hundred thousand."""

_FLOOR = re.compile(r"\s*([a-z]+)(?:@([0-9]{1,3}))?\s*=\s*([0-9.]{1,12})\s*")
_FLOOR_ACCEPTED = (
    "such as recall@10=0.8: recall, hit, all or ndcg at a k of the run, or mrr; 0 to 1"
)


class Found(Record):
    """What one system returned for one question.

    Attributes:
        ranks: Of each evidence turn, in the order of the evidence; ``None``: not found.
        found: What was returned, best first: a turn's ref; of other kinds the kind, and in
            brackets the turns that it names.
        milliseconds: How long it took; no part of what is compared between runs.
    """

    ranks: tuple[int | None, ...]
    found: tuple[str, ...]
    milliseconds: float


class Asked(Record):
    """One question and what each system returned for it.

    Attributes:
        is_timed: Whether its time counts; the first questions of a conversation warm up.
    """

    conversation: str
    question_id: str
    category: str
    question: str
    evidence: tuple[str, ...]
    is_timed: bool
    systems: dict[str, Found]

    def as_json(self) -> dict[str, Any]:
        """Return it for error analysis; without times, so that runs can be compared by lines."""
        shown = {"conversation", "question_id", "category", "question", "evidence"}
        systems = {
            name: {"ranks": list(one.ranks), "found": list(one.found)}
            for name, one in self.systems.items()
        }
        return {**self.model_dump(mode="json", include=shown), "systems": systems}


class System(Record):
    """One system's figures over all questions and by category, and its times."""

    overall: Figures
    categories: dict[str, Figures]
    latency: Latency | None


class Evaluation(Record):
    """The result of a run.

    Attributes:
        set_name: The file.
        embedder: The model that made the vectors; ``None``: recall by words alone.
        k: Where the rankings are cut.
        kinds: What recall was asked for, where a question does not say; ``None``: all kinds.
        strict: Whether turns alone counted, not what names them as its source.
        together: Whether all conversations lay in one installation.
        every: Every n-th question was asked.
        warm_up: Questions at the beginning of each conversation that were not timed.
        conversations: What was asked about, in the order of the file.
        turns: How many were played.
        excluded: Questions of the set that are never asked, by category.
        without_evidence: Questions of the set that name no turn.
        dropped: Evidence ids of a published file that name no turn.
        degraded: How many questions were answered without a tier or capability, by name.
        problems: Background work that failed.
        asked: The questions in the order of the file.
    """

    set_name: str
    embedder: str | None
    k: tuple[int, ...]
    kinds: tuple[Kind, ...] | None
    strict: bool
    together: bool
    every: int
    warm_up: int
    conversations: tuple[str, ...]
    turns: int
    excluded: dict[str, int]
    without_evidence: int
    dropped: int
    degraded: dict[str, int]
    problems: tuple[str, ...]
    asked: tuple[Asked, ...]

    @property
    def systems(self) -> dict[str, System]:
        """The figures of each system: ``ezra``, then the baselines. Categories by name."""
        names = tuple(self.asked[0].systems)
        return {name: self._system(name) for name in names}

    def _system(self, name: str) -> System:
        by_category: dict[str, list[tuple[int | None, ...]]] = {}
        for one in sorted(self.asked, key=lambda asked: asked.category):
            by_category.setdefault(one.category, []).append(one.systems[name].ranks)
        timed = [one.systems[name].milliseconds for one in self.asked if one.is_timed]
        return System(
            overall=figures_of([one.systems[name].ranks for one in self.asked], self.k),
            categories={label: figures_of(ranks, self.k) for label, ranks in by_category.items()},
            latency=latency_of(timed),
        )

    def as_json(self) -> dict[str, Any]:
        """Return the figures as plain values; apart from ``latency_ms`` every run gives the same.

        The questions themselves are left out: see ``Asked.as_json``.
        """
        systems = {
            name: {
                "overall": _plain(system.overall),
                "categories": {
                    label: _plain(figures) for label, figures in system.categories.items()
                },
                "latency_ms": None if system.latency is None else _plain(system.latency),
            }
            for name, system in self.systems.items()
        }
        stated = self.model_dump(mode="json", exclude={"asked", "set_name"})
        questions = {"questions": len(self.asked)}
        return {"set": self.set_name, **stated, **questions, "systems": systems}


class Floor(Record):
    """The least that ezra has to reach in one measure."""

    measure: str
    k: int | None
    least: float

    @property
    def name(self) -> str:
        """The measure as it is written: ``recall@10`` or ``mrr``."""
        return self.measure if self.k is None else f"{self.measure}@{self.k}"


def floor_of(text: str, ks: Sequence[int]) -> Floor:
    """Return the floor that a text such as ``recall@10=0.8`` states.

    Raises:
        UsageError: It states none, or one at a k that is not measured.
    """
    found = _FLOOR.fullmatch(text)
    measure, k, least = found.groups() if found else ("", None, "")
    has_k = k is not None and int(k) in ks
    if measure not in MEASURES or (k is not None if measure == "mrr" else not has_k):
        raise UsageError("min", text, _FLOOR_ACCEPTED)
    try:
        value = float(least)
    except ValueError as error:
        raise UsageError("min", text, _FLOOR_ACCEPTED) from error
    if value > 1:
        raise UsageError("min", text, _FLOOR_ACCEPTED)
    return Floor(measure=measure, k=None if k is None else int(k), least=value)


def shortfalls(evaluation: Evaluation, floors: Sequence[Floor]) -> Iterator[str]:
    """Yield a line for each floor that ezra does not reach over all questions."""
    reached = evaluation.systems["ezra"].overall
    for floor in floors:
        value = reached.measure(floor.measure, floor.k)
        if value < floor.least:
            yield f"{floor.name} is {value:.4f}, below {floor.least:g}"


def _plain(record: Record) -> dict[str, Any]:
    return {name: _rounded(value) for name, value in record.model_dump().items()}


def _rounded(value: Any) -> Any:  # noqa: ANN401 - a number, or numbers by k
    if isinstance(value, dict):
        return {str(key): _rounded(one) for key, one in value.items()}
    return round(value, DIGITS) if isinstance(value, float) else value

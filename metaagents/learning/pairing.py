"""Duplicates among many facts, without comparing each with each. Pure."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TypeAlias

from tiers.learning import fact_key
from tiers.records import Fact

from .likeness import NEAR_OVERLAP, Reading, overlap, rare_words, read
from .rewording import in_plain_wording
from .weighing import Pair, relation, verdicts

COMPARED_MAX = 200
"""Facts with one word or key in common that a fact is compared with, at most."""

_Mark: TypeAlias = tuple[str | None, str, str, str]
_Readings: TypeAlias = tuple[Reading, ...]
"""Of a text as it stands, and in plain wording."""


@dataclass
class LikeFacts:
    """Takes facts up one by one and says which of two that say the same gives way.

    Facts are compared where they have an owner, and a key or one of their rarer words, in common.
    """

    facts: dict[str, Fact] = field(default_factory=dict)
    _readings: dict[str, _Readings] = field(default_factory=dict)
    _by_mark: dict[_Mark, list[str]] = field(default_factory=lambda: defaultdict(list))

    def take(self, fact: Fact) -> list[tuple[Fact, str]]:
        """Take a live fact up; return each fact that gives way, and the id of what says the same.

        Nothing gives way twice, or to what gave way.
        """
        readings = tuple(read(text) for text in (fact.text, in_plain_wording(fact.text)))
        marks = _marks(fact, readings)
        ended: list[tuple[Fact, str]] = []
        for known in self._known(marks):
            other = self.facts[known]
            both = zip(readings, self._readings[known], strict=True)
            is_near = any(overlap(one, two) >= NEAR_OVERLAP for one, two in both)
            if not is_near and fact_key(fact) != fact_key(other):
                continue
            if relation(Pair.of(fact, other), None) != "duplicate":
                continue
            for one in verdicts(fact, {known: "duplicate"}, [other]):
                if one.fact_id == fact.id:
                    return [*ended, (fact, one.by)]
                ended.append((other, one.by))
                self._drop(known)
        self.facts[fact.id] = fact
        self._readings[fact.id] = readings
        for mark in marks:
            self._by_mark[mark].append(fact.id)
        return ended

    def _known(self, marks: list[_Mark]) -> list[str]:
        found: dict[str, None] = {}
        for mark in marks:
            recent = self._by_mark.get(mark, ())[-COMPARED_MAX:]
            found |= dict.fromkeys(one for one in recent if one in self.facts)
        return list(found)

    def _drop(self, fact_id: str) -> None:
        del self.facts[fact_id], self._readings[fact_id]


def _marks(fact: Fact, readings: _Readings) -> list[_Mark]:
    """Return under what a fact is found by what may say the same."""
    writer = fact.agent_id if fact.private else ""
    key = fact_key(fact)
    keys = [] if key is None else [key]
    rare = dict.fromkeys(word for one in readings for word in rare_words(one, NEAR_OVERLAP))
    told = [*keys, *(("", word) for word in rare)]
    return [(fact.user_id, writer, one, two) for one, two in told]

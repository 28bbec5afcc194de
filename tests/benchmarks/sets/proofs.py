"""Whether the evidence of a question states its answer, and no other turn does."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

ANSWER_PARTS = "; "


@dataclass(eq=False)
class Turn:
    """Something said, with what tools printed beside it; two turns are never the same one."""

    at: datetime
    speaker: str
    text: str
    tool_outputs: tuple[tuple[str, str], ...] = ()
    id: str = ""
    _plain: str = field(default="", repr=False)

    @property
    def words(self) -> str:
        """Text and tool outputs as ``states`` compares them."""
        if not self._plain:
            self._plain = plain(" ".join((self.text, *(out for _, out in self.tool_outputs))))
        return self._plain


@dataclass(frozen=True)
class Question:
    """A question with its evidence.

    Attributes:
        text: The question.
        answer: What it should be answered; several parts are joined by ``ANSWER_PARTS``.
        category: Name of its category.
        evidence: The turns that answer it.
        proofs: Strings that some of the evidence states, and no other turn.
    """

    text: str
    answer: str
    category: str
    evidence: tuple[Turn, ...]
    proofs: tuple[str, ...]


def plain(text: str) -> str:
    """Return words only, in lower case, with a blank around each."""
    return f" {' '.join(re.findall(r'[a-z0-9]+', text.lower()))} "


def states(turn: Turn, stated: str) -> bool:
    """Whether a turn says something, whole words only; its speaker and its date count."""
    return plain(stated) in turn.words or stated in (turn.speaker, f"{turn.at:%Y-%m-%d}")


def problems(question: Question, turns: Iterable[Turn]) -> list[str]:
    """Return what makes a question unfair; empty if nothing does."""
    found = [
        f"the evidence does not state {part!r}"
        for part in question.answer.split(ANSWER_PARTS)
        if not any(states(turn, part) for turn in question.evidence)
    ]
    for proof in question.proofs:
        wanted = plain(proof)
        where = [turn for turn in turns if wanted in turn.words]
        if not where:
            found.append(f"nothing states {proof!r}")
        if any(turn not in question.evidence for turn in where):
            found.append(f"{proof!r} is stated elsewhere")
    proven = [
        any(plain(proof) in turn.words for proof in question.proofs) for turn in question.evidence
    ]
    if not all(proven):
        found.append("a turn of the evidence proves nothing")
    return found


def fair(questions: Sequence[Question], turns: Sequence[Turn]) -> list[Question]:
    """Return the questions without a problem, each text once, in order."""
    by_text: dict[str, Question] = {}
    for question in questions:
        if question.text not in by_text and not problems(question, turns):
            by_text[question.text] = question
    return list(by_text.values())

"""Scripts placed in time: the turns and questions of one conversation."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from .grammar import Asked, Line, Section
from .proofs import ANSWER_PARTS, Question, Turn, fair
from .slots import Shelf, Slots

LATEST_COUNTS = "update"
"""Category whose answer is its last proof: the ones before it were true once."""

ASKED_MAX = 20
"""How many questions of one category a conversation has at most."""

_ONE_OF_MAX = 200

Dress = Callable[[Section, Line, str], str]
"""Turns the core of a wording into what is said."""

Clock = Callable[[datetime, Line, bool], datetime]
"""Returns when a turn happens, from the earliest moment it may; ``True`` begins a script."""


class Timeline:
    """One conversation while it is being written.

    Args:
        shelf: Values for the blanks.
        rng: Decides wordings and times.
        clock: Sets the time of each turn.
        dress: Finishes what is said.
    """

    def __init__(self, shelf: Shelf, rng: random.Random, clock: Clock, dress: Dress) -> None:
        self._shelf = shelf
        self._rng = rng
        self._clock = clock
        self._dress = dress
        self._turns: list[Turn] = []
        self._questions: list[Question] = []
        self._texts: set[str] = set()

    def __len__(self) -> int:
        return len(self._turns)

    def play(self, script: Section, start: datetime, roles: Mapping[str, str]) -> None:
        """Write every turn of a script, and ask its questions."""
        dates = self._dates(script, start)
        slots = Slots(script.name, script.slots, self._shelf, roles, dates, self._rng)
        written = {
            number: self._written(script, line, slots, dates[number], roles)
            for number, line in sorted(script.lines.items())
        }
        self._turns += written.values()
        self._questions += [self._question(asked, slots, written) for asked in script.asked]

    def add(self, line: Line, script: Section, at: datetime, roles: Mapping[str, str]) -> None:
        """Write one turn that belongs to no question, in words that nothing else has.

        Raises:
            ValueError: The wordings are used up.
        """
        at = self._clock(at, line, line.wait is None)
        for _ in range(_ONE_OF_MAX):
            slots = Slots(script.name, script.slots, self._shelf, roles, {1: at}, self._rng)
            turn = self._written(script, line, slots, at, roles)
            if turn.text not in self._texts:
                self._texts.add(turn.text)
                self._turns.append(turn)
                return
        raise ValueError(f"{script.name}: too few wordings")

    def finished(self) -> tuple[list[Turn], list[Question]]:
        """Return the turns in order of time, numbered, and fair questions of every category."""
        turns = sorted(self._turns, key=lambda turn: turn.at)
        for number, turn in enumerate(turns, start=1):
            turn.id = f"t{number}"
        by_category: dict[str, list[Question]] = {}
        for question in fair(self._questions, turns):
            by_category.setdefault(question.category, []).append(question)
        kept = [
            question
            for asked in by_category.values()
            for question in self._rng.sample(asked, min(ASKED_MAX, len(asked)))
        ]
        return turns, sorted(kept, key=lambda asked: (asked.evidence[0].at, asked.text))

    def _dates(self, script: Section, start: datetime) -> dict[int, datetime]:
        dates: dict[int, datetime] = {}
        at = start
        for number, line in sorted(script.lines.items()):
            loose = timedelta(days=self._rng.randint(0, 2)) if line.is_loose else timedelta()
            at = self._clock(at + (line.wait or timedelta()) + loose, line, not dates)
            dates[number] = at
        return dates

    def _written(
        self, script: Section, line: Line, slots: Slots, at: datetime, roles: Mapping[str, str]
    ) -> Turn:
        core = slots.fill(self._rng.choice(line.wordings))
        outputs = tuple(
            (tool, slots.fill(self._rng.choice(printed))) for tool, printed in line.tools.items()
        )
        said = slots.fill(self._dress(script, line, core))
        return Turn(at=at, speaker=roles[line.who], text=said, tool_outputs=outputs)

    def _question(self, asked: Asked, slots: Slots, written: Mapping[int, Turn]) -> Question:
        proofs = tuple(slots.fill(proof) for proof in asked.proofs)
        if asked.answer is not None:
            answer = slots.fill(asked.answer)
        else:
            latest = asked.category == LATEST_COUNTS
            answer = proofs[-1] if latest else ANSWER_PARTS.join(proofs)
        text = slots.fill(self._rng.choice(asked.wordings))
        return Question(
            text=text[:1].upper() + text[1:],
            answer=answer,
            category=asked.category,
            evidence=tuple(written[turn] for turn in asked.turns),
            proofs=proofs,
        )

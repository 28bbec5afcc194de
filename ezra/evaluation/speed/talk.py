"""Made-up talk, the same for the same number: turns to record and questions about them."""

# ruff: noqa: S311 - the same talk each time

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from ...handles.recording import PastTurn
from .agents import sentence

START = datetime(2026, 1, 1, 8, tzinfo=UTC)
BETWEEN = timedelta(seconds=30)
TURNS_A_DAY = 40
SPEAKERS = ("Ada", "Ben", "Cleo", "Dev")
ASKED_WORDS = 6


def said(number: int) -> str:
    """Return what is said in the turn of a number."""
    return sentence(random.Random(number))


def past_turns(start: int, end: int) -> Iterator[PastTurn]:
    """Yield turns as they are recorded, forty a day."""
    for number in range(start, end):
        yield PastTurn(
            message=said(number),
            response=said(-number - 1),
            speaker=SPEAKERS[number % len(SPEAKERS)],
            at=START + timedelta(days=number // TURNS_A_DAY) + number % TURNS_A_DAY * BETWEEN,
        )


def questions(count: int, size: int) -> list[str]:
    """Return questions that share half of their words with one of the first turns each."""
    seeded = random.Random(count)
    return [
        " ".join(seeded.sample(said(seeded.randrange(size)).split(), ASKED_WORDS))
        for _ in range(count)
    ]

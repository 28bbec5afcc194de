"""A support desk: many customers with terse tickets, five colleagues, 360 turns in ten weeks.

This set is kept apart. Its scripts were written without looking at what any search makes of them,
and are not to be changed after anybody has: results on it are looked at once.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import cycle

from .grammar import Line, Section, of_kind, read
from .proofs import Question, Turn
from .slots import Shelf
from .timeline import Timeline

TURNS = 360
CATEGORIES = {
    "problem": "what the customer had",
    "fix": "what was done about it",
    "number": "numbers",
    "time": "dates",
    "repeat": "several messages",
}
DESK = ("Marek", "Jolanda", "Stine", "Abdou", "Pilar")

_FIRST = (
    "Alma Boris Chiara Dieter Elif Frode Greta Hugo Imke Janko Katya Lorenzo Maud Nils Odile Pavel "
    "Quirin Rasa Sven Tilda Ugo Vesna Wout Xenia Yannis Zelda Arvid Bodil Cyril Doro Enzo Fleur"
).split()
_LAST = (
    "Aalto Berger Costa Dvorak Engel Ferrari Gruber Horvat Ivanov Jansen Kovac Leroy Moreau Nowak "
    "Olsen Pinto Rossi Schmid Torres Urban Vidal Weiss Zeman Bakker Carlsen Duarte Eriksen Fischer "
    "Garcia Hansen Jovic Keller"
).split()
_CUSTOMERS = 45
_PLAYED = 3
_DAYS = 70
_BEGIN = datetime(2026, 9, 7, 8, tzinfo=UTC)


def conversation(seed: str) -> tuple[list[str], list[Turn], list[Question]]:
    """Return speakers, turns and questions of one desk."""
    rng = random.Random(seed)
    sections = read("sealed")
    (shared,), (talk,) = of_kind(sections, "lists"), of_kind(sections, "chat")
    customers = [
        f"{first} {last}"
        for first, last in zip(
            rng.choices(_FIRST, k=_CUSTOMERS), rng.choices(_LAST, k=_CUSTOMERS), strict=True
        )
    ]
    # Two may share a first or a last name, never both.
    roles = _roles(rng, list(dict.fromkeys(customers)))
    timeline = Timeline(Shelf(shared.slots, rng), rng, Inbox(rng).time, _as_it_is)
    tickets = of_kind(sections, "ticket")
    for script in tickets * _PLAYED:
        timeline.play(script, _somewhen(rng, script), next(roles))
    for script in tickets:
        for note in script.free.get("note", []):
            line = Line("customer", timedelta(), is_loose=False, wordings=[note])
            timeline.add(line, script, _somewhen(rng, script), next(roles))
    talked = talk.lines[1].wordings
    while len(timeline) < TURNS:
        number = rng.randrange(len(talked))
        line = Line(("customer", "agent")[number], timedelta(), False, [talked[number]])  # noqa: FBT003
        timeline.add(line, talk, _somewhen(rng, talk), next(roles))
    turns, questions = timeline.finished()
    spoke = dict.fromkeys(turn.speaker for turn in turns)
    return list(spoke), turns, questions


class Inbox:
    """The time of a desk: answers come within the hour, tickets in between each other."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._taken: set[datetime] = set()

    def time(self, earliest: datetime, line: Line, is_first: bool) -> datetime:  # noqa: FBT001
        """Return when a message arrives; no two in one minute."""
        waits = is_first or line.wait is not None
        at = earliest if waits else earliest + timedelta(minutes=self._rng.randint(4, 50))
        while at in self._taken:
            at += timedelta(minutes=1)
        self._taken.add(at)
        return at


def _roles(rng: random.Random, customers: list[str]) -> Iterator[dict[str, str]]:
    """Yield who writes and who answers; every customer comes once before one comes again."""
    for customer in cycle(customers):
        yield {"customer": customer, "first": customer.split()[0], "agent": rng.choice(DESK)}


def _as_it_is(_script: Section, _line: Line, core: str) -> str:
    return core


def _somewhen(rng: random.Random, script: Section) -> datetime:
    waits = sum((line.wait or timedelta() for line in script.lines.values()), timedelta())
    day = rng.randint(0, _DAYS - 3 - waits.days)
    return _BEGIN + timedelta(days=day, minutes=rng.randint(0, 500))

"""Five people on a platform, with what their tools printed: channels of 400 turns in six weeks.

Each kind of event happens twice in a channel, to other services and with other people in other
roles, so that its words alone do not tell which one is meant. Questions name a service by name or
by what it does; error codes, counts and versions often stand in a tool output only.
"""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

from .grammar import Line, Section, of_kind, read
from .proofs import Question, Turn
from .slots import Shelf
from .timeline import Timeline

TURNS = 400
CATEGORIES = {
    "who": "who did it",
    "exact": "identifiers and figures",
    "time": "dates",
    "why": "decisions and reasons",
    "multi": "several people",
}
PEOPLE = ("Priya", "Tomasz", "Ngozi", "Hal", "Mireille")

_PLAYED = 2
_ADDRESSED = 0.5
_DAYS = 42
_BEGIN = datetime(2026, 3, 2, 8, tzinfo=UTC)
_WORKING_HOURS = 10


class Office:
    """The time of a team: minutes between turns, so that what happens at once is mixed."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._taken: set[datetime] = set()

    def time(self, earliest: datetime, line: Line, is_first: bool) -> datetime:  # noqa: FBT001
        """Return when a turn is written; no two in one minute."""
        waits = is_first or line.wait is not None
        at = earliest if waits else earliest + timedelta(minutes=self._rng.randint(1, 12))
        while at in self._taken:
            at += timedelta(minutes=1)
        self._taken.add(at)
        return at


class Addressing:
    """Says what a turn is about where it would not be clear, as people do when threads mix."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def dress(self, script: Section, line: Line, core: str) -> str:
        """Return the core, about every other time with the name of its subject."""
        about = script.free.get("about")
        opens = any(line is script.lines.get(number) for number in (1, 2))
        if about is None or opens or line.wait is not None or self._rng.random() > _ADDRESSED:
            return core
        subject = self._rng.choice(about)
        return self._rng.choice(
            (f"re {subject}: {core}", f"{core} ({subject})", f"[{subject}] {core}")
        )


def conversation(seed: str) -> tuple[list[str], list[Turn], list[Question]]:
    """Return speakers, turns and questions of one channel."""
    rng = random.Random(seed)
    sections = read("team")
    (shared,), (talk,) = of_kind(sections, "lists"), of_kind(sections, "chat")
    timeline = Timeline(Shelf(shared.slots, rng), rng, Office(rng).time, Addressing(rng).dress)
    scripts = of_kind(sections, "script")
    for script in scripts * _PLAYED:
        timeline.play(script, _somewhen(rng, script), _roles(rng))
    for script in scripts:
        for note in script.free.get("note", []):
            line = Line("a", timedelta(), is_loose=False, wordings=[note])
            timeline.add(line, script, _somewhen(rng, script), _roles(rng))
    small_talk = talk.lines[1]
    while len(timeline) < TURNS:
        timeline.add(small_talk, talk, _somewhen(rng, talk), _roles(rng))
    turns, questions = timeline.finished()
    return list(PEOPLE), turns, questions


def _roles(rng: random.Random) -> dict[str, str]:
    return dict(zip("abcde", rng.sample(PEOPLE, len(PEOPLE)), strict=True))


def _somewhen(rng: random.Random, script: Section) -> datetime:
    """Return a moment of a working day that leaves room for what waits in the script."""
    waits = sum((line.wait or timedelta() for line in script.lines.values()), timedelta())
    day = rng.randint(0, _DAYS - 3 - waits.days)
    while (_BEGIN + timedelta(days=day)).weekday() > 4:
        day -= 1
    minutes = rng.randint(0, _WORKING_HOURS * 60 - 120)
    return _BEGIN + timedelta(days=day, minutes=minutes)

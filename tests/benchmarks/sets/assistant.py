"""A user with an assistant whose answers are long: about 220 messages over six months.

A conversation goes back to most of its subjects several times. The user says something once, often
without naming the subject ("I moved it, it runs on ..."); the assistant answers in 150 to 400 words
of lists, tables and caveats, with what a question will ask for in the middle.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from .grammar import Line, Section, of_kind, read
from .proofs import Question, Turn
from .slots import Shelf
from .timeline import Timeline

TURNS = 224
CATEGORIES = {
    "user": "what the user said",
    "rec": "what the assistant recommended",
    "update": "what the user said anew",
    "time": "temporal",
    "multi": "several turns",
}

_ROLES = {"user": "user", "assistant": "assistant", "brief": "assistant"}
_THREADS = 12
_FACTS = 8
_NEAR = 28
_DAYS = 182
_WORDS_MIN = (165, 330)
_OWN_POINTS = 4
_POINTS_MAX = 11
_BEGIN = datetime(2026, 1, 5, tzinfo=UTC)


class Desk:
    """The hours of a day: a sitting gets an hour of its own, so that sittings never mix."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._taken: set[datetime] = set()

    def time(self, earliest: datetime, line: Line, is_first: bool) -> datetime:  # noqa: FBT001
        """Return when a message is sent: minutes after the last, or in a free hour of that day."""
        if line.wait is None and not is_first:
            return earliest + timedelta(minutes=self._rng.randint(1, 3))
        day = earliest.replace(hour=0, minute=0)
        hours = [day + timedelta(hours=hour) for hour in range(7, 23)]
        free = [hour for hour in hours if hour not in self._taken]
        chosen = self._rng.choice(free)
        self._taken.add(chosen)
        return chosen + timedelta(minutes=self._rng.randint(0, 40))


class Voice:
    """Wraps the core of an answer into everything that an assistant says around it."""

    def __init__(self, about: Section, rng: random.Random) -> None:
        self._about = about
        self._rng = rng
        self._unused: dict[str, list[str]] = {}

    def dress(self, script: Section, line: Line, core: str) -> str:
        """Return a long answer with the core in its middle; other roles speak as they do."""
        if line.who != "assistant":
            return core
        points = [self._next(script) for _ in range(_OWN_POINTS if script.free.get("point") else 0)]
        text = self._laid_out(script, core, points)
        wanted = self._rng.randint(*_WORDS_MIN)
        for _ in range(_POINTS_MAX):
            if len(text.split()) >= wanted:
                break
            more = self._next(self._about)
            points += [more] if more not in points else []
            text = self._laid_out(script, core, points)
        return text

    def _laid_out(self, script: Section, core: str, points: list[str]) -> str:
        """Return the parts in order; the same choices however many points there are."""
        rng = random.Random(f"{core}{points[:1]}")
        free = self._about.free
        before = max(1, len(points) // 2)
        mark = rng.choice(("- ", "* ", "# "))
        parts = [
            rng.choice(free["opening"]),
            rng.choice(free["heading"]),
            _listed(points[:before], mark, 1),
            f"{rng.choice(free['lead'])} {core}",
            _listed(points[before:], mark, before + 1),
        ]
        if "snippet" in script.free and rng.random() < 0.6:
            parts.insert(rng.choice((3, 5)), rng.choice(script.free["snippet"]))
        parts.append(rng.choice(free["caveat"] + script.free.get("caveat", [])))
        parts.append(rng.choice(free["closing"]))
        return "\n\n".join(part for part in parts if part)

    def _next(self, section: Section) -> str:
        """Return a point that was not made since all of them were."""
        left = self._unused.setdefault(section.name, [])
        if not left:
            points = section.free["point"]
            left += self._rng.sample(points, len(points))
        return left.pop()


def _listed(points: list[str], mark: str, first: int) -> str:
    if mark == "# ":
        return "\n".join(f"{number}. {point}" for number, point in enumerate(points, start=first))
    return "\n".join(mark + point for point in points)


def conversation(
    seed: str, more: Sequence[Section] = (), length: int = TURNS
) -> tuple[list[str], list[Turn], list[Question]]:
    """Return speakers, turns and questions of one conversation.

    Args:
        seed: Decides everything.
        more: Scripts that are played beside the usual ones.
        length: How many messages it has.
    """
    rng = random.Random(seed)
    threads = of_kind((*read("assistant_threads"), *read("assistant_threads2")), "thread")
    life = read("assistant_life")
    (shared,), (about,), (talk,) = (of_kind(life, kind) for kind in ("lists", "say", "chat"))
    timeline = Timeline(Shelf(shared.slots, rng), rng, Desk(rng).time, Voice(about, rng).dress)
    chosen = rng.sample(threads, _THREADS) + of_kind(life, "log") + of_kind(life, "gather")
    chosen += rng.sample(of_kind(life, "fact"), _FACTS)
    chosen += more
    for script in chosen:
        timeline.play(script, _start(script, rng), _ROLES)
    near = [(line, script) for script in chosen for line in script.free.get("near", [])]
    for told, script in rng.sample(near, _NEAR):
        aside = Section("near", script.name, free={"point": script.free.get("point", [])})
        aside.lines[1] = Line("user", timedelta(), is_loose=False, wordings=[told])
        # Without a core of its own, the answer is advice that fits anything.
        aside.lines[2] = Line("assistant", None, is_loose=False, wordings=about.free["aside"])
        timeline.play(aside, _somewhen(rng), _ROLES)
    while len(timeline) < length:
        at = _somewhen(rng)
        for line in list(talk.lines.values())[: length - len(timeline)]:
            timeline.add(line, talk, at, _ROLES)
    turns, questions = timeline.finished()
    return ["user", "assistant"], turns, questions


def _start(script: Section, rng: random.Random) -> datetime:
    waits = (line.wait or timedelta() for line in script.lines.values())
    loose = 2 * sum(line.is_loose for line in script.lines.values())
    length = sum(waits, timedelta()).days + loose
    return _BEGIN + timedelta(days=rng.randint(0, max(1, _DAYS - length)))


def _somewhen(rng: random.Random) -> datetime:
    return _BEGIN + timedelta(days=rng.randint(0, _DAYS))

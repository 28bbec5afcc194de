r"""How scripts are written down: text files of sections, read into frozen values.

A file holds sections; blank lines and lines that begin with ``#`` are for the reader alone::

    == script drill                         kind and name of the section
    slot host: db-1 | db-2                  values for {host}; ~AB-## draws digits, % a hex digit
    1 @lead: Restoring {host} today.        turn 1; more lines with a 1 are other wordings of it
    1 !psql: {host} restored                what a tool printed in turn 1
    2 @mate +~3d: It took {minutes}.        three days later, or up to two more (~); d, h or m
    q who 1: {host} => {lead} <- Who restored the replica? | Who ran the drill on {host}?
    note: free lines that a set uses in its own way

A question names its category, its evidence turns (``1+2``), its proofs (joined by ``&``: strings
that the evidence states and no other turn does), its answer where that is not the proofs, and its
wordings. ``[[a|b]]`` is a choice inside a wording, ``\n`` a line break. ``slots`` says what stands
in braces.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from pathlib import Path

GRAMMARS = Path(__file__).parent / "grammars"

_HEADER = re.compile(r"== (\w+) ([\w-]+)")
_SLOT = re.compile(r"slot (\w+): (.+)")
_TURN = re.compile(r"(\d+) @(\w+)(?: \+(~?)(\d+)([dhm]))?: (.+)")
_TOOL = re.compile(r"(\d+) !([\w-]+): (.+)")
_QUESTION = re.compile(r"q (\w+) ([\d+]+): (.+?) <- (.+)")
_FREE = re.compile(r"(\w+): (.+)")
_UNITS = {"d": "days", "h": "hours", "m": "minutes"}


@dataclass
class Line:
    """A turn of a script: who speaks, how long after the turn before, and its wordings.

    Attributes:
        who: The role that speaks.
        wait: Time since the turn before; ``None`` leaves it to the set.
        is_loose: Whether up to two days may be added to ``wait``.
        wordings: One of these is said.
        tools: Name and possible outputs of each tool that ran.
    """

    who: str
    wait: timedelta | None
    is_loose: bool
    wordings: list[str] = field(default_factory=list)
    tools: dict[str, list[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Asked:
    """A question of a script, with its blanks still open."""

    category: str
    turns: tuple[int, ...]
    proofs: tuple[str, ...]
    answer: str | None
    wordings: tuple[str, ...]


@dataclass
class Section:
    """A script, or a list of free lines."""

    kind: str
    name: str
    slots: dict[str, tuple[str, ...]] = field(default_factory=dict)
    lines: dict[int, Line] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    free: dict[str, list[str]] = field(default_factory=dict)


@cache
def read(name: str) -> tuple[Section, ...]:
    """Return the sections of ``grammars/NAME.txt``.

    Raises:
        ValueError: A line that is none of the above; it names the file and the line.
    """
    path = GRAMMARS / f"{name}.txt"
    sections: list[Section] = []
    for number, raw in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        if header := _HEADER.fullmatch(line):
            sections.append(Section(header[1], header[2]))
        elif not sections or not _take(sections[-1], line.replace("\\n", "\n")):
            raise ValueError(f"{path.name}, line {number}: not understood: {line[:60]}")
    return tuple(sections)


def of_kind(sections: tuple[Section, ...], kind: str) -> list[Section]:
    """Return the sections of one kind, in the order of the file."""
    return [section for section in sections if section.kind == kind]


def _take(section: Section, line: str) -> bool:
    """Add a line to its section; whether it is one of the known forms."""
    if found := _whole(_SLOT, line):
        section.slots[found[0]] = tuple(value.strip() for value in found[1].split(" | "))
    elif found := _whole(_QUESTION, line):
        section.asked.append(_asked(*found))
    elif found := _whole(_TURN, line):
        number, who, loose, count, unit, wording = found
        wait = timedelta(**{_UNITS[unit]: int(count)}) if unit else None
        turn = section.lines.setdefault(int(number), Line(who, wait, bool(loose)))
        turn.wordings.append(wording)
    elif found := _whole(_TOOL, line):
        section.lines[int(found[0])].tools.setdefault(found[1], []).append(found[2])
    elif found := _whole(_FREE, line):
        section.free.setdefault(found[0], []).append(found[1])
    else:
        return False
    return True


def _whole(pattern: re.Pattern[str], line: str) -> list[str]:
    """Return the groups of a line that the pattern describes; empty where it does not."""
    match = re.fullmatch(pattern.pattern, line, re.DOTALL)
    return [group or "" for group in match.groups()] if match else []


def _asked(category: str, turns: str, proofs: str, wordings: str) -> Asked:
    stated, _, answer = proofs.partition(" => ")
    return Asked(
        category=category,
        turns=tuple(int(turn) for turn in turns.split("+")),
        proofs=tuple(proof.strip() for proof in stated.split(" & ")),
        answer=answer.strip() or None,
        wordings=tuple(wording.strip() for wording in wordings.split(" | ")),
    )

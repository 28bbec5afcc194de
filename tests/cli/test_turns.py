"""What is said to the command line by standard input, on the embedded store and on a server."""

from __future__ import annotations

import pytest
from support.cli_doors import Door, module_door

from tiers.fields import TEXT_CHARS_MAX


@pytest.fixture
def door(shared: Door) -> Door:
    """Each way to a graph of this module's own."""
    return module_door(shared, "turns", "strategist", "engineer")


def test_what_is_said_may_come_by_standard_input(door: Door) -> None:
    """One line end at the end is not part of it; everything else is."""
    door.done("agent", "spawn", "turns", "reader")
    text = "erste Zeile: „Box?“\n\n  dritte"
    said = door.told("turn", "turns", "reader", "-", "--reply", "Ja.", said=f"{text}\n")
    assert said["turn"]["input"] == text
    said = door.told("turn", "turns", "reader", "Und?", "--reply", "-", said="Nein.\r\n")
    assert said["turn"]["response"] == "Nein."


@pytest.mark.parametrize(
    ("arguments", "said", "about"),
    [
        (("turns", "strategist", "-"), "", "message"),
        (("turns", "strategist", "-"), b"\xff\xfe", "text in UTF-8"),
        (("turns", "strategist", "-", "--reply", "-"), "x", "--reply"),
    ],
)
def test_what_cannot_be_said_is_refused_in_one_line(
    door: Door, arguments: tuple[object, ...], said: str | bytes, about: str
) -> None:
    """Exit code 2, and the argument by name."""
    assert about in door.refused("turn", *arguments, said=said)


def test_what_is_too_long_is_refused_before_anything_is_opened(door: Door) -> None:
    """Standard input is read up to the most that a text may have, and no further."""
    line = door.refused("turn", "turns", "strategist", "-", said="x" * (TEXT_CHARS_MAX + 1))
    assert f"{TEXT_CHARS_MAX} characters" in line


def test_a_name_of_many_lines_is_told_in_one(door: Door) -> None:
    """Whatever is in it."""
    assert len(door("turn", "show", "turns", "a\nb" * 1_000, "1").err.splitlines()) == 1

"""The commands about turns, on the embedded store and through a server."""

from __future__ import annotations

import pytest
from support.cli_doors import Door, module_door

from tiers.fields import TEXT_CHARS_MAX

QUESTION = "How long do the mediums last?"


@pytest.fixture
def door(shared: Door) -> Door:
    """Each way to a graph of this module's own."""
    return module_door(shared, "turns", "strategist", "engineer")


def test_saying_something_shows_the_context_and_remembers_nothing(door: Door) -> None:
    """Without an answer the turn is not there afterwards; its receipt is."""
    door.done("remember", "turns", "engineer", "Mediums last 18 laps.", "--core")
    opened = door.told("turn", "turns", "engineer", QUESTION)
    assert [one["role"] for one in opened["messages"]] == ["system", "user"]
    assert "18 laps" in opened["messages"][0]["content"]
    assert [slot["kind"] for slot in opened["slots"]] == ["system", "core", "input"]
    assert opened["tokens"] == sum(slot["tokens"] for slot in opened["slots"])
    assert (opened["turn"], opened["response"]) == (None, None)
    assert door.told("turn", "list", "turns", "engineer") == []
    replayed = door.told("replay-context", opened["receipt_id"], "--no-diff")
    assert replayed["messages"] == opened["messages"]

    found = door.done("turn", "turns", "engineer", QUESTION)
    assert found.lines[0] == "[system]"
    assert QUESTION in found.lines
    assert "nothing was remembered" in found.err
    rows = door.done("turn", "turns", "engineer", QUESTION, "--slots").lines
    assert [row.split()[0] for row in rows] == ["system", "core", "input"]


def test_a_reply_makes_it_a_memory_once(door: Door) -> None:
    """Under one name it is stored once, is listed, and is shown with what its model was given."""
    said = ("turn", "turns", "strategist", QUESTION, "--ref", "radio-1", "--topic", "tyres")
    answer = ("--reply", "About 18.", "--tool-output", "timing=lap 1: 81.2")
    first = door.told(*said, *answer, "--at", "2026-05-14T09:30:00", "--speaker", "driver")
    turn = first["turn"]
    assert (turn["seq"], turn["was_new"], turn["topics"]) == (1, True, ["tyres"])
    assert (turn["speaker"], turn["occurred_at"]) == ("driver", "2026-05-14T09:30:00Z")
    again = door.told(*said, *answer)
    assert (again["id"], again["turn"]["was_new"]) == (turn["id"], False)

    (listed,) = door.told("turn", "list", "turns", "strategist")
    assert (listed["id"], listed["response"]) == (turn["id"], "About 18.")
    (row,) = door.done("turn", "list", "turns", "strategist").lines
    assert row == f"1  2026-05-14 09:30  driver  {QUESTION}  About 18."
    for name in ("1", "radio-1"):
        shown = door.told("turn", "show", "turns", "strategist", name)
        assert shown["turn"]["id"] == turn["id"]
        assert shown["context"]["receipt_id"] == first["receipt_id"]
        kinds = [slot["kind"] for slot in shown["context"]["slots"]]
        assert kinds == [slot["kind"] for slot in first["slots"]]
        assert shown["context"]["is_exact"] is True
    lines = door.done("turn", "show", "turns", "strategist", "1").lines
    assert lines[1:4] == [f"driver: {QUESTION}", "strategist: About 18.", "timing: lap 1: 81.2"]
    assert lines[4].split()[0] == "system"

    part = door.told("turn", "output", "turns", "strategist", "radio-1", "--start", 4)
    assert (part["text"], part["tool"], part["next_start"]) == ("1: 81.2", "timing", None)
    cut = door.done("turn", "output", "turns", "strategist", "radio-1", "--length", 3)
    assert cut.out == "lap\n"
    assert "--start 3 of 11" in cut.err


def test_turns_are_listed_page_by_page(door: Door) -> None:
    """The last one first; each page goes on where the one before ended."""
    door.done("agent", "spawn", "turns", "talker")
    for number in range(1, 4):
        door.done("turn", "turns", "talker", f"Lap {number}?", "--reply", "Go.")
    first = door.done("turn", "list", "turns", "talker", "--limit", 2)
    assert [row.split()[0] for row in first.lines] == ["3", "2"]
    assert "--before 2" in first.err
    rest = door.done("turn", "list", "turns", "talker", "--before", 2)
    assert [row.split()[0] for row in rest.lines] == ["1"]
    assert rest.err == ""
    door.done("turn", "say", "turns", "talker", "list", "--private", "--complete")
    (last,) = door.told("turn", "list", "turns", "talker", "--limit", 1)
    assert (last["input"], last["private"]) == ("list", True)
    assert last["response"]


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
        (("turns", "strategist", " "), None, "message"),
        (("turns", "strategist", "-"), "", "message"),
        (("turns", "strategist", "-"), b"\xff\xfe", "text in UTF-8"),
        (("turns", "strategist", "-", "--reply", "-"), "x", "--reply"),
        (("turns", "strategist", "x", "--reply", "y", "--complete"), None, "--complete"),
        (("turns", "strategist", "x", "--tool-output", "a=b"), None, "--tool-output"),
        (("turns", "strategist", "x", "--reply", "y", "--tool-output", "b"), None, "TOOL=TEXT"),
        (("output", "turns", "strategist", "radio-1", "--length", 10**9), None, "length"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_stored(
    door: Door, arguments: tuple[object, ...], said: str | bytes | None, about: str
) -> None:
    """Exit code 2, the argument by name, and as many turns as before."""
    assert about in door.refused("turn", *arguments, said=said)


def test_what_is_too_long_is_refused_before_anything_is_opened(door: Door) -> None:
    """Standard input is read up to the most that a text may have, and no further."""
    line = door.refused("turn", "turns", "strategist", "-", said="x" * (TEXT_CHARS_MAX + 1))
    assert f"{TEXT_CHARS_MAX} characters" in line


@pytest.mark.parametrize("turn", ["0", "99", "radio-9", "9" * 40, "٣"])
def test_a_turn_that_is_not_there_is_said(door: Door, turn: str) -> None:
    """Exit code 1, whatever the name looks like."""
    found = door("turn", "show", "turns", "strategist", turn)
    assert (found.code, found.out) == (1, "")
    assert found.err.startswith("NotFound: ")


def test_of_a_member_that_is_not_there_there_is_no_empty_list(door: Door) -> None:
    """A mistyped name is told, in one line and with the name near it."""
    for asked in (("list", "turns", "strategst"), ("show", "turns", "strategst", "1")):
        found = door("turn", *asked)
        assert (found.code, found.out) == (1, "")
        (line,) = found.err.splitlines()
        assert line.endswith("near it: strategist")
    assert len(door("turn", "show", "turns", "a\nb" * 1_000, "1").err.splitlines()) == 1
    if "silent" not in {one["id"] for one in door.told("agent", "list", "turns")}:
        door.done("agent", "spawn", "turns", "silent")
    assert door.told("turn", "list", "turns", "silent") == []


def test_what_an_agent_may_not_say_is_denied(door: Door) -> None:
    """A topic that it does not hold; nothing was read or written."""
    before = door.told("turn", "list", "turns", "strategist")
    found = door("turn", "turns", "strategist", "x", "--topic", "money", "--reply", "y")
    assert (found.code, found.err.split(":")[0]) == (1, "PolicyDenied")
    assert door.told("turn", "list", "turns", "strategist") == before

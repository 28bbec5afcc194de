"""The commands about poisoned records, on the embedded store and through a server."""

from __future__ import annotations

import pytest
from support.cli_doors import Door, module_door

WHY = ("--reason", "a page planted it")


@pytest.fixture
def door(shared: Door) -> Door:
    """Each way to a graph of this module's own."""
    return module_door(shared, "poisoned", "strategist", "engineer")


def test_poison_is_traced_rolled_back_undone_and_confirmed(door: Door) -> None:
    """The tree is shown as one, the dry run what would be done, and the list how it stands."""
    graph = "taint"
    module_door(door, graph, "strategist", "engineer")
    poison = door.told("remember", graph, "strategist", "Hards explode on lap three.")["id"]
    about = ("--topic", "tyres", "--source", poison)
    belief = door.told("beliefs", "commit", graph, "engineer", "Never use hards.", *about)["id"]
    lines = door.done("taint", "trace", graph, poison).lines
    assert lines[0].startswith(f"root     fact {poison} by strategist")
    assert f"  derived  rests on: belief {belief} by engineer" in lines[1]
    assert "derived: 1 belief" in lines
    found = door.told("taint", "trace", graph, poison, "--limit", 1)
    assert (found["total"], found["cursor"]) == (2, 1)

    dry = door.done("taint", "roll-back", graph, poison, *WHY, "--dry-run").lines
    assert dry == [
        f"set aside: fact {poison} of {graph}",
        f"reverted: belief {belief} of {graph}",
        "2 records would be changed; nothing was done",
    ]
    assert [one["id"] for one in door.told("beliefs", "active", graph)] == [belief]
    done = door.told("taint", "roll-back", graph, poison, *WHY)["roll_back"]
    assert door.told("beliefs", "active", graph) == []
    (row,) = door.done("taint", "list", graph).lines
    assert (done["id"] in row, "open" in row, "a page planted it" in row) == (True, True, True)
    (first, *_) = door.done("taint", "trace", graph, poison).lines
    assert first.endswith("(set aside)  Hards explode on lap three.")
    undone = door.done("taint", "undo", graph, done["id"], "--reason", "no").lines
    assert undone == [f"roll-back {done['id']}: undone, 2 records"]
    assert [one["id"] for one in door.told("beliefs", "active", graph)] == [belief]
    again = door.told("taint", "roll-back", graph, poison, *WHY)["roll_back"]["id"]
    told = door.told("taint", "confirm", graph, again, "--reason", "two looked")
    assert told["roll_back"]["state"] == "confirmed"
    states = [one["state"] for one in door.told("taint", "list", graph)]
    assert states == ["confirmed", "undone"]
    assert "(no content)" in door.done("taint", "trace", graph, poison).lines[0]


def test_what_is_asked_wrongly_is_refused(door: Door) -> None:
    """Unknown records and a blank reason, each in one line."""
    unknown = door("taint", "trace", "poisoned", "nothing")
    assert (unknown.code, "nothing" in unknown.err) == (1, True)
    blank = door("taint", "undo", "poisoned", "x", "--reason", " ")
    assert (blank.code, "reason" in blank.err) == (2, True)
    assert "no record of this graph" in door("taint", "list", "poisoned").err

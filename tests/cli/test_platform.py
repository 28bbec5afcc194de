"""What platforms build on, by the command line, on the embedded store and through a server."""

from __future__ import annotations

import pytest
from support.cli_doors import Door, module_door

GRAPH, AGENT = "platform", "strategist"


@pytest.fixture
def door(shared: Door) -> Door:
    """Each way to a graph of this module's own."""
    return module_door(shared, GRAPH, AGENT)


def test_a_long_output_is_shown_by_its_key_and_read_whole(door: Door) -> None:
    """In the table, as JSON, a range and to the end; a wrong key is named."""
    log = "\n".join(f"line {number}" for number in range(900))
    say = ("turn", "say", GRAPH, AGENT, "Read it.", "--reply", "Done.")
    turn = door.told(*say, "--tool-output", f"journal={log}")["turn"]["id"]
    (shown, *_) = door.told("turn", "list", GRAPH, AGENT)
    assert f'read_tool_output("{turn}/0")' in shown["tool_outputs"][0]["output"]
    read = ("turn", "output", GRAPH, AGENT, f"{turn}/0")
    assert door.told(*read, "--all")["text"] == log
    part = door.told(*read, "--start", 5, "--length", 3)
    assert (part["text"], part["key"], part["next_start"]) == (log[5:8], f"{turn}/0", 8)
    missing = door("turn", "output", GRAPH, AGENT, f"{turn}/7")
    assert (missing.code, f"{turn}/7" in missing.err) == (1, True)


def test_a_statement_is_remembered_once_and_brought_unasked(door: Door) -> None:
    """For the agent alone here, as it works for nobody; for a user it is refused."""
    said = ("remember-fact", GRAPH, AGENT, "Gearbox seals last 9 races.", "--scope", "agent")
    first = door.told(*said, "--metadata", "confidence=0.9")
    again = door.told(*said)
    assert (first["was_new"], again["was_new"], again["id"]) == (True, False, first["id"])
    assert door.done(*said).lines == [first["id"]]
    assert "user_id" in door.refused(*said[:4])
    assert "confidence" in door.refused(*said, "--metadata", "colour=red")
    ask = ("inject", GRAPH, AGENT, "How long do the gearbox seals last?")
    assert [one["id"] for one in door.told(*ask)["items"]] == [first["id"]]
    assert door.done(*ask).lines[0] == "[memory]"
    assert "## Known facts" in door.done(*ask).lines
    assert "kinds" in door.refused(*ask, "--kind", "belief")


def test_an_agent_is_spawned_with_a_window_and_its_contexts_are_compared(door: Door) -> None:
    """What it brings and what its model can hold is shown; the table has a line a turn."""
    spawn = ("agent", "spawn", GRAPH, "guide", "--inject", "turn", "--window", 9000)
    door.told(*spawn)
    shown = door.told("agent", "show", GRAPH, "guide")
    assert "turn" in str(shown)
    assert "9000" in str(shown)
    for number in range(3):
        door.done("turn", "say", GRAPH, "guide", f"question {number}", "--reply", "yes")
    report = door.told("turn", "contexts", GRAPH, "guide")
    assert [one["epoch"] for one in report["turns"]] == [0, 0, 0]
    assert report["turns"][2]["prefix_chars"] > 0
    assert any("of 9000" in line for line in door.done("turn", "contexts", GRAPH, "guide").lines)
    assert "inject" in door.refused("agent", "spawn", GRAPH, "other", "--inject", "now")

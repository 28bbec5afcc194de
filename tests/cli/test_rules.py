"""The commands about rules, on the embedded store and through a server."""

from __future__ import annotations

import pytest
from support.cli_doors import Door, module_door

STEPS = ("Box for inters.", "Watch lap 2.")


@pytest.fixture
def door(shared: Door) -> Door:
    """Each way to a graph of this module's own."""
    return module_door(shared, "rules", "strategist")


def test_a_rule_is_added_once_listed_and_found(door: Door) -> None:
    """By its trigger, with its steps in order and how it did; the same rule has the first id."""
    said = ("rules", "add", "rules", "strategist", "it rains", *STEPS, "--topic", "tyres")
    (rule,) = door.done(*said).lines
    assert door.told(*said)["id"] == rule
    (stored,) = door.told("rules", "list", "rules")["rules"]
    assert (stored["id"], stored["steps"], stored["topics"]) == (rule, [*STEPS], ["tyres"])
    assert door.done("rules", "list", "rules").lines == [
        f"{rule}  when it rains",
        "  1. Box for inters.",
        "  2. Watch lap 2.",
        "  version 1, confirmed 0 times, rejected 0; topics tyres; by strategist",
    ]
    for whose in ((), ("--agent", "strategist")):
        (found,) = door.told("rules", "search", "rules", "What if it rains?", *whose)["items"]
        assert (found["id"], found["kind"]) == (rule, "rule")
    assert door.told("rules", "history", rule)["kind"] == "rule"


def test_rules_are_listed_page_by_page(door: Door) -> None:
    """The latest first; each page goes on where the one before ended."""
    for number in range(3):
        given = ("--topic", "strategy", "--shared")
        door.done("rules", "add", "rules", "strategist", f"lap {number}", "Look.", *given)
    first = door.told("rules", "list", "rules", "--topic", "strategy", "--limit", 2)
    more = ("--limit", 2, "--after", first["cursor"])
    rest = door.told("rules", "list", "rules", "--topic", "strategy", *more)
    triggers = [one["trigger"] for one in (*first["rules"], *rest["rules"])]
    assert triggers == ["lap 2", "lap 1", "lap 0"]
    assert rest["cursor"] is None
    assert "--after" in door.done("rules", "list", "rules", "--limit", 1).err


@pytest.mark.parametrize(
    ("arguments", "about"),
    [
        (("add", "rules", "strategist", "", "x"), "trigger"),
        (("add", "rules", "strategist", "  ", "x"), "trigger"),
        (("add", "rules", "strategist", "x", "y", " "), "steps[1]"),
        (("add", "rules", "strategist", "x", "y", "--topic", "a" * 999), "topics"),
        (("list", "rules", "--after", "1:"), "after"),
        (("search", "rules", ""), "query"),
    ],
)
def test_bad_input_is_one_line(door: Door, arguments: tuple[str, ...], about: str) -> None:
    """Exit code 2, and what is wrong by name."""
    assert about in door.refused("rules", *arguments)

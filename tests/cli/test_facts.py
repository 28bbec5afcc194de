"""The commands about facts, on the embedded store and through a server."""

from __future__ import annotations

import pytest
from support.cli_doors import Door, module_door

TOLD = ("Mediums last 18 laps.", "Softs last 9 laps.", "The pit lane is 400 m long.")


@pytest.fixture
def door(shared: Door) -> Door:
    """Each way to a graph with three facts, one of them core."""
    door = module_door(shared, "facts", "strategist")
    if door.told("facts", "list", "facts")["facts"] == []:
        for text in TOLD[:2]:
            door.done("remember", "facts", "strategist", text, "--topic", "tyres")
        door.done("remember", "facts", "strategist", TOLD[2], "--topic", "strategy", "--core")
    return door


def texts(found: dict[str, list[dict[str, str]]]) -> list[str]:
    """Return what the listed facts say."""
    return [one["text"] for one in found["facts"]]


def test_facts_are_listed_page_by_page(door: Door) -> None:
    """The latest first, each once; narrowed by tier and topic."""
    whole = door.told("facts", "list", "facts")
    assert (texts(whole), whole["cursor"]) == ([*reversed(TOLD)], None)
    first = door.told("facts", "list", "facts", "--limit", 2)
    rest = door.told("facts", "list", "facts", "--limit", 2, "--after", first["cursor"])
    assert texts(first) + texts(rest) == texts(whole)
    assert rest["cursor"] is None
    assert texts(door.told("facts", "list", "facts", "--tier", "core")) == [TOLD[2]]
    assert len(texts(door.told("facts", "list", "facts", "--topic", "tyres"))) == 2
    shown = door.done("facts", "list", "facts", "--limit", 1)
    (row,) = shown.lines
    assert row.split("  ")[1:] == ["core", "strategy", "strategist", TOLD[2]]
    assert "--after " in shown.err


def test_facts_are_found_by_their_words(door: Door) -> None:
    """By the operator and by a member, with their scores; what is not known finds nothing."""
    for whose in ((), ("--agent", "strategist")):
        found = door.told("facts", "search", "facts", "How long is the pit lane?", *whose)
        assert found["items"][0]["text"] == TOLD[2]
        assert found["items"][0]["kind"] == "fact"
    (row,) = door.done("facts", "search", "facts", "pit lane", "--limit", 1).lines
    assert row.endswith(TOLD[2])
    nothing = door.done("facts", "search", "facts", "zeppelin", "--topic", "money")
    assert (nothing.out, "nothing found" in nothing.err) == ("", True)


def test_a_fact_is_shown_and_its_history_told(door: Door) -> None:
    """In full for people and programs; who stored it when is in its history."""
    (fact,) = door.told("facts", "list", "facts", "--tier", "core")["facts"]
    assert door.told("facts", "show", "facts", fact["id"]) == [fact]
    lines = door.done("facts", "show", "facts", fact["id"]).lines
    assert lines[0] == f"{fact['id']}  {TOLD[2]}"
    assert "topics strategy" in lines[1]
    story = door.told("facts", "history", fact["id"])
    assert (story["id"], story["kind"], story["graph_id"]) == (fact["id"], "fact", "facts")
    missing = door("facts", "show", "facts", fact["id"], "nothing")
    assert (missing.code, fact["id"] in missing.out) == (1, True)
    assert missing.err.startswith("NotFound: ")


@pytest.mark.parametrize(
    ("arguments", "about"),
    [
        (("list", "facts", "--tier", "warm"), "--tier"),
        (("list", "facts", "--after", "nonsense"), "after"),
        (("list", "facts", "--topic", " "), "topics"),
        (("search", "facts", " "), "query"),
        (("search", "facts", "x", "--limit", "101"), "limit"),
    ],
)
def test_bad_input_is_one_line(door: Door, arguments: tuple[str, ...], about: str) -> None:
    """Exit code 2, and what is wrong by name."""
    assert about in door.refused("facts", *arguments)

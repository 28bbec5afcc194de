"""The commands about agents, on the embedded store and through a server."""

from __future__ import annotations

import pytest
from support.cli_doors import Door, module_door


@pytest.fixture
def door(shared: Door) -> Door:
    """Each way to a graph of this module's own."""
    return module_door(shared, "agents")


def test_an_agent_is_spawned_listed_shown_and_leaves(door: Door) -> None:
    """Its whole stay: topics, role, user, limits, what it used, and that it left."""
    limits = ("--writes", 5, "--deny-topic", "money", "--source", "wiki")
    spawned = door.told(
        *("agent", "spawn", "agents", "strategist", "--topic", "tyres", "--topic", "Strategy"),
        *("--role", "Plans the race.", "--user", "ann", "--prompt", "daily=Be brief.", *limits),
    )
    assert spawned["topics"] == ["strategy", "tyres"]
    door.done("remember", "agents", "strategist", "Mediums last 18 laps.", "--core")

    shown = door.told("agent", "show", "agents", "strategist")
    record = shown["agent"]
    assert (record["role"], record["user_id"]) == ("Plans the race.", "ann")
    assert (record["denied_topics"], record["sources"]) == (["money"], ["wiki"])
    assert record["prompts"] == {"daily": "Be brief."}
    assert record["budget"] == {"tokens": None, "model_calls": None, "writes": 5}
    assert shown["used"]["writes"] == 1
    assert [fact["text"] for fact in shown["core"]["facts"]] == ["Mediums last 18 laps."]
    text = door.done("agent", "show", "agents", "strategist").out
    assert "1 of 5 writes" in text
    assert "denied: money" in text

    assert door.told("agent", "usage", "agents")["strategist"]["writes"] == 1
    assert door.told("agent", "usage", "agents", "strategist")["strategist"]["writes"] == 1
    assert "strategist is alive" in door.done("agent", "heartbeat", "agents", "strategist").out

    door.done("agent", "spawn", "agents", "engineer")
    assert "has left agents" in door.done("agent", "leave", "agents", "strategist").out
    every = door.told("agent", "list", "agents")
    assert [(one["id"], one["left_at"] is None) for one in every] == [
        ("strategist", False),
        ("engineer", True),
    ]
    (present,) = door.told("agent", "list", "agents", "--present")
    assert present["id"] == "engineer"
    (_, line) = door.done("agent", "list", "agents").lines
    assert line.split() == ["engineer", "present", "-", "-"]


def test_spawning_again_replaces_what_an_agent_may(door: Door) -> None:
    """What is not said the second time is gone; nothing of it is kept from the first."""
    door.done("agent", "spawn", "agents", "scout", "--topic", "rivals", "--user", "ben")
    again = door.told("agent", "spawn", "agents", "scout", "--topic", "*")
    assert again["topics"] == ["*"]
    assert door.told("agent", "show", "agents", "scout")["agent"]["user_id"] is None


@pytest.mark.parametrize(
    ("arguments", "about"),
    [
        (("spawn", "agents", "odd", "--prompt", "hourly=x"), "hourly=x"),
        (("spawn", "agents", "odd", "--prompt", "daily"), "GRAIN=TEXT"),
        (("spawn", "agents", "odd", "--deny-topic", "*"), "denied_topics"),
        (("spawn", "agents", "o" * 600), "id"),
        (("spawn", "agents", ""), "id"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_stored(
    door: Door, arguments: tuple[str, ...], about: str
) -> None:
    """Exit code 2, the field by name, and no agent that was not there before."""
    before = door.told("agent", "list", "agents")
    assert about in door.refused("agent", *arguments)
    assert door.told("agent", "list", "agents") == before


def test_who_is_not_there_is_said(door: Door) -> None:
    """An unknown graph or member is an error of its own, with exit code 1."""
    for arguments in (
        ("list", "monza"),
        ("show", "agents", "nobody"),
        ("usage", "agents", "nobody"),
        ("leave", "agents", "nobody"),
        ("heartbeat", "monza", "nobody"),
    ):
        found = door("agent", *arguments)
        assert (found.code, found.out) == (1, ""), arguments
        assert found.err.startswith("NotFound: "), arguments

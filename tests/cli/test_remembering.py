"""Remembering and forgetting from the command line, on the embedded store and through a server."""

from __future__ import annotations

from pathlib import Path

import pexpect
import pytest
from support.cli_doors import Door, module_door, served
from support.command import COMMAND

from ezra.service.tokens import TokenFile
from tiers.ids import system_clock


@pytest.fixture
def door(shared: Door) -> Door:
    """Each way to a graph of this module's own."""
    return module_door(shared, "memories", "strategist", "engineer")


def fact_of(door: Door, fact: str) -> dict[str, object]:
    """Return a fact as it is stored."""
    (found,) = door.told("facts", "show", "memories", fact)
    return dict(found)


def test_a_fact_is_remembered_once(door: Door) -> None:
    """The same statement says the first id again, and costs nothing."""
    said = ("remember", "memories", "strategist", "The pit lane is 400 m long.")
    (stored,) = door.done(*said, "--topic", "strategy").lines
    assert door.told(*said, "--topic", "strategy")["id"] == stored
    fact = fact_of(door, stored)
    assert (fact["tier"], fact["topics"], fact["agent_id"]) == (
        "archival",
        ["strategy"],
        "strategist",
    )


def test_a_fact_is_stored_with_all_that_is_said_of_it(door: Door) -> None:
    """Triple, tier, confidence, since when, and the fact whose place it takes."""
    triple = ("--triple", "mediums", "last", "18 laps")
    old = door.told("remember", "memories", "strategist", *triple, "--core")["id"]
    later = ("--triple", "mediums", "last", "20 laps", "--supersedes", old, "--confidence", 0.5)
    new = door.told("remember", "memories", "strategist", *later, "--valid-from", "2026-05-14")
    fact = fact_of(door, new["id"])
    assert (fact["text"], fact["object"], fact["confidence"]) == (
        "mediums last 20 laps",
        "20 laps",
        0.5,
    )
    assert fact["valid_from"] == "2026-05-14T00:00:00Z"
    gone = fact_of(door, old)
    assert (gone["tier"], gone["superseded_by"]) == ("core", new["id"])


def test_who_may_see_it_is_as_it_was_said(door: Door) -> None:
    """A private note stays its agent's; of a user's facts a shared one is everybody's."""
    private = door.told("remember", "memories", "engineer", "-", "--private", said="Note.\n")["id"]
    found = door.told("facts", "search", "memories", "Note", "--agent", "engineer")
    assert private in {one["id"] for one in found["items"]}
    found = door.told("facts", "search", "memories", "Note", "--agent", "strategist")
    assert private not in {one["id"] for one in found["items"]}
    door.done("agent", "spawn", "memories", "concierge", "--user", "ann")
    door.done("agent", "spawn", "memories", "butler", "--user", "ben")
    own = door.told("remember", "memories", "concierge", "Breakfast is at seven.")["id"]
    every = door.told("remember", "memories", "concierge", "Breakfast has coffee.", "--shared")
    found = door.told("facts", "search", "memories", "breakfast", "--agent", "butler")
    seen = {one["id"] for one in found["items"]}
    assert (own in seen, every["id"] in seen) == (False, True)


def test_forgetting_leaves_a_tombstone(door: Door) -> None:
    """It is in no search any more, once; its row says that it is forgotten, and the feed why."""
    fact = door.told("remember", "memories", "strategist", "Softs last 9 laps.")["id"]
    said = ("forget", "memories", "strategist", fact, "--reason", "it was a guess", "--yes")
    assert door.told(*said) == {"id": fact, "forgotten": True}
    assert door.told("facts", "search", "memories", "Softs")["items"] == []
    assert fact_of(door, fact)["forgotten_at"]
    (event,) = door.told("audit", "memories", "--kind", "forgotten", "--record", fact)
    assert event["reason"] == "it was a guess"
    again = door(*said, "--json")
    assert (again.code, again.document) == (1, {"id": fact, "forgotten": False})
    assert "is forgotten" in door.done("facts", "show", "memories", fact).out


@pytest.mark.parametrize(
    ("arguments", "about"),
    [
        (("remember", "memories", "strategist"), "--triple"),
        (("remember", "memories", "strategist", " "), "Fact"),
        (("remember", "memories", "strategist", "x", "--confidence", "1.5"), "confidence"),
        (("remember", "memories", "strategist", "--triple", "a", "b", " "), "Fact"),
        (("forget", "memories", "strategist", "x", "--reason", " ", "--yes"), "--reason"),
        (("forget", "memories", "strategist", "x", "--reason", "why"), "--yes"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_stored(
    door: Door, arguments: tuple[str, ...], about: str
) -> None:
    """Exit code 2, what is wrong by name, and no write counted."""
    before = door.told("agent", "usage", "memories")
    assert about in door.refused(*arguments)
    assert door.told("agent", "usage", "memories") == before


def test_forgetting_on_a_terminal_asks(tmp_path: Path) -> None:
    """Shows what is meant; no forgets nothing, and yes forgets it. Through a real terminal."""
    home = tmp_path / "home"
    door = Door("embedded", ("--home", str(home)))
    module_door(door, "imola", "strategist")
    (fact,) = door.done("remember", "imola", "strategist", "Softs last 9 laps.").lines
    said = ["forget", "imola", "strategist", fact, "--reason", "a guess", "--home", str(home)]
    for answer, code in (("n", 1), ("y", 0)):
        child = pexpect.spawn(
            str(COMMAND), said, env={"PATH": str(COMMAND.parent), "EZRA_EMBEDDER": "off"},
            encoding="utf-8", timeout=30, dimensions=(24, 200),
        )  # fmt: skip
        child.expect_exact(f"Forget {fact} (Softs last 9 laps.)? [y/N]: ")
        child.sendline(answer)
        child.expect(pexpect.EOF)
        child.close()
        assert child.exitstatus == code, child.before
    (stored,) = door.told("facts", "show", "imola", fact)
    assert stored["forgotten_at"]


def test_a_token_of_one_agent_is_enough_for_what_that_agent_does(tmp_path: Path) -> None:
    """Through a server, for who may not look at the graph; what needs more is denied."""
    tokens = TokenFile(tmp_path / "tokens.json", system_clock)
    _, all_of_it = tokens.create("boss", "operator", expires_at=None)
    _, shown = tokens.create(
        "one", "agent", graph_id="imola", agent_id="strategist", expires_at=None
    )
    with served(tmp_path / "home", tokens) as url:
        boss = Door("server", ("--url", url), all_of_it)
        module_door(boss, "imola", "strategist", "engineer")
        mine = Door("server", ("--url", url), shown)
        fact = mine.told("remember", "imola", "strategist", "Softs last 9 laps.")["id"]
        mine.done("rules", "add", "imola", "strategist", "it rains", "Box.")
        mine.done("turn", "imola", "strategist", "Box now?", "--reply", "Yes.")
        mine.done("beliefs", "commit", "imola", "strategist", "We box.", "--topic", "strategy")
        assert len(mine.told("beliefs", "active", "imola", "--agent", "strategist")) == 1
        assert mine.told("facts", "search", "imola", "Softs", "--agent", "strategist")["items"]
        assert mine.told("agent", "usage", "imola", "strategist")["strategist"]["writes"] == 4
        gone = ("forget", "imola", "strategist", fact, "--reason", "a guess", "--yes")
        assert mine.told(*gone)["forgotten"]
        for denied in (
            ("facts", "list", "imola"),
            ("beliefs", "active", "imola"),
            ("agent", "list", "imola"),
            ("turn", "list", "imola", "strategist"),
            ("remember", "imola", "engineer", "x"),
            ("export", "imola", tmp_path / "imola.ezra"),
        ):
            found = mine(*denied)
            assert (found.code, found.err.split(":")[0]) == (1, "PolicyDenied"), (denied, found)
    assert not (tmp_path / "imola.ezra").exists()


@pytest.mark.parametrize("time", ["2025", "-1", "5", "yesterday", "", "0001-01-01T00:00:00+05:00"])
def test_what_is_no_time_is_refused(door: Door, time: str) -> None:
    """A number would be the seconds since 1970; none is taken for a moment, at any command."""
    for asked in (
        ("remember", "memories", "strategist", "Since when?", "--valid-from", time),
        ("turn", "memories", "strategist", "When?", "--at", time),
        ("audit", "memories", "--since", time),
        ("knowledge", "entity", "memories", "softs", "--as-of", time),
    ):
        done = door(*asked)
        assert (done.code, done.out) == (2, ""), asked
        assert "must be a time such as" in done.err

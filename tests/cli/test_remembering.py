"""What is said, written and forgotten at the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pexpect
import pytest
from support.cli_doors import Door, module_door, served
from support.command import ezra
from support.runtime import running
from support.warm_command import warm_command

from ezra.service.tokens import TokenFile
from tiers.fields import TEXT_CHARS_MAX
from tiers.ids import system_clock

# Who is asked before something is forgotten, and what a token of one agent is enough for.


def test_forgetting_on_a_terminal_asks(tmp_path: Path) -> None:
    """Shows what is meant; no forgets nothing, and yes forgets it. Through a real terminal."""
    home = tmp_path / "home"
    door = Door("embedded", ("--home", str(home)))
    module_door(door, "imola", "strategist")
    (fact,) = door.done("remember", "imola", "strategist", "Softs last 9 laps.").lines
    said = ["forget", "imola", "strategist", fact, "--reason", "a guess", "--home", str(home)]
    for answer, code in (("n", 1), ("y", 0)):
        child = pexpect.spawn(
            str(warm_command()), said, env={"EZRA_EMBEDDER": "off"},
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


# What a command writes into an embedded memory is found by meaning when it returns.

FACT = "The ferry to the island leaves at nine."
QUESTION = "When does the boat depart?"


@pytest.mark.parametrize("door", ["ezra", "bridge"])
def test_r9_26_what_a_command_wrote_is_found_by_meaning(tmp_path: Path, door: str) -> None:
    """By the next command, with nobody at work in between; and what it forgot is not."""
    home = tmp_path / "home"
    variables = {"EZRA_EMBEDDER": "required"}

    def told(*arguments: str) -> dict[str, object]:
        done = ezra(home, *arguments, "--json", **variables)
        assert done.returncode in (0, 1), done.stderr
        found: dict[str, object] = json.loads(done.stdout)
        return found

    if door == "bridge":
        variables |= {"EZRA_BRIDGE_AGENT": "builder", "EZRA_BRIDGE_STATE": str(tmp_path / "state")}
        stored = told("bridge", "remember", "decision", FACT)["id"]
        ask = ("bridge", "recall", QUESTION, "--semantic")
        forget = ("bridge", "forget", str(stored))
    else:
        told("graph", "create", "g")
        told("agent", "spawn", "g", "a")
        stored = told("remember", "g", "a", FACT)["id"]
        ask = ("recall", "g", QUESTION, "--mode", "semantic")
        forget = ("forget", "g", "a", str(stored), "--reason", "asked to", "--yes")
    found = told(*ask)
    assert stored in json.dumps(found)
    assert found["degraded"] == []
    told(*forget)
    assert stored not in json.dumps(told(*ask))


async def test_r9_26_meaning_alone_says_what_it_cannot_find_yet(tmp_path: Path) -> None:
    """Where nobody has indexed what was written, the answer says so instead of nothing."""
    async with running(tmp_path, embedder="required") as opened:
        graph = await opened.create_session_graph("g")
        agent = await graph.spawn_agent("a")
        stored = await agent.remember(FACT)
        found = await agent.recall(QUESTION, mode="semantic")
        assert (found.items, found.degraded) == ((), ("dense",))
        assert "1 records" in " ".join(found.skipped)
        await opened.drain_learning()
        found = await agent.recall(QUESTION, mode="semantic")
        assert [hit.id for hit in found.items] == [stored]
        assert found.degraded == ()


# What is said to the command line by standard input, on the embedded store and on a server.


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

"""Who is asked before something is forgotten, and what a token of one agent is enough for."""

from __future__ import annotations

from pathlib import Path

import pexpect
from support.cli_doors import Door, module_door, served
from support.warm_command import warm_command

from ezra.service.tokens import TokenFile
from tiers.ids import system_clock


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

"""The commands about beliefs, on the embedded store and through a server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.cli_doors import Door, module_door

KEY = ("--key", "start", "compound")


@pytest.fixture
def door(shared: Door) -> Door:
    """Each way to a graph of this module's own."""
    return module_door(shared, "beliefs", "strategist", "engineer")


def graph_of(door: Door, name: str) -> str:
    """Return a new graph with two agents."""
    module_door(door, name, "strategist", "engineer")
    return name


def committed(door: Door, graph: str, agent: str, claim: str, *more: object) -> str:
    """Commit to a belief and return its id."""
    belief: str = door.told("beliefs", "commit", graph, agent, claim, *more)["id"]
    return belief


def claims(found: list[dict[str, str]]) -> list[str]:
    """Return what beliefs say."""
    return [one["claim"] for one in found]


def test_beliefs_are_committed_contradicted_and_taken_back(door: Door) -> None:
    """Who lost is told, with the reason; taking the winner back lets the other stand again."""
    graph = graph_of(door, "contradicted")
    door.done("turn", graph, "strategist", "Which tyres?", "--reply", "Mediums.")
    about = (*KEY, "--topic", "tyres")
    first = committed(door, graph, "strategist", "Start on mediums.", *about, "--value", "medium")
    source = ("--source", first, "--ref", "call-1", "--value", "soft")
    second = committed(door, graph, "engineer", "Start on softs.", *about, *source)
    assert committed(door, graph, "engineer", "Start on softs.", *about, *source) == second

    assert claims(door.told("beliefs", "active", graph)) == ["Start on softs."]
    assert claims(door.told("beliefs", "active", graph, "--agent", "strategist")) == [
        "Start on softs."
    ]
    (row,) = door.done("beliefs", "active", graph).lines
    assert row.split("  ")[0] == second
    assert row.endswith("start/compound = soft: Start on softs.")
    (found,) = door.told("beliefs", "contradictions", graph)
    assert found["decision"]["winner"] == "new"
    assert (found["belief_id"], found["decision"]["rival_id"]) == (second, first)
    head, won = door.done("beliefs", "contradictions", graph).lines
    assert (second in head, first in head, "last_write_wins" in won) == (True, True, True)
    history = door.told("beliefs", "history", graph)
    assert [(one["id"], one["status"]) for one in history] == [
        (first, "superseded"),
        (second, "active"),
    ]
    assert door.told("beliefs", "explain", graph, first)["superseded_by"]["id"] == second

    done = door.told("beliefs", "retract", graph, second, "--reason", "it was a test")
    assert (done["ended"], done["restored"]) == ([second], [first])
    assert claims(door.told("beliefs", "active", graph)) == ["Start on mediums."]
    lines = door.done("beliefs", "rewind", graph, "--seq", 4, "--reason", "so it was").lines
    assert lines == [f"- {first}", f"+ {second}", "1 ended, 1 active again"]
    kinds = [one["kind"] for one in door.told("beliefs", "log", graph)]
    assert kinds[:4] == ["committed", "committed", "contradicted", "superseded"]


def test_the_log_is_read_page_by_page_with_or_without_what_was_said(door: Door) -> None:
    """Events say nothing of contents unless they are asked for; a page says where to go on."""
    graph = graph_of(door, "logged")
    committed(door, graph, "strategist", "Rain at two.", "--topic", "strategy")
    committed(door, graph, "strategist", "Box on 18.", "--topic", "strategy")
    page = door.done("beliefs", "log", graph, "--limit", 1, "--json")
    assert "--after 1" in page.err
    (event,) = page.document
    assert (event["seq"], event["kind"]) == (1, "committed")
    assert "Rain" not in page.out
    (rest,) = door.told("beliefs", "log", graph, "--after", 1, "--contents")
    assert json.loads(rest["content"])["claim"] == "Box on 18."
    rows = door.done("beliefs", "log", graph).lines
    assert [row.split("  ")[0] for row in rows] == ["1", "2"]
    assert door.told("beliefs", "contradictions", graph) == []


def test_what_was_believed_then_is_shown(door: Door) -> None:
    """By turn or time: active then, the difference, and what one turn did."""
    graph = graph_of(door, "then")
    for number in (1, 2):
        door.done("turn", graph, "strategist", f"Lap {number}?", "--reply", "Yes.")
        committed(door, graph, "strategist", f"Belief {number}.", "--topic", "tyres")
    assert claims(door.told("beliefs", "active", graph, "--as-of", 1)) == ["Belief 1."]
    mine = ("--agent", "strategist", "--as-of", "2020-01-01")
    assert door.told("beliefs", "active", graph, *mine) == []
    assert claims(door.told("beliefs", "as-of", graph, 1)) == ["Belief 1."]
    assert claims(door.told("beliefs", "diff", graph, 1, 2)["began"]) == ["Belief 2."]
    replayed = door.told("beliefs", "replay", graph, 2)
    assert replayed["turn"]["input"] == "Lap 2?"
    assert (claims(replayed["before"]), len(replayed["after"])) == (["Belief 1."], 2)
    lines = door.done("beliefs", "replay", graph, 2).lines
    assert lines[0] == "turn 2: strategist: Lap 2?"
    assert lines[-2:] == ["+ Belief 2.", "1 beliefs before, 2 after"]
    assert door.done("beliefs", "replay", graph, 9).lines[0] == "turn 9: none is stored"


def test_pins_come_first_and_go(door: Door) -> None:
    """For everybody or for one agent; what is no active belief cannot be pinned."""
    graph = graph_of(door, "pinned")
    belief = committed(door, graph, "strategist", "Tyres first.", "--topic", "tyres")
    assert door.told("beliefs", "pin", graph, belief)["id"] == belief
    (slot,) = [
        slot
        for slot in door.told("turn", graph, "engineer", "x")["slots"]
        if slot["kind"] == "belief"
    ]
    assert slot["source_ids"] == [belief]
    assert door.done("beliefs", "unpin", graph, belief).lines == [
        f"unpinned {belief}: Tyres first."
    ]
    assert door.told("beliefs", "pin", graph, belief, "--agent", "strategist")["pinned"] is True
    for command in ("pin", "unpin"):
        missing = door("beliefs", command, graph, "nothing")
        assert (missing.code, missing.err.split(":")[0]) == (1, "NotFound")


def test_trust_is_shown_and_set(door: Door) -> None:
    """An event of the log, with its reason; one agent and one topic at a time."""
    graph = graph_of(door, "trusted")
    committed(door, graph, "strategist", "Box on 18.", "--topic", "tyres")
    setting = ("--topic", "tyres", "--set", 0.5, "--reason", "it guessed")
    assert door.told("beliefs", "trust", graph, "strategist", *setting) == {
        "agent": "strategist",
        "topic": "tyres",
        "trust": 0.5,
        "was": 1.0,
    }
    (row,) = door.done("beliefs", "trust", graph, "strategist").lines
    assert row == "strategist  tyres  0.50"
    assert door.told("beliefs", "trust", graph, "engineer") == []
    again = door.done(
        "beliefs", "trust", graph, "strategist", *setting[:2], "--set", 1, "--reason", "x"
    )
    assert again.lines == ["strategist about tyres: 0.5 to 1"]


def test_what_was_redacted_is_gone_and_the_chain_holds(door: Door) -> None:
    """Its words are nowhere; the log still verifies."""
    graph = graph_of(door, "redacted")
    belief = committed(door, graph, "strategist", "Jane likes softs.", "--topic", "tyres")
    done = door.told("beliefs", "redact", graph, belief, "--reason", "GDPR 17")
    assert belief in done["ids"]["belief"]
    assert "Jane" not in door.done("beliefs", "log", graph, "--contents", "--json").out
    assert door.told("beliefs", "verify", graph)["ok"] is True
    other = committed(door, graph, "strategist", "Jane likes rain.", "--topic", "tyres")
    (line, *_) = door.done("beliefs", "redact", graph, other, "--reason", "GDPR 17").lines
    assert line.startswith(f"{other} redacted")


def test_a_log_is_signed_proved_and_exported(door: Door, tmp_path: Path) -> None:
    """Heads, inclusion, growth, origin, and a file that the offline verifier takes."""
    graph = graph_of(door, "signed")
    door.done("audit", "key")
    for number in range(2):
        committed(door, graph, "strategist", f"Belief {number}.", "--topic", "tyres")
    head = door.told("beliefs", "sign", graph)
    committed(door, graph, "strategist", "Belief 2.", "--topic", "tyres")
    assert [one["root"] for one in door.told("beliefs", "heads", graph)] == [head["root"]]
    (row,) = door.done("beliefs", "heads", graph).lines
    assert row.split("  ")[0] == "2"
    proof = door.told("beliefs", "prove", graph, 1, "--size", 2)
    assert (proof["holds"], proof["root"]) == (True, head["root"])
    assert "is the root of the first 3" in door.done("beliefs", "prove", graph, 2).lines[-1]
    growth = door.told("beliefs", "prove-growth", graph, 2)
    assert door.done("beliefs", "prove-growth", graph, 2).lines == growth["proof"]
    path = tmp_path / "log.jsonl"
    assert door.told("beliefs", "export-proof", graph, "-o", path)["events"] == 3
    assert "intact: 3 events" in door.done("beliefs", "verify", graph).out
    none = door("beliefs", "origin", graph, "--json")
    assert (none.code, none.document) == (1, None)
    if "signed-branch" not in {one["id"] for one in door.told("graph", "list")}:
        door.done("graph", "branch", graph, "signed-branch")
    assert door.told("beliefs", "origin", "signed-branch")["graph_id"] == graph


@pytest.mark.parametrize(
    ("arguments", "about"),
    [
        (("commit", "beliefs", "strategist", " "), "claim"),
        (("commit", "beliefs", "strategist", "x", "--key", "", " "), "key"),
        (("active", "beliefs", "--as-of", "yesterday"), "--as-of"),
        (("active", "beliefs", "--as-of", "٣٣٣٣٣٣٣٣٣٣٣٣٣٣٣٣٣٣٣٣"), ""),
        (("retract", "beliefs", "x", "--reason", " "), "reason"),
        (("rewind", "beliefs", "--reason", "x"), "exactly one"),
        (("rewind", "beliefs", "--reason", "x", "--turn", "1", "--seq", "1"), "exactly one"),
        (("rewind", "beliefs", "--reason", "x", "--time", "soon"), "--time"),
        (("trust", "beliefs", "--set", "0.5"), "--set"),
        (("trust", "beliefs", "strategist", "--set", "2", "--reason", "x"), "trust"),
        (("trust", "beliefs", "strategist", "--set", "0.5"), "reason"),
    ],
)
def test_bad_input_is_one_line(door: Door, arguments: tuple[str, ...], about: str) -> None:
    """Exit code 2, what is wrong by name, and no event in the log."""
    assert about in door.refused("beliefs", *arguments)
    assert door.told("beliefs", "log", "beliefs") == []

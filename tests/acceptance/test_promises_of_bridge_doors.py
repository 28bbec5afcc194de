"""The bridge with a token of one agent, which opens no graph: what it finds, and how it begins."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.cli_doors import Door, door_to, served
from support.runtime import MovingClock

from ezra.service.tokens import TokenFile

NOTE = "---\ntitle: Degradation handbook\n---\nThe soft one falls off after nine laps.\n"


@pytest.fixture(autouse=True)
def memories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the notes of an agent on its machine."""
    folder = tmp_path / "memories"
    folder.mkdir()
    for name, value in {
        "AGENT": "scout",
        "MACHINE": "laptop",
        "STATE": str(tmp_path / "state"),
        "MEMORY_PATH": str(folder),
    }.items():
        monkeypatch.setenv(f"EZRA_BRIDGE_{name}", value)
    return folder


@pytest.fixture
def doors(tmp_path: Path) -> Iterator[dict[str, Door]]:
    """A server's door for each role; the agent's token is of one agent of one graph."""
    clock = MovingClock()
    tokens = TokenFile(tmp_path / "tokens.json", clock)
    shown = {
        "operator": tokens.create("operator", "operator", expires_at=None)[1],
        "reader": tokens.create("reader", "reader", expires_at=None)[1],
        "agent": tokens.create(
            "agent", "agent", graph_id="bridge", agent_id="scout", expires_at=None
        )[1],
    }
    with served(tmp_path / "home", tokens, clock=clock) as url:
        yield {role: Door("server", ("--url", url), token) for role, token in shown.items()}


def test_r9_28_who_was_not_let_in_yet_is_told_who_lets_in(doors: dict[str, Door]) -> None:
    """A first status helps, whatever is missing; once an operator did as it says, all is well."""
    mine, operator = doors["agent"], doors["operator"]
    for made in ((), ("graph", "create", "bridge")):
        if made:
            operator.done(*made)
        for door in (mine, doors["reader"]):
            told = door.told("bridge", "status")
            assert (told["reachable"], told["is_there"]) == (False, True)
            assert "ezra agent spawn bridge scout --topic" in told["reason"]
            assert door.told("bridge", "heartbeat") == {"given": False}
        refused = mine("bridge", "remember", "note", "Rain at two.")
        assert (refused.code, "ezra agent spawn bridge scout" in refused.err) == (1, True)
    operator.done("agent", "spawn", "bridge", "scout", "--topic", "*")
    mine.done("bridge", "remember", "note", "Rain at two.")
    assert mine.told("bridge", "status")["reachable"]
    assert len(doors["reader"].told("bridge", "recall", "rain")["memories"]) == 1


def test_r9_28_an_agent_that_left_comes_back_by_its_own_token(doors: dict[str, Door]) -> None:
    """As it was, with every topic, though its token opens no graph."""
    mine, operator = doors["agent"], doors["operator"]
    operator.done("bridge", "remember", "note", "Rain at two.")
    operator.done("agent", "leave", "bridge", "scout")
    assert len(mine.told("bridge", "recall", "rain")["memories"]) == 1
    mine.done("bridge", "remember", "note", "Dry at four.")


def test_r9_27_a_token_of_the_agent_finds_what_it_synced(
    doors: dict[str, Door], memories: Path
) -> None:
    """By recall, by the search of notes and by id."""
    mine, operator = doors["agent"], doors["operator"]
    operator.done("graph", "create", "bridge")
    operator.done("agent", "spawn", "bridge", "scout", "--topic", "*")
    (memories / "tyres.md").write_text(NOTE)
    assert mine.told("bridge", "sync-memories")["counts"] == {"pushed": 1}
    (found,) = mine.told("bridge", "recall", "degradation handbook")["memories"]
    assert (found["note"], found["title"]) == ("tyres.md", "Degradation handbook")
    (searched,) = mine.told("bridge", "graph", "search", "degradation", "--all-time")
    assert searched["path"] == "tyres.md"
    assert mine.told("bridge", "show", found["id"])["content"] == NOTE


def test_r9_27_more_notes_than_an_answer_holds_are_no_error(tmp_path: Path, memories: Path) -> None:
    """With as many memories about the same, which stand among them; all of both are carried."""
    both = 110
    for number in range(both):
        (memories / f"{number:03}.md").write_text(f"The tyre of car {number} is worn.\n")
    line = {"kind": "memory", "type": "note", "agent": "scout", "tags": [], "title": "",
            "created_at": "2026-01-01T00:00:00+00:00"}  # fmt: skip
    said = [
        {"id": f"01985a4c-0000-7000-8000-{number:012}", "content": f"The tyre of {number} is new."}
        for number in range(both)
    ]
    file = tmp_path / "many.ndjson"
    file.write_text("\n".join(json.dumps(line | one) for one in said))
    with door_to("server", tmp_path / "home") as door:
        door.done("bridge", "sync-memories")
        door.done("bridge", "import", file)
        for limit in (5, 100):
            found = door.told("bridge", "recall", "worn tyre of car 7", "--limit", limit)
            assert len(found["memories"]) == limit
            assert found["memories"][0]["note"] == "007.md"
        assert door.told("bridge", "export", tmp_path / "whole.ndjson")["lines"] == 2 * both

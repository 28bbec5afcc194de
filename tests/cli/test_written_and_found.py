"""What a command writes into an embedded memory is found by meaning when it returns."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.command import ezra
from support.runtime import running

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

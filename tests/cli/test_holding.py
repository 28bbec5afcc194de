"""What auditors ask of a record: what would go with a person, and who was shown it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support.doors import run


@pytest.fixture
def ezra(tmp_path: Path) -> Callable[..., str]:
    """Run a command, which must succeed, on a folder of the test's own; returns what it prints."""

    def done(*arguments: str) -> str:
        found = run(*arguments, EZRA_HOME=str(tmp_path / "home"))
        assert found.code == 0, found
        return found.out

    return done


def test_a_rehearsal_lists_and_erases_nothing(ezra: Callable[..., str], tmp_path: Path) -> None:
    """As lines and as JSON, and needs no reason; with one instead of the flag it erases."""
    ezra("graph", "create", "imola")
    ezra("agent", "spawn", "imola", "one")
    ezra("remember", "imola", "one", "Jane Miller likes window seats.")
    ezra("remember", "imola", "one", "Mediums last 18 laps.")
    erase = ("graph", "erase", "imola", "--subject", "Jane Miller")
    shown = ezra(*erase, "--dry-run")
    assert shown.startswith("fact  ")
    assert "  Jane Miller likes window seats." in shown.splitlines()
    (record,) = json.loads(ezra(*erase, "--dry-run", "--json"))["records"]
    assert (record["kind"], record["agent_id"]) == ("fact", "one")
    assert "Jane Miller" in ezra("facts", "list", "imola")
    refused = run(*erase, EZRA_HOME=str(tmp_path / "home"))
    assert (refused.code, "--reason" in refused.err) == (2, True)
    ezra(*erase, "--reason", "asked to")
    assert json.loads(ezra(*erase, "--dry-run", "--json"))["records"] == []
    assert "Mediums" in ezra("facts", "list", "imola")


def test_who_read_a_record_is_told(ezra: Callable[..., str]) -> None:
    """A turn that was shown it, as a line and as JSON."""
    ezra("graph", "create", "imola")
    ezra("agent", "spawn", "imola", "one")
    fact = json.loads(ezra("remember", "imola", "one", "Mediums last 18 laps.", "--json"))["id"]
    assert json.loads(ezra("audit", "readings", "imola", fact, "--json"))["total"] == 0
    ezra("turn", "say", "imola", "one", "How long do mediums last?", "--reply", "18 laps.")
    (reading,) = json.loads(ezra("audit", "readings", "imola", fact, "--json"))["readings"]
    assert (reading["agent_id"], reading["kind"]) == ("one", "turn")
    assert reading["receipt_id"] in ezra("audit", "readings", "imola", fact)

"""The commands about the knowledge graph, as a person or a program uses them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from ezra import UsageError
from ezra.cli.app import app_of

app = app_of()

Command = Callable[..., Result]


@pytest.fixture
def ezra(tmp_path: Path) -> Command:
    """Run a command about the knowledge of a graph of the test's own."""
    environment = {"EZRA_HOME": str(tmp_path / "home"), "EZRA_EMBEDDER": "off"}
    runner = CliRunner(env=environment)
    assert runner.invoke(app, ["graph", "create", "imola"]).exit_code == 0
    return lambda name, *rest: runner.invoke(app, ["knowledge", name, "imola", *map(str, rest)])


def document(result: Result) -> Any:
    """Return what a command printed with ``--json``."""
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_a_graph_is_told_asked_and_corrected(ezra: Command) -> None:
    """Every command, for programs; what ended is in history with what ended it."""
    first = document(ezra("add", "Max", "drives for", "Red Bull", "--topic", "teams", "--json"))
    assert (first["op"], first["ended"]) == ("ADD", [])
    second = document(ezra("update", "max", "drives for", "Ferrari", "--json"))
    assert second["ended"] == [first["id"]]
    named = document(ezra("alias", "Max", "Mad Max", "--json"))
    based = document(ezra("add", "Ferrari", "is based in", "Maranello", "--json"))
    entity = document(ezra("entity", "mad_max", "--json"))
    assert (entity["name"], entity["facts"]) == ("max", 1)
    near = document(ezra("neighbours", "Mad Max", "--depth", 2, "--json"))
    assert [one["fact"]["id"] for one in near] == [second["id"], based["id"]]
    chain = document(ezra("path", "maranello", "MAX", "--json"))
    assert [fact["id"] for fact in chain] == [based["id"], second["id"]]
    told = document(ezra("history", "Max", "--json"))
    assert [one["id"] for one in told] == [first["id"], second["id"], named["id"]]
    gone = document(ezra("delete", "Max", "drives for", "--reason", "retired", "--json"))
    assert gone == {"ended": [second["id"]]}
    assert ezra("delete", "Max", "drives for", "--reason", "again").exit_code == 1


def test_people_see_lines_and_exit_codes(ezra: Command) -> None:
    """A tree of neighbours, numbered chains, history with its ends; nothing found is no success."""
    ezra("add", "Max", "drives for", "Red Bull")
    ezra("add", "Red Bull", "is based in", "Milton Keynes")
    assert "Max: 1 facts" in ezra("entity", "MAX").stdout
    lines = ezra("neighbours", "max", "--depth", 2).stdout.splitlines()
    assert lines[1].startswith("  Max → drives for → Red Bull")
    assert lines[2].startswith("    Red Bull → is based in → Milton Keynes")
    assert "2. Red Bull → is based in" in ezra("path", "Max", "milton keynes").stdout
    assert "are one" in ezra("path", "Max", "MAX").stdout
    ezra("update", "Max", "drives for", "Ferrari")
    assert ", by " in ezra("history", "Max").stdout.splitlines()[0]
    for missing in (ezra("entity", "nobody"), ezra("path", "Max", "nobody")):
        assert missing.exit_code == 1
        assert "Traceback" not in missing.output
    wrong = ezra("neighbours", "Max", "--depth", 9)
    assert isinstance(wrong.exception, UsageError)

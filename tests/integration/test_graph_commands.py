"""The commands about session graphs and the audit feed, as a person or a program uses them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from ezra import Conflict, NotFound
from ezra.cli.app import app_of

app = app_of()

Command = Callable[..., Result]


@pytest.fixture
def ezra(tmp_path: Path) -> Command:
    """Run a command on a folder of the test's own, in this process."""
    runner = CliRunner(env={"EZRA_HOME": str(tmp_path / "home"), "EZRA_EMBEDDER": "off"})
    return lambda *arguments: runner.invoke(app, [*map(str, arguments)])


def document(result: Result) -> Any:
    """Return what a command printed with ``--json``."""
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_a_graph_from_its_making_to_its_archive(ezra: Command) -> None:
    """Create, link, show, limit, revoke, close, reopen and archive; the feed tells all of it."""
    assert ezra("graph", "create", "monaco").exit_code == 0
    made = document(ezra("graph", "create", "imola", "--inherits-from", "monaco", "--json"))
    assert made == {"graph": "imola", "inherits_from": ["monaco"]}
    limited = document(ezra("graph", "budget", "imola", "--writes", 5, "--json"))
    assert limited["budget"] == {"tokens": None, "model_calls": None, "writes": 5}
    assert ezra("graph", "retention", "imola", "--archive-after-days", 7).exit_code == 0
    shown = ezra("graph", "show", "imola").stdout
    assert "inherits from monaco, with core facts, rule" in shown
    assert "0 writes of 5" in shown
    found = document(ezra("graph", "show", "imola", "--json"))
    assert found["lineage"][0]["path"] == ["monaco"]
    assert ezra("graph", "revoke", "imola", "monaco").exit_code == 0
    pinned = ("--as-of", "2026-05-14T15:04:00", "--episodes")
    assert ezra("graph", "inherit", "imola", "monaco", *pinned).exit_code == 0
    assert "as of 2026-05-14 15:04:00" in ezra("graph", "show", "imola").stdout
    for state in ("close", "reopen", "archive"):
        assert ezra("graph", state, "imola").exit_code == 0
    listed = [line.split()[:2] for line in ezra("graph", "list").stdout.splitlines()]
    assert listed == [["active", "monaco"], ["archived", "imola"]]
    kinds = [event["kind"] for event in document(ezra("audit", "imola", "--json"))]
    assert kinds == [
        "created",
        "configured",
        "configured",
        "revoked",
        "linked",
        "closed",
        "reopened",
        "closed",
        "archived",
    ]
    page = ezra("audit", "--kind", "created", "--limit", 1)
    assert page.stdout.split()[-3:] == ["inherits", "from", "nothing"]
    assert "--after 1" in page.stderr
    assert document(ezra("audit", "--after", 1, "--kind", "created", "--json"))[0]["position"] == 2
    assert document(ezra("audit", "--since", "2999-01-01", "--json")) == []


def test_refusals_are_errors_of_ours(ezra: Command) -> None:
    """An archived graph, an unknown one and an unknown record are refused by name."""
    ezra("graph", "create", "a")
    ezra("graph", "archive", "a")
    assert isinstance(ezra("graph", "inherit", "a", "a2").exception, Conflict | NotFound)
    assert isinstance(ezra("graph", "reopen", "a").exception, Conflict)
    assert isinstance(ezra("graph", "show", "nowhere").exception, NotFound)
    unknown = ezra("graph", "redact", "a", "no-such-id", "--reason", "asked")
    assert isinstance(unknown.exception, NotFound)
    assert ezra("graph", "budget", "a", "--writes", "-1").exit_code == 2

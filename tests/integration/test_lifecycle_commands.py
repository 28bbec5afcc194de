"""The commands about the meta-agents, on the demo's data, as a person or a program uses them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.folder_copies import copied
from typer.testing import CliRunner, Result

from ezra import NotFound, UsageError
from ezra.cli.app import app_of

app = app_of()

DEMO = Path(__file__).parents[2] / "scripts" / "conversations" / "monaco.jsonl"
Command = Callable[..., Result]


def runner_on(home: Path) -> CliRunner:
    """Return what runs commands on a folder."""
    return CliRunner(
        env={"EZRA_HOME": str(home), "EZRA_EMBEDDER": "off", "EZRA_BACKGROUND": "false"}
    )


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the demo's first weekend was played, to be copied."""
    home = tmp_path_factory.mktemp("played") / "home"
    replay = ["replay", str(DEMO), "--graph", "monaco", "--json"]
    result = runner_on(home).invoke(app, replay)
    assert result.exit_code == 0, result.output
    return home


@pytest.fixture
def ezra(played: Path, tmp_path: Path) -> Command:
    """Run a command on a folder of the test's own in which the demo's first weekend was played."""
    copied(played, tmp_path / "home")
    runner = runner_on(tmp_path / "home")
    return lambda *arguments: runner.invoke(app, [*map(str, arguments)])


def document(result: Result, code: int = 0) -> Any:
    """Return what a command printed with ``--json``."""
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


def test_a_pass_a_report_and_a_retention_in_a_row(ezra: Command) -> None:
    """What is compressed is accounted for; a dry run destroys nothing and says what would go."""
    ran = document(ezra("lifecycle", "run", "monaco", "--json"))
    assert ran["lifecycle"]["problems"] == []
    report = document(ezra("lifecycle", "report", "monaco", "--json"))
    assert report["ok"] is True
    assert [line["grain"] for line in report["grains"]] == [
        *("working", "daily", "weekly", "monthly", "quarterly", "yearly")
    ]
    assert "every turn is accounted for" in ezra("lifecycle", "report", "monaco").stdout
    assert ezra("graph", "retention", "monaco", "--plan", "daily=1d").exit_code == 0
    dry = document(ezra("lifecycle", "retain", "monaco", "--dry-run", "--json"))
    due = {line["grain"]: (line["due"], line["retired"]) for line in dry["grains"]}
    assert due["daily"][1] == 0
    done = document(ezra("lifecycle", "retain", "monaco", "--json"))
    assert {line["grain"]: line["retired"] for line in done["grains"]}["daily"] == due["daily"][0]
    assert document(ezra("lifecycle", "report", "monaco", "--json"))["ok"] is True


def test_waiting_work_and_nothing_parked(ezra: Command) -> None:
    """The queue is shown by kind; putting nothing back is refused, all of nothing is nothing."""
    found = document(ezra("lifecycle", "work", "--json"))
    assert found["parked"] == []
    assert set(found["waiting"]) >= {"index", "extract", "judge", "compress", "retain"}
    assert document(ezra("lifecycle", "rerun", "--all", "--json")) == {"rerun": 0}
    refused = ezra("lifecycle", "rerun")
    assert isinstance(refused.exception, UsageError)


def test_a_core_fact_is_shown_with_its_cost_and_explained(ezra: Command) -> None:
    """The block of a member names its facts and tokens; each fact has a story."""
    block = document(ezra("core", "monaco", "race-engineer", "--json"))
    assert block["tokens"] > 0
    fact = block["facts"][0]
    story = document(ezra("explain", fact["id"], "--json"))
    assert (story["kind"], story["graph_id"]) == ("fact", "monaco")
    assert story["text"] == fact["text"]
    assert "core since" in ezra("explain", fact["id"]).stdout
    assert isinstance(ezra("explain", "no-such-id").exception, NotFound)


def test_a_wrong_plan_names_what_would_be_accepted(ezra: Command) -> None:
    """A misspelt plan is refused with the field, the value and the choice; nothing changes."""
    refused = ezra("graph", "retention", "monaco", "--plan", "fre")
    assert isinstance(refused.exception, UsageError)
    assert "plan" in str(refused.exception)
    assert "starter" in str(refused.exception)

"""What an auditor asks on the command line, on the data of the demo."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.folder_copies import copied
from typer.testing import CliRunner, Result

from ezra import ConfigError, UsageError
from ezra.cli.app import app_of

app = app_of()

Command = Callable[..., Result]
MONACO = Path(__file__).parents[2] / "scripts" / "conversations" / "monaco.jsonl"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the demo's first weekend was played, to be copied."""
    home = tmp_path_factory.mktemp("played") / "home"
    runner = CliRunner(env={"EZRA_EMBEDDER": "off", "EZRA_HOME": str(home)})
    assert runner.invoke(app, ["replay", str(MONACO), "--graph", "monaco"]).exit_code == 0
    return home


@pytest.fixture
def ezra(played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """The command line on a folder that holds the demo's first weekend."""
    monkeypatch.setenv("EZRA_EMBEDDER", "off")
    monkeypatch.setenv("EZRA_HOME", str(tmp_path / "home"))
    copied(played, tmp_path / "home")
    runner = CliRunner()

    def run(*arguments: object, env: dict[str, str] | None = None) -> Result:
        return runner.invoke(app, [*map(str, arguments)], env=env)

    return run


def document(result: Result) -> Any:
    """Return what a command printed for programs."""
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_a_log_is_exported_into_a_file_and_not_into_one_called_minus(
    ezra: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who pipes it is told; what they wanted to read would lie in the folder, unseen."""
    monkeypatch.chdir(tmp_path)
    refused = ezra("audit", "export", "monaco", "-o", "-")
    assert isinstance(refused.exception, UsageError)
    assert refused.exception.field == "--output"
    assert not (tmp_path / "-").exists()


def test_a_log_that_was_moved_counts_once_its_former_key_is_named(
    ezra: Command, tmp_path: Path
) -> None:
    """Until then everybody is told whose key it is; the file that was moved chooses nobody."""
    former = ezra("audit", "key").stdout.strip()
    ezra("audit", "sign", "monaco")
    carried, home = tmp_path / "monaco.ezra", {"EZRA_HOME": str(tmp_path / "other")}
    ezra("export", "monaco", carried)
    assert "EZRA_FORMER_KEYS" in ezra("import", carried, env=home).stdout
    strange = ezra("audit", "check", "monaco", env=home)
    assert strange.exit_code == 1
    assert "a key of another home" in strange.stdout
    assert former in strange.stdout
    assert "'ezra audit check GRAPH' says more" in ezra("doctor", env=home).stdout
    trusting = home | {"EZRA_FORMER_KEYS": json.dumps([former])}
    assert ezra("audit", "check", "monaco", env=trusting).exit_code == 0
    file, new = tmp_path / "later.jsonl", ezra("audit", "key", env=home).stdout.strip()
    assert new != former
    ezra("audit", "export", "monaco", "-o", file, env=home)
    known = ("audit", "verify", file, "--public-key", new)
    assert ezra(*known).exit_code == 1
    assert ezra(*known, "--former-key", former).exit_code == 0


def test_a_rotated_key_is_vouched_for_and_an_anchor_is_held_against(
    ezra: Command, tmp_path: Path
) -> None:
    """The first public key verifies what the second has signed; a head of another log is none."""
    first = ezra("audit", "key").stdout.strip()
    head = tmp_path / "head.json"
    head.write_text(ezra("audit", "sign", "monaco").stdout)
    second = ezra("audit", "key", "--rotate").stdout.strip()
    assert first != second
    file = tmp_path / "monaco.jsonl"
    ezra("audit", "export", "monaco", "-o", file)
    known = ("audit", "verify", file, "--public-key", first)
    assert document(ezra(*known, "--anchor", head, "--json"))["anchored_size"] == 5
    forged = json.loads(head.read_text()) | {"last_hash": "0" * 64}
    head.write_text(json.dumps(forged))
    assert ezra(*known, "--anchor", head).exit_code == 1
    assert ezra("audit", "check", "monaco").exit_code == 0


def test_without_a_key_signing_is_refused_by_name(
    ezra: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key that is none names its setting and never shows itself."""
    monkeypatch.setenv("EZRA_SIGNING_KEY", "no such key")
    problem = ezra("audit", "sign", "monaco").exception
    assert isinstance(problem, ConfigError)
    assert "no such key" not in str(problem)

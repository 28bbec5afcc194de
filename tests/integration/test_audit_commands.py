"""What an auditor asks on the command line, on the data of the demo."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.folder_copies import copied
from typer.testing import CliRunner, Result

from ezra import ConfigError, NotFound, UsageError
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


def test_a_compliance_question_is_answered(ezra: Command, tmp_path: Path) -> None:
    """What was believed when, who said so, who disagreed, how it was settled, and proof of it."""
    before, after = (
        [one["value"] for one in document(ezra("audit", "as-of", "monaco", turn, "--json"))]
        for turn in (30, 40)
    )
    assert before == ["keep gearbox three", "soft"]
    assert after == ["keep gearbox three", "medium"]
    key = ("--key", "race start", "compound")
    found = document(ezra("audit", "query", "monaco", *key, "--json"))
    assert [(one["value"], one["status"]) for one in found] == [
        ("soft", "superseded"),
        ("medium", "active"),
    ]
    assert document(ezra("audit", "query", "monaco", "--as-of", "30", *key, "--json")) == found[:1]
    told = document(ezra("audit", "explain", "monaco", found[1]["id"], "--json"))
    assert [one["rival_id"] for one in told["contradictions"]] == [found[0]["id"]]
    assert "mediums" in told["turns"][0]["input"]
    assert told["receipt"]["kind"] == "turn"
    changed = document(ezra("audit", "diff", "monaco", 30, 40, "--json"))
    assert changed["changed"] == [[found[0]["id"], found[1]["id"]]]
    file = tmp_path / "monaco.jsonl"
    assert document(ezra("audit", "export", "monaco", "-o", file, "--json"))["events"] == 5
    public_key = ezra("audit", "key").stdout.strip()
    verified = document(ezra("audit", "verify", file, "--public-key", public_key, "--json"))
    assert (verified["ok"], verified["signed"], verified["events"]) == (True, True, 5)
    assert ezra("audit", "check", "monaco").exit_code == 0


def test_what_people_read_names_agent_turn_and_outcome(ezra: Command) -> None:
    """Lines, not documents; and the feed is there without being named."""
    listed = ezra("audit", "query", "monaco", "--topic", "strategy").stdout
    assert "superseded" in listed
    belief_id = listed.splitlines()[-1].split()[1]
    told = ezra("audit", "explain", "monaco", belief_id).stdout
    for part in (
        "by strategist",
        "found by key",
        "last_write_wins",
        "said in turn",
        "contradicted",
    ):
        assert part in told
    assert "+ strategist" in ezra("audit", "diff", "monaco", 30, 40).stdout
    assert "no difference" in ezra("audit", "diff", "monaco", 40, 40).stdout
    feed = ezra("audit", "monaco", "--kind", "contradiction").stdout
    assert belief_id in feed
    assert feed.split()[1:] == ezra("audit", "feed", "--kind", "contradiction").stdout.split()[1:]


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


def test_branches_and_erasure_from_the_command_line(ezra: Command) -> None:
    """A branch is told apart from its graph, and a name is gone when it was erased."""
    made = document(ezra("graph", "branch", "monaco", "what-if", "--turn", 30, "--json"))
    assert made["origin"]["turn"] == 30
    assert "- strategist" in ezra("graph", "diff", "monaco", "what-if").stdout
    erased = document(
        ezra("graph", "erase", "monaco", "--subject", "Solane", "--reason", "asked", "--json")
    )
    assert set(erased["branches"]) == {"what-if"}
    assert erased["waiting"] == {}
    for graph in ("monaco", "what-if"):
        assert "Solane" not in ezra("audit", "query", graph, "--json").stdout
        assert ezra("audit", "check", graph).exit_code == 0


def test_refusals_name_what_would_be_accepted(ezra: Command, tmp_path: Path) -> None:
    """Moments, ids, files and keys that are none; nothing is written."""
    for words, error in (
        (("as-of", "monaco", "yesterday"), UsageError),
        (("diff", "monaco", "1", "-"), UsageError),
        (("explain", "monaco", "nobody"), NotFound),
        (("query", "monaco", "--status", "lost"), UsageError),
        (("feed", "monaco", "--kind", "denials"), UsageError),
        (("export", "monaco", "-o", tmp_path / "no" / "where"), UsageError),
        (("verify", tmp_path / "none", "--public-key", "xyz"), UsageError),
        (("verify", tmp_path / "none", "--anchor", tmp_path / "none"), UsageError),
    ):
        assert isinstance(ezra("audit", *words).exception, error), words
    told = ezra("audit", "verify", tmp_path / "none")
    assert told.exit_code == 1
    assert "cannot be read" in told.stdout


def test_without_a_key_signing_is_refused_by_name(
    ezra: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key that is none names its setting and never shows itself."""
    monkeypatch.setenv("EZRA_SIGNING_KEY", "no such key")
    problem = ezra("audit", "sign", "monaco").exception
    assert isinstance(problem, ConfigError)
    assert "no such key" not in str(problem)

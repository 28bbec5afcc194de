"""What ``scripts/demo`` shows is checked by itself: the best source of each answer."""

from __future__ import annotations

import json
import os
import runpy
import shutil
import sys
from pathlib import Path

import pytest
from support.processes import succeeded

SCRIPTS = Path(__file__).parents[2] / "scripts"
SCREEN_LINES = 40
PATIENCE = "EZRA_STEP_TIMEOUT_SECONDS"
RAIN = "At which corner did water stand after the rain?"


@pytest.fixture(autouse=True)
def _newcomer(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment that a newcomer has, and the patience of a machine that runs tests."""
    for name in {name for name in os.environ if name.startswith("EZRA_")} - {PATIENCE}:
        monkeypatch.delenv(name)


def demo(scripts: Path, *arguments: object) -> int:
    """Run the demo of a folder in this process, which has the model already."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys, "argv", ["demo", *map(str, arguments)])
        found: int = runpy.run_path(str(scripts / "demo.py"))["main"]()
    return found


def test_r9_33_the_demo_answers_every_question_from_the_right_source(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the model that comes with ezra: exit code 0, and it says how many are right.

    One screen, and a memory that is kept: a second run plays nothing, and a reset begins anew.
    """
    home = tmp_path / "kept"
    ran = succeeded(sys.executable, SCRIPTS / "demo.py", "--home", home, timeout_seconds=300)
    assert "5 of 5 questions are answered right" in ran.stdout
    assert "wrong:" not in ran.stdout
    assert "inherited from monaco" in ran.stdout
    assert f"ezra serve --home {home}" in ran.stdout
    assert len(ran.stdout.splitlines()) <= SCREEN_LINES
    assert demo(SCRIPTS, "--home", home) == 0
    again = capsys.readouterr().out
    assert again.count(": 0 turns played") == 2
    assert "5 of 5 questions are answered right" in again


def test_a_reset_removes_a_memory_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder that holds no memory is left as it is."""
    scripts, home = tmp_path / "scripts", tmp_path / ".ezra-demo"
    shutil.copytree(SCRIPTS, scripts)
    for name in ("monaco", "imola"):
        _shortened(scripts, name, 2)
    (scripts / "conversations" / "questions.json").write_text("[]")
    monkeypatch.setenv("EZRA_EMBEDDER", "off")  # nothing is asked, so no model is needed
    assert demo(scripts) == 0
    (home / "mine.txt").touch()
    capsys.readouterr()
    assert demo(scripts, "--reset") == 0
    assert "0 turns played" not in capsys.readouterr().out
    assert not (home / "mine.txt").exists()
    other = tmp_path / "other"
    other.mkdir()
    (other / "mine.txt").touch()
    assert demo(scripts, "--reset", "--home", other) == 0
    assert (other / "mine.txt").exists()


def test_r9_33_the_demo_fails_when_another_source_is_best(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is merely among the sources does not count, and the complaint names all three."""
    scripts, expected = tmp_path / "scripts", "imola:fri-01"
    shutil.copytree(SCRIPTS, scripts)
    for name, lines in (("monaco", 3), ("imola", 18)):  # it need not take long to fail
        _shortened(scripts, name, lines)
    path = scripts / "conversations" / "questions.json"
    questions = [one for one in json.loads(path.read_text()) if one["question"] == RAIN]
    path.write_text(json.dumps([{**one, "expected_source": expected} for one in questions]))
    assert demo(scripts) == 1
    told = capsys.readouterr().out
    assert "0 of 1 questions are answered right" in told
    (complaint,) = (line for line in told.splitlines() if line.startswith("wrong: "))
    assert RAIN in complaint
    assert expected in complaint
    assert "imola:fri-14" in complaint


def _shortened(scripts: Path, name: str, lines: int) -> None:
    script = scripts / "conversations" / f"{name}.jsonl"
    script.write_text("\n".join(script.read_text().splitlines()[:lines]))

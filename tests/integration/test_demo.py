"""What ``scripts/demo`` shows is checked by itself: the best source of each answer."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

SCRIPTS = Path(__file__).parents[2] / "scripts"
SCREEN_LINES = 40
RAIN = "At which corner did water stand after the rain?"


def demo(scripts: Path, *arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the demo of a folder, in the environment that a newcomer has, save for variables."""
    unset = {name: value for name, value in os.environ.items() if not name.startswith("EZRA_")}
    return subprocess.run(
        [sys.executable, str(scripts / "demo.py"), *map(str, arguments)],
        env={**unset, **variables},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_r9_33_the_demo_answers_every_question_from_the_right_source(tmp_path: Path) -> None:
    """With the model that comes with ezra: exit code 0, and it says how many are right.

    One screen, and a memory that is kept: a second run plays nothing, and a reset begins anew.
    """
    home = tmp_path / "kept"
    ran = demo(SCRIPTS, "--home", home)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "5 of 5 questions are answered right" in ran.stdout
    assert "wrong:" not in ran.stdout
    assert "inherited from monaco" in ran.stdout
    assert f"ezra serve --home {home}" in ran.stdout
    assert len(ran.stdout.splitlines()) <= SCREEN_LINES
    again = demo(SCRIPTS, "--home", home)
    assert again.returncode == 0, again.stdout + again.stderr
    assert again.stdout.count(": 0 turns played") == 2
    assert "5 of 5 questions are answered right" in again.stdout


def test_a_reset_removes_a_memory_and_nothing_else(tmp_path: Path) -> None:
    """A folder that holds no memory is left as it is."""
    scripts, home = tmp_path / "scripts", tmp_path / ".ezra-demo"
    shutil.copytree(SCRIPTS, scripts)
    for name in ("monaco", "imola"):
        _shortened(scripts, name, 2)
    (scripts / "conversations" / "questions.json").write_text("[]")
    wordy = partial(demo, scripts, EZRA_EMBEDDER="off")  # nothing is asked, so no model is needed
    ran = wordy()
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (home / "mine.txt").touch()
    assert "0 turns played" not in wordy("--reset").stdout
    assert not (home / "mine.txt").exists()
    other = tmp_path / "other"
    other.mkdir()
    (other / "mine.txt").touch()
    assert wordy("--reset", "--home", other).returncode == 0
    assert (other / "mine.txt").exists()


def test_r9_33_the_demo_fails_when_another_source_is_best(tmp_path: Path) -> None:
    """What is merely among the sources does not count, and the complaint names all three."""
    scripts, expected = tmp_path / "scripts", "imola:fri-01"
    shutil.copytree(SCRIPTS, scripts)
    for name, lines in (("monaco", 3), ("imola", 18)):  # it need not take long to fail
        _shortened(scripts, name, lines)
    path = scripts / "conversations" / "questions.json"
    questions = [one for one in json.loads(path.read_text()) if one["question"] == RAIN]
    path.write_text(json.dumps([{**one, "expected_source": expected} for one in questions]))
    ran = demo(scripts)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "0 of 1 questions are answered right" in ran.stdout
    (complaint,) = (line for line in ran.stdout.splitlines() if line.startswith("wrong: "))
    assert RAIN in complaint
    assert expected in complaint
    assert "imola:fri-14" in complaint


def _shortened(scripts: Path, name: str, lines: int) -> None:
    script = scripts / "conversations" / f"{name}.jsonl"
    script.write_text("\n".join(script.read_text().splitlines()[:lines]))

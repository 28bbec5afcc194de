"""What ``scripts/demo`` shows is checked by itself: the best source of each answer."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

SCRIPTS = Path(__file__).parents[2] / "scripts"
RAIN = "At which corner did water stand after the rain?"


def demo(scripts: Path) -> subprocess.CompletedProcess[str]:
    """Run the demo of a folder, in the environment that a newcomer has."""
    unset = {name: value for name, value in os.environ.items() if not name.startswith("EZRA_")}
    return subprocess.run(
        [sys.executable, str(scripts / "demo.py")],
        env=unset,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_r9_33_the_demo_answers_every_question_from_the_right_source() -> None:
    """With the model that comes with ezra: exit code 0, and it says how many are right."""
    ran = demo(SCRIPTS)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "5 of 5 questions are answered right" in ran.stdout
    assert "wrong:" not in ran.stdout


def test_r9_33_the_demo_fails_when_another_source_is_best(tmp_path: Path) -> None:
    """What is merely among the sources does not count, and the complaint names all three."""
    scripts, expected = tmp_path / "scripts", "imola:fri-01"
    shutil.copytree(SCRIPTS, scripts)
    for name, lines in (("monaco", 3), ("imola", 18)):  # it need not take long to fail
        script = scripts / "conversations" / f"{name}.jsonl"
        script.write_text("\n".join(script.read_text().splitlines()[:lines]))
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

"""What the README shows works as it is shown."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"


def test_the_first_program_runs_and_remembers(tmp_path: Path) -> None:
    """Copied from the page, run in an empty folder, without a model."""
    (program,) = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    (tmp_path / "first.py").write_text(program)
    environment = {"PATH": os.environ["PATH"], "EZRA_EMBEDDER": "off"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "first.py"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "monaco front wing is at 28.5 degrees" in done.stdout
    assert "front wing is at 28.5 degrees ('dense',)" in done.stdout


def test_every_setting_is_in_the_table() -> None:
    """The table names settings that exist, with their defaults."""
    from ezra import Settings

    rows = re.findall(r"^\| `(\w+)` \| (\S+) \|", README.read_text(), re.MULTILINE)
    fields = Settings.model_fields
    assert rows
    for name, default in rows:
        assert name in fields
        if default.isdecimal():
            assert fields[name].default == float(default)

"""``scripts/setup`` installs the embedding model, however the words come in which it is missed."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from pathlib import Path

import pytest
from support.processes import succeeded

SETUP = Path(__file__).parents[2] / "scripts/setup"
EZRA = """#!/bin/sh
if [ "$2" = install ]; then touch installed; exit; fi
printf '{\\n  "model": %s,\\n' "$(cat model)"
sleep 0.2  # who hears no more than the first words has hung up by now
printf '  "folder": "models"\\n}\\n'
"""


@pytest.mark.parametrize(("model", "after"), [("null", ["installed"]), ('"all-MiniLM"', [])])
def test_the_model_is_installed_where_there_is_none(
    tmp_path: Path, model: str, after: list[str]
) -> None:
    """Also where the command tells in two pieces that there is none."""
    (tmp_path / "scripts").mkdir()
    setup = shutil.copy(SETUP, tmp_path / "scripts/setup")
    (tmp_path / "model").write_text(model)
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "scripts/requirements.lock").write_text("")
    venv = tmp_path / ".venv"
    (venv / "bin").mkdir(parents=True)
    (venv / ".ezra-requirements.lock").write_text(f"{hashlib.sha256().hexdigest()}  -\n")
    for name, text in (("ezra", EZRA), ("python", "#!/bin/sh\n")):
        program = venv / "bin" / name
        program.write_text(text)
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
    succeeded("bash", setup, env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)})
    assert [one.name for one in tmp_path.glob("installed")] == after

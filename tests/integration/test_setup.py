"""``scripts/setup``: what installs the packages, and the embedding model where it is missed."""

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
PYTHON = """#!/bin/sh
echo "$@" >>installing
case "$*" in *$REFUSED*) exit 1;; esac
"""


@pytest.mark.parametrize(("model", "after"), [("null", ["installed"]), ('"all-MiniLM"', [])])
def test_the_model_is_installed_where_there_is_none(
    tmp_path: Path, model: str, after: list[str]
) -> None:
    """Also where the command tells in two pieces that there is none."""
    venv = _checkout(tmp_path, PYTHON)
    (tmp_path / "model").write_text(model)
    (venv / ".ezra-requirements.lock").write_text(f"{hashlib.sha256().hexdigest()}  -\n")
    _set_up(tmp_path, refused="none")
    assert [one.name for one in tmp_path.glob("installed")] == after
    assert not (tmp_path / "installing").exists()


@pytest.mark.parametrize("refused", ["requirements-uv.lock", "none"])
def test_pip_installs_where_uv_is_not_to_be_had(tmp_path: Path, refused: str) -> None:
    """Or where what came under its name does not run."""
    venv = _checkout(tmp_path, PYTHON)
    (tmp_path / "model").write_text('"all-MiniLM"')
    _set_up(tmp_path, refused=refused)
    asked = _installing(tmp_path).splitlines()
    assert "requirements-uv.lock" in asked[0]
    assert [one for one in asked if "--no-compile" in one and "requirements.lock" in one]
    assert (venv / ".ezra-requirements.lock").exists()


def _checkout(folder: Path, python: str) -> Path:
    """Make what the script needs of a checkout; return its environment."""
    (folder / "scripts").mkdir()
    shutil.copy(SETUP, folder / "scripts/setup")
    (folder / "pyproject.toml").write_text("")
    (folder / "scripts/requirements.lock").write_text("")
    venv = folder / ".venv"
    (venv / "bin").mkdir(parents=True)
    for name, text in (("ezra", EZRA), ("python", python)):
        program = venv / "bin" / name
        program.write_text(text)
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return venv


def _set_up(folder: Path, refused: str) -> None:
    """Run the script where there is no uv, and pip refuses what the words say."""
    path = os.pathsep.join(
        one for one in os.environ["PATH"].split(os.pathsep) if not (Path(one) / "uv").exists()
    )
    env = {"PATH": path, "HOME": str(folder), "REFUSED": refused}
    succeeded("bash", folder / "scripts/setup", env=env)


def _installing(folder: Path) -> str:
    """Return what Python was asked to do."""
    return (folder / "installing").read_text()

"""The wheel holds the three packages, and they work from anywhere."""

from __future__ import annotations

import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

IMPORT_ALL = """
import importlib, pathlib, pkgutil, sys
for name in ("tiers", "metaagents", "ezra"):
    package = importlib.import_module(name)
    assert pathlib.Path(package.__file__).is_relative_to(sys.argv[1]), package.__file__
    assert (pathlib.Path(package.__file__).parent / "py.typed").exists()
    for module in pkgutil.walk_packages(package.__path__, name + "."):
        importlib.import_module(module.name)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == 0, done.stderr
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_exactly_the_three_packages(wheel: Path) -> None:
    """No tests, no scripts; what is no Python is there too: Lua, sets, the console's pages."""
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {
        "ezra",
        "metaagents",
        "tiers",
    }
    in_tree = {
        str(path.relative_to(ROOT))
        for package in ("ezra", "tiers")
        for path in (ROOT / package).rglob("*")
        if path.suffix in {".css", ".html", ".js", ".json", ".lua", ".svg"}
    }
    assert {Path(name).suffix for name in in_tree} == {
        *(".css", ".html", ".js", ".json", ".lua", ".svg")
    }
    assert in_tree <= set(names)


def test_every_module_imports_from_a_clean_environment(wheel: Path, tmp_path: Path) -> None:
    """Installed alone, run from elsewhere; dependencies are those of this environment."""
    venv.create(tmp_path / "env", with_pip=False)
    python = tmp_path / "env" / "bin" / "python"
    (site,) = (tmp_path / "env" / "lib").glob("python*/site-packages")
    zipfile.ZipFile(wheel).extractall(site)
    here = [path for path in sys.path if path.endswith("site-packages")]
    (site / "dependencies.pth").write_text("\n".join(here))
    command = [str(python), "-W", "error", "-c", IMPORT_ALL, str(site)]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=110, check=False
    )
    assert done.returncode == 0, done.stderr

"""Every module stands alone, and the packages own what they say."""

from __future__ import annotations

import ast
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import ezra
import metaagents
import tiers

ROOT = Path(ezra.__file__).parents[1]
PACKAGES = (tiers, metaagents, ezra)


PARTS = 4
"""Of the modules; each part is a test of its own, so that workers share them."""


def module_names() -> list[str]:
    """Return every module of the three packages."""
    names: list[str] = []
    for package in PACKAGES:
        names.append(package.__name__)
        found = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
        names += [module.name for module in found]
    return names


@pytest.mark.parametrize("part", range(PARTS))
def test_every_module_can_be_imported_first_in_a_fresh_interpreter(part: int) -> None:
    """No module relies on another of ours having been imported before it.

    The large libraries are imported once, before the interpreter is forked for each module.
    """
    code = (
        "import sys, os\n"
        "import google.genai, numpy, onnxruntime, openai, pydantic_settings, pymongo\n"
        "import qdrant_client, rich.progress, typer, apscheduler.schedulers.asyncio\n"
        "for name in sys.argv[1:]:\n"
        "    pid = os.fork()\n"
        "    if pid == 0:\n"
        "        try:\n"
        "            __import__(name)\n"
        "        except BaseException as error:\n"
        "            print(name, repr(error), file=sys.stderr, flush=True)\n"
        "            os._exit(1)\n"
        "        os._exit(0)\n"
        "    if os.waitpid(pid, 0)[1] != 0:\n"
        "        sys.exit(1)\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, *module_names()[part::PARTS]],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def sources() -> list[Path]:
    """Return every source file of the three packages."""
    return sorted(path for package in PACKAGES for path in Path(package.__path__[0]).rglob("*.py"))


@pytest.mark.parametrize("package", [package.__name__ for package in PACKAGES])
def test_each_package_imports_itself_relatively(package: str) -> None:
    """A package can be moved as a whole: it never names itself."""
    offenders = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sources()
        if path.relative_to(ROOT).parts[0] == package
        for node in ast.walk(ast.parse(path.read_text()))
        if (isinstance(node, ast.ImportFrom) and node.level == 0 and _top(node.module) == package)
        or (isinstance(node, ast.Import) and any(_top(n.name) == package for n in node.names))
    ]
    assert offenders == []


def test_no_function_is_longer_than_a_screen_and_no_file_than_500_lines() -> None:
    """70 lines a function, 500 a file."""
    too_long: list[str] = []
    for path in sources():
        text = path.read_text()
        if text.count("\n") > 500:
            too_long.append(str(path.relative_to(ROOT)))
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > 70:
                    too_long.append(f"{path.relative_to(ROOT)}:{node.name} ({lines})")
    assert too_long == []


def test_no_drawer_modules() -> None:
    """No module is named after a drawer."""
    drawers = {"utils", "util", "helpers", "helper", "common", "misc", "manager"}
    assert [path for path in sources() if drawers & set(path.with_suffix("").parts)] == []


def _top(module: str | None) -> str:
    return (module or "").split(".")[0]

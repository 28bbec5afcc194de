"""Every module stands alone, the packages own what they say, and a hook imports little."""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path

import pytest
from support.processes import succeeded

import ezra
import metaagents
import tiers
from ezra.bridge.config import bridge_config
from ezra.bridge.hook_state import HookState

# Every module stands alone, and the packages own what they say.

ROOT = Path(ezra.__file__).parents[1]
PACKAGES = (tiers, metaagents, ezra)


FORKED = """
import importlib, os, pkgutil, sys, zlib

one_in = int(sys.argv[2])


def check(name, is_package):
    if not is_package and zlib.crc32(name.encode()) % one_in:
        return True
    pid = os.fork()
    if pid:
        return os.waitpid(pid, 0)[1] == 0
    try:
        module = importlib.import_module(name)
        found = pkgutil.iter_modules(getattr(module, "__path__", ()), name + ".")
        inside = [(one.name, one.ispkg) for one in found if one.name not in sys.modules]
    except BaseException as error:
        print(name, repr(error), file=sys.stderr, flush=True)
        os._exit(1)
    os._exit(0 if all([check(*one) for one in inside]) else 1)


sys.exit(0 if check(sys.argv[1], True) else 1)
"""
"""Imports a module in a fork, and below it each module of the package that it did not bring along.

Whoever imports a module imports the packages around it first; so what a package brings along can
be imported first if the package can. Of modules that are no packages, one in so many.
"""


SERVERLESS = """
import asyncio, sys
from pathlib import Path

import ezra


async def lived():
    async with ezra.Ezra.open(ezra.Settings(home=Path(sys.argv[1]), embedder="off")) as opened:
        graph = await opened.create_session_graph("race")
        agent = await graph.spawn_agent("pit")
        await (await agent.turn("how long do mediums last?")).reply("18 laps")
        assert {"hot", "warm", "cold"} <= set((await opened.health()).tiers)


asyncio.run(lived())
tops = {name.partition(".")[0] for name in sys.modules}
others = {"google", "mcp", "numpy", "onnxruntime", "openai", "pymongo", "sqlalchemy"}
print(*sorted(tops & ({"fakeredis", "lupa", "qdrant_client", "redis"} | others)))
"""
"""A turn on the embedded default; prints what that took of what the core does without: drivers of
servers, what stands in for one, clients of providers, models and arithmetic for them."""


@pytest.mark.parametrize("one_in", [30, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("package", [package.__name__ for package in PACKAGES])
@pytest.mark.timeout(1_000)
def test_modules_can_be_imported_first_in_a_fresh_interpreter(package: str, one_in: int) -> None:
    """No module relies on another of ours having been imported before it."""
    command = (sys.executable, "-W", "error", "-c", FORKED, package, one_in)
    succeeded(*command, cwd=ROOT, timeout_seconds=900)


def test_the_embedded_default_loads_no_driver_of_redis_or_qdrant(tmp_path: Path) -> None:
    """Who has no server does not wait for what speaks to one, nor for what reckons with vectors."""
    command = (sys.executable, "-W", "error", "-c", SERVERLESS, tmp_path / "home")
    assert succeeded(*command, cwd=ROOT).stdout.split() == []


def sources() -> list[Path]:
    """Return every source file of the three packages."""
    return sorted(path for package in PACKAGES for path in Path(package.__path__[0]).rglob("*.py"))


@pytest.fixture(scope="module")
def parsed() -> list[tuple[Path, str, list[ast.AST]]]:
    """Every source file from the root, with its text and the nodes of it."""
    texts = ((path.relative_to(ROOT), path.read_text()) for path in sources())
    return [(path, text, [*ast.walk(ast.parse(text))]) for path, text in texts]


@pytest.mark.parametrize("package", [package.__name__ for package in PACKAGES])
def test_each_package_imports_itself_relatively(
    package: str, parsed: list[tuple[Path, str, list[ast.AST]]]
) -> None:
    """A package can be moved as a whole: it never names itself."""
    offenders = [
        f"{path}:{node.lineno}"
        for path, _, nodes in parsed
        if path.parts[0] == package
        for node in nodes
        if (isinstance(node, ast.ImportFrom) and node.level == 0 and _top(node.module) == package)
        or (isinstance(node, ast.Import) and any(_top(n.name) == package for n in node.names))
    ]
    assert offenders == []


def test_no_function_is_longer_than_a_screen_and_no_file_than_500_lines(
    parsed: list[tuple[Path, str, list[ast.AST]]],
) -> None:
    """70 lines a function, 500 a file."""
    too_long: list[str] = []
    for path, text, nodes in parsed:
        if text.count("\n") > 500:
            too_long.append(str(path))
        for node in nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > 70:
                    too_long.append(f"{path}:{node.name} ({lines})")
    assert too_long == []


def test_no_drawer_modules() -> None:
    """No module is named after a drawer."""
    drawers = {"utils", "util", "helpers", "helper", "common", "misc", "manager"}
    assert [path for path in sources() if drawers & set(path.with_suffix("").parts)] == []


def _top(module: str | None) -> str:
    return (module or "").split(".")[0]


# What a hook imports: it starts at every write of a coding agent, which waits for it.

CALLS = """
import json, os, sys
before = set(sys.modules)
from ezra.bridge.hook import answered
event = {"session_id": "s", "cwd": os.getcwd(), "tool_input": {"file_path": sys.argv[2]}}
answered(sys.argv[1], json.dumps(event).encode(), os.environ)
print(json.dumps(sorted(set(sys.modules) - before)))
"""

OURS = frozenset(("tiers", "tiers.addresses", "tiers.errors", "tiers.ids", "tiers.saved_file"))
"""Of tiers: they need the standard library only."""


@pytest.mark.parametrize("event", ["session-start", "post-tool-use", "stop"])
def test_a_hook_needs_the_standard_library_only(event: str, tmp_path: Path) -> None:
    """Nothing of others, of tiers what needs no more itself, of ezra the bridge's light part."""
    note = tmp_path / "note.md"
    note.write_text("words")
    found = modules(event, note, tmp_path)
    tops = {name.split(".")[0] for name in found} - {"ezra", "tiers"}
    assert tops <= sys.stdlib_module_names, tops - sys.stdlib_module_names
    assert {name for name in found if name.split(".")[0] == "tiers"} <= OURS
    ezra = {name for name in found if name.split(".")[0] == "ezra"}
    assert {name for name in ezra if not name.startswith("ezra.bridge")} == {"ezra"}
    assert "asyncio" not in found
    state = tmp_path / "state"
    (done,) = [*state.glob("hooks/*/files/*.json"), *state.glob("outbox/*/queue/*.json")]
    assert done.stat().st_size


def test_a_write_of_another_file_imports_next_to_nothing(tmp_path: Path) -> None:
    """Most are."""
    found = modules("post-tool-use", tmp_path / "code.py", tmp_path)
    assert {name for name in found if name.split(".")[0] in ("ezra", "tiers")} == {
        "ezra",
        "ezra.bridge",
        "ezra.bridge.hook",
    }


def modules(event: str, path: Path, folder: Path) -> list[str]:
    """Return what a hook has imported when it has done its work."""
    variables = {
        "EZRA_BRIDGE_AGENT": "scout",
        "EZRA_BRIDGE_STATE": str(folder / "state"),
        "EZRA_HOME": str(folder / "home"),
    }
    # While somebody does what waits, a hook starts nobody.
    with HookState(bridge_config(variables)).draining():
        command = (sys.executable, "-W", "error", "-c", CALLS, event, path)
        done = succeeded(*command, cwd=folder, env=variables)
    found: list[str] = json.loads(done.stdout)
    return found

"""What a hook imports: it starts at every write of a coding agent, which waits for it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from support.processes import succeeded

from ezra.bridge.config import bridge_config
from ezra.bridge.hook_state import HookState

CALLS = """
import json, os, sys
before = set(sys.modules)
from ezra.bridge.hook import answered
event = {"session_id": "s", "cwd": os.getcwd(), "tool_input": {"file_path": sys.argv[2]}}
answered(sys.argv[1], json.dumps(event).encode(), os.environ)
print(json.dumps(sorted(set(sys.modules) - before)))
"""

OURS = frozenset(("tiers", "tiers.errors", "tiers.ids", "tiers.saved_file"))
"""Of tiers: they need the standard library only."""


@pytest.mark.parametrize("event", ["session-start", "post-tool-use", "stop"])
def test_a_hook_needs_the_standard_library_only(event: str, tmp_path: Path) -> None:
    """Nothing of others, of tiers the errors, ids and files, of ezra the bridge's light part."""
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

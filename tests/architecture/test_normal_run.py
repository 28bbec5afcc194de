"""What the normal run of the tests holds: the contract of every engine that people run on."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]


def collected(*arguments: str) -> list[str]:
    """Return the ids of the contract tests that pytest would run."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    run = subprocess.run(
        [*command, *arguments, "tests/contract"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=240,
    )
    return [line for line in run.stdout.splitlines() if "::" in line]


def test_r9_42_the_normal_run_asks_mongodb_whatever_it_asks_sqlite() -> None:
    """No contract test that SQLite passes is left out for a replica set by chance or by name."""
    normal = collected("-m", "not slow")
    asked = {name: Counter(told(normal, name)) for name in ("sqlite", "mongo")}
    assert sum(asked["sqlite"].values()) > 500
    assert asked["sqlite"] == asked["mongo"]
    for left_out in collected("-m", "slow"):
        assert "motor" in parameters(left_out) or is_marked(left_out), left_out


def told(ids: list[str], backend: str) -> list[str]:
    """Return the ids of a backend's tests, its name taken out; not those that move between two."""
    return [
        ascii(sorted(parameters(one) - {backend})) + one.split("[")[0]
        for one in ids
        if parameters(one) & {"sqlite", "mongo", "memory"} == {backend}
    ]


def parameters(node_id: str) -> set[str]:
    """Return the parts of a test's parameters."""
    return set(node_id.partition("[")[2].rpartition("]")[0].split("-"))


def is_marked(node_id: str) -> bool:
    """Whether the test says itself, in its file, that it is slow."""
    path, _, name = node_id.partition("::")
    before = (ROOT / path).read_text().partition(f"def {name.partition('[')[0]}(")[0]
    return "pytest.mark.slow" in before.rpartition("\n\n\n")[2]

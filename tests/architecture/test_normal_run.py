"""What the normal run of the tests holds: every contract of an engine, every promise on servers."""

from __future__ import annotations

import json
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from support.collected import marks
from support.processes import succeeded

ROOT = Path(__file__).parents[2]
OTHER_DOOR = {"in process": "remote", "embedded": "server"}
SERVERS_IN_THE_SLOW_RUN = {
    "tests/acceptance/test_markdown_graph.py",
    "tests/acceptance/test_platform_recall.py",
}
"""Files that say themselves that they ask servers in the slow run only."""


COLLECTING = """
import json, pytest

quietly = ["--collect-only", "-qq", "-p", "no:cacheprovider"]
code = pytest.main([*quietly, "tests/contract", "tests/acceptance"])
from support.collected import marks

print(json.dumps(marks()))
raise SystemExit(code)
"""
"""Prints the mark by which the normal run judges each test of two folders, by its id, in a line."""


@cache
def collected() -> dict[str, list[str]]:
    """Return the ids of the contract and acceptance tests, by mark."""
    judged = marks()
    if judged is None:
        run = succeeded(sys.executable, "-c", COLLECTING, cwd=ROOT, timeout_seconds=800)
        judged = json.loads(run.stdout.splitlines()[-1])
    found: dict[str, list[str]] = {"slow": [], "not slow": []}
    for node_id, mark in judged.items():
        if mark in found:
            found[mark].append(node_id)
    return found


@pytest.mark.timeout(900)
def test_r9_42_the_normal_run_asks_mongodb_whatever_it_asks_sqlite() -> None:
    """No contract test that SQLite passes is left out for a replica set by chance or by name."""
    normal = of("tests/contract", "not slow")
    asked = {name: Counter(told(normal, name)) for name in ("sqlite", "mongo")}
    assert sum(asked["sqlite"].values()) > 500
    assert asked["sqlite"] == asked["mongo"]
    over_http = {*told_of(normal, "qdrant http")}
    assert len(over_http) > 70
    for left_out in of("tests/contract", "slow"):
        other = {*told_of([left_out], "qdrant memory")}
        is_asked = other <= over_http if other else "motor" in parameters(left_out)
        assert is_asked or is_marked(left_out), left_out


@pytest.mark.timeout(900)
def test_what_asks_servers_through_one_door_less_asks_them_through_the_other() -> None:
    """An acceptance test with two doors is in the normal run with both, and on servers with one."""
    normal = {
        (one.split("[")[0], frozenset(parameters(one)))
        for one in of("tests/acceptance", "not slow")
    }
    left_out = [
        (one.split("[")[0], parameters(one))
        for one in of("tests/acceptance", "slow")
        if not is_marked(one) and "servers" in parameters(one) and parameters(one) & {*OTHER_DOOR}
    ]
    assert len(left_out) > 20
    for name, given in left_out:
        if name.partition("::")[0] in SERVERS_IN_THE_SLOW_RUN:
            continue
        through = given - {*OTHER_DOOR} | {OTHER_DOOR[one] for one in given & {*OTHER_DOOR}}
        embedded = given - {"servers"} | {"embedded"}
        for asked in (through, embedded):
            assert (name, frozenset(asked)) in normal, (name, asked)


def of(folder: str, marked: str) -> list[str]:
    """Return those of a folder."""
    return [one for one in collected()[marked] if one.startswith(f"{folder}/")]


def told(ids: list[str], backend: str) -> list[str]:
    """Return the ids of a backend's tests, its name taken out; not those that move between two."""
    alone = [one for one in ids if parameters(one) & {"sqlite", "mongo", "memory"} == {backend}]
    return told_of(alone, backend)


def told_of(ids: list[str], backend: str) -> list[str]:
    """Return the ids of tests that ask a backend, its name taken out."""
    return [
        ascii(sorted(parameters(one) - {backend})) + one.split("[")[0]
        for one in ids
        if backend in parameters(one)
    ]


def parameters(node_id: str) -> set[str]:
    """Return the parts of a test's parameters."""
    return set(node_id.partition("[")[2].rpartition("]")[0].split("-"))


def is_marked(node_id: str) -> bool:
    """Whether the test says itself, in its file, that it is slow."""
    path, _, name = node_id.partition("::")
    before = (ROOT / path).read_text().partition(f"def {name.partition('[')[0]}(")[0]
    return "pytest.mark.slow" in before.rpartition("\n\n\n")[2]

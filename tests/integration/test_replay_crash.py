"""kill -9 at any moment of a replay, and before any write of a pass; then the same again."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path

import pytest
from support.folder_copies import copied
from support.pass_acts import BEFORE, OFTEN, PASSES
from support.processes import PATIENCE_SECONDS, killed_when
from support.records import START
from support.runtime import running
from support.warm_command import warm_python
from support.write_points import Forge, forge

from ezra.app import Ezra

# kill -9 at any moment of a replay, then the same command again.

LINES = 120
RING = 4


def conversation(path: Path, lines: int = LINES) -> Path:
    """Write a conversation of two speakers with a pause in the middle."""
    with path.open("w") as file:
        for number in range(lines):
            line = {
                "id": str(number),
                "speaker": ("Ada", "Ben")[number % 2],
                "text": f"Lap {number}: sector {number % 3} took {number * 7 % 31} seconds.",
                "at": (START + timedelta(days=number // 60, minutes=number)).isoformat(),
            }
            file.write(json.dumps(line) + "\n")
    return path


def drive(home: Path, source: Path, acks: Path, *more: str) -> subprocess.Popen[bytes]:
    """Start a replay that writes the refs it has acknowledged."""
    module = "support.replay_driver"
    command = [warm_python(), "-m", module, str(home), str(source), str(acks), *more]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def acknowledged(acks: Path) -> list[str]:
    """Return the refs acknowledged so far; a torn last line was not."""
    return acks.read_text().split("\n")[:-1] if acks.exists() else []


def kill_at(process: subprocess.Popen[bytes], acks: Path, count: int, delay: float) -> None:
    """Kill the process ``delay`` seconds after it has acknowledged ``count`` refs."""
    killed_when(process, lambda: len(acknowledged(acks)) >= count, delay)


async def check(ezra: Ezra, refs: set[str], *, everything: bool, lines: int = LINES) -> None:
    """Each acknowledged turn is there once; each overflowed one is covered once or waits."""
    graph = await ezra.session_graph("chat")
    stored = await graph.turns_by_ref([f"chat:{number}" for number in range(lines)])
    assert refs <= set(stored)
    if everything:
        assert len(stored) == lines
    status = await graph.status()
    assert status.cold["turns"] == len(stored)
    by_agent = Counter(turn.agent_id for turn in stored.values())
    for agent, count in by_agent.items():
        seqs = sorted(turn.seq for turn in stored.values() if turn.agent_id == agent)
        assert seqs == list(range(1, count + 1))
    covered = Counter(one for summary in await graph.summaries() for one in summary.covers)
    assert set(covered.values()) <= {1}
    overflowed = {turn.id for turn in stored.values() if turn.seq <= by_agent[turn.agent_id] - RING}
    report = await ezra.run_lifecycle_tick("chat")
    covered = Counter(one for summary in await graph.summaries() for one in summary.covers)
    assert set(covered.values()) <= {1}
    assert set(covered) <= overflowed
    assert len(overflowed) - len(covered) == report.turns_waiting


async def crash_and_resume(
    tmp_path: Path, points: list[tuple[int, float]], *more: str, lines: int = LINES
) -> None:
    """Kill a replay at each point in turn, check, and finally let it finish."""
    source = conversation(tmp_path / "chat.jsonl", lines)
    home, acks = tmp_path / "home", tmp_path / "acks"
    for count, delay in points:
        process = drive(home, source, acks, *more)
        before = len(acknowledged(acks))
        kill_at(process, acks, before + count, delay)
        async with running(home, ring_capacity=RING) as ezra:
            if [one.id for one in await ezra.session_graphs()]:
                await check(ezra, set(acknowledged(acks)), everything=False, lines=lines)
    process = drive(home, source, acks, *more)
    _, errors = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0, errors.decode()
    async with running(home, ring_capacity=RING) as ezra:
        await check(ezra, set(acknowledged(acks)), everything=True, lines=lines)


FEW = [(0, 0.0), (16, 0.003), (60, 0.02)]
MORE = [
    (1, 0.0),
    (1, 0.001),
    (2, 0.002),
    (2, 0.004),
    (15, 0.006),
    (30, 0.001),
    (20, 0.0),
    (60, 0.1),
]


@pytest.mark.parametrize(
    "points", [FEW, pytest.param(MORE, marks=pytest.mark.slow)], ids=["few", "more"]
)
async def test_a_replay_that_is_killed_goes_on_where_it_stopped(
    tmp_path: Path, points: list[tuple[int, float]]
) -> None:
    """Killed before the first line, in the middle, and while closing."""
    await crash_and_resume(tmp_path, points)


RECORDING_FEW = [(1, 0.005), (200, 0.01)]
RECORDING_MORE = [(0, 0.0), (1, 0.0), (1, 0.02)]


@pytest.mark.parametrize(
    "points",
    [RECORDING_FEW, pytest.param(RECORDING_MORE, marks=pytest.mark.slow)],
    ids=["few", "more"],
)
async def test_a_recording_that_is_killed_goes_on_where_it_stopped(
    tmp_path: Path, points: list[tuple[int, float]]
) -> None:
    """Within its first batch and behind one, with both speakers in each."""
    await crash_and_resume(tmp_path, points, "record", lines=900)


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_a_replay_killed_at_many_random_points(tmp_path: Path) -> None:
    """Eighty random moments, the background agents included."""
    random_points = random.Random(int(os.environ.get("EZRA_TEST_SEED", "26")))
    for round_number in range(8):
        points = [(random_points.randrange(12), random_points.random() * 0.05) for _ in range(10)]
        folder = tmp_path / str(round_number)
        folder.mkdir()
        await crash_and_resume(folder, points)


# kill -9 right before any write of any pass, then the pass again: the same memory as without.

EVERY = 60
"""The normal run takes every sixtieth point of a pass; the slow one takes all of them."""


class Memory:
    """The folders that passes begin with: each what another pass left, made when asked for."""

    def __init__(self, folder: Path, smithy: Forge) -> None:
        self.folder = folder
        self.forge = smithy

    def before(self, name: str) -> Path:
        """Return the folder that a pass begins with."""
        home = self.folder / f"before {name}"
        if not home.exists():
            former = BEFORE[name]
            if former is None:
                self.forge.run("live", home)
            else:
                copied(self.before(former), home)
                self.forge.run(former, home)
        return home

    def undisturbed(self, name: str) -> tuple[int, Mapping[str, object]]:
        """Return how many writes a pass makes when nobody kills it, and what is there after it."""
        home = self.folder / "undisturbed"
        copied(self.before(name), home)
        writes = self.forge.run(name, home).writes
        answer = self.forge.run(f"{name}, settled", home).answer
        shutil.rmtree(home)
        return writes, answer

    def killed(self, name: str, point: int) -> Mapping[str, object]:
        """Return what is there when a pass died before a write, and somebody began it again."""
        home = self.folder / "killed"
        copied(self.before(name), home)
        try:
            assert self.forge.run(name, home, die_at=point).died
            return self.forge.run(f"{name}, again", home).answer
        finally:
            shutil.rmtree(home)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """The folders of this module's tests."""
    folder = tmp_path_factory.mktemp("points")
    with forge("support.pass_acts", folder) as smithy:
        yield Memory(folder, smithy)


def _check(memory: Memory, name: str, every: int) -> None:
    writes, expected = memory.undisturbed(name)
    assert writes > 0, "a pass that writes nothing has no points"
    points = {*range(1, writes + 1, every), writes}
    wrong = {p: _differences(expected, memory.killed(name, p)) for p in sorted(points)}
    assert {point: found for point, found in wrong.items() if found} == {}, f"of {writes} writes"


def _differences(expected: Mapping[str, object], found: Mapping[str, object]) -> list[str]:
    """Return what is missing and what is too much, table by table."""
    told: list[str] = []
    for table in sorted({*expected, *found}):
        one, other = _items(expected.get(table)), _items(found.get(table))
        told += [f"{table}: missing {row}" for row in _without(one, other)]
        told += [f"{table}: too much {row}" for row in _without(other, one)]
    return told


def _items(rows: object) -> list[str]:
    if isinstance(rows, dict):
        return [f"{key}: {count}" for key, count in sorted(rows.items())]
    return [str(row) for row in rows] if isinstance(rows, list) else []


def _without(rows: Iterable[str], others: Iterable[str]) -> list[str]:
    left = list(others)
    return [row for row in rows if row not in left or left.remove(row)]


@pytest.mark.parametrize("name", OFTEN)
def test_a_pass_killed_before_a_write_ends_as_if_it_never_was(memory: Memory, name: str) -> None:
    """One in sixty points of the pass, the first and the last among them."""
    _check(memory, name, EVERY)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", PASSES)
def test_a_pass_killed_before_each_of_its_writes(memory: Memory, name: str) -> None:
    """Every point of the pass."""
    _check(memory, name, 1)

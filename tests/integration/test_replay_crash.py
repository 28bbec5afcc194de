"""kill -9 at any moment of a replay, then the same command again."""

from __future__ import annotations

import json
import os
import random
import subprocess
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest
from support.processes import PATIENCE_SECONDS, killed_when
from support.records import START
from support.runtime import running
from support.warm_command import warm_python

from ezra.app import Ezra

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

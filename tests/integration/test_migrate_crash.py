"""A move that is interrupted goes on where it was; the demo's memory moves to servers and back."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.cold_estate import exported
from support.command import ezra
from support.moves import TENANTS, both, content, everything, moved, silent, write
from support.processes import PATIENCE_SECONDS, killed_when
from support.servers import server_variables
from support.warm_command import warm_python

from ezra.moving import move
from tiers.cold.stores import ColdArchive
from tiers.errors import Conflict
from tiers.records import Record
from tiers.upkeep import ARCHIVE_ROWS, Table

# A move that is interrupted goes on where it was, and ends as if it never had been.


class Stop(Exception):
    """Stands for whatever ends a process."""


class Failing:
    """A cold archive that stops the move after some pages: before or after storing one."""

    def __init__(self, archive: ColdArchive, pages: int) -> None:
        self._archive = archive
        self._pages = pages

    def __getattr__(self, name: str) -> Any:
        """Return what the archive has."""
        return getattr(self._archive, name)

    async def import_rows(self, tenant: str, table: Table, rows: Sequence[Record]) -> int:
        """Store rows, until it is time to stop."""
        self._pages -= 1
        if self._pages == 0:
            raise Stop
        new = await self._archive.import_rows(tenant, table, rows)
        if self._pages == 1 and len(rows) % 2:
            raise Stop
        return new


async def test_a_move_that_fails_at_any_page_goes_on(
    source: Path, target: Path, ledger: Path, expected: dict[str, Any]
) -> None:
    """Interrupted every few pages, before or after one is stored, it ends as if it never was."""
    async with both(source, target) as (one, other):
        shared = replace(other, generations=one.generations, warm_at=one.warm_at)
        runs, report = 0, None
        while report is None:
            runs += 1
            failing = replace(shared, cold=Failing(other.cold, 4))
            with suppress(Stop):
                report = await move(one, failing, (), silent, ledger=ledger, page_rows=9)
        assert runs > 15
        for tenant in TENANTS:
            assert await exported(other.cold, tenant) == {
                table: expected[tenant][table] for table in ARCHIVE_ROWS
            }


def start(source: Path, target: Path, ledger: Path, steps: Path) -> subprocess.Popen[bytes]:
    """Start a move that writes a line per page."""
    places = map(str, (source, target, ledger, steps))
    command = [warm_python(), "-m", "support.move_driver", *places]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def kill_at(process: subprocess.Popen[bytes], steps: Path, count: int, delay: float) -> None:
    """Kill the process ``delay`` seconds after it has written so many lines in all."""
    errors = killed_when(process, lambda: _lines(steps) >= count, delay)
    # A late one may have been done already.
    assert process.returncode in (-signal.SIGKILL, 0), errors.decode()


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


async def killed_and_resumed(
    source: Path,
    target: Path,
    ledger: Path,
    points: list[tuple[int, float]],
    expected: dict[str, Any],
) -> None:
    """Kill a move at each point in turn, let the last one finish, and compare the ends."""
    steps = ledger.with_name("steps")
    for count, delay in points:
        process = start(source, target, ledger, steps)
        kill_at(process, steps, _lines(steps) + count, delay)
    process = start(source, target, ledger, steps)
    _, errors = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0, errors.decode()
    assert await everything(target) == expected


async def test_a_move_that_is_killed_goes_on(
    source: Path, target: Path, ledger: Path, expected: dict[str, Any]
) -> None:
    """SIGKILL at the first page, between pages, and in the middle of a write."""
    points = [(1, 0.0), (30, 0.002), (60, 0.004)]
    await killed_and_resumed(source, target, ledger, points, expected)


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_a_move_killed_at_many_random_points(
    source: Path, tmp_path: Path, expected: dict[str, Any]
) -> None:
    """Eighty random moments."""
    random_points = random.Random(int(os.environ.get("EZRA_TEST_SEED", "26")))
    for number in range(10):
        folder = tmp_path / str(number)
        folder.mkdir()
        points = [(random_points.randrange(25), random_points.random() / 100) for _ in range(8)]
        target, ledger = folder / "target", folder / "ledger.json"
        await killed_and_resumed(source, target, ledger, points, expected)


async def test_what_the_target_lost_is_written_again(
    source: Path, target: Path, ledger: Path, expected: dict[str, Any]
) -> None:
    """A target that went back to an earlier state is filled from there, not believed."""
    async with both(source, target) as (one, other):
        failing = replace(other, cold=Failing(other.cold, 8))
        with pytest.raises(Stop):
            await move(one, failing, ("acme",), silent, ledger=ledger)
    shutil.rmtree(target)
    assert (await moved(source, target, ledger, "acme")).differences == ()
    assert (await everything(target))["acme"] == expected["acme"]


async def test_a_source_that_changed_in_between_is_refused(
    source: Path, target: Path, ledger: Path
) -> None:
    """Pages of two states must not be put together."""
    async with both(source, target) as (one, other):
        failing = replace(other, cold=Failing(other.cold, 12))
        with pytest.raises(Stop):
            await move(one, failing, ("acme",), silent, ledger=ledger)
        known = json.loads(content(ledger) or b"")
        known["tenants"]["acme"]["parts"]["turns"]["rows"] += 1
        write(ledger, json.dumps(known))
        with pytest.raises(Conflict, match="turns of tenant acme, which may not change while"):
            await move(one, other, ("acme",), silent, ledger=ledger)


# The demo's memory moves to servers and back, and answers the same at every place.
#
# By the command line, as a person would: Redis is real, Qdrant and MongoDB are the stand-ins.

CONVERSATIONS = Path(__file__).parents[2] / "scripts" / "conversations"
WEEKENDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("monaco", ()),
    ("imola", ("--inherits-from", "monaco")),
)


def printed(home: Path, *arguments: str, **variables: str) -> Any:
    """Run the command with the real model and return the document that it prints."""
    # The model is kept in the user's own folder.
    kept = {name: os.environ[name] for name in ("HOME",) if name in os.environ}
    given = {**kept, "EZRA_EMBEDDER": "required", **variables}
    done = ezra(home, *arguments, "--json", timeout_seconds=110, **given)
    assert done.returncode == 0, done.stderr + done.stdout
    return json.loads(done.stdout)


def answers(home: Path, **variables: str) -> list[Any]:
    """Replay both weekends, which adds nothing where they are known, and ask every question."""
    questions = json.loads((CONVERSATIONS / "questions.json").read_text())
    found: list[Any] = []
    for weekend, parents in WEEKENDS:
        asked = [one["question"] for one in questions if one["graph"] == weekend]
        asking = [part for question in asked for part in ("--ask", question)]
        file = str(CONVERSATIONS / f"{weekend}.jsonl")
        report = printed(home, "replay", file, "--graph", weekend, *parents, *asking, **variables)
        found += report["answers"]
    return found


@pytest.mark.slow
def test_the_demos_memory_moves_to_servers_and_back(tmp_path: Path) -> None:
    """Sources, their order and their scores are those of before, and nothing is played again."""
    here, back, nowhere = tmp_path / "here", tmp_path / "back", tmp_path / "nowhere"
    servers = server_variables()
    before = answers(here)
    assert all(answer["sources"] for answer in before)
    mongodb, qdrant = ("env:EZRA_MONGODB_URI", "env:EZRA_QDRANT_URL")
    there = printed(
        here, "migrate", "--from", "embedded", "--to", mongodb, "--to", qdrant, **servers
    )
    assert there["ok"]
    assert answers(nowhere, **servers) == before
    assert not nowhere.exists()
    again = printed(
        back, "migrate", "--from", mongodb, "--from", qdrant, "--to", "embedded", **servers
    )
    assert again["ok"]
    assert answers(back) == before

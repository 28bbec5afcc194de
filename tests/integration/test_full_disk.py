"""A full disk: nobody dies, cold refuses in words, and all goes on when there is room."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.disk_filler import FACTS

from tiers.cold.sqlite import sqlite_cold_store
from tiers.errors import DiskFull
from tiers.warm.edge_folder import AMPLE_BYTES, WRITE_BYTES_MIN, Room, check_room

SIZE = "320m"
TESTS = Path(__file__).parents[1]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a file system of 320 MB, and take it away again."""
    with _mounted(tmp_path / "disk", SIZE) as folder:
        yield folder


@contextmanager
def _mounted(folder: Path, size: str) -> Iterator[Path]:
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


async def test_a_disk_that_never_had_room_to_spare_is_said_to_be_full(tmp_path: Path) -> None:
    """Nothing was set aside to open a memory with, and SQLite says that the disk failed."""
    with _mounted(tmp_path / "tiny", "3m") as folder:
        async with sqlite_cold_store(folder):
            pass
        (folder / "filler").write_bytes(bytes(shutil.disk_usage(folder).free))
        with pytest.raises(DiskFull, match="the disk is full"):
            async with sqlite_cold_store(folder):
                pytest.fail("it opened without a byte")
        (folder / "filler").unlink()
        async with sqlite_cold_store(folder):
            pass


async def test_r9_17_a_full_disk_kills_nobody(small_disk: Path) -> None:
    """Filled to the last byte under a running memory, and freed, in a process of its own."""
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "support.disk_filler",
        str(small_disk),
        cwd=TESTS,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    said, problems = await child.communicate()
    assert child.returncode == 0, f"{child.returncode}: {problems.decode()[-3000:]}"
    seen = json.loads(said)
    assert seen["waiting"] >= FACTS, "the index went on writing"
    assert (seen["parked"], seen["parked_after"]) == (0, 0)
    assert seen["found_low"], "words of the cold tier are found meanwhile"
    assert seen["refused"].startswith("DiskFull: the disk is full")
    assert seen["found_full"]
    assert seen["waiting_after"] == 0
    assert seen["facts"] == 2 * FACTS + seen["written"] + 1, "nothing half written, nothing lost"
    assert seen["indexed"] == seen["facts"]
    again = seen["reopened"]
    assert again["found"], "cold is read on a disk without a byte"
    assert "warm" in again["degraded"]
    assert again["facts"] == seen["facts"]
    assert again["refused"].startswith("DiskFull: the disk is full")
    assert (again["waiting"], again["indexed"]) == (0, 0), "it has caught up when there is room"
    assert "warm" not in again["degraded_after"]
    assert seen["facts_again"] == seen["facts"] + again.get("written", 0) + 1
    assert problems.decode().count("work waits for room") <= 1


def test_r9_17_room_is_asked_for_in_words(tmp_path: Path) -> None:
    """The error says how much is free, where, and how much is needed."""
    check_room(tmp_path, "upsert", 1)
    free = shutil.disk_usage(tmp_path).free
    with pytest.raises(DiskFull, match=r"MiB are free under .* are needed"):
        check_room(tmp_path, "upsert", free + WRITE_BYTES_MIN)


def test_r9_17_ample_room_is_not_looked_at_again_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Little room is looked at before every call."""
    free, looked = [AMPLE_BYTES], []

    def usage(folder: Path) -> SimpleNamespace:
        looked.append(folder)
        return SimpleNamespace(free=free[0])

    monkeypatch.setattr(shutil, "disk_usage", usage)
    room = Room(tmp_path)
    for _ in range(3):
        room.check("search", 1)
    assert len(looked) == 1
    free[0] = AMPLE_BYTES - 1
    tight = Room(tmp_path)
    for _ in range(3):
        tight.check("search", 1)
    assert len(looked) == 4
    free[0] = 0
    with pytest.raises(DiskFull):
        tight.check("search", 1)

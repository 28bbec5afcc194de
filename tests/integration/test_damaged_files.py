"""Files that are damaged, and disks that are full: told, refused in words, nothing else lost."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import random
import shutil
import sqlite3
import subprocess
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.disk_filler import FACTS
from support.raw_stores import files_with
from support.runtime import MovingClock, running
from support.warm_command import warm_python

from ezra import CorruptRecord, Ezra, Settings
from ezra.cli.doctor import examined, lines_of
from tiers.cold.sqlite import sqlite_cold_store
from tiers.errors import DiskFull
from tiers.records import Scope
from tiers.warm.edge_folder import AMPLE_BYTES, WRITE_BYTES_MIN, Room, check_room

# Damaged files: an index is set aside and built again, a database is refused, doctor says so.

RECORDS = 12
PAGE = 4096


async def _made(home: Path) -> None:
    """Fill a memory of which every record is in the index."""
    async with running(home) as ezra:
        graph = await ezra.create_session_graph("garage")
        agent = await graph.spawn_agent("agent", topics={"tyres"})
        for number in range(RECORDS):
            await agent.remember(f"Tyre {number} lasts {number + 9} laps.")
        await ezra.drain_learning()


def _all(home: Path, name: str, change: Callable[[Path], object]) -> None:
    found = list((home / "warm").rglob(name))
    assert found, f"there is no {name}"
    for path in found:
        change(path)


DAMAGES: dict[str, Callable[[Path], None]] = {
    "manifest garbage": lambda home: _all(
        home, "manifest.json", lambda path: path.write_bytes(b"\0?")
    ),
    "manifest empty": lambda home: _all(home, "manifest.json", lambda path: path.write_bytes(b"")),
    "manifest missing": lambda home: _all(home, "manifest.json", Path.unlink),
    "segment garbage": lambda home: _all(home, "segment.json", lambda path: path.write_bytes(b"{")),
    "segment missing": lambda home: _all(home, "segment.json", Path.unlink),
    "ids garbage": lambda home: _all(
        home, "*.mappings", lambda path: path.write_bytes(random.Random(1).randbytes(600))
    ),
    "log garbage": lambda home: _all(
        home, "open-*", lambda path: path.write_bytes(random.Random(1).randbytes(50_000))
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
async def test_r9_20_a_damaged_index_is_set_aside_and_built_again(
    tmp_path: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The memory opens, answers from cold meanwhile, and has every record in a new index after."""
    await _made(tmp_path)
    DAMAGES[damage](tmp_path)
    with caplog.at_level(logging.WARNING):
        async with running(tmp_path) as ezra:
            graph = await ezra.session_graph("garage")
            found = await graph.recall("laps of a tyre")
            assert found.items
            assert "warm" in found.degraded
            agent = await graph.spawn_agent("agent", topics={"tyres"})
            assert "warm" in (await agent.turn("How many laps does a tyre last?")).degraded
            store = ezra._runtime.reembedder.generations.serving.store
            scope = Scope.of_graph("default", "garage")
            assert await store.count(scope) == 0
            await ezra._runtime.reembedder.run_pass()
            assert await store.count(scope) == RECORDS
            assert "warm" not in (await graph.recall("laps of a tyre")).degraded
    (kept,) = (tmp_path / "warm").glob("*/damaged")
    assert str(kept) in caplog.text
    report, healthy = await examined(Settings(home=tmp_path, embedder="off"))
    assert healthy
    assert str(kept) in "\n".join(lines_of(report))
    async with running(tmp_path) as ezra:
        store = ezra._runtime.reembedder.generations.serving.store
        assert await store.count(scope) == RECORDS


NAME = "Quillfeather"


async def _redacted(ezra: Ezra) -> None:
    graph = await ezra.session_graph("garage")
    found = await graph.recall(NAME)
    await graph.redact([one.id for one in found.items], reason="asked for")


async def _erased(ezra: Ezra) -> None:
    await (await ezra.session_graph("garage")).erase(subject=NAME, reason="asked for")


async def _purged(ezra: Ezra) -> None:
    await (await ezra.session_graph("garage")).purge(reason="the contract ended")


async def _retained(ezra: Ezra) -> None:
    for _ in range(3):
        await ezra.run_lifecycle_tick("garage")


WAYS: dict[str, Callable[[Ezra], Awaitable[None]]] = {
    "redact": _redacted,
    "erase": _erased,
    "purge": _purged,
    "retention": _retained,
}


@pytest.mark.parametrize("way", WAYS)
async def test_r9_20_what_was_set_aside_goes_with_the_words(tmp_path: Path, way: str) -> None:
    """Whatever makes words go removes the damaged index that holds them: the bytes are gone."""
    clock, short = MovingClock(), "working=48h"
    async with running(tmp_path, clock, retention_plan=short) as ezra:
        graph = await ezra.create_session_graph("garage")
        agent = await graph.spawn_agent("agent", topics={"tyres"})
        await (await agent.turn(f"Ms {NAME} wants soft tyres.")).reply("Noted.")
        await agent.remember(f"{NAME} drives on soft tyres.")
        await ezra.drain_learning()
    DAMAGES["manifest garbage"](tmp_path)
    async with running(tmp_path, clock, retention_plan=short) as ezra:
        (kept,) = (tmp_path / "warm").glob("*/damaged")
        assert files_with(kept, [NAME.casefold()])
        await ezra._runtime.reembedder.run_to_end()
        if way == "retention":
            clock.move(days=30)
        await WAYS[way](ezra)
        assert not kept.exists()
        if way != "retention":  # the fact is kept
            assert not files_with(tmp_path / "warm", [NAME.casefold()])


@pytest.mark.parametrize("left", [0, PAGE, 10 * PAGE])
async def test_r9_20_an_emptied_or_cut_database_is_refused(tmp_path: Path, left: int) -> None:
    """It is not taken for a new memory, and nothing is written into it; doctor says the same."""
    await _made(tmp_path)
    os.truncate(tmp_path / "ezra.db", left)
    with pytest.raises(CorruptRecord, match="restore it from a backup"):
        async with running(tmp_path):
            pass
    assert (tmp_path / "ezra.db").stat().st_size == left
    report, healthy = await examined(Settings(home=tmp_path, embedder="off"))
    assert not healthy
    assert "restore it from a backup" in "\n".join(lines_of(report))


@pytest.mark.parametrize("way", ["emptied", "missing"])
async def test_r9_20_a_lost_database_is_no_new_memory(tmp_path: Path, way: str) -> None:
    """Without an index or a log beside it, as with servers for the rest, the home still tells."""
    await _made(tmp_path)
    shutil.rmtree(tmp_path / "warm")
    if way == "emptied":
        os.truncate(tmp_path / "ezra.db", 0)
    else:
        (tmp_path / "ezra.db").unlink()
    with pytest.raises(CorruptRecord, match="restore it from a backup"):
        async with running(tmp_path):
            pass
    assert (tmp_path / "ezra.db").exists() == (way == "emptied"), "nothing was made in its place"
    report, healthy = await examined(Settings(home=tmp_path, embedder="off"))
    assert not healthy
    assert "restore it from a backup" in "\n".join(lines_of(report))


async def test_r9_20_doctor_verifies_the_belief_logs(tmp_path: Path) -> None:
    """It says how many it verified, and a log whose beliefs were changed is a problem."""
    async with running(tmp_path) as ezra:
        for name in ("garage", "pits"):
            graph = await ezra.create_session_graph(name)
            agent = await graph.spawn_agent("agent", topics={"tyres"})
            await agent.commit("Start on mediums.", topic="tyres")
    settings = Settings(home=tmp_path, embedder="off")
    report, healthy = await examined(settings)
    assert healthy
    assert report["beliefs"] == "2 of 2 logs verified, all whole"
    with closing(sqlite3.connect(tmp_path / "ezra.db")) as database:
        database.execute(
            "UPDATE beliefs SET body = json_set(body, '$.topic', 'engine') WHERE graph_id = 'pits'"
        )
        database.commit()
    report, healthy = await examined(settings)
    assert not healthy
    assert "pits" in report["beliefs"]
    assert "garage" not in report["beliefs"]


async def test_r9_20_a_home_that_was_only_made_is_a_new_memory(tmp_path: Path) -> None:
    """An empty file and nothing else holds nothing to lose."""
    (tmp_path / "ezra.db").touch()
    await _made(tmp_path)


@pytest.mark.parametrize("damaged", [6, pytest.param(12, marks=pytest.mark.slow)])
async def test_r9_20_doctor_finds_a_garbage_page_wherever_it_is(
    damaged: int, tmp_path: Path
) -> None:
    """Each page in turn, where it holds something, is filled with noise."""
    await _made(tmp_path / "whole")
    whole = (tmp_path / "whole" / "ezra.db").read_bytes()
    pages = range(1, len(whole) // PAGE)
    used = [page for page in pages if any(whole[page * PAGE : (page + 1) * PAGE])]
    noise = random.Random(2).randbytes(PAGE)
    for page in random.Random(3).sample(used, damaged):
        home = tmp_path / f"{page}"
        shutil.copytree(tmp_path / "whole", home, ignore=shutil.ignore_patterns("warm"))
        with (home / "ezra.db").open("r+b") as file:
            file.seek(page * PAGE)
            file.write(noise)
        report, healthy = await examined(Settings(home=home, embedder="off"))
        assert not healthy or "damaged" in "\n".join(lines_of(report)), f"page {page}"


# A full disk: nobody dies, cold refuses in words, and all goes on when there is room.

SIZE = "320m"


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
        warm_python(),
        "-m",
        "support.disk_filler",
        str(small_disk),
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

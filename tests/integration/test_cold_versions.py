"""A database file has the one version that is known, or is refused as it is."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, closing
from pathlib import Path

import pytest
from support.cold_backends import raw_sqlite
from support.cold_samples import SCOPE, turn_by
from support.folder_copies import copied, digests
from support.runtime import running

from ezra import Settings
from ezra.cli import main
from ezra.cli.doctor import examined, lines_of
from tiers.cold.sqlite import sqlite_cold_store
from tiers.cold.sqlite.health import sqlite_health
from tiers.cold.sqlite.schema import APPLICATION_ID, SCHEMA_VERSION, prepare
from tiers.cold.stores import COLLECTIONS
from tiers.cold.stores.known_graphs import GRAPHS
from tiers.errors import ConfigError

OTHERS = (1, SCHEMA_VERSION - 1, SCHEMA_VERSION + 1, 99)
SAID = r"schema version {},.*expects version {}: export .* 'ezra import'"


def _said(version: int) -> str:
    return SAID.format(version, SCHEMA_VERSION)


def _version(folder: Path) -> int:
    with closing(raw_sqlite(folder)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


async def _made(home: Path) -> None:
    """Fill a memory."""
    async with running(home) as ezra:
        graph = await ezra.create_session_graph("garage")
        agent = await graph.spawn_agent("agent", topics={"tyres"})
        await agent.remember("Tyres last 18 laps.")


async def _made_by(version: int, home: Path) -> None:
    """Fill a memory that has another version."""
    await _made(home)
    with closing(raw_sqlite(home)) as connection:
        connection.execute(f"PRAGMA user_version = {version}")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


async def test_new_file_has_the_version_and_is_marked(tmp_path: Path) -> None:
    """What was prepared once is left as it is."""
    async with sqlite_cold_store(tmp_path):
        pass
    assert _version(tmp_path) == SCHEMA_VERSION
    with closing(raw_sqlite(tmp_path)) as connection:
        assert connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID
        before = connection.execute("PRAGMA schema_version").fetchone()[0]
        prepare(connection, COLLECTIONS)
        assert connection.execute("PRAGMA schema_version").fetchone()[0] == before


async def test_tables_are_made_all_or_none(tmp_path: Path) -> None:
    """What fails in between leaves a file that is as new as before."""
    with closing(raw_sqlite(tmp_path)) as connection:
        with pytest.raises(sqlite3.OperationalError, match="already exists"):
            prepare(connection, (GRAPHS, GRAPHS))
        assert not connection.in_transaction
        assert connection.execute("SELECT * FROM sqlite_schema").fetchall() == []
    assert _version(tmp_path) == 0
    async with sqlite_cold_store(tmp_path) as cold:
        await cold.turns.append_turn(SCOPE, turn_by())
    assert _version(tmp_path) == SCHEMA_VERSION


@pytest.mark.parametrize("opened", [sqlite_cold_store, running], ids=["store", "runtime"])
@pytest.mark.parametrize("version", OTHERS)
async def test_another_version_is_refused_before_anything_is_written(
    tmp_path: Path, version: int, opened: Callable[[Path], AbstractAsyncContextManager[object]]
) -> None:
    """With both versions and what to do; not a byte is another, in the index or elsewhere."""
    await _made_by(version, tmp_path)
    before = digests(tmp_path)
    with pytest.raises(ConfigError, match=_said(version)):
        async with opened(tmp_path):
            pass
    assert digests(tmp_path) == before


async def test_another_version_with_a_log_is_refused(tmp_path: Path) -> None:
    """As a killed process leaves it: the version is in the log, and stays."""
    async with sqlite_cold_store(tmp_path / "open") as cold:
        await cold.turns.append_turn(SCOPE, turn_by())
        with closing(raw_sqlite(tmp_path / "open")) as connection:
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION - 1}")
            await asyncio.to_thread(copied, tmp_path / "open", tmp_path / "left")
    assert (tmp_path / "left" / "ezra.db-wal").stat().st_size > 0
    with pytest.raises(ConfigError, match=_said(SCHEMA_VERSION - 1)):
        async with sqlite_cold_store(tmp_path / "left"):
            pass
    assert _version(tmp_path / "left") == SCHEMA_VERSION - 1


@pytest.mark.parametrize("version", OTHERS)
async def test_doctor_says_which_version_is_there(tmp_path: Path, version: int) -> None:
    """And what to do, of the tier and of the memory as a whole."""
    await _made_by(version, tmp_path)
    (problem,) = (await sqlite_health(tmp_path)).problems
    report, healthy = await examined(Settings(home=tmp_path, embedder="off"))
    assert not healthy
    assert problem in report["data"]
    assert f"→ {problem}" in "\n".join(lines_of(report))
    assert f"schema version {version}" in problem
    assert f"version {SCHEMA_VERSION}" in problem
    assert "'ezra import'" in problem


@pytest.mark.parametrize("command", [("status",), ("recall", "garage", "tyres"), ("worker",)])
def test_commands_say_which_version_is_there(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: tuple[str, ...],
) -> None:
    """In one sentence, without a traceback, and leave the file as it is."""
    asyncio.run(_made_by(SCHEMA_VERSION - 1, tmp_path))
    before = digests(tmp_path)
    monkeypatch.setenv("EZRA_HOME", str(tmp_path))
    monkeypatch.setenv("EZRA_EMBEDDER", "off")
    monkeypatch.setattr("sys.argv", ["ezra", *command])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr().err
    assert ended.value.code == 3
    assert f"schema version {SCHEMA_VERSION - 1}" in said
    assert "Traceback" not in said
    assert digests(tmp_path) == before


@pytest.mark.parametrize("version", [0, 1, SCHEMA_VERSION])
async def test_somebody_elses_database_is_refused(tmp_path: Path, version: int) -> None:
    """A SQLite file that ezra did not make is not taken over."""
    with closing(raw_sqlite(tmp_path)) as connection:
        connection.execute("CREATE TABLE theirs (x)")
        connection.execute(f"PRAGMA user_version = {version}")
    before = digests(tmp_path)
    with pytest.raises(ConfigError, match="not written by ezra"):
        async with sqlite_cold_store(tmp_path):
            pass
    assert digests(tmp_path) == before

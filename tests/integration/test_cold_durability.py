"""What the SQLite store keeps whatever is done to it, and what is gone after a redaction."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
from support.belief_replay import replayed
from support.cold_backends import COLD_BACKENDS, ColdBackend, raw_sqlite
from support.cold_samples import OPERATOR, SCOPE, asked, belief_by, draft, fact_by, turn_by
from support.processes import killed_after, running_process
from support.redactions import (
    BELIEF_SECRETS,
    LATER,
    SECRETS,
    Convictions,
    History,
    believe,
    convictions_of,
    history_of,
    store,
)
from support.runtime import running
from support.tier_samples import NOW, scope_of

from tiers.cold.sqlite import DATABASE_NAME, ColdStores, database, sqlite_cold_store
from tiers.errors import (
    ConfigError,
    CorruptRecord,
    TierRejected,
    TierTimeout,
    TierUnavailable,
    UsageError,
)
from tiers.records import Scope

# What the SQLite store keeps when it is killed, cut off, full, damaged or meddled with.


@pytest.fixture
async def cold(tmp_path: Path) -> AsyncIterator[ColdStores]:
    """An empty SQLite store."""
    async with sqlite_cold_store(tmp_path) as stores:
        yield stores


def _database(cold: ColdStores) -> database.Database:
    found: database.Database = cold.turns._store._database  # type: ignore[attr-defined]
    return found


def _names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


async def _read_everything(folder: Path) -> None:
    async with sqlite_cold_store(folder) as cold:
        await cold.turns.recent_turns(SCOPE, 300)
        await cold.words.search_words(SCOPE, asked("turn"))
        await cold.words.census(SCOPE)


@pytest.mark.parametrize("lines", [1, 37, 150])
async def test_killed_writer_keeps_every_acknowledged_turn_once(tmp_path: Path, lines: int) -> None:
    """SIGKILL in the middle of concurrent writes: each acknowledged turn is there with its work."""
    with running_process("cold_writer", tmp_path) as process:
        acknowledged = killed_after(process, lines)
    assert len(acknowledged) >= lines
    async with sqlite_cold_store(tmp_path) as cold:
        known = await cold.turns.known_refs(OPERATOR, acknowledged)
        assert set(known) == set(acknowledged)
        for agent in range(4):
            turns = await cold.turns.recent_turns(scope_of(agent_id=f"agent {agent}"), 10_000)
            assert [turn.seq for turn in turns] == list(range(1, len(turns) + 1))
        census = await cold.words.census(OPERATOR)
        (active,) = await cold.beliefs.active(OPERATOR)
        fold = await replayed(cold.history, OPERATOR)
        assert [belief.id for belief in fold.active()] == [active.id]
        works = census["turns"] + len(fold.beliefs)
        assert works == census["waiting_work"], "a turn or a belief and its work are one write"
    with closing(raw_sqlite(tmp_path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall()[0][0] == "ok"
        keys = {row["key"] for row in connection.execute("SELECT body ->> 'key' AS key FROM work")}
        refs = {row["ref"] for row in connection.execute("SELECT ref FROM turns")}
    assert keys == refs | fold.beliefs.keys()


async def test_closed_store_is_one_plain_file(tmp_path: Path) -> None:
    """Closing writes the log back: the file alone is a whole backup."""
    async with sqlite_cold_store(tmp_path) as cold:
        await cold.turns.append_turn(SCOPE, turn_by())
    assert _names(tmp_path) == [DATABASE_NAME]
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / DATABASE_NAME).rename(elsewhere / DATABASE_NAME)
    async with sqlite_cold_store(elsewhere) as cold:
        assert len(await cold.turns.recent_turns(SCOPE, 8)) == 1


@pytest.mark.parametrize(("setting", "level"), [("NORMAL", 1), ("FULL", 2)])
async def test_engine_runs_as_set(tmp_path: Path, setting: str, level: int) -> None:
    """Write-ahead log, overwriting, triggers, and the durability that was asked for."""
    async with sqlite_cold_store(tmp_path, synchronous=setting) as cold:

        def pragmas(connection: sqlite3.Connection) -> list[object]:
            names = ("synchronous", "journal_mode", "secure_delete", "recursive_triggers")
            return [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names]

        assert await _database(cold).write("t", pragmas) == [level, "wal", 1, 1]


async def test_unknown_durability_is_refused(tmp_path: Path) -> None:
    """Before anything is opened."""
    with pytest.raises(UsageError, match="synchronous"):
        async with sqlite_cold_store(tmp_path, synchronous="OFF"):
            pass
    assert _names(tmp_path) == []


async def test_full_disk_is_unavailable_and_nothing_is_half_written(
    cold: ColdStores, tmp_path: Path
) -> None:
    """The engine's own limit on pages stands in for the disk's; more room, and it goes on."""
    await cold.turns.append_turn(SCOPE, turn_by())

    def limit_pages(connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA max_page_count = 1")

    def lift_limit(connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA max_page_count = 1000000")

    await _database(cold).write("limit", limit_pages)
    with pytest.raises(TierUnavailable, match="full"):
        await cold.turns.append_turn(SCOPE, turn_by(text="x" * 100_000), [draft()])
    assert (await cold.words.census(SCOPE))["turns"] == 1
    await _database(cold).write("lift", lift_limit)
    stored, _ = await cold.turns.append_turn(SCOPE, turn_by(text="x" * 100_000), [draft()])
    assert stored.seq == 2


async def test_locked_file_is_a_timeout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody else holds the write lock: writes time out, reads go on, then all is well."""
    monkeypatch.setattr(database, "BUSY_TIMEOUT_MS", 20)
    async with sqlite_cold_store(tmp_path) as cold:
        with closing(raw_sqlite(tmp_path)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(TierTimeout, match="locked"):
                await cold.turns.append_turn(SCOPE, turn_by())
            assert await cold.turns.recent_turns(SCOPE, 8) == ()
            other.execute("ROLLBACK")
        assert (await cold.turns.append_turn(SCOPE, turn_by()))[1]


async def test_damaged_file_is_corrupt(tmp_path: Path) -> None:
    """Neither silently empty nor a driver's error."""
    (tmp_path / DATABASE_NAME).write_bytes(b"not a database at all" * 500)
    with pytest.raises(CorruptRecord, match="not a database"):
        async with sqlite_cold_store(tmp_path):
            pass


async def test_page_of_garbage_is_corrupt(tmp_path: Path) -> None:
    """A file damaged in the middle says so when that page is read."""
    async with sqlite_cold_store(tmp_path) as cold:
        for number in range(300):
            await cold.turns.append_turn(SCOPE, turn_by(text=f"turn {number} " * 20))
    path = tmp_path / DATABASE_NAME
    content = bytearray(path.read_bytes())
    content[len(content) // 4 : -len(content) // 4] = b"\xa5" * (len(content) // 2)
    path.write_bytes(content)
    with pytest.raises(CorruptRecord):
        await _read_everything(tmp_path)


@pytest.mark.parametrize(
    "meddling",
    [
        "UPDATE topic_sets SET topics = 'not json'",
        "UPDATE turns SET body = '{'",
        "UPDATE turns SET body = json_set(body, '$.tool_outputs', json('[{\"tool\": 1}]'))",
        "UPDATE turns SET body = json_set(body, '$.occurred_at', 'tomorrow')",
        "UPDATE turns SET body = json_set(body, '$.tokens', -1)",
        "UPDATE turns SET body = json_set(body, '$.topics', 'tyres')",
    ],
)
async def test_record_that_cannot_be_read_back_is_corrupt(
    cold: ColdStores, tmp_path: Path, meddling: str
) -> None:
    """What others wrote into the file is never passed off as a record."""
    await cold.turns.append_turn(SCOPE, turn_by())
    with closing(raw_sqlite(tmp_path)) as connection:
        connection.execute(meddling)
    with pytest.raises(CorruptRecord, match=r"turn|set of topics"):
        await cold.turns.recent_turns(SCOPE, 8)


MEDDLING = (
    "UPDATE belief_events SET body = '{}'",
    "UPDATE belief_events SET kind = kind WHERE seq = 1",
    "DELETE FROM belief_events WHERE seq = 2",
    "DELETE FROM belief_events",
    "UPDATE belief_contents SET body = '{}'",
    "UPDATE belief_contents SET belief_id = belief_id",
    "INSERT OR REPLACE INTO belief_contents SELECT * FROM belief_contents",
    "INSERT OR REPLACE INTO belief_contents SELECT anew FROM belief_contents",
    "INSERT OR REPLACE INTO belief_events SELECT anew FROM belief_events",
    "REPLACE INTO belief_events SELECT * FROM belief_events",
)


async def test_the_belief_log_cannot_be_changed_even_from_outside(
    cold: ColdStores, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """A plain connection, with none of ezra's settings, may not change, remove or replace."""
    for number in range(2):
        await cold.beliefs.commit(SCOPE, belief_by(claim=f"{number}", key=None))
    before = await cold.history.logged(OPERATOR)
    # What takes away a log that never came to be leaves every other one as well kept.
    assert (await cold.archive.discard(Scope.of_graph("acme", "never"), NOW)).is_all
    for meddling in MEDDLING:
        with subtests.test(meddling):
            with closing(raw_sqlite(tmp_path)) as connection:
                table = "belief_contents" if "belief_contents" in meddling else "belief_events"
                columns = [row["name"] for row in connection.execute(f"PRAGMA table_info({table})")]
                anew = ", ".join("row + 100" if name == "row" else f'"{name}"' for name in columns)
                with pytest.raises(sqlite3.IntegrityError, match=r"only appended to|never changed"):
                    connection.execute(meddling.replace("anew", anew))
            assert await cold.history.logged(OPERATOR) == before


async def test_destroyed_content_that_comes_back_is_found(tmp_path: Path) -> None:
    """Redaction removes a content; who puts it back, byte for byte, is told of by verifying."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("garage")
        agent = await graph.spawn_agent("agent", topics={"tyres"})
        belief = await agent.commit("Start on mediums.", topic="tyres")
        with closing(raw_sqlite(tmp_path)) as connection:
            (kept,) = connection.execute("SELECT * FROM belief_contents").fetchall()
            await graph.beliefs.redact(belief.id, reason="asked for")
            assert (await graph.beliefs.verify()).ok
            marks = ", ".join("?" for _ in kept)
            insertion = f"INSERT INTO belief_contents VALUES ({marks})"  # noqa: S608
            connection.execute(insertion, tuple(kept))
        problems = (await graph.beliefs.verify()).problems
        assert any("still here" in problem.what for problem in problems)


async def test_constraints_of_the_file_hold_without_ezra(cold: ColdStores, tmp_path: Path) -> None:
    """Two turns of one number or one id, two equal facts, a record without text: it refuses."""
    for ref in ("one", "two"):
        await cold.turns.append_turn(SCOPE, turn_by(ref=ref))
    for text in ("one", "two"):
        await cold.semantic.put_fact(SCOPE, fact_by(text=text))
    with closing(raw_sqlite(tmp_path)) as connection:
        for refused in (
            "UPDATE turns SET seq = 1",
            "UPDATE turns SET ref = 'one'",
            "UPDATE turns SET id = (SELECT MIN(id) FROM turns)",
            "UPDATE facts SET (said, identity) = (SELECT said, identity FROM facts LIMIT 1)",
            "UPDATE facts SET body = NULL",
            "UPDATE facts SET topic_set = NULL",
        ):
            with pytest.raises(sqlite3.IntegrityError):
                connection.execute(refused)


async def test_refused_operation_leaves_the_store_usable(cold: ColdStores) -> None:
    """An engine error rolls back and says that repeating it changes nothing."""

    def broken(connection: sqlite3.Connection) -> None:
        connection.execute("UPDATE turns SET ref = 'half'")
        connection.execute("UPDATE nowhere SET x = 1")

    turn, _ = await cold.turns.append_turn(SCOPE, turn_by(ref="whole"))
    with pytest.raises(TierRejected, match="nowhere"):
        await _database(cold).write("broken", broken)
    assert await cold.turns.known_refs(SCOPE, ["half", "whole"]) == {"whole": turn}
    assert await cold.leases.acquire("it", "b", 10, NOW) is not None


async def test_unusable_folder_is_a_configuration_error(tmp_path: Path) -> None:
    """A file where the folder should be."""
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="EZRA_HOME"):
        async with sqlite_cold_store(tmp_path / "file"):
            pass


async def test_no_transaction_runs_on_the_event_loops_thread(cold: ColdStores) -> None:
    """Reading and writing the file happens elsewhere, so that no statement can hold up the loop."""
    database = _database(cold)
    loops = threading.get_ident()
    writers = {await database.write("probe", lambda _: threading.get_ident()) for _ in range(3)}
    readers = {await database.read("probe", lambda _: threading.get_ident()) for _ in range(9)}
    assert len(writers) == 1
    assert loops not in writers | readers
    assert not writers & readers


# The write-ahead log of SQLite after a redaction: old pages must not be left in it.

SQLITE: ColdBackend = next(one for one in COLD_BACKENDS if one.name == "sqlite")


def _asked(history: History, told: Convictions) -> list[str]:
    records = (history.told[0], history.told[2], history.rule, told.root)
    beliefs = (told.mistaken, told.active, told.old)
    return [one.id for one in (*records, *beliefs)]


def _left_in(folder: Path) -> set[str]:
    """Return the secrets that stand in the bytes of any file, and the name of a log with any."""
    files = {one.name: one.read_bytes() for one in folder.iterdir()}
    said = {
        word
        for word in (*SECRETS, *BELIEF_SECRETS)
        for one in files.values()
        if word.encode() in one
    }
    return said | {name for name, one in files.items() if name.endswith("-wal") and one}


async def test_no_file_has_the_words_while_the_store_is_open(tmp_path: Path) -> None:
    """Of every kind of record, in no page that is free or old, and no index."""
    async with SQLITE.opened(tmp_path) as cold:
        told = await believe(cold, convictions_of())
        history = await store(cold, history_of(), graph=False)
        assert {*SECRETS, *BELIEF_SECRETS} <= _left_in(tmp_path)
        await cold.redactor.redact(OPERATOR, _asked(history, told), "asked to", LATER)
        assert _left_in(tmp_path) == set()


async def test_while_somebody_reads_the_old_state_it_is_said_and_repeating_helps(
    tmp_path: Path,
) -> None:
    """Everything is redacted, but the words can still be read in the log: that is no success."""
    async with SQLITE.opened(tmp_path) as cold:
        told = await believe(cold, convictions_of())
        history = await store(cold, history_of(), graph=False)
        asked = _asked(history, told)
        writer = cold.turns._store._database._writer  # type: ignore[attr-defined]
        writer.execute("PRAGMA busy_timeout = 20")
        with closing(raw_sqlite(tmp_path)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT COUNT(*) FROM turns").fetchone()
            with pytest.raises(TierTimeout, match="repeating"):
                await cold.redactor.redact(OPERATOR, asked, "asked to", LATER)
        assert len(await cold.redactor.redacted(OPERATOR, asked)) == len(asked)
        assert _left_in(tmp_path) > {SECRETS[0]}
        await cold.redactor.redact(OPERATOR, asked, "asked to", LATER)
        assert _left_in(tmp_path) == set()

"""Opening database files of every version."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from support.cold_backends import raw_sqlite
from support.cold_samples import (
    OPERATOR,
    OTHER_GRAPH,
    OTHER_TENANT,
    SCOPE,
    asked,
    belief_by,
    draft,
    episode_by,
    fact_by,
    graph_of,
    rule_by,
    summary_by,
    turn_by,
)

from tiers.cold.sqlite import DATABASE_NAME, ColdStores, sqlite_cold_store
from tiers.cold.sqlite.schema import APPLICATION_ID, MIGRATIONS, Migration, migrate
from tiers.errors import ConfigError


async def _filled(cold: ColdStores) -> None:
    """Store something of every kind, in three graphs, superseded and private ones among it."""
    await cold.graphs.create_graph(graph_of("race"))
    for scope in (SCOPE, OTHER_GRAPH, OTHER_TENANT):
        turns = [
            (await cold.turns.append_turn(scope, turn_by(scope, f"Tyre lap {n}"), [draft(f"{n}")]))[
                0
            ]
            for n in range(5)
        ]
        summary = summary_by(scope, turns[:3], private=True)
        await cold.episodic.put_summary(scope, summary)
        await cold.episodic.put_episode(scope, episode_by(scope, [summary.id]))
        await cold.semantic.put_fact(scope, fact_by(scope, "Tyres are round."))
        await cold.semantic.put_fact(scope, fact_by(scope, "Tyres are square.", superseded_by="x"))
        await cold.procedural.put_rule(scope, rule_by(scope))
        for claim in ("Hard tyres.", "Soft tyres."):
            await cold.beliefs.commit(scope, belief_by(scope, claim))


async def _answers(cold: ColdStores) -> list[object]:
    """Return what the file tells, in every way that depends on the newest version."""
    answers: list[object] = []
    for scope in (SCOPE, OPERATOR, OTHER_GRAPH, OTHER_TENANT):
        hits = await cold.words.search_words(scope, asked("tyres laps day soft hard medium"))
        answers += [
            hits,
            await cold.words.entries(scope, [hit.id for hit in hits]),
            await cold.words.census(scope),
            await cold.beliefs.events(scope),
            await cold.semantic.recall_archival(scope, asked("tyres")),
            await cold.procedural.match_rules(scope, "tyre change", 4),
        ]
    return answers


def _as_version_1(folder: Path, into: Path) -> None:
    """Copy a store's data into a file that only the first migration has made."""
    with closing(raw_sqlite(into)) as connection:
        migrate(connection, MIGRATIONS[:1])
        connection.execute("ATTACH ? AS newest", (str(folder / DATABASE_NAME),))
        tables = connection.execute(
            "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        ).fetchall()
        assert len(tables) > 15
        for (name,) in tables:
            connection.execute(f"INSERT INTO main.{name} SELECT * FROM newest.{name}")  # noqa: S608


def _version(folder: Path) -> int:
    with closing(raw_sqlite(folder)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


async def test_new_file_is_at_the_newest_version(tmp_path: Path) -> None:
    """And marked as ezra's."""
    async with sqlite_cold_store(tmp_path):
        pass
    assert _version(tmp_path) == MIGRATIONS[-1].version
    with closing(raw_sqlite(tmp_path)) as connection:
        assert connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID
        assert migrate(connection) == 0, "nothing is left to do the second time"


def test_migrations_count_from_one_without_gaps() -> None:
    """Each has a script of its own."""
    assert [step.version for step in MIGRATIONS] == list(range(1, len(MIGRATIONS) + 1))
    assert all(step.script().strip() for step in MIGRATIONS)


async def test_first_version_with_data_is_carried_forward(tmp_path: Path) -> None:
    """A file from before word search answers exactly as one that had it from the start."""
    newest, old = tmp_path / "newest", tmp_path / "old"
    old.mkdir()
    async with sqlite_cold_store(newest) as cold:
        await _filled(cold)
        expected = await _answers(cold)
    _as_version_1(newest, old)
    assert _version(old) == 1
    async with sqlite_cold_store(old) as cold:
        assert await _answers(cold) == expected
        # And it goes on from there.
        turn, _ = await cold.turns.append_turn(SCOPE, turn_by(text="Undercut now?"))
        assert turn.seq == 6
        (hit,) = await cold.words.search_words(SCOPE, asked("undercut"))
        assert hit.id == turn.id
    assert _version(old) == 2


async def test_file_of_a_newer_ezra_is_refused_with_both_versions(tmp_path: Path) -> None:
    """And left as it is."""
    async with sqlite_cold_store(tmp_path):
        pass
    with closing(raw_sqlite(tmp_path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(ConfigError, match=r"version 99.*version 2.*upgrade"):
        async with sqlite_cold_store(tmp_path):
            pass
    assert _version(tmp_path) == 99


@pytest.mark.parametrize("version", [0, 1])
async def test_somebody_elses_database_is_refused(tmp_path: Path, version: int) -> None:
    """A SQLite file that ezra did not make is not taken over."""
    with closing(raw_sqlite(tmp_path)) as connection:
        connection.execute("CREATE TABLE theirs (x)")
        connection.execute(f"PRAGMA user_version = {version}")
    with pytest.raises(ConfigError, match="not written by ezra"):
        async with sqlite_cold_store(tmp_path):
            pass
    with closing(raw_sqlite(tmp_path)) as connection:
        tables = connection.execute("SELECT name FROM sqlite_schema").fetchall()
    assert [row[0] for row in tables] == ["theirs"]


class _FailingMigration(Migration):
    """Makes and changes tables, then fails."""

    def apply(self, connection: sqlite3.Connection) -> None:
        """Leave something behind, were it not for the transaction."""
        connection.execute("CREATE TABLE half (x)")
        connection.execute("DROP TABLE leases")
        raise sqlite3.OperationalError("the third step failed")


class _GoodMigration(Migration):
    """What the failed one becomes once it is repaired."""

    def apply(self, connection: sqlite3.Connection) -> None:
        """Make one table."""
        connection.execute("CREATE TABLE whole (x)")


async def test_failed_migration_leaves_the_version_before_it(tmp_path: Path) -> None:
    """Its transaction takes everything back; repaired, it runs."""
    async with sqlite_cold_store(tmp_path) as cold:
        await cold.turns.append_turn(SCOPE, turn_by())
    with closing(raw_sqlite(tmp_path)) as connection:
        before = connection.execute("SELECT sql FROM sqlite_schema").fetchall()
        with pytest.raises(sqlite3.OperationalError, match="third step"):
            migrate(connection, (*MIGRATIONS, _FailingMigration(3, "failing")))
        assert not connection.in_transaction
        assert connection.execute("SELECT sql FROM sqlite_schema").fetchall() == before
    assert _version(tmp_path) == 2
    async with sqlite_cold_store(tmp_path) as cold:
        assert len(await cold.turns.recent_turns(SCOPE, 8)) == 1
    with closing(raw_sqlite(tmp_path)) as connection:
        assert migrate(connection, (*MIGRATIONS, _GoodMigration(3, "good"))) == 1
    assert _version(tmp_path) == 3


async def test_later_failure_keeps_the_migrations_before_it(tmp_path: Path) -> None:
    """Each step is a transaction of its own: of two, the first stays."""
    with closing(raw_sqlite(tmp_path)) as connection:
        migrate(connection, MIGRATIONS[:1])
        with pytest.raises(sqlite3.OperationalError):
            migrate(connection, (*MIGRATIONS, _FailingMigration(3, "failing")))
    assert _version(tmp_path) == 2

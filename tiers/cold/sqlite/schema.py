"""The schema's versions, and the way from each to the next.

A database file carries its version in ``PRAGMA user_version``. Each migration runs in a
transaction of its own together with the new version number, so a file is always at one version
or the next. A migration that people have run is never changed; a new one is added.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files

from ...errors import ConfigError
from .backfill import (
    address_facts,
    find_outputs,
    index_existing_records,
    name_ends,
    tell_history,
    tell_users_apart,
)

APPLICATION_ID = 0x455A5241  # "EZRA", in the file's header: what the ``file`` command can show


@dataclass(frozen=True)
class Migration:
    """One step of the schema, from the version before to ``version``.

    Attributes:
        version: Counts from 1 without gaps.
        name: Of its script, ``migrations/<version>_<name>.sql``.
        fill: Carries existing data into what the script made.
    """

    version: int
    name: str
    fill: Callable[[sqlite3.Connection], None] | None = None

    def script(self) -> str:
        """Return the migration's SQL."""
        path = f"migrations/{self.version:04d}_{self.name}.sql"
        return files(__package__).joinpath(path).read_text(encoding="utf-8")

    def apply(self, connection: sqlite3.Connection) -> None:
        """Run the script and carry data over, inside the caller's transaction."""
        for statement in _statements(self.script()):
            connection.execute(statement)
        if self.fill is not None:
            self.fill(connection)


MIGRATIONS: tuple[Migration, ...] = (
    Migration(1, "base"),
    Migration(2, "words", index_existing_records),
    Migration(3, "fleets", tell_users_apart),
    Migration(4, "history", tell_history),
    Migration(5, "grains", address_facts),
    Migration(6, "knowledge", name_ends),
    Migration(7, "recall", find_outputs),
    Migration(8, "timeline"),
    Migration(9, "documents"),
    Migration(10, "board"),
    Migration(11, "windows"),
)


def migrate(connection: sqlite3.Connection, migrations: Sequence[Migration] = MIGRATIONS) -> int:
    """Bring the database to the newest version and return how many migrations that took.

    Raises:
        ConfigError: The file was written by a newer ezra, or is not ezra's.
        sqlite3.Error: A migration failed; the file is at the version before it, a new one empty.
    """
    found = _version(connection)
    newest = migrations[-1].version
    if found > newest:
        reason = (
            f"the cold store was written by a newer ezra: its schema is version {found}, this "
            f"one knows up to version {newest}; upgrade ezra"
        )
        raise ConfigError("EZRA_HOME", reason)
    _check_ours(connection, found)
    # Nobody has anything to lose in a new file: it is made whole, or not at all.
    steps = [migrations] if found == 0 else [[one] for one in migrations[found:]]
    for step in steps:
        connection.execute("BEGIN IMMEDIATE")
        try:
            for migration in step:
                migration.apply(connection)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {step[-1].version}")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")
    return newest - found


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _check_ours(connection: sqlite3.Connection, version: int) -> None:
    marked = connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID
    empty = connection.execute("SELECT COUNT(*) FROM sqlite_schema").fetchone()[0] == 0
    if not marked and not (empty and version == 0):
        raise ConfigError("EZRA_HOME", "the file ezra.db there was not written by ezra")


def _statements(script: str) -> Iterator[str]:
    """Cut a script into statements; ``executescript`` would commit in the middle."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""

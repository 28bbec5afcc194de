"""Every cold tier that must behave alike, how a test opens one, and how it looks behind it."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

from tiers.cold.sqlite import DATABASE_NAME
from tiers.cold.stores import COLLECTIONS, ColdStores, stores_over
from tiers.ports import WarmStore

from .cold_mongo import MongoDatabases, live, stand_in
from .raw_records import (
    Row,
    rows_of_documents,
    rows_of_memory,
    rows_of_tables,
    text_of_memory,
    text_of_tables,
)
from .record_stores import memory_of, memory_record_store, watched_sqlite

Cold: TypeAlias = ColdStores


class Opener(Protocol):
    """Opens the tier in a folder, which is empty the first time."""

    def __call__(
        self, folder: Path, *, archival_index: WarmStore | None = None
    ) -> AbstractAsyncContextManager[Cold]:
        """Return the tier, to be entered."""
        ...


@dataclass(frozen=True)
class ColdBackend:
    """One row of the table.

    Attributes:
        name: Shown as the test's parameter.
        opened: Opens it.
        rows: Reads a collection in the raw engine, beside or after the store, in one form for all
            of them; ``beliefs__words`` is a list of one.
        whole: Reads everything in it as text, by table or collection, as anybody could.
        is_shared: Whether several processes may have it open at once.
    """

    name: str
    opened: Opener
    rows: Callable[[Path, str], list[Row]]
    whole: Callable[[Path], dict[str, str]]
    is_shared: bool = False


def raw_sqlite(folder: Path) -> sqlite3.Connection:
    """Return a plain connection to the file, as anybody with access to it could make."""
    connection = sqlite3.connect(folder / DATABASE_NAME, isolation_level=None)
    connection.row_factory = sqlite3.Row
    return connection


@asynccontextmanager
async def _in_sqlite(
    folder: Path, *, archival_index: WarmStore | None = None
) -> AsyncIterator[ColdStores]:
    """Open the tier as the product does, and look at the plan of every question besides."""
    async with watched_sqlite(folder / DATABASE_NAME, COLLECTIONS) as store:
        cold = stores_over(store, archival_index=archival_index)
        async with cold.held:
            yield cold


@asynccontextmanager
async def _in_memory(
    folder: Path, *, archival_index: WarmStore | None = None
) -> AsyncIterator[ColdStores]:
    async with memory_record_store(folder) as store:
        cold = stores_over(store, archival_index=archival_index)
        async with cold.held:
            yield cold


def _of_sqlite() -> ColdBackend:
    def rows(folder: Path, name: str) -> list[Row]:
        with closing(raw_sqlite(folder)) as connection:
            return rows_of_tables(connection, name)

    def whole(folder: Path) -> dict[str, str]:
        with closing(raw_sqlite(folder)) as connection:
            return text_of_tables(connection)

    return ColdBackend("sqlite", _in_sqlite, rows, whole)


def _of_mongo(name: str, databases: MongoDatabases) -> ColdBackend:
    def rows(folder: Path, name: str) -> list[Row]:
        return rows_of_documents(lambda collection: databases.documents(folder, collection), name)

    return ColdBackend(name, databases.opened, rows, databases.whole, is_shared=True)


def _of_memory() -> ColdBackend:
    return ColdBackend(
        "memory",
        _in_memory,
        lambda folder, name: rows_of_memory(memory_of(folder), name),
        lambda folder: text_of_memory(memory_of(folder)),
    )


def _backends() -> Iterator[ColdBackend]:
    yield _of_sqlite()
    yield _of_mongo("mongo", stand_in())
    yield _of_mongo("motor", stand_in("motor"))
    named = live()
    if named is not None:
        yield _of_mongo("mongo-live", named)
    yield _of_memory()


COLD_BACKENDS = tuple(_backends())

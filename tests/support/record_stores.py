"""Every engine under the cold tier, and collections that use all that an engine must do."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

from tiers.cold.conditions import Absent, Is
from tiers.cold.mongo.records import mongo_record_store
from tiers.cold.port import Collection, Index, Lookup, RecordStore
from tiers.cold.sqlite.records import sqlite_record_store
from tiers.moments import microseconds
from tiers.records import Moment, Owned, Record

from .cold_mongo import server
from .memory_records import Memory, MemoryRecordStore


class Note(Owned):
    """An owned record with a field of every sort."""

    title: str
    rank: int = 0
    state: str | None = None
    people: tuple[str, ...] = ()
    held: tuple[tuple[int, int | None], ...] = ()
    changed_at: Moment


class Entry(Record):
    """A line of a log, which is only appended to."""

    tenant: str
    graph_id: str
    seq: int
    text: str


class Lock(Record):
    """Something of the installation as a whole."""

    id: str
    holder: str | None = None


NOTES: Collection[Note] = Collection(
    "notes",
    Note,
    fields={
        "title": lambda note: note.title,
        "rank": lambda note: note.rank,
        "state": lambda note: note.state,
        "recorded_at": lambda note: microseconds(note.recorded_at),
        "changed_at": lambda note: microseconds(note.changed_at),
    },
    indexes={
        "latest": Index(("changed_at", "id")),
        "open": Index(("rank", "id"), where=(Is("state", "open"),)),
        "loose": Index(("rank", "id"), where=(Absent("state"),)),
        "title": Index(("title",), unique=True),
        "due": Index(("rank", "id"), of="tenant"),
    },
    lists={
        "people": Lookup(lambda note: note.people, order=("changed_at", "id"), told_whole=True),
        "words": Lookup(
            lambda note: Counter((note.title * note.rank).split() or note.title.split()),
            told_whole=True,
        ),
    },
    stretches={"held": lambda note: note.held},
)

ENTRIES: Collection[Entry] = Collection(
    "entries",
    Entry,
    fields={"seq": lambda entry: entry.seq},
    indexes={"seq": Index(("seq",), unique=True)},
    append_only=True,
    key=lambda entry: str(entry.seq),
)

LOCKS: Collection[Lock] = Collection(
    "locks", Lock, fields={"holder": lambda lock: lock.holder}, extent="store"
)

COLLECTIONS: tuple[Collection[Any], ...] = (NOTES, ENTRIES, LOCKS)

Opened = Callable[[Path, Sequence[Collection[Any]]], AbstractAsyncContextManager[RecordStore]]


_MEMORIES: dict[Path, Memory] = {}
"""What is there again when a test opens its folder a second time."""


def memory_of(folder: Path) -> Memory:
    """Return what the memory engine keeps for a folder."""
    return _MEMORIES.setdefault(folder, Memory())


@asynccontextmanager
async def memory_record_store(folder: Path) -> AsyncIterator[RecordStore]:
    """Open what is in memory for a folder."""
    store = MemoryRecordStore(memory_of(folder))
    try:
        yield store
    finally:
        store.close()


@asynccontextmanager
async def watched_sqlite(
    path: Path, collections: Sequence[Collection[Any]]
) -> AsyncIterator[RecordStore]:
    """Open a file, and look at the plan of every question before it is asked."""
    await asyncio.to_thread(path.parent.mkdir, parents=True, exist_ok=True)
    async with sqlite_record_store(path, collections) as store:
        store.watch = check_plan
        yield store


_RIGHTLY_PLANNED: set[tuple[str, str, bool]] = set()
"""Questions whose plans were looked at: a plan follows from the statement, not from its values."""


def check_plan(connection: Any, find: Any, statement: Any) -> None:
    """Fail where a question does not go by the index it names, or sorts and does not say so."""
    asked = (statement.text, find.by, find.sorts)
    if asked in _RIGHTLY_PLANNED:
        return
    rows = connection.execute(f"EXPLAIN QUERY PLAN {statement.text}", statement.values).fetchall()
    plan = [row["detail"] for row in rows]
    name = find.collection.name
    if find.by in find.collection.lists:
        used = any(f"{name}__{find.by}" in step or " m " in step for step in plan)
    else:
        used = any(f"INDEX {name}__{find.by}" in step for step in plan)
    assert used, (find, plan)
    assert not any(step.startswith(f"SCAN {name}") for step in plan), plan
    sorts = any("USE TEMP B-TREE FOR" in step and "ORDER BY" in step for step in plan)
    assert find.sorts or not sorts, (statement.text, plan)
    _RIGHTLY_PLANNED.add(asked)


def _in_memory(
    folder: Path, collections: Sequence[Collection[Any]]
) -> AbstractAsyncContextManager[RecordStore]:
    return memory_record_store(folder)


def _in_sqlite(
    folder: Path, collections: Sequence[Collection[Any]]
) -> AbstractAsyncContextManager[RecordStore]:
    return watched_sqlite(folder / "records.db", collections)


@asynccontextmanager
async def _in_mongo(
    folder: Path, collections: Sequence[Collection[Any]]
) -> AsyncIterator[RecordStore]:
    name = _DATABASES.setdefault(folder, f"records_{len(_DATABASES)}")
    async with mongo_record_store(server().uri, collections, database=name) as store:
        yield store


_DATABASES: dict[Path, str] = {}

ENGINES: dict[str, Opened] = {"memory": _in_memory, "sqlite": _in_sqlite, "mongo": _in_mongo}

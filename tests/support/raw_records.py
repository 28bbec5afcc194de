"""What lies in an engine, past the store: in one form for all of them, or the whole as text.

A record is what its text says with what lies beside it, which is what is looked up and compared;
it is there as it lies, so that a moment is a number. Of a list, each value of each record is one.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from tiers.cold.bodies import body
from tiers.cold.ownership import NO_TOPIC
from tiers.cold.port import OWNERS, Collection
from tiers.cold.stores import COLLECTIONS

from .memory_records import Kept, Memory

Row: TypeAlias = dict[str, Any]

_BY_NAME: Mapping[str, Collection[Any]] = {one.name: one for one in COLLECTIONS}


def rows_of_tables(connection: sqlite3.Connection, name: str) -> list[Row]:
    """Return what SQLite has of a collection, or of one of its lists."""
    found = [dict(row) for row in connection.execute(f"SELECT * FROM {name}")]  # noqa: S608
    collection, of_list = _named(name)
    if of_list:
        return [_listed(collection, row, row["value"], row["times"]) for row in found]
    sets = dict(connection.execute("SELECT id, topics FROM topic_sets").fetchall())
    return [
        _joined(
            collection,
            row["body"],
            row,
            json.loads(sets[row["topic_set"]]) if collection.owned else (),
        )
        for row in found
    ]


def rows_of_documents(documents: Callable[[str], Iterable[Row]], name: str) -> list[Row]:
    """Return what MongoDB has of a collection, or of one of its lists."""
    collection, of_list = _named(name)
    found = documents(collection.name)
    if of_list:
        return [
            _listed(collection, one, value, times)
            for one in found
            for value, times in _times(one, of_list)
        ]
    return [
        _joined(
            collection,
            one["body"],
            one,
            [topic for topic in one.get("topics", ()) if topic != NO_TOPIC],
        )
        for one in found
    ]


def rows_of_memory(memory: Memory, name: str) -> list[Row]:
    """Return what the memory engine has of a collection, or of one of its lists."""
    collection, of_list = _named(name)
    found = _kept(memory, collection.name)
    if of_list:
        return [
            _listed(collection, kept.seen.fields, value, times)
            for kept in found
            for value, times in kept.seen.lists[of_list].items()
        ]
    return [
        _joined(collection, body(kept.record), kept.seen.fields, kept.seen.topics) for kept in found
    ]


def text_of_tables(connection: sqlite3.Connection) -> dict[str, str]:
    """Return everything that is in a file of SQLite, by table."""
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    return {
        name: "\n".join(repr(tuple(row)) for row in connection.execute(f"SELECT * FROM {name}"))  # noqa: S608
        for (name,) in tables
    }


def text_of_memory(memory: Memory) -> dict[str, str]:
    """Return everything that the memory engine has, by collection."""
    return {name: "\n".join(map(repr, _kept(memory, name))) for name in memory.held}


def _named(name: str) -> tuple[Collection[Any], str]:
    """Return the collection that is named, and which of its lists, if one is."""
    collection, _, of_list = name.partition("__")
    return _BY_NAME[collection], of_list


def _joined(
    collection: Collection[Any], text: str, beside: Mapping[str, Any], topics: Iterable[str]
) -> Row:
    row: Row = {**json.loads(text), **{name: beside.get(name) for name in collection.names}}
    return row | {"topics": sorted(topics)} if collection.owned else row


def _listed(collection: Collection[Any], of: Mapping[str, Any], value: str, times: int) -> Row:
    owner = {name: of[name] for name in OWNERS[collection.extent]}
    return {**owner, "value": value, "times": times}


def _times(document: Row, of_list: str) -> Iterable[tuple[str, int]]:
    values = document[f"{of_list}_listed"]
    return zip(values, document.get(f"{of_list}_times") or [1] * len(values), strict=True)


def _kept(memory: Memory, name: str) -> list[Kept]:
    kept = (one for records in memory.held.get(name, {}).values() for one in records.values())
    return sorted(kept, key=lambda one: one.number)

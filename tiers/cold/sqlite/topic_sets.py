"""Sets of topics by number, and which of them a scope sees, worked out once in Python.

A record names its set by number. Sets are few and are only ever added, so what a condition admits
is a byte per set, lengthened when sets appear; an engine compares one byte per record.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from ...errors import CorruptRecord
from ..conditions import Topics
from ..port import topics_text

SIGHTS_REMEMBERED = 1_024

TABLE = "CREATE TABLE topic_sets (id INTEGER PRIMARY KEY, topics TEXT NOT NULL UNIQUE) STRICT"


_Set: TypeAlias = tuple[str, ...]


class TopicSets:
    """The sets of a database. Used by several threads."""

    def __init__(self) -> None:
        self._sets: list[tuple[str, ...]] = []
        self._numbers: dict[tuple[str, ...], int] = {}
        self._sights: OrderedDict[Topics, bytearray] = OrderedDict()
        self._lock = threading.Lock()

    def number(
        self, connection: sqlite3.Connection, topics: Sequence[str], here: dict[_Set, int]
    ) -> int:
        """Return the number of a set, from 1; a new one gets the next, in this transaction.

        Args:
            connection: The writer's.
            topics: The set.
            here: Sets that were looked up in this transaction; filled. ``learn`` takes them when
                it is committed.
        """
        wanted = tuple(sorted(topics))
        known = self._numbers.get(wanted) or here.get(wanted)
        if known is None:
            known = here[wanted] = _number(connection, topics_text(wanted))
        return known

    def learn(self, committed: Mapping[_Set, int]) -> None:
        """Remember the numbers of sets that are there for good."""
        if committed:
            self._numbers.update(committed)

    def sight(self, connection: sqlite3.Connection, condition: Topics) -> bytes:
        """Return a byte per set, 1 where the condition admits it; the first is of set 1."""
        with self._lock:
            sets = self._all(connection)
            if connection.in_transaction and len(sets) > len(self._sets):
                # Added by a transaction that is not over: it may yet be taken back.
                return bytes(condition.admits(topics) for topics in sets)
            seen = self._sights.setdefault(condition, bytearray())
            self._sights.move_to_end(condition)
            seen.extend(condition.admits(topics) for topics in self._sets[len(seen) :])
            while len(self._sights) > SIGHTS_REMEMBERED:
                self._sights.popitem(last=False)
            return bytes(seen)

    def _all(self, connection: sqlite3.Connection) -> Sequence[tuple[str, ...]]:
        """Return every set of the snapshot, remembering what a reader's snapshot has."""
        query = "SELECT topics FROM topic_sets WHERE id > ? ORDER BY id"
        rows = connection.execute(query, (len(self._sets),)).fetchall()
        if not rows:
            return self._sets
        new = [_read(row[0]) for row in rows]
        if connection.execute("PRAGMA query_only").fetchone()[0]:
            self._numbers |= {one: number for number, one in enumerate(new, len(self._sets) + 1)}
            self._sets += new
            return self._sets
        return [*self._sets, *new]


def _number(connection: sqlite3.Connection, text: str) -> int:
    found = connection.execute("SELECT id FROM topic_sets WHERE topics = ?", (text,)).fetchone()
    if found is not None:
        return int(found[0])
    made = connection.execute("INSERT INTO topic_sets (topics) VALUES (?)", (text,))
    return made.lastrowid or 0


def _read(text: str) -> tuple[str, ...]:
    try:
        return tuple(json.loads(text))
    except (TypeError, ValueError) as error:
        reason = "a stored set of topics cannot be read back"
        raise CorruptRecord("cold", "read", reason) from error

"""What every command works on: the store, the sessions, the open cursors and the knobs."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import bson
from bson import Int64
from bson.raw_bson import RawBSONDocument

from .errors import CommandError, bad_value
from .sessions import Sessions
from .store import Collection, Store
from .values import Document

Mode = Literal["standalone", "replica_set"]

_FIRST_BATCH = 101
_MAX_BATCH_BYTES = 16 * 1024 * 1024
_MAX_CURSORS = 1000


@dataclass
class Knobs:
    """How the stand-in behaves; may be turned while it runs.

    Attributes:
        mode: What it says that it is; a standalone is only there to be refused.
        search: Whether search is there at all; without, it answers as a community server.
        search_build_listings: A new or updated search index shows as being built in this many
            listings.
        lock_wait_seconds: How long a write waits for a transaction that holds its document.
        transaction_seconds: How long a transaction may stay open.
    """

    mode: Mode = "replica_set"
    search: bool = True
    search_build_listings: int = 0
    lock_wait_seconds: float = 0.5
    transaction_seconds: float = 60.0


@dataclass(frozen=True)
class Command:
    """One command as the driver sent it.

    Attributes:
        name: The first field of the body.
        database: The ``$db``.
        body: All fields, document sequences included.
    """

    name: str
    database: str
    body: Document

    def collection_name(self) -> str:
        """Return the collection that the command names."""
        value = self.body[self.name]
        if not isinstance(value, str) or not value or "$" in value:
            raise CommandError(73, f"Invalid namespace specified '{self.database}.{value}'")
        return value


class Cursor:
    """The rest of an answer."""

    def __init__(self, namespace: str, documents: list[Document]) -> None:
        self.namespace = namespace
        self._documents = documents
        self._at = 0

    @property
    def is_spent(self) -> bool:
        """Whether nothing is left."""
        return self._at >= len(self._documents)

    def take(self, size: int | None) -> list[RawBSONDocument]:
        """Return the next documents: at most ``size`` of them, and 16 MiB unless it is one."""
        batch: list[RawBSONDocument] = []
        room = _MAX_BATCH_BYTES
        while not self.is_spent and (size is None or len(batch) < size):
            raw = bson.encode(self._documents[self._at])
            room -= len(raw)
            if batch and room < 0:
                break
            batch.append(RawBSONDocument(raw))
            self._at += 1
        return batch


@dataclass
class Engine:
    """Everything behind the wire."""

    knobs: Knobs
    store: Store = field(default_factory=Store)
    cursors: OrderedDict[int, Cursor] = field(default_factory=OrderedDict)

    def __post_init__(self) -> None:
        self.sessions = Sessions(self.knobs)
        self._cursor_ids = itertools.count(1)

    def collection(self, command: Command) -> Collection:
        """Return the collection a command names, created or not."""
        return self.store[command.database][command.collection_name()]

    def named(self, command: Command) -> frozenset[Collection]:
        """Return the collections that a command reads or writes, those of its unions included."""
        name = command.body.get(command.name)
        names = [*([name] if isinstance(name, str) else ()), *_united(command.body.get("pipeline"))]
        return frozenset(self.store[command.database][one] for one in names)

    def drop_database(self, name: str) -> None:
        """Forget a database, and roll back what touches it."""
        self.sessions.forget(self.store.collections(name))
        self.store.drop_database(name)

    def cursor_reply(
        self, namespace: str, documents: list[Document], batch_size: Any = None
    ) -> Document:
        """Return the first batch, keeping the rest for ``getMore``."""
        size = checked_batch_size(batch_size)
        cursor = Cursor(namespace, documents)
        first = cursor.take(_FIRST_BATCH if size is None else size)
        cursor_id = 0
        if not cursor.is_spent:
            cursor_id = next(self._cursor_ids)
            self.cursors[cursor_id] = cursor
            if len(self.cursors) > _MAX_CURSORS:
                self.cursors.popitem(last=False)
        return {"cursor": {"firstBatch": first, "id": Int64(cursor_id), "ns": namespace}, "ok": 1.0}


def _united(pipeline: Any) -> Iterator[str]:
    """Yield the collections of the unions in a pipeline, at any depth."""
    for stage in pipeline if isinstance(pipeline, list) else ():
        union = stage.get("$unionWith") if isinstance(stage, dict) else None
        if isinstance(union, dict) and isinstance(union.get("coll"), str):
            yield union["coll"]
            yield from _united(union.get("pipeline"))


Handler = Callable[[Engine, Command], Awaitable[Document]]


def checked_batch_size(value: Any) -> int | None:
    """Return a batch size; ``None`` for the server's choice."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        bad_value(f"batchSize {value!r}")
    return int(value)

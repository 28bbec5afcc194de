"""What the raw engines hold, read behind the stores' backs, byte by byte and by owner."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from qdrant_client import AsyncQdrantClient
from qdrant_edge import EdgeShard, ScrollRequest, SparseVector

from tiers.hot import EmbeddedHotStore

from ..cold_backends import raw_sqlite

RECORDS = frozenset(
    (
        *("turns", "summaries", "episodes", "facts", "rules", "beliefs", "receipts", "points"),
        *("watermarks", "documents", "document_revisions", "passages", "cards", "quarantined"),
    )
)
"""Tables whose rows are records that one owner wrote; the rest keeps books."""

_PAGE = 1_000
_LAST_BITS = 1e-6


class Row(NamedTuple):
    """One row, document, key or point.

    Attributes:
        tenant: Whose; ``None`` when it is nobody's in particular.
        graph_id: Of which graph.
        agent_id: Of which agent, where a store keeps things per agent.
        record_id: The record that it is, for tables in ``RECORDS``.
        content: Everything in it.
    """

    tenant: str | None
    graph_id: str | None
    agent_id: str | None
    record_id: str | None
    content: str


Raw = Mapping[tuple[str, str], Row]
"""Rows by table and place."""


def sqlite_raw(folder: Path) -> dict[tuple[str, str], Row]:
    """Return every row of the database, the words among them that a record is found by."""
    with closing(raw_sqlite(folder)) as connection:
        return dict(_sqlite_rows(connection))


def _sqlite_rows(connection: sqlite3.Connection) -> Iterator[tuple[tuple[str, str], Row]]:
    topics = dict(connection.execute("SELECT id, topics FROM topic_sets").fetchall())
    for table in _tables(connection):
        columns = connection.execute(f"PRAGMA table_info({table})").fetchall()
        keys = [column["name"] for column in columns if column["pk"]]
        for row in connection.execute(f"SELECT * FROM {table}"):  # noqa: S608 - from the schema
            values = dict(row)
            place = repr([values[key] for key in keys])
            said = topics.get(values.get("topic_set"), "")
            yield (table, place), _row(table, values, f"{values!r} {said}")


def _tables(connection: sqlite3.Connection) -> list[str]:
    sql = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
    names = [str(row["name"]) for row in connection.execute(sql)]
    return [name for name in names if not name.startswith("sqlite_")]


def mongo_raw(collections: Mapping[str, Any]) -> dict[tuple[str, str], Row]:
    """Return every document of a database, by collection and ``_id``."""
    return {
        (name, repr(document["_id"])): _row(name, document, repr(document))
        for name, documents in collections.items()
        for document in documents
    }


def _row(table: str, values: Mapping[str, Any], content: str) -> Row:
    graph_id = values.get("id") if table == "graphs" else values.get("graph_id")
    record_id = values.get("id") if table in RECORDS else None
    if table == "watermarks":
        mark = json.loads(values["body"])
        record_id = reader_of(mark["agent_id"], mark["name"])
    return Row(values.get("tenant"), graph_id, None, record_id, content)


def reader_of(agent_id: str, name: str) -> str:
    """Return what stands for the id of a watermark."""
    return f"{name} of {agent_id}"


def kept_raw(store: EmbeddedHotStore) -> dict[tuple[str, str], Row]:
    """Return what the embedded hot store keeps, agent by agent, by the place where it is."""
    return {
        ("agents", repr(place)): Row(*place, None, repr(kept))
        for place, kept in store._agents.items()
    }


async def redis_raw(
    client: Any, prefix: str, *, dumped: bool = False
) -> dict[tuple[str, str], Row]:
    """Return every hash under a prefix, by key; ``dumped``: as the server serialises it."""
    found: dict[tuple[str, str], Row] = {}
    async for name in client.scan_iter(match=f"{_escaped(prefix)}:*", count=_PAGE):
        key = name.decode() if isinstance(name, bytes) else name
        held = await (client.dump(key) if dumped else client.hgetall(key))
        shown = repr(sorted(held.items())) if isinstance(held, dict) else repr(held)
        found["keys", key] = Row(*_owner_of_key(key, prefix), None, shown)
    return found


def _owner_of_key(key: str, prefix: str) -> tuple[str | None, str | None, str | None]:
    tag = key.removeprefix(f"{prefix}:{{").removesuffix("}:hot")
    names = [unquote(name) for name in tag.split("/")]
    return (names[0], names[1], names[2]) if len(names) == 3 else (None, None, None)


def _escaped(prefix: str) -> str:
    return "".join(f"\\{char}" if char in "*?[]\\" else char for char in prefix)


def shard_raw(shard: EdgeShard) -> dict[tuple[str, str], Row]:
    """Return every point of an embedded shard, vectors included."""
    found: dict[tuple[str, str], Row] = {}
    offset: Any = None
    while True:
        request = ScrollRequest(offset=offset, limit=_PAGE, with_payload=True, with_vector=True)
        points, offset = shard.scroll(request)
        for point in points:
            named: Any = point.vector or {}
            vectors = {name: _plain(one) for name, one in named.items()}
            found["points", str(point.id)] = _point(point.payload or {}, vectors)
        if offset is None:
            return found


class LocalPoints:
    """The points of a collection of the driver's local mode.

    That mode brings vectors to unit length again whenever it compares them, which moves their last
    bits. A vector that is as it was up to these counts as it was.
    """

    def __init__(self, client: AsyncQdrantClient, collection: str) -> None:
        self._client = client
        self._collection = collection
        self._seen: dict[str, list[float]] = {}

    async def raw(self) -> dict[tuple[str, str], Row]:
        """Return every point, vectors included."""
        found: dict[tuple[str, str], Row] = {}
        offset: Any = None
        while True:
            points, offset = await self._client.scroll(
                self._collection, limit=_PAGE, offset=offset, with_payload=True, with_vectors=True
            )
            for point in points:
                vectors: Any = point.vector or {}
                plain = {name: _plain(one) for name, one in vectors.items()}
                if "dense" in plain:
                    plain["dense"] = self._steady(str(point.id), plain["dense"])
                found["points", str(point.id)] = _point(point.payload or {}, plain)
            if offset is None:
                return found

    def _steady(self, point_id: str, vector: list[float]) -> list[float]:
        before = self._seen.get(point_id, vector)
        is_same = all(
            abs(one - other) < _LAST_BITS for one, other in zip(vector, before, strict=True)
        )
        self._seen[point_id] = before if is_same else vector
        return self._seen[point_id]


def _point(payload: Mapping[str, Any], vectors: Mapping[str, Any]) -> Row:
    content = repr((sorted(payload.items()), sorted(vectors.items())))
    return Row(payload.get("tenant"), payload.get("graph"), None, payload.get("id"), content)


def _plain(vector: Any) -> Any:
    if isinstance(vector, SparseVector) or hasattr(vector, "indices"):
        return sorted(zip(vector.indices, vector.values, strict=True))
    return list(vector)

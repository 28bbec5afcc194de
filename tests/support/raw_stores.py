"""Everything that the stores of a running runtime hold, as text, read past the runtime."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import fields
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

from pymongo import MongoClient
from qdrant_edge import EdgeShard, ScrollRequest, SparseVector

from ezra import Ezra
from tiers.hot import EmbeddedHotStore
from tiers.warm.ranking import Bm25Words

from .cold_backends import raw_sqlite
from .folder_copies import extents
from .places import Store, places_of
from .qdrant_shim import shared_shim

PAGE = 1_000
_ENCODINGS = ("utf-8", "utf-16-le", "utf-16-be")


class Part(NamedTuple):
    """Something that stands somewhere: in a field of one of the places of ``support.places``."""

    store: Store
    name: str
    field: str
    held: Any

    @property
    def place(self) -> tuple[str, str, str]:
        """Where it stands."""
        return self.store, self.name, self.field


async def everything(ezra: Ezra, home: Path) -> dict[str, str]:
    """Return what each store holds: tables, shadow tables and collections, keys, points."""
    tiers = {"redis": "hot", "qdrant": "warm", "sqlite": "cold", "mongodb": "cold"}
    found: dict[str, list[str]] = {"hot": [], "warm": [], "cold": []}
    async for part in parts_of(ezra, home):
        found[tiers[part.store]].append(f"{part.name}.{part.field}: {part.held!r}")
    return {tier: "\n".join(lines) for tier, lines in found.items()}


def where(found: dict[str, str], word: str) -> set[str]:
    """Return the stores in which a word stands."""
    return {name for name, text in found.items() if word in text}


async def places_with(ezra: Ezra, home: Path, words: Iterable[str]) -> set[tuple[str, str, str]]:
    """Return every field of every store, and every file, in which one of the words stands.

    Words are found in whatever case, stemmed in a word index, and as what they are in a sparse
    vector; in files in several encodings.
    """
    plain = [word.casefold() for word in words]
    found = {
        part.place
        async for part in parts_of(ezra, home)
        if _holds(_shown(part.held), plain) or _weighs(part, plain)
    }
    return found | {("home", name, "") for name in files_with(home, plain)}


async def parts_of(ezra: Ezra, home: Path) -> Any:
    """Yield whatever the tiers of a running runtime hold, field by field."""
    async for part in _hot(ezra):
        yield part
    for part in (*_warm(ezra), *_cold(home)):
        yield part


def files_with(home: Path, words: Iterable[str]) -> set[str]:
    """Return the places of the files below a folder in which one of the words stands."""
    wanted = {_without_zeros(word.encode(one)) for word in words for one in _ENCODINGS}
    found: set[str] = set()
    for path in sorted(one for one in home.rglob("*") if one.is_file()):
        if any(word in piece for piece in _data(path) for word in wanted):
            found.add(_listed(str(path.relative_to(home))))
    return found


def _listed(name: str) -> str:
    """Return the line of the list of places that a file falls under, else its own name."""
    return next((one for one in places_of("home") if fnmatch(name, one)), name)


def _data(path: Path) -> Iterator[bytes]:
    """Yield what a file holds in lower case, extent by extent: engines make them large and empty.

    Of UTF-16 too: the letters of a word that is not ASCII would have to be given as they are.
    """
    for _, extent in extents(path):
        yield _without_zeros(extent).lower()


def _without_zeros(data: bytes) -> bytes:
    """Return what is not zero: little of what engines write, and UTF-16 of ASCII is ASCII so."""
    return data.translate(None, b"\0")


def _holds(text: str, words: Iterable[str]) -> bool:
    return any(word in text for word in words)


def _shown(held: Any) -> str:
    return (held if isinstance(held, str) else repr(held)).casefold()


def _weighs(part: Part, words: Iterable[str]) -> bool:
    """Whether a sparse vector has one of the words."""
    if not isinstance(part.held, SparseVector):
        return False
    known = {one for word in words for one in Bm25Words().of_entry(word).indices}
    return not known.isdisjoint(part.held.indices)


async def _hot(ezra: Ezra) -> Any:
    hot: Any = ezra._runtime.hot
    if isinstance(hot, EmbeddedHotStore):
        for part in _kept(hot):
            yield part
        return
    async for key in hot._client.scan_iter(f"{hot._prefix}*"):
        for field, value in (await hot._client.hgetall(key)).items():
            name = field.decode()
            listed = next((one for one in places_of("redis") if fnmatch(name, one)), name)
            yield Part("redis", listed, "", value.decode())


def _kept(hot: EmbeddedHotStore) -> Iterator[Part]:
    """Yield what the embedded store keeps under the names that the fields of a hash have."""
    for kept in hot._agents.values():
        yield Part("redis", "view", "", kept.view)
        yield from (Part("redis", "turn:*", "", repr(one)) for one in kept.turns.items())
        yield from (Part("redis", "pin:*", "", repr(one)) for one in kept.pins.items())
        if kept.mesh is not None:
            yield Part("redis", "mesh", "", kept.mesh)
    known = {"tenant", "graph_id", "agent_id", "ends_at", "view", "turns", "pins", "mesh"}
    assert all({one.name for one in fields(kept)} == known for kept in hot._agents.values())


def _warm(ezra: Ezra) -> Iterator[Part]:
    for shard in _shards(ezra):
        offset: Any = None
        while True:
            request = ScrollRequest(offset=offset, limit=PAGE, with_payload=True, with_vector=True)
            points, offset = shard.scroll(request)
            for point in points:
                for name, value in (point.payload or {}).items():
                    yield Part("qdrant", name, "", value)
                vectors: Any = point.vector or {}
                for name, vector in vectors.items():
                    yield Part("qdrant", name, "", vector)
            if offset is None:
                break


def _shards(ezra: Ezra) -> list[EdgeShard]:
    """Return the shards of the server, or the embedded one that serves."""
    if "EZRA_QDRANT_URL" in os.environ:
        prefix = os.environ["EZRA_QDRANT_PREFIX"]
        collections = shared_shim().collections.items()
        return [one._shard for name, one in collections if name.startswith(f"{prefix}_")]
    store: Any = ezra._runtime.warm.serving.store  # type: ignore[attr-defined]
    return [store._points._shard.engine]


def _cold(home: Path) -> Iterator[Part]:
    if "EZRA_MONGODB_URI" in os.environ:
        yield from _documents()
        return
    (path,) = home.rglob("ezra.db")
    with closing(raw_sqlite(path.parent)) as connection:
        yield from _rows(connection)


def _documents() -> Iterator[Part]:
    client: MongoClient[dict[str, Any]]
    with MongoClient(os.environ["EZRA_MONGODB_URI"]) as client:
        database = client[os.environ["EZRA_MONGODB_DATABASE"]]
        for name in database.list_collection_names():
            for document in database[name].find():
                for field, value in document.items():
                    yield Part("mongodb", name, field, value)


def _rows(connection: sqlite3.Connection) -> Iterator[Part]:
    found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    for (table,) in found:
        for row in connection.execute(f"SELECT * FROM {table}"):  # noqa: S608 - our own names
            for field in row.keys():  # noqa: SIM118 - a row is no mapping
                yield Part("sqlite", table, field, row[field])

"""Everything that the stores of a running runtime hold, as text, read past the runtime."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from pymongo import MongoClient
from qdrant_client.models import ScrollRequest

from ezra import Ezra

from .cold_backends import raw_sqlite
from .qdrant_shim import shared_shim

PAGE = 1_000


async def everything(ezra: Ezra, home: Path) -> dict[str, str]:
    """Return what each store holds: tables, shadow tables and collections, keys, points."""
    return {
        "hot": await _hot(ezra),
        "warm": await _warm(ezra),
        "cold": _cold(home),
    }


def where(found: dict[str, str], word: str) -> set[str]:
    """Return the stores in which a word stands."""
    return {name for name, text in found.items() if word in text}


async def _hot(ezra: Ezra) -> str:
    hot: Any = ezra._parts.hot
    lines = []
    async for key in hot._client.scan_iter(f"{hot._prefix}*"):
        kind = (await hot._client.type(key)).decode()
        value = await (hot._client.hgetall(key) if kind == "hash" else hot._client.get(key))
        lines.append(f"{key!r}: {value!r}")
    return "\n".join(lines)


async def _warm(ezra: Ezra) -> str:
    """Return the points of the server, or what the embedded engine gives out with its payload."""
    if "EZRA_QDRANT_URL" in os.environ:
        prefix = os.environ["EZRA_QDRANT_PREFIX"]
        points = [
            repr(collection.scroll(ScrollRequest(limit=PAGE, with_payload=True)))
            for name, collection in shared_shim().collections.items()
            if name.startswith(f"{prefix}_")
        ]
        return "\n".join(points)
    store: Any = ezra._parts.warm.serving.store  # type: ignore[attr-defined]
    page = await store.export_entries(ezra.settings.tenant, "", PAGE)
    return "\n".join(map(repr, page.rows))


def _cold(home: Path) -> str:
    if "EZRA_MONGODB_URI" in os.environ:
        client: MongoClient[dict[str, Any]]
        with MongoClient(os.environ["EZRA_MONGODB_URI"]) as client:
            database = client[os.environ["EZRA_MONGODB_DATABASE"]]
            return "\n".join(
                f"{name}: {row!r}"
                for name in database.list_collection_names()
                for row in database[name].find()
            )
    (path,) = home.rglob("ezra.db")
    with closing(raw_sqlite(path.parent)) as connection:
        return "\n".join(
            f"{name}: {tuple(row)!r}"
            for name in _tables(connection)
            for row in _rows(connection, name)
        )


def _tables(connection: sqlite3.Connection) -> list[str]:
    found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    return [row["name"] for row in found]


def _rows(connection: sqlite3.Connection, table: str) -> list[sqlite3.Row]:
    return connection.execute(f"SELECT * FROM {table}").fetchall()  # noqa: S608 - our own names
